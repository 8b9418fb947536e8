#pragma once

#include <string>
#include <string_view>

namespace fenchel::report {

/// A formula as a <math> element of MathML Core, which browsers draw without a library. The language is a
/// part of TeX: letters, numbers, operators, x_{i}^{2}, x', {groups}, \frac, \sqrt, \hat, \tilde, \bar,
/// \text, functions such as \log, and the symbols of the table in mathml.cpp. Throws std::invalid_argument
/// where the formula has anything else.
[[nodiscard]] std::string mathml(std::string_view tex);

}  // namespace fenchel::report
