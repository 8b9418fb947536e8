#pragma once

#include <string_view>

namespace fenchel::report {

/// The bytes of experiments/results/NAME, of those that CMakeLists.txt embeds; empty for any other.
[[nodiscard]] std::string_view recorded_file(std::string_view name);

}  // namespace fenchel::report
