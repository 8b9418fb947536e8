"""Distributions on the line: the golden numbers of C++, and what SciPy says."""

import math

import golden
import numpy as np
import pytest

import fenchel


def test_golden_beta_gaussian():
    rows = np.loadtxt(golden.FOLDER / "beta_gaussian_line.txt")
    assert len(rows) > 100
    for (alpha, sigma2), (t, logpdf, sf, logsf) in ((row[:2], row[2:]) for row in rows):
        p = fenchel.BetaGaussian(alpha, 0, sigma2)
        assert p.cdf(-t) == p.sf(t) and p.logcdf(-t) == p.logsf(t)
        for f, expected in ((p.logpdf, logpdf), (p.sf, sf), (p.logsf, logsf)):
            # At the edges of the support a rounding of t counts: all three fall in t > 0.
            above, below = f(np.array([1 - 2e-15, 1 + 2e-15]) * t)
            slack = 1e-11 * abs(expected) + 1e-13 * (f is not p.sf)
            assert below - slack <= expected <= above + slack, (alpha, sigma2, t, f)


ORDERS = (0.5, 1, 1.00000001, 1.5, 2, 7)


def test_golden_beta_laplace():
    cases = golden.cases("beta_laplace.txt")
    assert len(cases) > 10
    for case in cases:
        p = fenchel.BetaLaplace(case["case"][0], 0, case["case"][1])
        np.testing.assert_allclose(p.logpdf(case["distance"]), case["log_pdf"], rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(p.sf(case["distance"]), case["tail"], rtol=1e-10)
        assert p.var() == pytest.approx(case["variance"][0], rel=1e-11)
        negentropies = [-p.tsallis_entropy(order) for order in ORDERS]
        np.testing.assert_allclose(negentropies, case["negentropy"], rtol=1e-9, atol=1e-15)


def test_golden_truncated_gaussian():
    cases = golden.cases("truncated_gaussian.txt")
    assert len(cases) > 5
    for case in cases:
        p = fenchel.TruncatedGaussian(case["case"][0], 0, case["case"][1])
        assert p.pdf(0) == pytest.approx(case["peak"][0], rel=1e-12)
        assert [p.moment(n) for n in (2, 4, 6)] == pytest.approx(case["moments"], rel=1e-11)
        negentropies = [-p.tsallis_entropy(order) for order in ORDERS]
        np.testing.assert_allclose(negentropies, case["negentropy"], rtol=1e-8)


def test_golden_capped():
    cases = golden.cases("capped.txt")
    assert len(cases) > 5
    for case in cases:
        degree, gamma, scale = case["case"]
        p = fenchel.CappedTriangular(gamma, b=scale) if degree == 1 else fenchel.CappedParabola(gamma, sigma2=scale)
        assert [p.moment(n) for n in (0, 2, 4, 6)] == pytest.approx(case["moments"][::2], rel=1e-10)
        negentropies = [-p.tsallis_entropy(order) for order in (*ORDERS, 1000)]
        np.testing.assert_allclose(negentropies, case["negentropy"], rtol=1e-7)


def test_golden_smooth():
    cases = golden.cases("smooth.txt")
    assert len(cases) > 5
    for case in cases:
        (bend,), (gamma,), (scale,) = case["bend"], case["gamma"], case["scale"]
        p = fenchel.SmoothParabola(gamma, sigma2=scale) if bend == 1 else fenchel.SmoothTriangular(gamma, b=scale)
        (half_width,) = case["half_width"]
        np.testing.assert_allclose(p.support(), (-half_width, half_width), rtol=1e-13)
        assert p.var() == pytest.approx(case["variance"][0], rel=1e-11)
        inner = np.array(case["depth"]) > 0.01
        t = half_width * (1 - np.array(case["depth"])[inner])
        np.testing.assert_allclose(p.pdf(t), np.array(case["pdf"])[inner], rtol=1e-10)
        np.testing.assert_allclose(p.sf(t), np.array(case["tail"])[inner], rtol=1e-10)


def test_scipy_knows_some_members():
    stats = pytest.importorskip("scipy.stats")
    b = 1.7
    pairs = [
        (fenchel.BetaGaussian(1, 0.5, 4), stats.norm(0.5, 2)),
        (fenchel.BetaGaussian.student(3.5, 0.5, 2), stats.t(3.5, 0.5, 2)),
        (fenchel.BetaGaussian.from_half_width(3, 0.5, 2), stats.semicircular(0.5, 2)),
        (fenchel.BetaGaussian.from_half_width(1.5, 0.5, 2), stats.beta(3, 3, -1.5, 4)),
        (fenchel.BetaGaussian.from_half_width(1.2, 0.5, 2), stats.beta(6, 6, -1.5, 4)),
        (fenchel.Uniform(-1, 3), stats.uniform(-1, 4)),
        (fenchel.BetaLaplace(1, 0.5, b), stats.laplace(0.5, b)),
        (fenchel.Triangular(0.5, b), stats.triang(0.5, 0.5 - math.sqrt(b), 2 * math.sqrt(b))),
    ]
    t, u = np.linspace(-4, 5, 90), np.linspace(0.01, 0.99, 33)
    for p, other in pairs:
        for name, x in (("pdf", t), ("cdf", t), ("sf", t), ("ppf", u), ("isf", u)):
            expected = getattr(other, name)(x)
            np.testing.assert_allclose(getattr(p, name)(x), expected, rtol=1e-9, atol=1e-12, err_msg=repr(p))
        inside = t[p.pdf(t) > 1e-3]
        for name in ("logpdf", "logcdf", "logsf"):
            np.testing.assert_allclose(getattr(p, name)(inside), getattr(other, name)(inside), rtol=1e-9, atol=1e-12)
        mean, var, skewness, excess = other.stats("mvsk")
        assert (p.mean(), p.var()) == pytest.approx((mean, var)) and p.entropy() == pytest.approx(other.entropy())
        if np.isfinite(excess):
            assert (p.skewness(), p.kurtosis() - 3) == pytest.approx((skewness, excess), abs=1e-9)
        np.testing.assert_allclose(p.interval(0.8), other.interval(0.8), rtol=1e-9)


@pytest.mark.parametrize(
    ("p", "draws"),
    [
        (fenchel.BetaGaussian(1.5, 1, 2), (0.40162593399736857, 1.3626432681532368, 0.6871260048893959)),
        (fenchel.BetaGaussian(1), (-0.6740108051253785, 0.4447101605470079, -0.38275446586567125)),
        (fenchel.BetaLaplace(1.2, 0, 2), (0.8933944033249293, -1.3348643796531847, 1.4946505126611078)),
        (fenchel.Triangular(), (0.29310852615569427, -0.4139362028278589, 0.45401632446489704)),
        (fenchel.TruncatedGaussian(2), (0.4772417689696258, -0.657109778453762, 0.7158995997405077)),
        (fenchel.CappedTriangular(0.5, b=0.7), (0.5052764655586822, -0.6630538075586774, 0.7088773204843368)),
        (fenchel.CappedParabola(0.5, sigma2=0.7**2), (0.5124334776273123, -0.6724456641487159, 0.7189182463609753)),
        (fenchel.SmoothTriangular(0.5, b=0.7), (0.42339944806203283, -0.587356238530129, 0.6416188239692338)),
        (fenchel.SmoothParabola(0.5, sigma2=0.7**2), (0.43252269189896536, -0.5942891217089838, 0.647038822822526)),
    ],
    ids=repr,
)
def test_draws_are_those_of_the_command(p, draws):
    """`fenchel sample` of the same family with --seed 7 prints these."""
    assert p.rvs(3, 7) == pytest.approx(draws, rel=1e-13)
