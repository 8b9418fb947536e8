#include "fenchel/distribution/escort.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "fenchel/distribution/sparse_categorical.hpp"
#include "support/grids.hpp"

namespace fenchel {
namespace {

const std::vector<double> kP{0.5, 0, 0.3, 0.2};

TEST(Escort, IsThePowerOnTheSupport) {
  for (const double beta : {-1e3, -1.0, 0.0, 0.5, 1.0, 2.0, 1e3}) {
    const auto found = escort(kP, beta);
    double total = 0;
    for (const double p : kP) total += p > 0 ? std::pow(p / (beta < 0 ? 0.2 : 0.5), beta) : 0;
    for (std::size_t i = 0; i < kP.size(); ++i) {
      const double expected = kP[i] > 0 ? std::pow(kP[i] / (beta < 0 ? 0.2 : 0.5), beta) / total : 0;
      EXPECT_NEAR(found[i], expected, 2e-15 * (1 + std::abs(beta)) * expected) << beta;
    }
  }
  const auto flat = escort(SparseCategorical(kP), 0);
  EXPECT_EQ(pmf(flat, 1), 0) << "0^0 is 0";
  EXPECT_NEAR(pmf(flat, 3), 1.0 / 3, 1e-16);
}

/// To a few roundings, however many there are.
TEST(Escort, HasMassOne) {
  for (const std::size_t n : {10u, 1000u, 100000u}) {
    std::vector<double> p(n);
    for (std::size_t i = 0; i < n; ++i) p[i] = std::exp(3 * std::sin(static_cast<double>(i * i)));
    for (const double beta : {-1.0, 0.5, 1.5428038627358593, 7.0}) {
      long double mass = 0;
      for (const double x : escort(p, beta)) mass += x;
      EXPECT_NEAR(static_cast<double>(mass), 1, 5e-16) << n << ' ' << beta;
    }
  }
}

TEST(Escort, WeightsAreAMeasure) {
  const std::vector<double> p{0.2, 0.3}, weights{2, 2};
  const auto found = escort(p, 0.5, weights);
  const double total = 2 * std::sqrt(0.2) + 2 * std::sqrt(0.3);
  EXPECT_NEAR(found[0], std::sqrt(0.2) / total, 1e-15);
  EXPECT_NEAR(2 * found[0] + 2 * found[1], 1, 1e-15);
}

TEST(BetaCovariance, IsItsDefinition) {
  const std::vector<double> phi{1, 2, 3, 4, 0.5, -1, 2, 0}, psi{0.1, 7, -2, 3};
  for (const double beta : {-1.0, 0.0, 0.5, 1.0, 2.0}) {
    double out[2];
    beta_covariance(kP, beta, {phi.data(), 4, 2}, {psi.data(), 4, 1}, Rows<double>(out, 2, 1));
    double mass = 0, x[2] = {0, 0}, y = 0, xy[2] = {0, 0};
    for (std::size_t i = 0; i < 4; ++i) {
      if (kP[i] == 0) continue;
      const double w = std::pow(kP[i], beta);
      mass += w;
      y += w * psi[i];
      for (std::size_t m = 0; m < 2; ++m) {
        x[m] += w * phi[2 * i + m];
        xy[m] += w * phi[2 * i + m] * psi[i];
      }
    }
    for (std::size_t m = 0; m < 2; ++m) EXPECT_NEAR(out[m], xy[m] - x[m] * y / mass, 1e-13) << beta;
  }
}

TEST(Escort, BadInputIsRefused) {
  EXPECT_THROW(static_cast<void>(escort(kP, testing::kNaN)), std::domain_error);
  EXPECT_THROW(static_cast<void>(escort(std::vector<double>{-1, 2}, 1)), std::domain_error);
  EXPECT_THROW(static_cast<void>(escort(kP, 1, std::vector<double>{1})), std::invalid_argument);
  double out[1];
  EXPECT_THROW(beta_covariance(kP, 1, {kP.data(), 4, 1}, {kP.data(), 3, 1}, Rows<double>(out, 1, 1)),
               std::invalid_argument);
}

}  // namespace
}  // namespace fenchel
