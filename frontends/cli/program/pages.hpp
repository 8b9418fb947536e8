#pragma once

#include <string>

namespace CLI {
class App;
}

namespace fenchel::cli {

// Both are made of the program's own options and help texts, so that they cannot say anything else.

/// The manual page fenchel(1).
[[nodiscard]] std::string manual_page(const CLI::App& program);
/// A script for bash that completes commands, options, choices and, where files stand, their names.
[[nodiscard]] std::string bash_completion(const CLI::App& program);

}  // namespace fenchel::cli
