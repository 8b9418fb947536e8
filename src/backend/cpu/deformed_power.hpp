#pragma once

#include "backend/cpu/row_lanes.hpp"
#include "core/lane_math.hpp"

/// E = exp_{2-alpha}(c d) and E^{1 - am1} = E / (1 + am1 c d) in lanes, from y = am1 c d; -inf in y gives 0.
namespace fenchel::detail {

template <class Real>
struct EscortPair {
  Lanes<Real> value, escort;
};

/// A Newton step for log P this short is the last: the error after it is below rounding. At alpha = 2 the
/// mass is piecewise linear, and a step is the last one only when it stays on its piece.
template <class Real>
inline constexpr double kShortStep = sizeof(Real) == 4 ? 1e-6 : 1e-11;

/// am1 = 0.
template <class Real>
struct ExponentialPower {
  static constexpr double kLastStep = kShortStep<Real>;
  FENCHEL_INLINE EscortPair<Real> operator()(Lanes<Real> y) const noexcept {
    const Lanes<Real> e = exp_lanes<Real>(y);
    return {e, e};
  }
};

/// am1 = 1 / q for a small whole q: alpha = 2, 3/2, 4/3, 5/4. No exp, no log.
template <class Real, int q>
struct WholePower {
  static constexpr double kLastStep = q == 1 ? std::numeric_limits<Real>::epsilon() : kShortStep<Real>;
  FENCHEL_INLINE EscortPair<Real> operator()(Lanes<Real> y) const noexcept {
    const Lanes<Real> zero{};
    const Lanes<Real> base = y > Real(-1) ? 1 + y : zero;
    if constexpr (q == 1) return {base, base > 0 ? broadcast(Real(1)) : zero};
    Lanes<Real> escort = base;
    for (int k = 2; k < q; ++k) escort *= base;
    return {escort * base, escort};
  }
};

/// Any other am1 <= 1.
template <class Real>
struct GeneralPower {
  static constexpr double kLastStep = kShortStep<Real>;
  Real inverse_am1;

  FENCHEL_INLINE EscortPair<Real> operator()(Lanes<Real> y) const noexcept {
    const auto inside = y > Real(-1);
    const Lanes<Real> safe = inside ? y : Lanes<Real>{};
    const Lanes<Real> e = inside ? exp_lanes<Real>(log1p_lanes<Real>(safe) * inverse_am1) : Lanes<Real>{};
    return {e, e / (1 + safe)};
  }
};

}  // namespace fenchel::detail
