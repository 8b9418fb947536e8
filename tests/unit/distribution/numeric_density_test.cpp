#include "fenchel/distribution/line/numeric_density.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "fenchel/core/error.hpp"
#include "fenchel/core/quadrature.hpp"
#include "fenchel/distribution/line/capped_triangular.hpp"
#include "fenchel/distribution/line/smooth_parabola.hpp"
#include "fenchel/distribution/line/truncated_gaussian.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"
#include "support/reference_cdf.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::kNaN;
using testing::message_of;

NumericDensity gaussian(double mu, double sigma) {
  return NumericDensity([=](double t) { return -(t - mu) * (t - mu) / (2 * sigma * sigma); },
                        {Interval(-kInf, kInf)}, {mu});
}

/// 3/4 of the mass uniform on [-2, -1], 1/4 rising linearly on [1, 3].
NumericDensity two_pieces() {
  return NumericDensity([](double t) { return t < 0 ? std::log(0.75) : std::log((t - 1) / 8); },
                        {Interval(-2, -1), Interval(1, 3)}, {-1.5, 3});
}

TEST(NumericDensity, IsTheGaussian) {
  for (const double mu : {0.0, -3.0, 1e4}) {
    for (const double sigma : {1e-3, 1.0, 1e5}) {
      const NumericDensity p = gaussian(mu, sigma);
      EXPECT_NEAR(p.log_mass(), 0.5 * std::log(2 * std::numbers::pi) + std::log(sigma), 1e-9);
      EXPECT_NEAR(mean(p), mu, 1e-9 * sigma);
      EXPECT_NEAR(variance(p) / (sigma * sigma), 1, 1e-8);
      EXPECT_NEAR(skewness(p), 0, 1e-6);
      EXPECT_NEAR(kurtosis(p), 3, 1e-7);
      EXPECT_NEAR(moment(p, 2) / (mu * mu + sigma * sigma), 1, 1e-9);
      EXPECT_NEAR(entropy(p), 0.5 * std::log(2 * std::numbers::pi * std::numbers::e) + std::log(sigma), 1e-9);
      EXPECT_EQ(mode(p), mu);
      EXPECT_NEAR(median(p), mu, 1e-9 * sigma);
    }
  }
}

TEST(NumericDensity, TailsKeepTheirRelativeAccuracy) {
  const NumericDensity p = gaussian(0, 1);
  for (const double t : {-37.0, -20.0, -9.0, -8.0, -3.0, -1.0, 0.0, 0.5, 2.0}) {
    const double exact = 0.5 * std::erfc(-t / std::numbers::sqrt2);
    EXPECT_NEAR(cdf(p, t) / exact, 1, 1e-11) << t;
    EXPECT_NEAR(survival(p, -t) / exact, 1, 1e-11) << t;
    EXPECT_NEAR(quantile(p, exact), t, 1e-9) << t;
    EXPECT_NEAR(survival_quantile(p, exact), -t, 1e-9) << t;
  }
  // log Phi(-x) = -x^2/2 - log(x sqrt(2 pi)) + log(1 - 1/x^2 + 3/x^4 - ...)
  const double x = 100, series = std::log1p(-1 / (x * x) + 3 / std::pow(x, 4) - 15 / std::pow(x, 6));
  EXPECT_NEAR(log_cdf(p, -x), -x * x / 2 - std::log(x * std::sqrt(2 * std::numbers::pi)) + series, 1e-9);
  EXPECT_NEAR(log_survival(p, x), log_cdf(p, -x), 1e-9);
  EXPECT_NEAR(log_cdf(p, x), 0, 1e-300);
}

TEST(NumericDensity, NothingIsBeyondTheLargestNumbers) {
  constexpr double kMax = std::numeric_limits<double>::max();
  const NumericDensity p([](double t) { return -2 * std::log1p(std::abs(t)); }, {Interval(-kInf, kInf)}, {0});
  EXPECT_EQ(survival(p, kMax), 0);
  EXPECT_EQ(cdf(p, kMax), 1);
  EXPECT_EQ(cdf(p, -kMax), 0);
  EXPECT_EQ(survival(p, -kMax), 1);
}

