#include "fenchel/backend/cpu/match_weights.hpp"

#include <algorithm>

#include "backend/cpu/match_weights/row_work.hpp"

namespace fenchel::cpu {
namespace {

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
  detail::finish_move(total, d, row, moved);
  return total;
}

}  // namespace

template <class Real>
void match_weights(PerRow alpha, std::type_identity_t<Rows<const Real>> weights,
                   const WeightPositions& positions, std::optional<double> floor,
                   const DensityTangents<Real>& density) {
  const detail::WeightMatching<Real> matching("match_weights", weights, positions, alpha, floor);
  const index_t d = matching.dimension();
  matching.check_columns("density.mu", density.mu, d);
  matching.check_columns("density.Sigma", density.Sigma, d * d);
  matching.run([&](index_t i, const detail::MatchedRow& row) noexcept {
    for (index_t a = 0; a < d; ++a) density.mu.row(i)[a] = static_cast<Real>(row.mean[a]);
    for (index_t a = 0; a < d * d; ++a)
      density.Sigma.row(i)[a] = static_cast<Real>(row.kappa * row.covariance[a]);
  });
}

template <class Real>
void match_weights_vjp(PerRow alpha, std::type_identity_t<Rows<const Real>> weights,
                       const WeightPositions& positions, std::optional<double> floor,
                       const DensityTangents<const std::type_identity_t<Real>>& cotangent,
                       Rows<Real> gradient, std::span<std::type_identity_t<Real>> alpha_gradient) {
  const detail::WeightMatching<Real> matching("match_weights_vjp", weights, positions, alpha, floor);
  const index_t d = matching.dimension();
  matching.check_columns("cotangent.mu", cotangent.mu, d);
  matching.check_columns("cotangent.Sigma", cotangent.Sigma, d * d);
  matching.check_numbers("cotangent.alpha", cotangent.alpha.size());
  matching.check_columns("gradient", gradient, weights.cols);
  matching.check_numbers("alpha_gradient", alpha_gradient.size());
  matching.run([&](index_t i, const detail::MatchedRow& row) noexcept {
    const Real* const of_mu = cotangent.mu.row(i);
    const detail::MatchGradient terms = detail::match_gradient(cotangent.Sigma.row(i), alpha[i] - 1, d, row);
    Real* const out = gradient.row(i);
    if (matching.on_cells()) {
      const double width = detail::cell_width(row.length), mean = row.mean[0], slope = of_mu[0];
      const double curvature = terms.a[0], average = terms.average, share_of_one = 1 / row.total;
      for (index_t l = 0; l < row.length; ++l) {
        const double t = detail::cell_centre(l, width) - mean;
        out[l] = static_cast<Real>((t * (slope + curvature * t) - average) * share_of_one);
      }
    }
    for (index_t l = 0; l < row.length && !matching.on_cells(); ++l) {
      matching.centre(l, row);
      out[l] = static_cast<Real>(terms.in_weight(of_mu, row.offset, d, row.total));
    }
    std::fill(out + row.length, out + weights.cols, Real{0});
    if (!alpha_gradient.empty()) {
      const auto k = static_cast<std::size_t>(i);
      const double own = cotangent.alpha.empty() ? 0.0 : double{cotangent.alpha[k]};
      alpha_gradient[k] = static_cast<Real>(own + terms.of_kappa * row.kappa_slope);
    }
  });
}

template <class Real>
void match_weights_jvp(PerRow alpha, std::type_identity_t<Rows<const Real>> weights,
                       const WeightPositions& positions, std::optional<double> floor,
                       std::type_identity_t<Rows<const Real>> direction,
                       std::span<const std::type_identity_t<Real>> alpha_direction,
                       const DensityTangents<Real>& tangent) {
  const detail::WeightMatching<Real> matching("match_weights_jvp", weights, positions, alpha, floor);
  const index_t d = matching.dimension();
  matching.check_columns("direction", direction, weights.cols);
  matching.check_numbers("alpha_direction", alpha_direction.size());
  matching.check_columns("tangent.mu", tangent.mu, d);
  matching.check_columns("tangent.Sigma", tangent.Sigma, d * d);
  matching.run([&](index_t i, const detail::MatchedRow& row) noexcept {
    double* const moved = row.work;
    move_moments(matching, direction.row(i), row, moved);
    for (index_t a = 0; a < d; ++a) tangent.mu.row(i)[a] = static_cast<Real>(row.shift[a]);
    const double d_alpha =
        alpha_direction.empty() ? 0.0 : double{alpha_direction[static_cast<std::size_t>(i)]};
    const double d_log_kappa = detail::moved_log_kappa(moved, alpha[i] - 1, d_alpha, d, row);
    for (index_t a = 0; a < d * d; ++a) {
      tangent.Sigma.row(i)[a] = static_cast<Real>(row.kappa * (moved[a] + row.covariance[a] * d_log_kappa));
    }
  });
}

