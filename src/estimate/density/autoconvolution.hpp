#pragma once

#include <array>
#include <vector>

#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// K * K of the kernel of radius 1 on R^n, alpha > 1, as a function of u = |t| in [0, 2] (docs/math.md 10.4):
/// (1 - u^2/4)^{2/(alpha - 1) + (n + 1)/2} times a smooth function, which is tabulated by Chebyshev
/// interpolation.
class Autoconvolution {
 public:
  Autoconvolution(index_t n, double alpha);
  [[nodiscard]] double operator()(double u) const noexcept;

 private:
  static constexpr std::size_t kNodes = 14;
  double power_;
  std::vector<double> ends_;  ///< of the pieces, from 0 to 2
  std::vector<std::array<double, kNodes>> pieces_;
};

/// The same on the line for alpha = 1 + 1/s: the coefficients of a polynomial in 1 - u/2, of degree 4 s + 1.
[[nodiscard]] std::vector<double> autoconvolution_polynomial(int s);

}  // namespace fenchel::detail
