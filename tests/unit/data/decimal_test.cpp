#include "data/decimal.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace fenchel::detail {
namespace {

using Random = std::mt19937_64;

/// The bits of all of a text as std::from_chars reads it, or none where that is no finite number.
std::optional<std::uint64_t> expected_of(std::string_view text) {
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest != text.data() + text.size() || !std::isfinite(value)) return {};
  return std::bit_cast<std::uint64_t>(value);
}

/// Reads a text as a field with others behind it, and as the end of what is in memory. True where it is a
/// short decimal.
bool expect_same(const std::string& text) {
  const auto expected = expected_of(text);
  const std::string fields = text + ",12345678";
  const std::vector<char> alone(text.begin(), text.end());
  double value = 0;
  const auto bits = [&](bool read) {
    return read ? std::optional(std::bit_cast<std::uint64_t>(value)) : std::nullopt;
  };
  const auto read = [&](const char* p, const char* end) {
    return bits(read_decimal(p, p + text.size(), end, value));
  };
  EXPECT_EQ(read(fields.data(), fields.data() + fields.size()), expected) << text;
  EXPECT_EQ(read(alone.data(), alone.data() + alone.size()), expected) << text;
  const auto found = bits(read_short_decimal(fields.data(), fields.data() + text.size(), value));
  if (found) {
    EXPECT_EQ(found, expected) << text;
  }
  return found.has_value();
}

std::string drawn_digits(Random& random, std::uint64_t count) {
  std::string digits(count, '0');
  const std::uint64_t zeros = random() % 4 == 0 ? random() % (count + 1) : 0;
  for (std::uint64_t k = zeros; k < count; ++k) digits[k] = static_cast<char>('0' + random() % 10);
  return digits;
}

TEST(CsvDecimal, KnownTextsAreThoseOfFromChars) {
  for (const char* const text : {"",
                                 "-",
                                 ".",
                                 "-.",
                                 "5.",
                                 "-.5",
                                 "0",
                                 "-0",
                                 "-0.0",
                                 "00",
                                 "+1",
                                 "--1",
                                 "1-",
                                 "1.2.3",
                                 "1e",
                                 "1e+",
                                 "e+05",
                                 "-e+05",
                                 ".e+05",
                                 "1e5",
                                 "1e-5",
                                 "1e+05",
                                 "1E-05",
                                 "1e+5x",
                                 "1.5E3x",
                                 "0e+99",
                                 "1e+99",
                                 "9007199254740992",
                                 "9007199254740993",
                                 "0.9007199254740993",
                                 "9999999999999999999",
                                 "18446744073709551615",
                                 "18446744073709551616",
                                 "99999999999999999999",
                                 "0.0000000000000000000001",
                                 "123456789012345678901234567890",
                                 "1.7976931348623157e+308",
                                 "1.7976931348623159e308",
                                 "1e400",
                                 "1e-400",
                                 "5e-324",
                                 "inf",
                                 "-inf",
                                 "nan",
                                 " 1",
                                 "1 ",
                                 "12345678",
                                 "123456789",
                                 "1234567.",
                                 ".1234567",
                                 ".12345678",
                                 "12345678.1234567",
                                 "12345678.12345678",
                                 "-1234567.12345678"})
    expect_same(text);
}

TEST(CsvDecimal, IsThatOfFromChars) {
  constexpr std::string_view kLetters = "0123456789012345678901234567890123456789..-eE+x \"\x80";
  Random random(1);
  char buffer[400];
  for (int k = 0; k < 300'000; ++k) {
    std::string text(random() % 28, ' ');
    for (char& c : text) c = kLetters[random() % kLetters.size()];
    expect_same(text);
    const auto bits = std::bit_cast<double>(random());
    const auto near = static_cast<double>(random() % 100'000'000'000) / (k % 3 == 0 ? 1000 : 7919.0);
    const auto digits = static_cast<int>(random() % 20);
    for (const double x : {bits, near, near * 1e-9, 1 / near, -near}) {
      expect_same({buffer, std::to_chars(buffer, buffer + sizeof buffer, x).ptr});
      expect_same(
          {buffer,
           std::to_chars(buffer, buffer + sizeof buffer, x, std::chars_format::scientific, digits).ptr});
      expect_same(
          {buffer, std::to_chars(buffer, buffer + sizeof buffer, x, std::chars_format::general, digits).ptr});
    }
  }
}

/// All lengths, points, signs and powers of ten.
TEST(CsvDecimal, DrawnDecimalsAreThoseOfFromChars) {
  Random random(2);
  for (int k = 0; k < 40'000; ++k) {
    for (std::uint64_t count = 1; count <= 22; ++count) {
      const std::string sign = random() % 2 == 0 ? "-" : "", digits = drawn_digits(random, count);
      const std::string pointed = std::string(digits).insert(random() % (count + 1), ".");
      const std::string power = std::to_string(static_cast<int>(random() % 80) - 40);
      EXPECT_EQ(expect_same(sign + digits), sign.size() + count <= 16 && count <= 15) << sign + digits;
      EXPECT_EQ(expect_same(sign + pointed), sign.size() + count <= 15) << sign + pointed;
      expect_same(sign + pointed + (random() % 2 == 0 ? "e" : "E") + power);
      expect_same(sign + digits + "e" + (random() % 2 == 0 ? "+" : "-") +
                  drawn_digits(random, 1 + random() % 3));
    }
  }
}

/// Numbers that lie halfway between two doubles, and their neighbours.
TEST(CsvDecimal, HalvesAreThoseOfFromChars) {
  Random random(3);
  const auto expect_near = [](std::uint64_t digits, std::size_t decimals, const std::string& power) {
    for (const std::uint64_t n : {digits - 1, digits, digits + 1}) {
      std::string text = std::to_string(n);
      if (decimals > 0) text.insert(text.size() - decimals, ".");
      expect_same(text + power);
      expect_same("-" + text + power);
    }
  };
  for (int k = 0; k < 30'000; ++k) {
    const std::uint64_t half = (random() | std::uint64_t{1} << 63) >> 10 | 1;  // odd, of 54 bits
    for (int shift = 0; shift < 10; ++shift) expect_near(half << shift, 0, "");
    std::uint64_t scaled = half;
    for (std::size_t decimals = 1; decimals <= 4; ++decimals) expect_near(scaled *= 5, decimals, "");
    std::uint64_t five = 1;
    for (int power = 1; power <= 22; ++power) {
      five *= 5;
      const std::uint64_t digits = half / five | 1;  // times five, odd, mostly of 54 bits
      expect_near(digits, 0, (power < 10 ? "e+0" : "e+") + std::to_string(power));
    }
  }
}

}  // namespace
}  // namespace fenchel::detail
