#pragma once

#include "backend/attention/wanted.hpp"
#include "backend/cpu/attention/line_functions.hpp"
#include "fenchel/backend/cpu/attention.hpp"
#include "fenchel/core/beta_gaussian.hpp"

/// The seam of continuous attention: the expectations of all functions under one density, with their
/// derivatives. All that is asked for in bulk is made of such rows.
namespace fenchel::detail {

/// p = peak (1 - q / radius2)_+^{1/am1} on R^D.
struct DensityRow {
  BetaGaussianConstants constants;
  const double* mu;     ///< D numbers
  const double* scale;  ///< Sigma, D x D
};

/// A row has blocks of N numbers, `pitch` apart: r_j; d r_j / d mu_a for each a; d r_j / d Sigma_ab for a >=
/// b, in the order (0, 0), (1, 0), (1, 1), (2, 0), ..., as the entry G_ab of the symmetric G of dr = Tr(G
/// dSigma); d r_j / d alpha at fixed mu and Sigma; and last d r_j / d V_j. That in the mean is -d r_j / d mu.
struct RowBlocks {
  double* data;
  index_t pitch;
  [[nodiscard]] double* operator[](index_t block) const noexcept { return data + block * pitch; }
};
[[nodiscard]] constexpr index_t block_count(index_t dimension, Wanted wanted) noexcept {
  if (wanted == Wanted::kValues) return 1;
  return 1 + dimension + dimension * (dimension + 1) / 2 + (alpha_too(wanted) ? 1 : 0) +
         (basis_too(wanted) ? 1 : 0);
}

/// visit(a, b, block) for the blocks of Sigma_ab, a >= b.
template <class Visit>
void for_each_entry(index_t dimension, const Visit& visit) noexcept {
  index_t block = 1 + dimension;
  for (index_t a = 0; a < dimension; ++a) {
    for (index_t b = 0; b <= a; ++b) visit(a, b, block++);
  }
}

/// D = 1. Writes whole blocks: out.pitch >= psi.whole_size(). `sorted` has psi.sorted_size(...) numbers.
void attend_line_row(const DensityRow& p, const LineFunctions& psi, Wanted wanted, Accuracy accuracy,
                     double* sorted, RowBlocks out) noexcept;

/// D >= 2, with `scratch` of space_scratch(D) numbers. False where a result would not be accurate.
[[nodiscard]] index_t space_scratch(index_t dimension) noexcept;
[[nodiscard]] bool attend_space_row(const DensityRow& p, const cpu::GaussianFunctions& psi, Wanted wanted,
                                    Accuracy accuracy, double* scratch, RowBlocks out) noexcept;

}  // namespace fenchel::detail
