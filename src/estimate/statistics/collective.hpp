#pragma once

#include <Eigen/Core>

#include "fenchel/core/function_ref.hpp"
#include "fenchel/estimate/regression/minimize.hpp"
#include "fenchel/estimate/regression/objective.hpp"

/// What all processes do together for a fit by a linear model.
namespace fenchel::detail {

/// The means of a value and of `size` further numbers over all rows in all processes; `add` adds the sums
/// over a batch.
[[nodiscard]] ObjectiveSum collect_sums(const Data& data, index_t size,
                                        FunctionRef<void(Rows<const double>, PerRow, ObjectiveSum&)> add);

/// minimize, in all processes alike: a callback that cancels or throws in one does so in all.
[[nodiscard]] Minimum minimize_together(
    Processes& processes, FunctionRef<double(const Eigen::VectorXd& x, Eigen::VectorXd& gradient)> f,
    const Eigen::VectorXd& start, const MinimizeOptions& options);

}  // namespace fenchel::detail
