#pragma once

#include <bit>
#include <cstdint>

namespace fenchel::detail {

inline constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

/// Bits that are ordered as the doubles are; both zeros are one. Neighbours differ by one.
inline std::uint64_t ordered_bits(double x) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(x + 0.0);
  return bits & kSignBit ? ~bits : bits | kSignBit;
}

inline double from_ordered_bits(std::uint64_t bits) noexcept {
  return std::bit_cast<double>(bits & kSignBit ? bits & ~kSignBit : ~bits);
}

}  // namespace fenchel::detail
