#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace fenchel::detail {

/// 10^q, or what rounds to it, for |q| <= kMost.
struct DecimalPowers {
  static constexpr int kMostExact = 22, kMost = 27;  // 10^22 is a double; 5^27 has 63 bits

  struct Power {
    std::uint64_t significand;  ///< floor(5^q 2^-shift), the highest bit set
    int shift;
  };

  std::array<double, kMostExact + 1> exact{};
  std::array<Power, 2 * kMost + 1> rounded{};  ///< of q + kMost

  constexpr DecimalPowers() {
    double ten = 1;
    for (double& power : exact) {
      power = ten;
      ten *= 10;
    }
    std::uint64_t five = 1;
    for (std::size_t q = 0; q <= kMost; ++q, five *= 5) {
      const int zeros = std::countl_zero(five);
      rounded[kMost + q] = {five << zeros, -zeros};
      rounded[kMost - q] = reciprocal(five);
    }
  }

  /// By long division, a binary digit at a time.
  static constexpr Power reciprocal(std::uint64_t divisor) {
    Power result{0, 1};
    for (std::uint64_t rest = 1; result.significand >> 63 == 0; rest = 2 * (rest % divisor), --result.shift)
      result.significand = 2 * result.significand + (rest >= divisor);
    return result;
  }
};
inline constexpr DecimalPowers kDecimalPowers;

}  // namespace fenchel::detail
