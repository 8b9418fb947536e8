#include "fenchel/estimate/goodness/goodness.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "fenchel/core/parallel.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/data/rows_source.hpp"
#include "fenchel/distribution/integers/sparse_poisson.hpp"
#include "fenchel/estimate/fit/beta_gaussian.hpp"
#include "fenchel/estimate/fit/beta_laplace.hpp"
#include "fenchel/estimate/fit/multivariate_beta_gaussian.hpp"
#include "fenchel/estimate/fit/sparse_poisson.hpp"
#include "fenchel/estimate/fit/truncated_gaussian.hpp"
#include "support/grids.hpp"

namespace fenchel {
namespace {

using testing::kInf;

Rows<const double> column(const std::vector<double>& values) {
  return {values.data(), static_cast<index_t>(values.size()), 1};
}

std::vector<double> forty() {
  std::vector<double> values;
  for (int k = 0; k < 40; ++k) values.push_back((37 * k * k + 11 * k) % 101 / 20.0 + 0.001 * k);
  return values;
}

bool mentions(const Goodness& found, const std::string& words) {
  for (const std::string& warning : found.warnings)
    if (warning.find(words) != std::string::npos) return true;
  return false;
}

// SciPy 1.17.1: norm(x.mean(), x.std()), its logpdf, kstest, Anderson and Darling's sum over logcdf and
// logsf, and the closed form of the CRPS of a Gaussian.
TEST(Goodness, OfAGaussianIsSciPys) {
  const std::vector<double> values = forty();
  const RowsSource source(column(values));
  const Goodness found = goodness(fit_beta_gaussian(1, LineMoments::of(values)), {source});
  EXPECT_NEAR(found.log_likelihood, -65.17363833528047, 1e-12);
  EXPECT_EQ(found.log_likelihood, found.log_likelihood_inside);
  EXPECT_NEAR(found.aic, 134.34727667056094, 1e-12);
  EXPECT_NEAR(found.bic, 137.7250355787888, 1e-12);
  EXPECT_NEAR(found.crps, 0.7091597205428233, 1e-14);
  EXPECT_NEAR(found.distances.kolmogorov_smirnov, 0.12578784048790947, 1e-14);
  EXPECT_NEAR(found.distances.anderson_darling, 0.7146578535443098, 1e-12);
  EXPECT_EQ(found.outside, 0);
  EXPECT_EQ(found.weight, 40);
  EXPECT_TRUE(found.warnings.empty()) << found.warnings[0];
}

// SciPy 1.17.1: poisson(x.mean()), its logpmf, and sums over cdf, sf and pmf.
TEST(Goodness, OfCountsIsSciPys) {
  const std::vector<double> counts{0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 7};
  const Goodness found =
      goodness(fit_sparse_poisson(1, CountHistogram::of(counts)), {RowsSource(column(counts))});
  EXPECT_NEAR(found.log_likelihood, -26.922355203188303, 1e-12);
  EXPECT_NEAR(found.distances.kolmogorov_smirnov, 0.0446156401860931, 1e-14);
  EXPECT_NEAR(found.distances.anderson_darling, 0.085729338372821, 1e-12);
  EXPECT_NEAR(found.crps, 0.9434285639171458, 1e-13);
}

TEST(Goodness, CountsOutsideOfTheSupportAreCounted) {
  const std::vector<double> counts{2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 2, 2, 20};
  const Goodness found =
      goodness(fit_sparse_poisson(2, CountHistogram::of(counts)), {RowsSource(column(counts))});
  EXPECT_EQ(found.outside, 1);
  EXPECT_EQ(found.log_likelihood, -kInf);
  EXPECT_EQ(found.distances.anderson_darling, kInf);
  EXPECT_TRUE(mentions(found, "1 of 14 rows (7.1%) lies outside of the support ["));
}

TEST(Goodness, RowsOutsideOfTheSupportAreNamed) {
  std::vector<double> values = sample(BetaGaussian::biweight(), 400, 5);
  values.push_back(9);
  const Fit<BetaGaussian> fit = fit_beta_gaussian(2, LineMoments::of(values));
  const Goodness found = goodness(fit, {RowsSource(column(values))});
  double inside = 0, outside = 0;
  for (const double t : values) {
    const double log_density = log_pdf(fit.distribution, t);
    (log_density > -kInf ? inside : outside) += log_density > -kInf ? log_density : 1;
  }
  EXPECT_GE(outside, 1);
  EXPECT_EQ(found.outside, outside);
  EXPECT_EQ(found.log_likelihood, -kInf);
  EXPECT_EQ(found.aic, kInf);
  EXPECT_NEAR(found.log_likelihood_inside, inside, 1e-11);
  EXPECT_TRUE(mentions(found, "outside of the support [-")) << found.warnings[0];
  EXPECT_TRUE(mentions(found, "the log-likelihood is -inf"));
}

TEST(Goodness, TwoGroupsPooledAreFlagged) {
  std::vector<double> values = sample(BetaGaussian::gaussian(-40, 1), 90, 1);
  const std::vector<double> others = sample(BetaGaussian::gaussian(40, 1), 150, 2);
  values.insert(values.end(), others.begin(), others.end());
  const Goodness flat = goodness(fit_beta_gaussian(LineMoments::of(values)), {RowsSource(column(values))});
  EXPECT_TRUE(mentions(flat, "alpha is at the end of its range, infinity"));
  EXPECT_TRUE(mentions(flat, "the data does not look like draws of the fit"));
  // Kurtosis a little above the uniform's: alpha and sigma2 are hardly known.
  std::vector<double> near = sample(BetaGaussian::gaussian(0, 1), 200, 1);
  for (std::size_t k = 0; k < 90; ++k) near[k] += 3.2;
  const Fit<BetaGaussian> fit = fit_beta_gaussian(LineMoments::of(near));
  const Goodness found = goodness(fit, {RowsSource(column(near))});
  EXPECT_GT(fit.standard_errors()[2], fit.parameters[2]);
  EXPECT_TRUE(mentions(found, "the standard error of sigma2, "));
}

TEST(Goodness, FewRowsAreCalledFew) {
  const std::vector<double> values{1, 2, 3, 4, 9};
  const RowsSource source(column(values));
  EXPECT_TRUE(mentions(goodness(fit_beta_gaussian(1, LineMoments::of(values)), {source}),
                       "5 rows are fewer than the 20 that standard errors need"));
  EXPECT_TRUE(mentions(goodness(fit_beta_gaussian(LineMoments::of(values)), {source}),
                       "5 rows are fewer than the 200 that standard errors need"));
  const std::vector<double> heavy = sample(BetaGaussian(0.4), 1000, 3);
  EXPECT_TRUE(mentions(goodness(fit_beta_gaussian(LineMoments::of(heavy)), {RowsSource(column(heavy))}),
                       "alpha has no standard error"));
}

TEST(Goodness, InSpaceHasLikelihoodAlone) {
  std::vector<double> values;
  for (int k = 0; k < 90; ++k) values.push_back(std::sin(1.0 * k * k) + 0.1 * (k % 3));
  const RowsSource source({values.data(), 45, 2});
  const auto fit = fit_multivariate_beta_gaussian(1, {source});
  const Goodness found = goodness(fit, {source});
  // The largest likelihood of a Gaussian: -n (log det 2 pi e S) / 2.
  const double expected = -45 *
                          (2 * std::log(2 * std::numbers::pi * std::numbers::e) +
                           std::log(fit.distribution.Sigma().determinant())) /
                          2;
  EXPECT_NEAR(found.log_likelihood, expected, 1e-10);
  EXPECT_NEAR(found.aic, 10 - 2 * expected, 1e-10);
  EXPECT_TRUE(std::isnan(found.crps));
  EXPECT_TRUE(std::isnan(found.distances.kolmogorov_smirnov));
}

TEST(Goodness, DoesNotDependOnThreadsOrTheSplit) {
  const std::vector<double> values = sample(BetaGaussian(1.5, 3), 50'000, 8);
  const Fit<BetaGaussian> fit = fit_beta_gaussian(1.5, LineMoments::of(values));
  const RowsSource source(column(values));
  set_num_threads(1);
  const FitScores one = collect({source}, FitScores(row_scorer(fit.distribution), 1));
  set_num_threads(3);
  EXPECT_EQ(collect({source}, FitScores(row_scorer(fit.distribution), 1)).to_bytes(), one.to_bytes());
  set_num_threads(0);
  FitScores parts(row_scorer(fit.distribution), 1);
  for (index_t first = 0; first < 50'000; first += 777) {
    FitScores part(row_scorer(fit.distribution), 1);
    part.update({values.data() + first, std::min<index_t>(777, 50'000 - first), 1});
    parts.merge_bytes(part.to_bytes());
  }
  EXPECT_NEAR(parts.log_likelihood_inside() / one.log_likelihood_inside(), 1, 1e-14);
  EXPECT_NEAR(parts.ranked() / one.ranked(), 1, 1e-14);
  EXPECT_EQ(parts.probabilities().kolmogorov_smirnov(), one.probabilities().kolmogorov_smirnov());
}

TEST(Goodness, BytesAreReadBackOrRefused) {
  const std::vector<double> values{1, 2, 4, 9};
  FitScores scores(row_scorer(BetaGaussian(1, 3, 4)), 1), again = scores;
  scores.update(column(values));
  const Bytes bytes = scores.to_bytes();
  again.merge_bytes(bytes);
  EXPECT_EQ(again.to_bytes(), bytes);
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    Bytes changed = bytes;
    changed[k] ^= std::byte{4};
    EXPECT_THROW(again.merge_bytes(changed), std::invalid_argument);
    EXPECT_THROW(again.merge_bytes(std::span(bytes).first(k)), std::invalid_argument);
  }
  EXPECT_EQ(again.to_bytes(), bytes);
  EXPECT_THROW(scores.update(column({1, std::nan("")})), BadEntry);
  EXPECT_EQ(scores.to_bytes(), bytes);
}

TEST(Goodness, WeightsAreRepeatedRows) {
  const std::vector<double> values{1, 2, 4, 7, 8}, weights{3, 1, 4, 0, 2},
      repeated{1, 1, 1, 2, 4, 4, 4, 4, 8, 8};
  const RowsSource weighted(column(values), weights), plain(column(repeated));
  const Goodness a = goodness(fit_beta_laplace(1, {weighted}), {weighted}),
                 b = goodness(fit_beta_laplace(1, {plain}), {plain});
  EXPECT_NEAR(a.log_likelihood, b.log_likelihood, 1e-13);
  EXPECT_NEAR(a.bic, b.bic, 1e-13);
  EXPECT_NEAR(a.crps, b.crps, 1e-15);
  EXPECT_NEAR(a.distances.anderson_darling, b.distances.anderson_darling, 1e-13);
}

}  // namespace
}  // namespace fenchel
