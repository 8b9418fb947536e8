#include "fenchel/estimate/fit/linear_score.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fenchel/data/data_error.hpp"
#include "fenchel/data/rows_source.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/predict/function.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::message_of;

using Phi = std::vector<LinearScore::Statistic>;

double first(double t) { return t; }
double square(double t) { return t * t; }

PhiMoments moments_of(const Phi& phi, const std::vector<double>& values, double weight = 1) {
  PhiMoments moments(phi);
  moments.update(Rows<const double>(values.data(), static_cast<index_t>(values.size()), 1), weight);
  return moments;
}

void expect_closed_form(double alpha, const std::vector<double>& values) {
  const Phi phi{first, square};
  const PhiMoments moments = moments_of(phi, values);
  const double mu = moments.mean()[0], spread = moments.covariance()(0, 0);
  const double sigma2 =
      std::pow(spread / variance(BetaGaussian(alpha, 0, 1)), (alpha + 1) / 2);  // docs/math.md 5.6
  const auto fit = fit_linear_score(alpha, phi, Line(), moments);
  EXPECT_NEAR(fit.parameters[0], mu / sigma2, 2e-7 * std::max(1.0, std::abs(mu)) / sigma2) << alpha;
  EXPECT_NEAR(fit.parameters[1], -0.5 / sigma2, 1e-7 / sigma2) << alpha;
  EXPECT_NEAR(mean(fit.distribution), mu, 1e-8) << alpha;
  EXPECT_NEAR(variance(fit.distribution), spread, 1e-7) << alpha;
}

/// At a huge alpha densities on [0, 1] are almost uniform: no theta gives data at the ends their means.
TEST(FitLinear, WorkIsBounded) {
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i)
    values.push_back(i % 4 == 0 ? 1 - std::pow(10, -i % 320) : std::pow(10, -i % 320));
  long calls = 0;
  const auto counted = [&calls](double t) {
    ++calls;
    return t;
  };
  EXPECT_THROW(static_cast<void>(fit_linear_score(4e5, {counted, square}, Interval(0, 1),
                                                  moments_of({first, square}, values))),
               ConvergenceError);
  EXPECT_LT(calls, 50'000'000);
}

TEST(FitLinear, QuadraticIsTheClosedForm) {
  for (const double alpha : {0.8, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 4.0 / 3, 1.5, 2.0, 5.0})
    expect_closed_form(alpha, {-1.0, 0.5, 0.25, 3.0});
  expect_closed_form(1.5, {40, 40.5, 39.9});
}

TEST(FitLinear, OnAnIntervalSlopesAreExact) {
  const Phi phi{first};
  const PhiMoments moments = moments_of(phi, {0.4, 0.5, 0.75});
  const auto sparse = fit_linear_score(2, phi, Interval(0, 1), moments);  // p = 1 + theta (t - 1/2)
  EXPECT_NEAR(sparse.parameters[0], 12 * (0.55 - 0.5), 1e-9);
  EXPECT_EQ(sparse.names, std::vector<std::string>{"theta[0]"});
  EXPECT_EQ(sparse.weight, 3);
  const double theta = fit_linear_score(1, phi, Interval(0, 1), moments).parameters[0];
  EXPECT_NEAR(1 / (1 - std::exp(-theta)) - 1 / theta, 0.55, 1e-9);
}

TEST(FitLinear, OnAHalfLineTheMeanIsThatOfAnExponential) {
  const auto fit = fit_linear_score(1, {first}, Interval(0, kInf), moments_of({first}, {0.5, 1.5, 4}));
  EXPECT_NEAR(fit.parameters[0], -0.5, 1e-9);
  EXPECT_NEAR(fit.standard_errors()[0], 0.5 / std::sqrt(3), 1e-8);
}

