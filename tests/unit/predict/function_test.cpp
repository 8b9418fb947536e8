#include "fenchel/predict/function.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "fenchel/core/beta_gaussian.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/philox.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kAlphas;
using testing::kInf;
using testing::kNaN;
using testing::message_of;

static_assert(Predictable<Tsallis, FunctionScore, Line>);
static_assert(Predictable<Shannon, LinearScore, Interval>);

FunctionScore quadratic(double mu, double sigma2) {
  return FunctionScore([=](double t) { return -(t - mu) * (t - mu) / (2 * sigma2); });
}
FunctionScore absolute(double mu, double b) {
  return FunctionScore([=](double t) { return -std::abs(t - mu) / b; });
}
FunctionScore double_well(double depth) {
  return FunctionScore([=](double t) { return -depth * (t * t - 1) * (t * t - 1); });
}

TEST(PredictFunction, TruncatedParabola) {
  const NumericDensity p = predict(Tsallis(2), quadratic(0, 2.0 / 3), Line{});
  ASSERT_EQ(support(p).size(), 1u);
  EXPECT_NEAR(support(p)[0].lower(), -1, 1e-13);
  EXPECT_NEAR(support(p)[0].upper(), 1, 1e-13);
  EXPECT_NEAR(pdf(p, 0), 0.75, 1e-13);
  EXPECT_NEAR(variance(p), 0.2, 1e-12);
  EXPECT_NEAR(quantile(p, 0.9), 2 * std::sin(std::asin(0.8) / 3), 1e-12);
}

TEST(PredictFunction, QuadraticScoresOfEveryAlpha) {
  for (const double alpha : kAlphas) {
    if (alpha <= 0.4) continue;
    for (const double sigma2 : {1e-4, 1.0, 30.0}) {
      for (const double mu : {0.0, 17.0}) {
        const auto exact = beta_gaussian_constants(1, alpha - 1, std::log(sigma2));
        const NumericDensity p = predict(Tsallis(alpha), quadratic(mu, sigma2), Line{});
        EXPECT_NEAR(log_pdf(p, mu), exact.log_peak, 1e-10) << alpha << " " << sigma2;
        EXPECT_NEAR(variance(p) / (exact.variance_factor * sigma2), 1, 1e-8) << alpha << " " << sigma2;
        EXPECT_NEAR(normalizer(Tsallis(alpha), quadratic(mu, sigma2), Line{}), exact.normalizer,
                    1e-9 * std::max(1.0, std::abs(exact.normalizer)))
            << alpha << " " << sigma2;
        if (alpha > 1) {
          EXPECT_NEAR(support(p)[0].width() / 2, std::sqrt(exact.radius2 * sigma2),
                      1e-9 * std::sqrt(exact.radius2 * sigma2))
              << alpha << " " << sigma2;
        } else {
          EXPECT_EQ(support(p)[0], Interval(-kInf, kInf));
        }
      }
    }
  }
}

TEST(PredictFunction, LaplaceAndTriangular) {
  const double b = 0.7, mu = 0.3;
  const NumericDensity laplace = predict(Shannon(), absolute(mu, b), Line{});
  EXPECT_NEAR(pdf(laplace, mu + 1), std::exp(-1 / b) / (2 * b), 1e-11);
  EXPECT_NEAR(variance(laplace), 2 * b * b, 1e-10);
  const NumericDensity triangular = predict(Tsallis(2), absolute(mu, b), Line{});
  EXPECT_NEAR(support(triangular)[0].upper(), mu + std::sqrt(b), 1e-12);
  EXPECT_NEAR(pdf(triangular, mu), 1 / std::sqrt(b), 1e-11);
  EXPECT_NEAR(variance(triangular), b / 6, 1e-11);
  EXPECT_NEAR(tsallis_entropy(triangular, 2), 0.5 - 1 / (3 * std::sqrt(b)), 1e-11);
  EXPECT_NEAR(conjugate(Tsallis(2), absolute(mu, b), Line{}), 0.5 - 2 / (3 * std::sqrt(b)), 1e-11);
}

TEST(PredictFunction, TruncatedGaussian) {  // docs/math.md, golden value 60
  const FunctionScore f([](double t) { return 2 * std::exp(-t * t / 2) / std::sqrt(2 * std::numbers::pi); });
  const NumericDensity p = predict(Tsallis(2), f, Line{});
  EXPECT_NEAR(support(p)[0].upper(), 1.5381722544550523, 1e-11);
  EXPECT_NEAR(variance(p), 0.40693947031039246, 1e-11);
  EXPECT_NEAR(normalizer(Tsallis(2), f, Line{}) - 1, 0.24444173653800069, 1e-11);
}

