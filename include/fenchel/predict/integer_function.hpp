#pragma once

/// `predict` and the normaliser, for any score on the integers, the naturals or a range of them.

#include <concepts>
#include <functional>
#include <limits>

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/integers/integer_prediction.hpp"
#include "fenchel/distribution/integers/integer_table.hpp"
#include "fenchel/domain/integers.hpp"
#include "fenchel/predict/predict.hpp"
#include "fenchel/regularizer/tsallis.hpp"
#include "fenchel/score/function_score.hpp"

/// Predictions p = exp_{2-alpha}((f - A) / T) for any score f on integers [SCD22, Section 4.2; docs/math.md
/// 2], where f may be -infinity (masked) and have several maxima. f is scanned at 8 points in each octave of
/// the distance from 0: a narrower bump can be missed. For alpha > 1 f must fall below the threshold within
/// IntegerTable::kMostIntegers. For alpha <= 1 it must, beyond them or earlier, fall ever further and change
/// smoothly, so that the rest is an integral, and fast enough that p and E_p[f] exist. Throw
/// std::domain_error where f is NaN or +infinity, or does not fall so.
namespace fenchel {

template <class Domain>
concept IntegerDomain =
    std::same_as<Domain, Integers> || std::same_as<Domain, Naturals> || std::same_as<Domain, IntegerRange>;

namespace detail {

[[nodiscard]] constexpr IntegerRange as_range(Integers) noexcept {
  return {std::numeric_limits<index_t>::min(), std::numeric_limits<index_t>::max()};
}
[[nodiscard]] constexpr IntegerRange as_range(Naturals) noexcept {
  return {0, std::numeric_limits<index_t>::max()};
}
[[nodiscard]] constexpr IntegerRange as_range(IntegerRange range) noexcept { return range; }

/// A prediction of the score f / T, with f(mode) and T.
struct IntegerFunctionPrediction {
  IntegerPrediction prediction;
  double top, temperature;

  [[nodiscard]] double normalizer() const { return top + temperature * prediction.normalization.offset; }
  [[nodiscard]] double threshold() const { return top + temperature * prediction.normalization.threshold; }
};
[[nodiscard]] FENCHEL_EXPORT IntegerFunctionPrediction
predict_integer_function(const Tsallis& omega, std::function<double(double)> f, IntegerRange range);

}  // namespace detail

template <IntegerDomain Domain>
[[nodiscard]] IntegerTable predict(const Tsallis& omega, const FunctionScore& f, const Domain& domain) {
  return detail::predict_integer_function(omega, f, detail::as_range(domain)).prediction.table;
}

/// A and tau of p = exp_{2-alpha}((f - A) / T), which is positive where f > tau; tau is -inf at alpha = 1,
/// and below it a pole above all scores.
template <IntegerDomain Domain>
[[nodiscard]] double normalizer(const Tsallis& omega, const FunctionScore& f, const Domain& domain) {
  return detail::predict_integer_function(omega, f, detail::as_range(domain)).normalizer();
}
template <IntegerDomain Domain>
[[nodiscard]] double threshold(const Tsallis& omega, const FunctionScore& f, const Domain& domain) {
  return detail::predict_integer_function(omega, f, detail::as_range(domain)).threshold();
}

}  // namespace fenchel
