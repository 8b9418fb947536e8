#include "fenchel/estimate/goodness/bootstrap.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <exception>
#include <utility>

#include "fenchel/core/parallel.hpp"
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

/// Each depends on its number alone. They are whole calls of the library, which run on one thread then.
std::vector<detail::Replicate> replicates(std::uint64_t seed, index_t first, index_t count,
                                          FunctionRef<detail::Replicate(std::uint64_t)> make) {
  std::vector<detail::Replicate> made(static_cast<std::size_t>(count));
  std::vector<std::exception_ptr> errors(made.size());
  const int workers = static_cast<int>(std::min<index_t>(num_threads(), count));
  parallel_rows(count, workers, [&](index_t begin, index_t end, int) noexcept {
    for (index_t k = begin; k < end; ++k) {
      const auto i = static_cast<std::size_t>(k);
      try {
        made[i] = make(Philox(seed, static_cast<std::uint64_t>(first + k))());
      } catch (...) {
        errors[i] = std::current_exception();
      }
    }
  });
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
  return made;
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

Bootstrap bootstrap_of(const Distances& observed, const BootstrapOptions& options,
                       FunctionRef<Replicate(std::uint64_t)> make) {
  std::vector<Distances> distances;
  std::vector<Eigen::VectorXd> parameters;
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kRound{
      100};  // at least, so that progress is told and starting is cheap
  index_t most = num_threads();
  for (index_t first = 0, count = 0; first < options.replicates; first += count) {
    const Clock::time_point started = Clock::now();
    count = std::min(most, options.replicates - first);
    for (Replicate& made : replicates(options.seed, first, count, make)) {
      if (made.parameters.size() == 0) continue;
      distances.push_back(made.distances);
      parameters.push_back(std::move(made.parameters));
    }
    if (Clock::now() - started < kRound) most *= 2;
    if (options.progress && !options.progress({first + count, options.replicates}))
      throw Cancelled("fenchel::bootstrap: cancelled");
  }
  if (parameters.empty())
    throw ConvergenceError("fenchel::bootstrap: no draws of the fit can be fitted again");
  const auto fits = static_cast<index_t>(parameters.size());
  Bootstrap found{{p_value(observed.kolmogorov_smirnov, distances, &Distances::kolmogorov_smirnov),
                   p_value(observed.anderson_darling, distances, &Distances::anderson_darling)},
                  Eigen::MatrixXd(fits, parameters.front().size()),
                  options.replicates - fits};
  for (index_t k = 0; k < fits; ++k)
    found.parameters.row(k) = parameters[static_cast<std::size_t>(k)].transpose();
  return found;
}

}  // namespace detail
}  // namespace fenchel
