#pragma once

/// `fit_linear`: the density of a linear score with any statistics.

#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/line/numeric_density.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/domain/line.hpp"
#include "fenchel/estimate/fit/fit.hpp"
#include "fenchel/estimate/statistics/collect.hpp"
#include "fenchel/estimate/statistics/phi_moments.hpp"
#include "fenchel/score/linear_score.hpp"

namespace fenchel {

/// The density exp_{2-alpha}(theta . phi - A) on the line or an interval under which phi has the means of the
/// data [SCD22, Section 3.2], by Newton's method: the loss is convex in theta, its Hessian is the generalized
/// covariance of order 2 - alpha. Means agree to 1e-8 standard deviations of phi in the data; where phi
/// cancel, as t and t^2 far from 0, to their rounding.
///
/// `moments` are those of the same phi. The search begins at `start`, else at theta = 0 or the sum of all phi
/// that alone have a density.
///
/// Throws std::invalid_argument where numbers of phi and theta differ, std::domain_error where the data
/// weighs nothing, no density exists at the start, or the phi are collinear, and ConvergenceError where the
/// minimiser does not converge: so for means that no density has.
[[nodiscard]] FENCHEL_EXPORT Fit<NumericDensity> fit_linear_score(double alpha,
                                                                  std::vector<LinearScore::Statistic> phi,
                                                                  const Interval& domain,
                                                                  const PhiMoments& moments,
                                                                  const std::vector<double>& start = {});
[[nodiscard]] FENCHEL_EXPORT Fit<NumericDensity> fit_linear_score(double alpha,
                                                                  std::vector<LinearScore::Statistic> phi,
                                                                  Line, const PhiMoments& moments,
                                                                  const std::vector<double>& start = {});

/// The same from data, in one pass; DataError names an entry outside of the domain.
[[nodiscard]] FENCHEL_EXPORT Fit<NumericDensity> fit_linear_score(double alpha,
                                                                  std::vector<LinearScore::Statistic> phi,
                                                                  const Interval& domain, const Data& data,
                                                                  const std::vector<double>& start = {});

}  // namespace fenchel
