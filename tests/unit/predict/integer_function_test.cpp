#include "fenchel/predict/integer_function.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "fenchel/core/infinity.hpp"
#include "fenchel/predict/finite.hpp"
#include "fenchel/predict/integers.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::message_of;

FunctionScore poisson(double mu) {
  return FunctionScore([mu](double t) { return t * std::log(mu) - std::lgamma(t + 1); });
}

/// The families are what their scores predict as callables.
TEST(PredictIntegerFunction, IsTheFamilyOfItsScore) {
  for (const double alpha :
       {0.6, 0.8, 0.99, 1 - 1e-8, 1.0, std::nextafter(1.0, 2.0), 4.0 / 3, 2.0, 5.0, 1e6, kInfinity}) {
    for (const double temperature : {1.0, 2.5}) {
      const Tsallis omega(alpha, temperature);
      for (const double mu : {0.3, 3.0, 300.5}) {
        const SparsePoisson expected = predict(omega, PoissonScore(mu), Naturals());
        const IntegerTable found = predict(omega, poisson(mu), Naturals());
        const double scale = std::abs(normalizer(expected)) + 1;
        EXPECT_NEAR(normalizer(omega, poisson(mu), Naturals()), normalizer(expected), 1e-13 * scale) << alpha;
        for (const index_t t :
             {index_t{0}, mode(expected), mode(expected) + 9, index_t{2000}, index_t{1} << 40}) {
          EXPECT_NEAR(pmf(found, t), pmf(expected, t), 1e-11 * pmf(expected, t)) << alpha << " " << t;
          EXPECT_NEAR(survival(found, t), survival(expected, t), 1e-10 * survival(expected, t))
              << alpha << " " << t;
        }
        EXPECT_NEAR(mean(found), mean(expected), 1e-11 * mean(expected)) << alpha;
        if (alpha > 0.7) {
          EXPECT_NEAR(variance(found), variance(expected), 1e-10 * variance(expected)) << alpha;
        }
      }
      const FunctionScore g([](double t) { return -(t + 2.2) * (t + 2.2) / 2e4; });
      const SparseIntegerGaussian expected = predict(omega, QuadraticScore(-2.2, 1e4), Integers());
      const IntegerTable found = predict(omega, g, Integers());
      EXPECT_NEAR(mean(found), mean(expected), 1e-9) << alpha;
      EXPECT_NEAR(variance(found), variance(expected), 1e-10 * variance(expected)) << alpha;
      EXPECT_NEAR(cdf(found, -50), cdf(expected, -50), 1e-11) << alpha;
    }
  }
}

/// Several modes, far from 0 and from each other, and masked integers.
TEST(PredictIntegerFunction, SeveralModes) {
  const auto f = [](double t) { return std::max(-std::abs(t - 5000) / 3, 1 - std::abs(t + 700) / 2); };
  for (const double alpha : {1.0, 1.5, 2.0}) {
    const IntegerTable p = predict(Tsallis(alpha), FunctionScore(f), Integers());
    EXPECT_EQ(mode(p), -700) << alpha;
    std::vector<double> scores;
    for (index_t t = -3000; t <= 8000; ++t) scores.push_back(f(static_cast<double>(t)));
    const auto q = predict(Tsallis(alpha), VectorScore(scores), Finite());
    for (const index_t t : {-701, -700, 4990, 5000, 0})
      EXPECT_NEAR(pmf(p, t), pmf(q, t + 3000), 1e-13) << alpha << " " << t;
  }
  const IntegerTable odd =
      predict(Tsallis(2), FunctionScore([](double t) { return std::fmod(t, 2) == 0 ? -kInfinity : -t / 10; }),
              Naturals());
  EXPECT_EQ(pmf(odd, 2), 0);
  EXPECT_EQ(support(odd).first, 1);
  const IntegerTable range =
      predict(Tsallis(1), FunctionScore([](double) { return 3.0; }), IntegerRange{7, 10});
  EXPECT_EQ(support(range), (IntegerRange{7, 10}));
  EXPECT_NEAR(pmf(range, 8), 0.25, 1e-16);
}

/// At alpha = 1 the score -s log(1 + t) gives Riemann's zeta: of s = 3, 1.2020569031595942.
TEST(PredictIntegerFunction, SlowScores) {
  const FunctionScore f([](double t) { return -3 * std::log1p(t); });
  const IntegerTable p = predict(Tsallis(1), f, Naturals());
  EXPECT_NEAR(pmf(p, 0), 1 / 1.2020569031595942, 1e-13);
  EXPECT_NEAR(mean(p) + 1, 1.6449340668482264 / 1.2020569031595942, 1e-12);  // zeta(2) / zeta(3)
  EXPECT_EQ(variance(p), kInfinity);
  EXPECT_EQ(threshold(Tsallis(1), f, Naturals()), -kInfinity);
}

TEST(PredictIntegerFunction, RefusesWithAReason) {
  const auto message = [](double alpha, auto f) {
    return message_of<std::domain_error>(
        [&] { static_cast<void>(predict(Tsallis(alpha), FunctionScore(f), Integers())); });
  };
  EXPECT_NE(message(2, [](double) { return 0.0; }).find("no distribution exists where f does not fall"),
            std::string::npos);
  EXPECT_NE(message(1, [](double t) { return t; }).find("no distribution exists where f does not fall"),
            std::string::npos);
  EXPECT_EQ(message(2, [](double t) { return t == 3 ? std::nan("") : -t * t; }),
            "fenchel::predict: f(3) must be a number below infinity, got nan");
  EXPECT_EQ(message(2, [](double t) { return t == 3 ? kInfinity : -t * t; }),
            "fenchel::predict: f(3) must be a number below infinity, got inf");
  EXPECT_EQ(message(2, [](double) { return -kInfinity; }),
            "fenchel::predict: the largest f found must be finite, got -inf");
  EXPECT_NE(message(2, [](double t) { return -std::abs(t) * 1e-30; })
                .find("f must fall below its threshold within 4194304 integers of its maximum, got -"),
            std::string::npos);
  EXPECT_EQ(message(0.3, [](double t) { return -t * t / 2; }),
            "fenchel::predict: alpha must be above 0.3333 for a finite E_p[f] of a score that "
            "falls so, got 0.3");
  EXPECT_NE(message(1, [](double t) { return -std::log1p(std::abs(t)); }).find("must fall faster"),
            std::string::npos);
}

}  // namespace
}  // namespace fenchel