template <class Real>
void match_weights_vjp_vjp(PerRow alpha, std::type_identity_t<Rows<const Real>> weights,
                           const WeightPositions& positions, std::optional<double> floor,
                           const DensityTangents<const std::type_identity_t<Real>>& cotangent,
                           std::type_identity_t<Rows<const Real>> direction,
                           std::span<const std::type_identity_t<Real>> alpha_direction, Rows<Real> product,
                           std::span<std::type_identity_t<Real>> alpha_product) {
  const detail::WeightMatching<Real> matching("match_weights_vjp_vjp", weights, positions, alpha, floor);
  const index_t d = matching.dimension();
  matching.check_columns("cotangent.mu", cotangent.mu, d);
  matching.check_columns("cotangent.Sigma", cotangent.Sigma, d * d);
  matching.check_columns("direction", direction, weights.cols);
  matching.check_numbers("alpha_direction", alpha_direction.size());
  matching.check_columns("product", product, weights.cols);
  matching.check_numbers("alpha_product", alpha_product.size());
  matching.run([&](index_t i, const detail::MatchedRow& row) noexcept {
    const Real* const of_mu = cotangent.mu.row(i);
    const double total = move_moments(matching, direction.row(i), row, row.more);
    const auto k = static_cast<std::size_t>(i);
    const double d_alpha = alpha_direction.empty() ? 0.0 : double{alpha_direction[k]};
    const detail::MatchCurvature curvature =
        detail::match_curvature(of_mu, cotangent.Sigma.row(i), alpha[i] - 1, total, d_alpha, d, row);
    Real* const out = product.row(i);
    for (index_t l = 0; l < row.length; ++l) {
      matching.centre(l, row);
      out[l] = static_cast<Real>(curvature.in_weight(of_mu, row.offset, d, row.total));
    }
    std::fill(out + row.length, out + weights.cols, Real{0});
    if (!alpha_product.empty()) {
      const double curve = detail::kappa_curve(d, alpha[i] - 1);
      alpha_product[k] = static_cast<Real>(curvature.in_alpha(row.kappa_slope, curve, d_alpha));
    }
  });
}

template void match_weights(PerRow, Rows<const float>, const WeightPositions&, std::optional<double>,
                            const DensityTangents<float>&);
template void match_weights_vjp(PerRow, Rows<const float>, const WeightPositions&, std::optional<double>,
                                const DensityTangents<const float>&, Rows<float>, std::span<float>);
template void match_weights_jvp(PerRow, Rows<const float>, const WeightPositions&, std::optional<double>,
                                Rows<const float>, std::span<const float>, const DensityTangents<float>&);
template void match_weights_vjp_vjp(PerRow, Rows<const float>, const WeightPositions&, std::optional<double>,
                                    const DensityTangents<const float>&, Rows<const float>,
                                    std::span<const float>, Rows<float>, std::span<float>);
template void match_weights(PerRow, Rows<const double>, const WeightPositions&, std::optional<double>,
                            const DensityTangents<double>&);
template void match_weights_vjp(PerRow, Rows<const double>, const WeightPositions&, std::optional<double>,
                                const DensityTangents<const double>&, Rows<double>, std::span<double>);
template void match_weights_jvp(PerRow, Rows<const double>, const WeightPositions&, std::optional<double>,
                                Rows<const double>, std::span<const double>, const DensityTangents<double>&);
template void match_weights_vjp_vjp(PerRow, Rows<const double>, const WeightPositions&, std::optional<double>,
                                    const DensityTangents<const double>&, Rows<const double>,
                                    std::span<const double>, Rows<double>, std::span<double>);

}  // namespace fenchel::cpu
