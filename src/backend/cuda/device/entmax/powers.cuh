#pragma once

#include <limits>

#include "backend/cuda/device/approximate.cuh"
#include "backend/cuda/device/reduce.cuh"
#include "backend/cuda/device/row.cuh"
#include "backend/entmax/newton.hpp"
#include "fenchel/core/deformed.hpp"

/// E = exp_{2-alpha}(c d) of p = P E, c = P^{-am1}, d = z - max z (fenchel/core/normalizer.hpp), for alpha up
/// to two. The step for c is the CPU's; the powers are not those of backend/entmax/deformed_power.hpp, which
/// sums in double what lanes compute: double is slow here, so that everything is computed in Real, and what
/// there is one of in a row is a Real and what its rounding lost.
namespace fenchel::cuda::device {

using detail::quotient;

/// E, E^{1-am1} and E^{1-2am1} of one score or of several.
template <class Scalar>
struct PowerTerms {
  Scalar value = 0, escort = 0, second = 0;

  PowerTerms() = default;
  __device__ PowerTerms(Scalar v, Scalar e, Scalar s = 0) : value(v), escort(e), second(s) {}
  template <class Terms>
  __device__ explicit PowerTerms(const Terms& x) : value(x.value), escort(x.escort) {
    if constexpr (requires { x.second; }) second = x.second;
  }

  __device__ PowerTerms operator+(const PowerTerms& other) const {
    return {value + other.value, escort + other.escort, second + other.second};
  }
};

/// Their sums over the threads of a row, that of E in double: of sums that are nearly equal, as those of a
/// crowd are, many roundings may all go the same way.
template <class Scalar>
struct alignas(16) PowerSums {
  double value = 0;
  Scalar escort = 0, second = 0;

  PowerSums() = default;
  __device__ PowerSums(double v, Scalar e, Scalar s) : value(v), escort(e), second(s) {}
  template <class Real>
  __device__ explicit PowerSums(const PowerTerms<Real>& x)
      : value(x.value), escort(static_cast<Scalar>(x.escort)), second(static_cast<Scalar>(x.second)) {}

  __device__ PowerSums operator+(const PowerSums& other) const {
    return {value + other.value, escort + other.escort, second + other.second};
  }
  __device__ PowerSums shuffled(int distance) const {
    return {device::shuffled(value, distance), device::shuffled(escort, distance),
            device::shuffled(second, distance)};
  }
};

/// E and E^{1-am1} alone, of one score or of several.
template <class Scalar>
struct alignas(2 * sizeof(Scalar)) TwoPowerSums {
  Scalar value = 0, escort = 0;

  TwoPowerSums() = default;
  __device__ TwoPowerSums(Scalar v, Scalar e) : value(v), escort(e) {}
  template <class Terms>
  __device__ explicit TwoPowerSums(const Terms& x)
      : value(static_cast<Scalar>(x.value)), escort(static_cast<Scalar>(x.escort)) {}

  __device__ TwoPowerSums operator+(const TwoPowerSums& other) const {
    return {value + other.value, escort + other.escort};
  }
  __device__ TwoPowerSums shuffled(int distance) const {
    return {device::shuffled(value, distance), device::shuffled(escort, distance)};
  }
};

/// Sums of which the first loses nothing, by Kahan's correction: that of a crowd of equal numbers would be
/// off by a rounding for each of them.
template <class Terms>
class CarefulSums {
 public:
  __device__ void add(const Terms& one) {
    const auto corrected = one.value - lost_, before = sums_.value;
    sums_ = sums_ + one;
    sums_.value = before + corrected;
    lost_ = (sums_.value - before) - corrected;
  }
  [[nodiscard]] __device__ const Terms& sums() const { return sums_; }

 private:
  Terms sums_;
  decltype(Terms::value) lost_ = 0;
};

__device__ inline double sqrt_approximately(double x) { return sqrt(x); }

/// A number as a sum of two, so that its rounding is not common to all of a row.
template <class Real>
struct SplitNumber {
  Real high = 0, low = 0;

  SplitNumber() = default;
  __device__ explicit SplitNumber(double x)
      : high(static_cast<Real>(x)), low(static_cast<Real>(x - double{high})) {}
  __device__ SplitNumber operator*(const SplitNumber& other) const {
    SplitNumber product;
    product.high = high * other.high;
    product.low = fma(high, other.high, -product.high) + fma(high, other.low, low * other.high);
    return product;
  }
};

/// am1 c as a sum: 1 + am1 c d has then the relative accuracy of Real also next to the threshold, where a
/// crowd of scores may hold much of the mass.
template <class Real>
struct Slope : SplitNumber<Real> {
  using SplitNumber<Real>::SplitNumber, SplitNumber<Real>::high, SplitNumber<Real>::low;

