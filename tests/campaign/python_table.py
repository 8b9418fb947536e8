"""The rows of the Python package, but for those of other_table.py. draw.py says what stands in braces."""

from __future__ import annotations

from other_table import OTHERS
from row import Row

MAPS = [
    Row("entmax", "row_map(lambda z: fenchel.entmax(z, {alpha}), {scores})"),
    Row("softmax sparsemax", "row_map(fenchel.{name}, {scores})"),
    Row("entmax softmax sparsemax", "row_map(lambda z: fenchel.{name}(z, weight={measure}), {scores})"),
    Row("fusedmax smooth_sparsemax", "row_map(lambda z: fenchel.{name}(z, {gamma}), {plain_scores})"),
    Row("fusedmax_grid", "row_map(lambda z: fenchel.fusedmax_grid(z, {gamma}), {grid}, 2)"),
    Row(
        "entmax_jvp entmax_vjp",
        "products(lambda v: fenchel.entmax_jvp(fenchel.entmax({scores}, {alpha}), v, {alpha}), lambda u: "
        "fenchel.entmax_vjp(fenchel.entmax({scores}, {alpha}), u, {alpha}), {direction}, {direction2})",
    ),
    Row(
        "entmax_jvp entmax_vjp",
        "jacobian(fenchel.{name}(fenchel.entmax({plain_scores}, {alpha}), {direction}, {alpha}), "
        "fenchel.entmax({plain_scores}, {alpha}), {direction}, {alpha})",
    ),
    Row(
        "fusedmax_jvp fusedmax_vjp",
        "products(lambda v: fenchel.fusedmax_jvp(fenchel.fusedmax({plain_scores}, {gamma}), v, {gamma}), lambda u: "
        "fenchel.fusedmax_vjp(fenchel.fusedmax({plain_scores}, {gamma}), u, {gamma}), {direction}, {direction2})",
    ),
    Row(
        "smooth_sparsemax_jvp smooth_sparsemax_vjp",
        "products(lambda v: fenchel.smooth_sparsemax_jvp(fenchel.smooth_sparsemax({plain_scores}, {gamma}), v, "
        "{gamma}), lambda u: fenchel.smooth_sparsemax_vjp(fenchel.smooth_sparsemax({plain_scores}, {gamma}), u, "
        "{gamma}), {direction}, {direction2})",
    ),
    Row(
        "fusedmax_grid_jvp fusedmax_grid_vjp",
        "products(lambda v: fenchel.fusedmax_grid_jvp(fenchel.fusedmax_grid({grid}, {gamma}), v, {gamma}), lambda u: "
        "fenchel.fusedmax_grid_vjp(fenchel.fusedmax_grid({grid}, {gamma}), u, {gamma}), {grid_direction}, "
        "{grid_direction2})",
    ),
    Row(
        "entmax_hessian_product",
        "agree(fenchel.entmax_hessian_product({scores}, {direction}, {alpha}), "
        "fenchel.entmax_jvp(fenchel.entmax({scores}, {alpha}), {direction}, {alpha}))",
    ),
    Row(
        "entmax_vjp_vjp",
        "finite(fenchel.entmax_vjp_vjp(fenchel.entmax({scores}, {alpha}), {direction}, {direction2}, {alpha}))",
    ),
    Row("escort", "row_map(lambda p: fenchel.escort(p, {order}), {target})"),
    Row(
        "entmax_loss",
        "row_loss(lambda z, q, **o: fenchel.entmax_loss(z, q, {loss_alpha}, **o), lambda z: fenchel.entmax(z, "
        "{loss_alpha}), {masked_scores}, {target})",
    ),
    Row(
        "fusedmax_loss",
        "row_loss(lambda z, q, **o: fenchel.fusedmax_loss(z, q, {gamma}, **o), lambda z: fenchel.fusedmax(z, "
        "{gamma}), {loss_scores}, {target})",
    ),
    Row(
        "smooth_sparsemax_loss",
        "row_loss(lambda z, q, **o: fenchel.smooth_sparsemax_loss(z, q, {gamma}, **o), lambda z: "
        "fenchel.smooth_sparsemax(z, {gamma}), {loss_scores}, {target})",
    ),
    Row(
        "fusedmax_grid_loss",
        "row_loss(lambda z, q, **o: fenchel.fusedmax_grid_loss(z, q, {gamma}, **o), lambda z: "
        "fenchel.fusedmax_grid(z, {gamma}), {grid}, {grid_target} / 5, 2)",
    ),
    Row(
        "cross_omega",
        'agree(finite(fenchel.cross_omega({loss_scores}, {target}, {loss_alpha}, reduction="none")), '
        'fenchel.entmax_loss({loss_scores}, {target}, {loss_alpha}, reduction="none") - fenchel.negentropy({target}, '
        "{loss_alpha}), 1e-12, 1e-12 + 4e-15 * abs({loss_scores}).max())",
    ),
    Row(
        "entmax_conjugate negentropy",
        "conjugacy(fenchel.entmax_conjugate({loss_scores}, {loss_alpha}), "
        "fenchel.negentropy(fenchel.entmax({loss_scores}, {loss_alpha}), {loss_alpha}), {loss_scores}, "
        "fenchel.entmax({loss_scores}, {loss_alpha}), {loss_alpha})",
    ),
    Row("entmax_conjugate", "finite(fenchel.entmax_conjugate({loss_scores}, {alpha}))"),
    Row(
        "entmax_threshold entmax_normalizer support_size",
        "thresholds(fenchel.entmax_threshold({scores}, {alpha}), fenchel.entmax_normalizer({scores}, {alpha}), "
        "fenchel.support_size({scores}, {alpha}), {scores}, fenchel.entmax({scores}, {alpha}), {alpha})",
    ),
    Row("num_threads set_num_threads", "holds([fenchel.set_num_threads(1), fenchel.num_threads() == 1][1])"),
]

