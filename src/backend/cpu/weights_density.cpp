#include "fenchel/backend/weights_density.hpp"

#include <algorithm>

#include "backend/cpu/weight_matching.hpp"

namespace fenchel::cpu {
namespace {

double inner(const double* x, const double* y, index_t n) noexcept {
  double sum = 0;
  for (index_t k = 0; k < n; ++k) sum += x[k] * y[k];
  return sum;
}

/// How mean, as `shift`, and covariance move along a direction of the weights, and their sum.
template <class Real>
double move_moments(const detail::WeightMatching<Real>& matching, const Real* direction,
                    const detail::MatchedRow& row, double* moved) noexcept {
  const index_t d = matching.dimension();
  double total = 0;
  std::fill_n(moved, d * d, 0.0);
  std::fill_n(row.shift, d, 0.0);
  for (index_t l = 0; l < row.length; ++l) {
    matching.centre(l, row);
    total += direction[l];
    for (index_t a = 0; a < d; ++a) {
      row.shift[a] += direction[l] * row.offset[a];
      for (index_t b = 0; b < d; ++b) moved[a * d + b] += direction[l] * row.offset[a] * row.offset[b];
    }
  }
  for (index_t a = 0; a < d; ++a) row.shift[a] /= row.total;
  for (index_t a = 0; a < d * d; ++a) moved[a] = (moved[a] - total * row.spread[a]) / row.total;
  return total;
}

/// out = x y for a symmetric y.
void multiply(const double* x, const double* y, index_t d, double* out) noexcept {
  for (index_t a = 0; a < d; ++a) {
    for (index_t b = 0; b < d; ++b) out[a * d + b] = inner(x + a * d, y + b * d, d);
  }
}

}  // namespace

template <class Real>
void match_weights(std::type_identity_t<Rows<const Real>> weights, const WeightPositions& positions,
                   PerRow alpha, std::optional<double> floor, Rows<Real> mu,
                   Rows<std::type_identity_t<Real>> scale) {
  const detail::WeightMatching<Real> matching("match_weights", weights, positions, alpha, floor);
  const index_t d = matching.dimension();
  matching.check_columns("mu", mu, d);
  matching.check_columns("scale", scale, d * d);
  matching.run([&](index_t i, const detail::MatchedRow& row) noexcept {
    for (index_t a = 0; a < d; ++a) mu.row(i)[a] = static_cast<Real>(row.mean[a]);
    for (index_t a = 0; a < d * d; ++a) scale.row(i)[a] = static_cast<Real>(row.kappa * row.covariance[a]);
  });
}

template <class Real>
void match_weights_vjp(std::type_identity_t<Rows<const Real>> weights, const WeightPositions& positions,
                       PerRow alpha, std::optional<double> floor,
                       const DensityTangents<const std::type_identity_t<Real>>& cotangent,
                       Rows<Real> weights_gradient, std::span<std::type_identity_t<Real>> alpha_gradient) {
  const detail::WeightMatching<Real> matching("match_weights_vjp", weights, positions, alpha, floor);
  const index_t d = matching.dimension();
  matching.check_columns("cotangent.mu", cotangent.mu, d);
  matching.check_columns("cotangent.scale", cotangent.scale, d * d);
  matching.check_numbers("cotangent.alpha", cotangent.alpha.size());
  matching.check_columns("weights_gradient", weights_gradient, weights.cols);
  matching.check_numbers("alpha_gradient", alpha_gradient.size());
  // dSigma = kappa (dV + V dlog kappa), dlog kappa = am1/2 Tr(V^-1 dV) + slope dalpha.
  matching.run([&](index_t i, const detail::MatchedRow& row) noexcept {
    const Real *const of_mu = cotangent.mu.row(i), *const of_scale = cotangent.scale.row(i);
    double* const g = row.work;
    for (index_t a = 0; a < d * d; ++a) g[a] = row.kappa * of_scale[a];
    const double of_kappa = inner(g, row.covariance, d * d);
    const double share = (alpha[i] - 1) / 2 * of_kappa;
    for (index_t a = 0; a < d * d; ++a) g[a] += share * row.inverse[a];
    const double average = inner(g, row.spread, d * d);
    Real* const out = weights_gradient.row(i);
    if (matching.on_cells()) {
      const double width = matching.cell_width(row.length), mean = row.mean[0], slope = of_mu[0];
      const double curvature = g[0], share_of_one = 1 / row.total;
      for (index_t l = 0; l < row.length; ++l) {
        const double t = matching.cell_centre(l, width) - mean;
        out[l] = static_cast<Real>((t * (slope + curvature * t) - average) * share_of_one);
      }
    }
    for (index_t l = 0; l < row.length && !matching.on_cells(); ++l) {
      matching.centre(l, row);
      double sum = -average;
      for (index_t a = 0; a < d; ++a) {
        sum += row.offset[a] * (of_mu[a] + inner(g + a * d, row.offset, d));
      }
      out[l] = static_cast<Real>(sum / row.total);
    }
    std::fill(out + row.length, out + weights.cols, Real{0});
    if (!alpha_gradient.empty()) {
      const auto k = static_cast<std::size_t>(i);
      const double own = cotangent.alpha.empty() ? 0.0 : double{cotangent.alpha[k]};
      alpha_gradient[k] = static_cast<Real>(own + of_kappa * row.kappa_slope);
    }
  });
}

template <class Real>
void match_weights_jvp(std::type_identity_t<Rows<const Real>> weights, const WeightPositions& positions,
                       PerRow alpha, std::optional<double> floor,
                       std::type_identity_t<Rows<const Real>> direction,
                       std::span<const std::type_identity_t<Real>> alpha_direction, Rows<Real> mu_tangent,
                       Rows<std::type_identity_t<Real>> scale_tangent) {
  const detail::WeightMatching<Real> matching("match_weights_jvp", weights, positions, alpha, floor);
  const index_t d = matching.dimension();
  matching.check_columns("direction", direction, weights.cols);
  matching.check_numbers("alpha_direction", alpha_direction.size());
  matching.check_columns("mu_tangent", mu_tangent, d);
  matching.check_columns("scale_tangent", scale_tangent, d * d);
  matching.run([&](index_t i, const detail::MatchedRow& row) noexcept {
    double* const moved = row.work;
    move_moments(matching, direction.row(i), row, moved);
    for (index_t a = 0; a < d; ++a) mu_tangent.row(i)[a] = static_cast<Real>(row.shift[a]);
    const double d_alpha =
        alpha_direction.empty() ? 0.0 : double{alpha_direction[static_cast<std::size_t>(i)]};
    const double d_log_kappa =
        (alpha[i] - 1) / 2 * inner(row.inverse, moved, d * d) + row.kappa_slope * d_alpha;
    for (index_t a = 0; a < d * d; ++a) {
      scale_tangent.row(i)[a] = static_cast<Real>(row.kappa * (moved[a] + row.covariance[a] * d_log_kappa));
    }
  });
}

/// phi = <c, mean> + <G, kappa V> has the gradient (c o + o A o - <A, spread>) / total in a weight at the
/// offset o from the mean, A = kappa G + am1/2 kappa <G, V> V^-1, and kappa <G, V> dlog kappa/dalpha in
/// alpha.
template <class Real>
void match_weights_vjp_vjp(std::type_identity_t<Rows<const Real>> weights, const WeightPositions& positions,
                           PerRow alpha, std::optional<double> floor,
                           const DensityTangents<const std::type_identity_t<Real>>& cotangent,
                           std::type_identity_t<Rows<const Real>> direction,
                           std::span<const std::type_identity_t<Real>> alpha_direction,
                           Rows<Real> weights_product, std::span<std::type_identity_t<Real>> alpha_product) {
  const detail::WeightMatching<Real> matching("match_weights_vjp_vjp", weights, positions, alpha, floor);
  const index_t d = matching.dimension(), d2 = d * d;
  matching.check_columns("cotangent.mu", cotangent.mu, d);
  matching.check_columns("cotangent.scale", cotangent.scale, d2);
  matching.check_columns("direction", direction, weights.cols);
  matching.check_numbers("alpha_direction", alpha_direction.size());
  matching.check_columns("weights_product", weights_product, weights.cols);
  matching.check_numbers("alpha_product", alpha_product.size());
  matching.run([&](index_t i, const detail::MatchedRow& row) noexcept {
    const Real* const of_mu = cotangent.mu.row(i);
    double *const g = row.work, *const moved = row.more, *const d_g = moved + d2, *const product = d_g + d2;
    double* const pull = product + d2;  // (A + A^T) times the mean's move
    const double total = move_moments(matching, direction.row(i), row, moved);
    for (index_t a = 0; a < d2; ++a) g[a] = row.kappa * cotangent.scale.row(i)[a];
    const double of_kappa = inner(g, row.covariance, d2), of_moved = inner(g, moved, d2);
    const double half = (alpha[i] - 1) / 2, trace = inner(row.inverse, moved, d2);
    const auto k = static_cast<std::size_t>(i);
    const double d_alpha = alpha_direction.empty() ? 0.0 : double{alpha_direction[k]};
    const double d_log_kappa = half * trace + row.kappa_slope * d_alpha;
    multiply(row.inverse, moved, d, product);
    multiply(product, row.inverse, d, d_g);
    for (index_t a = 0; a < d2; ++a) {
      g[a] += half * of_kappa * row.inverse[a];
      d_g[a] = d_log_kappa * g[a] + (half * of_moved + d_alpha / 2 * of_kappa) * row.inverse[a] -
               half * of_kappa * d_g[a];
    }
    double d_average = inner(d_g, row.spread, d2) + inner(g, moved, d2);
    for (index_t a = 0; a < d; ++a) {
      d_average += of_mu[a] * row.shift[a];
      pull[a] = 0;
      for (index_t b = 0; b < d; ++b) pull[a] += (g[a * d + b] + g[b * d + a]) * row.shift[b];
    }
    const double average = inner(g, row.spread, d2), share = total / row.total;
    Real* const out = weights_product.row(i);
    for (index_t l = 0; l < row.length; ++l) {
      matching.centre(l, row);
      double sum = share * average - d_average;
      for (index_t a = 0; a < d; ++a) {
        const double own = of_mu[a] + inner(g + a * d, row.offset, d);
        sum += row.offset[a] * (inner(d_g + a * d, row.offset, d) - pull[a] - share * own);
      }
      out[l] = static_cast<Real>(sum / row.total);
    }
    std::fill(out + row.length, out + weights.cols, Real{0});
    if (!alpha_product.empty()) {
      const double curve = matching.kappa_curve(alpha[i] - 1);
      alpha_product[k] =
          static_cast<Real>(of_kappa * (d_log_kappa * row.kappa_slope + trace / 2 + curve * d_alpha) +
                            of_moved * row.kappa_slope);
    }
  });
}

template void match_weights(Rows<const float>, const WeightPositions&, PerRow, std::optional<double>,
                            Rows<float>, Rows<float>);
template void match_weights(Rows<const double>, const WeightPositions&, PerRow, std::optional<double>,
                            Rows<double>, Rows<double>);
template void match_weights_vjp(Rows<const float>, const WeightPositions&, PerRow, std::optional<double>,
                                const DensityTangents<const float>&, Rows<float>, std::span<float>);
template void match_weights_vjp(Rows<const double>, const WeightPositions&, PerRow, std::optional<double>,
                                const DensityTangents<const double>&, Rows<double>, std::span<double>);
template void match_weights_jvp(Rows<const float>, const WeightPositions&, PerRow, std::optional<double>,
                                Rows<const float>, std::span<const float>, Rows<float>, Rows<float>);
template void match_weights_jvp(Rows<const double>, const WeightPositions&, PerRow, std::optional<double>,
                                Rows<const double>, std::span<const double>, Rows<double>, Rows<double>);

template void match_weights_vjp_vjp(Rows<const float>, const WeightPositions&, PerRow, std::optional<double>,
                                    const DensityTangents<const float>&, Rows<const float>,
                                    std::span<const float>, Rows<float>, std::span<float>);
template void match_weights_vjp_vjp(Rows<const double>, const WeightPositions&, PerRow, std::optional<double>,
                                    const DensityTangents<const double>&, Rows<const double>,
                                    std::span<const double>, Rows<double>, std::span<double>);

}  // namespace fenchel::cpu
