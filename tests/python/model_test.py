"""Models: fits as JSON, the same that the command writes and reads, to the bit."""

import json
import math

import numpy as np
import pytest

import fenchel

DATA = fenchel.BetaGaussian(1.5, mu=5, sigma2=2).rvs(300, random_state=1)
COUNTS = fenchel.SparsePoisson(2, mu=4).rvs(300, random_state=1)
POINTS = fenchel.MultivariateBetaGaussian(1.5, [1, 2, 3], np.diag([1.0, 2, 3]) + 0.3).rvs(300, random_state=1)
FITS = [
    (fenchel.BetaGaussian, DATA, {"alpha": alpha})
    for alpha in ["auto", 0.7, 1, math.nextafter(1, 2), 1 + 1e-8, 4 / 3, 1.5, 2, 5, 30, math.inf]
] + [
    (fenchel.Uniform, DATA, {}), (fenchel.BetaLaplace, DATA, {"alpha": 1.5}), (fenchel.Triangular, DATA, {}),
    (fenchel.TruncatedGaussian, DATA, {"kappa": 1.5}), (fenchel.TruncatedGaussian, DATA, {}),
    (fenchel.CappedParabola, DATA, {"gamma": 0.3}), (fenchel.CappedTriangular, DATA, {"gamma": 0.3}),
    (fenchel.SmoothParabola, DATA, {"gamma": 0.3}), (fenchel.SmoothTriangular, DATA, {"gamma": 0.3}),
    (fenchel.SparsePoisson, COUNTS, {"alpha": 1}), (fenchel.SparsePoisson, COUNTS, {"alpha": "auto"}),
    (fenchel.SparseIntegerGaussian, COUNTS, {"alpha": 1.5}),
    (fenchel.MultivariateBetaGaussian, POINTS, {"alpha": 1.5}), (fenchel.MultivariateBetaGaussian, POINTS, {"alpha": "auto"}),
]  # fmt: skip

# printf 't\n1\n2\n2\n4\n' | fenchel fit - --family biweight --json
BIWEIGHT = """{"schema": "fenchel-model-1", "kind": "distribution", "family": "biweight",
  "parameters": {"mu": 2.25, "sigma2": 3.644340465818589},
  "standard_errors": {"mu": 0.5448623679425842, "sigma2": 2.6300761861987607},
  "weight": 4.0, "loss": 0.6816379107250813,
  "support": [-0.6331406486676991, 5.133140648667699], "mean": 2.25, "variance": 1.1875000000000002}"""


def again(model):
    return json.loads(json.dumps(model, allow_nan=False))


@pytest.mark.parametrize("family, data, fixed", FITS)
def test_a_fit_is_a_model_and_back_to_the_bit(family, data, fixed):
    fit = fenchel.fit(family, data, **fixed)
    model = again(fit.to_dict())
    assert list(model)[:4] == ["schema", "kind", "family", "parameters"]
    back = fenchel.Fit.from_dict(model)
    assert back.distribution == fit.distribution and type(back.distribution) is type(fit.distribution)
    assert back.names == fit.names
    np.testing.assert_array_equal(back.parameters, fit.parameters)
    np.testing.assert_array_equal(back.standard_errors, fit.standard_errors)
    np.testing.assert_array_equal(np.diag(back.covariance), fit.standard_errors**2)
    assert np.isnan(back.covariance[~np.eye(len(fit.names), dtype=bool)]).all()
    assert (back.loss, back.weight) == (fit.loss, fit.weight)
    assert again(back.to_dict()) == model


def test_the_uniform_limit_is_kept():
    fit = fenchel.fit(fenchel.BetaGaussian, [0.0, 1.0] * 5, alpha="auto")
    model = again(fit.to_dict())
    assert (model["family"], model["parameters"]["alpha"]) == ("beta-gaussian", "inf")
    back = fenchel.Fit.from_dict(model)
    assert back.distribution == fit.distribution and back.names == ("alpha", "mu", "sigma2")
    assert again(back.to_dict()) == model


