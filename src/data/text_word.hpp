#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

/// Text eight characters at a time, the first one in the lowest bits, on every machine.
namespace fenchel::detail {

using TextWord = std::uint64_t;
inline constexpr std::ptrdiff_t kWordChars = 8;

/// A word of one character.
[[nodiscard]] constexpr TextWord repeated(unsigned char c) noexcept {
  return TextWord{0x0101010101010101} * c;
}

/// The digits at p, eight characters of which each is taken from '0'.
[[nodiscard]] inline TextWord load_digits(const char* p) noexcept {
  TextWord word;
  std::memcpy(&word, p, sizeof word);
  return (std::endian::native == std::endian::little ? word : __builtin_bswap64(word)) ^ repeated('0');
}

/// Marks some bit of the first number above 9, none before it, and any behind it.
[[nodiscard]] constexpr TextWord not_digits(TextWord word) noexcept {
  return ((word + repeated(6)) | word) & repeated(0xf0);
}

/// The number that eight digits write.
[[nodiscard]] constexpr std::uint64_t eight_digits(TextWord digits) noexcept {
  constexpr TextWord kPairs = 0x000000ff000000ff;
  digits = 10 * digits + (digits >> 8);
  return ((digits & kPairs) * ((std::uint64_t{1'000'000} << 32) + 100) +
          ((digits >> 16) & kPairs) * ((std::uint64_t{10'000} << 32) + 1)) >>
         32;
}

/// Takes the point, or what stands for it, out of a word of digits, where `marks` says that it is, and moves
/// the digits before it up. Returns how many are behind it, or -1 where the word is another one.
template <char Point>
[[nodiscard]] inline std::ptrdiff_t take_point(TextWord& word, TextWord marks) noexcept {
  const int at = std::countr_zero(marks) & ~7;
  if ((word >> at & 0xff) != (Point ^ '0')) return -1;
  const TextWord before = (TextWord{1} << at) - 1;
  word = (word & before) << 8 | (word & ~(before << 8 | 0xff));
  return not_digits(word) == 0 ? kWordChars - 1 - at / 8 : -1;
}

}  // namespace fenchel::detail
