"""The rows of fenchel.torch and fenchel.torch.nn."""

from __future__ import annotations

from row import Row

MAPS = [
    Row("entmax entmax_bisect", "tensor_map(lambda z: ft.{name}(z, {alpha}), {tensor})"),
    Row("sparsemax entmax15 sparsemax_bisect", "tensor_map(ft.{name}, {tensor})"),
    Row("entmax", "tensor_map(lambda z: ft.entmax(z, {alpha}, weight={positive_tensor}.to(z.device)), {tensor})"),
    Row("fusedmax smooth_sparsemax", "tensor_map(lambda z: ft.{name}(z, {gamma}), {plain_tensor})"),
    Row("fusedmax_grid", "tensor_map(lambda z: ft.fusedmax_grid(z, {gamma}), tensor({grid}, {dtype}), 2)"),
    Row(
        "entmax_loss",
        'tensor_loss(lambda z, q: ft.entmax_loss(z, q, {loss_alpha}, reduction="none"), lambda z: ft.entmax(z, '
        "{loss_alpha}), {plain_tensor}, {target_tensor})",
    ),
    Row(
        "entmax_loss",
        'tensor_loss(lambda z, q: ft.entmax_loss(z, q, {loss_alpha}, reduction="none"), lambda z: ft.entmax(z, '
        "{loss_alpha}), tensor({mild_scores}, {dtype}), tensor({target}, {dtype}))",
    ),
    Row(
        "fusedmax_loss",
        'tensor_loss(lambda z, q: ft.fusedmax_loss(z, q, {gamma}, reduction="none"), lambda z: ft.fusedmax(z, '
        "{gamma}), {plain_tensor}, {target_tensor})",
    ),
    Row(
        "smooth_sparsemax_loss",
        'tensor_loss(lambda z, q: ft.smooth_sparsemax_loss(z, q, {gamma}, reduction="none"), lambda z: '
        "ft.smooth_sparsemax(z, {gamma}), {plain_tensor}, {target_tensor})",
    ),
    Row(
        "fusedmax_grid_loss",
        'tensor_loss(lambda z, q: ft.fusedmax_grid_loss(z, q, {gamma}, reduction="none"), lambda z: '
        "ft.fusedmax_grid(z, {gamma}), tensor({grid}), tensor({grid_target} / 5))",
    ),
    Row("entmax_loss", 'class_loss(lambda z, c: ft.entmax_loss(z, c, {loss_alpha}, reduction="none"), {plain_tensor})'),
    Row("entmax_bisect_loss", "class_loss(lambda z, c: ft.entmax_bisect_loss(z, c, {loss_alpha}), {plain_tensor})"),
    Row(
        "cross_omega",
        'regular(without_data(lambda z, q: ft.cross_omega(z, q, {loss_alpha}, reduction="none"), '
        "{plain_tensor}, {target_tensor}))",
    ),
    Row("sparsemax_loss entmax15_loss sparsemax_bisect_loss", "class_loss(ft.{name}, {plain_tensor})"),
]