CONSTRUCTORS = [
    Row("BetaGaussian", "density(fenchel.BetaGaussian({alpha}, {mu}, {scale}), {levels})"),
    Row("BetaLaplace", "density(fenchel.BetaLaplace({alpha}, {mu}, {scale}), {levels})"),
    Row("Triangular", "density(fenchel.Triangular({mu}, {scale}), {levels})"),
    Row("TruncatedGaussian", "density(fenchel.TruncatedGaussian({kappa}, {mu}, {scale}), {levels})"),
    Row(
        "CappedTriangular CappedParabola SmoothTriangular SmoothParabola",
        "density(value(fenchel.{name}({gamma}, {mu}, {scale})), {levels})",
    ),
    Row("LocationScale", "density(fenchel.LocationScale(math.cosh, math.sinh, {mu}, {size}), {some_levels})"),
    Row("Uniform BetaGaussian.uniform", "density(value(fenchel.{name}({mu}, {mu} + {scale})), {levels})"),
    Row("EscortDensity", "density(fenchel.EscortDensity({family}, {order}), {levels})"),
    Row("Mixture", "density(value(fenchel.Mixture([{unit}, 1 - {unit}], [{quadratic}, {quadratic2}])), {levels})"),
    Row(
        "BetaGaussian.gaussian BetaGaussian.triweight BetaGaussian.biweight BetaGaussian.truncated_parabola "
        "BetaGaussian.semicircle BetaLaplace.laplace",
        "density(value(fenchel.{name}({mu}, {scale})), {levels})",
    ),
    Row("BetaGaussian.student", "density(value(fenchel.{name}(1 + {scale}, {mu}, {scale2})), {levels})"),
    Row(
        "BetaGaussian.from_variance BetaLaplace.from_variance",
        "agree(fenchel.{name}({alpha}, {mu}, {scale}).var(), {scale}, 1e-12)",
    ),
    Row("Triangular.from_variance", "agree(fenchel.{name}({mu}, {scale}).var(), {scale}, 1e-12)"),
    Row(
        "_GammaFamily.from_variance",
        "agree(fenchel.CappedParabola.from_variance({gamma}, {mu}, {scale}).var(), {scale}, 1e-9)",
    ),
    Row(
        "BetaGaussian.from_half_width BetaLaplace.from_half_width",
        "agree(fenchel.{name}({light}, {mu}, {scale}).support()[1], {mu} + {scale}, 1e-12, 1e-12 * {scale})",
    ),
    Row(
        "Triangular.from_half_width",
        "agree(fenchel.{name}({mu}, {scale}).support()[1], {mu} + {scale}, 1e-12, 1e-12 * {scale})",
    ),
    Row(
        "BetaLaplace.from_mean_deviation",
        "mean_deviation(fenchel.{name}({light}, {mu}, {scale}), {scale})",
    ),
    Row(
        "_TriangularFamily.from_mean_deviation",
        "density(fenchel.SmoothTriangular.{method}({gamma}, {mu}, {scale}), {levels})",
    ),
    Row(
        "BetaGaussian.from_canonical BetaGaussian.canonical_parameters",
        "canonical({alpha}, {mu}, -{scale})",
    ),
    Row("SparsePoisson", "probabilities(value(fenchel.SparsePoisson({alpha}, {rate})), {levels})"),
    Row(
        "SparseIntegerGaussian",
        "probabilities(value(fenchel.SparseIntegerGaussian({alpha}, {mu}, {scale})), {levels})",
    ),
    Row("IntegerTable", 'probabilities(value(fenchel.IntegerTable(-2, array({seed}, 7, "simplex"))), {levels})'),
    Row("Tsallis", "value(fenchel.Tsallis({alpha}, {scale}))"),
    Row("TotalVariation Sobolev", "value(fenchel.{name}({gamma}, {scale}))"),
    Row("Integers Naturals Line", "value(fenchel.{name}())"),
    Row("Interval", "value(fenchel.Interval({mu}, {mu} + {scale}))"),
    Row("IntegerRange", "value(fenchel.IntegerRange(-{count}, {count}))"),
    Row("Euclidean", "value(fenchel.Euclidean({count}))"),
    Row("Box", "value(fenchel.Box([{mu}, 0], [{mu} + {scale}, 1]))"),
]

