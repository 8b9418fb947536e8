#pragma once

#include <charconv>
#include <cstdint>
#include <system_error>

namespace fenchel::detail {

/// Reads a decimal at [p, end) and returns where it ends, or nullptr where it begins with none or is not in
/// the range of double. The grammar and the value are those of std::from_chars: correctly rounded.
[[nodiscard]] inline const char* read_decimal(const char* p, const char* end, double& value) noexcept {
  // A product or quotient of two doubles that are exact is rounded once (Clinger 1990).
  constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  constexpr int kMaxDigits = 19;
  const auto digit = [](char c) { return static_cast<unsigned>(c) - static_cast<unsigned>('0'); };
  const char* const begin = p;
  const bool negative = p != end && *p == '-';
  p += negative;
  const char* const first = p;
  std::uint64_t mantissa = 0;
  for (; p != end && digit(*p) < 10; ++p) mantissa = 10 * mantissa + digit(*p);
  auto digits = p - first;
  std::ptrdiff_t power = 0;
  if (p != end && *p == '.') {
    const char* const fraction = ++p;
    for (; p != end && digit(*p) < 10; ++p) mantissa = 10 * mantissa + digit(*p);
    power = fraction - p;
    digits -= power;
  }
  const bool plain = p == end || (*p != 'e' && *p != 'E');
  if (plain && digits > 0 && digits <= kMaxDigits && mantissa <= std::uint64_t{1} << 53) {
    const double size = static_cast<double>(mantissa) / kPowers[-power];
    value = negative ? -size : size;
    return p;
  }
  const auto [rest, error] = std::from_chars(begin, end, value);
  return error == std::errc() ? rest : nullptr;
}

}  // namespace fenchel::detail
