#pragma once

#include <cmath>
#include <limits>

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

/// The second derivatives of a row. With y = J g, x = J (w - w_alpha D), l = log p, differentiating
/// d(log_{2-alpha} p) = dz - dA twice gives the gradient J b with respect to the scores, where
///   s b = -y ((am1 - 1) x / p + l w_alpha),
/// and -sum y (l x / s + w_alpha D') - <J b, D - D_k> with respect to alpha, D' = dD/dalpha.
///
/// k is the column with the largest s. v is centred there, and with r = s / s_k, R = sum(r),
///   J v = s (v - v_k - mean),   mean = sum r (v - v_k) / R,   (J v)_k = -sum s (v - v_k) / R,
/// so that neither cancels where k has nearly all of the weight, and s_k is not needed. Past alpha = 2, where
/// s and 1 / p have no bound, s is in units of the largest s of the other columns, and s b in those of its
/// square over p_k.
struct SecondOrderRow {
  double am1, w_alpha;
  double ratio;               ///< of the unit of s to s_k
  double log_unit_p, unit_p;  ///< of the p whose s is the unit; of p_k
  double root_s, root_bend;   ///< the roots of the units of s and of s b

  /// next_p is the smallest p besides p_k for alpha > 2, or p_k where there is none.
  FENCHEL_HD static SecondOrderRow of(double am1, double w_alpha, double p_k, double next_p) noexcept {
    if (am1 <= 1) return {am1, w_alpha, std::exp(am1 * std::log(p_k)) / p_k, 0, 1, 1, 1};
    const double log_p_k = std::log(p_k), log_next = std::log(next_p), log_s = (1 - am1) * log_next;
    const double ratio = std::exp((1 - am1) * (log_next - log_p_k));
    return {am1,
            w_alpha,
            ratio,
            log_next,
            p_k,
            saturated(std::exp(log_s / 2)),
            saturated(std::exp(log_s - log_p_k / 2))};
  }
  /// s of a column other than k; r = ratio s.
  [[nodiscard]] FENCHEL_HD double s(double p, double l) const noexcept {
    return am1 <= 1 ? p * std::exp(-am1 * l) : std::exp((1 - am1) * (l - log_unit_p));
  }
  /// w - w_alpha D.
  [[nodiscard]] FENCHEL_HD double shifted(double w, double l) const noexcept {
    return w_alpha == 0 ? w : w - w_alpha * deformed_log_alpha_derivative<1>(am1, l);
  }
  /// s b.
  [[nodiscard]] FENCHEL_HD double bend(double p, double l, double y, double x) const noexcept {
    const double own = (am1 - 1) * x / (p / unit_p);
    return -y * (w_alpha == 0 ? own : own + l * w_alpha * (unit_p / root_s / root_s));
  }
  /// Its part of the gradient in alpha, but for <J b, D - D_k>, in the unit of s; `centred` is x / s.
  [[nodiscard]] FENCHEL_HD double along(double l, double y, double centred) const noexcept {
    const double own = l * centred;
    return -y * (w_alpha == 0 ? own : own + w_alpha * deformed_log_alpha_derivative<2>(am1, l));
  }
  /// What is in the unit of s b; saturates at +-largest.
  [[nodiscard]] FENCHEL_HD double in_numbers(double bend, double largest = kLargest) const noexcept {
    return saturated(bend * root_bend * root_bend, largest);
  }
  /// bend + own, which are in the units of s b and of s.
  [[nodiscard]] FENCHEL_HD double in_numbers_with(double own, double bend) const noexcept {
    return bend == 0 ? saturated(own * root_s * root_s) : in_numbers(bend + own * (unit_p / root_s / root_s));
  }

 private:
  static constexpr double kLargest = std::numeric_limits<double>::max();
  FENCHEL_HD static double saturated(double x, double largest = kLargest) noexcept {
    return x > largest ? largest : x < -largest ? -largest : x;
  }
};

}  // namespace fenchel::detail