TEST(FitLinear, NarrowDataInAWideIntervalIsFitted) {
  const Phi phi{first, square};
  const PhiMoments moments = moments_of(phi, {1e-3, 2e-3, 4e-3});
  const auto fit = fit_linear_score(1.5, phi, Interval(0, 1), moments);
  EXPECT_NEAR(mean(fit.distribution), moments.mean()[0], 1e-10);
  EXPECT_NEAR(variance(fit.distribution), moments.covariance()(0, 0), 1e-12);
}

TEST(FitLinear, OneValueInsideOfAnIntervalIsFitted) {
  const auto fit = fit_linear_score(2, {first}, Interval(0, 1), moments_of({first}, {0.45}));
  EXPECT_NEAR(fit.parameters[0], 12 * (0.45 - 0.5), 1e-9);
  EXPECT_NEAR(fit.covariance(0, 0), 144 * variance(fit.distribution), 1e-8);
}

TEST(FitLinear, AnyPhiHasTheMeansOfTheData) {
  const Phi phi{first, [](double t) { return std::abs(t); }, [](double t) { return std::cos(t); },
                [](double t) { return t * t * t * t; }};
  const PhiMoments moments = moments_of(phi, {-1.1, -0.9, -0.4, -0.2, 0.1, 0.4, 0.7, 0.9, 1.2});
  for (const double alpha : {1.0, 2.0}) {
    const auto fit = fit_linear_score(alpha, phi, Line(), moments);
    for (std::size_t i = 0; i < phi.size(); ++i)
      EXPECT_NEAR(expectation(fit.distribution, phi[i]), moments.mean()[static_cast<index_t>(i)], 1e-7)
          << alpha;
  }
}

TEST(FitLinear, StartIsTakenAndLossIsTheOneReached) {
  const Phi phi{first, square};
  const PhiMoments moments = moments_of(phi, {-1, 0, 2, 3});
  const auto without = fit_linear_score(1.5, phi, Line(), moments);
  const auto with = fit_linear_score(1.5, phi, Line(), moments, {0.1, -3});
  EXPECT_LT((with.parameters - without.parameters).norm(), 1e-8);
  const LinearScore f({with.parameters[0], with.parameters[1]}, phi);
  EXPECT_NEAR(with.loss, conjugate(Tsallis(1.5), f, Line()) - with.parameters.dot(moments.mean()), 1e-9);
}

TEST(FitLinear, RecoversThetaFromDraws) {
  const Phi phi{first, [](double t) { return std::abs(t); }, square};
  const std::vector<double> theta{0.5, 0.3, -0.8};
  std::uint64_t seed = 20;
  for (const double alpha : {1.0, 1.5}) {
    const NumericDensity p = predict(Tsallis(alpha), LinearScore(theta, phi), Line());
    const auto fit = fit_linear_score(alpha, phi, Line(), moments_of(phi, sample(p, 20000, ++seed)));
    for (index_t i = 0; i < 3; ++i)
      EXPECT_LT(std::abs(fit.parameters[i] - theta[static_cast<std::size_t>(i)]),
                3 * fit.standard_errors()[i])
          << alpha << ' ' << i;
    EXPECT_LT(fit.standard_errors()[2], 0.1);
  }
}

TEST(FitLinear, CovarianceIsThatOfTheMeansThroughTheirSlopes) {
  const Phi phi{first, square};
  const double alpha = 1.5, n = 400, h = 2e-5;
  const PhiMoments moments = moments_of(phi, {-1, 0, 2, 3}, n / 4);
  const auto fit = fit_linear_score(alpha, phi, Line(), moments);
  const auto means = [&](double a, double b) {
    const NumericDensity p = predict(Tsallis(alpha), LinearScore({a, b}, phi), Line());
    return Eigen::Vector2d(mean(p), expectation(p, square));
  };
  const double a = fit.parameters[0], b = fit.parameters[1];
  Eigen::Matrix2d slopes, spread;
  slopes << (means(a + h, b) - means(a - h, b)) / (2 * h), (means(a, b + h) - means(a, b - h)) / (2 * h);
  const double m = mean(fit.distribution), v = variance(fit.distribution),
               fourth = central_moment(fit.distribution, 4);
  spread << v, 2 * m * v, 2 * m * v, fourth - v * v + 4 * m * m * v;
  EXPECT_LT((slopes * fit.covariance * slopes.transpose() - spread / n).norm(), 1e-5 * spread.norm() / n);
}

