#pragma once

#include <vector>

#include "predict/numeric/score_panels.hpp"

namespace fenchel::detail {

/// A run of p > 0 between cells of a grid.
struct GridRun {
  std::size_t stretch;
  double lower, upper;
  bool at_start, at_end;  ///< of the stretch
};
struct GridObstacle {
  double tau;
  std::vector<GridRun> runs;
};

/// The obstacle problem p >= 0, p - gamma p'' >= f - tau with mass one by finite volumes: for each tau the
/// tridiagonal active set, and Newton's iteration on tau, in which the mass is convex.
[[nodiscard]] GridObstacle solve_obstacle(const ScorePanels& score, double gamma, int cells_per_panel);

}  // namespace fenchel::detail
