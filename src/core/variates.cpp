#include "fenchel/core/variates.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

#include "core/portable_math.hpp"
#include "fenchel/core/error.hpp"

namespace fenchel {
namespace {

static_assert(std::numeric_limits<double>::is_iec559 && FLT_EVAL_METHOD == 0,
              "the same bits everywhere need IEEE doubles, rounded after each operation");

using detail::BitSource, detail::horner, detail::portable_exp, detail::portable_log;

struct Rational {
  double p[8], q[8];
  [[nodiscard]] double operator()(double x) const noexcept { return horner(p, x) / horner(q, x); }
};

// Wichura's three pieces: the quantile over q in 0.180625 - q^2 for q = |probability - 1/2| <= 0.425, and the
// quantile in r = sqrt(-log(tail)), less 1.6 up to 5 and less 5 above it.
// clang-format off
constexpr Rational kCentre{
    {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
     4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3},
    {1, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
     2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3}};
constexpr Rational kTail{
    {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
     1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4},
    {1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9}};
constexpr Rational kFarTail{
    {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
     2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7},
    {1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15}};
// clang-format on

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

void check_shape(const char* where, const char* name, double shape) {
  if (!(shape > 0 && shape <= std::numeric_limits<double>::max()))
    throw_domain_error(where, name, "must be positive and finite", shape);
}

}  // namespace

double uniform01(std::uint64_t bits) noexcept {
  return (static_cast<double>(static_cast<std::int64_t>(bits >> 12)) + 0.5) * 0x1p-52;
}

double standard_exponential(std::uint64_t bits) noexcept { return -portable_log(uniform01(bits)); }

double standard_normal(std::uint64_t bits) noexcept {
  constexpr double kCentreEnd = 0.425, kTailStart = 1.6, kFarTailStart = 5;
  const auto position = static_cast<std::int64_t>(bits);
  const std::int64_t distance = position < 0 ? ~position : position;
  const double q = (static_cast<double>(distance) + 0.5) * 0x1p-64;
  double z;
  if (q <= kCentreEnd) {
    z = q * kCentre(0.180625 - q * q);
  } else {
    const std::int64_t to_end = std::numeric_limits<std::int64_t>::max() - distance;
    const double tail = (static_cast<double>(to_end) + 0.5) * 0x1p-64;
    const double r = std::sqrt(-portable_log(tail));
    z = r <= kFarTailStart ? kTail(r - kTailStart) : kFarTail(r - kFarTailStart);
  }
  return position < 0 ? -z : z;
}

double detail::standard_gamma(double shape, BitSource source) {
  check_shape("standard_gamma", "shape", shape);
  return shape >= 1 ? gamma_from_one(shape, source) : portable_exp(log_gamma(shape, source));
}

double detail::standard_log_gamma(double shape, BitSource source) {
  check_shape("standard_log_gamma", "shape", shape);
  return log_gamma(shape, source);
}

double detail::standard_beta(double a, double b, BitSource source) {
  check_shape("standard_beta", "a", a);
  check_shape("standard_beta", "b", b);
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
