#pragma once

#include <string>

#include "backend/cpu/fusedmax/chain_checks.hpp"
#include "backend/cpu/fusedmax/grid_row.hpp"

namespace fenchel::detail {

/// The layout of the images in the rows of a view, which is checked together with gamma.
template <class Real>
GridLayout checked_grid(std::string_view where, std::string_view name, Rows<const Real> view, index_t height,
                        PerRow gamma) {
  check_view(where, name, view);
  if (height < 1) throw_invalid_argument(where, "height", "must be positive", height);
  if (view.cols % height != 0) {
    throw_invalid_argument(
        where, "height", "must divide " + std::string(name) + ".cols = " + std::to_string(view.cols), height);
  }
  check_gamma(where, gamma, view.rows);
  return {height, view.cols / height};
}

/// Calls body(u, v) for every pair of neighbours, u before v.
template <class Body>
void for_edges(const GridLayout& grid, const Body& body) noexcept {
  for (index_t u = 0; u < grid.height * grid.width; ++u) {
    if ((u + 1) % grid.width != 0) body(u, u + 1);
    if (u + grid.width < grid.height * grid.width) body(u, u + grid.width);
  }
}

}  // namespace fenchel::detail
