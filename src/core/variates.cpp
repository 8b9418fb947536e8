#include "fenchel/core/variates.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

#include "core/normal_quantile.hpp"
#include "core/portable_math.hpp"
#include "fenchel/core/check.hpp"

namespace fenchel {
namespace {

static_assert(std::numeric_limits<double>::is_iec559 && FLT_EVAL_METHOD == 0,
              "the same bits everywhere need IEEE doubles, rounded after each operation");

using detail::BitSource, detail::horner, detail::portable_exp, detail::portable_log;

double evaluate(const detail::Rational& r, double x) noexcept { return horner(r.p, x) / horner(r.q, x); }

/// A gamma variate of shape >= 1 [Marsaglia and Tsang 2000]: d (1 + c x)^3 of a normal x is nearly one, and a
/// rejection (of 5% at shape 1, fewer above) makes it exact; the squeeze spares most of the logarithms.
double gamma_from_one(double shape, BitSource source) {
  const double d = shape - 1. / 3, c = 1 / (3 * std::sqrt(d));
  for (;;) {
    const double x = standard_normal(source.next(source.rng)), u = uniform01(source.next(source.rng));
    const double root = 1 + c * x, v = root * root * root, x2 = x * x;
    if (root <= 0) continue;
    if (u < 1 - 0.0331 * x2 * x2) return d * v;
    if (portable_log(u) < 0.5 * x2 + d * (1 - v + portable_log(v))) return d * v;
  }
}

/// The logarithm of a gamma variate: below shape 1 it is U^{1/shape} times one of shape + 1, which may
/// underflow.
double log_gamma(double shape, BitSource source) {
  if (shape >= 1) return portable_log(gamma_from_one(shape, source));
  const double log_of_next = portable_log(gamma_from_one(shape + 1, source));
  return log_of_next - standard_exponential(source.next(source.rng)) / shape;
}

}  // namespace

double uniform01(std::uint64_t bits) noexcept {
  return (static_cast<double>(static_cast<std::int64_t>(bits >> 12)) + 0.5) * 0x1p-52;
}

double standard_exponential(std::uint64_t bits) noexcept { return -portable_log(uniform01(bits)); }

double standard_normal(std::uint64_t bits) noexcept {
  using namespace detail::normal_quantile;
  const auto position = static_cast<std::int64_t>(bits);
  const std::int64_t distance = position < 0 ? ~position : position;
  const double q = (static_cast<double>(distance) + 0.5) * 0x1p-64;
  double z;
  if (q <= kCentreEnd) {
    z = q * evaluate(kCentre, kCentreSquare - q * q);
  } else {
    const std::int64_t to_end = std::numeric_limits<std::int64_t>::max() - distance;
    const double tail = (static_cast<double>(to_end) + 0.5) * 0x1p-64;
    const double r = std::sqrt(-portable_log(tail));
    z = r <= kFarTailStart ? evaluate(kTail, r - kTailStart) : evaluate(kFarTail, r - kFarTailStart);
  }
  return position < 0 ? -z : z;
}

double detail::standard_gamma(double shape, BitSource source) {
  checked_positive("standard_gamma", "shape", shape);
  return shape >= 1 ? gamma_from_one(shape, source) : portable_exp(log_gamma(shape, source));
}

double detail::standard_log_gamma(double shape, BitSource source) {
  checked_positive("standard_log_gamma", "shape", shape);
  return log_gamma(shape, source);
}

double detail::standard_beta(double a, double b, BitSource source) {
  checked_positive("standard_beta", "a", a);
  checked_positive("standard_beta", "b", b);
  if (a >= 1 && b >= 1) {
    const double x = gamma_from_one(a, source), y = gamma_from_one(b, source);
    return 1 / (1 + y / x);
  }
  // Shapes so small leave a Bernoulli variate that depends on a / b alone; their logarithms would overflow.
  if (std::max(a, b) < 1e-200) {
    a *= 0x1p100;
    b *= 0x1p100;
  }
  const double log_x = log_gamma(a, source), log_y = log_gamma(b, source);
  const double smaller_over_larger = portable_exp(-std::fabs(log_x - log_y));
  return (log_x < log_y ? smaller_over_larger : 1) / (1 + smaller_over_larger);
}

}  // namespace fenchel
