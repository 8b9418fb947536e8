#pragma once

/// `read_number`: a number from its text, as tables and options have it.

#include <string_view>
#include <system_error>

#include "fenchel/core/config.hpp"

namespace fenchel {

/// Reads all of a text as std::from_chars does, correctly rounded, whatever the locale; what is too small for
/// a double is 0 of its sign. std::errc::result_out_of_range for what is too large, invalid_argument for what
/// is no number.
[[nodiscard]] FENCHEL_EXPORT std::errc read_number(std::string_view text, double& value) noexcept;

}  // namespace fenchel
