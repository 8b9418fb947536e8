#pragma once

#include "backend/attention/line_density.hpp"
#include "backend/cpu/attention/gauss_rules.hpp"
#include "backend/cpu/attention/row.hpp"
#include "core/lanes/lanes.hpp"

/// The ways to a row on the line, one for each range of alpha; attend_line_row chooses.
namespace fenchel::detail {

/// alpha = 1, in the caller's order.
void attend_gaussian_row(const DensityRow& p, const LineFunctions& psi, Wanted wanted,
                         RowBlocks out) noexcept;
/// Any other alpha, by nodes that the functions of a range share. False where too many were needed, and for
/// derivatives in alpha.
[[nodiscard]] bool attend_gauss_range(const DensityRow& p, const LineFunctions& psi,
                                      const LineFunctions::Range& range, Wanted wanted, Accuracy accuracy,
                                      GaussRules& rules, RowBlocks out) noexcept;
[[nodiscard]] bool attend_student_range(const DensityRow& p, const LineFunctions& psi,
                                        const LineFunctions::Range& range, Wanted wanted, Accuracy accuracy,
                                        RowBlocks out) noexcept;
/// alpha < 1 but not close to it, functions [begin, end): Student's law as a mixture of Gaussians over its
/// precision.
void attend_student_mixture(const DensityRow& p, const LineFunctions& psi, index_t begin, index_t end,
                            Wanted wanted, Accuracy accuracy, RowBlocks out) noexcept;

}  // namespace fenchel::detail
