#include <algorithm>
#include <cmath>
#include <numbers>

#include "backend/cpu/attention_space.hpp"
#include "fenchel/core/gamma_ratio_derivatives.hpp"

/// The mixture of alpha < 1, a Student's t as Gaussians of random precision (MATH.md 5.4), and its limit
/// alpha = 1, one Gaussian. The trapezoidal rule in t = log zeta converges exponentially.
namespace fenchel::detail {
namespace {

constexpr index_t kG = kSpaceGroup;
constexpr double kRange = 45;        ///< the integrand is neglected from e^-45 of its maximum on
constexpr double kAgreement = 1e-7;  ///< of sums with steps h and 2h: the error is the square of that
constexpr int kMaxHalvings = 4;

/// zeta - 1 - log(zeta) for zeta = e^t, by its series where the difference cancels.
double order_exponent(double t) noexcept {
  if (std::abs(t) > 0.5) return std::expm1(t) - t;
  double sum = 1;
  for (int k = 16; k > 2; --k) sum = 1 + sum * t / k;
  return sum * t * t / 2;
}

/// One of the eight functions of a group.
class Function {
 public:
  Function(const SpaceDensity& p, const SpaceGroup& group, index_t lane) noexcept
      : p_(p), group_(group), lane_(lane) {}

  /// log of the integrand in t = log zeta.
  [[nodiscard]] double exponent(double t) const noexcept {
    const double zeta = std::exp(t);
    double sum = t + p_.n * order_exponent(t);
    for (index_t a = 0; a < group_.dimension; ++a) sum += log_term(a, zeta);
    return sum;
  }
  [[nodiscard]] double log_gaussian() const noexcept {
    double sum = 0;
    for (index_t a = 0; a < group_.dimension; ++a) sum += log_term(a, 1);
    return sum;
  }
  [[nodiscard]] double distance2() const noexcept {
    double sum = 0;
    for (index_t a = 0; a < group_.dimension; ++a) sum += e2(a);
    return sum;
  }

  void clear(Wanted wanted) const noexcept {
    if (group_.nodes != nullptr) group_.nodes->size[lane_] = 0;
    for (index_t row = 0; row < space_sums(group_.dimension, wanted); ++row) sum(row) = 0;
  }
  void scale(Wanted wanted, double factor) const noexcept {
    for (index_t i = 0; group_.nodes != nullptr && i < group_.nodes->size[lane_]; ++i) {
      group_.nodes->at(lane_, i).weight.re *= factor;
    }
    for (index_t row = 0; row < space_sums(group_.dimension, wanted); ++row) sum(row) *= factor;
  }

  /// Adds the node zeta = e^t; at t = 0 with n infinite that is all there is.
  void add(Wanted wanted, double t, double weight) const noexcept {
    const index_t d = group_.dimension;
    const double zeta = std::exp(t);
    sum(0) += weight;
    if (group_.nodes != nullptr)
      group_.nodes->at(lane_, group_.nodes->size[lane_]++) = {{zeta, 0}, {weight, 0}};
    if (wanted == Wanted::kValues) return;
    index_t cross = 1 + 2 * d;
    double g = 0, g1 = 0;
    for (index_t a = 0; a < d; ++a) {
      const double c = 1 / (1 + zeta * v(a)), cv = c * v(a);
      sum(1 + a) += weight * c;
      sum(1 + d + a) += weight * zeta * c;
      for (index_t b = 0; b <= a; ++b) sum(cross++) += weight * zeta * c / (1 + zeta * v(b));
      g -= cv / 2 + e2(a) * c * c;
      g1 += cv * cv / 2 + 2 * e2(a) * c * c * cv;
    }
    if (wanted != Wanted::kAlphaToo) return;
    const bool expand = std::abs(p_.n) >= kManyOrders;
    const double order =
        expand ? order_bracket(std::expm1(t), g, g1) : p_.n / 2 + p_.n * p_.n * order_exponent(t);
    sum(cross) += weight * (p_.log_peak_slope + p_.log_beta_slope * zeta * g -
                            p_.inverse_alpha2 * (order + p_.stirling_slope));
  }

  [[nodiscard]] bool keeps_nodes() const noexcept { return group_.nodes != nullptr; }
  [[nodiscard]] double& sum(index_t row) const noexcept { return group_.sums[row * kG + lane_]; }

 private:
  [[nodiscard]] double v(index_t a) const noexcept { return group_.v[a * kG + lane_]; }
  [[nodiscard]] double e2(index_t a) const noexcept { return group_.e2[a * kG + lane_]; }
  [[nodiscard]] double log_term(index_t a, double zeta) const noexcept {
    const double y = zeta * v(a);
    return -std::log1p(y) / 2 - zeta * e2(a) / (1 + y);
  }