TEST(FitLinear, NamesWhatItCannotFit) {
  const auto message = [](const Phi& phi, const Interval& domain, const PhiMoments& moments,
                          const std::vector<double>& start = {}) {
    return message_of<std::exception>([&] { (void)fit_linear_score(1.5, phi, domain, moments, start); });
  };
  const Phi phi{first, square};
  const Interval line(-kInf, kInf), unit(0, 1);
  EXPECT_EQ(message({}, unit, PhiMoments(phi)), "fenchel::fit_linear_score: phi must not be empty, got 0");
  EXPECT_EQ(message({first}, unit, PhiMoments(phi)),
            "fenchel::fit_linear_score: moments must have one entry for each of 1 phi, got 2");
  EXPECT_EQ(message(phi, unit, moments_of(phi, {0.5}), {1}),
            "fenchel::fit_linear_score: start must have one entry for each of 2 phi, got 1");
  EXPECT_EQ(message(phi, Interval(1, 1), PhiMoments(phi)),
            "fenchel::fit_linear_score: domain.upper() must be above lower = 1, got 1");
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)fit_linear_score(kInf, phi, unit, PhiMoments(phi)); }),
            "fenchel::fit_linear_score: alpha must be finite, got inf");
  EXPECT_EQ(message(phi, unit, PhiMoments(phi)),
            "fenchel::fit_linear_score: the weight of all rows must be positive and finite, got 0");
  EXPECT_EQ(message({first}, line, moments_of({first}, {0, 1})),
            "fenchel::fit_linear_score: start must be given where theta = 0 and single phi have no density, "
            "got none");
  EXPECT_EQ(message(phi, line, moments_of(phi, {0, 1}), {1, 1}).substr(0, 18), "fenchel::predict: ");
  const Phi collinear{first, [](double t) { return 2 * t + 1; }};
  EXPECT_EQ(
      message(collinear, unit, moments_of(collinear, {0.2, 0.7})),
      "fenchel::fit_linear_score: phi must not be collinear under the density that they fit: theta is not "
      "unique, got a least eigenvalue of "
      "their correlations below 1e-09");
}

TEST(FitLinear, MeansThatNoDensityHasDoNotConverge) {
  const auto message = [](const Phi& phi, const Interval& domain, const std::vector<double>& values) {
    return message_of<ConvergenceError>(
        [&] { (void)fit_linear_score(2, phi, domain, moments_of(phi, values)); });
  };
  for (const auto& found : {message({first}, Interval(0, 1), {1.4, 1.6}),
                            message({first, square}, Interval(-kInf, kInf), {2, 2})}) {
    EXPECT_EQ(found.substr(0, found.find(", got")),
              "fenchel::fit_linear_score: the residual must reach 1e-08 (means of phi that no density of the "
              "family has "
              "move theta without end)");
    EXPECT_NE(found.find(" iterations"), std::string::npos) << found;
  }
}

TEST(FitLinear, DataOutsideOfTheIntervalIsNamed) {
  const std::vector<double> values{0.4, 0.5, 0.75, 1.25};
  const RowsSource inside(Rows<const double>(values.data(), 3, 1)),
      all(Rows<const double>(values.data(), 4, 1));
  EXPECT_NEAR(fit_linear_score(2, {first}, Interval(0, 1), Data{inside}).parameters[0], 0.6, 1e-9);
  EXPECT_EQ(message_of<DataError>([&] { (void)fit_linear_score(2, {first}, Interval(0, 1), Data{all}); }),
            "row 3, column 0: t must be in [0, 1], got 1.25");
}

}  // namespace
}  // namespace fenchel
