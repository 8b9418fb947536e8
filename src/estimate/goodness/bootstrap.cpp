#include "fenchel/estimate/goodness/bootstrap.hpp"

#include <cmath>
#include <cstddef>

#include "fenchel/core/philox.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"

namespace fenchel {
namespace {

constexpr auto kWhere = "bootstrap";

double checked_level(const char* where, double level) {
  if (!(level > 0 && level < 1)) throw_domain_error(where, "level", "must be above 0 and below 1", level);
  return level;
}

/// (1 + the number of samples as far) / (1 + samples), but for rounding.
double p_value(double observed, const std::vector<Distances>& distances, double Distances::*which) {
  constexpr double kRounding = 1e-12;
  double far = 1;
  for (const Distances& of : distances) far += !(of.*which < observed * (1 - kRounding));
  return far / (1 + static_cast<double>(distances.size()));
}

/// Between neighbours in proportion, as NumPy's.
double sorted_quantile(const std::vector<double>& values, double u) {
  const double place = u * static_cast<double>(values.size() - 1);
  const auto i = static_cast<std::size_t>(place);
  const double share = place - static_cast<double>(i);
  if (share == 0 || values[i] == values[i + 1]) return values[i];
  return values[i] + share * (values[i + 1] - values[i]);
}

}  // namespace

ConfidenceIntervals wald_intervals(const Eigen::VectorXd& parameters, const Eigen::VectorXd& standard_errors,
                                   double level) {
  const double tail = (1 - checked_level("wald_intervals", level)) / 2;
  const double z = survival_quantile(BetaGaussian::gaussian(), tail);
  return {parameters - z * standard_errors, parameters + z * standard_errors};
}

ConfidenceIntervals percentile_intervals(const Bootstrap& replicates, double level) {
  const double tail = (1 - checked_level("percentile_intervals", level)) / 2;
  const Eigen::MatrixXd& fits = replicates.parameters;
  if (fits.rows() == 0)
    throw_invalid_argument("percentile_intervals", "replicates", "must have a fit", "none");
  ConfidenceIntervals found{Eigen::VectorXd(fits.cols()), Eigen::VectorXd(fits.cols())};
  for (index_t j = 0; j < fits.cols(); ++j) {
    std::vector<double> column(fits.col(j).begin(), fits.col(j).end());
    std::sort(column.begin(), column.end());
    found.lower[j] = sorted_quantile(column, tail);
    found.upper[j] = sorted_quantile(column, 1 - tail);
  }
  return found;
}

namespace detail {

index_t draws_of(const BootstrapOptions& options, double weight) {
  constexpr double kMost = 0x1p31;
  if (options.replicates < 1)
    throw_invalid_argument(kWhere, "replicates", "must be positive", options.replicates);
  if (!(weight >= 2 && weight <= kMost))
    throw_domain_error(kWhere, "the weight of all rows", "must be at least 2 and at most 2^31", weight);
  return static_cast<index_t>(std::round(weight));
}

std::uint64_t seed_of(const BootstrapOptions& options, index_t replicate) {
  return Philox(options.seed, static_cast<std::uint64_t>(replicate))();
}

Bootstrap bootstrap_of(const Distances& observed, const std::vector<Distances>& distances,
                       const std::vector<Eigen::VectorXd>& parameters) {
  if (parameters.empty())
    throw ConvergenceError("fenchel::bootstrap: no draws of the fit can be fitted again");
  Bootstrap found{{p_value(observed.kolmogorov_smirnov, distances, &Distances::kolmogorov_smirnov),
                   p_value(observed.anderson_darling, distances, &Distances::anderson_darling)},
                  Eigen::MatrixXd(static_cast<index_t>(parameters.size()), parameters.front().size()),
                  0};
  for (std::size_t k = 0; k < parameters.size(); ++k)
    found.parameters.row(static_cast<index_t>(k)) = parameters[k].transpose();
  return found;
}

}  // namespace detail
}  // namespace fenchel
