#include "report/typeset.hpp"

#include <cstddef>
#include <stdexcept>
#include <string_view>

#include "report/mathml.hpp"

namespace fenchel::report {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }
bool in_word(char c) { return digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// The length of "e-16" at the start of `text`, 0 if it is no exponent.
std::size_t exponent(std::string_view text) {
  if (text.size() < 3 || text[0] != 'e' || (text[1] != '-' && text[1] != '+')) return 0;
  std::size_t end = 2;
  while (end < text.size() && digit(text[end])) ++end;
  return end > 2 ? end : 0;
}

std::string power_of_ten(std::string_view exponent) {
  constexpr const char* kRaised[] = {"\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
                                     "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
  std::string out = "10";
  if (exponent[1] == '-') out += "\u207b";
  std::string_view digits = exponent.substr(2);
  while (digits.size() > 1 && digits[0] == '0') digits.remove_prefix(1);
  for (const char c : digits) out += kRaised[c - '0'];
  return out;
}

std::string with_numbers(std::string_view text) {
  std::string out;
  std::size_t number = 0;  // where the last number starts in `out`
  bool tag = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i], before = i > 0 ? text[i - 1] : ' ';
    if (c == '<') tag = true;
    if (!tag && digit(c) && !digit(before) && before != '.') number = out.size();
    const std::size_t length = !tag && digit(before) ? exponent(text.substr(i)) : 0;
    if (length > 0) {
      if (out.substr(number) == "1") {
        out.resize(number);
      } else {
        out += "\u2009\u00d7\u2009";
      }
      out += power_of_ten(text.substr(i, length));
      i += length - 1;
    } else if (!tag && c == '-' && !in_word(before) && i + 1 < text.size() && digit(text[i + 1])) {
      out += "\u2212";
    } else {
      out += c;
    }
    if (c == '>') tag = false;
  }
  return out;
}

}  // namespace

std::string typeset(const std::string& html) {
  std::string_view rest = html;
  std::string out;
  for (std::size_t opening = rest.find('$'); opening != std::string_view::npos; opening = rest.find('$')) {
    const std::size_t closing = rest.find('$', opening + 1);
    if (closing == std::string_view::npos)
      throw std::invalid_argument("fenchel::report::typeset: a formula must end with $, got " + html);
    out += with_numbers(rest.substr(0, opening)) + mathml(rest.substr(opening + 1, closing - opening - 1));
    rest.remove_prefix(closing + 1);
  }
  return out + with_numbers(rest);
}

}  // namespace fenchel::report
