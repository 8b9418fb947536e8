#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "fenchel/core/error.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/line/empirical.hpp"
#include "fenchel/estimate/fit/location_scale.hpp"
#include "fenchel/estimate/fit/truncated_gaussian.hpp"
#include "fenchel/estimate/statistics/line_moments.hpp"
#include "fenchel/loss/location_scale.hpp"
#include "fenchel/loss/scaled_gaussian.hpp"
#include "support/column.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::message_of;
using testing::source_of;

/// A grid of quantiles.
template <class P>
std::vector<double> exact_sample(const P& p, int count = 4000) {
  std::vector<double> values;
  for (int k = 0; k < count; ++k) values.push_back(quantile(p, (k + 0.5) / count));
  return values;
}

const std::vector<double> kLopsided{-1.0, -0.4, 0.0, 0.1, 0.2, 0.35, 0.5, 0.8, 1.4};

TEST(FitTruncatedGaussian, QuantilesOfAMemberGiveItsParameters) {
  for (const double kappa : {1.2, 2.0, 5.0, 20.0}) {
    const TruncatedGaussian p(kappa, 3, 4);
    const std::vector<double> values = exact_sample(p);
    const RowsSource source = source_of(values);
    const auto all = fit_truncated_gaussian(Data{source});
    EXPECT_EQ(all.names, (std::vector<std::string>{"kappa", "mu", "sigma2"}));
    EXPECT_NEAR(all.parameters[0], kappa, 1e-2 * kappa);
    EXPECT_NEAR(all.parameters[1], 3, 1e-7);
    EXPECT_NEAR(all.parameters[2], 4, 4e-2);
    const auto two = fit_truncated_gaussian(kappa, Data{source});
    EXPECT_EQ(two.names, (std::vector<std::string>{"mu", "sigma2"}));
    EXPECT_NEAR(two.parameters[1], 4, 1e-3) << kappa;
    EXPECT_EQ(two.distribution, TruncatedGaussian(kappa, two.parameters[0], two.parameters[1]));
  }
}

TEST(FitTruncatedGaussian, GradientIsZeroAtTheFit) {
  const RowsSource source = source_of(kLopsided);
  const Tsallis omega(2);
  for (const double kappa : {1.1, 3.0, 1e4}) {
    const auto fit = fit_truncated_gaussian(kappa, Data{source});
    const auto loss = cross_omega(omega, score(fit.distribution), Line(), Empirical(kLopsided));
    EXPECT_NEAR(loss.gradient.mu, 0, 1e-8) << kappa;
    EXPECT_NEAR(loss.gradient.sigma2, 0, 1e-8) << kappa;
    EXPECT_NEAR(fit.loss, loss.value, 1e-10) << kappa;
  }
  const std::vector<double> values = exact_sample(TruncatedGaussian(2, 100, 1e-4), 300);
  const RowsSource exact = source_of(values);
  const auto fit = fit_truncated_gaussian(Data{exact});
  const auto loss = cross_omega(omega, score(fit.distribution), Line(), Empirical(values));
  EXPECT_NEAR(loss.gradient.kappa, 0, 1e-6);
  EXPECT_NEAR(fit.loss, loss.value, 1e-8);
}

TEST(FitTruncatedGaussian, RecoversParametersFromDraws) {
  std::uint64_t seed = 30;
  for (const double kappa : {1.3, 3.0}) {
    const std::vector<double> values = sample(TruncatedGaussian(kappa, -1, 0.25), 20000, ++seed);
    const RowsSource source = source_of(values);
    const auto all = fit_truncated_gaussian(Data{source});
    const auto two = fit_truncated_gaussian(kappa, Data{source});
    const Eigen::Vector3d truth(kappa, -1, 0.25);
    for (index_t i = 0; i < 3; ++i)
      EXPECT_LT(std::abs(all.parameters[i] - truth[i]), 3 * all.standard_errors()[i]) << kappa << ' ' << i;
    for (index_t i = 0; i < 2; ++i)
      EXPECT_LT(std::abs(two.parameters[i] - truth[i + 1]), 3 * two.standard_errors()[i])
          << kappa << ' ' << i;
    EXPECT_LT(two.standard_errors()[1], 0.01);
    if (kappa == 3) {
      EXPECT_NEAR(all.standard_errors()[0], 0.5, 0.1);
    }
  }
}

TEST(FitTruncatedGaussian, WeightsAreFrequencies) {
  const std::vector<double> values{-1, 0, 0.5, 9, 1}, weights{1, 3, 2, 0, 1},
      repeated{-1, 0, 0, 0, 0.5, 0.5, 1};
  const RowsSource weighted = source_of(values, weights), plain = source_of(repeated);
  const auto a = fit_truncated_gaussian(2, Data{weighted}), b = fit_truncated_gaussian(2, Data{plain});
  EXPECT_LT((a.parameters - b.parameters).norm(), 1e-9);
  EXPECT_LT((a.covariance - b.covariance).norm(), 1e-9);
  EXPECT_EQ(a.weight, 7);
}

