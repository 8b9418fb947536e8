#pragma once

/// `predict` of `Sobolev` for any score on the line or an interval.

#include <functional>

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/line/numeric_density.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/domain/line.hpp"
#include "fenchel/predict/function.hpp"
#include "fenchel/predict/predict.hpp"
#include "fenchel/regularizer/sobolev.hpp"
#include "fenchel/score/even_score.hpp"

/// Smooth sparsemax for scores without closed form [SCD22, Section 7.2; docs/math.md 6.2]: where p > 0 it
/// solves p - gamma p'' = f / T - tau, and it reaches 0 with p' = 0.
namespace fenchel {

namespace detail {

/// A prediction with what the losses need: the threshold of f / T is top / T + threshold.
struct SobolevPrediction {
  NumericDensity density;
  double top, threshold;
  double roughness;  ///< int p'^2
};
inline constexpr double kSmoothAccuracy = 1e-8;
[[nodiscard]] FENCHEL_EXPORT SobolevPrediction predict_even(const Sobolev& omega, const EvenScore& f);
[[nodiscard]] FENCHEL_EXPORT SobolevPrediction predict_numeric(const Sobolev& omega,
                                                               const std::function<double(double)>& f,
                                                               const Interval& domain, double accuracy);
[[nodiscard]] FENCHEL_EXPORT double conjugate(const Sobolev& omega, const SobolevPrediction& p,
                                              const std::function<double(double)>& f);

}  // namespace detail

/// On |t - mu| < b, the b of int_0^b (h / T - tau) cosh(t / sqrt(gamma)) dt = 0 with tau from mass one.
/// Throws std::domain_error where h is NaN or +infinity at a point it is asked for, and where int (h / T -
/// h(inf) / T) over [0, inf) is not above 1/2: no prediction exists.
template <UnimodalEvenScore Score>
[[nodiscard]] NumericDensity predict(const Sobolev& omega, const Score& f, Line) {
  return detail::predict_even(omega, f).density;
}

/// Any score, -infinity where it is masked: there p = 0. At the ends of a finite interval p' = 0; an infinite
/// one is cut where f is below tau and p = 0. The runs of p > 0 come from the obstacle problem on a grid,
/// their ends from Newton's iteration, p from Green's function; a grid twice as fine must agree to `accuracy`
/// times the peak, else ConvergenceError. gamma = 0 is Tsallis(2); errors as there.
template <CallableScore Score, LineOrInterval Domain>
[[nodiscard]] NumericDensity predict(const Sobolev& omega, const Score& f, const Domain& domain,
                                     double accuracy) {
  if (omega.gamma() == 0) return predict(Tsallis(2, omega.temperature()), f, domain, accuracy);
  return detail::predict_numeric(omega, f, detail::as_interval(domain), accuracy).density;
}
template <CallableScore Score, LineOrInterval Domain>
[[nodiscard]] NumericDensity predict(const Sobolev& omega, const Score& f, const Domain& domain) {
  if (omega.gamma() == 0) return predict(Tsallis(2, omega.temperature()), f, domain);
  return detail::predict_numeric(omega, f, detail::as_interval(domain), detail::kSmoothAccuracy).density;
}

/// Omega*(f) = T (1 + tau) / 2 + E_p[f] / 2, tau the threshold of f / T.
template <UnimodalEvenScore Score>
[[nodiscard]] double conjugate(const Sobolev& omega, const Score& f, Line) {
  return detail::conjugate(omega, detail::predict_even(omega, f), f);
}
template <CallableScore Score, LineOrInterval Domain>
[[nodiscard]] double conjugate(const Sobolev& omega, const Score& f, const Domain& domain) {
  return detail::conjugate(
      omega, detail::predict_numeric(omega, f, detail::as_interval(domain), detail::kSmoothAccuracy), f);
}

}  // namespace fenchel