DENSITIES = [
    Row(
        "BetaGaussian BetaLaplace BetaGaussian.cdf BetaGaussian.icdf BetaGaussian.active_support BetaGaussian.expand "
        "Elliptical.log_prob Elliptical.entropy Elliptical.rsample Elliptical.cross_omega",
        'twins("{quadratic_or_absolute}", ({alpha}, {mu}, {scale}), {levels})',
    ),
    Row("Triangular", 'twins("Triangular", ({mu}, {scale}), {levels})'),
    Row("TruncatedGaussian", 'twins("TruncatedGaussian", ({kappa}, {mu}, {scale}), {levels})'),
    Row(
        "CappedTriangular CappedParabola SmoothTriangular SmoothParabola LineFamily.log_prob LineFamily.cdf "
        "LineFamily.icdf LineFamily.entropy LineFamily.expand LineFamily.active_support LineFamily.rsample "
        "LineFamily.cross_omega",
        'twins("{gamma_family}", ({gamma}, {mu}, {scale}), {levels})',
    ),
    Row(
        "LocationScale LocationScale.log_prob LocationScale.cdf LocationScale.icdf LocationScale.entropy "
        "LocationScale.expand LocationScale.active_support LocationScale.rsample LocationScale.cross_omega",
        "same_numbers(fenchel.LocationScale(math.cosh, math.sinh, {mu}, {scale}), ft.LocationScale(torch.cosh, "
        "torch.sinh, tensor([{mu}]), tensor([{scale}])), {some_levels})",
    ),
    Row(
        "SparsePoisson SparsePoisson.log_prob SparsePoisson.prob SparsePoisson.cdf SparsePoisson.icdf "
        "SparsePoisson.entropy SparsePoisson.expand SparsePoisson.sample SparsePoisson.cross_omega",
        "same_numbers(fenchel.SparsePoisson({alpha}, {rate}), ft.SparsePoisson({alpha}, tensor([{rate}])), {levels})",
    ),
    Row(
        "SparseIntegerGaussian SparseIntegerGaussian.log_prob SparseIntegerGaussian.prob SparseIntegerGaussian.cdf "
        "SparseIntegerGaussian.icdf SparseIntegerGaussian.entropy SparseIntegerGaussian.expand "
        "SparseIntegerGaussian.sample SparseIntegerGaussian.cross_omega",
        'twins("SparseIntegerGaussian", ({light}, {mu}, {scale}), {levels})',
    ),
    Row(
        "Elliptical.fenchel_young Elliptical.tsallis_entropy LineFamily.fenchel_young LineFamily.tsallis_entropy",
        "own_loss(ft.{quadratic_or_absolute}({alpha}, tensor([{mu}]), tensor([{scale}])))",
    ),
    Row(
        "LocationScale.tsallis_entropy",
        "regular(ft.LocationScale(torch.cosh, torch.sinh, 0.0, tensor([{scale}])).tsallis_entropy())",
    ),
    Row("SparsePoisson.tsallis_entropy", "regular(ft.SparsePoisson({light}, tensor([{rate}])).tsallis_entropy())"),
    Row(
        "SparseIntegerGaussian.tsallis_entropy",
        "regular(ft.SparseIntegerGaussian({light}, tensor([{mu}]), {scale}).tsallis_entropy())",
    ),
    Row(
        "BetaGaussian BetaLaplace Elliptical.rsample LineFamily.rsample",
        "reparametrized(ft.{quadratic_or_absolute}, [tensor([{alpha}]), tensor([{mu}]), tensor([{scale}])])",
    ),
    Row(
        "MultivariateBetaGaussian MultivariateBetaGaussian.expand",
        "reparametrized(lambda m, s: ft.MultivariateBetaGaussian({light}, m, s).expand((2,)), [tensor({near}), "
        "tensor({matrix})])",
    ),
    Row(
        "MultivariateBetaGaussian.active_support",
        "regular(ft.MultivariateBetaGaussian({light}, tensor({vector}), tensor({matrix})).{method}()[2])",
    ),
    Row(
        "Mixture",
        "regular(ft.Mixture(tensor([{unit}, 1 - {unit}]), ft.BetaGaussian({light}, tensor([{mu}, {mu2}]), "
        "{scale})).sample((9,)))",
    ),
    Row(
        "predict NumericDensity NumericDensity.pdf NumericDensity.log_prob NumericDensity.cdf NumericDensity.icdf "
        "NumericDensity.sample NumericDensity.rsample NumericDensity.entropy NumericDensity.tsallis_entropy "
        "NumericDensity.cross_omega NumericDensity.fenchel_young NumericDensity.expectation "
        "NumericDensity.active_support",
        "quadrature(ft.predict({tensor_score}, {loss_alpha}, fenchel.Interval(-2, 3), dtype=torch.float64), "
        "tensor({levels}))",
    ),
    Row(
        "Nodes",
        "regular(ft.predict({tensor_score}, {alpha}, ft.Nodes(tensor({levels}), tensor({levels}) + 0.1)).probs)",
    ),
    Row("Box", "value(ft.Box([{mu}, 0], [{mu} + {scale}, 1]))"),
]

