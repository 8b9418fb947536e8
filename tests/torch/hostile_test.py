"""Wrong arguments, of the raw operations too: an error that names them, never a crash, a read past an end or numbers
that nobody computed."""

import pytest
import torch

from fenchel.torch import (
    BetaGaussian,
    GaussianBasis,
    MultivariateBetaGaussian,
    RidgeValues,
    SparsePoisson,
    continuous_attention,
    entmax,
    fusedmax,
    match_weights,
)
from fenchel.torch.nn import ContinuousAttention, Entmax

ops = torch.ops.fenchel
F64 = torch.float64
class Arguments:
    """Good ones, on a device."""

    def __init__(self, device):
        self.device = device
        self.p = torch.full((4, 5), 0.2, dtype=F64, device=device)
        self.alphas = torch.full((4, 1), 1.5, dtype=F64, device=device)
        self.classes = torch.zeros(4, 1, dtype=torch.int64, device=device)
        self.mu, self.scale = self.zeros(4, 2), torch.eye(2, dtype=F64, device=device).expand(4, 2, 2)
        self.means, self.covariances = self.zeros(7, 2), torch.eye(2, dtype=F64, device=device).expand(7, 2, 2)

    def zeros(self, *shape):
        return torch.zeros(shape, dtype=F64, device=self.device)


P = Arguments("cpu").p


def zeros(*shape):
    return Arguments("cpu").zeros(*shape)


def loss(x, alphas=None, classes=None, soft=None, dim=-1):
    return ops.entmax_loss(x, alphas, classes, soft, 1.5, dim, -100, False, True)


def attend_vjp(a, mu=None, scale=None, alphas=None, means=None, covariances=None, grad=None):
    given = (a.mu if mu is None else mu, a.scale if scale is None else scale, alphas)
    basis = (a.means if means is None else means, a.covariances if covariances is None else covariances)
    return ops.attend_vjp(*given, *basis, a.zeros(4, 7) if grad is None else grad, 2.0, True)


def attend_jvp(a, d_mu=None, d_means=None):
    moved = (a.mu if d_mu is None else d_mu, a.scale, None, d_means, None)
    return ops.attend_jvp(a.mu, a.scale, None, a.means, a.covariances, *moved, 2.0)


def match_vjp(a, weights=None, points=None, lengths=None, grad=None):
    given = (a.p if weights is None else weights, None, points, lengths)
    return ops.match_weights_vjp(*given, a.zeros(4, 2) if grad is None else grad, 2.0, None)


def beta_gaussian(argument, log_det, alphas):
    return ops.beta_gaussian(argument, log_det, alphas, "log_density", 1)


def poisson(mu, alphas, at):
    return ops.sparse_poisson(mu, alphas, at, 2.0, 0, 1.0)


