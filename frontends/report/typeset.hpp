#pragma once

#include <string>

namespace fenchel::report {

/// HTML with its numbers as they are printed in books: -0.5 with a true minus, 1.1e-16 as a power of ten.
/// Tags and entities stay as they are.
[[nodiscard]] std::string typeset(const std::string& html);

}  // namespace fenchel::report