/// About mu doubles are coarse: an integral from the end on and the table differ by more than rounding.
TEST(NumericDensity, TailsAddUpToOneWhereASmallOneIsIntegratedAnew) {
  const NumericDensity p = escort(TruncatedGaussian(11340515199088.77, 17645936.02402111, 112511520.02075288),
                                  0.00659967765487323);
  for (const double u : {1e-12, 1e-6, 1e-5, 1e-4, 5e-4, 9e-4, 2e-3, 0.3}) {
    for (const double t : {quantile(p, u), survival_quantile(p, u)})
      EXPECT_NEAR(cdf(p, t) + survival(p, t), 1, 1e-15) << u;
  }
}

TEST(NumericDensity, HasPieces) {
  const NumericDensity p = two_pieces();
  ASSERT_EQ(support(p).size(), 2u);
  EXPECT_EQ(pdf(p, 0), 0);
  EXPECT_EQ(log_pdf(p, 0), -kInf);
  EXPECT_EQ(log_pdf(p, kInf), -kInf);
  EXPECT_TRUE(std::isnan(pdf(p, kNaN)));
  EXPECT_TRUE(std::isnan(cdf(p, kNaN)));
  EXPECT_NEAR(pdf(p, -1.2), 0.75, 1e-12);
  EXPECT_NEAR(cdf(p, -1.5), 0.375, 1e-12);
  EXPECT_NEAR(cdf(p, 0), 0.75, 1e-12);
  EXPECT_NEAR(survival(p, 0), 0.25, 1e-12);
  EXPECT_NEAR(cdf(p, 2), 0.75 + 1.0 / 16, 1e-12);
  EXPECT_EQ(cdf(p, -2), 0);
  EXPECT_EQ(cdf(p, 5), 1);
  EXPECT_EQ(survival(p, 3), 0);
  EXPECT_NEAR(mean(p), 0.75 * -1.5 + 0.25 * (1 + 4.0 / 3), 1e-11);
  EXPECT_EQ(quantile(p, 0), -2);
  EXPECT_EQ(quantile(p, 1), 3);
  EXPECT_EQ(survival_quantile(p, 0), 3);
  EXPECT_NEAR(quantile(p, 0.375), -1.5, 1e-12);
  EXPECT_NEAR(quantile(p, 0.75 + 1.0 / 16), 2, 1e-11);
  EXPECT_NEAR(survival_quantile(p, 3.0 / 16), 2, 1e-11);
  for (double u = 0.01; u < 1; u += 0.01) EXPECT_NEAR(cdf(p, quantile(p, u)), u, 1e-13);
}

TEST(NumericDensity, QuantilesNextToOneDoNotFall) {
  const CappedTriangular triangle(0, 4.577583700012495, 1.2666861514299446);
  const NumericDensity p = escort(triangle, 0.6898193712467051);
  double last = quantile(p, 1 - 1e-13), last_above = survival_quantile(p, 1 - 1e-13);
  for (double u = 1 - 1e-13; u <= 1; u = std::nextafter(u, 2)) {
    EXPECT_GE(quantile(p, u), last) << 1 - u;
    EXPECT_LE(survival_quantile(p, u), last_above) << 1 - u;
    EXPECT_EQ(quantile(p, u), survival_quantile(p, 1 - u)) << 1 - u;
    last = quantile(p, u);
    last_above = survival_quantile(p, u);
  }
}

