#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/lanes/lanes.hpp"
#include "data/decimal_powers.hpp"
#include "data/text_word.hpp"

namespace fenchel::detail {

[[nodiscard]] inline double with_sign(double size, bool negative) noexcept {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(size) | std::uint64_t{negative} << 63);
}

/// mantissa / 10^decimals, both of which are doubles: the quotient is rounded once (Clinger 1990).
[[nodiscard]] inline double exact_quotient(std::uint64_t mantissa, std::ptrdiff_t decimals,
                                           bool negative) noexcept {
  auto size = static_cast<double>(static_cast<std::int64_t>(mantissa));
  if (decimals != 0) size /= kDecimalPowers.exact[static_cast<std::size_t>(decimals)];
  return with_sign(size, negative);
}

/// Reads [p, stop) if it is a decimal of at most 16 characters and 15 digits without a power of ten; where it
/// returns false it may be another decimal. Eight characters at p must be in memory. Most numbers of tables
/// are such, and reading tables takes as long as it takes instructions.
template <char Point = '.'>
[[nodiscard]] FENCHEL_INLINE bool read_short_decimal(const char* p, const char* stop,
                                                     double& value) noexcept {
  const std::ptrdiff_t length = stop - p;
  TextWord word = load_digits(p);
  const bool negative = (word & 0xff) == ('-' ^ '0');
  word &= ~(TextWord{negative} * 0xff);  // a digit 0 for the sign
  if (length <= kWordChars) {
    if (length <= negative) return false;
    word <<= 8 * (kWordChars - length);
    const TextWord marks = not_digits(word);
    const std::ptrdiff_t decimals = marks == 0 ? 0 : take_point<Point>(word, marks);
    if (marks != 0 && (decimals < 0 || length - negative < 2)) return false;
    value = exact_quotient(eight_digits(word), decimals, negative);
    return true;
  }
  if (length > 2 * kWordChars) return false;
  TextWord low = load_digits(stop - kWordChars);
  word <<= 8 * (2 * kWordChars - length);
  const TextWord marks = not_digits(word), low_marks = not_digits(low);
  if (low_marks != 0) {
    const std::ptrdiff_t decimals = take_point<Point>(low, low_marks);
    if (decimals < 0 || marks != 0) return false;
    value = exact_quotient(eight_digits(word) * 10'000'000 + eight_digits(low), decimals, negative);
    return true;
  }
  const std::ptrdiff_t decimals = marks == 0 ? -kWordChars : take_point<Point>(word, marks);
  if (decimals == -1 || length - negative - (marks != 0) > 15) return false;
  value =
      exact_quotient(eight_digits(word) * 100'000'000 + eight_digits(low), decimals + kWordChars, negative);
  return true;
}

/// Reads [p, stop) if all of it is a decimal, as std::from_chars has it, that rounds to a double other than
/// infinity and is not too small for one. The value is that of std::from_chars: correctly rounded. What is
/// before `end` is in memory. Another point than '.' may make it false for a decimal of many characters.
template <char Point = '.'>
[[nodiscard]] bool read_decimal(const char* p, const char* stop, const char* end, double& value) noexcept;

}  // namespace fenchel::detail
