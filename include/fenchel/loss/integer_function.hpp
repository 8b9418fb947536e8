#pragma once

/// The losses of any score on the integers, the naturals or a range of them.

#include "fenchel/core/config.hpp"
#include "fenchel/loss/function.hpp"
#include "fenchel/loss/integers.hpp"
#include "fenchel/predict/integer_function.hpp"

namespace fenchel {
namespace detail {

[[nodiscard]] FENCHEL_EXPORT Loss<AlphaGradient> fenchel_young(const Tsallis& omega,
                                                               const IntegerFunctionPrediction& p,
                                                               const IntegerTarget& q);
[[nodiscard]] FENCHEL_EXPORT Loss<AlphaGradient> cross_omega(const Tsallis& omega,
                                                             const IntegerFunctionPrediction& p,
                                                             const IntegerTarget& q);

}  // namespace detail

/// Omega*(f) + Omega(q) - E_q[f], never negative, with its derivative with respect to alpha; +infinity where
/// q charges what f masks or what is not in the domain.
template <IntegerDomain Domain>
[[nodiscard]] Loss<AlphaGradient> fenchel_young(const Tsallis& omega, const FunctionScore& f,
                                                const Domain& domain, const IntegerTarget& q) {
  return detail::fenchel_young(omega, detail::predict_integer_function(omega, f, detail::as_range(domain)),
                               q);
}

/// Omega*(f) - E_q[f]: for a sample the mean over its values of their Fenchel-Young losses.
template <IntegerDomain Domain>
[[nodiscard]] Loss<AlphaGradient> cross_omega(const Tsallis& omega, const FunctionScore& f,
                                              const Domain& domain, const IntegerTarget& q) {
  return detail::cross_omega(omega, detail::predict_integer_function(omega, f, detail::as_range(domain)), q);
}

}  // namespace fenchel
