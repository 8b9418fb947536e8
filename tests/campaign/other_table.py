"""The rows of distributions in space, of attention and of estimation in the Python package."""

from __future__ import annotations

from row import Row

SPACE = [
    Row(
        "MultivariateBetaGaussian Elliptical SpaceDistribution.pdf SpaceDistribution.logpdf SpaceDistribution.rvs "
        "SpaceDistribution.mean SpaceDistribution.mode SpaceDistribution.cov SpaceDistribution.entropy "
        "SpaceDistribution.tsallis_entropy SpaceDistribution.support SpaceDistribution.contour "
        "SpaceDistribution.radial_cdf",
        "space({space}, {seed})",
    ),
    Row(
        "MultivariateBetaGaussian.from_covariance",
        "agree(fenchel.{name}({light}, {vector}, {matrix}).cov(), {matrix}, 1e-9, 1e-9 * abs({matrix}).max())",
    ),
    Row(
        "MultivariateBetaGaussian.uniform",
        "space(fenchel.{name}(fenchel.Ellipsoid({vector}, {matrix}, {size})), {seed})",
    ),
    Row(
        "Ellipsoid Ellipsoid.contains",
        "holds(fenchel.Ellipsoid({vector}, {matrix}, {size}).contains({vector}) == ({size} > 0))",
    ),
    Row("MultivariateBetaGaussian.marginal Elliptical.marginal", "space({space}.marginal([1]), {seed})"),
    Row("MultivariateBetaGaussian.conditional", "(lambda p: space(p.conditional([0], p.mu[:1]), {seed}))({bell})"),
    Row("MultivariateBetaGaussian.affine", "space({bell}.affine([[1.0, 2.0], [0.0, 1.0]], {vector}), {seed})"),
    Row("MultivariateBetaGaussian.escort Elliptical.escort", "space({space}.escort({order}), {seed})"),
    Row("MultivariateBetaGaussian.expect", "agree({bell}.expect(lambda x: 1.0), 1.0, absolute=1e-9)"),
    Row("MultivariateBetaGaussian.kurtosis MultivariateBetaGaussian.var", "finite({bell}.{method}())"),
    Row("MultivariateBetaGaussian.sample_gradient", "moved_draws({bell}, {seed})"),
    Row("MultivariateBetaGaussian.fenchel_young", "zero_loss({bell})"),
    Row("MultivariateBetaGaussian.fenchel_young MultivariateBetaGaussian.cross_omega", "losses({bell}, {bell2})"),
    Row("MultivariateBetaGaussian.cross_omega", "losses({bell}, {points})"),
    Row(
        "MultivariateMixture MultivariateMixture.pdf MultivariateMixture.logpdf MultivariateMixture.rvs "
        "MultivariateMixture.mean MultivariateMixture.cov",
        "mixture_in_space(fenchel.MultivariateMixture([{unit}, 1 - {unit}], "
        "[fenchel.MultivariateBetaGaussian({light}, {near}, {matrix}), fenchel.MultivariateBetaGaussian({light2}, "
        "{near2}, {matrix2})]), {seed})",
    ),
    Row(
        "geodesic_distance wasserstein2",
        "distances(fenchel.{name}, fenchel.BetaGaussian({light}, {mu}, {scale}), fenchel.BetaGaussian({light}, "
        "{mu2}, {scale2}))",
    ),
    Row(
        "wasserstein2",
        "distances(fenchel.wasserstein2, fenchel.MultivariateBetaGaussian({light}, {vector}, {matrix}), "
        "fenchel.MultivariateBetaGaussian({light}, {vector2}, {matrix2}))",
    ),
    Row(
        "geodesic wasserstein_geodesic",
        "density(fenchel.{name}(fenchel.BetaGaussian({light}, {mu}, {scale}), fenchel.BetaGaussian({light}, {mu2}, "
        "{scale2}), {unit}), {levels})",
    ),
    Row(
        "optimal_map",
        "transports(fenchel.BetaGaussian({light}, {mu}, {scale}), fenchel.BetaGaussian({light}, {mu2}, {scale2}), "
        "{levels})",
    ),
    Row(
        "FenchelYoungMetric FenchelYoungMetric.curvature FenchelYoungMetric.tensor",
        "metric(fenchel.FenchelYoungMetric({light}), {scale})",
    ),
    Row(
        "FenchelYoungMetric.vertical_distance",
        "not_nan(fenchel.FenchelYoungMetric({light}).{method}({scale}, {scale2}))",
    ),
    Row(
        "FenchelYoungMetric.geodesic_of_diracs",
        "density(fenchel.FenchelYoungMetric({light}).{method}({mu}, {mu} + 1, {unit}), {levels})",
    ),
]

