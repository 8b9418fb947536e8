#include "fenchel/data/number.hpp"

#include <algorithm>
#include <charconv>

#include "fenchel/core/index.hpp"

namespace fenchel {
namespace {

/// Whether a decimal that is not in the range of double is below it: whether the power of ten at its first
/// digit that is not 0 is negative.
bool is_below_range(std::string_view text) {
  const std::size_t mark = std::min(text.find_first_of("eE"), text.size());
  const auto place = [&](std::string_view of) {
    return static_cast<index_t>(std::min(text.substr(0, mark).find_first_of(of), mark));
  };
  std::string_view power = text.substr(std::min(mark + 1, text.size()));
  if (power.starts_with('+')) power.remove_prefix(1);
  index_t exponent = 0;
  const auto error = std::from_chars(power.data(), power.data() + power.size(), exponent).ec;
  if (error == std::errc::result_out_of_range) return power.starts_with('-');
  return exponent < place("123456789") - place(".");
}

}  // namespace

std::errc read_number(std::string_view text, double& value) noexcept {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (rest != end) return std::errc::invalid_argument;
  if (error != std::errc::result_out_of_range || !is_below_range(text)) return error;
  value = text.starts_with('-') ? -0.0 : 0.0;
  return {};
}

}  // namespace fenchel
