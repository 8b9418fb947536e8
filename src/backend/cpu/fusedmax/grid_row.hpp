#pragma once

#include "backend/cpu/fusedmax/chain_checks.hpp"
#include "core/scratch.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// Memory for one image, in the layout of GridLayout.
struct GridScratch {
  double *score, *right, *down, *balance, *limit, *left;
  index_t *region, *label, *arc, *nodes, *order, *path, *ends;
};

/// Images are kept with a row of pixels that do not exist above and below, and a column of them to the right:
/// the neighbours of every pixel are then at the same distances.
struct GridLayout {
  index_t height, width;

  [[nodiscard]] index_t stride() const noexcept { return width + 1; }
  [[nodiscard]] index_t cells() const noexcept { return (height + 2) * stride(); }
  [[nodiscard]] index_t at(index_t pixel) const noexcept {
    return (pixel / width + 1) * stride() + pixel % width;
  }
  [[nodiscard]] std::size_t scratch_size() const noexcept {
    return 6 * scratch_bytes<double>(cells()) + 7 * scratch_bytes<index_t>(cells());
  }
  [[nodiscard]] GridScratch take_scratch(WorkerScratch& memory) const noexcept {
    const auto doubles = [&] { return memory.take<double>(cells()); };
    const auto indices = [&] { return memory.take<index_t>(cells()); };
    return {doubles(), doubles(), doubles(), doubles(), doubles(), doubles(), indices(),
            indices(), indices(), indices(), indices(), indices(), indices()};
  }
};

/// fusedmax of one image, p may be the scores.
template <class Real>
MappedRow fusedmax_grid_row(const Real* scores, const GridLayout& layout, double gamma,
                            const GridScratch& scratch, Real* p) noexcept;

extern template MappedRow fusedmax_grid_row(const float*, const GridLayout&, double, const GridScratch&,
                                            float*) noexcept;
extern template MappedRow fusedmax_grid_row(const double*, const GridLayout&, double, const GridScratch&,
                                            double*) noexcept;

}  // namespace fenchel::detail
