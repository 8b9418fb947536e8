#include "fenchel/distribution/integers/sparse_integer_gaussian.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <stdexcept>

#include "fenchel/core/beta_gaussian.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "support/grids.hpp"
#include "support/integer_families.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::kIntegerAlphas;
using testing::kNaN;
using testing::message_of;

TEST(SparseIntegerGaussian, Row64OfTheGoldenValues) {
  const SparseIntegerGaussian p(2, 3.4, 1);
  EXPECT_NEAR(threshold(p), -0.63, 0.63e-13);
  EXPECT_NEAR(pmf(p, 3), 0.55, 0.55e-13);
  EXPECT_NEAR(pmf(p, 4), 0.45, 0.45e-13);
  EXPECT_NEAR(mean(p), 3.45, 3.45e-13);
  EXPECT_EQ(support(p), (IntegerRange{3, 4}));
}

/// mpmath, scripts/golden/integers.py.
TEST(SparseIntegerGaussian, AgreesWithTheTable) {
  EXPECT_EQ(testing::expect_golden_cases<SparseIntegerGaussian>(1), 29);
}

/// Sums over the integers of a smooth bump are integrals: at alpha = 1 to exp(-2 pi^2 sigma2).
TEST(SparseIntegerGaussian, AWideOneIsTheDensityOnTheLine) {
  for (const double sigma2 : {10.0, 1e5, 1e8}) {
    const SparseIntegerGaussian p(1, 0.3, sigma2);
    EXPECT_NEAR(mean(p), 0.3, 1e-15 * std::sqrt(sigma2)) << sigma2;
    EXPECT_NEAR(variance(p), sigma2, 1e-13 * sigma2);
    EXPECT_NEAR(normalizer(p), 0.5 * std::log(2 * std::numbers::pi * sigma2), 1e-14);
    EXPECT_NEAR(kurtosis(p), 3, 1e-12);
  }
  for (const double alpha : {4.0 / 3, 1.5, 2.0}) {  // the kink at the edge leaves a power of the width
    const SparseIntegerGaussian p(alpha, 0.3, 1e12);
    const auto line = beta_gaussian_constants(1, alpha - 1, std::log(1e12));
    EXPECT_NEAR(variance(p) / 1e12, line.variance_factor, 1e-7 * line.variance_factor) << alpha;
    EXPECT_NEAR(normalizer(p), line.normalizer, 1e-9) << alpha;
  }
}

