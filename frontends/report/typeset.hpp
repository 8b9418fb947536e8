#pragma once

#include <string>

namespace fenchel::report {

/// HTML as it is printed in books: formulas of TeX between dollars become MathML, -0.5 gets a true
/// minus, 1.1e-16 becomes a power of ten. Tags and entities stay as they are.
[[nodiscard]] std::string typeset(const std::string& html);

}  // namespace fenchel::report
