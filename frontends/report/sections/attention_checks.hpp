#pragma once

#include <vector>

#include "report/page.hpp"

namespace fenchel::report {

/// The laws of attention that the paper states.
[[nodiscard]] std::vector<Check> attention_checks();

}  // namespace fenchel::report