TEST(SparseIntegerGaussian, MovesWithMuAndMirrors) {
  for (const double alpha : kIntegerAlphas) {
    const SparseIntegerGaussian p(alpha, 0.375, 2.5), moved(alpha, 1e9 + 0.375, 2.5),
        mirrored(alpha, -0.375, 2.5);
    for (index_t t = -40; t <= 40; ++t) {
      EXPECT_EQ(pmf(p, t), pmf(moved, t + 1'000'000'000)) << alpha;
      EXPECT_NEAR(pmf(p, t), pmf(mirrored, -t), 4e-16) << alpha;
      EXPECT_NEAR(cdf(p, t), survival(mirrored, -t - 1), 4e-16) << alpha;
    }
    EXPECT_EQ(variance(p), variance(moved)) << alpha;
  }
}

TEST(SparseIntegerGaussian, HalfIntegersTie) {
  for (const double alpha : kIntegerAlphas) {
    for (const double mu : {0.5, -0.5, 7.5, -1e6 - 0.5}) {
      for (const double sigma2 : {1e-300, 0.3, 4.0}) {
        const SparseIntegerGaussian p(alpha, mu, sigma2);
        const auto lower = static_cast<index_t>(std::floor(mu));
        EXPECT_EQ(mode(p), lower) << alpha << " " << mu;
        EXPECT_EQ(pmf(p, lower), pmf(p, lower + 1)) << alpha << " " << mu;
        EXPECT_NEAR(mean(p), mu, 2e-16 * std::abs(mu)) << alpha << " " << mu;
      }
    }
  }
  const SparseIntegerGaussian p(kInf, 0.5, 3), below(kInf, std::nextafter(0.5, 0.0), 3),
      above(kInf, std::nextafter(-0.5, 0.0), 3);
  EXPECT_EQ(pmf(p, 0), 0.5);
  EXPECT_EQ(support(below), (IntegerRange{0, 0}));
  EXPECT_EQ(support(above), (IntegerRange{0, 0}));
  EXPECT_EQ(mode(SparseIntegerGaussian(2, 0x1p53, 1)), index_t{1} << 53);
}

/// p is delta at the nearest integer iff the next one is lower by 1 / (alpha - 1) or more.
TEST(SparseIntegerGaussian, IsCertainForSmallSigma2) {
  for (const double alpha : {1.5, 2.0, 5.0}) {
    const double bound = (alpha - 1) * (0.5 - 0.2);  // f(0) - f(1) = (1/2 - mu) / sigma2
    EXPECT_EQ(support(SparseIntegerGaussian(alpha, 0.2, 0.999 * bound)), (IntegerRange{0, 0})) << alpha;
    EXPECT_EQ(support(SparseIntegerGaussian(alpha, 0.2, 1.001 * bound)), (IntegerRange{0, 1})) << alpha;
  }
}

TEST(SparseIntegerGaussian, TheScoreOfTheModeIsItsOwnWhateverTheScale) {
  EXPECT_EQ(SparseIntegerGaussian(2, 1.3, 5e-324).prediction().below_mode(1), 0);
}

TEST(SparseIntegerGaussian, GivesItsScoreBack) {
  const SparseIntegerGaussian p(1.5, 3.5, 0.25);
  EXPECT_EQ(score(p), QuadraticScore(3.5, 0.25));
  EXPECT_EQ(canonical_parameters(p), (std::array{14.0, -2.0}));
  for (const double alpha : kIntegerAlphas) {
    if (alpha > 100) continue;
    const SparseIntegerGaussian q(alpha, -7.3, 3);
    for (index_t t = quantile(q, 1e-6); t <= survival_quantile(q, 1e-6); ++t) {
      const double excess = score(q)(static_cast<double>(t)) - normalizer(q);
      EXPECT_NEAR(deformed_log(alpha - 1, pmf(q, t)), excess, 2e-14) << alpha << " " << t;
    }
  }
}

/// mpmath, scripts/golden/integers.py: kHeavyAccuracy.
TEST(SparseIntegerGaussian, AgreesWithTheTableOfHeavyTails) {
  EXPECT_EQ(testing::expect_heavy_cases<SparseIntegerGaussian>(1), 8);
}

/// docs/math.md 3.3: probabilities fall like k^(-2 / (1 - alpha)). On a wide scale they are Student's
/// density.
TEST(SparseIntegerGaussian, BelowOneIsStudentOnAWideScale) {
  EXPECT_EQ(variance(SparseIntegerGaussian(0.33, 0.2)), kInf);
  EXPECT_TRUE(std::isfinite(variance(SparseIntegerGaussian(0.34, 0.2))));
  EXPECT_EQ(kurtosis(SparseIntegerGaussian(0.6, 0.2)), kInf);
  EXPECT_TRUE(std::isnan(skewness(SparseIntegerGaussian(0.5, 0.2))));
  for (const double alpha : {0.2, 0.5, 0.8, 0.95}) {
    for (const double sigma2 : {1e6, 1e12}) {
      const SparseIntegerGaussian p(alpha, 0.25, sigma2);
      const BetaGaussian q(alpha, 0.25, sigma2);
      const auto deviation = static_cast<index_t>(std::sqrt(sigma2));
      for (const index_t t : {index_t{0}, 3 * deviation, -100 * deviation}) {
        const auto x = static_cast<double>(t);
        EXPECT_NEAR(pmf(p, t), pdf(q, x), 1e-12 * pdf(q, x)) << alpha << " " << sigma2;
        EXPECT_NEAR(log_cdf(p, t), log_cdf(q, x + 0.5), 1e-4) << alpha << " " << sigma2;
      }
    }
  }
}

TEST(SparseIntegerGaussian, MomentsThatDoNotExistAreSaid) {
  const SparseIntegerGaussian heavy(1e-300, 3e-7, 0.35);  // like k^-2
  EXPECT_EQ(moment(heavy, 0), 1);
  EXPECT_TRUE(std::isnan(moment(heavy, 1)));
  EXPECT_EQ(moment(heavy, 2), kInf);
  EXPECT_TRUE(std::isnan(moment(heavy, 3)));
  EXPECT_EQ(moment(heavy, 4), kInf);
  const SparseIntegerGaussian lighter(0.6, 1.2, 0.35);  // like k^-5: a third moment has no sign
  EXPECT_TRUE(std::isfinite(moment(lighter, 2)));
  EXPECT_EQ(moment(lighter, 4), kInf);
}

TEST(SparseIntegerGaussian, BadInputIsNamed) {
  const auto message = [](double alpha, double mu, double sigma2) {
    return message_of<std::domain_error>([&] { SparseIntegerGaussian(alpha, mu, sigma2); });
  };
  EXPECT_EQ(message(-1, 1, 1), "fenchel::sparse_integer_gaussian: alpha must be positive, got -1");
  EXPECT_EQ(message(2, kNaN, 1), "fenchel::sparse_integer_gaussian: mu must be in [-2^53, 2^53], got nan");
  EXPECT_EQ(message(2, -1e16, 1),
            "fenchel::sparse_integer_gaussian: mu must be in [-2^53, 2^53], got -1e+16");
  EXPECT_EQ(message(2, 0, 0), "fenchel::sparse_integer_gaussian: sigma2 must be positive and finite, got 0");
  EXPECT_EQ(message(2, 0, kInf),
            "fenchel::sparse_integer_gaussian: sigma2 must be positive and finite, got inf");
  // at once, and not after windows of millions of integers
  EXPECT_EQ(
      message(3.2, 0.2, 1e308),
      "fenchel::sparse_integer_gaussian: sigma2 must leave at most 33554432 integers with a probability "
      "above 1e-304, got 1e+308");
  EXPECT_EQ(
      message(1.5, 0, 1e30),
      "fenchel::sparse_integer_gaussian: sigma2 must leave at most 33554432 integers with a probability "
      "above 1e-304, got 1e+30");
}

}  // namespace
}  // namespace fenchel
