#pragma once

#include <cmath>

#include "backend/entmax/newton.hpp"
#include "core/lanes/lane_math.hpp"

/// E = exp_{2-alpha}(c d) = (1 + y)_+^{1/am1} and E^{1-am1} = E / (1 + y) of one number y = am1 c d, without
/// branches, for loops over lanes; y = -inf (or +inf for am1 < 0) gives 0.
namespace fenchel::detail {

template <class Real>
struct Powers {
  Real value, escort, second;
};

/// How small the last Newton step in log P must be for the linear finish of the solver to be below rounding:
/// its error is the step's square times E^{1 - 2 am1}, which is bounded for am1 <= 1/2. Beyond, and for a
/// crowd of scores close to the threshold, no step but one of rounding is small enough.
template <class Real>
FENCHEL_INLINE double last_step(double am1) noexcept {
  if constexpr (sizeof(Real) == 4) return second_is_bounded(am1) ? 1e-4 : 1e-6;
  return second_is_bounded(am1) ? 1e-8 : 0.0;
}

/// am1 = 1 / q for a small whole q: alpha = 2, 3/2, 4/3, 5/4. No exp, no log.
template <class Real, int q>
struct WholePower {
  static constexpr int kExponent = q;
  static constexpr bool kClosedForm = q <= 2;

  FENCHEL_INLINE Powers<Real> operator()(Real y) const noexcept {
    const Real base = y > -1 ? 1 + y : Real(0), one = y > -1 ? Real(1) : Real(0);
    if constexpr (q == 1) return {base, one, 0};
    if constexpr (q == 2) return {base * base, base, one};
    Real second = base;
    for (int k = 3; k < q; ++k) second *= base;
    return {second * base * base, second * base, second};
  }
  /// sum^{-am1}.
  [[nodiscard]] FENCHEL_INLINE double inverse_root(double sum) const noexcept {
    if constexpr (q == 1) return 1 / sum;
    if constexpr (q == 3) return 1 / std::cbrt(sum);
    return 1 / (q == 2 ? std::sqrt(sum) : std::sqrt(std::sqrt(sum)));
  }
  /// At alpha = 2 the mass is piecewise linear: the last step is one that stays on its piece.
  [[nodiscard]] FENCHEL_INLINE double last_step() const noexcept {
    return q == 1 ? 4 * std::numeric_limits<Real>::epsilon() : detail::last_step<Real>(1.0 / q);
  }
};

/// Any other am1 in (-1, 1], am1 not 0.
template <class Real>
struct GeneralPower {
  static constexpr bool kClosedForm = false;
  double am1;
  Real inverse_am1 = static_cast<Real>(1 / am1);

  FENCHEL_INLINE Powers<Real> operator()(Real y) const noexcept {
    const bool inside = y > -1;
    const Real safe = inside ? y : Real(0), inverse = 1 / (1 + safe);
    const Real e = inside ? exp_element(log1p_element(safe) * inverse_am1) : Real(0);
    return {e, e * inverse, e * inverse * inverse};
  }
  [[nodiscard]] FENCHEL_INLINE double inverse_root(double sum) const noexcept {
    return std::exp(-am1 * std::log(sum));
  }
  [[nodiscard]] FENCHEL_INLINE double last_step() const noexcept { return detail::last_step<Real>(am1); }
};

}  // namespace fenchel::detail