NUMBERS = [
    Row(
        "NumericDistribution.cdf NumericDistribution.sf NumericDistribution.logcdf NumericDistribution.logsf "
        "NumericDistribution.support IntegerDistribution.support",
        "tails({numeric}, {levels})",
    ),
    Row(
        "NumericDistribution.ppf NumericDistribution.isf NumericDistribution.interval NumericDistribution.median",
        "quantiles({numeric}, {levels})",
    ),
    Row("LineDistribution.pdf LineDistribution.logpdf", "density({line}, {levels})"),
    Row("IntegerDistribution.pmf IntegerDistribution.logpmf", "probabilities({counted}, {levels})"),
    Row("NumericDistribution.rvs IntegerDistribution.rvs", "draws({numeric}, {seed}, {many})"),
    Row(
        "NumericDistribution.mean NumericDistribution.var NumericDistribution.std LineDistribution.std "
        "NumericDistribution.mode "
        "NumericDistribution.skewness NumericDistribution.kurtosis NumericDistribution.moment "
        "NumericDistribution.central_moment",
        "moments({numeric})",
    ),
    Row("NumericDistribution.moment NumericDistribution.central_moment", 'a_moment({numeric}, "{method}", {moment})'),
    Row("NumericDistribution.entropy NumericDistribution.tsallis_entropy", "entropies({numeric}, {alpha})"),
    Row("NumericDistribution.expect LineDistribution.expect", "expectations({numeric}, {function})"),
    Row("LineDistribution.pieces", "holds(np.diff(np.ravel({line}.pieces())) >= 0)"),
    Row("LineDistribution.total_variation LineDistribution.roughness", "holds({line}.{method}() >= 0)"),
    Row("LineDistribution.escort", "density({family}.escort({order}), {levels})"),
    Row("BetaGaussian.escort Uniform.escort", "density({quadratic}.escort({order}), {levels})"),
    Row("BetaLaplace.escort", "density(fenchel.BetaLaplace({alpha}, {mu}, {scale}).escort({order}), {levels})"),
    Row("Triangular.escort", "density(fenchel.Triangular({mu}, {scale}).escort({order}), {levels})"),
    Row("IntegerDistribution.escort", "probabilities({counted}.escort({order}), {levels})"),
    Row(
        "LineDistribution.expectation_gradient",
        "mean_of({family}, {function}, lambda p: p.expectation_gradient({function}))",
    ),
    Row(
        "Triangular.expectation_gradient",
        "finite(fenchel.Triangular({mu}, {scale}).expectation_gradient({function}))",
    ),
    Row("BetaGaussian.sample_derivatives", "finite((lambda p: p.sample_derivatives(p.ppf({unit})))({quadratic}))"),
    Row("LineDistribution.fenchel_young", "zero_loss({family})"),
    Row("LineDistribution.fenchel_young LineDistribution.cross_omega", "losses({family}, {line})"),
    Row("LineDistribution.fenchel_young LineDistribution.cross_omega", "losses({family}, {sample})"),
    Row("IntegerPrediction.fenchel_young", "zero_loss({counted}, 1e-12)"),
    Row("IntegerPrediction.fenchel_young IntegerPrediction.cross_omega", "losses({counted}, {counts})"),
    Row(
        "LineDistribution.cross_omega",
        "moment_difference(fenchel.BetaGaussian({alpha}, {mu}, {scale}), {sample}, mu=lambda t: (t - {mu}) / "
        "{scale}, sigma2=lambda t: (t - {mu}) / {scale} * (t - {mu}) / {scale} / 2)",
    ),
    Row(
        "LineDistribution.cross_omega",
        "moment_difference(fenchel.BetaLaplace({alpha}, {mu}, {scale}), {sample}, b=lambda t: abs(t - {mu}) / "
        "{scale} / {scale})",
    ),
    Row(
        "LineDistribution.cross_omega",
        "moment_difference(fenchel.TruncatedGaussian({kappa}, {mu}, {scale}), {sample}, kappa=lambda t: gaussian(t, "
        "{mu}, {scale}))",
    ),
    Row(
        "IntegerPrediction.cross_omega",
        "moment_difference(fenchel.SparsePoisson({alpha}, {rate}), {counts}, log_mu=lambda k: k)",
    ),
    Row("LineDistribution.fenchel_young_hessian Prediction.fenchel_young_hessian", "not_nan({quadratic}.{method}())"),
    Row(
        "LineDistribution.fenchel_young_hessian",
        "not_nan(fenchel.CappedParabola({gamma}, {mu}, {scale}).{method}({sample}))",
    ),
    Row("Prediction.conjugate Prediction.normalizer", "finite({family}.{method}())"),
    Row("Prediction.threshold", "finite(fenchel.CappedParabola({gamma}, {mu}, {scale}).threshold())"),
    Row("IntegerPrediction.normalizer", "not_nan({counted}.normalizer())"),
    Row("IntegerPrediction.threshold", "not_nan({counted}.threshold())"),
    Row("Prediction.normalizer_gradient Prediction.normalizer_hessian", "not_nan({quadratic}.{method}())"),
    Row("beta_covariance", "beta_covariances({line}, {order}, {function}, {function2})"),
]

