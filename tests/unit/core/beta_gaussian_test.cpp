#include "fenchel/core/beta_gaussian.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "fenchel/core/quadrature.hpp"
#include "support/golden.hpp"
#include "support/grids.hpp"

namespace fenchel {
namespace {

using testing::kInf, testing::kNaN;

constexpr double kRelative = 1e-13;

TEST(BetaGaussianConstants, MatchTheTable) {
  constexpr double kOrders[] = {0.5, 1, 1.00000001, 1.5, 2, 3};
  for (const auto& block : testing::golden_blocks("beta_gaussian.txt")) {
    const auto n = static_cast<index_t>(block.at("case")[0]);
    const double alpha = block.at("case")[1];
    SCOPED_TRACE(::testing::Message() << "n=" << n << " alpha=" << alpha);
    const auto c = beta_gaussian_constants(n, alpha - 1, block.at("case")[2]);
    const auto expect = [&](const char* key, double found) {
      const double expected = block.at(key)[0];
      EXPECT_NEAR(found, expected, kRelative * std::abs(expected)) << key;
    };
    expect("normalizer", c.normalizer);
    EXPECT_NEAR(c.log_peak, block.at("log_peak")[0], 1e-14 * (1 + std::abs(c.log_peak)));
    if (c.am1 != 0) {
      expect("radius2", c.radius2);
      EXPECT_EQ(c.threshold, -c.radius2 / 2);
    }
    // At the edge of existence 2 + (n + 2) am1 is the difference of nearly equal numbers.
    const double spread = 2 + static_cast<double>(n + 2) * c.am1;
    const double expected = block.at("variance_factor")[0];
    EXPECT_NEAR(c.variance_factor, expected, kRelative * expected * std::max(1.0, 0.01 / spread));
    for (std::size_t i = 0; i < std::size(kOrders); ++i) {
      const double negentropy = block.at("negentropy")[i];
      if (std::isinf(negentropy)) continue;
      EXPECT_NEAR(tsallis_negentropy(c, kOrders[i]), negentropy,
                  kRelative * std::max({std::abs(negentropy), 1 / kOrders[i]}))
          << "order " << kOrders[i];
    }
  }
}

/// Surface of the unit sphere of R^n.
double sphere(double n) { return 2 * std::pow(std::numbers::pi, n / 2) / std::tgamma(n / 2); }

/// int g(q, log p) dt for Sigma = I, in the radius.
double radial_integral(const BetaGaussianConstants& c, FunctionRef<double(double, double)> g) {
  const double n = static_cast<double>(c.dimension);
  const auto shell = [&](double r) {
    const double log_p = log_density(c, r * r);
    return std::exp(log_p) == 0 ? 0.0 : sphere(n) * std::pow(r, n - 1) * g(r * r, log_p);
  };
  return integrate(shell, 0, c.am1 > 0 && c.radius2 < 1e8 ? std::sqrt(c.radius2) : kInf, 1e-13).value;
}

TEST(BetaGaussianConstants, DescribeADensity) {
  for (const index_t n : {1, 2, 3, 6}) {
    const double size = static_cast<double>(n);
    for (const double alpha :
         {0.9, 1 - 1e-8, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 4. / 3, 1.5, 2.0, 5.0, 1e6, kInf}) {
      SCOPED_TRACE(::testing::Message() << "n=" << n << " alpha=" << alpha);
      const auto c = beta_gaussian_constants(n, alpha - 1, 0);
      EXPECT_NEAR(radial_integral(c, [](double, double l) { return std::exp(l); }), 1, 2e-12);
      EXPECT_NEAR(radial_integral(c, [](double q, double l) { return q * std::exp(l); }),
                  size * c.variance_factor, 4e-12 * size * c.variance_factor);
      EXPECT_NEAR(radial_integral(c, [](double, double l) { return l * std::exp(l); }),
                  tsallis_negentropy(c, 1), 1e-11);
      if (std::isinf(alpha)) continue;
      // p = exp_{2-alpha}(-q/2 - A) at q = 0.
      EXPECT_NEAR(c.am1 == 0 ? -c.normalizer : std::log1p(-c.am1 * c.normalizer) / c.am1, c.log_peak, 1e-12);
      const auto escort = escort_moments(c);
      const auto power = [&](double l) { return std::exp((2 - alpha) * l); };
      // Past alpha = 2 the escort has a pole at the edge of the support.
      const double tolerance = alpha > 2 ? 1e-3 : 1e-11;
      if (alpha > 10) continue;
      const double mass = radial_integral(c, [&](double, double l) { return power(l); });
      EXPECT_NEAR(mass, escort.mass, tolerance * mass);
      EXPECT_NEAR(radial_integral(c, [&](double q, double l) { return q * power(l); }) / mass, escort.q_mean,
                  tolerance * escort.q_mean);
      EXPECT_NEAR(radial_integral(c, [&](double q, double l) { return q * q * power(l); }) / mass,
                  escort.q2_mean, tolerance * escort.q2_mean);
    }
  }
}

TEST(BetaGaussianConstants, AlphaDerivativesAreTheSlopes) {
  constexpr double kStep = 1e-5;
  for (const index_t n : {1, 2, 5}) {
    for (const double alpha : {0.85, 1 - 1e-8, 1.0, 1 + 1e-8, 1.5, 2.0, 5.0}) {
      const auto c = beta_gaussian_constants(n, alpha - 1, 0.4),
                 up = beta_gaussian_constants(n, alpha - 1 + kStep, 0.4),
                 down = beta_gaussian_constants(n, alpha - 1 - kStep, 0.4);
      const auto d = alpha_derivatives(c);
      SCOPED_TRACE(::testing::Message() << "n=" << n << " alpha=" << alpha);
      EXPECT_NEAR(d.normalizer, (up.normalizer - down.normalizer) / (2 * kStep),
                  2e-8 * (1 + std::abs(d.normalizer)));
      EXPECT_NEAR(d.log_peak, (up.log_peak - down.log_peak) / (2 * kStep), 2e-8 * (1 + std::abs(d.log_peak)));
      EXPECT_NEAR(d.log_peak_power, (std::log(up.peak_power) - std::log(down.peak_power)) / (2 * kStep),
                  2e-8 * (1 + std::abs(d.log_peak_power)));
    }
  }
}

TEST(BetaGaussianConstants, LogDensityIsTotal) {
  const auto c = beta_gaussian_constants(2, 1, 0);
  EXPECT_EQ(log_density(c, c.radius2), -kInf);
  EXPECT_EQ(log_density(c, kInf), -kInf);
  EXPECT_TRUE(std::isnan(log_density(c, kNaN)));
}

}  // namespace
}  // namespace fenchel
