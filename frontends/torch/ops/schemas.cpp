#include <torch/csrc/stable/library.h>

/// The contract between the front ends and the devices: what operations there are. Tensors come first,
/// numbers last. A suffix says what an operation is to f(x) with phi = <grad, f>: _vjp the gradient of phi in
/// x, _jvp how f moves along d_x, _vjp_vjp the Hessian of phi times weight_x. Results for what is not there,
/// or not asked for, are empty, of shape (0).
STABLE_TORCH_LIBRARY(fenchel, m) {
  // Rows along `dim`, which is counted from the end. alphas and gammas are float64 and of the shape of the
  // scores with `dim` of size 1: one a row, in place of the number. Derivatives are functions of p.
  m.def("entmax(Tensor scores, Tensor? alphas, float alpha, int dim) -> Tensor");
  // The same for code that records nothing, to which no autograd rule is ever attached: a small call would
  // take longer to get past the rule than to be computed.
  m.def("entmax_value(Tensor scores, Tensor? alphas, float alpha, int dim) -> Tensor");
  m.def("entmax_vjp(Tensor p, Tensor? alphas, Tensor grad_p, float alpha, int dim) -> (Tensor, Tensor)");
  m.def(
      "entmax_jvp(Tensor p, Tensor? alphas, Tensor d_scores, Tensor? d_alphas, float alpha, int dim) -> "
      "Tensor");
  m.def(
      "entmax_vjp_vjp(Tensor p, Tensor? alphas, Tensor grad_p, Tensor weight_scores, Tensor? weight_alphas, "
      "float alpha, int dim) -> (Tensor, Tensor)");
  // lengths are int64, one a row; weights are float64, of the shape of the scores with one less along `dim`.
  m.def(
      "fusedmax(Tensor scores, Tensor? gammas, Tensor? lengths, Tensor? weights, float gamma, int dim) -> "
      "Tensor");
  m.def(
      "fusedmax_vjp(Tensor p, Tensor? gammas, Tensor? lengths, Tensor? weights, Tensor grad_p, float gamma, "
      "int dim) -> (Tensor, Tensor)");
  m.def(
      "fusedmax_jvp(Tensor p, Tensor? gammas, Tensor? lengths, Tensor? weights, Tensor d_scores, "
      "Tensor? d_gammas, float gamma, int dim) -> Tensor");
  m.def(
      "smooth_sparsemax(Tensor scores, Tensor? gammas, Tensor? lengths, Tensor? weights, float gamma, "
      "int dim) -> Tensor");
  m.def(
      "smooth_sparsemax_vjp(Tensor p, Tensor? gammas, Tensor? lengths, Tensor? weights, Tensor grad_p, "
      "float gamma, int dim) -> (Tensor, Tensor)");
  m.def(
      "smooth_sparsemax_jvp(Tensor p, Tensor? gammas, Tensor? lengths, Tensor? weights, Tensor d_scores, "
      "Tensor? d_gammas, float gamma, int dim) -> Tensor");
  m.def(
      "smooth_sparsemax_vjp_vjp(Tensor p, Tensor? gammas, Tensor? lengths, Tensor? weights, Tensor grad_p, "
      "Tensor weight_scores, Tensor? weight_gammas, float gamma, int dim) -> (Tensor, Tensor)");
  // A row is an image of so many rows of pixels, one after the other.
  m.def("fusedmax_grid(Tensor scores, Tensor? gammas, float gamma, int height, int dim) -> Tensor");
  m.def(
      "fusedmax_grid_vjp(Tensor p, Tensor? gammas, Tensor grad_p, float gamma, int height, int dim) -> "
      "(Tensor, Tensor)");
  m.def(
      "fusedmax_grid_jvp(Tensor p, Tensor? gammas, Tensor d_scores, Tensor? d_gammas, float gamma, "
      "int height, int dim) -> Tensor");

  // The loss of each row; p - q, the gradient in the scores; the slope in alphas: the last two if `gradient`.
  // q is a class a row (of the shape of alphas, int64) or a distribution; `cross` leaves out Omega(q). Half
  // types have results in float32. The vjp is grad_loss, one a row, times p - q, in the type of the scores,
  // and the same with `cross`. The curvature is the Hessian of the loss times (d_scores, d_alphas).
  m.def(
      "entmax_loss(Tensor scores, Tensor? alphas, Tensor? classes, Tensor? soft, float alpha, int dim, "
      "int ignore_index, bool cross, bool gradient) -> (Tensor, Tensor, Tensor)");
  // The mean of the losses over the rows that are not ignored; p - q and the slope of the rows; and the
  // number of those that are not ignored, or 1. The classes have the shape of the scores without `dim`. Of
  // the CPU.
  m.def(
      "entmax_mean_loss(Tensor scores, Tensor? alphas, Tensor classes, float alpha, int dim, "
      "int ignore_index, bool gradient) -> (Tensor, Tensor, Tensor, Tensor)");
  m.def(
      "entmax_loss_vjp(Tensor scores, Tensor? alphas, Tensor? classes, Tensor? soft, Tensor grad_loss, "
      "float alpha, int dim, int ignore_index) -> Tensor");
  m.def(
      "entmax_loss_curvature(Tensor residual, Tensor? alphas, Tensor? classes, Tensor? soft, "
      "Tensor d_scores, Tensor? d_alphas, float alpha, int dim, int ignore_index, bool cross) -> (Tensor, "
      "Tensor)");

  // The same of the maps whose columns are neighbours: always with the gradient, and with the slope in gammas
  // where there are some. The curvature is a function of p.
  m.def(
      "fusedmax_loss(Tensor scores, Tensor? gammas, Tensor? classes, Tensor? soft, Tensor? lengths, "
      "Tensor? weights, float gamma, int ignore_index, int dim) -> (Tensor, Tensor, Tensor)");
  m.def(
      "smooth_sparsemax_loss(Tensor scores, Tensor? gammas, Tensor? classes, Tensor? soft, Tensor? lengths, "
      "Tensor? weights, float gamma, int ignore_index, int dim) -> (Tensor, Tensor, Tensor)");
  m.def(
      "smooth_sparsemax_loss_curvature(Tensor p, Tensor? gammas, Tensor? lengths, Tensor? weights, "
      "Tensor d_scores, Tensor? d_gammas, float gamma, int dim) -> (Tensor, Tensor)");
  m.def(
      "fusedmax_grid_loss(Tensor scores, Tensor? gammas, Tensor? classes, Tensor? soft, float gamma, "
      "int height, int ignore_index, int dim) -> (Tensor, Tensor, Tensor)");

  // entmax and its losses over nodes with a weight each, of the shape of the scores: a base measure.
  // Gradients in the weight if `in_weight`, of losses in all if `gradient`; a direction that is not given is
  // 0.
  m.def("weighted_entmax(Tensor scores, Tensor weight, Tensor? alphas, float alpha, int dim) -> Tensor");
  m.def(
      "weighted_entmax_vjp(Tensor p, Tensor weight, Tensor? alphas, Tensor grad_p, float alpha, int dim, "
      "bool in_weight) -> (Tensor, Tensor, Tensor)");
  m.def(
      "weighted_entmax_jvp(Tensor p, Tensor weight, Tensor? alphas, Tensor? d_scores, Tensor? d_weight, "
      "Tensor? d_alphas, float alpha, int dim) -> Tensor");
  m.def(
      "weighted_entmax_vjp_vjp(Tensor p, Tensor weight, Tensor? alphas, Tensor grad_p, "
      "Tensor? weight_scores, Tensor? weight_weight, Tensor? weight_alphas, float alpha, int dim, "
      "bool in_weight) -> (Tensor, Tensor, Tensor)");
  m.def(
      "weighted_entmax_loss(Tensor scores, Tensor weight, Tensor? alphas, Tensor? classes, Tensor? soft, "
      "float alpha, int dim, int ignore_index, bool cross, bool gradient) -> (Tensor, Tensor, Tensor, "
      "Tensor)");
  m.def(
      "weighted_entmax_loss_curvature(Tensor residual, Tensor weight, Tensor? alphas, Tensor? classes, "
      "Tensor? soft, Tensor? d_scores, Tensor? d_weight, Tensor? d_alphas, float alpha, int dim, "
      "int ignore_index, bool cross) -> (Tensor, Tensor, Tensor)");

  // mu (..., D), scale (..., D, D), alphas (...), means (N, D), covariances (N, D, D), r (..., N); the last
  // three inputs are float64. `learned` asks for gradients in means and covariances.
  m.def(
      "attend(Tensor mu, Tensor scale, Tensor? alphas, Tensor means, Tensor covariances, float alpha) -> "
      "Tensor");
  m.def(
      "attend_vjp(Tensor mu, Tensor scale, Tensor? alphas, Tensor means, Tensor covariances, Tensor grad_r, "
      "float alpha, bool learned) -> (Tensor, Tensor, Tensor, Tensor, Tensor)");
  m.def(
      "attend_jvp(Tensor mu, Tensor scale, Tensor? alphas, Tensor means, Tensor covariances, Tensor d_mu, "
      "Tensor d_scale, Tensor? d_alphas, Tensor? d_means, Tensor? d_covariances, float alpha) -> Tensor");
  m.def(
      "attend_vjp_vjp(Tensor mu, Tensor scale, Tensor? alphas, Tensor means, Tensor covariances, "
      "Tensor grad_r, Tensor weight_mu, Tensor weight_scale, Tensor? weight_alphas, Tensor? weight_means, "
      "Tensor? weight_covariances, float alpha, bool learned) -> (Tensor, Tensor, Tensor, Tensor, Tensor)");

  // query (B, H, n, d), key (B, G, m, d), value (B, G, m, e), mask (bool) and bias that broadcast to
  // (B, H, n, m), alphas and scales (H), float64, in place of the numbers, seed (1), int64, ranges (B, n, 3),
  // int32, each a KeyRange of backend/dot_product_views.hpp. out (B, H, n, e), and the record of that header:
  // normalizers (B, H, n, 2), and on a GPU the support, int32. Gradients in alphas and scales are for each
  // query, (B, H, n). The bias has none here.
  m.def(
      "dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? mask, Tensor? bias, "
      "Tensor? alphas, Tensor? scales, Tensor? seed, Tensor? ranges, float alpha, float scale, bool causal, "
      "float dropout, int sinks) -> (Tensor, Tensor, Tensor)");
  m.def(
      "dot_product_attention_vjp(Tensor query, Tensor key, Tensor value, Tensor? mask, Tensor? bias, "
      "Tensor? alphas, Tensor? scales, Tensor? seed, Tensor? ranges, Tensor normalizers, Tensor support, "
      "Tensor grad_out, float alpha, float scale, bool causal, float dropout, int sinks, bool in_query, "
      "bool in_key, bool in_value, bool in_alphas, bool in_scales) -> (Tensor, Tensor, Tensor, Tensor, "
      "Tensor)");

  // query (B, H, n, d) of the last n tokens of each sequence; key (N, G, R, d) and value (N, G, R, e), N
  // pages of R tokens; pages (B, P), int32, and lengths (B), int64, of each sequence, on the CPU; bias that
  // broadcasts to (B, H, n, m); bounds (N, G, 2, d), the least and largest numbers of the keys of a page;
  // alphas and scales (H), float64, in place of the numbers. (B, H, n, e), without gradients.
  m.def(
      "cached_attention(Tensor query, Tensor key, Tensor value, Tensor pages, Tensor lengths, Tensor? bias, "
      "Tensor? bounds, Tensor? alphas, Tensor? scales, float alpha, float scale, int window, int sinks) -> "
      "Tensor");

  // mu, sigma2 and alphas (...), float64, r (..., N): for polynomials up to the degree `count` about
  // `offset`, and for so many waves of a period `unit`. The gradient in the three is a matrix (..., 3, N).
  m.def(
      "attend_line(Tensor mu, Tensor sigma2, Tensor alphas, str basis, int count, float offset, float unit) "
      "-> Tensor");
  m.def(
      "attend_line_gradient(Tensor mu, Tensor sigma2, Tensor alphas, str basis, int count, float offset, "
      "float unit) -> Tensor");

  // weights (..., L), alphas (...) and points (L, D), float64, lengths (...), int64. A density is mu and then
  // Sigma: (..., D + D^2).
  m.def(
      "match_weights(Tensor weights, Tensor? alphas, Tensor? points, Tensor? lengths, float alpha, "
      "float? floor) -> Tensor");
  m.def(
      "match_weights_vjp(Tensor weights, Tensor? alphas, Tensor? points, Tensor? lengths, "
      "Tensor grad_density, float alpha, float? floor) -> (Tensor, Tensor)");
  m.def(
      "match_weights_jvp(Tensor weights, Tensor? alphas, Tensor? points, Tensor? lengths, Tensor d_weights, "
      "Tensor? d_alphas, float alpha, float? floor) -> Tensor");
  m.def(
      "match_weights_vjp_vjp(Tensor weights, Tensor? alphas, Tensor? points, Tensor? lengths, "
      "Tensor grad_density, Tensor weight_weights, Tensor? weight_alphas, float alpha, float? floor) -> "
      "(Tensor, Tensor)");

  // One of the functions of core/beta_gaussian_jet.hpp, and its 3 first or 6 second derivatives as a last
  // dimension; unless `in_alpha`, those in alpha may be NaN. Tensors are float64 and of the same shape. A
  // seed is an integer below 2^53, a direction a last dimension.
  m.def(
      "beta_gaussian(Tensor? argument, Tensor log_det, Tensor alphas, str function, int dimension) -> "
      "Tensor");
  m.def(
      "beta_gaussian_gradient(Tensor? argument, Tensor log_det, Tensor alphas, str function, int dimension, "
      "bool in_alpha) -> Tensor");
  m.def(
      "beta_gaussian_hessian(Tensor? argument, Tensor log_det, Tensor alphas, str function, int dimension, "
      "bool in_alpha) -> Tensor");
  m.def("beta_gaussian_directions(Tensor seeds, int dimension) -> Tensor");

  // One of the functions of loss/line_batch.hpp for members of a family about 0, and its derivatives in x,
  // shape and scale as a last dimension. Tensors are float64 and of the same shape.
  m.def("line(Tensor? x, Tensor shape, Tensor scale, str family, str function) -> Tensor");
  m.def("line_gradient(Tensor? x, Tensor shape, Tensor scale, str family, str function) -> Tensor");

  // The loss of each against a target of the family, and its derivatives in mu, shape and scale.
  m.def(
      "line_fenchel_young(Tensor mu, Tensor shape, Tensor scale, Tensor target_mu, Tensor target_shape, "
      "Tensor target_scale, str family) -> (Tensor, Tensor)");

  // A statistic (by its place in fenchel::PoissonStatistic) of the distribution of each row at each number of
  // the row, with its derivatives in mu and alpha. All are float64; mu and alphas are (..., 1), the others
  // (..., L). The curvature is the second derivatives: in mu, in mu and alpha, and in alpha.
  m.def(
      "sparse_poisson(Tensor mu, Tensor? alphas, Tensor at, float alpha, int statistic, float order) -> "
      "(Tensor, Tensor, Tensor)");
  m.def(
      "sparse_poisson_curvature(Tensor mu, Tensor? alphas, Tensor at, float alpha, int statistic, "
      "float order) -> (Tensor, Tensor, Tensor)");
}
