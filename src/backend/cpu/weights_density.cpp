#include "fenchel/backend/weights_density.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/cpu/checks.hpp"
#include "core/scratch.hpp"
#include "core/small_matrix.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/gamma_ratio.hpp"
#include "fenchel/core/parallel.hpp"

namespace fenchel::cpu {
namespace {

/// term(0) + ... + term(n - 1) in eight sums that do not wait for each other.
template <class Term>
double lane_sum(index_t n, const Term& term) noexcept {
  constexpr index_t kLanes = 8;
  double sums[kLanes] = {}, total = 0;
  const index_t whole = n - n % kLanes;
  for (index_t l = 0; l < whole; l += kLanes) {
    for (index_t k = 0; k < kLanes; ++k) sums[k] += term(l + k);
  }
  for (index_t l = whole; l < n; ++l) total += term(l);
  for (const double sum : sums) total += sum;
  return total;
}

/// Why a row has no density.
enum class Fault { kNone, kWeights, kSingular, kScale };

/// One row matched. Matrices are D x D.
struct MatchedRow {
  index_t length;
  double total;        ///< of the weights
  double* mean;        ///< D numbers
  double* spread;      ///< covariance of the weights
  double* covariance;  ///< that and the floor
  double* inverse;     ///< of the covariance
  double* work;        ///< free, D x D
  double* offset;      ///< free, D numbers
  double* shift;       ///< free, D numbers
  double kappa;        ///< Sigma = kappa covariance
  double kappa_slope;  ///< d log kappa / d alpha at fixed covariance
};

template <class Real>
class WeightMatching {
 public:
  WeightMatching(std::string_view where, Rows<const Real> weights, const WeightPositions& positions,
                 PerRow alpha, std::optional<double> floor)
      : where_(where),
        weights_(weights),
        positions_(positions),
        alpha_(alpha),
        floor_(floor),
        dimension_(positions.points.rows > 0 ? positions.points.cols : 1) {
    detail::check_view(where, "weights", weights);
    if (positions.points.rows > 0) {
      detail::check_view(where, "points", positions.points);
      if (weights.rows > 0 && positions.points.rows != weights.cols) {
        throw_invalid_argument(where, "points.rows",
                               "must equal weights.cols = " + std::to_string(weights.cols),
                               positions.points.rows);
      }
    }
    for (index_t l = 0; l < positions.points.rows; ++l) {
      for (index_t a = 0; a < dimension_; ++a) {
        detail::checked_finite(where, indexed(indexed("points", l), a), positions.points.row(l)[a]);
      }
    }
    if (!positions.lengths.empty()) {
      detail::check_count(where, "lengths", std::ssize(positions.lengths), weights.rows);
      detail::check_lengths(where, positions.lengths, weights.cols);
    }
    if (floor) detail::checked_nonnegative(where, "floor", *floor);
    if (alpha.per_row()) detail::check_count(where, "alpha", alpha.size(), weights.rows);
    const auto d = static_cast<double>(dimension_);
    for (index_t i = 0; i < alpha.size(); ++i) {
      if (alpha[i] > d / (d + 2) && std::isfinite(alpha[i])) continue;
      throw_domain_error(
          where, alpha.per_row() ? indexed("alpha", i) : "alpha",
          "must be finite and greater than " + shortest(dimension_) + "/" + shortest(dimension_ + 2),
          alpha[i]);
    }
  }

  [[nodiscard]] index_t dimension() const noexcept { return dimension_; }
  [[nodiscard]] bool on_cells() const noexcept { return positions_.points.rows == 0; }
  static double cell_width(index_t length) noexcept { return 1 / static_cast<double>(length); }
  static double cell_centre(index_t l, double width) noexcept {
    return (static_cast<double>(l) + 0.5) * width;
  }

  /// The view has a row for each row of weights.
  template <class T>
  void check_columns(std::string_view name, Rows<T> view, index_t cols) const {
    detail::check_matrix(where_, name, view, weights_.rows, weights_.rows > 0 ? cols : view.cols);
  }
  void check_numbers(std::string_view name, std::size_t size) const {
    if (size != 0) detail::check_count(where_, name, static_cast<index_t>(size), weights_.rows);
  }