  [[nodiscard]] __device__ Real base(Real d) const { return fma(low, d, fma(high, d, Real(1))); }
  [[nodiscard]] __device__ Real times(Real d) const { return fma(high, d, low * d); }
  /// Times 1 + change.
  __device__ void grow(Real change) {
    const Real more = fma(high, change, fma(low, change, low)), next = high + more;
    low = more - (next - high);
    high = next;
  }
};

/// A logarithm to base 2: a whole number, and a rest in [-.42, .59).
struct Log2 {
  float whole, rest;
};

/// log2(1 + x) of x = slope d, of which the second argument is 1 + x: within 1.5 roundings of the rest. With
/// 1 + x = 2^e (1 + f), f in [-1/4, 1/2), it is e + f times a polynomial, least squares at Chebyshev's
/// points; lg2.approx has an absolute error only.
__device__ inline Log2 log2_of_base(float x, float base) {
  const int exponent = (__float_as_int(base) - 0x3f400000) & 0xff800000;
  const float f = exponent == 0 ? x : __int_as_float(__float_as_int(base) - exponent) - 1;
  constexpr float kSeries[] = {0.0782798007f, -0.174443781f, 0.216358557f,  -0.242701903f, 0.288186312f,
                               -0.36057657f,  0.480902225f,  -0.721348464f, 1.44269502f};
  float sum = kSeries[0];
#pragma unroll
  for (int k = 1; k < 9; ++k) sum = fma(sum, f, kSeries[k]);
  return {static_cast<float>(exponent) * 0x1p-23f, f * sum};
}

/// An exponent as a sum: in float of its upper 16 bits, of which the product with a small whole number is
/// exact, and of the rest.
template <class Real>
struct Exponent {
  Real high = 0, low = 0;

  Exponent() = default;
  __device__ explicit Exponent(double x) : high(static_cast<Real>(x)) {
    if constexpr (sizeof(Real) == 4) high = __int_as_float(__float_as_int(high) & 0xffffff00);
    low = static_cast<Real>(x - double{high});
  }
};

/// base^exponent, base = 1 + x > 0, within some roundings also where it is far below 1: what the sum of the
/// exponent's parts loses is put back.
__device__ inline float power_of_base(float x, float base, const Exponent<float>& exponent) {
  constexpr float kLog2 = 0.693147182f;
  const Log2 log = log2_of_base(x, base);
  const float much = log.whole * exponent.high;
  const float little = fma(log.rest, exponent.high, (log.whole + log.rest) * exponent.low);
  const float sum = much + little, lost = (much - sum) + little, power = exp2_approximately(sum);
  return fma(power, kLog2 * lost, power);
}
__device__ __noinline__ inline double power_of_base(double x, double base, const Exponent<double>& exponent) {
  return exp((abs(x) < 0.5 ? log1p(x) : log(base)) * exponent.high);
}

/// x^exponent of a probability, within 1e-6 of itself in float.
__device__ inline float power_of(float x, float exponent) {
  return exp2_approximately(log2_approximately(x) * exponent);
}
__device__ __noinline__ inline double power_of(double x, double exponent) {
  return x > 0 ? exp(log(x) * exponent) : 0.0;
}

/// 2^x - 1, |x| <= .51, within a rounding of itself: x times a polynomial, least squares at Chebyshev's
/// points.
__device__ inline float exp2_minus_one(float x) {
  constexpr float kSeries[] = {1.52461007e-05f, 0.000154636349f, 0.00133337046f, 0.00961805135f,
                               0.055504106f,    0.240226507f,    0.693147182f};
  float sum = kSeries[0];
#pragma unroll
  for (int k = 1; k < 7; ++k) sum = fma(sum, x, kSeries[k]);
  return x * sum;
}

/// c sum^{-am1} - 1. In float, where it is small, it is off by little more than a rounding of 1: what is
/// whole in the exponent of the power is a shift, and the power of the rest is taken without its 1, as c is.
__device__ inline float excess_of_sum(float sum, SplitNumber<float> c, SplitNumber<float> am1) {
  const int bits = __float_as_int(sum), exponent = (bits - 0x3f400000) & 0xff800000;
  const float m = __int_as_float(bits - exponent), e = static_cast<float>(exponent) * 0x1p-23f;
  const float log2_m = log2_of_base(m - 1, m).rest, whole = rintf(am1.high * (e + log2_m));
  const float rest = fma(am1.high, log2_m, fma(am1.low, e, fma(am1.high, e, -whole)));
  const float shift = __int_as_float((127 - static_cast<int>(whole)) << 23), power = exp2_minus_one(-rest);
  const float high = c.high * shift, low = c.low * shift;
  return fma(high, power, high - 1) + low;
}
__device__ __noinline__ inline double excess_of_sum(double sum, SplitNumber<double> c,
                                                    SplitNumber<double> am1) {
  return c.high * exp(-am1.high * log(sum)) - 1;
}

inline constexpr int kMostSteps = 100, kHalleySteps = 12;

/// alpha = 1.
template <class Real>
class ExponentialPower {
 public:
  static constexpr bool kNormalized = false, kCheap = true;