  const SpaceDensity& p_;
  const SpaceGroup& group_;
  index_t lane_;
};

/// From here on a second maximum is too small to be seen.
constexpr double kOneMaximum = 1e3;
constexpr double kLogNothing = -800;

/// A maximum of the integrand between t = low and 0, by golden section.
double find_maximum(const Function& psi, double low) noexcept {
  constexpr double kGolden = 0.6180339887498949;
  double high = 0;
  for (int i = 0; i < 60; ++i) {
    const double step = kGolden * (high - low), left = high - step, right = low + step;
    const bool rises = psi.exponent(left) < psi.exponent(right);
    (rises ? low : high) = rises ? left : right;
  }
  return (low + high) / 2;
}

/// False when the rule does not converge. The integrand may have two maxima: near zeta = 1, and for a far
/// function near zeta = m / e2.
bool integrate_student(const SpaceDensity& p, const Function& psi, Wanted wanted) noexcept {
  const double m = -p.n, lowest = -std::log1p(psi.distance2() / (m + 1));
  const double place = m < kOneMaximum ? 0 : find_maximum(psi, lowest);
  const double known =
      m < kOneMaximum ? std::max(psi.exponent(0), psi.exponent(lowest)) : psi.exponent(place);
  if (!(std::abs(known) < 1e300)) return false;
  double right = 4 / std::sqrt(m + 1), left = right;
  if (m < kOneMaximum) {
    while (m * order_exponent(right) - right < kRange) right *= 1.1;
    while (-m * order_exponent(-left) - left > known - kRange) left *= 1.1;
  } else if (known + p.log_factor < kLogNothing) {
    psi.clear(wanted);
    return true;
  } else {
    while (psi.exponent(place + right) > known - kRange) right *= 1.1;
    while (psi.exponent(place - left) > known - kRange) left *= 1.1;
    right += place;
    left -= place;
  }

  double step = 1 / std::sqrt(25 + 2 * (m + 1)), top = known;
  for (double t = -left; t < right; t += step) top = std::max(top, psi.exponent(t));
  for (int halvings = 0; halvings <= kMaxHalvings; ++halvings, step /= 2) {
    psi.clear(wanted);
    double coarse = 0;
    const auto count = static_cast<index_t>((left + right) / step);
    if (psi.keeps_nodes() && count >= SpaceNodes::kMost) return false;
    for (index_t i = 0; i <= count; ++i) {
      const double t = static_cast<double>(i) * step - left, weight = std::exp(psi.exponent(t) - top);
      psi.add(wanted, t, weight);
      if (i % 2 == 0) coarse += weight;
    }
    if (std::abs(2 * coarse - psi.sum(0)) <= kAgreement * psi.sum(0)) {
      psi.scale(wanted, step * std::exp(p.log_factor + top));
      return true;
    }
  }
  return false;
}

/// log Gamma(n) less Stirling's (n - 1/2) log n - n + log(2 pi) / 2, n^2 times its derivative, and its second
/// derivative in 1 / n, by their series past 16 and recurrences before.
struct Stirling {
  double value, slope, curve;
};
Stirling stirling(double n) noexcept {
  constexpr double kReach = 16;
  double value = 0, slope = 0, bend = 0, y = n;
  for (; y < kReach; ++y) {
    value += (y + 0.5) * std::log1p(1 / y) - 1;
    slope += std::log1p(1 / y) - (y + 0.5) / (y * (y + 1));
    bend += 0.5 / (y * y * (y + 1) * (y + 1));
  }
  const double w = 1 / y, w2 = w * w, ratio = std::isinf(n) ? 1 : n / y;
  value += w * (1. / 12 + w2 * (-1. / 360 + w2 * (1. / 1260 + w2 * (-1. / 1680 + w2 / 1188))));
  const double series = -1. / 12 + w2 * (1. / 120 + w2 * (-1. / 252 + w2 * (1. / 240 - w2 / 132)));
  const double slope_n2 = ratio * ratio * series + (slope == 0 ? 0 : n * n * slope);
  // n^4 L'' + 2 n^3 L' for L the excess
  const double last = w * (-1. / 60 + w2 * (1. / 63 + w2 * (-1. / 40 + w2 * 2. / 33)));
  if (y == n) return {value, slope_n2, last};
  const double second = w2 * w2 * (last - 2 * w * y * y * series) + bend;
  return {value, slope_n2, n * n * n * n * second + 2 * n * slope_n2};
}

}  // namespace

SpaceDensity space_density(const BetaGaussianConstants& c) noexcept {
  const double am1 = c.am1, alpha = 1 + am1;
  const BetaGaussianAlphaDerivatives slopes = alpha_derivatives(c);
  const double n = std::isinf(am1) ? 1 : alpha / am1;
  const Stirling excess = stirling(std::abs(n));
  SpaceDensity p{};
  p.n = n;
  p.beta = am1 == 0 ? 1 / c.peak_power : 2 * n / c.radius2;
  p.log_factor = c.log_peak;
  if (am1 != 0)
    p.log_factor += std::log(std::abs(n) / (2 * std::numbers::pi)) / 2 + std::copysign(excess.value, n);
  p.log_peak_slope = slopes.log_peak;
  p.log_beta_slope = 1 / alpha - slopes.log_peak_power;
  p.inverse_alpha2 = 1 / (alpha * alpha);
  p.stirling_slope = excess.slope;
  if (std::isinf(am1)) return p;
  const double size = static_cast<double>(c.dimension), width = 2 + size * am1;
  p.log_peak_curve =
      2 * (log_gamma_ratio_derivatives(c.dimension, am1).second - size * slopes.log_peak) / width;
  p.log_beta_curve = -p.inverse_alpha2 - 2 * slopes.log_peak - am1 * p.log_peak_curve;
  p.stirling_curve = p.inverse_alpha2 * (p.inverse_alpha2 * std::copysign(excess.curve, n * excess.curve) +
                                         2 / alpha * excess.slope);
  return p;
}

void integrate_gaussian(const SpaceDensity& p, const SpaceGroup& group, Wanted wanted) noexcept {
  for (index_t lane = 0; lane < kG; ++lane) {
    const Function psi(p, group, lane);
    psi.clear(wanted);
    psi.add(wanted, 0, std::exp(p.log_factor + psi.log_gaussian()));
  }
}

bool integrate_mixture(const SpaceDensity& p, const SpaceGroup& group, Wanted wanted) noexcept {
  for (index_t lane = 0; lane < kG; ++lane) {
    if (!integrate_student(p, Function(p, group, lane), wanted)) return false;
  }
  return true;
}

}  // namespace fenchel::detail