TEST(PredictFunction, TemperatureDividesTheScore) {
  const FunctionScore f = double_well(1), hot([&](double t) { return f(t) / 0.3; });
  const NumericDensity p = predict(Tsallis(1.5, 0.3), f, Line{}), q = predict(Tsallis(1.5), hot, Line{});
  for (const double t : {-1.2, -1.0, 0.0, 0.4, 1.1}) EXPECT_NEAR(pdf(p, t), pdf(q, t), 1e-12);
  EXPECT_NEAR(normalizer(Tsallis(1.5, 0.3), f, Line{}), 0.3 * normalizer(Tsallis(1.5), hot, Line{}), 1e-12);
  EXPECT_NEAR(conjugate(Tsallis(1.5, 0.3), f, Line{}), 0.3 * conjugate(Tsallis(1.5), hot, Line{}), 1e-12);
}

TEST(PredictFunction, TwoModesPartAsAlphaGrows) {
  const FunctionScore f = double_well(2);
  for (const double alpha : {1.0, 1.05, 1.2}) {
    EXPECT_EQ(support(predict(Tsallis(alpha), f, Line{})).size(), 1u) << alpha;
  }
  for (const double alpha : {2.0, 5.0, 1e6}) {
    const NumericDensity p = predict(Tsallis(alpha), f, Line{});
    ASSERT_EQ(support(p).size(), 2u) << alpha;
    EXPECT_NEAR(cdf(p, 0), 0.5, 1e-10);
    EXPECT_NEAR(support(p)[0].lower(), -support(p)[1].upper(), 1e-12);
    EXPECT_EQ(pdf(p, 0), 0);
  }
}

TEST(PredictFunction, InfiniteAlphaFillsTheMeasureOneWhereTheScoreIsHighest) {
  const NumericDensity p = predict(Tsallis(kInf, 3), quadratic(0.3, 2), Line{});
  ASSERT_EQ(support(p).size(), 1u);
  EXPECT_NEAR(support(p)[0].lower(), -0.2, 1e-12);
  EXPECT_NEAR(support(p)[0].upper(), 0.8, 1e-12);
  EXPECT_NEAR(pdf(p, 0.5), 1, 1e-12);
  EXPECT_NEAR(variance(p), 1. / 12, 1e-12);
  EXPECT_EQ(tsallis_entropy(p, kInf), 0);
  EXPECT_NEAR(normalizer(Tsallis(kInf, 3), quadratic(0.3, 2), Line{}), -0.25 / 4, 1e-12);  // f at the ends
  EXPECT_NEAR(conjugate(Tsallis(kInf), quadratic(0.3, 2), Line{}), -1. / 12 / 4, 1e-12);   // E_p[f]

  // Two wells: |t^2 - 1| <= d with 2 (sqrt(1 + d) - sqrt(1 - d)) = 1, so d^2 = 1 - (1 - 1/8)^2.
  const NumericDensity two = predict(Tsallis(kInf), double_well(2), Line{});
  const double d = std::sqrt(15.) / 8;
  ASSERT_EQ(support(two).size(), 2u);
  EXPECT_NEAR(support(two)[1].lower(), std::sqrt(1 - d), 1e-12);
  EXPECT_NEAR(support(two)[1].upper(), std::sqrt(1 + d), 1e-12);
  EXPECT_NEAR(cdf(two, 0), 0.5, 1e-12);

  // The limit of large alpha; an interval of length one has one density alone.
  const NumericDensity large = predict(Tsallis(1e6), double_well(2), Line{});
  EXPECT_NEAR(support(large)[1].upper(), std::sqrt(1 + d), 1e-4);
  EXPECT_NEAR(pdf(predict(Tsallis(kInf), quadratic(0, 1), Interval(0.1, 1.1)), 1), 1, 1e-12);
}

