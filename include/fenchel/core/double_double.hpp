#pragma once

/// `DoubleDouble`: a number of about 32 digits as the sum of two doubles.

#include <cmath>
#include <limits>

namespace fenchel {

/// A number as the unevaluated sum high + low of two doubles, |low| <= ulp(high) / 2: about 32 digits. Sums
/// of any length, order and split agree to the last digits of a double. Once infinite or NaN, low is 0.
struct DoubleDouble {
  double high = 0, low = 0;

  constexpr DoubleDouble() = default;
  constexpr DoubleDouble(double value) noexcept : high(value) {}  // implicit: sum += x

  [[nodiscard]] constexpr double value() const noexcept { return high; }

  constexpr DoubleDouble& operator+=(const DoubleDouble& other) noexcept {
    // Knuth's sum of the high parts, exact; then of the low parts; then both renormalised [Dekker 1971].
    const auto [sum, lost] = two_sum(high, other.high);
    if (!is_finite(sum)) return *this = DoubleDouble(sum);
    const auto [small, smaller] = two_sum(low, other.low);
    const auto [next, rest] = quick_two_sum(sum, lost + small);
    *this = quick_two_sum(next, rest + smaller);
    return *this;
  }
  constexpr DoubleDouble& operator+=(double x) noexcept {
    const auto [sum, lost] = two_sum(high, x);
    if (!is_finite(sum)) return *this = DoubleDouble(sum);
    *this = quick_two_sum(sum, lost + low);
    return *this;
  }
  constexpr DoubleDouble& operator-=(const DoubleDouble& other) noexcept { return *this += -other; }
  /// The product of the high parts is in explicit fma alone, so that -ffp-contract cannot change what is left
  /// of it; the cross terms, which it may contract, are 2^-53 of that.
  DoubleDouble& operator*=(const DoubleDouble& other) noexcept {
    const double cross = high * other.low + low * other.high;
    const double product = std::fma(high, other.high, cross);
    if (!is_finite(product)) return *this = DoubleDouble(high * other.high);
    *this = quick_two_sum(product, std::fma(high, other.high, -product) + cross);
    return *this;
  }
  /// To about 31 digits.
  DoubleDouble& operator/=(const DoubleDouble& other) noexcept {
    const double first = high / other.high;
    if (first == 0 || !is_finite(first)) return *this = DoubleDouble(first);
    DoubleDouble rest = *this - other * first;
    const double second = rest.high / other.high;
    rest -= other * second;
    const double third = rest.high / other.high;
    if (!is_finite(third)) return *this = DoubleDouble(first);
    *this = quick_two_sum(first, second);
    return *this += third;
  }

  [[nodiscard]] constexpr DoubleDouble operator-() const noexcept { return from_parts(-high, -low); }
  friend constexpr DoubleDouble operator+(DoubleDouble a, const DoubleDouble& b) noexcept { return a += b; }
  friend constexpr DoubleDouble operator-(DoubleDouble a, const DoubleDouble& b) noexcept { return a -= b; }
  friend DoubleDouble operator*(DoubleDouble a, const DoubleDouble& b) noexcept { return a *= b; }
  friend DoubleDouble operator/(DoubleDouble a, const DoubleDouble& b) noexcept { return a /= b; }
  friend constexpr bool operator==(const DoubleDouble&, const DoubleDouble&) = default;

  [[nodiscard]] static constexpr DoubleDouble from_parts(double high, double low) noexcept {
    DoubleDouble made(high);
    made.low = low;
    return made;
  }

 private:
  static constexpr DoubleDouble two_sum(double a, double b) noexcept {
    const double sum = a + b, part = sum - a;
    return from_parts(sum, (a - (sum - part)) + (b - part));
  }
  static constexpr DoubleDouble quick_two_sum(double a, double b) noexcept {
    const double sum = a + b;
    return from_parts(sum, is_finite(sum) ? b - (sum - a) : 0.0);
  }
  static constexpr bool is_finite(double x) noexcept {
    return x >= -std::numeric_limits<double>::max() && x <= std::numeric_limits<double>::max();
  }
};

}  // namespace fenchel
