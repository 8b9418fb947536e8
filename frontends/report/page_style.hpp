#pragma once

#include <string>

namespace fenchel::report {

/// The CSS of the page, with that of its charts.
[[nodiscard]] std::string page_style();

}  // namespace fenchel::report
