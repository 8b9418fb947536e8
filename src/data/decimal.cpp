#include "data/decimal.hpp"

#include <charconv>
#include <cmath>
#include <system_error>

namespace fenchel::detail {
namespace {

/// The upper half of a product of 128 bits.
[[nodiscard]] constexpr std::uint64_t high_product(std::uint64_t a, std::uint64_t b) noexcept {
  constexpr std::uint64_t kLow = 0xffffffff;
  const std::uint64_t low = (a & kLow) * (b & kLow), middle = (a >> 32) * (b & kLow) + (low >> 32);
  return (a >> 32) * (b >> 32) + (middle >> 32) + (((a & kLow) * (b >> 32) + (middle & kLow)) >> 32);
}

/// The double nearest to mantissa 10^power. False where this does not find it.
[[nodiscard]] FENCHEL_INLINE bool nearest_double(std::uint64_t mantissa, std::ptrdiff_t power,
                                                 double& value) noexcept {
  constexpr std::uint64_t kFew = 1'000'000'000'000'000;  // 15 digits, and not 2^53: this is easy to foretell
  constexpr std::ptrdiff_t kExact = DecimalPowers::kMostExact, kMost = DecimalPowers::kMost;
  if (mantissa < kFew && power >= -kExact && power <= kExact) {
    // A product or quotient of two doubles that are exact is rounded once (Clinger 1990).
    const auto m = static_cast<double>(mantissa);
    value = power < 0 ? m / kDecimalPowers.exact[static_cast<std::size_t>(-power)]
                      : m * kDecimalPowers.exact[static_cast<std::size_t>(power)];
    return true;
  }
  if (mantissa == 0 || power < -kMost || power > kMost) return false;
  // The product is in [high, high + 2) 2^exponent: the factor that was rounded down, and the lower half, are
  // less than 1 each. Its digits below the 53rd say how it is rounded unless half may lie in that interval.
  const auto [significand, shift] = kDecimalPowers.rounded[static_cast<std::size_t>(power + kMost)];
  const int zeros = std::countl_zero(mantissa);
  const std::uint64_t high = high_product(mantissa << zeros, significand);
  const int dropped = 10 + static_cast<int>(high >> 63);
  const std::uint64_t half = std::uint64_t{1} << (dropped - 1), rest = high & (2 * half - 1);
  if (rest == half - 1 || rest == half) return false;
  const std::uint64_t digits = (high >> dropped) + (rest > half);  // 2^53 carries into the exponent
  const auto exponent = static_cast<std::uint64_t>(64 - zeros + shift + power + dropped + 1074);
  value = std::bit_cast<double>((exponent << 52) + digits);
  return true;
}

[[nodiscard]] bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// Digits with a sign and a point: the number is mantissa 10^-decimals.
struct Digits {
  std::uint64_t mantissa = 0;
  std::ptrdiff_t decimals = 0;
  bool negative = false;
};

/// Reads [p, stop) if it has at most 24 characters behind its sign, 19 of them digits. Eight characters at
/// stop must be in memory.
template <char Point>
[[nodiscard]] bool read_digits(const char* p, const char* stop, Digits& digits) noexcept {
  constexpr std::uint64_t kScale = 100'000'000;
  digits.negative = *p == '-';
  p += digits.negative;
  const std::ptrdiff_t length = stop - p;
  if (length < 1 || length > 3 * kWordChars) return false;
  std::ptrdiff_t left = length, points = 0;
  for (std::ptrdiff_t count = (length - 1) % kWordChars + 1; left > 0; left -= count, count = kWordChars) {
    TextWord word = load_digits(p) << 8 * (kWordChars - count);
    p += count;
    std::uint64_t scale = kScale;
    if (const TextWord marks = not_digits(word); marks != 0) {
      const std::ptrdiff_t behind = take_point<Point>(word, marks);
      if (behind < 0 || ++points > 1) return false;
      digits.decimals = behind + left - count;
      scale /= 10;
    }
    digits.mantissa = digits.mantissa * scale + eight_digits(word);
  }
  return length - points >= 1 && length - points <= 19;
}

}  // namespace

template <char Point>
bool read_decimal(const char* p, const char* stop, const char* end, double& value) noexcept {
  // As std::printf writes a power of ten: e+05.
  const bool has_power = stop - p > 4 && (stop[-4] == 'e' || stop[-4] == 'E') &&
                         (stop[-3] == '+' || stop[-3] == '-') && is_digit(stop[-2]) && is_digit(stop[-1]);
  std::ptrdiff_t power = 0;
  if (has_power) {
    power = 10 * (stop[-2] - '0') + (stop[-1] - '0');
    if (stop[-3] == '-') power = -power;
  }
  const char* const last = has_power ? stop - 4 : stop;
  Digits digits;
  if (last - p > 0 && end - last >= kWordChars && read_digits<Point>(p, last, digits) &&
      nearest_double(digits.mantissa, power - digits.decimals, value)) {
    value = with_sign(value, digits.negative);
    return true;
  }
  if (Point != '.') return false;
  const auto [rest, error] = std::from_chars(p, stop, value);
  return error == std::errc() && rest == stop && std::isfinite(value);
}

template bool read_decimal<'.'>(const char*, const char*, const char*, double&) noexcept;
template bool read_decimal<','>(const char*, const char*, const char*, double&) noexcept;

}  // namespace fenchel::detail
