#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "fenchel/core/normalizer.hpp"
#include "fenchel/core/rows.hpp"
#include "laws/rows.hpp"
#include "support/emulation.hpp"
#include "support/grids.hpp"
#include "support/hard_rows.hpp"

/// Batches of every length from 1 to 600: rows of all kinds side by side, as kernels that take several rows
/// at once meet them, with room between the rows that nobody may touch.
namespace fenchel::testing {

/// Those of kBad have no prediction.
enum Kind { kNarrow, kNormal, kWide, kTied, kEqual, kCrowded, kMasked, kBad };
inline constexpr index_t kKinds = 8;

/// One vector of floats and three more, so that there are also two vectors of doubles and three more.
inline constexpr index_t kBatch = 19, kRoom = 3;
inline constexpr double kUntouched = 77;

inline Kind kind_of(index_t row) { return static_cast<Kind>(row % kKinds); }

/// Rows of a type, all entries kUntouched at first.
template <class Real>
class Table {
 public:
  explicit Table(std::size_t cols)
      : cols_(static_cast<index_t>(cols)),
        values_(static_cast<std::size_t>(kBatch) * (cols + kRoom), Real(kUntouched)) {}

  [[nodiscard]] Rows<Real> rows() { return {values_.data(), kBatch, cols_, cols_ + kRoom}; }
  [[nodiscard]] Rows<const Real> rows() const { return {values_.data(), kBatch, cols_, cols_ + kRoom}; }
  [[nodiscard]] std::span<Real> operator[](index_t i) { return rows()[i]; }
  [[nodiscard]] std::span<const Real> operator[](index_t i) const { return rows()[i]; }

  [[nodiscard]] bool keeps_its_room() const {
    for (index_t i = 0; i < kBatch; ++i) {
      const Real* const room = rows().row(i) + cols_;
      if (std::count(room, room + kRoom, Real(kUntouched)) != kRoom) return false;
    }
    return true;
  }

 private:
  index_t cols_;
  std::vector<Real> values_;
};

/// N(0, 1), others for each row, length and use.
inline double normal_at(std::size_t use, index_t row, std::size_t n, std::size_t column) {
  static const std::vector<double> numbers = normal_row<double>(8191, 1, 51);
  return numbers[(use * 2741 + static_cast<std::size_t>(row) * 613 + n * 7 + column) % numbers.size()];
}

template <class Real>
void fill_bad(std::span<Real> z, index_t row) {
  const std::size_t middle = z.size() / 2;
  if (row % 3 == 0) z[middle] = static_cast<Real>(kInf);
  if (row % 3 == 1) z[middle] = static_cast<Real>(kNaN);
  if (row % 3 == 2) std::ranges::fill(z, static_cast<Real>(-kInf));
}

template <class Real>
Table<Real> make_scores(double alpha, std::size_t n) {
  constexpr std::array kDeviation{0.1, 1.0, 10.0, 1.0, 0.0, 0.0, 1.0, 1.0};
  Table<Real> scores(n);
  for (index_t i = 0; i < kBatch; ++i) {
    const Kind kind = kind_of(i);
    const std::span<Real> z = scores[i];
    for (std::size_t j = 0; j < n; ++j) {
      const double x = kDeviation[kind] * normal_at(0, i, n, j);
      z[j] = static_cast<Real>(kind == kTied ? std::round(4 * x) / 4 : x);
      if (kind == kMasked && j % 3 == 1) z[j] = static_cast<Real>(-kInf);
    }
    if (kind == kCrowded) {
      const double am1 = std::isfinite(alpha) && alpha > 1.01 ? alpha - 1 : 1;
      std::ranges::copy(crowded_row<Real>(am1, n, 0.01 * static_cast<double>(i), 0.5, 3), z.begin());
    }
    if (kind == kBad) fill_bad(z, i + static_cast<index_t>(n));
  }
  return scores;
}

/// The prediction by the scalar solver, in double.
struct Scalar {
  double top;
  std::vector<double> p;
  Normalization normalization;
};

template <class Real>
Scalar solve(double alpha, std::span<const Real> z) {
  Scalar result{*std::ranges::max_element(z), {z.begin(), z.end()}, {}};
  for (double& x : result.p) x -= result.top;
  result.normalization = normalize(alpha - 1, result.p);
  return result;
}

/// What the solver may itself be wrong by: Normalizer.MatchesTheTable.
inline double solver_error(double p) { return 2e-14 * p + 4e-16; }

inline const std::array kSetAlphas{
    0.5, 0.8, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 1.1, 1.25, 4.0 / 3, 1.5, 1.7, 2.0, 3.0,
    5.0, 1e6, kInf};

/// Calls check(alpha, n) for every length: with each alpha up to kAllAlphas columns, beyond it with each
/// alpha in turn, `together` of them at every length.
template <class Check>
void for_each_length(std::size_t together, const Check& check) {
  constexpr std::size_t kAllAlphas = kOneCaseIn == 1 ? 40 : 4, kLongest = 600;
  const std::size_t every = kOneCaseIn == 1 ? kSetAlphas.size() / together : kSetAlphas.size();
  for (std::size_t n = 1; n <= kLongest; ++n) {
    for (std::size_t k = 0; k < kSetAlphas.size(); ++k) {
      if (n > kAllAlphas && (n + k) % every != 0) continue;
      const double alpha = kSetAlphas[k];
      SCOPED_TRACE(::testing::Message() << "alpha = " << alpha << " (am1 = " << alpha - 1 << "), n = " << n);
      check(alpha, n);
    }
  }
}

}  // namespace fenchel::testing
