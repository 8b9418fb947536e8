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
P = torch.full((4, 5), 0.2, dtype=F64)
ALPHAS = torch.full((4, 1), 1.5, dtype=F64)
CLASSES = torch.zeros(4, 1, dtype=torch.int64)
MU, SCALE = torch.zeros(4, 2, dtype=F64), torch.eye(2, dtype=F64).expand(4, 2, 2)
MEANS, COVARIANCES = torch.zeros(7, 2, dtype=F64), torch.eye(2, dtype=F64).expand(7, 2, 2)


def zeros(*shape, dtype=F64):
    return torch.zeros(shape, dtype=dtype)


def loss(x, alphas=None, classes=None, soft=None, dim=-1):
    return ops.entmax_loss(x, alphas, classes, soft, 1.5, dim, -100, False, True)


def attend_vjp(mu=MU, scale=SCALE, alphas=None, means=MEANS, covariances=COVARIANCES, grad=None):
    return ops.attend_vjp(mu, scale, alphas, means, covariances, zeros(4, 7) if grad is None else grad, 2.0, True)


def attend_jvp(d_mu=MU, d_scale=SCALE, d_alphas=None, d_means=None, d_covariances=None):
    return ops.attend_jvp(MU, SCALE, None, MEANS, COVARIANCES, d_mu, d_scale, d_alphas, d_means, d_covariances, 2.0)


def match_vjp(weights=P, alphas=None, points=None, lengths=None, grad=None):
    return ops.match_weights_vjp(weights, alphas, points, lengths, zeros(4, 2) if grad is None else grad, 2.0, None)


def beta_gaussian(argument, log_det, alphas):
    return ops.beta_gaussian(argument, log_det, alphas, "log_density", 1)


def poisson(mu, alphas, at):
    return ops.sparse_poisson(mu, alphas, at, 2.0, 0, 1.0)