DIM = r"must have the dimension dim, counted from the end, got"
REAL = "must be float64, float32, bfloat16 or float16, got"
BAD = {
    "dim counted from the front": (lambda a: ops.entmax(a.p, None, 1.5, 0), rf"scores {DIM} 0 for \(4, 5\)"),
    "no such dim": (lambda a: ops.entmax_vjp(a.p, None, a.p, 1.5, -3), rf"p {DIM} -3 for \(4, 5\)"),
    "no dim": (lambda a: ops.fusedmax(a.zeros(), None, None, None, 1.0, -1), rf"scores {DIM} -1 for \(\)"),
    "integers": (lambda a: ops.entmax(a.p.long(), None, 1.5, -1), f"scores {REAL} Long"),
    "alphas of too few dims": (
        lambda a: ops.entmax_vjp(a.p, a.alphas[:, 0], a.p, 1.5, -1),
        r"alphas .* \(4, 1\), got \(4\)",
    ),
    "alphas along dim": (lambda a: ops.entmax(a.p, a.alphas.mT, 1.5, -1), r"alphas .* \(4, 1\), got \(1, 4\)"),
    "gammas": (lambda a: ops.fusedmax(a.p, a.alphas[:3], None, None, 1.0, -1), r"gammas .* \(4, 1\), got \(3, 1\)"),
    "rows in another order": (
        lambda a: ops.entmax_vjp(a.zeros(2, 3, 4), None, a.zeros(3, 2, 4), 1.5, -1),
        r"grad_p .* \(2, 3, 4\), got \(3, 2, 4\)",
    ),
    "complex gradient": (lambda a: ops.entmax_vjp(a.p, None, a.p + 0j, 1.5, -1), f"grad_p {REAL} ComplexDouble"),
    "d_alphas": (
        lambda a: ops.entmax_jvp(a.p, a.alphas, a.p, a.alphas[:2], 1.5, -1),
        r"d_alphas .* \(4, 1\), got \(2, 1\)",
    ),
    "weight": (
        lambda a: ops.entmax_vjp_vjp(a.p, None, a.p, a.p.mT, None, 1.5, -1),
        r"weight_scores .* \(4, 5\), got \(5, 4\)",
    ),
    "classes of int32": (lambda a: loss(a.p, classes=a.classes.int()), "classes must be int64, got Int"),
    "classes too few": (lambda a: loss(a.p, classes=a.classes[:3]), r"classes .* \(4, 1\), got \(3, 1\)"),
    "classes out of range": (lambda a: loss(a.p, classes=a.classes + 5), r"must be in \[0, 5\) or -100, got 5"),
    "soft": (lambda a: loss(a.p, soft=a.p.mT), r"soft .* \(4, 5\), got \(5, 4\)"),
    "two targets": (lambda a: loss(a.p, classes=a.classes, soft=a.p), "either classes or soft"),
    "no class": (lambda a: loss(a.zeros(4, 0), classes=a.classes), r"at least one class along dim, got \(4, 0\)"),
    "curvature": (
        lambda a: ops.entmax_loss_curvature(a.p, None, a.classes, None, a.p[:3], None, 1.5, -1, -100, False),
        r"d_scores .* \(4, 5\), got \(3, 5\)",
    ),
    "scale": (lambda a: attend_vjp(a, scale=a.scale[:2]), r"scale .* \(4, 2, 2\), got \(2, 2, 2\)"),
    "D = 0": (lambda a: attend_vjp(a, mu=a.zeros(4, 0), means=a.zeros(7, 0)), r"mu .* not empty, got \(4, 0\)"),
    "mu a number": (lambda a: attend_vjp(a, mu=a.zeros()), r"mu .* not empty, got \(\)"),
    "alphas of densities": (lambda a: attend_vjp(a, alphas=a.alphas), r"alphas .* \(4\), got \(4, 1\)"),
    "means": (lambda a: attend_vjp(a, means=a.zeros(14)), r"means .* \(7, 2\), got \(14\)"),
    "covariances": (
        lambda a: attend_vjp(a, covariances=a.covariances[:6]),
        r"covariances .* \(7, 2, 2\), got \(6, 2, 2\)",
    ),
    "grad of r": (lambda a: attend_vjp(a, grad=a.zeros(7, 4)), r"grad_r .* \(4, 7\), got \(7, 4\)"),
    "direction": (lambda a: attend_jvp(a, d_mu=a.zeros(2, 4)), r"direction of mu .* \(4, 2\), got \(2, 4\)"),
    "basis direction": (
        lambda a: attend_jvp(a, d_means=a.zeros(2, 7)),
        r"direction of means .* \(7, 2\), got \(2, 7\)",
    ),
    "lengths of float": (lambda a: match_vjp(a, lengths=a.zeros(4) + 2.5), "lengths must be int64, got Double"),
    "lengths too few": (lambda a: match_vjp(a, lengths=a.zeros(3).long()), r"lengths .* \(4\), got \(3\)"),
    "lengths too long": (lambda a: match_vjp(a, lengths=a.classes[:, 0] + 6), r"in \[1, 5\], got 6"),
    "points of no dimension": (lambda a: match_vjp(a, points=a.zeros(5, 0)), r"points .* not empty, got \(5, 0\)"),
    "points too few": (lambda a: match_vjp(a, points=a.zeros(4, 2)), r"points .* got \(4, 2\)"),
    "grad of densities": (lambda a: match_vjp(a, grad=a.zeros(4, 3)), r"grad_density .* \(4, 2\), got \(4, 3\)"),
    "no weights": (lambda a: match_vjp(a, weights=a.zeros(4, 0)), r"weights .* not empty, got \(4, 0\)"),
    "argument": (
        lambda a: beta_gaussian(a.zeros(2, 2), a.zeros(4), a.zeros(4) + 2),
        r"argument .* \(4\), got \(2, 2\)",
    ),
    "float32 alphas": (
        lambda a: beta_gaussian(a.zeros(4), a.zeros(4), a.zeros(4).float()),
        "alphas must be float64, got Float",
    ),
    "integer counts": (lambda a: poisson(a.alphas, None, a.p.long()), "at must be float64, got Long"),
    "mu of counts": (lambda a: poisson(a.p, None, a.p), r"mu .* \(4, 1\), got \(4, 5\)"),
    "data and none": (lambda a: ops.entmax(a.p, a.alphas.to("meta"), 1.5, -1), "one device, got .'cpu', 'meta'"),
}
CPU_ALONE = {"classes out of range", "lengths too long", "integer counts", "mu of counts", "data and none"}
"""What a GPU could say only after waiting, or has no kernel for."""


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments_of_operations_are_named(name, device):
    if device.type == "cuda" and name in CPU_ALONE:
        pytest.skip("is for the CPU alone")
    call, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        call(Arguments(device))


