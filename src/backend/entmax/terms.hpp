#pragma once

#include <cmath>

#include "fenchel/core/config.hpp"
#include "fenchel/core/deformed_derivatives.hpp"

/// One column's part in the derivatives of entmax (fenchel/backend/cpu/entmax_derivatives.hpp), for CPU and
/// GPU.
namespace fenchel::detail {

/// D = d/dalpha log_{2-alpha}(p), 0 off the support: a change of alpha acts like a change of the scores by
/// -D.
FENCHEL_HD inline double alpha_direction(double alpha, double p) noexcept {
  return p == 0 ? 0.0 : deformed_log_alpha_derivative<1>(alpha - 1, std::log(p));
}

/// A column of the second derivatives. With y = J g, x = J (w - w_alpha D), l = log p, differentiating
/// d(log_{2-alpha} p) = dz - dA twice gives the gradient J b with respect to the scores, where
///   s b = -y ((am1 - 1) x / p + l w_alpha),
/// and -sum y (l x / s + w_alpha D') - <J b, D> with respect to alpha, D' = dD/dalpha.
struct SecondOrderTerm {
  double am1, w_alpha, p, l, s;

  FENCHEL_HD static SecondOrderTerm of(double am1, double w_alpha, double p) noexcept {
    const double l = std::log(p);
    return {am1, w_alpha, p, l, p == 0 ? 0.0 : std::exp((1 - am1) * l)};
  }
  /// w - w_alpha D.
  [[nodiscard]] FENCHEL_HD double shifted(double w) const noexcept {
    if (p == 0) return 0;
    return w_alpha == 0 ? w : w - w_alpha * deformed_log_alpha_derivative<1>(am1, l);
  }
  /// s b.
  [[nodiscard]] FENCHEL_HD double bend(double y, double x) const noexcept {
    return y * -((am1 - 1) * x / p + l * w_alpha);
  }
  /// Its part of the gradient in alpha, but for <J b, D>.
  [[nodiscard]] FENCHEL_HD double along(double y, double x) const noexcept {
    const double own = l * x / s;
    return y * (w_alpha == 0 ? own : own + w_alpha * deformed_log_alpha_derivative<2>(am1, l));
  }
};

}  // namespace fenchel::detail
