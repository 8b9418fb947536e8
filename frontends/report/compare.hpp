#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

#include "report/page.hpp"

namespace fenchel::report {

/// A formula of the paper, in its words, beside ours: `reference` is its value.
[[nodiscard]] inline Check compare(std::string claim, std::string paper, double reference, double ours,
                                   double tolerance) {
  return {std::move(claim),
          std::move(paper),
          fmt::format("{:.7g}", reference),
          fmt::format("{:.7g}", ours),
          std::abs(ours - reference) / std::abs(reference),
          tolerance,
          "relative"};
}

/// A law, in the words of the paper where it states it, by what means it was tried, and how far it is missed
/// where it is missed most.
[[nodiscard]] inline Check law(std::string claim, std::string paper, std::string reference, double worst,
                               double tolerance, std::string unit = "") {
  return {std::move(claim),
          std::move(paper),
          std::move(reference),
          worst <= tolerance ? "agrees" : "differs",
          worst,
          tolerance,
          std::move(unit)};
}

}  // namespace fenchel::report
