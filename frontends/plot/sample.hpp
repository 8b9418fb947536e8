#pragma once

#include <functional>
#include <optional>

#include "plot/mark.hpp"

namespace fenchel::plot {

/// y = f(x) so densely that straight lines between the points look like it: where f bends or jumps, points
/// stand closer, down to a hundredth of a pixel. Lengths in y are measured by `y`, or by what f takes without
/// it.
[[nodiscard]] Path sample_curve(const std::function<double(double)>& f, Range x,
                                const std::optional<Range>& y);

}  // namespace fenchel::plot