TEST(PredictFunction, FarAndNarrow) {
  for (const double mu : {-1e8, 1e5, 3e12}) {
    const double sigma = 1e-4 * std::abs(mu) * 1e-3;
    const NumericDensity p = predict(Tsallis(1.5), quadratic(mu, sigma * sigma), Line{});
    EXPECT_NEAR(mean(p), mu, 1e-5 * sigma);
    const auto exact = beta_gaussian_constants(1, 0.5, 2 * std::log(sigma));
    EXPECT_NEAR(variance(p) / (exact.variance_factor * sigma * sigma), 1, 1e-6);
  }
  const FunctionScore pair([](double t) {  // two peaks, a thousand of their widths from 0
    return std::max(-std::pow((t - 1000) / 0.01, 2), 0.5 - std::pow((t - 1000.5) / 0.01, 2));
  });
  EXPECT_EQ(support(predict(Tsallis(2, 0.001), pair, Line{})).size(), 1u);
  EXPECT_EQ(support(predict(Tsallis(1.2), pair, Line{})).size(), 2u);
}

TEST(PredictFunction, MasksAndIntervals) {
  const FunctionScore f([](double t) { return t > 0.1 && t < 0.5 ? -kInf : -t * t; });
  for (const double alpha : {0.7, 1.0, 1.5}) {
    const NumericDensity p = predict(Tsallis(alpha), f, Interval(-1, 1));
    ASSERT_EQ(support(p).size(), 2u);
    EXPECT_EQ(support(p)[0], Interval(-1, 0.1));
    EXPECT_EQ(support(p)[1], Interval(0.5, 1));
    EXPECT_NEAR(expectation(p, [](double) { return 1.0; }), 1, 1e-10);
  }
  const NumericDensity exponential =
      predict(Shannon(), FunctionScore([](double t) { return -t; }), Interval(0, kInf));
  EXPECT_NEAR(mean(exponential), 1, 1e-10);
  EXPECT_EQ(support(exponential)[0], Interval(0, kInf));
  for (const double width : {0.1, 10.0}) {
    for (const double alpha : {0.5, 1.0, 3.0, 1e6}) {
      const NumericDensity flat =
          predict(Tsallis(alpha), FunctionScore([](double) { return 3.0; }), Interval(0, width));
      EXPECT_NEAR(pdf(flat, 0.07), 1 / width, 1e-10 / width) << alpha;
      EXPECT_EQ(support(flat)[0], Interval(0, width));
    }
  }
}

TEST(PredictFunction, StaysInTheDomain) {
  const FunctionScore f([](double t) { return 2 * std::log(t) - t; });  // NaN below 0
  const NumericDensity gamma = predict(Shannon(), f, Interval(0, kInf));
  EXPECT_EQ(support(gamma)[0], Interval(0, kInf));
  EXPECT_NEAR(mean(gamma), 3, 1e-10);
  EXPECT_NEAR(variance(gamma), 3, 1e-9);
}

TEST(PredictFunction, ADomainMayBeginAtASubnormalNumber) {
  const FunctionScore f([](double t) { return -t * t; });
  const auto p = predict(Tsallis(2), f, Interval(1e-310, 1)), q = predict(Tsallis(2), f, Interval(0, 1));
  EXPECT_NEAR(mean(p), mean(q), 1e-12);
}

TEST(PredictFunction, FindsABumpOnABroadHill) {
  const FunctionScore f([](double t) { return -t * t / 200 + 30 * std::exp(-(t - 3) * (t - 3) / 2e-4); });
  for (const double alpha : {0.7, 1.0, 1.5, 2.0, 5.0}) {
    EXPECT_NEAR(mode(predict(Tsallis(alpha), f, Line{})), 3, 1e-5) << alpha;
  }
}

TEST(PredictFunction, ManyModes) {
  const NumericDensity p =
      predict(Tsallis(2), FunctionScore([](double t) { return std::cos(50 * t); }), Interval(0, 3));
  EXPECT_EQ(support(p).size(), 25u);
}

TEST(PredictFunction, WavesAreNotMistakenForSlowerOnes) {  // 2048 even steps see fewer than there are
  const FunctionScore f([](double t) { return std::cos(t); });
  const NumericDensity p = predict(Shannon(), f, Interval(-1e4, 1e4));
  EXPECT_EQ(p.modes().size(), 3185u);  // 3183 and the ends
  EXPECT_NEAR(mean(p), 0, 1e-7);
  EXPECT_NEAR(variance(p), 33331872.5322, 1e-3);  // by the trapezoidal rule
  const double end = 1024 * std::numbers::pi;     // and 2048 even steps one and the same value
  const NumericDensity q = predict(Tsallis(2), f, Interval(-end, end));
  EXPECT_NEAR(mean(q), 0, 1e-7);
  EXPECT_EQ(support(q).size(), 1025u);
}

