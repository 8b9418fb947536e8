#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/line/beta_laplace.hpp"
#include "fenchel/distribution/line/capped_parabola.hpp"
#include "fenchel/distribution/line/capped_triangular.hpp"
#include "fenchel/distribution/line/location_scale.hpp"
#include "fenchel/distribution/line/smooth_parabola.hpp"
#include "fenchel/distribution/line/smooth_triangular.hpp"
#include "fenchel/distribution/line/truncated_gaussian.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"
#include "unit/distribution/location_scale_examples.hpp"

/// Parameters at the ends of the range of doubles: the right number, or an error that names the parameter.
namespace fenchel {
namespace {

using testing::kInf, testing::message_of;

TEST(Extremes, AlmostUniformBetaGaussiansHaveASupportOfLengthOne) {
  for (const double alpha : {1070.5, 1e16, 1e100, 1e290, 1e306, 1.7e308}) {
    for (const double sigma2 : {2.4e-307, 1e-300, 1e-100, 1., 1e100, 1e300, 1.7e308}) {
      SCOPED_TRACE(::testing::Message() << alpha << " " << sigma2);
      const BetaGaussian p(alpha, 0, sigma2);
      const double slack = 2000 / alpha + 1e-12;  // log sigma2 / alpha
      EXPECT_NEAR(p.half_width(), 0.5, slack);
      EXPECT_NEAR(standard_deviation(p), 1 / std::sqrt(12), slack);
      EXPECT_NEAR(pdf(p, 0), 1, 2 * slack);
      EXPECT_NEAR(quantile(p, 0.25), -0.25, slack);
      EXPECT_NEAR(cdf(p, 0.25), 0.75, slack);
      EXPECT_NEAR(kurtosis(p), 1.8, 1e-2);
      EXPECT_NEAR(entropy(p), 0, 2 * slack);
      EXPECT_TRUE(std::isfinite(tsallis_entropy(p)));
    }
  }
}

TEST(Extremes, AlmostUniformBetaLaplacesHaveASupportOfLengthOne) {
  for (const double alpha : {1070.5, 1e16, 1e290, 1e306, 1.7e308, kInf}) {
    for (const double b : {2.4e-307, 1e-100, 1., 1e100, 1.7e308}) {
      SCOPED_TRACE(::testing::Message() << alpha << " " << b);
      const BetaLaplace p(alpha, 0, b);
      const double slack = 2000 / alpha + 1e-12;
      EXPECT_NEAR(p.half_width(), 0.5, slack);
      EXPECT_NEAR(standard_deviation(p), 1 / std::sqrt(12), slack);
      EXPECT_NEAR(absolute_moment(p, 1), 0.25, slack);
      EXPECT_NEAR(mean_deviation(p, 0), 0.25, slack);
      EXPECT_NEAR(pdf(p, 0), 1, 2 * slack);
      EXPECT_NEAR(quantile(p, 0.25), -0.25, slack);
      EXPECT_NEAR(kurtosis(p), 1.8, 1e-2);
      EXPECT_TRUE(std::isfinite(tsallis_entropy(p)));
    }
  }
}

TEST(Extremes, ARadiusThatOverflowsIsNamed) {
  EXPECT_EQ(message_of<std::domain_error>([] { (void)BetaGaussian(1070.5, 0, 1e-310); }),
            "fenchel::beta_gaussian: half_width must be positive and finite, got inf");
  EXPECT_EQ(message_of<std::domain_error>([] { (void)BetaGaussian(kInf, 0, 5e-324); }),
            "fenchel::beta_gaussian: half_width must be positive and finite, got inf");
}

TEST(Extremes, AThresholdThatOverflowsIsNamed) {
  for (const double alpha : {1e16, kInf}) {
    EXPECT_EQ(
        message_of<std::domain_error>([&] { (void)BetaLaplace(alpha, 0, 1e-310); }),
        "fenchel::beta_laplace: b must keep spread, peak and threshold in the range of doubles, got 1e-310");
  }
  EXPECT_EQ(
      message_of<std::domain_error>([] { (void)TruncatedGaussian(1e300, 0, 1e-100); }),
      "fenchel::truncated_gaussian: sigma2 must keep the threshold in the range of doubles, got 1e-100");
}

/// Where the variance is beyond doubles the standard deviation is the same multiple of the half width or
/// scale as elsewhere.
template <class P>
void expect_deviation(const P& unit, const P& huge, double ratio) {
  EXPECT_EQ(variance(huge), kInf);
  EXPECT_NEAR(standard_deviation(huge) / ratio, standard_deviation(unit), 1e-11 * standard_deviation(unit));
  EXPECT_NEAR(standard_deviation(unit), std::sqrt(variance(unit)), 1e-15 * standard_deviation(unit));
}

TEST(Extremes, TheStandardDeviationIsRightWhereTheVarianceOverflows) {
  EXPECT_NEAR(standard_deviation(BetaLaplace(1, 0, 1e160)), std::sqrt(2.) * 1e160, 1e147);
  expect_deviation(BetaLaplace(1, 0, 1), BetaLaplace(1, 0, 1e160), 1e160);
  expect_deviation(BetaLaplace(1.5, 0, 1), BetaLaplace(1.5, 0, 1e300), 1e200);
  expect_deviation(BetaGaussian(0.7, 0, 1), BetaGaussian(0.7, 0, 1e300), std::pow(1e300, 1 / 1.7));
  expect_deviation(CappedTriangular(1e100, 0, 1), CappedTriangular(1e100, 0, 1e300), 1e150);
  expect_deviation(CappedParabola(1e300, 0, 1), CappedParabola(1e300, 0, 1e300), 1e100);
  for (const double alpha : {0.5, 0.6}) EXPECT_EQ(standard_deviation(BetaLaplace(alpha + 0.01, 0, 1)), kInf);
  EXPECT_EQ(standard_deviation(BetaGaussian(0.3, 0, 1)), kInf);
  EXPECT_NEAR(standard_deviation(BetaLaplace(kInf, 0, 1)), 1 / std::sqrt(12), 1e-15);
  const LocationScale p(testing::location_scale_example(0, 0, 2));
  EXPECT_NEAR(standard_deviation(p), std::sqrt(variance(p)), 1e-14);
}

TEST(Extremes, AHalfWidthIsRightWhereItsSquareOverflows) {
  const BetaGaussian p(1 + 1e-12, 0, 1e300);
  EXPECT_NEAR(p.half_width() / std::sqrt(2e12) / 1e150, 1, 1e-3);
}

}  // namespace
}  // namespace fenchel
