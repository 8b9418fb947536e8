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

/// Sums of E, E^{1-am1} and E^{1-2am1}.
template <class Sum>
struct alignas(16) PowerSums {
  Sum value = 0, escort = 0, second = 0;

  template <class Real>
  __device__ void add(Real e, Real escort_e, Real second_e) {
    value += e;
    escort += escort_e;
    second += second_e;
  }
  [[nodiscard]] __device__ PowerSums times(Sum weight) const {
    return {weight * value, weight * escort, weight * second};
  }
  __device__ PowerSums operator+(const PowerSums& other) const {
    return {value + other.value, escort + other.escort, second + other.second};
  }
  __device__ PowerSums shuffled(int distance) const {
    return {device::shuffled(value, distance), device::shuffled(escort, distance),
            device::shuffled(second, distance)};
  }
};

/// Sums of E and E^{1-am1} alone.
template <class Sum>
struct alignas(2 * sizeof(Sum)) TwoPowerSums {
  Sum value = 0, escort = 0;

  __device__ TwoPowerSums operator+(const TwoPowerSums& other) const {
    return {value + other.value, escort + other.escort};
  }
  __device__ TwoPowerSums shuffled(int distance) const {
    return {device::shuffled(value, distance), device::shuffled(escort, distance)};
  }
};

__device__ inline double sqrt_approximately(double x) { return sqrt(x); }

/// A number as a sum of two, so that its rounding is not common to all of a row.
template <class Real>
struct SplitNumber {
  Real high = 0, low = 0;

  SplitNumber() = default;
  __device__ explicit SplitNumber(double x)
      : high(static_cast<Real>(x)), low(static_cast<Real>(x - double{high})) {}
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

/// log2(1 + x) of x = slope d, of which the second argument is 1 + x: within 1.5 roundings, near x = 0 of
/// itself. With 1 + x = 2^e (1 + f), f in [-1/4, 1/2), it is e + f times a polynomial, least squares at
/// Chebyshev's points; lg2.approx has an absolute error only.
__device__ inline float log2_of_base(float x, float base) {
  const int exponent = (__float_as_int(base) - 0x3f400000) & 0xff800000;
  const float f = exponent == 0 ? x : __int_as_float(__float_as_int(base) - exponent) - 1;
  constexpr float kSeries[] = {0.0782798007f, -0.174443781f, 0.216358557f,  -0.242701903f, 0.288186312f,
                               -0.36057657f,  0.480902225f,  -0.721348464f, 1.44269502f};
  float sum = kSeries[0];
#pragma unroll
  for (int k = 1; k < 9; ++k) sum = fma(sum, f, kSeries[k]);
  return fma(f, sum, static_cast<float>(exponent) * 0x1p-23f);
}

/// base^exponent, base = 1 + x > 0.
__device__ inline float power_of_base(float x, float base, SplitNumber<float> exponent) {
  const float power = log2_of_base(x, base);
  return exp2_approximately(fma(power, exponent.high, power * exponent.low));
}
__device__ __noinline__ inline double power_of_base(double x, double base, SplitNumber<double> exponent) {
  return exp((abs(x) < 0.5 ? log1p(x) : log(base)) * exponent.high);
}

/// x^exponent of a probability, within 1e-6 of itself in float.
__device__ inline float power_of(float x, float exponent) {
  return exp2_approximately(log2_approximately(x) * exponent);
}
__device__ __noinline__ inline double power_of(double x, double exponent) {
  return x > 0 ? exp(log(x) * exponent) : 0.0;
}

/// sum^{-am1} within two roundings, am1 = high + low. In float the whole part of the exponent is kept apart.
__device__ inline float root_of_sum(float sum, float high, float low) {
  const int bits = __float_as_int(sum), exponent = (bits - 0x3f400000) & 0xff800000;
  const float m = __int_as_float(bits - exponent), e = static_cast<float>(exponent) * 0x1p-23f;
  const float whole = rintf(high * e), rest = fma(low, e, fma(high, e, -whole));
  return exp2_approximately(-whole) * exp2_approximately(-fma(high, log2_of_base(m - 1, m), rest));
}
__device__ __noinline__ inline double root_of_sum(double sum, double high, double low) {
  return exp(-(high + low) * log(sum));
}

inline constexpr int kMostSteps = 100, kHalleySteps = 12;

/// alpha = 1.
template <class Real>
class ExponentialPower {
 public:
  static constexpr bool kNormalized = false, kCheap = true;

  [[nodiscard]] __device__ Real value(Real d) const { return exp(d); }
  /// E^alpha from E.
  [[nodiscard]] __device__ Real powered(Real e) const { return e; }
};

/// am1 = 1 / q: alpha = 2 and 3/2. No exp, no log, and p itself: (am1 d - tau)_+^q with tau = -P^am1, from -1
/// upwards by Newton's steps for S^am1, which is convex in tau, so that they never overshoot. Next to the
/// threshold the difference is exact; the last step, below the rounding of tau, is kept apart.
template <class Real, int q>
class WholePower {
 public:
  static_assert(q == 1 || q == 2);
  template <class Sum>
  using Sums = TwoPowerSums<Sum>;
  static constexpr bool kNormalized = true, kCheap = true;

  __device__ WholePower(double, index_t cols) : cols_(static_cast<Real>(cols)) {}