TEST(PredictFunction, EdgesAreSharp) {  // flat up to +-1, and then steep: what no node of a rule is near to
  for (const double alpha : {0.5, 1.0, 1.5, 2.0, 4.0, 30.0}) {
    const NumericDensity p =
        predict(Tsallis(alpha), FunctionScore([](double t) { return -std::pow(t, 2000); }), Line());
    EXPECT_NEAR(mean(p), 0, 1e-10) << alpha;
    EXPECT_LE(p.error(), 1e-10) << alpha;
    const NumericDensity q = predict(
        Tsallis(alpha),
        FunctionScore([](double t) { return -1e6 * std::pow(std::max(std::abs(t) - 1, 0.0), 2); }), Line());
    EXPECT_NEAR(mean(q), 0, 1e-10) << alpha;
    EXPECT_LE(q.error(), 1e-10) << alpha;
    if (alpha == 1) {
      EXPECT_NEAR(pdf(p, 0.5) * 2 * std::tgamma(1 + 1.0 / 2000), 1, 1e-10);
      EXPECT_NEAR(pdf(q, 0.5) * (2 + 1e-3 * std::sqrt(std::numbers::pi)), 1, 1e-10);
    }
    if (alpha == 2) {
      const double height = pdf(q, 0.5);
      EXPECT_NEAR(2 * height + 4e-3 / 3 * std::pow(height, 1.5), 1, 1e-10);
    }
  }
}

TEST(PredictFunction, EdgesMayBeAnywhere) {
  Philox rng(11);
  for (int trial = 0; trial < 100; ++trial) {
    const double end = 4 * uniform01(rng), width = std::pow(10, -1 - 6 * uniform01(rng));
    const FunctionScore f([=](double t) { return -std::max(0.0, t - end) / width - std::max(0.0, -t); });
    const NumericDensity p = predict(Shannon(), f, Line());
    const double mass = 1 + end + width;
    EXPECT_NEAR(pdf(p, end / 2) * mass, 1, 1e-10) << end << " " << width;
    EXPECT_NEAR(mean(p) * mass, -1 + end * end / 2 + width * (end + width), 2e-10 * mass)
        << end << " " << width;
  }
}

TEST(PredictFunction,
     TailsMayBeHeavy) {  // alpha must be above 1/3: near to it most of the variance is far out
  for (const double alpha : {0.334, 0.34, 0.35, 0.4}) {
    const auto exact = beta_gaussian_constants(1, alpha - 1, std::log(0.5));
    const NumericDensity p = predict(Tsallis(alpha), FunctionScore([](double t) { return -t * t; }), Line());
    EXPECT_NEAR(variance(p) / (exact.variance_factor * 0.5), 1, 1e-9) << alpha;
  }
}

TEST(PredictFunction, IsTheMaximum) {
  const FunctionScore f = double_well(1.5);
  for (const double alpha : {0.7, 1.0, 1.5, 2.0, 5.0}) {
    const Tsallis omega(alpha, 0.8);
    const NumericDensity p = predict(omega, f, Interval(-2, 2));
    const auto objective = [&](const NumericDensity& q) {
      return expectation(q, f) + omega.temperature() * tsallis_entropy(q, alpha);
    };
    const double best = objective(p);
    EXPECT_NEAR(best, conjugate(omega, f, Interval(-2, 2)), 1e-9);
    Philox rng(3);
    for (int trial = 0; trial < 8; ++trial) {
      const double a = standard_normal(rng), b = standard_normal(rng), c = uniform01(rng);
      const NumericDensity q(
          [&](double t) {
            const double tilt = 1 + 0.3 * std::sin(a + 3 * b * t);
            return std::log(tilt * (1 - 0.2 * c) * pdf(p, t) + 0.05 * c);
          },
          {Interval(-2, 2)}, p.modes());
      EXPECT_LT(objective(q), best) << alpha;
    }
  }
}

TEST(PredictFunction, EndlessWavesAreRefused) {
  const auto message = message_of<ConvergenceError>(
      [] { (void)predict(Tsallis(2), FunctionScore([](double t) { return std::cos(t); }), Line()); });
  EXPECT_EQ(message.substr(0, 82),
            "fenchel::predict: the number of maxima of f on an infinite domain must be at most ");
}

