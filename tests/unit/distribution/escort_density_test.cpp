#include "fenchel/distribution/escort_density.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fenchel/distribution/location_scale.hpp"
#include "fenchel/distribution/truncated_gaussian.hpp"
#include "support/messages.hpp"
#include "unit/distribution/line_laws.hpp"
#include "unit/distribution/location_scale_examples.hpp"

namespace fenchel {
namespace {

TEST(EscortDensity, LawsOfDistributions) {
  for (const double order : {0.5, 1.0, 2.5}) {
    SCOPED_TRACE(order);
    testing::expect_line_laws(escort(TruncatedGaussian(3, 0.5, 1), order), 1e-9);
  }
  testing::expect_line_laws(escort(LocationScale(testing::location_scale_example(2, 1, 2)), 0.75), 1e-9);
}

TEST(EscortDensity, OrderOneIsTheDensity) {
  const TruncatedGaussian p(3, 0.5, 1);
  const auto e = escort(p, 1);
  for (const double t : {-1.0, 0.0, 0.5, 1.4}) {
    EXPECT_NEAR(pdf(e, t), pdf(p, t), 1e-13);
    EXPECT_NEAR(cdf(e, t), cdf(p, t), 1e-12);
  }
  EXPECT_NEAR(variance(e), variance(p), 1e-12);
  EXPECT_NEAR(kurtosis(e), kurtosis(p), 1e-11);
  EXPECT_NEAR(entropy(e), entropy(p), 1e-11);
  EXPECT_NEAR(tsallis_entropy(e, 3), tsallis_entropy(p, 3), 1e-11);
}

/// Triangular: the power of a triangle is the shape (1 - |x|)^order, with moments in closed form.
TEST(EscortDensity, PowersOfATriangle) {
  const LocationScale p(testing::location_scale_example(1, 0, 1));
  for (const double order : {0.0, 0.5, 2.0, 3.5}) {
    const auto e = escort(p, order);
    EXPECT_NEAR(pdf(e, 0.25), (order + 1) / 2 * std::pow(0.75, order), 1e-12) << order;
    EXPECT_NEAR(cdf(e, -0.25), std::pow(0.75, order + 1) / 2, 1e-12);
    EXPECT_NEAR(variance(e), 2 / ((order + 2) * (order + 3)), 1e-12);
    EXPECT_NEAR(mean(e), 0, 1e-13);
    EXPECT_NEAR(skewness(e), 0, 1e-12);
  }
  const auto bathtub = escort(p, -0.5);
  EXPECT_NEAR(pdf(bathtub, 0.25), 0.25 / std::sqrt(0.75), 1e-7);
  EXPECT_EQ(mode(bathtub), -1);
}

TEST(EscortDensity, AnEscortOfAnEscortIsOneOfTheBase) {
  const auto e = escort(escort(TruncatedGaussian(2, 0, 1), 3), 0.5);
  EXPECT_EQ(e.order(), 1.5);
  EXPECT_EQ(mode(e), 0);
  EXPECT_EQ(support(e), support(TruncatedGaussian(2, 0, 1)));
}

TEST(EscortDensity, DrawsFollowTheCdf) {
  EXPECT_LT(testing::kolmogorov_smirnov(escort(TruncatedGaussian(2, 0, 1), 0.5), 400), 1.95);
}

TEST(EscortDensity, BadOrdersAreNamed) {
  const TruncatedGaussian p(2, 0, 1);
  EXPECT_EQ(testing::message_of<std::domain_error>([&] { (void)escort(p, testing::kInf); }),
            "fenchel::escort: order must be finite, got inf");
  EXPECT_THROW((void)escort(p, -1.5), ConvergenceError);
  EXPECT_EQ(testing::message_of<std::domain_error>([&] { (void)tsallis_entropy(escort(p, 2), -1); }),
            "fenchel::tsallis_entropy: order must be positive, got -1");
}

}  // namespace
}  // namespace fenchel