TEST(NumericDensity, QuantilesBesideAnEndTakeFewEvaluations) {  // between which no panel can be halved
  const SmoothParabola base(0.6794510396370944, 5.252171148300605e-11, 3.139503407832333);
  int evaluations = 0;
  const NumericDensity p(
      [&](double t) {
        ++evaluations;
        return 0.002 * log_pdf(base, t);
      },
      {support(base)}, {base.mu()});
  for (const double u : {1e-16, 1e-30, 1e-300}) {
    evaluations = 0;
    EXPECT_NEAR(quantile(p, u), support(base).lower(), 1e-15) << u;
    EXPECT_NEAR(cdf(p, quantile(p, u)), u, 1e-15) << u;
    EXPECT_LT(evaluations, 2000) << u;
  }
}

TEST(NumericDensity, ExpectationsSeeEveryPiece) {
  const NumericDensity p([](double t) { return -(t * t - 100) * (t * t - 100) * 1e4; },
                         {Interval(-kInf, kInf)}, {-10, 10});
  EXPECT_NEAR(expectation(p, [](double t) { return t > 0 ? 1.0 : 0.0; }), 0.5, 1e-10);
  EXPECT_NEAR(expectation(p, [](double t) { return t * t; }), 100, 1e-6);
}

TEST(NumericDensity, SeesAStepBesideAPanel) {
  for (const double edge : {1.0, 1.001, 1.004, 1.01, 2.5, 2.999, 3.0}) {
    const NumericDensity p([edge](double t) { return std::abs(t) < edge ? 0 : -1e9 * (std::abs(t) - edge); },
                           {Interval(-kInf, kInf)}, {0});
    EXPECT_NEAR(std::exp(p.log_mass()), 2 * edge + 2e-9, 1e-10 * edge) << edge;
    EXPECT_NEAR(variance(p), edge * edge / 3, 1e-8) << edge;
    EXPECT_LE(p.error(), 1e-10);
  }
}

TEST(NumericDensity, MomentsOfHeavyTails) {  // Student's t, whose kurtosis is 3 + 6 / (nu - 4)
  for (const double nu : {4.05, 4.1, 5.0}) {
    const NumericDensity p([nu](double t) { return -(nu + 1) / 2 * std::log1p(t * t / nu); },
                           {Interval(-kInf, kInf)}, {0});
    EXPECT_NEAR(variance(p), nu / (nu - 2), 1e-9) << nu;
    EXPECT_NEAR(kurtosis(p) / (3 + 6 / (nu - 4)), 1, 1e-9) << nu;
    EXPECT_EQ(central_moment(p, 6), kInf) << nu;
  }
}

TEST(NumericDensity, WavesInTheTailsAreSummed) {  // the characteristic function of Student's t with nu = 3
  const NumericDensity p([](double t) { return -2 * std::log1p(t * t / 3); }, {Interval(-kInf, kInf)}, {0});
  const double x = std::sqrt(3.0);
  EXPECT_NEAR(expectation(p, [](double t) { return std::cos(t); }), (1 + x) * std::exp(-x), 1e-10);
}

TEST(NumericDensity, TsallisEntropyIsThatOfItsDefinition) {
  const NumericDensity p = two_pieces();
  for (const double order : {0.3, 0.9, 1 + 1e-8, 1.5, 2.0, 7.0}) {
    const double power = std::pow(0.75, order) + 2 / (order + 1) * std::pow(0.25, order);
    EXPECT_NEAR(tsallis_entropy(p, order), (1 - power) / (order * (order - 1)),
                order < 1.1 && order > 0.91 ? 1e-7 : 1e-10)
        << order;
  }
  EXPECT_NEAR(tsallis_entropy(p, std::nextafter(1.0, 2.0)), entropy(p), 1e-12);
  EXPECT_EQ(tsallis_entropy(p, kInf), 0);
  const NumericDensity narrow([](double) { return 0.0; }, {Interval(0, 0.5)}, {0.25});
  EXPECT_EQ(tsallis_entropy(narrow, kInf), -kInf) << "Omega forbids densities above one";
  const NumericDensity cauchy([](double t) { return -std::log1p(t * t); }, {Interval(-kInf, kInf)}, {0});
  EXPECT_EQ(tsallis_entropy(cauchy, 0.4), kInf);
  EXPECT_NEAR(entropy(cauchy), std::log(4 * std::numbers::pi), 1e-10);
  EXPECT_EQ(variance(cauchy), kInf);
  EXPECT_TRUE(std::isnan(mean(cauchy)));
}

