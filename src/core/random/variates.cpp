#include "fenchel/core/variates.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

#include "core/random/portable_variates.hpp"
#include "fenchel/core/check.hpp"

namespace fenchel {
namespace {

static_assert(std::numeric_limits<double>::is_iec559 && FLT_EVAL_METHOD == 0,
              "the same bits everywhere need IEEE doubles, rounded after each operation");

using detail::BitSource;

auto from(const BitSource& source) {
  return [&source] { return source.next(source.rng); };
}

}  // namespace

double uniform01(std::uint64_t bits) noexcept { return detail::portable_uniform01(bits); }

double standard_exponential(std::uint64_t bits) noexcept { return detail::portable_exponential(bits); }

double standard_normal(std::uint64_t bits) noexcept { return detail::portable_normal(bits); }

double detail::standard_gamma(double shape, BitSource source) {
  checked_positive("standard_gamma", "shape", shape);
  auto next = from(source);
  return portable_gamma(shape, next);
}

double detail::standard_log_gamma(double shape, BitSource source) {
  checked_positive("standard_log_gamma", "shape", shape);
  auto next = from(source);
  return portable_log_gamma(shape, next);
}

double detail::standard_beta(double a, double b, BitSource source) {
  checked_positive("standard_beta", "a", a);
  checked_positive("standard_beta", "b", b);
  auto next = from(source);
  if (a >= 1 && b >= 1) {
    const double x = gamma_from_one(a, next), y = gamma_from_one(b, next);
    return 1 / (1 + y / x);
  }
  // Shapes so small leave a Bernoulli variate that depends on a / b alone; their logarithms would overflow.
  if (std::max(a, b) < 1e-200) {
    a *= 0x1p100;
    b *= 0x1p100;
  }
  const double log_x = portable_log_gamma(a, next), log_y = portable_log_gamma(b, next);
  const double smaller_over_larger = portable_exp(-std::fabs(log_x - log_y));
  return (log_x < log_y ? smaller_over_larger : 1) / (1 + smaller_over_larger);
}

}  // namespace fenchel
