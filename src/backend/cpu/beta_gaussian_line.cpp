#include <cmath>
#include <limits>

#include "backend/cpu/beta_gaussian_kernels.hpp"
#include "core/lane_erf.hpp"
#include "core/lane_math.hpp"
#include "core/normal_quantile.hpp"

#ifdef __clang__
#define FENCHEL_IN_PLACE _Pragma("clang loop vectorize(assume_safety)")
#else
#define FENCHEL_IN_PLACE _Pragma("GCC ivdep")
#endif

namespace fenchel::detail {
namespace {

/// I_v(1 + s, 1 + s) = v^{1+s} kTail<s>(v), with derivative kSlope<s> (v (1 - v))^s.
template <int s>
constexpr double kTail[s + 1] = {};
template <>
constexpr double kTail<0>[] = {1};
template <>
constexpr double kTail<1>[] = {3, -2};
template <>
constexpr double kTail<2>[] = {10, -15, 6};
template <>
constexpr double kTail<3>[] = {35, -84, 70, -20};
template <int s>
constexpr double kSlope = (s + 1) * kTail<s>[0];

template <int n>
FENCHEL_INLINE double power(double v) noexcept {
  if constexpr (n == 0) return 1;
  if constexpr (n > 0) return v * power<n - 1>(v);
}

/// P(X <= t) at x = (t - mu) / width, from the nearer end.
template <int s>
FENCHEL_INLINE double cdf_element(double x) noexcept {
  const double inside = x < -1 ? -1.0 : (x > 1 ? 1.0 : x);
  const double v = 0.5 - 0.5 * std::abs(inside), tail = power<s + 1>(v) * polynomial(v, kTail<s>);
  return inside > 0 ? 1 - tail : tail;
}
template <>
FENCHEL_INLINE double cdf_element<LineLaw::kGaussian>(double x) noexcept {
  return 0.5 * erfc_element(-0x1.6a09e667f3bcdp-1 * x);
}

/// v with I_v(1 + s, 1 + s) = u in (0, 1/2]: Halley's steps, three of which are enough from v = g (1 + s g /
/// (s + 2)), g = (u / kTail[0])^{1/(1+s)}, which is right to 17% at u = 1/2 and exact as u goes to 0. Below
/// kLeast v is no different from 0 beside 1, and u / kTail[0] may be 0.
template <int s>
FENCHEL_INLINE double tail_quantile(double level) noexcept {
  constexpr double kLeast = 0x1p-1000;
  const double u = level > kLeast ? level : kLeast;
  const double guess = exp_element(log_element(u / kTail<s>[0]) * (1.0 / (s + 1)));
  double v = guess * (1 + guess * (double(s) / (s + 2)));
  const auto halley = [&]() FENCHEL_INLINE_LAMBDA {
    const double excess = power<s + 1>(v) * polynomial(v, kTail<s>) - u;
    const double step = excess / (kSlope<s> * power<s>(v * (1 - v)));
    v -= step / (1 - step * (0.5 * s) * (1 - 2 * v) / (v * (1 - v)));
  };
  halley();
  halley();
  halley();
  return level > 0 ? v : 0.0;
}
template <>
FENCHEL_INLINE double tail_quantile<0>(double u) noexcept {
  return u;
}

/// (t - mu) / width.
template <int s>
FENCHEL_INLINE double quantile_element(double u) noexcept {
  const double tail = u > 0.5 ? 1 - u : u, x = 1 - 2 * tail_quantile<s>(tail);
  return u > 0.5 ? x : -x;
}

FENCHEL_INLINE double evaluate(const Rational& r, double x) noexcept {
  return polynomial<8>(x, r.p) / polynomial<8>(x, r.q);
}
template <>
FENCHEL_INLINE double quantile_element<LineLaw::kGaussian>(double u) noexcept {
  using namespace normal_quantile;
  const double from_centre = u - 0.5, tail = u > 0.5 ? 1 - u : u;
  const double r = std::sqrt(-log_element(tail));
  const double centre = from_centre * evaluate(kCentre, kCentreSquare - from_centre * from_centre);
  const double near = evaluate(normal_quantile::kTail, r - kTailStart);
  const double far = tail > 0 ? evaluate(kFarTail, r - kFarTailStart) : r;
  const double distance = r <= kFarTailStart ? near : far;
  return std::abs(from_centre) <= kCentreEnd ? centre : (u > 0.5 ? distance : -distance);
}

template <int s, class Real>
FENCHEL_INLINE void cdf_of(const LineLaw& law, const Real* t, index_t n, Real* out) noexcept {
  const double mu = law.mu, inverse = 1 / law.width;
  FENCHEL_IN_PLACE
  for (index_t i = 0; i < n; ++i) {
    out[i] = static_cast<Real>(cdf_element<s>((static_cast<double>(t[i]) - mu) * inverse));
  }
}

template <int s, class Real>
FENCHEL_INLINE void quantile_of(const LineLaw& law, const Real* u, index_t n, Real* out) noexcept {
  const double mu = law.mu, width = law.width;
  FENCHEL_IN_PLACE
  for (index_t i = 0; i < n; ++i) {
    const double x = u[i];
    const double t = mu + width * quantile_element<s>(x);
    out[i] = static_cast<Real>(x >= 0 && x <= 1 ? t : std::numeric_limits<double>::quiet_NaN());
  }
}

template <class Real>
FENCHEL_INLINE void any_cdf_loop(const LineLaw& law, const Real* t, index_t n, Real* out) noexcept {
  if (law.s == LineLaw::kGaussian) return cdf_of<LineLaw::kGaussian>(law, t, n, out);
  if (law.s == 0) return cdf_of<0>(law, t, n, out);
  if (law.s == 1) return cdf_of<1>(law, t, n, out);
  if (law.s == 2) return cdf_of<2>(law, t, n, out);
  cdf_of<3>(law, t, n, out);
}

template <class Real>
FENCHEL_INLINE void any_quantile_loop(const LineLaw& law, const Real* u, index_t n, Real* out) noexcept {
  if (law.s == LineLaw::kGaussian) return quantile_of<LineLaw::kGaussian>(law, u, n, out);
  if (law.s == 0) return quantile_of<0>(law, u, n, out);
  if (law.s == 1) return quantile_of<1>(law, u, n, out);
  if (law.s == 2) return quantile_of<2>(law, u, n, out);
  quantile_of<3>(law, u, n, out);
}

}  // namespace

FENCHEL_CLONES void cdf_loop(const LineLaw& law, const float* t, index_t n, float* out) noexcept {
  any_cdf_loop(law, t, n, out);
}
FENCHEL_CLONES void cdf_loop(const LineLaw& law, const double* t, index_t n, double* out) noexcept {
  any_cdf_loop(law, t, n, out);
}
FENCHEL_CLONES void quantile_loop(const LineLaw& law, const float* u, index_t n, float* out) noexcept {
  any_quantile_loop(law, u, n, out);
}
FENCHEL_CLONES void quantile_loop(const LineLaw& law, const double* u, index_t n, double* out) noexcept {
  any_quantile_loop(law, u, n, out);
}

}  // namespace fenchel::detail
