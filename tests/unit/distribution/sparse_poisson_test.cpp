#include "fenchel/distribution/integers/sparse_poisson.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "support/grids.hpp"
#include "support/integer_families.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::kIntegerAlphas;
using testing::kNaN;
using testing::message_of;

TEST(SparsePoisson, Row62OfTheGoldenValues) {
  const SparsePoisson p(2, 3);
  EXPECT_NEAR(threshold(p), 1.0807906016362877, 1.1e-13);
  const double expected[] = {0.017821687031821945, 0.42328679513998633, 0.42328679513998633,
                             0.1356047226882054};
  for (index_t t = 1; t <= 4; ++t) EXPECT_NEAR(pmf(p, t), expected[t - 1], 1e-13 * expected[t - 1]) << t;
  EXPECT_NEAR(mean(p), 2.6766745534845752, 2.6e-13);
  EXPECT_EQ(support(p), (IntegerRange{1, 4}));
}

/// mpmath, scripts/golden/integers.py: relative 1e-13, and 1e-13 for logarithms near 0.
TEST(SparsePoisson, AgreesWithTheTable) { EXPECT_EQ(testing::expect_golden_cases<SparsePoisson>(0), 43); }

/// Below alpha = 1, kHeavyAccuracy.
TEST(SparsePoisson, AgreesWithTheTableOfHeavyTails) {
  EXPECT_EQ(testing::expect_heavy_cases<SparsePoisson>(0), 15);
}

/// docs/math.md 3.3: moments of order m exist for alpha >= m / (m + 1), the entropy of order s for s > 1 -
/// alpha.
TEST(SparsePoisson, BelowOneMomentsExistDownToABound) {
  EXPECT_TRUE(std::isfinite(mean(SparsePoisson(0.5, 3))));
  EXPECT_EQ(mean(SparsePoisson(0.5 - 1e-15, 3)), kInf);
  EXPECT_EQ(variance(SparsePoisson(0.4, 3)), kInf);
  EXPECT_EQ(variance(SparsePoisson(0.6, 3)), kInf);
  EXPECT_TRUE(std::isfinite(variance(SparsePoisson(0.67, 3))));
  EXPECT_TRUE(std::isfinite(skewness(SparsePoisson(0.75, 3))));
  EXPECT_EQ(skewness(SparsePoisson(0.75 - 1e-15, 3)), kInf);
  EXPECT_EQ(kurtosis(SparsePoisson(0.75, 3)), kInf);
  const SparsePoisson p(0.6, 3);
  EXPECT_EQ(tsallis_entropy(p, 0.3), kInf);
  EXPECT_TRUE(std::isfinite(tsallis_entropy(p, 0.45)));
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(escort(p, 0.3)); }),
            "fenchel::escort: beta must be above 0.4, or the sum of p^beta is infinite, got 0.3");
}

/// Far beyond the window, and for tiny alpha beyond every integer.
TEST(SparsePoisson, BelowOneQuantilesGoOn) {
  for (const double alpha : {0.05, 0.3, 0.55, 0.8, 0.99}) {
    for (const double mu : {0.3, 3.0, 1e6}) {
      const SparsePoisson p(alpha, mu);
      for (const double u : {0.01, 0.5, 0.99, 1 - 1e-6, 1 - 1e-12}) {
        const index_t t = quantile(p, u);
        EXPECT_GE(t, 0);
        if (t == std::numeric_limits<index_t>::max()) continue;
        EXPECT_GE(cdf(p, t), u) << alpha << " " << mu;
        EXPECT_LT(cdf(p, t - 1), u + 1e-15) << alpha << " " << mu;
      }
      EXPECT_NEAR(cdf(p, mode(p)) + survival(p, mode(p)), 1, 1e-15);
    }
  }
  EXPECT_EQ(quantile(SparsePoisson(0.55, 3), 1 - 1e-12), 132823908);
  EXPECT_EQ(quantile(SparsePoisson(0.05, 3), 1 - 1e-12), std::numeric_limits<index_t>::max());
}

/// At alpha = 1e-3 nearly all of the mass is beyond every integer, and A is about 1e120; at 1e-4 it
/// overflows.
TEST(SparsePoisson, ASmallAlphaHasANumberAsNormalizerOrIsRefused) {
  for (const double mu : {0.2, 3.0, 1e6}) {
    EXPECT_LT(normalizer(SparsePoisson(1e-3, mu)), 1e130) << mu;
    for (const double alpha : {1e-4, 1e-8, 1e-16, 1e-300})
      EXPECT_THROW(SparsePoisson(alpha, mu), std::domain_error) << alpha << " " << mu;
  }
}