ATTENTION = [
    Row("GaussianBasis", "finite(fenchel.GaussianBasis({sample}, {scale})({levels}))"),
    Row("GaussianBasis.linearly_spaced", "finite(fenchel.{name}(2 * {count}, {mu}, {mu} + {scale})({levels}))"),
    Row("PolynomialBasis", "finite(fenchel.PolynomialBasis({count}, {mu}, {scale})({mu} + {levels} * {scale}))"),
    Row("FourierBasis", "finite(fenchel.FourierBasis({count}, {scale})({levels}))"),
    Row(
        "FunctionBasis",
        "mean_of({family}, math.cos, lambda p: fenchel.attend(p, fenchel.FunctionBasis([math.cos, math.sin])))",
    ),
    Row("ConcatenatedBasis", "finite(fenchel.ConcatenatedBasis({bumps}, fenchel.FourierBasis({count}))({levels}))"),
    Row("MultivariateGaussianBasis", "finite(fenchel.{name}({points}, {matrix})({vector}))"),
    Row("MultivariateGaussianBasis.unit_square", "finite(fenchel.{name}(2, {count}, {matrix})({vector}))"),
    Row("positions", "holds((fenchel.positions({count}) > 0) & (fenchel.positions({count}) < 1))"),
    Row("grid_positions", "holds(abs(fenchel.grid_positions({count}, 3) - 0.5) < 0.5)"),
    Row("attend", "attended({line}, {bumps})"),
    Row("attend", "attended_by({family}, {basis})"),
    Row("attend", "finite(fenchel.attend({bell}, {bumps_in_plane}))"),
    Row("attend", "finite(fenchel.attend({densities}, {bumps}))"),
    Row("attend", "finite(fenchel.attend({sample}, {bumps}))"),
    Row(
        "attend_jvp attend_vjp",
        "adjoint(fenchel.attend_jvp({quadratic}, {bumps}, dict(mu=1.0, sigma2={unit})), "
        "fenchel.attend_vjp({quadratic}, {bumps}, {row}), dict(mu=1.0, sigma2={unit}), {row})",
    ),
    Row("attend_jacobian", "finite(fenchel.attend_jacobian({quadratic}, {bumps}))"),
    Row("attend_context", "finite(fenchel.attend_context({densities}, {bumps}, {few}))"),
    Row("attend_context_vjp", "finite(fenchel.attend_context_vjp({densities}, {bumps}, {few}, {cotangent}))"),
    Row("match_weights", "finite(fenchel.match_weights({alpha}, {weights}))"),
    Row("match_weights_vjp", "finite(fenchel.{name}({alpha}, {weights}, dict(mu=np.ones(3), Sigma=np.ones(3))))"),
    Row("ridge_values", "finite(fenchel.ridge_values({values}, {bumps}, {ridge}))"),
    Row(
        "RidgeRegression RidgeRegression.fit RidgeRegression.vjp",
        "ridge(fenchel.RidgeRegression({bumps}, 12, {ridge}), {values}, {few})",
    ),
    Row("ValueFunction ValueFunction.context", "finite(fenchel.ValueFunction({few}, {bumps}).context({family}))"),
    Row(
        "compose compose_vjp",
        "composed(fenchel.RidgeRegression({bumps}, 12, {ridge}), {values}, array({seed}, 12), {alpha}, {alpha2})",
    ),
    Row(
        "key_value_attention key_value_attention_vjp",
        "key_values(array({seed}, (3, 4)), array({seed2}, (12, 4)), array({seed3}, (12, 2)), {alpha}, {scale})",
    ),
    Row("fit_mixture", 'mixture_fit(fenchel.fit_mixture({light}, array({seed}, 12, "simplex"), components=2, responsibilities={light}))'),
]

