"""Families on the line in torch: the numbers of NumPy, laws, and derivatives."""

import math

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

import fenchel
import fenchel.torch as ft

F64 = torch.float64
FAMILIES = {
    "BetaLaplace": (0.8, 1.0, 1 + 1e-8, 1.5, 2.0, 1e6, math.inf),
    "TruncatedGaussian": (1.01, 2.0, 50.0),
    "CappedTriangular": (0.0, 0.5, 20.0),
    "CappedParabola": (0.0, 0.5, 20.0),
    "SmoothTriangular": (0.0, 0.5, 20.0),
    "SmoothParabola": (0.0, 0.5, 20.0),
}
SMOOTH = {name: [s for s in shapes if s > 0 and math.isfinite(s) and s < 1e3] for name, shapes in FAMILIES.items()}


def real(x, requires_grad=False):
    return torch.tensor(x, dtype=F64, requires_grad=requires_grad)


@pytest.mark.parametrize("name", FAMILIES)
def test_numbers_are_those_of_numpy(name):
    t, u = torch.linspace(-2, 2, 9, dtype=F64), torch.linspace(0, 1, 7, dtype=F64)
    shapes = real(FAMILIES[name])
    batch = getattr(ft, name)(shapes, real(0.3), real(1.7))
    assert batch.batch_shape == shapes.shape and batch.log_prob(t[:, None]).shape == (9, len(shapes))
    for i, shape in enumerate(FAMILIES[name]):
        p = getattr(fenchel, name)(shape, 0.3, 1.7)
        np.testing.assert_array_equal(batch.variance[i], p.var())
        np.testing.assert_array_equal(batch.entropy()[i], p.entropy())
        np.testing.assert_array_equal(batch.tsallis_entropy()[i], p.tsallis_entropy())
        np.testing.assert_allclose(torch.stack(batch.active_support())[:, i], p.support(), rtol=1e-14)
        np.testing.assert_allclose(batch.log_prob(t[:, None])[:, i], p.logpdf(t.numpy()), rtol=1e-12)
        np.testing.assert_allclose(batch.cdf(t[:, None])[:, i], p.cdf(t.numpy()), rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(batch.icdf(u[:, None])[:, i], p.ppf(u.numpy()), rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(batch.cross_omega(real(0.7))[i], p.cross_omega(0.7), rtol=1e-12)
        other, target = getattr(ft, name)(shape, real(0.5), 0.9), getattr(fenchel, name)(shape, 0.5, 0.9)
        mine = getattr(ft, name)(shape, real(0.3), 1.7)
        np.testing.assert_allclose(mine.fenchel_young(other), p.fenchel_young(target), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(mine.fenchel_young(mine), 0, atol=1e-12)
    low = getattr(ft, name)(torch.tensor(1.5), torch.tensor(0.3), torch.tensor(1.7))
    assert low.log_prob(t.float()).dtype == low.rsample().dtype == low.variance.dtype == torch.float32


@pytest.mark.parametrize("name", FAMILIES)
def test_derivatives(name):
    shape = real(SMOOTH[name], True)
    size = len(SMOOTH[name])
    mu, scale = real([0.1] * size, True), real(np.linspace(0.7, 1.6, size), True)
    x, u = real(np.linspace(-0.3, 0.4, size), True), real(np.linspace(0.2, 0.9, size), True)
    family = getattr(ft, name)

    def of(function):
        return lambda x, *parameters: getattr(family(*parameters, validate_args=False), function)(x)

    def moments(*parameters):
        p = family(*parameters, validate_args=False)
        return p.tsallis_entropy() + p.variance + p.entropy() / 3

    def rsample(*parameters):
        torch.manual_seed(3)
        return family(*parameters, validate_args=False).rsample((2,))

    def against(*parameters):
        return family(*parameters, validate_args=False).fenchel_young(family(1.7, real(0.2), 1.1))

    finite = name != "BetaLaplace"
    for f, inputs in [
        (of("log_prob"), (x, shape, mu, scale)),
        (of("cdf"), (x, shape, mu, scale)),
        (of("icdf"), (u, shape, mu, scale)),
        (of("cross_omega"), (x, shape, mu, scale)),
        (moments, (shape, mu, scale)),
        (rsample, (shape, mu, scale)),
        *([(against, (shape, mu, scale))] if finite else []),
    ]:
        assert gradcheck(f, inputs, check_forward_ad=True, check_batched_grad=True, atol=2e-5, rtol=2e-4)
    loss = lambda x, mu: family(shape.detach(), mu, scale.detach(), validate_args=False).log_prob(x).sum()
    compiled = torch.compile(loss, backend="aot_eager", fullgraph=True)
    ours, theirs = (torch.autograd.grad(f(x, mu), (x, mu)) for f in (compiled, loss))
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("name", FAMILIES)
def test_laws(name):
    """Mass one, the quantile of the distribution function, draws with the moments, and expansion."""
    p = getattr(ft, name)(1.5, real([0.3, -1.0]), 1.7)
    t = torch.linspace(-9, 9, 200001, dtype=F64)[:, None]
    torch.testing.assert_close(torch.trapezoid(p.log_prob(t).exp(), t, dim=0), torch.ones(2, dtype=F64), atol=1e-6, rtol=0)
    u = torch.linspace(0.01, 0.99, 7, dtype=F64)[:, None]
    torch.testing.assert_close(p.cdf(p.icdf(u)), u.expand(7, 2))
    torch.manual_seed(1)
    draws = p.sample((20000,))
    torch.testing.assert_close(draws.mean(0), p.mean, atol=0.03, rtol=0)
    torch.testing.assert_close(draws.var(0), p.variance, atol=0.03, rtol=0)
    wide = p.expand((3, 2))
    assert wide.rsample((4,)).shape == (4, 3, 2) and type(wide) is type(p)
    torch.testing.assert_close(wide.variance, p.variance.expand(3, 2))
    assert (p.mode == p.mu).all() and p.stddev.shape == (2,)


def test_triangular_is_a_beta_laplace():
    t = torch.linspace(-2, 2, 9, dtype=F64)
    p, q = ft.Triangular(real(0.2), 1.3), ft.BetaLaplace(2.0, real(0.2), 1.3)
    for name in ("log_prob", "cdf", "cross_omega"):
        torch.testing.assert_close(getattr(p, name)(t), getattr(q, name)(t), rtol=0, atol=0)
    assert p.fenchel_young(ft.Triangular(real(0.5), 2.0)) == q.fenchel_young(ft.BetaLaplace(2.0, real(0.5), 2.0))


def test_training_finds_the_moments():
    """The cross-Omega loss is least where E|t - mu| is that of the sample."""
    torch.manual_seed(0)
    data = 0.5 + 0.7 * torch.randn(200, dtype=F64)
    mu, log_b = real(0.0, True), real(0.0, True)
    optimizer = torch.optim.LBFGS([mu, log_b], line_search_fn="strong_wolfe", max_iter=60)

    def step():
        optimizer.zero_grad()
        loss = ft.SmoothParabola(0.3, mu, log_b.exp()).cross_omega(data).mean()
        loss.backward()
        return loss

    optimizer.step(step)
    p = ft.SmoothParabola(0.3, mu, log_b.exp())
    torch.testing.assert_close(p.mean, data.mean(), atol=1e-4, rtol=0)
    torch.testing.assert_close(p.variance, data.var(unbiased=False), atol=1e-4, rtol=0)


SCALES = [
    (ft.BetaGaussian, "sigma2"),
    (ft.BetaLaplace, "b"),
    (ft.TruncatedGaussian, "sigma2"),
    (ft.CappedTriangular, "b"),
    (ft.CappedParabola, "sigma2"),
    (ft.SmoothTriangular, "b"),
    (ft.SmoothParabola, "sigma2"),
]


@pytest.mark.parametrize(("family", "scale"), [*SCALES, (ft.SparseIntegerGaussian, "sigma2")])
def test_no_parameter_may_be_infinite(family, scale):
    for name in ("mu", scale):
        for dtype in (torch.float32, torch.float64):
            infinite = torch.tensor([1.0, math.inf], dtype=dtype)
            with pytest.raises(ValueError, match=f"parameter {name} "):
                family(2.0, **{"mu": torch.zeros(2), name: infinite}, validate_args=True)
    unconstrained = torch.tensor([-2.0, 0.5])
    for name in ("mu", scale):
        constraint = family.arg_constraints[name]
        assert constraint.check(torch.distributions.transform_to(constraint)(unconstrained)).all()


@pytest.mark.parametrize(("family", "scale"), SCALES)
def test_a_scale_has_a_reciprocal(family, scale):
    with pytest.raises(ValueError, match=f"parameter {scale} "):
        family(2.0, **{scale: torch.tensor(5e-324, dtype=torch.float64)}, validate_args=True)
    family(2.0, **{scale: torch.tensor(2.3e-308, dtype=torch.float64)}, validate_args=True)


def test_errors_name_what_is_wrong():
    with pytest.raises(ValueError, match="kappa"):
        ft.TruncatedGaussian(0.5, validate_args=True)
    with pytest.raises(ValueError, match="kappa must be > 1 and finite, got 0.5"):
        ft.TruncatedGaussian(0.5, validate_args=False).variance  # noqa: B018
    p = ft.BetaLaplace(1.5, real(0.0, True))
    with pytest.raises(ValueError, match="other must not require a gradient"):
        ft.BetaLaplace(1.5).fenchel_young(p)
    with pytest.raises(TypeError, match="other must be a BetaLaplace"):
        p.fenchel_young(ft.Triangular())
    x = real([0.1], True)
    (slope,) = torch.autograd.grad(p.log_prob(x).sum(), x, create_graph=True)
    with pytest.raises(NotImplementedError, match="log_pdf of beta_laplace has first derivatives, and no second ones"):
        slope.sum().backward()
    assert ft.BetaLaplace(real(math.nan), validate_args=False).variance.isnan()
    assert p.icdf(real(1.5)).isnan()


def test_opcheck():
    x, shape, scale = real([0.1, 0.4], True), real([1.5, 2.0], True), real([1.0, 0.7], True)
    torch.library.opcheck(torch.ops.fenchel.line, (x, shape, scale, "smooth_parabola", "cdf"))
    torch.library.opcheck(torch.ops.fenchel.line, (None, shape, scale, "smooth_parabola", "variance"))
    plain = [t.detach() for t in (x, shape, scale)]
    torch.library.opcheck(torch.ops.fenchel.line_gradient, (*plain, "beta_laplace", "quantile"))
    torch.library.opcheck(torch.ops.fenchel.line_fenchel_young, (x, shape, scale, *plain, "capped_parabola"))
