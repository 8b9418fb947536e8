#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

#include "report/page.hpp"

namespace fenchel::report {

/// A number of the paper beside ours, with their relative difference.
[[nodiscard]] inline Check compare(std::string claim, double paper, double ours, double tolerance) {
  return {std::move(claim),
          fmt::format("{:.7g}", paper),
          fmt::format("{:.7g}", ours),
          std::abs(ours - paper) / std::abs(paper),
          tolerance,
          "relative"};
}

/// A law that the paper states, and how far it is missed where it is missed most.
[[nodiscard]] inline Check law(std::string claim, std::string paper, double worst, double tolerance,
                               std::string unit = "") {
  return {std::move(claim), std::move(paper), worst <= tolerance ? "agrees" : "differs", worst,
          tolerance,        std::move(unit)};
}

}  // namespace fenchel::report
