#include "fenchel/estimate/goodness/bootstrap.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "fenchel/core/parallel.hpp"
#include "fenchel/distribution/integers/sparse_poisson.hpp"
#include "fenchel/estimate/fit/beta_gaussian.hpp"
#include "fenchel/estimate/fit/beta_laplace.hpp"
#include "fenchel/estimate/fit/sparse_poisson.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::message_of;

Rows<const double> column(const std::vector<double>& values) {
  return {values.data(), static_cast<index_t>(values.size()), 1};
}
Fit<BetaGaussian> fit_gaussian(const Data& data) {
  return fit_beta_gaussian(1, collect(data, LineMoments()));
}
Bootstrap gaussian_bootstrap(const std::vector<double>& values, const BootstrapOptions& options) {
  const RowsSource source(column(values));
  const Fit<BetaGaussian> fit = fit_gaussian({source});
  return bootstrap(fit, goodness(fit, {source}).distances, fit_gaussian, options);
}

TEST(Bootstrap, TheSeedAloneDecides) {
  const std::vector<double> values = sample(BetaGaussian::gaussian(3, 4), 200, 1);
  set_num_threads(1);
  const Bootstrap one = gaussian_bootstrap(values, {.replicates = 50, .seed = 7});
  set_num_threads(3);
  const Bootstrap again = gaussian_bootstrap(values, {.replicates = 50, .seed = 7});
  set_num_threads(0);
  EXPECT_EQ(one.parameters, again.parameters);
  EXPECT_EQ(one.p_values.anderson_darling, again.p_values.anderson_darling);
  EXPECT_NE(one.parameters, gaussian_bootstrap(values, {.replicates = 50, .seed = 8}).parameters);
}

// With estimated mean and variance the modified A^2 of a Gaussian is above 0.752 in 5 of 100 samples and
// above 0.631 in 10 [R. D'Agostino, M. Stephens, Goodness-of-Fit Techniques (1986), Table 4.7].
TEST(Bootstrap, PValuesAreThoseOfStephensTable) {
  const std::vector<double> values = sample(BetaGaussian::gaussian(0, 1), 100, 11);
  const RowsSource source(column(values));
  const Fit<BetaGaussian> fit = fit_gaussian({source});
  const double modified = 1 + 0.75 / 100 + 2.25 / 100 / 100;
  const auto p_value = [&](double statistic) {
    const Distances observed{0.1, statistic / modified};
    return bootstrap(fit, observed, fit_gaussian, {.replicates = 3999, .seed = 1}).p_values.anderson_darling;
  };
  EXPECT_NEAR(p_value(0.752), 0.05, 0.012);
  EXPECT_NEAR(p_value(0.631), 0.1, 0.016);
}

TEST(Bootstrap, RefusesDrawsOfAnotherFamily) {
  std::vector<double> bent = sample(BetaGaussian::gaussian(0, 1), 300, 2);
  for (double& t : bent) t = std::exp(t / 2);
  const Bootstrap found = gaussian_bootstrap(bent, {.replicates = 99});
  EXPECT_DOUBLE_EQ(found.p_values.kolmogorov_smirnov, 0.01);
  EXPECT_DOUBLE_EQ(found.p_values.anderson_darling, 0.01);
  EXPECT_EQ(found.failed, 0);
}

TEST(Bootstrap, CountsAreDrawnToo) {
  const std::vector<index_t> draws = sample(SparsePoisson(1.5, 9), 300, 3);
  const std::vector<double> values(draws.begin(), draws.end());
  const CountHistogram counts = CountHistogram::of(values);
  const auto refit = [](const Data& data) {
    return fit_sparse_poisson(1.5, collect(data, CountHistogram()));
  };
  const Fit<SparsePoisson> fit = fit_sparse_poisson(1.5, counts);
  const Bootstrap found = bootstrap(fit, goodness(fit, counts).distances, refit, {.replicates = 200});
  EXPECT_GT(found.p_values.anderson_darling, 0.02);
  const ConfidenceIntervals wald = wald_intervals(fit, 0.9), percentile = percentile_intervals(found, 0.9);
  EXPECT_NEAR(percentile.lower[0], wald.lower[0], 0.3 * (wald.upper[0] - wald.lower[0]));
  EXPECT_NEAR(percentile.upper[0], wald.upper[0], 0.3 * (wald.upper[0] - wald.lower[0]));
}

// norm.ppf(0.975) of SciPy, and numpy.quantile([1, 2, 4, 8], [0.1, 0.9]).
TEST(Bootstrap, IntervalsAreThoseOfTheNormalAndOfTheQuantiles) {
  const Fit<BetaGaussian> fit = fit_beta_gaussian(1, LineMoments::of(std::vector<double>{1, 2, 3, 4}));
  const ConfidenceIntervals wald = wald_intervals(fit, 0.95);
  EXPECT_NEAR(wald.upper[0], 2.5 + 1.959963984540054 * std::sqrt(1.25 / 4), 1e-14);
  EXPECT_NEAR(wald.lower[0] + wald.upper[0], 5, 1e-14);
  Bootstrap four{{}, Eigen::Vector4d(4, 1, 8, 2), 0};
  EXPECT_NEAR(percentile_intervals(four, 0.8).lower[0], 1.3, 1e-14);
  EXPECT_NEAR(percentile_intervals(four, 0.8).upper[0], 6.8, 1e-14);
}

TEST(Bootstrap, SaysWhatItCannotDo) {
  const std::vector<double> values{1, 2, 5, 7};
  EXPECT_EQ(message_of<std::invalid_argument>(
                [&] { static_cast<void>(gaussian_bootstrap(values, {.replicates = 0})); }),
            "fenchel::bootstrap: replicates must be positive, got 0");
  EXPECT_EQ(message_of<std::domain_error>(
                [&] { static_cast<void>(wald_intervals(fit_beta_gaussian(1, LineMoments::of(values)), 1)); }),
            "fenchel::wald_intervals: level must be above 0 and below 1, got 1");
  EXPECT_EQ(message_of<Cancelled>([&] {
              static_cast<void>(gaussian_bootstrap(
                  values, {.replicates = 9, .progress = [](const Progress& at) { return at.done < 3; }}));
            }),
            "fenchel::bootstrap: cancelled");
}

}  // namespace
}  // namespace fenchel
