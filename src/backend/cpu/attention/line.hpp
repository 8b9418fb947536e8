#pragma once

#include "backend/attention/line_density.hpp"
#include "backend/cpu/attention/row.hpp"
#include "core/lanes/lanes.hpp"

/// The ways to a row on the line, one for each range of alpha; attend_line_row chooses.
namespace fenchel::detail {

/// alpha = 1.
void attend_gaussian_row(const DensityRow& p, const LineFunctions& psi, Wanted wanted,
                         RowBlocks out) noexcept;
/// alpha < 1 but not close to it: Student's law as a mixture of Gaussians over its precision.
void attend_student_row(const DensityRow& p, const LineFunctions& psi, Wanted wanted, Accuracy accuracy,
                        RowBlocks out) noexcept;

}  // namespace fenchel::detail