  /// No mass at or below it, as long as tau is not above the root.
  [[nodiscard]] __device__ Real cut() const { return q * tau_; }
  [[nodiscard]] __device__ Real value(Real d) const {
    const Real b = max(fma(kAm1, d, -tau_) - tau_low_, Real(0));
    return q == 1 ? b : b * b;
  }
  [[nodiscard]] __device__ Real powered(Real p) const { return p * (q == 1 ? p : sqrt_approximately(p)); }

  /// What orders lower bounds of the root, and the start from one of them, a little below it for rounding.
  [[nodiscard]] __device__ Real bound() const { return tau_; }
  __device__ void start(Real bound) {
    tau_ = max(Real(-1), bound - 16 * std::numeric_limits<Real>::epsilon());
    tau_low_ = 0;
  }
  template <class Sum>
  __device__ void add(Sums<Sum>& sums, Real d) const {
    const Real b = max(fma(kAm1, d, -tau_), Real(0));
    if constexpr (q == 1) {
      sums.value += b;
      sums.escort += b > 0 ? Sum(1) : Sum(0);
    } else if constexpr (std::is_same_v<Sum, Real>) {
      sums.value = fma(b, b, sums.value);
      sums.escort += b;
    } else {
      sums.value += static_cast<Sum>(b) * static_cast<Sum>(b);
      sums.escort += b;
    }
  }
  /// Takes the step that the sums at tau ask for; true where it was the last. After a step s the mass is off
  /// by no more than s^2 times the size of the support for q = 2; for q = 1 it is linear up to the next
  /// score.
  template <class Sum>
  __device__ bool advance(const Sums<Sum>& sums, int) {
    constexpr Real kRounding = sizeof(Real) == 4 ? Real(2e-7) : Real(4e-16);
    constexpr Real kMass = sizeof(Real) == 4 ? Real(5e-8) : Real(1e-16);
    const Sum excess = q == 1 ? sums.value - 1 : sums.value - sqrt(sums.value);
    const Real step = quotient(static_cast<Real>(excess), static_cast<Real>(sums.escort));
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
  template <class Sum>
  using Sums = PowerSums<Sum>;
  static constexpr bool kNormalized = false, kCheap = false;

  __device__ AnyPower(double am1, index_t)
      : slope_(am1 == 0 ? kTiny : am1), least_(slope_.high), least_low_(slope_.low) {
    const double exact = am1 == 0 ? kTiny : am1;
    inverse_ = SplitNumber<Real>(1 / exact);
    share_ = SplitNumber<Real>((halley() ? 1 - 2 * exact : 1.0) / exact);
  }

  [[nodiscard]] __device__ Real cut() const {
    const Real width = (1 + 8 * std::numeric_limits<Real>::epsilon()) / slope_.high;
    return least_ > 0 ? max(-width, kMasked<Real>) : kMasked<Real>;
  }
  [[nodiscard]] __device__ Real value(Real d) const {
    const Real base = slope_.base(d);
    return inside(d, base) ? power_of_base(slope_.times(d), base, inverse_) : Real(0);
  }
  [[nodiscard]] __device__ Real powered(Real e) const { return power_of(e, 1 + least_); }

  [[nodiscard]] __device__ Real bound() const { return slope_.high; }
  __device__ void start(Real bound) {
    const Real below = bound * (1 - 64 * std::numeric_limits<Real>::epsilon());
    slope_.high = least_ > 0 ? max(below, least_) : least_;
    slope_.low = 0;
    last_ = 2;
  }
  /// Up to am1 = 1/2 the least of the powers by exp and log, the others as products. Beyond, E as value()
  /// has it: a crowd of scores at the threshold then has the mass that is solved for, whatever the rounding.
  template <class Sum>
  __device__ void add(PowerSums<Sum>& sums, Real d) const {
    const Real base = slope_.base(d);
    const Real power = inside(d, base) ? power_of_base(slope_.times(d), base, share_) : Real(0);
    if (halley()) {
      sums.add(power * base * base, power * base, power);
    } else {
      sums.add(power, power > 0 ? quotient(power, base) : Real(0), Real(0));
    }
  }
  /// Takes the step that the sums ask for; true where what is left after it is below rounding: up to
  /// am1 = 1/2 the second derivative of the mass, E^{1-2am1} (c d)^2 (1 - am1) / 2 in its sum, tells; beyond,
  /// the mass itself must be right before it, or not become better.
  template <class Sum>
  __device__ bool advance(const PowerSums<Sum>& sums, int step) {
    constexpr Real kMass = sizeof(Real) == 4 ? Real(1e-7) : Real(2e-16), kNear = sqrt_of_rounding();
    const Real am1 = least_;
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
    if (!(slope_.high > least_)) slope_.high = least_, slope_.low = 0;  // P <= 1
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
    if (sizeof(Real) == 4 && least_ < 0) {
      const double am1 = double{least_} + double{least_low_};
      const double c = (double{slope_.high} + double{slope_.low}) / am1;
      return static_cast<Real>(c * root_of_sum(double{sum}, am1, 0.0) - 1);
    }
    return fma(slope_.high * inverse_.high, root_of_sum(sum, least_, least_low_), Real(-1));
  }
  [[nodiscard]] __device__ bool inside(Real d, Real base) const {
    return least_ > 0 ? base > 0 : d > kMasked<Real>;
  }
  [[nodiscard]] __device__ bool halley() const { return detail::second_is_bounded(least_); }

  Slope<Real> slope_;
  Real least_, least_low_, last_ = 2;
  SplitNumber<Real> inverse_, share_;
};

}  // namespace fenchel::cuda::device
