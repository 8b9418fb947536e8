#pragma once

#include <vector>

#include "fenchel/core/rows.hpp"

/// Vectors as batches of one row.
namespace fenchel::testing {

template <class Real>
Rows<const Real> row(const std::vector<Real>& x) {
  return {x.data(), 1, static_cast<index_t>(x.size())};
}
template <class Real>
Rows<Real> out(std::vector<Real>& x) {
  return {x.data(), 1, static_cast<index_t>(x.size())};
}

}  // namespace fenchel::testing
