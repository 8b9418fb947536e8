#include "fenchel/estimate/goodness/goodness.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string_view>

#include "estimate/goodness/count_window.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel {
namespace {

/// Standard errors are those of large samples: fewer rows than that many for each parameter, in R^N for each
/// column, and where alpha or kappa is estimated, which fourth moments decide, are called few.
constexpr double kRowsOfParameter = 10, kRowsOfShape = 200;
/// Kolmogorov's distribution is above it once in 100 samples, for a distribution that was known before; for a
/// fitted one more seldom [N. Smirnov, Ann. Math. Statist. 19 (1948)].
constexpr double kOnceInHundred = 1.628;
/// Smaller distances are not worth a word, however large the data is.
constexpr double kNoticeable = 0.02;

std::string six(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", x);
  return text;
}
std::string two(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", x);
  return text;
}
std::string rows_text(double rows) { return six(rows) + (rows == 1 ? " row" : " rows"); }

bool is_shape(std::string_view name) { return name == "alpha" || name == "kappa"; }
/// The parameters that are positive, for which an error of their size says that nothing is known.
bool is_positive(std::string_view name) {
  return is_shape(name) || name == "gamma" || name == "sigma2" || name == "sigma" || name == "b";
}

void warn_of_support(const detail::FitSummary& fit, const FitScores& scores,
                     std::vector<std::string>& warnings) {
  const double outside = scores.outside(), weight = scores.weight();
  if (!(outside > 0)) return;
  warnings.push_back(six(outside) + " of " + rows_text(weight) + " (" + two(100 * outside / weight) +
                     (outside == 1 ? "%) lies" : "%) lie") + " outside of the support" +
                     (fit.support.empty() ? "" : " " + fit.support) +
                     " of the fit, where the density is 0: the log-likelihood is -inf");
}

void warn_of_errors(const detail::FitSummary& fit, std::vector<std::string>& warnings) {
  for (std::size_t k = 0; k < fit.names.size(); ++k) {
    const std::string& name = fit.names[k];
    const double estimate = fit.parameters[static_cast<index_t>(k)],
                 error = fit.standard_errors[static_cast<index_t>(k)];
    if (name == "alpha" && std::isinf(estimate)) {
      warnings.emplace_back(
          "alpha is at the end of its range, infinity: the data is as flat as a uniform distribution, or "
          "flatter");
      return;
    }
    if (std::isnan(error) || std::isinf(error))
      warnings.push_back(name +
                         " has no standard error: the fitted distribution lacks a moment that it needs");
    else if (is_positive(name) && error > estimate)
      warnings.push_back("the standard error of " + name + ", " + two(error) +
                         ", is larger than the estimate, " + two(estimate) +
                         ": the data does not determine it");
  }
}

void warn_of_size(const detail::FitSummary& fit, double weight, std::vector<std::string>& warnings) {
  const bool shape = std::any_of(fit.names.begin(), fit.names.end(), is_shape);
  const auto parameters = static_cast<double>(fit.columns > 1 ? 2 * fit.columns : fit.parameters.size());
  const double needed = std::max(kRowsOfParameter * parameters, shape ? kRowsOfShape : 0);
  if (weight < needed)
    warnings.push_back(rows_text(weight) + (weight == 1 ? " is" : " are") + " fewer than the " + six(needed) +
                       " that standard errors need");
}

void warn_of_distance(double distance, double weight, std::vector<std::string>& warnings) {
  const double critical = kOnceInHundred / std::sqrt(weight);
  if (!(distance > critical && distance > kNoticeable)) return;
  warnings.push_back("the data does not look like draws of the fit: the Kolmogorov-Smirnov distance is " +
                     two(distance) + ", and of 100 such samples one is farther than " + two(critical));
}

}  // namespace

namespace detail {

std::string interval_text(double lower, double upper) {
  if (std::isinf(lower) && std::isinf(upper)) return "";
  return "[" + six(lower) + ", " + six(upper) + "]";
}

std::string interval_text(index_t first, index_t last) {
  using Limits = std::numeric_limits<index_t>;
  return interval_text(first == Limits::min() ? -kInfinity : static_cast<double>(first),
                       last == Limits::max() ? kInfinity : static_cast<double>(last));
}

Goodness goodness_of(const FitSummary& fit, const FitScores& scores, const Distances& distances) {
  const auto parameters = static_cast<double>(fit.parameters.size());
  const double weight = scores.weight(), deviance = -2 * scores.log_likelihood();
  Goodness found{weight,
                 scores.outside(),
                 scores.log_likelihood(),
                 scores.log_likelihood_inside(),
                 2 * parameters + deviance,
                 std::log(weight) * parameters + deviance,
                 fit.loss,
                 scores.ranked(),
                 distances,
                 {}};
  warn_of_support(fit, scores, found.warnings);
  warn_of_errors(fit, found.warnings);
  warn_of_size(fit, weight, found.warnings);
  warn_of_distance(distances.kolmogorov_smirnov, weight, found.warnings);
  return found;
}

Distances count_distances(const IntegerTable& p, const CountHistogram& counts) {
  const std::vector<index_t> values = counts.values();
  const std::vector<double> weights = counts.weights();
  const double total = counts.weight();
  if (values.empty()) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    return {kNone, kNone};
  }
  Distances found{0, 0};
  DoubleDouble below;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const index_t t = values[i];
    const double before = (below / total).value();
    below += weights[i];
    found.kolmogorov_smirnov = std::max({found.kolmogorov_smirnov, std::abs(before - cdf(p, t - 1)),
                                         std::abs((below / total).value() - cdf(p, t))});
    if (log_pmf(p, t) == -kInfinity) found.anderson_darling = kInfinity;
  }
  if (found.anderson_darling == kInfinity) return found;
  const CountWindow window(p);
  below = 0;
  std::size_t next = 0;
  double sum = 0;
  for (std::size_t i = 0; i < window.below.size(); ++i) {
    const index_t k = window.first + static_cast<index_t>(i);
    for (; next < values.size() && values[next] <= k; ++next) below += weights[next];
    const double under = window.below[i], over = window.above[i];
    // Differences of the smaller sides, so that both tails keep their accuracy.
    const double apart =
        under < over ? (below / total).value() - under : over - ((total - below) / total).value();
    if (under > 0 && over > 0) sum += apart * apart / under / over * pmf(p, k);
  }
  found.anderson_darling = total * sum;
  return found;
}

}  // namespace detail
}  // namespace fenchel