TEST(NumericDensity, EscortIsAPower) {
  const NumericDensity p = gaussian(1, 2);
  EXPECT_NEAR(variance(escort(p, 4)), 1, 1e-9);
  const NumericDensity flat = escort(two_pieces(), 0);
  EXPECT_NEAR(pdf(flat, 2.5), 1.0 / 3, 1e-12);
  EXPECT_NEAR(pdf(flat, -1.5), 1.0 / 3, 1e-12);
}

TEST(NumericDensity, DrawsFollowTheCdf) {
  const NumericDensity p = two_pieces();
  const std::vector<double> draws = sample(p, 4000, 7);
  EXPECT_EQ(draws, sample(p, 4000, 7));
  const auto cdf_of = [&p](long double t) { return cdf(p, static_cast<double>(t)); };
  EXPECT_LT(reference::kolmogorov_smirnov(draws, cdf_of), 1.95);
}

TEST(NumericDensity, ErrorsAreNamed) {
  const auto made = [](std::function<double(double)> f, std::vector<Interval> support) {
    return [=] { (void)NumericDensity(f, support, {}); };
  };
  const auto zero = [](double) { return 0.0; };
  EXPECT_EQ(message_of<std::invalid_argument>(made(zero, {})),
            "fenchel::numeric_density: support must not be empty, got 0");
  EXPECT_EQ(
      message_of<std::invalid_argument>(made(zero, {Interval(0, 2), Interval(1, 3)})),
      "fenchel::numeric_density: support[1] must have a width and lie right of the piece before it, got "
      "[1, 3]");
  EXPECT_EQ(message_of<std::domain_error>(made(zero, {Interval(-kInf, kInf)})),
            "fenchel::numeric_density: the mass must be positive and finite, got inf");
  EXPECT_EQ(message_of<std::domain_error>(made([](double) { return -kInf; }, {Interval(0, 1)})),
            "fenchel::numeric_density: the mass must be positive and finite, got 0");
  EXPECT_EQ(message_of<std::domain_error>(made([](double) { return kNaN; }, {Interval(0, 1)})),
            "fenchel::numeric_density: log_density(0.5) must be a number below infinity, got nan");
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)NumericDensity(zero, {Interval(0, 1)}, {}, 0); }),
            "fenchel::numeric_density: accuracy must be positive and finite, got 0");
  EXPECT_EQ(message_of<ConvergenceError>(made([](double t) { return std::sin(1e9 * t); }, {Interval(0, 1)}))
                .substr(0, 88),
            "fenchel::numeric_density: the estimated relative error of the mass must reach 1e-10, got");
  const NumericDensity p = gaussian(0, 1);
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)quantile(p, 1.5); }),
            "fenchel::quantile: u must be in [0, 1], got 1.5");
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)survival_quantile(p, kNaN); }),
            "fenchel::survival_quantile: u must be in [0, 1], got nan");
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)central_moment(p, -1); }),
            "fenchel::central_moment: n must not be negative, got -1");
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)tsallis_entropy(p, 0); }),
            "fenchel::tsallis_entropy: order must be positive, got 0");
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)escort(p, kInf); }),
            "fenchel::escort: order must be finite, got inf");
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)escort(p, -1); }),
            "fenchel::numeric_density: the mass must be positive and finite, got inf");
  EXPECT_EQ(
      message_of<std::domain_error>([&] { (void)expectation(p, [](double) { return kNaN; }); }).substr(0, 23),
      "fenchel::expectation: f");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { (void)sample(p, -1, 1); }),
            "fenchel::sample: count must not be negative, got -1");
}

}  // namespace
}  // namespace fenchel