TEST(PredictFunction, ErrorsSayWhy) {
  const auto predicted = [](double alpha, std::function<double(double)> f, auto domain) {
    return message_of<std::domain_error>([&] { (void)predict(Tsallis(alpha), FunctionScore(f), domain); });
  };
  const auto square = [](double t) { return -t * t; };
  EXPECT_EQ(predicted(
                2, [](double) { return kNaN; }, Interval(0, 1)),
            "fenchel::predict: f(0) must be a number below infinity, got nan");
  EXPECT_EQ(predicted(
                2, [](double t) { return t == 1 ? kInf : 0.0; }, Interval(0, 1)),
            "fenchel::predict: f(1) must be a number below infinity, got inf");
  EXPECT_EQ(predicted(
                2, [](double) { return -kInf; }, Line{}),
            "fenchel::predict: the largest f found must be finite, got -inf");
  EXPECT_EQ(predicted(2, square, Interval(1, 1)),
            "fenchel::predict: domain.upper() must be above lower = 1, got 1");
  EXPECT_EQ(
      predicted(kInf, square, Interval(0, 0.5)),
      "fenchel::predict: the length of where f is finite must be at least 1 for infinite alpha, got 0.5");
  EXPECT_EQ(
      predicted(
          kInf, [](double t) { return std::min(0.5, -t); }, Interval(-3, 4)),
      "fenchel::predict: the length of f >= 0.5 must be 1 for infinite alpha: no prediction is the only "
      "one where f is constant, got 2.5");
  EXPECT_EQ(
      predicted(0.25, square, Line{}),
      "fenchel::predict: alpha must be above 0.3333333333333333 for E_p[f] to be finite in the tails of "
      "f, got 0.25");
  const std::string none = "must be 1 for some A: no distribution exists where f does not fall enough, got ";
  for (const double alpha : {1.0, 1.5, 2.0}) {
    EXPECT_EQ(predicted(
                  alpha, [](double) { return 0.0; }, Line{}),
              "fenchel::predict: the mass of exp_{2-alpha}((f - A) / T), alpha = " + shortest(alpha) + ", " +
                  none + "inf");
  }
  EXPECT_EQ(predicted(
                1, [](double t) { return -0.5 * std::log1p(std::abs(t)); }, Line{}),
            "fenchel::predict: the mass of exp_{2-alpha}((f - A) / T), alpha = 1, " + none + "inf");
  // 0.9 times a Gaussian density holds no more mass than 0.9 above level 0.
  const std::string little = predicted(
      2, [](double t) { return 0.9 * std::exp(-t * t / 2) / std::sqrt(2 * std::numbers::pi); }, Line{});
  const std::string start = "fenchel::predict: the mass of exp_{2-alpha}((f - A) / T), alpha = 2, " + none;
  ASSERT_EQ(little.substr(0, start.size()), start);
  EXPECT_NEAR(std::stod(little.substr(start.size())), 0.9, 1e-9);
  EXPECT_EQ(predicted(
                1.5, [](double t) { return std::atan(t); }, Line{}),
            "fenchel::predict: the mass of exp_{2-alpha}((f - A) / T), alpha = 1.5, " + none + "inf");
  const std::string rising = predicted(
      1, [](double t) { return t; }, Interval(0, kInf));
  const std::string end =
      "must be less than f nearer to 0: no distribution exists where f does not fall, got ";
  ASSERT_NE(rising.find(end), std::string::npos);
  const double last = std::stod(rising.substr(rising.find(end) + end.size()));
  EXPECT_EQ(rising, "fenchel::predict: f(" + shortest(last) + ") " + end + shortest(last));
  EXPECT_EQ(
      message_of<std::domain_error>([&] { (void)predict(Tsallis(1), FunctionScore(square), Line{}, -1); }),
      "fenchel::predict: accuracy must be positive and finite, got -1");
  const std::string inexact =
      "fenchel::predict: the estimated relative error of the mass must reach 1e-10, got";
  EXPECT_EQ(message_of<ConvergenceError>([&] {  // the score is rounded to 1e-7
              (void)predict(Tsallis(1.5), FunctionScore([](double t) { return 1e9 - t * t; }), Line{});
            })
                .substr(0, inexact.size()),
            inexact);
  EXPECT_EQ(message_of<ConvergenceError>([&] {
              (void)predict(Shannon(), FunctionScore([](double t) { return 0.1 * std::sin(1e9 * t * t); }),
                            Interval(0, 1));
            }).substr(0, 77),
            "fenchel::predict: the number of turning points of f must be at most 8192, got");
}

}  // namespace
}  // namespace fenchel
