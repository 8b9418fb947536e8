#pragma once

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
    const auto [small, smaller] = two_sum(low, other.low);
    const auto [next, rest] = quick_two_sum(sum, lost + small);
    *this = quick_two_sum(next, rest + smaller);
    return *this;
  }
  constexpr DoubleDouble& operator-=(const DoubleDouble& other) noexcept { return *this += -other; }
  DoubleDouble& operator*=(const DoubleDouble& other) noexcept {
    const double product = high * other.high;
    const double lost = std::fma(high, other.high, -product);
    *this = quick_two_sum(product, lost + (high * other.low + low * other.high));
    return *this;
  }
  /// To about 31 digits.
  DoubleDouble& operator/=(const DoubleDouble& other) noexcept {
    const double first = high / other.high;
    if (!(std::abs(first) <= std::numeric_limits<double>::max())) return *this = DoubleDouble(first);
    DoubleDouble rest = *this - other * first;
    const double second = rest.high / other.high;
    rest -= other * second;
    *this = quick_two_sum(first, second);
    return *this += rest.high / other.high;
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
    const double sum = a + b, lost = b - (sum - a);
    return from_parts(sum, lost == lost ? lost : 0.0);
  }
};

}  // namespace fenchel
