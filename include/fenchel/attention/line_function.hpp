#pragma once

/// One function of a basis on the line, as quadrature sees it.

#include <functional>
#include <vector>

#include "fenchel/attention/basis.hpp"
#include "fenchel/attention/gaussian_basis.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel {

/// One function of a basis on the line, for quadrature.
struct LineFunction {
  std::function<double(double)> value;
  std::vector<double> cuts = {};  ///< where it changes quickly, or has a kink or a jump
};

/// psi_j of any basis. A view: psi must outlive it. A basis of yours may have its own overload.
template <LineBasis Psi>
[[nodiscard]] LineFunction line_function(const Psi& psi, index_t j) {
  return {[&psi, j](double t) { return evaluate(psi, t)[j]; }};
}
/// Its cuts are the mean and nine widths to both sides, beyond which nothing is left.
[[nodiscard]] FENCHEL_EXPORT LineFunction line_function(const GaussianBasis& psi, index_t j);

}  // namespace fenchel
