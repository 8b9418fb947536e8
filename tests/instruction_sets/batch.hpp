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
constexpr std::size_t kKinds = 8;

/// A row of a batch: what it is of, for every length in another order.
struct Place {
  std::size_t row, cols;
  [[nodiscard]] Kind kind() const { return static_cast<Kind>((row + cols) % kKinds); }
  [[nodiscard]] std::size_t turn() const { return (row + cols) / kKinds; }
};

/// One vector of floats and three more, which are two vectors of doubles and three more; where time is short,
/// three rows at most lengths.
inline std::size_t batch_size(std::size_t cols) {
  return kOneCaseIn == 1 || cols <= 32 || cols % 37 == 0 ? 19 : 3;
}

/// A batch, all entries kUntouched at first.
template <class Real>
class Table {
 public:
  explicit Table(std::size_t cols)
      : size_(batch_size(cols)), cols_(cols), values_(size_ * (cols + kRoom), Real(kUntouched)) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] Rows<Real> rows() { return {values_.data(), at(size_), at(cols_), at(cols_ + kRoom)}; }
  [[nodiscard]] Rows<const Real> rows() const {
    return {values_.data(), at(size_), at(cols_), at(cols_ + kRoom)};
  }
  [[nodiscard]] std::span<Real> operator[](std::size_t i) { return rows()[at(i)]; }
  [[nodiscard]] std::span<const Real> operator[](std::size_t i) const { return rows()[at(i)]; }

  [[nodiscard]] bool keeps_its_room() const {
    for (std::size_t i = 0; i < size_; ++i) {
      const Real* const room = (*this)[i].data() + cols_;
      if (std::count(room, room + kRoom, Real(kUntouched)) != at(kRoom)) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t kRoom = 3;
  static constexpr double kUntouched = 77;
  static index_t at(std::size_t i) { return static_cast<index_t>(i); }

  std::size_t size_, cols_;
  std::vector<Real> values_;
};

/// N(0, 1), others for each row, length and use.
inline double normal_at(std::size_t use, Place place, std::size_t column) {
  static const std::vector<double> numbers = normal_row<double>(8191, 1, 51);
  return numbers[(use * 2741 + place.row * 613 + place.cols * 7 + column) % numbers.size()];
}

template <class Real>
void fill_row(double alpha, Place place, std::span<Real> z) {
  constexpr std::array kDeviation{0.1, 1.0, 10.0, 1.0, 0.0, 0.0, 1.0, 1.0};
  const Kind kind = place.kind();
  for (std::size_t j = 0; j < z.size(); ++j) {
    const double x = kDeviation[kind] * normal_at(0, place, j);
    z[j] = static_cast<Real>(kind == kTied ? std::round(4 * x) / 4 : x);
    if (kind == kMasked && j % 3 == 1) z[j] = static_cast<Real>(-kInf);
  }
  if (kind == kCrowded) {
    const double am1 = std::isfinite(alpha) && alpha > 1.01 ? alpha - 1 : 1;
    const double gap = 0.01 * static_cast<double>(place.row);
    std::ranges::copy(crowded_row<Real>(am1, z.size(), gap, 0.5, 3), z.begin());
  }
  if (kind == kBad && place.turn() % 3 == 0) z[z.size() / 2] = static_cast<Real>(kInf);
  if (kind == kBad && place.turn() % 3 == 1) z[z.size() / 2] = static_cast<Real>(kNaN);
  if (kind == kBad && place.turn() % 3 == 2) std::ranges::fill(z, static_cast<Real>(-kInf));
}

template <class Real>
Table<Real> make_scores(double alpha, std::size_t cols) {
  Table<Real> scores(cols);
  for (std::size_t i = 0; i < scores.size(); ++i) fill_row(alpha, {i, cols}, scores[i]);
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

inline const std::array kSetAlphas{0.5, 0.8, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 1.1, 1.25, 1.3, 4.0 / 3,
                                   1.5, 1.7, 2.0, std::nextafter(2.0, 3.0), 2.01,     3.0, 5.0,  1e6, kInf};

/// Calls check(alpha, cols) for every length: with each alpha up to kAllAlphas columns, beyond it with each
/// alpha in turn, `together` of them at every length.
template <class Check>
void for_each_length(std::size_t together, const Check& check) {
  constexpr std::size_t kAllAlphas = kOneCaseIn == 1 ? 40 : 4, kLongest = 600;
  const std::size_t every = kOneCaseIn == 1 ? kSetAlphas.size() / together : kSetAlphas.size();
  for (std::size_t cols = 1; cols <= kLongest; ++cols) {
    for (std::size_t k = 0; k < kSetAlphas.size(); ++k) {
      if (cols > kAllAlphas && (cols + k) % every != 0) continue;
      const double alpha = kSetAlphas[k];
      SCOPED_TRACE(::testing::Message()
                   << "alpha = " << alpha << " (am1 = " << alpha - 1 << "), " << cols << " columns");
      check(alpha, cols);
    }
  }
}

}  // namespace fenchel::testing
