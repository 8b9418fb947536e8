"""The same call means the same in NumPy and in torch: names, the order of arguments, what a width is, and defaults."""

import inspect

import numpy as np
import pytest
import torch

import fenchel
import fenchel.torch as ft
from fenchel.torch import nn

F64 = torch.float64
T = np.linspace(-0.2, 1.3, 7)
MU, WIDTH = np.array([0.0, 0.3, 0.9]), 0.08
POINTS = np.array([[0.2, 0.3], [0.7, 0.1]])
MATRIX = np.array([[0.03, 0.01], [0.01, 0.05]])


def tensor(x):
    return torch.tensor(x, dtype=F64)


def assert_same(ours, theirs, rtol=1e-13):
    np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=1e-14)


@pytest.mark.parametrize("sigma", [WIDTH, np.array([0.08, 0.1, 0.3])], ids=["one", "each"])
def test_a_width_on_the_line_is_a_deviation(sigma):
    width = sigma if isinstance(sigma, float) else tensor(sigma)
    ours, theirs = ft.GaussianBasis(tensor(MU), width), fenchel.GaussianBasis(MU, sigma)
    assert_same(ours(tensor(T)), theirs(T))
    assert_same(ours.sigma, theirs.sigma)
    p = fenchel.BetaGaussian(2, 0.3, 0.002)
    assert_same(ft.continuous_attention(2, tensor(0.3), tensor(0.002), ours), fenchel.attend(p, theirs))
    # By the definition: at its centre a density of deviation sigma is 1 / (sigma sqrt(2 pi)).
    assert_same(ours(tensor(MU)).diagonal(), 1 / (sigma * np.sqrt(2 * np.pi)) * np.ones(3))


def test_a_width_in_space_is_a_covariance():
    ours = ft.MultivariateGaussianBasis(tensor(POINTS), tensor(MATRIX))
    theirs = fenchel.MultivariateGaussianBasis(POINTS, MATRIX)
    at = np.array([0.4, 0.4])
    q = np.einsum("ni,ij,nj->n", at - POINTS, np.linalg.inv(MATRIX), at - POINTS)
    assert_same(ours(tensor(at)), np.exp(-q / 2) / (2 * np.pi * np.sqrt(np.linalg.det(MATRIX))))
    assert_same(ours(tensor(at)), theirs(at))
    p = fenchel.MultivariateBetaGaussian(1.5, at, 2 * MATRIX)
    assert_same(ft.continuous_attention(1.5, tensor(at), tensor(2 * MATRIX), ours), fenchel.attend(p, theirs), 1e-9)


@pytest.mark.parametrize("learned", [False, True])
def test_bases_that_are_made_alike(learned):
    close = 1e-6 if learned else 0
    ours, theirs = ft.GaussianBasis.linearly_spaced(6, learned=learned), fenchel.GaussianBasis.linearly_spaced(6)
    for name in ("mu", "sigma"):
        assert_same(getattr(ours, name).detach(), getattr(theirs, name), close)
    square = ft.MultivariateGaussianBasis.unit_square(2, 3, Sigma=tensor(MATRIX), learned=learned)
    twin = fenchel.MultivariateGaussianBasis.unit_square(2, 3, Sigma=MATRIX)
    for name in ("mu", "Sigma"):
        assert_same(getattr(square, name).detach(), getattr(twin, name), close)


def test_counts_take_the_order_first():
    ours, theirs = ft.SparsePoisson(2, 3), fenchel.SparsePoisson(2, 3)
    k = np.arange(8.0)
    assert_same(ours.prob(torch.from_numpy(k)), theirs.pmf(k), 1e-6)
    ours = ft.SparsePoisson(1.5, tensor(3.0))
    theirs = fenchel.SparsePoisson(alpha=1.5, mu=3.0)
    assert_same(ours.cross_omega(torch.from_numpy(k)), [theirs.cross_omega(int(i)) for i in k])
    assert_same(ours.tsallis_entropy(), theirs.tsallis_entropy())
    assert_same(ours.tsallis_entropy(1.7), theirs.tsallis_entropy(1.7))


def test_losses_of_a_density():
    p, q = (fenchel.BetaGaussian(1.5, mu, sigma2) for mu, sigma2 in ((0.3, 0.5), (-0.2, 0.8)))
    ours, other = (ft.BetaGaussian(1.5, tensor(x.mu), tensor(x.sigma2)) for x in (p, q))
    assert_same(ours.cross_omega(tensor(T)), [p.cross_omega(t) for t in T])
    assert_same(ours.fenchel_young(other), p.fenchel_young(q), 1e-12)
    assert_same(ours.tsallis_entropy(), p.tsallis_entropy())
    space = fenchel.MultivariateBetaGaussian(1.5, POINTS[0], MATRIX)
    twin = ft.MultivariateBetaGaussian(1.5, tensor(POINTS[0]), tensor(MATRIX))
    assert_same(twin.cross_omega(tensor(POINTS[1])), space.cross_omega(POINTS[1]), 1e-12)


@pytest.mark.parametrize("positions", [None, np.array([0.0, 0.2, 0.5, 0.6]), np.arange(8.0).reshape(4, 2) ** 2])
def test_densities_from_weights(positions):
    weights, given = np.array([0.1, 0.4, 0.3, 0.2]), () if positions is None else (positions,)
    for floor in ((), (0.02,)) if given else ((),):
        p = fenchel.match_weights(1.5, weights, *given, *floor)
        mu, Sigma = ft.match_weights(1.5, tensor(weights), *map(tensor, given), *floor)
        assert_same(mu, p.mu)
        assert_same(Sigma, p.sigma2 if mu.dim() == 0 else p.Sigma)


def test_the_ridge_unless_said():
    values = np.sin(np.arange(10.0))
    ours = ft.RidgeValues(ft.GaussianBasis.linearly_spaced(6))(tensor(values)[:, None])
    theirs = fenchel.ridge_values(values[np.newaxis], fenchel.GaussianBasis.linearly_spaced(6))
    assert_same(ours.mT, theirs, 1e-9)
    assert nn.ContinuousAttention(ft.GaussianBasis.linearly_spaced(6)).value_function.ridge == 0.1


MAPS = ["cross_omega", "entmax", "entmax_loss", "fusedmax", "fusedmax_loss", "smooth_sparsemax"]
MAPS += ["fusedmax_grid", "fusedmax_grid_loss", "smooth_sparsemax_loss", "sparsemax"]


@pytest.mark.parametrize("name", MAPS)
def test_maps_and_losses_have_the_names_and_defaults_of_numpy(name):
    ours, theirs = (inspect.signature(getattr(module, name)).parameters for module in (ft, fenchel))
    assert next(iter(ours)) == "scores"
    shared = [parameter for parameter in theirs if parameter in ours]
    assert set(shared) >= {"scores", *({"target", "alpha"} & set(ours))}
    for parameter in shared:
        assert ours[parameter].default == theirs[parameter].default, parameter


@pytest.mark.parametrize("name", ["BetaGaussian", "SparsePoisson"])
def test_distributions_have_the_order_and_defaults_of_numpy(name):
    ours, theirs = (inspect.signature(getattr(module, name)).parameters for module in (ft, fenchel))
    assert list(ours)[: len(theirs)] == list(theirs)
    bare, said = getattr(ft, name)(), getattr(ft, name)(*(parameter.default for parameter in theirs.values()))
    for number in ("mean", "variance"):
        assert getattr(bare, number) == getattr(said, number)
    assert_same(bare.variance, getattr(fenchel, name)().var(), 1e-6)