  /// Calls body(i, row) for every row; the first that cannot be matched throws.
  template <class Body>
  void run(const Body& body) const {
    const index_t d = dimension_;
    const int workers = workers_for(weights_.rows, 50 + weights_.cols * d * d);
    const detail::Scratch memory(workers, detail::scratch_bytes<double>(3 * d + 4 * d * d));
    using Bad = std::pair<index_t, Fault>;
    std::vector<Bad> bad(static_cast<std::size_t>(workers), Bad{weights_.rows, Fault::kNone});
    parallel_rows(weights_.rows, workers, [&](index_t begin, index_t end, int worker) noexcept {
      auto* const numbers = memory.of(worker).template take<double>(3 * d + 4 * d * d);
      auto& first_bad = bad[static_cast<std::size_t>(worker)];
      for (index_t i = begin; i < end; ++i) {
        double* const square = numbers + 3 * d;
        MatchedRow row{.length = length(i),
                       .total = 0,
                       .mean = numbers,
                       .spread = square,
                       .covariance = square + d * d,
                       .inverse = square + 2 * d * d,
                       .work = square + 3 * d * d,
                       .offset = numbers + d,
                       .shift = numbers + 2 * d,
                       .kappa = 0,
                       .kappa_slope = 0};
        const Fault fault = match(i, row);
        if (fault == Fault::kNone) {
          body(i, row);
        } else {
          first_bad = std::min(first_bad, Bad{i, fault});
        }
      }
    });
    const auto [first, fault] = *std::ranges::min_element(bad);
    if (fault != Fault::kNone) explain(first, fault);
  }

  /// The position of column l less the mean, as `offset`.
  void centre(index_t l, const MatchedRow& row) const noexcept {
    for (index_t a = 0; a < dimension_; ++a) row.offset[a] = position(l, a, row.length) - row.mean[a];
  }

 private:
  [[nodiscard]] index_t length(index_t i) const noexcept {
    return positions_.lengths.empty() ? weights_.cols : positions_.lengths[static_cast<std::size_t>(i)];
  }

  [[nodiscard]] double position(index_t l, index_t a, index_t length) const noexcept {
    return on_cells() ? cell_centre(l, cell_width(length)) : positions_.points.row(l)[a];
  }

  static constexpr double kEpsilon = 8 * std::numeric_limits<double>::epsilon();

  static bool is_weight(Real w) noexcept { return w >= 0 && w <= std::numeric_limits<Real>::max(); }

  [[nodiscard]] Fault match(index_t i, MatchedRow& row) const noexcept {
    const Real* const w = weights_.row(i);
    const index_t d = dimension_;
    bool good = true;
    for (index_t l = 0; l < row.length; ++l) good &= is_weight(w[l]);
    row.total = lane_sum(row.length, [=](index_t l) { return double{w[l]}; });
    if (!good || !(std::abs(row.total - 1) <= kWeightSumError<Real>)) return Fault::kWeights;
    if (on_cells()) {
      const double width = cell_width(row.length);
      const double mean = row.mean[0] =
          lane_sum(row.length, [=](index_t l) { return w[l] * cell_centre(l, width); }) / row.total;
      row.spread[0] = lane_sum(row.length,
                               [=](index_t l) {
                                 const double t = cell_centre(l, width) - mean;
                                 return w[l] * t * t;
                               }) /
                      row.total;
    } else {
      std::fill_n(row.mean, d, 0.0);
      std::fill_n(row.spread, d * d, 0.0);
      for (index_t l = 0; l < row.length; ++l) {
        for (index_t a = 0; a < d; ++a) row.mean[a] += w[l] / row.total * position(l, a, row.length);
      }
      for (index_t l = 0; l < row.length; ++l) {
        centre(l, row);
        add_square(w[l] / row.total, row.offset, row.spread);
      }
    }
    std::copy_n(row.spread, d * d, row.covariance);
    for (index_t a = 0; a < d; ++a) row.covariance[a * d + a] += floor(row.length);
    if (!invert(row)) return Fault::kSingular;
    return scale(alpha_[i] - 1, row) ? Fault::kNone : Fault::kScale;
  }

