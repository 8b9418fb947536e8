#include "fenchel/loss/quadratic.hpp"

#include <cmath>

#include "core/beta_gaussian/conjugate.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel {
namespace {

constexpr double kInf = kInfinity;

/// T loss(f / T) from the loss of f / T, whose sigma2 is T times that of f.
Loss<QuadraticGradient> at_temperature(double temperature, const Loss<QuadraticGradient>& loss) {
  const QuadraticGradient& g = loss.gradient;
  return {temperature * loss.value,
          {temperature * g.mu, temperature * temperature * g.sigma2, temperature * g.alpha}};
}

/// log(a / b), with its own relative accuracy as a -> b.
double log_ratio(double a, double b) {
  const double ratio = a / b;
  if (ratio > 0.5 && ratio < 2) return std::log1p((a - b) / b);
  return std::isnormal(ratio) ? std::log(ratio) : std::log(a) - std::log(b);
}

}  // namespace

std::array<std::array<double, 2>, 2> fenchel_young_hessian(const Tsallis& omega, const QuadraticScore& f,
                                                           Line) {
  const BetaGaussian p = predict(omega, f, Line());
  const double mu = p.mu(), sigma2 = p.sigma2(), width = 2 + p.constants().am1;
  // int p^{2-alpha} times the escort variances of t - mu and (t - mu)^2 are sigma2 and 4 v sigma2^2 / (2 +
  // am1).
  const double square = 4 * p.constants().variance_factor * sigma2 * sigma2 / width + 4 * mu * mu * sigma2;
  const double t = omega.temperature();
  return {{{sigma2 / t, 2 * mu * sigma2 / t}, {2 * mu * sigma2 / t, square / t}}};
}

Loss<QuadraticGradient> fenchel_young(const Tsallis& omega, const QuadraticScore& f, Line,
                                      const BetaGaussian& q) {
  const BetaGaussian p = predict(omega, f, Line());
  // An infinite alpha predicts unit intervals alone.
  if (q.alpha() != p.alpha() || (std::isinf(q.alpha()) && q.constants().log_peak != 0))
    return detail::quadratic_loss(omega, f, mean(q), variance(q),
                                  detail::target_negentropy(q, omega.alpha()));
  const double am1 = p.constants().am1, d = q.mu() - p.mu(), v = q.constants().variance_factor;
  const double s = log_ratio(q.sigma2(), p.sigma2());
  const double c = std::isinf(am1) ? 1 : am1 / (2 + am1);  // v_p = v_q e^{c s}
  const double distance2 = d * (d / p.sigma2()), scale_gap = std::expm1(c * s) - std::expm1(s);
  return at_temperature(omega.temperature(),
                        {(distance2 + v * detail::scale_divergence(1, am1, s)) / 2,
                         {-d / p.sigma2(), (v * scale_gap - distance2) / (2 * p.sigma2()),
                          detail::conjugate_alpha_derivative(p.constants()) -
                              detail::conjugate_alpha_derivative(q.constants())}});
}

namespace detail {

Loss<QuadraticGradient> quadratic_loss(const Tsallis& omega, const QuadraticScore& f, double mean,
                                       double variance, TargetNegentropy target) {
  const BetaGaussian p = predict(omega, f, Line());
  const double d = mean - p.mu(), sigma2 = p.sigma2(), square = variance / sigma2 + d * (d / sigma2);
  return at_temperature(
      omega.temperature(),
      {std::isinf(square) ? kInf : detail::beta_gaussian_conjugate(p.constants()) + target.value + square / 2,
       {-d / sigma2, (p.constants().variance_factor - square) / (2 * sigma2),
        detail::conjugate_alpha_derivative(p.constants()) + target.alpha_derivative}});
}

}  // namespace detail
}  // namespace fenchel
