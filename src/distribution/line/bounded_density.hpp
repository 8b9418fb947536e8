#pragma once

#include "fenchel/core/function_ref.hpp"
#include "fenchel/domain/interval.hpp"

/// What densities on a bounded interval that have no closed forms share: quadrature and inversion.
namespace fenchel::detail {

/// The relative error that the integrals below ask for, and the one that they put up with: a density that is
/// infinite at the ends of its support is known no better than its distance from them.
inline constexpr double kBoundedAccuracy = 1e-12;
inline constexpr double kBoundedAccepted = 1e-7;

/// int f over the interval, in two parts if `cut` is in it. Throws ConvergenceError when the estimated error
/// exceeds kBoundedAccepted times int |f|.
[[nodiscard]] double bounded_integral(FunctionRef<double(double)> f, const Interval& interval, double cut);

/// -Omega_order of a density that is given by its logarithm and is largest at `centre`. Throws
/// std::domain_error unless order > 0, and as bounded_integral does.
[[nodiscard]] double bounded_tsallis_entropy(FunctionRef<double(double)> log_pdf, const Interval& support,
                                             double centre, double order);

struct ValueAndSlope {
  double value, slope;
};

/// The root of an increasing f in [lower, upper], by Newton steps from `start` that fall back to bisection;
/// the end where f has the wrong sign if there is none.
[[nodiscard]] double increasing_root(FunctionRef<ValueAndSlope(double)> f, double lower, double upper,
                                     double start);

}  // namespace fenchel::detail