ESTIMATION = [
    Row("LineMoments CountHistogram", "statistics(fenchel.{name}, {counts})"),
    Row("LineMoments.central_moment", "finite(fenchel.LineMoments().update({sample}).central_moment({central}))"),
    Row(
        "Moments Statistics.update Statistics.merge Statistics.copy Statistics.to_bytes Statistics.from_bytes",
        "statistics(lambda: fenchel.Moments(2), {points})",
    ),
    Row(
        "AbsoluteMoments.moment",
        'must_agree("the mean", fenchel.AbsoluteMoments({mu}).update({sample}).moment(0), abs({sample} - {mu}).mean(), '
        "1e-12)",
    ),
    Row("AbsoluteMoments", "statistics(lambda: fenchel.AbsoluteMoments({mu}, [1.0, 2.0]), {sample})"),
    Row("RadialMoments", "statistics(lambda: fenchel.RadialMoments({vector}, {matrix}), {points})"),
    Row("batches", "agree(np.concatenate(list(fenchel.batches({points}))), {points})"),
    Row("fit Fit Distribution.fit", "fitted(fenchel.fit({by_mean}, {sample}), {sample}, matches_mean=True)"),
    Row("Fit.to_dict Fit.from_dict", "modelled(fenchel.fit({by_mean}, {sample}))"),
    Row("Fit.to_dict Fit.from_dict", "modelled(fenchel.fit({counting}, {counts}))"),
    Row("Fit.to_dict Fit.from_dict", "modelled(fenchel.fit(fenchel.MultivariateBetaGaussian, {points}))"),
    Row(
        "Fit.plot",
        "pictured(fenchel.fit(fenchel.BetaGaussian, {sample}), fenchel.BetaGaussian({light}).rvs(50, random_state={seed}))",
    ),
    Row("fit", "fitted(fenchel.fit({by_median}, {sample}), {sample})"),
    Row(
        "Fit.goodness Fit.confidence_interval Goodness",
        "judged(fenchel.fit({by_mean}, {sample}), {sample})",
    ),
    Row("compare Comparison", "compared(fenchel.compare({sample}, [{by_mean}, fenchel.Triangular], folds=3))"),
    Row(
        "fit",
        "fitted(fenchel.fit(fenchel.TruncatedGaussian, fenchel.TruncatedGaussian(1.5 + {unit}, {mu}, "
        "{scale}).rvs(200, {seed}), kappa=2), {sample})",
    ),
    Row("fit", "fitted(fenchel.fit({counting}, {counts}), {counts}, matches_mean=True)"),
    Row("fit", "fitted(fenchel.fit(fenchel.MultivariateBetaGaussian, {points}), {points}, matches_mean=True)"),
    Row(
        "KernelDensity KernelDensity.pdf KernelDensity.logpdf KernelDensity.cdf KernelDensity.rvs KernelDensity.support "
        "KernelDensity.likelihood_score KernelDensity.least_squares_score",
        "kernels(fenchel.KernelDensity({sample}, {light}, {scale}), {seed})",
    ),
    Row("KernelDensity", "kernels(fenchel.KernelDensity({points}, 1 + {unit}, [{scale}, {scale2}]), {seed})"),
    Row("KernelDensity", "kernels(fenchel.KernelDensity({sample}, 1 + {unit}), {seed})"),
    Row(
        "KernelRegression KernelRegression.predict KernelRegression.least_squares_score",
        'local(fenchel.KernelRegression({sample}, {sample2}, 1 + {unit}, {scale}, fit="mean"), {sample}, {sample2})',
    ),
    Row(
        "fit_linear_score",
        "fitted(fenchel.fit_linear_score({light}, [lambda t: t, lambda t: t * t], {levels}, fenchel.Interval(0, 1)), "
        "{levels}, matches_mean=True)",
    ),
]

OTHERS = [*SPACE, *ATTENTION, *ESTIMATION]
