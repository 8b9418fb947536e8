#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/cpu/checks.hpp"
#include "backend/match_weights/row.hpp"
#include "core/scratch.hpp"
#include "fenchel/backend/cpu/match_weights.hpp"
#include "fenchel/core/check.hpp"
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
    const Scratch memory(workers, scratch_bytes<double>(matched_row_size(d)));
    using Bad = std::pair<index_t, Fault>;
    std::vector<Bad> bad(static_cast<std::size_t>(workers), Bad{weights_.rows, Fault::kNone});
    parallel_rows(weights_.rows, workers, [&](index_t begin, index_t end, int worker) noexcept {
      auto* const numbers = memory.of(worker).template take<double>(matched_row_size(d));
      auto& first_bad = bad[static_cast<std::size_t>(worker)];
      for (index_t i = begin; i < end; ++i) {
        MatchedRow row = matched_row(length(i), d, numbers);
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
        add_square(w[l] / row.total, row.offset, d, row.spread);
      }
    }
    if (!invert_covariance(floor(row.length), d, row)) return Fault::kSingular;
    match_scale(alpha_terms(d, alpha_[i] - 1), d, row);
    return scale_fits<Real>(d, row) ? Fault::kNone : Fault::kScale;
  }

  [[nodiscard]] double floor(index_t length) const noexcept {
    return floor_ ? *floor_ : cell_variance(length, dimension_);
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