  [[nodiscard]] double floor(index_t length) const noexcept {
    const auto cells = static_cast<double>(length), sides = static_cast<double>(dimension_);
    return floor_ ? *floor_ : std::pow(cells, -2 / sides) / 12;
  }

  /// matrix += factor x x^T.
  void add_square(double factor, const double* x, double* matrix) const noexcept {
    for (index_t a = 0; a < dimension_; ++a) {
      for (index_t b = 0; b < dimension_; ++b) matrix[a * dimension_ + b] += factor * x[a] * x[b];
    }
  }

  /// The inverse is the sum of w w^T over the rows w of the inverse Cholesky factor; kappa becomes log det.
  [[nodiscard]] bool invert(MatchedRow& row) const noexcept {
    const index_t d = dimension_;
    if (!detail::cholesky(row.covariance, d, row.work)) return false;
    for (index_t a = 0; a < d; ++a) {  // what rounding leaves of 0 is 0
      const double pivot = row.work[a * d + a] * row.work[a * d + a], error = kEpsilon * row.mean[a];
      if (!(pivot > kEpsilon * row.covariance[a * d + a] && pivot > error * error)) return false;
    }
    std::fill_n(row.inverse, d * d, 0.0);
    row.kappa = 0;
    // Row a of the inverse factor is the column a of the inverse of its transpose, by back substitution.
    for (index_t a = 0; a < d; ++a) {
      row.kappa += 2 * std::log(row.work[a * d + a]);
      std::fill_n(row.offset, d, 0.0);
      for (index_t b = a; b >= 0; --b) {
        double sum = b == a ? 1 : 0;
        for (index_t c = b + 1; c <= a; ++c) sum -= row.work[c * d + b] * row.offset[c];
        row.offset[b] = sum / row.work[b * d + b];
      }
      add_square(1, row.offset, row.inverse);
    }
    return true;
  }

  /// log kappa = am1 (log det(2 pi V) / 2 - D_n) + (2 + n am1) / 2 log1p((n + 2) am1 / 2).
  [[nodiscard]] bool scale(double am1, MatchedRow& row) const noexcept {
    const auto n = static_cast<double>(dimension_);
    const double half_log_det = (n * std::log(2 * std::numbers::pi) + row.kappa) / 2;
    const double room = (n + 2) * am1 / 2, log_room = std::log1p(room), near = (2 + n * am1) / 2;
    const double excess = half_log_det - log_gamma_ratio(dimension_, am1);
    row.kappa = std::exp(am1 * excess + near * log_room);
    row.kappa_slope = excess - am1 * log_gamma_ratio_slope(dimension_, am1) + n / 2 * log_room +
                      near * (n + 2) / (2 * (1 + room));
    for (index_t a = 0; a < dimension_; ++a) {
      const auto entry = static_cast<Real>(row.kappa * row.covariance[a * dimension_ + a]);
      if (!(entry > 0 && entry <= std::numeric_limits<Real>::max())) return false;
    }
    return true;
  }

  [[noreturn]] void explain(index_t i, Fault fault) const {
    const std::string name = indexed("weights", i);
    if (fault == Fault::kSingular) {
      throw_domain_error(where_, "floor", "must be larger, since the covariance of " + name + " is singular",
                         floor(length(i)));
    }
    if (fault == Fault::kScale) {
      throw_domain_error(where_, alpha_.per_row() ? indexed("alpha", i) : "alpha",
                         "must be smaller, since Sigma leaves the range of numbers at " + name, alpha_[i]);
    }
    double total = 0;
    for (index_t l = 0; l < length(i); ++l) {
      const Real w = weights_.row(i)[l];
      if (!is_weight(w)) throw_domain_error(where_, indexed(name, l), "must be finite and not negative", w);
      total += w;
    }
    throw_domain_error(where_, "the sum of " + name, "must be 1 to " + shortest(kWeightSumError<Real>),
                       total);
  }

