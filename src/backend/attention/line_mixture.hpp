#pragma once

#include <cmath>
#include <limits>

#include "backend/attention/line_math.hpp"
#include "core/lanes/lane_math.hpp"
#include "fenchel/core/beta_gaussian.hpp"

/// E_p[psi] on the line as one Gaussian or a mixture of them: alpha = 1, and Student's law, alpha < 1.
namespace fenchel::detail {

/// What is summed over the nodes of a mixture, for one function: r, its derivatives in mu and in log of the
/// density's variance, in alpha by the weights of the nodes, and in the variance of the function, twice.
struct MixtureTerms {
  double value, slope, stretch, alpha, bend;
};

/// alpha = 1: p psi is a Gaussian in y, N(d; 0, v) with v = sigma2 + sigma_j^2 times one of mean m and
/// variance omega^2. d log p / dalpha = d log peak + G dz - G^2 / 2, G = y^2 / (2 sigma2). Here `stretch` is
/// the derivative in sigma2, and half of `bend`.
FENCHEL_INLINE MixtureTerms gaussian_terms(double d, double sigma2, double width,
                                           const BetaGaussianPeakSlopes& rates) noexcept {
  const double variance = width * width, inverse = 1 / (sigma2 + variance);
  const double pull = bounded(d * inverse, kLargestSquared);
  const double r = kInverseRootTwoPi * std::sqrt(inverse) * exp_element(-0.5 * d * pull);
  const double m2 = bounded(d * pull * sigma2 * inverse, kLargestSquared),
               omega2 = variance * inverse;  // over sigma2
  const double square = m2 + omega2, fourth = m2 * m2 + 6 * m2 * omega2 + 3 * omega2 * omega2;
  const double curve = r * (pull * pull - inverse);
  return {r, r * pull, 0.5 * curve,
          r * (rates.log_peak + 0.5 * square * rates.log_peak_power - 0.125 * fourth), curve};
}

/// Student's law (docs/math.md 5.4, 7.5): with nu = 2/(1 - alpha) - 1,
///   rho = int chi2_nu(g) N(d; 0, T(g) + sigma_j^2) dg,   T = |radius2| sigma2 / g,
/// by the trapezoidal rule in x = log(g / nu), where chi2_nu is exp(-nu/2 (e^x - 1 - x)) up to a constant.
/// The rule converges exponentially; the weights are divided by their sum.
struct StudentRule {
  static constexpr double kLeastSize2 = 1e-300;  ///< far below any function's square

  double nu, size2;  ///< size2 is |radius2| sigma2, or kLeastSize2 where that is smaller
  double lower, step;
  index_t count;

  /// For functions up to `farthest` from mu.
  FENCHEL_HD StudentRule(const BetaGaussianConstants& c, double sigma2, double farthest, bool single) noexcept
      : nu(-2 / c.am1 - 1), size2(larger(-c.radius2 * sigma2, kLeastSize2)) {
    // The peak moves down by log(1 + d^2 / size2) for a function at distance d. Beyond e^80 sizes a result is
    // too small, but also below 1e-30 of the function's peak.
    const double fall = 2 * (single ? 18 : 40) / nu, root = std::sqrt(2 * fall);
    const double shift = smaller(smaller(2 * std::log1p(farthest / std::sqrt(size2)), 1500 / nu), 160.0);
    // The rule errs by |Gamma(nu/2 + 1/2 + 2 pi i / step)| / Gamma(nu/2 + 1/2): below 1e-8, or 1e-15.
    step = smaller(single ? 0.35 : 0.18, (single ? 0.75 : 0.5) * std::sqrt(2 / (nu + 1)));
    // e^x - 1 - x exceeds `fall` beyond these ends, but for the shift.
    lower = -fall - smaller(1.0, root) - shift;
    count = static_cast<index_t>(std::ceil((std::log1p(fall + root) - lower) / step)) + 1;
  }
  [[nodiscard]] FENCHEL_HD double place(index_t i) const noexcept {
    return lower + step * static_cast<double>(i);
  }
  [[nodiscard]] FENCHEL_HD double mass(double x) const noexcept {
    return std::exp(-0.5 * nu * (std::expm1(x) - x));
  }
  [[nodiscard]] FENCHEL_HD double spread(double x) const noexcept { return size2 / nu * std::exp(-x); }
};

/// How T moves with the parameters: d log T / d sigma2, times |radius2| sigma2 / size2 of the rule, and d log
/// T / d alpha; and half of dnu / dalpha.
struct StudentRates {
  double sigma2, alpha, nu;
  FENCHEL_HD StudentRates(const BetaGaussianConstants& c, double scale, bool in_alpha) noexcept
      : sigma2(-c.radius2 * scale > StudentRule::kLeastSize2
                   ? 2 / ((2 + c.am1) * scale)
                   : -2 * c.radius2 / ((2 + c.am1) * StudentRule::kLeastSize2)),
        alpha(in_alpha ? peak_slopes(c).log_peak_power - 1 / c.am1 : 0),
        nu(1 / (c.am1 * c.am1)) {}
};

/// A node of spread T and weight w over sqrt(2 pi), whose relative change with alpha is `rate`.
FENCHEL_INLINE MixtureTerms student_terms(double d, double variance, double spread, double weight,
                                          double rate) noexcept {
  const double half = 0.5 * smaller(spread, std::numeric_limits<double>::max());
  const double inverse = 1 / (spread + variance), pull = bounded(d * inverse, kLargestSquared);
  const double r = weight * std::sqrt(inverse) * exp_element(-0.5 * d * pull);
  const double curve = pull * pull - inverse;
  return {r, r * pull, r * half * curve, r * rate, r * curve};
}

}  // namespace fenchel::detail
