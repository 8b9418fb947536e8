#pragma once

/// `bootstrap`: p-values of distances and confidence intervals, by fits to draws of the fit.

#include <cstdint>
#include <stdexcept>
#include <vector>

#include <Eigen/Core>

#include "fenchel/core/config.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/data/rows_source.hpp"
#include "fenchel/estimate/fit/fit.hpp"
#include "fenchel/estimate/goodness/goodness.hpp"
#include "fenchel/estimate/statistics/collect.hpp"

namespace fenchel {

struct BootstrapOptions {
  index_t replicates = 999;
  std::uint64_t seed = 0;
  ProgressCallback progress = {};  ///< in replicates
};

/// The parametric bootstrap: the fitted distribution is drawn from, as often as there are rows, and fitted
/// again.
struct Bootstrap {
  /// The shares of samples, the data being one, that are as far from their fit as the data is: small where
  /// the data does not look like draws of the family [B. Efron, R. Tibshirani, An Introduction to the
  /// Bootstrap (1993), Chapter 16].
  Distances p_values;
  Eigen::MatrixXd parameters;  ///< a row for each fit
  index_t failed;              ///< replicates without a fit, which are left out
};

/// Of each parameter.
struct ConfidenceIntervals {
  Eigen::VectorXd lower, upper;
};

/// Estimate -+ z standard errors, z the quantile of the normal distribution at (1 + level) / 2. Throws
/// std::domain_error unless 0 < level < 1.
[[nodiscard]] FENCHEL_EXPORT ConfidenceIntervals wald_intervals(const Eigen::VectorXd& parameters,
                                                                const Eigen::VectorXd& standard_errors,
                                                                double level);
template <class P>
[[nodiscard]] ConfidenceIntervals wald_intervals(const Fit<P>& fit, double level) {
  return wald_intervals(fit.parameters, fit.standard_errors(), level);
}

/// Between the quantiles at (1 -+ level) / 2 of the fits to draws. Throws as above, and where there are none.
[[nodiscard]] FENCHEL_EXPORT ConfidenceIntervals percentile_intervals(const Bootstrap& replicates,
                                                                      double level);

namespace detail {
/// How many draws stand for the data; throws unless replicates is positive and the weight is that of 2 rows
/// at least and of 2^31 at most.
[[nodiscard]] FENCHEL_EXPORT index_t draws_of(const BootstrapOptions& options, double weight);
/// What the fit to one replicate gives; without parameters where there is none.
struct Replicate {
  Distances distances;
  Eigen::VectorXd parameters;
};
/// make(seed) for each replicate, on all threads.
[[nodiscard]] FENCHEL_EXPORT Bootstrap bootstrap_of(const Distances& observed,
                                                    const BootstrapOptions& options,
                                                    FunctionRef<Replicate(std::uint64_t)> make);
/// `p` was fitted to data of this weight.
template <class P, class Refit>
requires(LineDistribution<P> || TabulatedIntegers<P>) [[nodiscard]] Bootstrap
    bootstrap_of(const P& p, double weight, const Distances& observed, const Refit& refit,
                 const BootstrapOptions& options) {
  const index_t rows = draws_of(options, weight);
  return bootstrap_of(observed, options, [&](std::uint64_t seed) -> Replicate {
    const auto draws = sample(p, rows, seed);
    const std::vector<double> values(draws.begin(), draws.end());
    const RowsSource source({values.data(), rows, 1});
    try {
      const Fit<P> again = refit(Data{source});
      return {goodness(again, Data{source}).distances, again.parameters};
    } catch (const std::domain_error&) {  // no member of the family fits these draws
    } catch (const ConvergenceError&) {
    }
    return {};
  });
}
}  // namespace detail

/// `refit(data)` fits as the fit was made; it is called by several threads at once. The distances are those
/// that goodness found. Draws depend on the seed alone, not on threads. Throws Cancelled, and
/// ConvergenceError where no replicate has a fit.
template <class P, class Refit>
[[nodiscard]] Bootstrap bootstrap(const Fit<P>& fit, const Distances& observed, const Refit& refit,
                                  const BootstrapOptions& options) {
  return detail::bootstrap_of(fit.distribution, fit.weight, observed, refit, options);
}

}  // namespace fenchel
