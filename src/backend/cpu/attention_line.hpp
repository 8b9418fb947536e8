#pragma once

#include <numbers>

#include "backend/cpu/attention_row.hpp"

/// The ways to a row on the line, one for each range of alpha; attend_line_row chooses.
namespace fenchel::detail {

inline constexpr double kInverseRootTwoPi = 1 / (std::numbers::sqrt2 / std::numbers::inv_sqrtpi);

/// alpha = 1.
void attend_gaussian_row(const DensityRow& p, const LineFunctions& psi, Wanted wanted,
                         RowBlocks out) noexcept;
/// alpha < 1 but not close to it: Student's law as a mixture of Gaussians over its precision.
void attend_student_row(const DensityRow& p, const LineFunctions& psi, Wanted wanted, Accuracy accuracy,
                        RowBlocks out) noexcept;
/// Closer to 1 than this alpha - 1 the density is a correction to the Gaussian.
inline constexpr double kNearOne = 1.0 / 512;

}  // namespace fenchel::detail