@pytest.mark.parametrize("function", [entmax, fusedmax])
def test_rows_of_no_columns_give_their_parameters_no_gradient(function, device):
    parameter = torch.full((4, 1), 1.5, dtype=F64, device=device, requires_grad=True)
    junk = [torch.full((4, 1), 7.0, dtype=F64, device=device) for _ in range(20)]
    del junk  # what is not written would be this
    function(zeros(4, 0).to(device), parameter).sum().backward()
    assert parameter.grad.eq(0).all()


LINE = GaussianBasis(torch.linspace(0, 1, 5), 0.1)
LEARNED = GaussianBasis(torch.linspace(0, 1, 5), 0.1, learned=True)
WRONG = {
    "scores a number": (lambda: entmax(torch.tensor(1.0)), r"scores must have at least one dimension, got shape \(\)"),
    "lengths of float": (lambda: match_weights(2.0, P, lengths=torch.tensor([2.5] * 4)), "integers, got torch.float32"),
    "alphas of another batch": (lambda: match_weights(torch.ones(2, 4), P), r"broadcast to \(4,\), got shape \(2, 4\)"),
    "values of int": (lambda: RidgeValues(LINE)(torch.ones(5, 3).long()), "floating point type, got torch.int64"),
    "positions of int": (lambda: LINE(torch.tensor([0, 1])), "floating point type, got torch.int64"),
    "no length": (lambda: RidgeValues(LINE)(P[..., None], torch.tensor([0, 1, 2, 3])), r"in \[1, 5\], got 0"),
    "too long": (lambda: RidgeValues(LEARNED)(P[..., None], torch.tensor([6, 1, 2, 3])), r"in \[1, 5\], got 6"),
    "n = 0": (lambda: MultivariateBetaGaussian(2.0, zeros(0), zeros(0, 0)), r"n > 0, got \(0,\) and \(0, 0\)"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_named(name):
    call, message = WRONG[name]
    with pytest.raises((ValueError, TypeError, IndexError), match=message):
        call()


def test_parameters_of_integers_do_not_round_draws():
    draws = BetaGaussian(2.0, torch.tensor(0), torch.tensor(1)).sample((8,))
    assert draws.dtype == torch.float32 and draws.frac().ne(0).all()
    points = MultivariateBetaGaussian(2.0, torch.tensor([0, 0]), torch.eye(2).long()).sample((8,))
    assert points.dtype == torch.float32 and points.frac().ne(0).all()


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_shapes_without_data(dtype):
    x = torch.empty(4, 5, dtype=dtype, device="meta")
    basis = GaussianBasis(torch.linspace(0, 1, 7), 0.1).to("meta")
    assert entmax(x).shape == x.shape
    assert match_weights(2.0, x)[0].shape == (4,)
    assert continuous_attention(2.0, x, x, basis).shape == (4, 5, 7)


def test_counts_of_a_larger_batch_are_the_same_counts():
    one, value = SparsePoisson(2.0, torch.tensor([3.0])), torch.tensor([1.0, 3.0])
    assert one.expand((2,)).mean.eq(one.mean).all()
    assert torch.equal(one.log_prob(value), torch.cat([one.log_prob(v[None]) for v in value]))
    logs = SparsePoisson(log_mu=torch.tensor([1.0]))
    assert logs.expand((2,)).mean.eq(logs.mean).all()


def test_modules_are_made_without_data():
    with torch.device("meta"):
        basis = GaussianBasis(torch.linspace(0, 1, 5), 0.1, learned=True)
        made = torch.nn.ModuleList([Entmax(1.5, learned=True), ContinuousAttention(basis, learned_alpha=True)])
    assert all(p.is_meta for p in made.parameters()) and "alpha=tensor()" in repr(made)
    basis = GaussianBasis(torch.linspace(0, 1, 5), 0.1, learned=True)
    given = torch.nn.ModuleList([Entmax(1.5, learned=True), ContinuousAttention(basis, learned_alpha=True)])
    made.to_empty(device="cpu").load_state_dict(given.state_dict())
    assert torch.equal(made[0](P), given[0](P))
