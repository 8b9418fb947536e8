#pragma once

#include <cmath>

#include "backend/attention/wanted.hpp"
#include "fenchel/core/beta_gaussian.hpp"
#include "fenchel/core/infinity.hpp"

/// A density on the line as the integrals of line_integral.hpp take it.
namespace fenchel::detail {

/// What a row needs to know of its density.
struct LineDensity {
  double mu, a, s;
  double precision;       ///< of the Gaussian that p gives away: 2 c / a^2
  double peak;            ///< p(mu)
  double inverse_a2;      ///< am1 / (2 e^z sigma2): negative for alpha < 1
  double pull;            ///< 2 s / a^2: -p'/p = pull y / (1 - q)
  double inverse_spread;  ///< a function is narrow when its width is below the spread of p
  double gap;   ///< 1 where p' is infinite at the ends of the support, which must be out of reach; else -1
  double drop;  ///< of the Gaussian where it is cut
  double sigma2_rate;                                                ///< d/dsigma2 = E[y psi'] sigma2_rate
  double log_a_rate, log_shape_rate, log_peak_rate, log_power_rate;  ///< with alpha
};

/// Closer to 1 than this alpha - 1 the density is a correction to the Gaussian.
inline constexpr double kNearOne = 1.0 / 512;

/// Below this s the ends of the support are felt.
inline constexpr double kSmoothPower = 6;

/// Where the Gaussian is cut, it has fallen by e^-drop: in a float and in a double. Less leaves out what
/// counts, more spreads the nodes too thin; the errors below are the largest of values above 1e-30 of the
/// function's peak, for widths from 1e-4 to 1e3 of the density's.
struct LineDrop {
  double single, full;
};
/// s = 1, 2, 3, and s past 1 / kNearOne.
inline constexpr LineDrop kWholeDrop{23, 42}, kNearDrop{24, 48};
/// s from kSmoothPower on, where p is small at the Gaussian's largest value: in a float 1e-6 at 24, 2e-9 from
/// 32 to 40, 2e-8 at 46; in a double 2e-11 at 36, 2e-13 from 42 to 64, 3e-12 at 72.
inline constexpr LineDrop kSmoothDrop{36, 54};
/// Smaller s that are not whole: in a float 5e-6 at 24, 1e-6 at 28, 5e-6 at 32; in a double 7e-12 at 40,
/// 8e-13 from 46 to 54, 1e-11 at 64.
inline constexpr LineDrop kEdgeDrop{28, 50};

/// Which function of q = y^2 / a^2 the density is.
enum class LineKind { kParabola, kBiweight, kTriweight, kEdge, kNear };

[[nodiscard]] FENCHEL_HD inline LineKind line_kind(double am1, Wanted wanted) noexcept {
  if ((am1 < 0 ? -am1 : am1) < kNearOne) return LineKind::kNear;
  if (alpha_too(wanted)) return LineKind::kEdge;
  if (am1 == 1) return LineKind::kParabola;
  if (am1 == 0.5) return LineKind::kBiweight;
  return am1 == 4.0 / 3 - 1 ? LineKind::kTriweight : LineKind::kEdge;
}

/// For am1 > -kNearOne that is not 0, kind = line_kind(am1, wanted).
[[nodiscard]] FENCHEL_HD inline LineDensity line_density(const BetaGaussianConstants& c, double mu,
                                                         double sigma2, LineKind kind, Wanted wanted,
                                                         bool single) noexcept {
  const double am1 = c.am1;
  LineDensity law{};
  law.mu = mu;
  law.peak = std::exp(c.log_peak);
  law.s = 1 / am1;
  law.sigma2_rate = 1 / ((2 + am1) * sigma2);
  if (alpha_too(wanted)) {
    const BetaGaussianPeakSlopes rates = peak_slopes(c);
    law.log_peak_rate = rates.log_peak;
    law.log_power_rate = rates.log_peak_power;
  }
  law.a = am1 > 0 ? std::sqrt(c.radius2 * sigma2) : kInfinity;
  if (kind == LineKind::kNear) {
    law.precision = 1 / (c.peak_power * sigma2);
    law.inverse_a2 = 0.5 * am1 * law.precision;
    law.pull = law.precision;
    law.drop = single ? kNearDrop.single : kNearDrop.full;
  } else {
    law.inverse_a2 = 1 / (law.a * law.a);
    law.pull = 2 * law.s * law.inverse_a2;
    law.precision = law.s >= kSmoothPower ? law.pull : 0;
    const LineDrop drop = kind != LineKind::kEdge ? LineDrop{kWholeDrop}
                          : law.s >= kSmoothPower ? LineDrop{kSmoothDrop}
                                                  : LineDrop{kEdgeDrop};
    law.drop = single ? drop.single : drop.full;
    if (!std::isinf(am1)) {
      law.log_a_rate = (law.log_power_rate - law.s) / 2;
      law.log_shape_rate = law.log_peak_rate + law.log_a_rate;
    }
  }
  law.gap = am1 > 1 ? 1 : -1;
  law.inverse_spread = std::sqrt(law.pull + (am1 > 0 ? 1 / (law.a * law.a) : 0));
  return law;
}

}  // namespace fenchel::detail