TEST(FitTruncatedGaussian, ValuesFarOffDoNotStopIt) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Philox rng(seed, 0);
    std::vector<double> cauchy(5000);
    for (double& t : cauchy) t = std::tan(std::numbers::pi * (uniform01(rng) - 0.5));
    const RowsSource source = source_of(cauchy);
    for (const double kappa : {1.2, 2.0, 5.0}) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", kappa " << kappa);
      const auto fit = fit_truncated_gaussian(kappa, Data{source});
      EXPECT_NEAR(fit.parameters[0], 0, 0.15);
      const auto loss = cross_omega(Tsallis(2), score(fit.distribution), Line(), Empirical(cauchy));
      EXPECT_NEAR(loss.gradient.mu, 0, 1e-7);
      EXPECT_NEAR(loss.gradient.sigma2, 0, 1e-7);
    }
    const std::string message =
        message_of<ConvergenceError>([&] { (void)fit_truncated_gaussian(Data{source}); });
    EXPECT_EQ(
        message.substr(0, message.find(", got")),
        "fenchel::fit_truncated_gaussian: kappa must be above 1: the data is more peaked than a Gaussian");
  }
}

TEST(FitTruncatedGaussian, NamesWhatItCannotFit) {
  std::vector<double> uniform, peaked;
  for (int k = -100; k <= 100; ++k) {
    uniform.push_back(k);
    peaked.push_back(k * std::abs(k));
  }
  const RowsSource flat = source_of(uniform), sharp = source_of(peaked);
  const std::vector<double> same{2, 2};
  const RowsSource one = source_of(same), none = source_of({});
  const auto message = [](const RowsSource& source) {
    return message_of<std::exception>([&] { (void)fit_truncated_gaussian(Data{source}); });
  };
  const auto start_of = [](const std::string& text) { return text.substr(0, text.find(", got")); };
  EXPECT_EQ(start_of(message(flat)),
            "fenchel::fit_truncated_gaussian: kappa must be bounded: the data is flatter than a truncated "
            "parabola");
  EXPECT_EQ(
      start_of(message(sharp)),
      "fenchel::fit_truncated_gaussian: kappa must be above 1: the data is more peaked than a Gaussian");
  EXPECT_EQ(message(one),
            "fenchel::fit_truncated_gaussian: the variance must be positive and finite (rows that are all "
            "equal are a Dirac), got 0");
  EXPECT_EQ(message(none),
            "fenchel::fit_truncated_gaussian: the weight of all rows must be positive and finite, got 0");
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)fit_truncated_gaussian(1, Data{flat}); }),
            "fenchel::truncated_gaussian: kappa must be > 1 and finite, got 1");
}

double cube(double x) { return x * x * x / 6; }
double half_square(double x) { return x * x / 2; }

TEST(FitLocationScale, OfACubeIsMomentMatching) {
  const RowsSource source = source_of(kLopsided);
  const auto fit = fit_location_scale(cube, half_square, Data{source});
  const LineMoments moments = LineMoments::of(kLopsided);
  EXPECT_NEAR(fit.parameters[0], moments.mean(), 1e-8);
  EXPECT_NEAR(variance(fit.distribution), moments.variance(), 1e-8);
  EXPECT_EQ(fit.names, (std::vector<std::string>{"mu", "sigma"}));
  // The standard error of the mean of the fitted density.
  EXPECT_NEAR(fit.standard_errors()[0], std::sqrt(variance(fit.distribution) / 9), 1e-8);
}

TEST(FitLocationScale, GradientIsZeroAtTheFit) {
  const auto g = [](double x) { return std::sinh(x) - x; };
  const auto slope = [](double x) { return std::cosh(x) - 1; };
  const RowsSource source = source_of(kLopsided);
  const auto fit = fit_location_scale(g, slope, Data{source});
  const auto loss = cross_omega(Tsallis(2), score(fit.distribution), Line(), Empirical(kLopsided));
  EXPECT_NEAR(loss.gradient.mu, 0, 1e-8);
  EXPECT_NEAR(loss.gradient.sigma, 0, 1e-8);
  EXPECT_NEAR(fit.loss, loss.value, 1e-9);
}

TEST(FitLocationScale, RecoversParametersFromDraws) {
  const auto g = [](double x) { return std::sinh(x) - x; };
  const auto slope = [](double x) { return std::cosh(x) - 1; };
  const LocationScale p(LocationScaleScore(g, slope, 50, 3));
  const std::vector<double> values = sample(p, 20000, 40);
  const RowsSource source = source_of(values);
  const auto fit = fit_location_scale(g, slope, Data{source});
  EXPECT_LT(std::abs(fit.parameters[0] - 50), 3 * fit.standard_errors()[0]);
  EXPECT_LT(std::abs(fit.parameters[1] - 3), 3 * fit.standard_errors()[1]);
  EXPECT_LT(fit.standard_errors()[1], 0.05);
}

TEST(FitLocationScale, NamesWhatItCannotFit) {
  const RowsSource source = source_of(kLopsided), none = source_of({});
  const auto message = [](const auto& g, const auto& slope, const RowsSource& data) {
    return message_of<std::domain_error>([&] { (void)fit_location_scale(g, slope, Data{data}); });
  };
  const std::string kink = message(
      half_square, [](double x) { return x; }, source);
  EXPECT_EQ(kink.substr(0, kink.find(", got")),
            "fenchel::fit_location_scale: a g''(0) / g'(a) must be 0: else the score has a kink at mu, and "
            "the loss "
            "one at every value");
  EXPECT_EQ(message(cube, half_square, none),
            "fenchel::fit_location_scale: the weight of all rows must be positive and finite, got 0");
}

}  // namespace
}  // namespace fenchel