  [[nodiscard]] __device__ Real value(Real d) const { return exp(d); }
  /// Within 1e-6 of itself and of d.
  [[nodiscard]] __device__ Real quick_value(Real d) const { return exp2_approximately(Real(1.44269504) * d); }
  /// E^alpha from E.
  [[nodiscard]] __device__ Real powered(Real e) const { return e; }
};

/// am1 = 1 / q: alpha = 2 and 3/2. No exp, no log, and p itself: (am1 d - tau)_+^q with tau =
/// -P^am1, from -1 upwards by Newton's steps for S^am1, which is convex in tau, so that they never overshoot.
/// Next to the threshold the difference is exact; the last step, below the rounding of tau, is kept apart.
template <class Real, int q>
class WholePower {
 public:
  static_assert(q == 1 || q == 2);
  using Terms = TwoPowerSums<Real>;
  template <class Scalar>
  using Sums = TwoPowerSums<Scalar>;
  static constexpr bool kNormalized = true, kCheap = true;

  __device__ WholePower(double, index_t cols) : cols_(static_cast<Real>(cols)) {}

  /// No mass at or below it, as long as tau is not above the root.
  [[nodiscard]] __device__ Real cut() const { return q * tau_; }
  /// P^am1 + am1 d, of which p is a power where it is not negative.
  [[nodiscard]] __device__ Real base(Real d) const { return fma(kAm1, d, -tau_) - tau_low_; }
  [[nodiscard]] __device__ Real value(Real d) const {
    const Real b = max(base(d), Real(0));
    return q == 1 ? b : b * b;
  }
  [[nodiscard]] __device__ Real powered(Real p) const { return p * (q == 1 ? p : sqrt_approximately(p)); }

  /// What orders lower bounds of the root, and the start from one of them, a little below it for rounding.
  [[nodiscard]] __device__ Real bound() const { return tau_; }
  __device__ void start(Real bound) {
    tau_ = max(Real(-1), bound - 16 * std::numeric_limits<Real>::epsilon());
    tau_low_ = 0;
  }
  /// What a score adds to the sums at tau.
  [[nodiscard]] __device__ Terms terms(Real d) const {
    const Real b = max(fma(kAm1, d, -tau_), Real(0));
    return q == 1 ? Terms(b, b > 0 ? Real(1) : Real(0)) : Terms(b * b, b);
  }
  /// Takes the step that the sums at tau ask for; true where it was the last. After a step s the mass is off
  /// by no more than s^2 times the size of the support for q = 2; for q = 1 it is linear up to the next
  /// score.
  template <class Scalar>
  __device__ bool advance(const Sums<Scalar>& sums, int) {
    constexpr Real kRounding = sizeof(Real) == 4 ? Real(2e-7) : Real(4e-16);
    constexpr Real kMass = sizeof(Real) == 4 ? Real(5e-8) : Real(1e-16);
    const auto excess = static_cast<Real>(sums.value - 1);
    Real step = quotient(excess, static_cast<Real>(sums.escort));
    if constexpr (q == 2) {  // (S - sqrt S) / R, without the rounding of a root next to 1
      const Real root = sqrt_approximately(static_cast<Real>(sums.value));
      step *= quotient(root, 1 + root);
    }
    const bool done = step <= kRounding * -tau_ || (q == 2 && step * step * cols_ <= kMass);
    if (done) {
      tau_low_ = step;
    } else {
      tau_ += step;
    }
    return done;
  }

 private:
  static constexpr Real kAm1 = Real(1) / q;

  Real tau_ = -1, tau_low_ = 0, cols_;
};

/// Any alpha in (0, 2], by the slope am1 c = am1 S^am1, S the sum of E: what rounding does to S hardly moves
/// c. alpha = 1 is computed as one that no precision tells from it.
template <class Real>
class AnyPower {
 public:
  using Terms = PowerTerms<Real>;
  template <class Scalar>
  using Sums = PowerSums<Scalar>;
  static constexpr bool kNormalized = false, kCheap = false;