def test_named_members_are_beta_gaussians():
    fit = fenchel.Fit.from_dict(json.loads(BIWEIGHT))
    same = fenchel.fit(fenchel.BetaGaussian, [1.0, 2, 2, 4], alpha=1.5)
    assert (fit.distribution, fit.names, fit.weight) == (same.distribution, ("mu", "sigma2"), 4)
    np.testing.assert_array_equal(fit.standard_errors, same.standard_errors)
    model = json.loads(BIWEIGHT)
    shared = {"family": "beta-gaussian", "parameters": {"alpha": 1.5, **model["parameters"]}}
    assert same.to_dict() == {**model, **shared}
    for family, parameters, expected in [
        ("gaussian", {"mu": 1, "sigma2": 2}, fenchel.BetaGaussian(1, 1, 2)),
        ("student", {"alpha": 0.5, "mu": 1, "sigma2": 2}, fenchel.BetaGaussian(0.5, 1, 2)),
        ("laplace", {"mu": 1, "b": 2}, fenchel.BetaLaplace(1, 1, 2)),
    ]:
        bare = {"schema": "fenchel-model-1", "kind": "distribution", "family": family, "parameters": parameters}
        fit = fenchel.Fit.from_dict(bare)
        assert fit.distribution == expected and fit.names == () and math.isnan(fit.loss)
        assert "loss nan" in repr(fit)


def test_what_is_no_model_names_the_key_and_the_constraint():
    good = json.loads(BIWEIGHT)

    def bad(message, **changes):
        with pytest.raises(ValueError) as error:
            fenchel.Fit.from_dict({**good, **changes})
        assert str(error.value) == message

    bad("model: schema must be 'fenchel-model-1', got 'fenchel-model-2'", schema="fenchel-model-2")
    bad("model: kind must be 'distribution', got 'regression'", kind="regression")
    bad("model: parameters must be an object, got 3", parameters=3)
    bad("model: parameters.mu is missing", parameters={"sigma2": 1})
    bad("model: parameters.b must be left out: biweight takes alpha, mu, sigma2, got 1",
        parameters={"mu": 0, "sigma2": 1, "b": 1})
    kinds = 'a number, "inf", "-inf" or "nan", or a list of them'
    bad(f"model: parameters.mu must be {kinds}, got 'x'", parameters={"mu": "x", "sigma2": 1})
    bad(f"model: parameters.mu must be {kinds}, got None", parameters={"mu": None, "sigma2": 1})
    bad(f"model: parameters.mu must be {kinds}, got True", parameters={"mu": True, "sigma2": 1})
    bad("model: parameters.mu must be one number, got [1, 2]", parameters={"mu": [1, 2], "sigma2": 1})
    bad("model: parameters.alpha must be 1.5 for biweight, got 2", parameters={"alpha": 2, "mu": 1, "sigma2": 1})
    bad("fenchel::beta_gaussian: sigma2 must be positive and finite, got -1", parameters={"mu": 0, "sigma2": -1})
    with pytest.raises(ValueError, match="model: it must be an object, got"):
        fenchel.Fit.from_dict([1])
    with pytest.raises(ValueError, match="model: family must be one of beta-gaussian, "):
        fenchel.Fit.from_dict({**good, "family": "score"})
    linear = fenchel.fit_linear_score(2, lambda t: -t * t, [0.1, 0.2, 0.5])
    with pytest.raises(TypeError, match="to_dict: NumericDensity is made of functions, which JSON does not hold"):
        linear.to_dict()


def test_regressions_are_models():
    sklearn = pytest.importorskip("fenchel.sklearn")
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, (200, 2))
    y = 1 + X @ [2, -1] + np.exp(0.1 * X[:, 0]) * rng.uniform(-1, 1, 200)
    for link, alpha in [("log", 2.0), ("linear", 1.0)]:
        fitted = sklearn.BetaGaussianRegressor(alpha, link=link, random_state=0).fit(X, y)
        model = again(fitted.to_dict("price"))
        assert (model["y"], list(model["mean"]["coefficients"])) == ("price", ["x0", "x1"])
        back = sklearn.BetaGaussianRegressor.from_dict(model)
        for name in ["coef_", "scale_coef_", "intercept_", "standard_errors_", "scale_standard_errors_", "loss_", "alpha_"]:
            np.testing.assert_array_equal(getattr(back, name), getattr(fitted, name))
        for method in ["predict", "predict_interval"]:
            np.testing.assert_array_equal(getattr(back, method)(X), getattr(fitted, method)(X))
        assert back.predict_dist(X[:3]) == fitted.predict_dist(X[:3])
        assert again(back.to_dict("price")) == model