/// E13: at alpha = 1 the probability is mu^t e^-mu / t!; another division by t! would leave 0.245 of the mass
/// at mu = 3.7.
TEST(SparsePoisson, E13TheProbabilityHasOneFactorial) {
  const double mu = 3.7;
  const SparsePoisson p(1, mu);
  double term = std::exp(-mu), printed = 0, factorial = 1;
  for (index_t t = 0; t < 30; ++t) {
    EXPECT_NEAR(pmf(p, t), term, 4e-15 * term) << t;
    printed += term / factorial;
    factorial *= static_cast<double>(t + 1);
    term *= mu / static_cast<double>(t + 1);
  }
  EXPECT_NEAR(printed, 0.245, 5e-4);
}

TEST(SparsePoisson, IsPoissonAtAlphaOne) {
  for (const double mu : {1e-300, 1e-9, 0.5, 1.0, 77.25, 1e4, 1e7}) {
    const SparsePoisson p(1, mu);
    EXPECT_NEAR(mean(p), mu, 1e-13 * mu) << mu;
    EXPECT_NEAR(variance(p), mu, 1e-13 * mu) << mu;
    EXPECT_NEAR(skewness(p), 1 / std::sqrt(mu), 1e-11 / std::sqrt(std::min(mu, 1 / mu))) << mu;
    EXPECT_NEAR(kurtosis(p), 3 + 1 / mu, 1e-12 * (3 + 1 / mu)) << mu;
    EXPECT_NEAR(normalizer(p), mu, 4e-16 * std::max(1.0, mu)) << mu;
    EXPECT_EQ(threshold(p), -kInf);
    EXPECT_EQ(support(p), (IntegerRange{0, std::numeric_limits<index_t>::max()}));
  }
  const SparsePoisson large(1, 1e9);
  EXPECT_NEAR(variance(large), 1e9, 1e-4);
  EXPECT_NEAR(log_pmf(large, 1'000'050'000), -12.530575618323713, 1e-12);
}

/// Far out, where pmf is 0, the logarithms go on: values of mpmath.
TEST(SparsePoisson, FarTailsKeepTheirLogarithms) {
  const SparsePoisson p(1, 1e4);
  EXPECT_EQ(pmf(p, 30000), 0);
  EXPECT_NEAR(log_pmf(p, 30000), -12964.442077684595, 1e-11);
  EXPECT_NEAR(log_survival(p, 30000), -12965.135299858594, 1e-11);
  EXPECT_NEAR(log_pmf(p, 100), -9442.7053383579452, 1e-11);
  EXPECT_NEAR(log_cdf(p, 100), -9442.6952890421871, 1e-11);
}

TEST(SparsePoisson, IsCertainOfZeroExactlyForSmallMu) {
  const double bound = std::exp(-1.0);
  for (const double mu : {1e-300, 0.1, 0.36, std::nextafter(bound, 0.0)}) {
    const SparsePoisson p(2, mu);
    EXPECT_EQ(support(p), (IntegerRange{0, 0})) << mu;
    EXPECT_EQ(pmf(p, 0), 1) << mu;
    EXPECT_EQ(entropy(p), 0) << mu;
    EXPECT_EQ(variance(p), 0) << mu;
    EXPECT_TRUE(std::isnan(skewness(p))) << mu;
  }
  const SparsePoisson p(2, bound * (1 + 1e-14));
  EXPECT_EQ(support(p), (IntegerRange{0, 1}));
  EXPECT_NEAR(pmf(p, 1), 0.5e-14, 2e-16);
  for (const double alpha : {1.5, 3.0, 6.0}) {  // log mu <= -1 / (alpha - 1)
    EXPECT_EQ(support(SparsePoisson(alpha, std::exp(-1.001 / (alpha - 1)))).last, 0) << alpha;
    EXPECT_EQ(support(SparsePoisson(alpha, std::exp(-0.999 / (alpha - 1)))).last, 1) << alpha;
  }
}

TEST(SparsePoisson, InfiniteAlphaIsUniformOverTheMaxima) {
  const SparsePoisson tie(kInf, 4), one(kInf, 4.5);
  EXPECT_EQ(support(tie), (IntegerRange{3, 4}));
  EXPECT_EQ(pmf(tie, 3), 0.5);
  EXPECT_EQ(mode(tie), 3);
  EXPECT_EQ(support(one), (IntegerRange{4, 4}));
  EXPECT_EQ(support(SparsePoisson(kInf, 1)), (IntegerRange{0, 1}));
  EXPECT_EQ(support(SparsePoisson(kInf, 0x1p52)).last, index_t{1} << 52);
  for (const double mu : {4.0, 4.5, 1e9}) {
    const SparsePoisson large(1e6, mu), limit(kInf, mu);
    EXPECT_EQ(support(large), support(limit)) << mu;
    EXPECT_NEAR(pmf(large, mode(limit)), pmf(limit, mode(limit)), 1e-15) << mu;
  }
  EXPECT_EQ(support(SparsePoisson(1, 4, 1e-300)).first, 0);  // a cold one holds the maxima alone
  EXPECT_EQ(pmf(SparsePoisson(1, 4, 1e-300), 3), 0.5);
}

/// p = exp_{2-alpha}(f - A), so the deformed logarithm of the probabilities gives the score back.
TEST(SparsePoisson, IsTheDeformedExponentialOfItsScore) {
  for (const double alpha : kIntegerAlphas) {
    if (alpha > 100) continue;
    for (const double temperature : {1.0, 0.4, 3.0}) {
      const SparsePoisson p(alpha, 6.5, temperature);
      for (index_t t = quantile(p, 1e-6); t <= survival_quantile(p, 1e-6); ++t) {
        const double excess = temperature * deformed_log(alpha - 1, pmf(p, t));
        EXPECT_NEAR(excess, score(p)(t) - normalizer(p), 6e-14) << alpha << " " << temperature << " " << t;
      }
    }
  }
  EXPECT_EQ(canonical_parameter(SparsePoisson(2, 3)), std::log(3.0));
}

TEST(SparsePoisson, IsContinuousInAlphaAtOne) {
  for (const double mu : {0.3, 3.0, 1e4}) {
    const SparsePoisson limit(1, mu), close(std::nextafter(1.0, 2.0), mu), near(1 + 1e-8, mu);
    for (const double u : {1e-8, 0.3, 0.9}) {
      const index_t t = survival_quantile(limit, u);
      EXPECT_NEAR(log_pmf(close, t), log_pmf(limit, t), 1e-12) << mu;
      EXPECT_NEAR(log_survival(near, t), log_survival(limit, t), 1e-5) << mu;
    }
    EXPECT_LT(support(near).last, support(limit).last);
    const SparsePoisson below(std::nextafter(1.0, 0.0), mu), heavy(1 - 1e-8, mu);
    for (const double u : {1e-8, 0.3, 0.9}) {
      const index_t t = survival_quantile(limit, u);
      EXPECT_NEAR(log_pmf(below, t), log_pmf(limit, t), 1e-12) << mu;
      EXPECT_NEAR(log_survival(below, t), log_survival(limit, t), 1e-12) << mu;
      EXPECT_NEAR(log_survival(heavy, t), log_survival(limit, t), 1e-5) << mu;
    }
    EXPECT_NEAR(variance(below), mu, 1e-12 * mu);
    EXPECT_NEAR(variance(heavy), mu, 1e-6 * mu * std::max(1.0, std::sqrt(mu)));
    EXPECT_EQ(support(heavy), support(limit));
  }
}

TEST(SparsePoisson, BadInputIsNamed) {
  const auto message = [](double alpha, double mu, double temperature) {
    return message_of<std::domain_error>([&] { SparsePoisson(alpha, mu, temperature); });
  };
  EXPECT_EQ(message(0, 1, 1), "fenchel::sparse_poisson: alpha must be positive, got 0");
  EXPECT_EQ(message(kNaN, 1, 1), "fenchel::sparse_poisson: alpha must be positive, got nan");
  EXPECT_EQ(message(1e-300, 5, 1),
            "fenchel::sparse_poisson: alpha must leave a normalizer in the range of doubles, got 1e-300");
  EXPECT_EQ(message(2, 0, 1), "fenchel::sparse_poisson: mu must be positive and at most 2^52, got 0");
  EXPECT_EQ(message(2, 1e20, 1), "fenchel::sparse_poisson: mu must be positive and at most 2^52, got 1e+20");
  EXPECT_EQ(message(2, kNaN, 1), "fenchel::sparse_poisson: mu must be positive and at most 2^52, got nan");
  EXPECT_EQ(message(1, 1e15, 1),
            "fenchel::sparse_poisson: mu must leave at most 33554432 integers with a probability above "
            "1e-304, got 1e+15");
  EXPECT_EQ(message(1, 4, 1e300),
            "fenchel::sparse_poisson: mu * temperature must leave at most 33554432 integers with a "
            "probability above 1e-304, got 4e+300");
  EXPECT_EQ(message(2, 1, -1), "fenchel::sparse_poisson: temperature must be positive and finite, got -1");
}

}  // namespace
}  // namespace fenchel
