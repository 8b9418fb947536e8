"""Measures of where attention lies, on attention whose place is known."""

from __future__ import annotations

import math

import pytest
import torch

from experiments.vqa import regions
from fenchel.torch.nn import Attended

torch.set_num_threads(1)
SIDE = 100


def disc(x: float, y: float, radius: float, side: int = SIDE) -> torch.Tensor:
    """The pixels whose middle is in a disc of the unit square."""
    along = (torch.arange(side) + 0.5) / side
    return (along - x).square() + (along - y).square().unsqueeze(-1) < radius**2


def looked(alpha: float, mu: list[list[float]], Sigma: torch.Tensor, modes: torch.Tensor | None = None) -> Attended:
    """One question, with a density for each mu: heads, or the components of one head."""
    mu, Sigma = torch.tensor(mu).unsqueeze(0), Sigma.expand(1, len(mu), 2, 2)
    if modes is not None:
        return Attended(alpha, mu.unsqueeze(0), Sigma.unsqueeze(0), modes=modes.reshape(1, 1, -1))
    return Attended(alpha, mu, Sigma)


def test_a_weight_is_spread_over_its_cell():
    weights = torch.zeros(1, 1, 4, 4)
    weights[0, 0, 1, 2] = 0.75
    weights[0, 0, 3, 0] = 0.25
    mass = regions.pixel_mass(Attended(1.0, weights=weights), 8)[0]
    assert mass.shape == (8, 8) and mass.sum() == 1
    assert (mass[2:4, 4:6] == 0.75 / 4).all() and (mass[6:8, 0:2] == 0.25 / 4).all()
    object_pixels = torch.zeros(8, 8, dtype=torch.bool)
    object_pixels[2:4, 5:8] = True
    assert regions.inside(mass, object_pixels) == 0.375
    seen = regions.region(mass, sparse=True)
    assert regions.area(seen) == 8 / 64
    assert regions.overlap(seen, object_pixels) == pytest.approx(2 / 12)


def test_weights_of_heads_are_averaged():
    weights = torch.zeros(1, 2, 2, 2)
    weights[0, 0, 0, 0] = weights[0, 1, 1, 1] = 1
    mass = regions.pixel_mass(Attended(1.0, weights=weights), 2)[0]
    assert torch.equal(mass, torch.tensor([[0.5, 0.0], [0.0, 0.5]]))


@pytest.mark.parametrize("alpha", [1.0, 4 / 3, 1.5, 2.0])
def test_densities_are_those_of_the_library(alpha: float):
    attended = looked(alpha, [[0.3, 0.6], [0.8, 0.1]], torch.tensor([[0.02, 0.008], [0.008, 0.01]]))
    along = (torch.arange(20) + 0.5) / 20
    x, y = torch.meshgrid(along, along, indexing="xy")
    points = torch.stack([x, y], -1)[:, :, None, None]
    wanted = attended.density().log_prob(points).exp().movedim((0, 1), (-2, -1))
    found = regions.density_at_pixels(attended, 20)
    assert found.shape == (1, 2, 20, 20)
    assert torch.allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("alpha", [4 / 3, 1.5, 2.0])
def test_the_support_is_a_disc(alpha: float):
    attended = looked(alpha, [[0.4, 0.55]], 0.004 * torch.eye(2))
    radius = math.sqrt(0.004 * float(attended.density().active_support()[2]))
    mass = regions.pixel_mass(attended, SIDE)[0]
    assert mass.sum() == pytest.approx(1, abs=2e-3)
    seen = regions.region(mass, sparse=True)
    assert regions.area(seen) == pytest.approx(math.pi * radius**2, rel=0.02)
    assert regions.overlap(seen, disc(0.4, 0.55, radius)) > 0.99
    assert regions.inside(mass, disc(0.4, 0.55, radius)) == pytest.approx(1, abs=2e-3)
    # A disc of half its width inside of it: the ratio of areas is the overlap.
    assert regions.overlap(seen, disc(0.4, 0.55, radius / 2)) == pytest.approx(0.25, abs=0.02)
    assert regions.inside(mass, disc(0.9, 0.05, 0.02)) == 0


def test_a_gaussian_is_looked_at_where_its_mass_is():
    variance = 0.003
    mass = regions.pixel_mass(looked(1.0, [[0.5, 0.5]], variance * torch.eye(2)), SIDE)[0]
    seen = regions.region(mass, sparse=False)
    radius2 = -2 * math.log(0.05) * variance
    assert regions.area(seen) == pytest.approx(math.pi * radius2, rel=0.03)
    assert regions.inside(mass, seen) == pytest.approx(0.95, abs=3e-3)
    assert regions.overlap(seen, disc(0.5, 0.5, math.sqrt(radius2))) > 0.97


def test_x_is_to_the_right_and_y_downwards():
    mass = regions.pixel_mass(looked(2.0, [[0.8, 0.2]], 0.0005 * torch.eye(2)), 10)[0]
    assert divmod(int(mass.argmax()), 10) in {(1, 7), (1, 8), (2, 7), (2, 8)}


def test_what_is_beyond_the_edge_is_in_no_pixel():
    mass = regions.pixel_mass(looked(2.0, [[0.0, 0.5]], 0.002 * torch.eye(2)), SIDE)[0]
    assert mass.sum() == pytest.approx(0.5, abs=5e-3)


def test_mixtures_count_by_their_weights_and_heads_alike():
    mu, Sigma = [[0.2, 0.2], [0.8, 0.8]], 0.0005 * torch.eye(2)
    left = torch.zeros(SIDE, SIDE, dtype=torch.bool)
    left[:, : SIDE // 2] = True
    heads = regions.pixel_mass(looked(2.0, mu, Sigma), SIDE)[0]
    assert regions.inside(heads, left) == pytest.approx(0.5, abs=2e-3)
    mixture = regions.pixel_mass(looked(2.0, mu, Sigma, torch.tensor([0.9, 0.1])), SIDE)
    assert mixture.shape == (1, SIDE, SIDE)
    assert regions.inside(mixture[0], left) == pytest.approx(0.9, abs=2e-3)


def test_the_fewest_cells_of_most_of_the_mass():
    weights = torch.tensor([[0.6, 0.3], [0.06, 0.04]]).reshape(1, 1, 2, 2)
    mass = regions.pixel_mass(Attended(1.0, weights=weights), 4)[0]
    seen = regions.region(mass, sparse=False)
    assert regions.area(seen) == 0.75 and not seen[2:, 2:].any()
    even = regions.pixel_mass(Attended(1.0, weights=torch.full((1, 1, 2, 2), 0.25)), 4)[0]
    assert regions.region(even, sparse=False).all()
