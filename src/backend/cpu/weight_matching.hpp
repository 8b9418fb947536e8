#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/cpu/checks.hpp"
#include "core/scratch.hpp"
#include "core/small_matrix.hpp"
#include "fenchel/backend/weights_density.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/gamma_ratio.hpp"
#include "fenchel/core/gamma_ratio_derivatives.hpp"
#include "fenchel/core/parallel.hpp"

/// The rows of weights that match_weights and its derivatives are made of.
namespace fenchel::detail {

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
  double* more;        ///< free, 3 D x D and D numbers
  double log_det;      ///< of the covariance
  double kappa;        ///< Sigma = kappa covariance
  double kappa_slope;  ///< d log kappa / d alpha at fixed covariance
};

template <class Real>
class WeightMatching {
 public:
  WeightMatching(std::string_view where, Rows<const Real> weights, const cpu::WeightPositions& positions,
                 PerRow alpha, std::optional<double> floor)
      : where_(where),
        weights_(weights),
        positions_(positions),
        alpha_(alpha),
        floor_(floor),
        dimension_(positions.points.rows > 0 ? positions.points.cols : 1) {
    check_view(where, "weights", weights);
    if (positions.points.rows > 0) {
      check_view(where, "points", positions.points);
      if (weights.rows > 0 && positions.points.rows != weights.cols) {
        throw_invalid_argument(where, "points.rows",
                               "must equal weights.cols = " + std::to_string(weights.cols),
                               positions.points.rows);
      }
    }
    for (index_t l = 0; l < positions.points.rows; ++l) {
      for (index_t a = 0; a < dimension_; ++a) {
        const double t = positions.points.row(l)[a];
        if (!std::isfinite(t))
          throw_domain_error(where, indexed(indexed("points", l), a), "must be finite", t);
      }
    }
    if (!positions.lengths.empty()) {
      check_count(where, "lengths", std::ssize(positions.lengths), weights.rows);
      check_lengths(where, positions.lengths, weights.cols);
    }
    if (floor) checked_nonnegative(where, "floor", *floor);
    if (alpha.per_row()) check_count(where, "alpha", alpha.size(), weights.rows);
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
    check_matrix(where_, name, view, weights_.rows, weights_.rows > 0 ? cols : view.cols);
  }
  void check_numbers(std::string_view name, std::size_t size) const {
    if (size != 0) check_count(where_, name, static_cast<index_t>(size), weights_.rows);
  }

  /// Calls body(i, row) for every row; the first that cannot be matched throws.
  template <class Body>
  void run(const Body& body) const {
    const index_t d = dimension_;
    const int workers = workers_for(weights_.rows, 50 + weights_.cols * d * d);
    const Scratch memory(workers, scratch_bytes<double>(4 * d + 7 * d * d));
    using Bad = std::pair<index_t, Fault>;
    std::vector<Bad> bad(static_cast<std::size_t>(workers), Bad{weights_.rows, Fault::kNone});
    parallel_rows(weights_.rows, workers, [&](index_t begin, index_t end, int worker) noexcept {
      auto* const numbers = memory.of(worker).template take<double>(4 * d + 7 * d * d);
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
                       .more = square + 4 * d * d,
                       .log_det = 0,
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

  /// d^2 log kappa / dalpha^2.
  [[nodiscard]] double kappa_curve(double am1) const noexcept {
    const auto n = static_cast<double>(dimension_);
    const double slope = (n + 2) / (2 + (n + 2) * am1);  // of log1p((n + 2) am1 / 2)
    const GammaRatioDerivatives ratio = log_gamma_ratio_derivatives(dimension_, am1);
    return -2 * ratio.first - am1 * ratio.second + slope * (n - (2 + n * am1) / 2 * slope);
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
    if (!good || !(std::abs(row.total - 1) <= cpu::kWeightSumError<Real>)) return Fault::kWeights;
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

  /// The inverse is the sum of w w^T over the rows w of the inverse Cholesky factor.
  [[nodiscard]] bool invert(MatchedRow& row) const noexcept {
    const index_t d = dimension_;
    if (!cholesky(row.covariance, d, row.work)) return false;
    for (index_t a = 0; a < d; ++a) {  // what rounding leaves of 0 is 0
      const double pivot = row.work[a * d + a] * row.work[a * d + a], error = kEpsilon * row.mean[a];
      if (!(pivot > kEpsilon * row.covariance[a * d + a] && pivot > error * error)) return false;
    }
    std::fill_n(row.inverse, d * d, 0.0);
    for (index_t a = 0; a < d; ++a) {
      row.log_det += 2 * std::log(row.work[a * d + a]);
      std::fill_n(row.offset, d, 0.0);
      row.offset[a] = 1;
      solve_upper(row.work, d, row.offset);
      add_square(1, row.offset, row.inverse);
    }
    return true;
  }

  /// log kappa = am1 (log det(2 pi V) / 2 - D_n) + (2 + n am1) / 2 log1p((n + 2) am1 / 2).
  [[nodiscard]] bool scale(double am1, MatchedRow& row) const noexcept {
    const auto n = static_cast<double>(dimension_);
    const double half_log_det = (n * std::log(2 * std::numbers::pi) + row.log_det) / 2;
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
    throw_domain_error(where_, "the sum of " + name,
                       "must be 1 within " + shortest(cpu::kWeightSumError<Real>), total);
  }

  std::string_view where_;
  Rows<const Real> weights_;
  cpu::WeightPositions positions_;
  PerRow alpha_;
  std::optional<double> floor_;
  index_t dimension_;
};

}  // namespace fenchel::detail