  std::string_view where_;
  Rows<const Real> weights_;
  WeightPositions positions_;
  PerRow alpha_;
  std::optional<double> floor_;
  index_t dimension_;
};

double inner(const double* x, const double* y, index_t n) noexcept {
  double sum = 0;
  for (index_t k = 0; k < n; ++k) sum += x[k] * y[k];
  return sum;
}

}  // namespace

template <class Real>
void match_weights(std::type_identity_t<Rows<const Real>> weights, const WeightPositions& positions,
                   PerRow alpha, std::optional<double> floor, Rows<Real> mu,
                   Rows<std::type_identity_t<Real>> scale) {
  const WeightMatching<Real> matching("match_weights", weights, positions, alpha, floor);
  const index_t d = matching.dimension();
  matching.check_columns("mu", mu, d);
  matching.check_columns("scale", scale, d * d);
  matching.run([&](index_t i, const MatchedRow& row) noexcept {
    for (index_t a = 0; a < d; ++a) mu.row(i)[a] = static_cast<Real>(row.mean[a]);
    for (index_t a = 0; a < d * d; ++a) scale.row(i)[a] = static_cast<Real>(row.kappa * row.covariance[a]);
  });
}

template <class Real>
void match_weights_vjp(std::type_identity_t<Rows<const Real>> weights, const WeightPositions& positions,
                       PerRow alpha, std::optional<double> floor,
                       const DensityTangents<const std::type_identity_t<Real>>& cotangent,
                       Rows<Real> weights_gradient, std::span<std::type_identity_t<Real>> alpha_gradient) {
  const WeightMatching<Real> matching("match_weights_vjp", weights, positions, alpha, floor);
  const index_t d = matching.dimension();
  matching.check_columns("cotangent.mu", cotangent.mu, d);
  matching.check_columns("cotangent.scale", cotangent.scale, d * d);
  matching.check_numbers("cotangent.alpha", cotangent.alpha.size());
  matching.check_columns("weights_gradient", weights_gradient, weights.cols);
  matching.check_numbers("alpha_gradient", alpha_gradient.size());
  // dSigma = kappa (dV + V dlog kappa), dlog kappa = am1/2 Tr(V^-1 dV) + slope dalpha.
  matching.run([&](index_t i, const MatchedRow& row) noexcept {
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
  const WeightMatching<Real> matching("match_weights_jvp", weights, positions, alpha, floor);
  const index_t d = matching.dimension();
  matching.check_columns("direction", direction, weights.cols);
  matching.check_numbers("alpha_direction", alpha_direction.size());
  matching.check_columns("mu_tangent", mu_tangent, d);
  matching.check_columns("scale_tangent", scale_tangent, d * d);
  matching.run([&](index_t i, const MatchedRow& row) noexcept {
    const Real* const step = direction.row(i);
    double* const moved = row.work;
    double total = 0;
    std::fill_n(moved, d * d, 0.0);
    std::fill_n(row.shift, d, 0.0);
    for (index_t l = 0; l < row.length; ++l) {
      matching.centre(l, row);
      total += step[l];
      for (index_t a = 0; a < d; ++a) {
        row.shift[a] += step[l] * row.offset[a];
        for (index_t b = 0; b < d; ++b) moved[a * d + b] += step[l] * row.offset[a] * row.offset[b];
      }
    }
    for (index_t a = 0; a < d; ++a) mu_tangent.row(i)[a] = static_cast<Real>(row.shift[a] / row.total);
    for (index_t a = 0; a < d * d; ++a) moved[a] = (moved[a] - total * row.spread[a]) / row.total;
    const double d_alpha =
        alpha_direction.empty() ? 0.0 : double{alpha_direction[static_cast<std::size_t>(i)]};
    const double d_log_kappa =
        (alpha[i] - 1) / 2 * inner(row.inverse, moved, d * d) + row.kappa_slope * d_alpha;
    for (index_t a = 0; a < d * d; ++a) {
      scale_tangent.row(i)[a] = static_cast<Real>(row.kappa * (moved[a] + row.covariance[a] * d_log_kappa));
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

}  // namespace fenchel::cpu