DIM = r"must have the dimension dim, counted from the end, got"
REAL = "must be float64, float32, bfloat16 or float16, got"
BAD = {
    "dim counted from the front": (lambda: ops.entmax(P, None, 1.5, 0), rf"scores {DIM} 0 for \(4, 5\)"),
    "no such dim": (lambda: ops.entmax_vjp(P, None, P, 1.5, -3), rf"p {DIM} -3 for \(4, 5\)"),
    "no dim": (lambda: ops.fusedmax(zeros(), None, 1.0, -1), rf"scores {DIM} -1 for \(\)"),
    "integers": (lambda: ops.entmax(P.long(), None, 1.5, -1), f"scores {REAL} Long"),
    "alphas of too few dims": (lambda: ops.entmax_vjp(P, ALPHAS[:, 0], P, 1.5, -1), r"alphas .* \(4, 1\), got \(4\)"),
    "alphas along dim": (lambda: ops.entmax(P, ALPHAS.mT, 1.5, -1), r"alphas .* \(4, 1\), got \(1, 4\)"),
    "gammas": (lambda: ops.fusedmax(P, ALPHAS[:3], 1.0, -1), r"gammas .* \(4, 1\), got \(3, 1\)"),
    "rows in another order": (
        lambda: ops.entmax_vjp(zeros(2, 3, 4), None, zeros(3, 2, 4), 1.5, -1),
        r"grad_p .* \(2, 3, 4\), got \(3, 2, 4\)",
    ),
    "complex gradient": (lambda: ops.entmax_vjp(P, None, P + 0j, 1.5, -1), f"grad_p {REAL} ComplexDouble"),
    "d_alphas": (lambda: ops.entmax_jvp(P, ALPHAS, P, ALPHAS[:2], 1.5, -1), r"d_alphas .* \(4, 1\), got \(2, 1\)"),
    "weight": (
        lambda: ops.entmax_vjp_vjp(P, None, P, P.mT, None, 1.5, -1),
        r"weight_scores .* \(4, 5\), got \(5, 4\)",
    ),
    "classes of int32": (lambda: loss(P, classes=CLASSES.int()), "classes must be int64, got Int"),
    "classes too few": (lambda: loss(P, classes=CLASSES[:3]), r"classes .* \(4, 1\), got \(3, 1\)"),
    "classes out of range": (lambda: loss(P, classes=CLASSES + 5), r"must be in \[0, 5\) or -100, got 5"),
    "soft": (lambda: loss(P, soft=P.mT), r"soft .* \(4, 5\), got \(5, 4\)"),
    "two targets": (lambda: loss(P, classes=CLASSES, soft=P), "either classes or soft"),
    "no class": (lambda: loss(zeros(4, 0), classes=CLASSES), r"at least one class along dim, got \(4, 0\)"),
    "curvature": (
        lambda: ops.entmax_loss_curvature(P, None, CLASSES, None, P[:3], None, 1.5, -1, -100, False),
        r"d_scores .* \(4, 5\), got \(3, 5\)",
    ),
    "scale": (lambda: attend_vjp(scale=SCALE[:2]), r"scale .* \(4, 2, 2\), got \(2, 2, 2\)"),
    "D = 0": (lambda: attend_vjp(mu=zeros(4, 0), means=zeros(7, 0)), r"mu .* not empty, got \(4, 0\)"),
    "mu a number": (lambda: attend_vjp(mu=zeros()), r"mu .* not empty, got \(\)"),
    "alphas of densities": (lambda: attend_vjp(alphas=ALPHAS), r"alphas .* \(4\), got \(4, 1\)"),
    "means": (lambda: attend_vjp(means=zeros(14)), r"means .* \(7, 2\), got \(14\)"),
    "covariances": (lambda: attend_vjp(covariances=COVARIANCES[:6]), r"covariances .* \(7, 2, 2\), got \(6, 2, 2\)"),
    "grad of r": (lambda: attend_vjp(grad=zeros(7, 4)), r"grad_r .* \(4, 7\), got \(7, 4\)"),
    "direction": (lambda: attend_jvp(d_mu=zeros(2, 4)), r"direction of mu .* \(4, 2\), got \(2, 4\)"),
    "basis direction": (lambda: attend_jvp(d_means=zeros(2, 7)), r"direction of means .* \(7, 2\), got \(2, 7\)"),
    "lengths of float": (lambda: match_vjp(lengths=zeros(4) + 2.5), "lengths must be int64, got Double"),
    "lengths too few": (lambda: match_vjp(lengths=torch.ones(3).long()), r"lengths .* \(4\), got \(3\)"),
    "lengths too long": (lambda: match_vjp(lengths=torch.tensor([1, 2, 3, 6])), r"in \[1, 5\], got 6"),
    "points of no dimension": (lambda: match_vjp(points=zeros(5, 0)), r"points .* not empty, got \(5, 0\)"),
    "points too few": (lambda: match_vjp(points=zeros(4, 2)), r"points .* got \(4, 2\)"),
    "grad of densities": (lambda: match_vjp(grad=zeros(4, 3)), r"grad_density .* \(4, 2\), got \(4, 3\)"),
    "no weights": (lambda: match_vjp(weights=zeros(4, 0)), r"weights .* not empty, got \(4, 0\)"),
    "argument": (lambda: beta_gaussian(zeros(2, 2), zeros(4), zeros(4) + 2), r"argument .* \(4\), got \(2, 2\)"),
    "float32 alphas": (lambda: beta_gaussian(zeros(4), zeros(4), torch.ones(4)), "alphas must be float64, got Float"),
    "integer counts": (lambda: poisson(ALPHAS, None, P.long()), "at must be float64, got Long"),
    "mu of counts": (lambda: poisson(P, None, P), r"mu .* \(4, 1\), got \(4, 5\)"),
    "data and none": (lambda: ops.entmax(P, ALPHAS.to("meta"), 1.5, -1), "one device, got .'cpu', 'meta'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments_of_operations_are_named(name):
    call, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("function", [entmax, fusedmax])
def test_rows_of_no_columns_give_their_parameters_no_gradient(function):
    parameter = torch.full((4, 1), 1.5, dtype=F64, requires_grad=True)
    junk = [torch.full((4, 1), 7.0, dtype=F64) for _ in range(20)]
    del junk  # what is not written would be this
    function(zeros(4, 0), parameter).sum().backward()
    assert parameter.grad.eq(0).all()


LINE = GaussianBasis(torch.linspace(0, 1, 5), torch.tensor(0.01))
LEARNED = GaussianBasis(torch.linspace(0, 1, 5), torch.tensor(0.01), learned=True)
WRONG = {
    "scores a number": (lambda: entmax(torch.tensor(1.0)), r"x must have at least one dimension, got shape \(\)"),
    "lengths of float": (lambda: match_weights(P, lengths=torch.tensor([2.5] * 4)), "integers, got torch.float32"),
    "alphas of another batch": (lambda: match_weights(P, torch.ones(2, 4)), r"broadcast to \(4,\), got shape \(2, 4\)"),
    "values of int": (lambda: RidgeValues(LINE)(torch.ones(5, 3).long()), "floating point type, got torch.int64"),
    "positions of int": (lambda: LINE.evaluate(torch.tensor([0, 1])), "floating point type, got torch.int64"),
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
    basis = GaussianBasis(torch.linspace(0, 1, 7), torch.tensor(0.01)).to("meta")
    assert entmax(x).shape == x.shape
    assert match_weights(x)[0].shape == (4,)
    assert continuous_attention(x, x, basis).shape == (4, 5, 7)


def test_counts_of_a_larger_batch_are_the_same_counts():
    one, value = SparsePoisson(torch.tensor([3.0])), torch.tensor([1.0, 3.0])
    assert one.expand((2,)).mean.eq(one.mean).all()
    assert torch.equal(one.log_prob(value), torch.cat([one.log_prob(v[None]) for v in value]))
    logs = SparsePoisson(log_mu=torch.tensor([1.0]))
    assert logs.expand((2,)).mean.eq(logs.mean).all()


def test_modules_are_made_without_data():
    with torch.device("meta"):
        basis = GaussianBasis(torch.linspace(0, 1, 5), torch.tensor(0.01), learned=True)
        made = torch.nn.ModuleList([Entmax(1.5, learned=True), ContinuousAttention(basis, learned_alpha=True)])
    assert all(p.is_meta for p in made.parameters()) and "alpha=tensor()" in repr(made)
    basis = GaussianBasis(torch.linspace(0, 1, 5), torch.tensor(0.01), learned=True)
    given = torch.nn.ModuleList([Entmax(1.5, learned=True), ContinuousAttention(basis, learned_alpha=True)])
    made.to_empty(device="cpu").load_state_dict(given.state_dict())
    assert torch.equal(made[0](P), given[0](P))
