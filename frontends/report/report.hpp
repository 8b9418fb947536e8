#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "report/page.hpp"

namespace fenchel::report {

struct FigureFile {
  std::string name, content;
};

struct Report {
  std::string html;
  std::vector<FigureFile> figures;
};

/// Told before each section; may throw to stop.
using SectionProgress = std::function<void(std::size_t done, std::size_t total, const std::string& title)>;

/// The paper, computed, with what experiments recorded: the same bytes every time.
[[nodiscard]] Report make_report(const SectionProgress& progress);

}  // namespace fenchel::report
