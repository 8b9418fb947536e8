#pragma once

/// `predict` of `TotalVariation` for any score on the line or an interval, and its taut string.

#include <concepts>
#include <functional>
#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/distribution/line/numeric_density.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/domain/line.hpp"
#include "fenchel/predict/function.hpp"
#include "fenchel/predict/predict.hpp"
#include "fenchel/regularizer/total_variation.hpp"
#include "fenchel/score/even_score.hpp"

/// Continuous fusedmax for scores without closed form [SCD22, Section 7.1; docs/math.md 6.1]: p = [x - tau]_+
/// for the total variation prox x of f / T, whose string is taut in a tube of half width gamma around int f /
/// T.
namespace fenchel {

namespace detail {

/// A prediction with what the losses need: the threshold of f / T is top / T + threshold.
struct TotalVariationPrediction {
  NumericDensity density;
  double top, threshold;
  double total_variation;          ///< of the density
  std::vector<Interval> plateaus;  ///< where the density is constant and positive, in order
};
inline constexpr double kFusedAccuracy = 1e-8;
[[nodiscard]] FENCHEL_EXPORT TotalVariationPrediction predict_even(const TotalVariation& omega,
                                                                   const EvenScore& f);
[[nodiscard]] FENCHEL_EXPORT TotalVariationPrediction predict_numeric(const TotalVariation& omega,
                                                                      std::function<double(double)> f,
                                                                      const Interval& domain,
                                                                      double accuracy);
[[nodiscard]] FENCHEL_EXPORT double conjugate(const TotalVariation& omega, const TotalVariationPrediction& p);

}  // namespace detail

/// The plateau |t - mu| <= a with int_0^a h - a h(a) = gamma, beside it f / T - tau, up to |t - mu| = b with
/// mass one, by root finding. Throws std::domain_error where h is NaN or +infinity at a point it is asked
/// for, and where int (h / T - h(inf) / T) over [0, inf) is not above 1/2 + gamma: no prediction exists.
template <UnimodalEvenScore Score>
[[nodiscard]] NumericDensity predict(const TotalVariation& omega, const Score& f, Line) {
  return detail::predict_even(omega, f).density;
}

/// Any score, -infinity where it is masked. A finite interval has free ends; an infinite one is cut where f
/// is below tau and the flattened ends of the cut are too (docs/math.md E12). The string is solved on cells
/// that shrink to rounding at the ends of its plateaus; with twice as many cells the density must agree to
/// `accuracy` times its peak, else ConvergenceError. gamma = 0 is Tsallis(2); errors as there.
template <CallableScore Score, LineOrInterval Domain>
[[nodiscard]] NumericDensity predict(const TotalVariation& omega, const Score& f, const Domain& domain,
                                     double accuracy) {
  if (omega.gamma() == 0) return predict(Tsallis(2, omega.temperature()), f, domain, accuracy);
  return detail::predict_numeric(omega, f, detail::as_interval(domain), accuracy).density;
}
template <CallableScore Score, LineOrInterval Domain>
[[nodiscard]] NumericDensity predict(const TotalVariation& omega, const Score& f, const Domain& domain) {
  if (omega.gamma() == 0) return predict(Tsallis(2, omega.temperature()), f, domain);
  return detail::predict_numeric(omega, f, detail::as_interval(domain), detail::kFusedAccuracy).density;
}

/// Omega*(f) = T (1/2 + tau + (1/2) int p^2), tau the threshold of f / T.
template <UnimodalEvenScore Score>
[[nodiscard]] double conjugate(const TotalVariation& omega, const Score& f, Line) {
  return detail::conjugate(omega, detail::predict_even(omega, f));
}
template <CallableScore Score, LineOrInterval Domain>
[[nodiscard]] double conjugate(const TotalVariation& omega, const Score& f, const Domain& domain) {
  return detail::conjugate(
      omega, detail::predict_numeric(omega, f, detail::as_interval(domain), detail::kFusedAccuracy));
}

/// The taut string of a score on a finite interval, for drawing: F(t) = int f / T from the lower end, the
/// tube F -+ gamma (tied to F at both ends), and the string in it, whose slope is the prox. On the plateaus
/// it is straight; elsewhere it lies on the tube.
struct TautString {
  std::vector<double> t, lower, upper, string;
  std::vector<Interval> plateaus;
};
namespace detail {
[[nodiscard]] FENCHEL_EXPORT TautString taut_string(const TotalVariation& omega,
                                                    FunctionRef<double(double)> f, const Interval& domain,
                                                    index_t cells);
}

/// At the cells + 1 ends of equal cells, exact for their averages. Throws std::invalid_argument unless there
/// is a cell, std::domain_error unless the interval has a finite width and f is finite.
template <std::invocable<double> Score>
[[nodiscard]] TautString taut_string(const TotalVariation& omega, const Score& f, const Interval& domain,
                                     index_t cells) {
  return detail::taut_string(omega, f, domain, cells);
}

}  // namespace fenchel
