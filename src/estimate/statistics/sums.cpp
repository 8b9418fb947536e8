#include "estimate/statistics/sums.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "core/lanes/lanes.hpp"

namespace fenchel::detail {
namespace {

constexpr index_t kParts = 16;

FENCHEL_INLINE double total(const double (&parts)[kParts]) noexcept {
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum;
}

/// The sum of term(i), in kParts sums of every kParts-th.
template <class Term>
FENCHEL_INLINE double sum_of(index_t n, const Term& term) noexcept {
  double parts[kParts] = {};
  index_t i = 0;
  for (; i + kParts <= n; i += kParts) {
    for (index_t j = 0; j < kParts; ++j) parts[j] += term(i + j);
  }
  for (index_t j = 0; i + j < n; ++j) parts[j] += term(i + j);
  return total(parts);
}

}  // namespace

FENCHEL_CLONES bool copy_finite(const double* x, index_t stride, index_t n, double* out) noexcept {
  // Adding one to an exponent of ones carries into the sign.
  constexpr std::uint64_t kExponent = 0x7ff0000000000000, kOne = 0x0010000000000000;
  std::uint64_t carries = 0;
  const auto copy = [&](index_t step) FENCHEL_INLINE_LAMBDA {
    for (index_t i = 0; i < n; ++i) {
      out[i] = x[i * step];
      carries |= (std::bit_cast<std::uint64_t>(x[i * step]) & kExponent) + kOne;
    }
  };
  if (stride == 1)
    copy(1);
  else
    copy(stride);
  return carries >> 63 == 0;
}

FENCHEL_CLONES Extremes extremes(const double* x, index_t n) noexcept {
  using Values = Lanes<double>;
  Extremes range{x[0], x[0]};
  Values low = x[0] - Values{}, high = low;
  index_t i = 0;
  for (; i + kLanes<double> <= n; i += kLanes<double>) {
    const Values next = load(x + i);
    low = next < low ? next : low;
    high = next > high ? next : high;
  }
  for (; i < n; ++i) range = {std::min(range.minimum, x[i]), std::max(range.maximum, x[i])};
  for (index_t k = 0; k < kLanes<double>; ++k)
    range = {std::min(range.minimum, low[k]), std::max(range.maximum, high[k])};
  return range;
}

FENCHEL_CLONES double sum(const double* x, index_t n) noexcept {
  return sum_of(n, [=](index_t i) FENCHEL_INLINE_LAMBDA { return x[i]; });
}

FENCHEL_CLONES double weighted_sum(const double* x, const double* w, index_t n) noexcept {
  return sum_of(n, [=](index_t i) FENCHEL_INLINE_LAMBDA { return w[i] * x[i]; });
}

FENCHEL_CLONES double centred_sum(const double* x, const double* w, double centre, index_t n) noexcept {
  return sum_of(n, [=](index_t i) FENCHEL_INLINE_LAMBDA { return w[i] * (x[i] - centre); });
}

FENCHEL_CLONES PowerSums power_sums(const double* x, const double* w, double centre, index_t n) noexcept {
  double first[kParts] = {}, second[kParts] = {}, third[kParts] = {}, fourth[kParts] = {};
  const auto add = [&](index_t i, index_t j) FENCHEL_INLINE_LAMBDA {
    const double d = x[i + j] - centre, one = w[i + j] * d, square = d * d;
    first[j] += one;
    second[j] += one * d;
    third[j] += one * square;
    fourth[j] += one * d * square;
  };
  index_t i = 0;
  for (; i + kParts <= n; i += kParts) {
    for (index_t j = 0; j < kParts; ++j) add(i, j);
  }
  for (index_t j = 0; i + j < n; ++j) add(i, j);
  return {total(first), total(second), total(third), total(fourth)};
}

double rounded_mean(const double* x, const double* w, double weight, index_t n) noexcept {
  const double sum = weighted_sum(x, w, n) / weight;
  const double mean = std::isfinite(sum) ? sum : x[0];
  return mean + centred_sum(x, w, mean, n) / weight;
}

FENCHEL_CLONES void centre_column(const double* x, const double* w, double centre, index_t n, double* centred,
                                  double* weighted) noexcept {
  for (index_t i = 0; i < n; ++i) {
    centred[i] = x[i] - centre;
    weighted[i] = w[i] * centred[i];
  }
}

FENCHEL_CLONES void distances(const double* x, double centre, index_t n, double* out) noexcept {
  for (index_t i = 0; i < n; ++i) out[i] = std::abs(x[i] - centre);
}

FENCHEL_CLONES Sides side_weights(const double* x, const double* w, double centre, index_t n) noexcept {
  using Values = Lanes<double>;
  // Lanes, because GCC 12 gets the plain loop over `x < centre ? w : 0` wrong where it masks the load of w.
  Values below{}, above{};
  const auto add = [&](Values value, Values weight) FENCHEL_INLINE_LAMBDA {
    below += value < centre ? weight : Values{};
    above += value > centre ? weight : Values{};
  };
  index_t i = 0;
  for (; i + kLanes<double> <= n; i += kLanes<double>) add(load(x + i), load(w + i));
  if (i < n) add(load_some(x + i, n - i, centre), load_some(w + i, n - i, 0.0));
  Sides sides{};
  for (index_t k = 0; k < kLanes<double>; ++k) {
    sides.below += below[k];
    sides.above += above[k];
  }
  return sides;
}

}  // namespace fenchel::detail
