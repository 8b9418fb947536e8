#include "estimate/sums.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/lanes.hpp"

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
  double low[kParts], high[kParts];
  std::fill(low, low + kParts, x[0]);
  std::fill(high, high + kParts, x[0]);
  const auto see = [&](index_t i, index_t j) FENCHEL_INLINE_LAMBDA {
    low[j] = x[i + j] < low[j] ? x[i + j] : low[j];
    high[j] = x[i + j] > high[j] ? x[i + j] : high[j];
  };
  index_t i = 0;
  for (; i + kParts <= n; i += kParts) {
    for (index_t j = 0; j < kParts; ++j) see(i, j);
  }
  for (index_t j = 0; i + j < n; ++j) see(i, j);
  return {*std::min_element(low, low + kParts), *std::max_element(high, high + kParts)};
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

double rounded_mean(const double* x, const double* w, double weight, const Extremes& within,
                    index_t n) noexcept {
  // About the least value: what is subtracted is exact where the values lie close together.
  const double mean = within.minimum + centred_sum(x, w, within.minimum, n) / weight;
  return mean >= within.minimum && mean <= within.maximum ? mean : within.maximum;
}

}  // namespace fenchel::detail