def test_columns_of_a_regression_keep_their_names():
    sklearn = pytest.importorskip("fenchel.sklearn")
    line = {"intercept": 1.0, "coefficients": {"size": 2.0, "age": 3.0}}
    model = {"schema": "fenchel-model-1", "kind": "regression", "y": "price", "alpha": 2, "mean": line,
             "scale": {"link": "log", "intercept": 0.0, "coefficients": {"age": 0.0, "size": 0.5}}}  # fmt: skip
    back = sklearn.BetaGaussianRegressor.from_dict(model)
    assert back.feature_names_in_.tolist() == ["size", "age"] and back.scale_coef_.tolist() == [0.5, 0]
    assert np.isnan(back.standard_errors_).all()

    def bad(message, **changes):
        with pytest.raises(ValueError) as error:
            sklearn.BetaGaussianRegressor.from_dict({**model, **changes})
        assert str(error.value) == message

    bad("model: alpha must be above 1/3, got 0.2", alpha=0.2)
    bad("model: mean.intercept must be a finite number, got 'inf'", mean={**line, "intercept": "inf"})
    bad("model: scale.link is missing", scale=line)
    bad("model: scale.coefficients must be of the columns size, age, got {'size': 1}",
        scale={"link": "log", "intercept": 0, "coefficients": {"size": 1}})
    bad("model: scale.link must be 'log' or 'linear', got 'sqrt'", scale={**line, "link": "sqrt"})


def test_the_picture_of_a_fit():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fit = fenchel.fit(fenchel.BetaGaussian, DATA, alpha=5)
    lower, upper = fit.distribution.support()
    outside = (DATA < lower) | (DATA > upper)
    assert outside.any()
    axes = fit.plot(DATA)
    bars = [patch for patch in axes[0].patches if patch.get_height() > 0]
    assert sum(bar.get_height() * bar.get_width() for bar in bars) == pytest.approx(1)
    texts = [text.get_text() for text in axes[0].get_legend().get_texts()]
    assert texts == ["data", "density", f"outside of the support: {outside.sum()} of 300 rows"]
    _, inner, crosses = axes[1].lines
    np.testing.assert_array_equal(np.sort([*inner.get_ydata(), *crosses.get_ydata()]), np.sort(DATA))
    assert crosses.get_ydata().size == outside.sum()
    _, shares, _ = axes[2].lines
    np.testing.assert_allclose(shares.get_xdata(), fit.distribution.cdf(np.sort(DATA)))
    np.testing.assert_allclose(shares.get_ydata(), (np.arange(300) + 0.5) / 300)
    weights = np.r_[2.0, 0, np.ones(298)]
    again = fit.plot(DATA, weights=weights, ax=plt.subplots(1, 3)[1])
    repeated = fit.plot(np.r_[DATA[0], DATA[0], DATA[2:]])
    for one, other in zip(again, repeated):
        for a, b in zip(one.lines, other.lines):
            np.testing.assert_allclose(a.get_xydata(), b.get_xydata())
    counts = fenchel.fit(fenchel.SparsePoisson, COUNTS)
    assert counts.plot(COUNTS)[0].get_ylabel() == "probability"
    with pytest.raises(TypeError, match="plot: the distribution must be on the line or on the integers, got Multi"):
        fenchel.fit(fenchel.MultivariateBetaGaussian, POINTS).plot(DATA)
    with pytest.raises(TypeError, match="plot: ax must be three matplotlib Axes or None"):
        fit.plot(DATA, ax=[1, 2, 3])
    with pytest.raises(ValueError, match="plot: data must be finite"):
        fit.plot([1, math.nan])
    plt.close("all")