ATTENTION = [
    Row(
        "continuous_attention GaussianBasis GaussianBasis.forward GaussianBasis.functions "
        "GaussianBasis.linearly_spaced PolynomialBasis PolynomialBasis.attend PolynomialBasis.forward FourierBasis "
        "FourierBasis.attend FourierBasis.forward FunctionBasis FunctionBasis.attend FunctionBasis.forward "
        "ConcatenatedBasis LineBasis.attend ConcatenatedBasis.forward ConcatenatedBasis.parts Basis.functions",
        "basis_functions({tensor_basis}, tensor({levels}), tensor([{mu}]), tensor([{scale}]))",
    ),
    Row(
        "Basis.extra_repr ConcatenatedBasis.extra_repr FourierBasis.extra_repr FunctionBasis.extra_repr "
        "PolynomialBasis.extra_repr RidgeValues.extra_repr",
        "holds(len(repr(ft.RidgeValues({tensor_basis}))) > 2)",
    ),
    Row(
        "MultivariateGaussianBasis MultivariateGaussianBasis.forward MultivariateGaussianBasis.unit_square "
        "continuous_attention",
        "regular(ft.continuous_attention({light}, tensor({vector}), tensor({matrix}), {tensor_basis_in_plane}))",
    ),
    Row("MultivariateGaussianBasis.functions", "[regular(x) for x in {tensor_basis_in_plane}.functions()]"),
    Row(
        "match_weights",
        "[regular(x) for x in without_data(lambda w: ft.match_weights({alpha}, w), tensor({weights}, {dtype}))]",
    ),
    Row(
        "RidgeValues RidgeValues.forward",
        "module(ft.RidgeValues({tensor_basis}.double(), {ridge}), tensor({sequence}))",
    ),
    Row("RidgeValues.fit", "regular(ft.RidgeValues({tensor_basis}.double(), {ridge}).fit(tensor({sequence})))"),
    Row(
        "RidgeValues.contexts",
        "regular(ft.RidgeValues(ft.PolynomialBasis(3).double(), {ridge}).contexts(tensor(array({seed}, (2, 4))), "
        "tensor({sequence})))",
    ),
    Row(
        "scaled_dot_product_attention attention_weights",
        "key_attention({light}, tensor({queries}, {dtype}), tensor({keys}, {dtype}))",
    ),
    Row(
        "scaled_dot_product_attention attention_weights",
        "key_ranges({light}, tensor({queries}, {dtype}), tensor({queries2}, {dtype}), {causal}, {window}, {sinks}, "
        "{documents})",
    ),
    Row(
        "varlen_attention scaled_dot_product_attention",
        "row_of_sequences({light}, tensor({queries}, {dtype})[0], tensor({queries2}, {dtype})[0], {lengths}, {causal}, "
        "{window}, {sinks})",
    ),
    Row(
        "KeyValueCache KeyValueCache.append KeyValueCache.attend KeyValueCache.attend_with_weights "
        "KeyValueCache.attention_weights KeyValueCache.clear KeyValueCache.seen KeyValueCache.select",
        "cached_keys({light}, tensor({queries}, {dtype}), tensor({keys}, {dtype}), {page_size})",
    ),
    Row("fit_mixture", 'regular(ft.fit_mixture({light}, tensor(array({seed}, (3, 12), "simplex"))).weights)'),
]

MODULES = [
    Row("Entmax Entmax.forward Entmax.extra_repr", "module(ftnn.Entmax({alpha}), {tensor})"),
    Row("EntmaxBisect", "module(ftnn.EntmaxBisect({alpha}), {tensor})"),
    Row("Entmax15 Sparsemax SparsemaxBisect", "module(ftnn.{name}(), {tensor})"),
    Row(
        "Fusedmax SmoothSparsemax Fusedmax.forward SmoothSparsemax.forward _Neighbours.extra_repr",
        "module(ftnn.{fused}({gamma}), {plain_tensor})",
    ),
    Row("FusedmaxGrid FusedmaxGrid.forward", "module(ftnn.FusedmaxGrid({gamma}), tensor({grid}))"),
    Row(
        "EntmaxLoss EntmaxBisectLoss",
        "loss_module(ftnn.{name}({loss_alpha}), {plain_tensor}, torch.zeros({plain_tensor}.shape[:1], dtype=torch.int64))",
    ),
    Row(
        "EntmaxLoss.forward EntmaxLoss.extra_repr Entmax15Loss SparsemaxLoss SparsemaxBisectLoss",
        "loss_module(ftnn.{class_losses}(), {plain_tensor}, torch.zeros({plain_tensor}.shape[:1], dtype=torch.int64))",
    ),
    Row(
        "ContinuousAttention ContinuousAttention.forward ContinuousAttention.extra_repr",
        "module(ftnn.ContinuousAttention({tensor_basis}.double(), {kind}, {light}), tensor({sequence}), "
        "tensor(array({seed}, (2, 12))))",
    ),
    Row(
        "MultiheadContinuousAttention MultiheadContinuousAttention.forward",
        "module(ftnn.MultiheadContinuousAttention(8, 2, "
        "ftnn.ContinuousAttention(ft.GaussianBasis.linearly_spaced(4), {kind}, {light})), *3 * [tensor(array({seed}, "
        '(2, 12, 8)), "float32")])',
    ),
    Row(
        "MultiheadAttention MultiheadAttention.forward MultiheadAttention.extra_repr",
        "multihead(ftnn.MultiheadAttention(8, 2, batch_first=True, alpha={light}, num_kv_heads={heads}, scale={head_scale}, "
        "window={window}, sinks={sinks}).double(), tensor(array({seed}, (2, 12, 8))))",
    ),
    Row(
        "EntmaxAttentionScale EntmaxAttentionScale.forward EntmaxAttentionScale.extra_repr",
        "module(ftnn.EntmaxAttentionScale({count}, {count2}), tensor(array({seed}, (3, 1, 9), \"positive\")))",
    ),
    Row("sparsify", "sparsified({light}, tensor(array({seed}, (2, 12, 8))))"),
    Row(
        "Attended.density",
        "regular(ftnn.Attended({light}, tensor([{mu}]), tensor([{scale}])).density().sample((9,)))",
    ),
]

TORCH = [*MAPS, *DENSITIES, *ATTENTION]