PREDICTIONS = [
    Row("predict", "density({predicted}, {some_levels})"),
    Row("NumericDensity", "density(fenchel.NumericDensity(fenchel.Tsallis({alpha}), {score}), {some_levels})"),
    Row("predict", "tails({predicted}, {some_levels})"),
    Row("predict", "quantiles({predicted}, {some_levels})"),
    Row("predict", "moments({predicted})"),
    Row("predict", "zero_loss({predicted}, 1e-9)"),
    Row("predict", "losses({predicted}, {family})"),
    Row("predict", "expectations({predicted}, {function})"),
    Row("predict", "draws({predicted}, {seed})"),
    Row("predict", "probabilities({predicted_integers}, {some_levels})"),
    Row("predict", "quantiles({predicted_integers}, {some_levels})"),
    Row("predict", "zero_loss({predicted_integers}, 1e-12)"),
    Row(
        "NumericIntegers",
        "probabilities(fenchel.NumericIntegers(fenchel.Tsallis({light}), {score}, fenchel.Integers()), {some_levels})",
    ),
    Row(
        "LinearScore",
        "linear_moment_difference(fenchel.LinearScore([{mu}, -{scale}], [lambda t: t, lambda t: t * t]), {alpha}, "
        "{sample})",
    ),
    Row(
        "ParametricScore",
        "zero_loss(fenchel.predict(fenchel.Tsallis({alpha}), fenchel.ParametricScore([{unit}], lambda t, a: -(t - "
        "a[0]) * (t - a[0]), [lambda t, a: 2 * (t - a[0])])), 1e-9)",
    ),
    Row(
        "MultivariateNumericDensity MultivariateNumericDensity.pdf MultivariateNumericDensity.logpdf "
        "MultivariateNumericDensity.rvs MultivariateNumericDensity.mean MultivariateNumericDensity.cov "
        "MultivariateNumericDensity.var MultivariateNumericDensity.mode MultivariateNumericDensity.modes "
        "MultivariateNumericDensity.entropy MultivariateNumericDensity.tsallis_entropy "
        "MultivariateNumericDensity.support MultivariateNumericDensity.expect MultivariateNumericDensity.contour "
        "MultivariateNumericDensity.fenchel_young MultivariateNumericDensity.cross_omega LevelSupport "
        "LevelSupport.contains LevelSupport.contours",
        "plane({plane}, {seed})",
    ),
]

PYTHON = [*MAPS, *CONSTRUCTORS, *NUMBERS, *PREDICTIONS, *OTHERS]
