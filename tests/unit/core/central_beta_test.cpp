#include "core/beta_gaussian/central_beta.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/beta_gaussian/radius.hpp"
#include "core/beta_gaussian/radius_slope.hpp"
#include "support/reference_cdf.hpp"

namespace fenchel::detail {
namespace {

TEST(CentralBeta, IsAnIncompleteBetaFunction) {
  for (const double a : {0.55, 0.75, 1.0, 1.5, 3.0, 10.0, 40.0, 200.0}) {
    const CentralBeta law = central_beta(a);
    for (double r = 1. / 64; r < 1; r += 1. / 64) {
      const UnitPoint at = square_of(r);
      const long double y = static_cast<long double>(r) * r;
      const auto expected = static_cast<double>(reference::beta_cdf(a, 0.5L, 1 - y));
      if (expected < 1e-290) break;
      const double error = kOutsideError * (1 - a * at.log_left);
      EXPECT_NEAR(outside(law, at), expected, error * expected) << a << " at " << r;
      EXPECT_NEAR(log_outside(law, at), std::log(expected), error) << a << " at " << r;
    }
  }
}

TEST(CentralBeta, BecomesTheErrorFunction) {
  const CentralBeta law = central_beta(0x1p60);
  for (double x = 0.1; x < 35; x += 0.37) {
    const double expected = std::erfc(x / std::sqrt(2.0));
    EXPECT_NEAR(outside(law, square_of(x * 0x1p-30 / std::sqrt(2.0))), expected,
                kOutsideError * (1 + x * x / 2) * expected)
        << x;
  }
}

TEST(CentralBeta, QuantilesInvertIt) {
  for (const double a : {0.55, 1.0, 2.5, 7.0, 100.0, 1e6, 0x1p52}) {
    const CentralBeta law = central_beta(a);
    for (const double u : {1e-300, 1e-100, 1e-17, 1e-5, 0.01, 0.04, 0.1, 0.3, 0.49, 0.4999999}) {
      const double rho = root_log_quantile(law, u), square = rho * rho;
      const UnitPoint at{-std::expm1(-square), std::exp(-square), -square};
      EXPECT_NEAR(log_outside(law, at), std::log(2 * u), kOutsideError * (1 + 4 * a * square))
          << a << ", " << u;
    }
  }
}

TEST(RadiusRule, IsTheAdaptiveIntegral) {
  for (const double alpha :
       {0.05, 0.5, 0.69, 0.71, 0.9, 1.0, 1 + 1e-8, 1.01, 1.03, 1.05, 1.2, 1.5, 1.7, 5.0}) {
    const BetaGaussianConstants c = beta_gaussian_constants(1, alpha - 1, 0.3);
    for (const double q : {1e-3, 0.1, 0.5, 1.0, 1.3, 2.0, 6.0, 40.0, 700.0}) {
      if (alpha > 1 && q >= c.radius2) continue;
      const double slope = detail::log_radius_alpha_slope(c, q);
      EXPECT_NEAR(radius_slope(c, q, RadiusRule{c.am1}), slope, kRadiusSlopeError * (1 + std::abs(slope)))
          << alpha << " at " << q;
    }
  }
}

}  // namespace
}  // namespace fenchel::detail