  __device__ AnyPower(double am1, index_t) : slope_(am1 == 0 ? kTiny : am1), am1_(am1 == 0 ? kTiny : am1) {
    const double exact = am1 == 0 ? kTiny : am1;
    inverse_ = SplitNumber<Real>(1 / exact);
    whole_ = Exponent<Real>(1 / exact);
    share_ = Exponent<Real>((halley() ? 1 - 2 * exact : 1.0) / exact);
  }

  [[nodiscard]] __device__ Real cut() const {
    const Real width = (1 + 8 * std::numeric_limits<Real>::epsilon()) / slope_.high;
    return am1_.high > 0 ? max(-width, kMasked<Real>) : kMasked<Real>;
  }
  [[nodiscard]] __device__ Real value(Real d) const {
    const Real base = slope_.base(d);
    return inside(d, base) ? power_of_base(slope_.times(d), base, whole_) : Real(0);
  }
  [[nodiscard]] __device__ Real powered(Real e) const { return power_of(e, 1 + am1_.high); }

  [[nodiscard]] __device__ Real bound() const { return slope_.high; }
  __device__ void start(Real bound) {
    const Real below = bound * (1 - 64 * std::numeric_limits<Real>::epsilon());
    slope_.high = am1_.high > 0 ? max(below, am1_.high) : am1_.high;
    slope_.low = 0;
    last_ = 2;
  }
  /// Up to am1 = 1/2 the least of the powers by exp and log, the others as products. Beyond, E as value()
  /// has it: a crowd of scores at the threshold then has the mass that is solved for, whatever the rounding.
  [[nodiscard]] __device__ Terms terms(Real d) const {
    const Real base = slope_.base(d);
    const Real power = inside(d, base) ? power_of_base(slope_.times(d), base, share_) : Real(0);
    if (halley()) return {power * base * base, power * base, power};
    return {power, power > 0 ? quotient(power, base) : Real(0), Real(0)};
  }
  /// Takes the step that the sums ask for; true where what is left after it is below rounding: up to
  /// am1 = 1/2 the second derivative of the mass, E^{1-2am1} (c d)^2 (1 - am1) / 2 in its sum, tells; beyond,
  /// the mass itself must be right before it, or not become better.
  template <class Scalar>
  __device__ bool advance(const PowerSums<Scalar>& sums, int step) {
    constexpr Real kMass = sizeof(Real) == 4 ? Real(1e-7) : Real(2e-16), kNear = sqrt_of_rounding();
    const Real am1 = am1_.high;
    const auto value = static_cast<Real>(sums.value), escort = static_cast<Real>(sums.escort),
               second = static_cast<Real>(sums.second);
    const Real excess = excess_of(value);
    const bool faster = halley() && step < kHalleySteps;
    const Real change = faster ? detail::halley_change(am1, excess, value, escort, second)
                               : detail::newton_change(excess, value, escort);
    const Real size = abs(excess);
    bool done = size <= 4 * kMass || (size < kNear && 2 * size > last_);
    if (halley()) {
      const Real widest = am1 > 0 ? min(inverse_.high * inverse_.high, Real(200)) : Real(200);
      done = done || change * change * widest * (1 - am1) * second <= 2 * kMass * value;
    }
    last_ = size;
    slope_.grow(change > -1 ? quotient(-change, 1 + change) : Real(-1));
    const Real high = slope_.high - am1_.high, low = slope_.low - am1_.low;
    if (!(high + low > 0)) slope_.high = am1_.high, slope_.low = am1_.low;  // P <= 1
    return done;
  }

 private:
  static constexpr double kTiny = 0x1p-64;
  [[nodiscard]] __device__ static constexpr Real sqrt_of_rounding() {
    return sizeof(Real) == 4 ? Real(1e-5) : Real(1e-12);
  }
  /// c S^{-am1} - 1. P = c^{-1/am1} feels its rounding most below alpha = 1, where many small scores have
  /// mass.
  [[nodiscard]] __device__ Real excess_of(Real sum) const {
    if (sizeof(Real) == 4 && am1_.high < 0) {
      const double am1 = double{am1_.high} + double{am1_.low};
      const double c = (double{slope_.high} + double{slope_.low}) / am1;
      return static_cast<Real>(excess_of_sum(double{sum}, SplitNumber<double>(c), SplitNumber<double>(am1)));
    }
    return excess_of_sum(sum, slope_ * inverse_, am1_);
  }
  [[nodiscard]] __device__ bool inside(Real d, Real base) const {
    return am1_.high > 0 ? base > 0 : d > kMasked<Real>;
  }
  [[nodiscard]] __device__ bool halley() const { return detail::second_is_bounded(am1_.high); }

  Slope<Real> slope_;
  Real last_ = 2;
  SplitNumber<Real> am1_, inverse_;
  Exponent<Real> whole_, share_;
};

}  // namespace fenchel::cuda::device
