#include "fenchel/distribution/reparametrization.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>

#include "support/golden.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;
using testing::kInf, testing::kNaN, testing::message_of;

/// The member's point with the same tail as `t` has in p.
double coupled(const BetaGaussian& p, const BetaGaussian& other, double t) {
  return t < p.mu() ? quantile(other, cdf(p, t)) : survival_quantile(other, survival(p, t));
}

TEST(SampleDerivatives, AreThoseOfTheQuantiles) {
  for (const double alpha :
       {0.2, 0.5, 0.8, 0.99, 1 - 1e-8, 1.0, 1 + 1e-8, 1.01, 1.3, 1.499, 1.501, 2.0, 3.0, 5.0, 50.0}) {
    const BetaGaussian p(alpha, 0.3, 0.64);
    for (const double u : {1e-6, 0.01, 0.2, 0.45, 0.499999, 0.51, 0.7, 0.9, 0.999}) {
      const double t = quantile(p, u);
      SCOPED_TRACE(::testing::Message() << "alpha=" << alpha << " t=" << t);
      const SampleDerivatives d = sample_derivatives(p, t);
      const auto difference = [&](double dalpha, double dsigma2) {
        const auto at = [&](double h) {
          return coupled(p, BetaGaussian(alpha + h * dalpha, 0.3, 0.64 + h * dsigma2), t);
        };
        constexpr double kStep = 2e-4;
        return (8 * (at(kStep) - at(-kStep)) - (at(2 * kStep) - at(-2 * kStep))) / (12 * kStep);
      };
      EXPECT_EQ(d.mu, 1);
      EXPECT_NEAR(d.sigma2, difference(0, 1), 1e-9 * std::max(1.0, std::abs(t)));
      EXPECT_NEAR(d.alpha, difference(1, 0), 1e-8 * std::max(1e-3, std::abs(d.alpha)) + 1e-9);
    }
  }
}

TEST(SampleGradient, MatchesTheTable) {
  for (const auto& row : testing::golden_rows("reparametrization.txt")) {
    const auto n = static_cast<index_t>(row[0]);
    SCOPED_TRACE(::testing::Message() << "n=" << n << " alpha=" << row[1] << " q=" << row[2]);
    const MultivariateBetaGaussian p(row[1], VectorXd::Zero(n), MatrixXd::Identity(n, n));
    const VectorXd t = std::sqrt(row[2]) * VectorXd::Unit(n, 0);
    const double scale = std::max(std::abs(row[3]), 1e-3 / (row[1] * row[1]));
    EXPECT_NEAR(sample_gradient(p, t, t / row[2]).alpha, row[3], kSampleAlphaError * scale);
  }
}

TEST(SampleDerivatives, MeansAreDerivativesOfMeans) {
  for (const double alpha : {0.6, 1.0, 1 + 1e-8, 1.5, 1.7, 5.0, 1e3}) {
    const BetaGaussian p(alpha, 0.3, 0.64);
    // d Var / dalpha = E[2 (t - mu) dt/dalpha], and v has its closed form.
    const double am1 = alpha - 1;
    const double slope = variance(p) * (alpha_derivatives(p.constants()).log_peak_power - 3 / (2 + 3 * am1));
    const auto integrand = [&](double t) { return 2 * (t - 0.3) * sample_derivatives(p, t).alpha; };
    EXPECT_NEAR(expectation(p, integrand, 1e-7), slope, 1e-7 * std::max(1e-3, std::abs(slope))) << alpha;
    const auto widening = [&](double t) { return 2 * (t - 0.3) * sample_derivatives(p, t).sigma2; };
    const double c = am1 / (2 + am1);
    EXPECT_NEAR(expectation(p, widening, 1e-7), variance(p) * (1 - c) / 0.64, 1e-7) << alpha;
  }
}

TEST(SampleDerivatives, GoSmoothlyThroughTheirForms) {
  for (const double t : {0.31, 0.6, 1.2, 1.5}) {
    const auto at = [&](double alpha) { return sample_derivatives(BetaGaussian(alpha, 0.3, 0.64), t).alpha; };
    EXPECT_NEAR(at(1), at(1 + 1e-9), 1e-8);
    EXPECT_NEAR(at(1), at(1 - 1e-9), 1e-8);
    EXPECT_NEAR(at(1.5), at(1.5 + 1e-12), 1e-10);
  }
  // Of order alpha^-2 as the density gets flat, with all digits.
  const double scaled = sample_derivatives(BetaGaussian(1e6, 0, 1), 0.3).alpha * 1e12;
  EXPECT_NEAR(scaled, sample_derivatives(BetaGaussian(1e8, 0, 1), 0.3).alpha * 1e16, 2 * std::abs(scaled));
  EXPECT_NE(scaled, 0);
}

TEST(SampleDerivatives, AreNaNOffTheSupportAndZeroForIntervals) {
  EXPECT_TRUE(std::isnan(sample_derivatives(BetaGaussian(2, 0, 1), 5).alpha));
  EXPECT_TRUE(std::isnan(sample_derivatives(BetaGaussian(1, 0, 1), kNaN).mu));
  const SampleDerivatives d = sample_derivatives(BetaGaussian::uniform(0, 3), 1);
  EXPECT_EQ(d.mu, 1);
  EXPECT_EQ(d.sigma2, 0);
  EXPECT_EQ(d.alpha, 0);
  EXPECT_EQ(sample_derivatives(BetaGaussian(1.5, 0.3, 1), 0.3).alpha, 0);
}

const VectorXd kMu{{0.1, -0.2, 0.4}}, kT{{0.3, 0.1, 0.15}}, kG{{0.7, -1.1, 0.4}};
const MatrixXd kScale{{0.9, 0.3, -0.1}, {0.3, 0.7, 0.2}, {-0.1, 0.2, 0.8}};
const MatrixXd kChange{{0.2, -0.3, 0.5}, {-0.3, 0.4, 0.1}, {0.5, 0.1, -0.6}};

/// The point of another member with the same direction and radial probability as t has in p. alpha != 1.
VectorXd coupled(const MultivariateBetaGaussian& p, const MultivariateBetaGaussian& other,
                 const VectorXd& t) {
  const double half = static_cast<double>(p.dimension()) / 2;
  const VectorXd w = p.score().whitening() * (t - p.mu());
  const auto shape = [&](double am1) { return am1 > 0 ? 1 + 1 / am1 : -1 / am1 - half; };
  const BetaGaussianConstants &a = p.constants(), &b = other.constants();
  const double y = w.squaredNorm() / std::abs(a.radius2);
  const double tail = boost::math::ibetac(half, shape(a.am1), a.am1 > 0 ? y : y / (1 + y));
  const double x = boost::math::ibetac_inv(half, shape(b.am1), tail);
  const double radius2 = std::abs(b.radius2) * (b.am1 > 0 ? x : x / (1 - x));
  return other.mu() + std::sqrt(radius2 / w.squaredNorm()) * (other.score().factor() * w);
}

TEST(SampleGradient, IsThatOfCoupledDraws) {
  constexpr double kStep = 1e-4;
  for (const double alpha : {0.7, 0.9, 1.1, 1.4, 1.6, 2.0, 5.0}) {
    for (const index_t n : {1, 2, 3}) {
      SCOPED_TRACE(::testing::Message() << "alpha=" << alpha << " n=" << n);
      const MatrixXd scale = kScale.topLeftCorner(n, n), change = kChange.topLeftCorner(n, n);
      const VectorXd mu = kMu.head(n), g = kG.head(n);
      const MultivariateBetaGaussian p(alpha, mu, scale);
      for (const double part : {0.01, 0.4, 0.95}) {  // of the support, or of a ball that holds most
        const double q = part * (alpha > 1 ? p.constants().radius2 : 8),
                     whole = p.score().mahalanobis2(kT.head(n));
        const VectorXd t = mu + std::sqrt(q / whole) * (kT - kMu).head(n);
        const auto difference = [&](double dmu, double dscale, double dalpha) {
          const auto at = [&](double h) {
            const VectorXd moved = mu.array() + h * dmu;
            return g.dot(coupled(p, {alpha + h * dalpha, moved, scale + h * dscale * change}, t));
          };
          return (8 * (at(kStep) - at(-kStep)) - (at(2 * kStep) - at(-2 * kStep))) / (12 * kStep);
        };
        const SampleGradient d = sample_gradient(p, t, g);
        EXPECT_NEAR(d.mu.sum(), difference(1, 0, 0), 1e-10);
        EXPECT_NEAR(d.Sigma.cwiseProduct(change).sum(), difference(0, 1, 0), 1e-9);
        EXPECT_LE((d.Sigma - d.Sigma.transpose()).norm(), 1e-15 + 1e-14 * d.Sigma.norm());
        EXPECT_NEAR(d.alpha, difference(0, 0, 1), 1e-8);
      }
    }
  }
}

TEST(SampleGradient, IsTheDerivativeOnTheLineForOneDimension) {
  for (const double alpha : {0.6, 1.0, 1 + 1e-8, 1.5, 3.0, kInf}) {
    const MultivariateBetaGaussian many(alpha, VectorXd{{0.3}}, MatrixXd{{0.64}});
    const SampleGradient d = sample_gradient(many, VectorXd{{0.7}}, VectorXd{{1}});
    const SampleDerivatives one = sample_derivatives(BetaGaussian(alpha, 0.3, 0.64), 0.7);
    EXPECT_NEAR(d.Sigma(0, 0), one.sigma2, 1e-14);
    EXPECT_NEAR(d.alpha, one.alpha, 1e-13);
  }
}

TEST(SampleGradient, IsContinuousAtOne) {
  const auto at = [](double alpha) { return sample_gradient({alpha, kMu, kScale}, kT, kG); };
  EXPECT_NEAR(at(1).alpha, at(1 + 1e-9).alpha, 1e-8);
  EXPECT_NEAR(at(1).alpha, at(1 - 1e-9).alpha, 1e-8);
  EXPECT_LE((at(1).Sigma - at(1 + 1e-9).Sigma).norm(), 1e-8);
}

/// The mean over draws is the derivative of E|t|^2 = |mu|^2 + Tr(covariance).
TEST(SampleGradient, MeanOverDrawsIsTheDerivativeOfTheMean) {
  constexpr index_t kDraws = 1500;
  for (const double alpha : {1.0, 1.5, 2.0}) {
    const MultivariateBetaGaussian p(alpha, kMu, kScale);
    const MatrixXd draws = sample(p, kDraws, 7);
    VectorXd mu = VectorXd::Zero(3);
    double along = 0, alpha_slope = 0;
    for (index_t k = 0; k < kDraws; ++k) {
      const SampleGradient d = sample_gradient(p, draws.col(k), 2 * draws.col(k));
      mu += d.mu / kDraws;
      along += d.Sigma.cwiseProduct(kChange).sum() / kDraws;
      alpha_slope += d.alpha / kDraws;
    }
    constexpr double kStep = 1e-5;
    const auto trace = [&](double h, double da) {
      return covariance(MultivariateBetaGaussian(alpha + da, kMu, kScale + h * kChange)).trace();
    };
    EXPECT_LE((mu - 2 * kMu).norm(), 0.15);
    EXPECT_NEAR(along, (trace(kStep, 0) - trace(-kStep, 0)) / (2 * kStep), 0.15);
    EXPECT_NEAR(alpha_slope, (trace(0, kStep) - trace(0, -kStep)) / (2 * kStep),
                0.15 * std::abs(alpha_slope));
  }
}

TEST(SampleGradient, BadInputIsNamed) {
  const MultivariateBetaGaussian p(2, kMu, kScale), flat(2, kMu.head(2), MatrixXd{{1, 0}, {0, 0}});
  EXPECT_EQ(message_of<std::invalid_argument>([&] { (void)sample_gradient(p, kT, kG.head(2)); }),
            "fenchel::sample_gradient: cotangent.size() must be the dimension 3, got 2");
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)sample_gradient(flat, kT.head(2), kG.head(2)); }),
            "fenchel::sample_gradient: p.rank() must be its dimension 2, got 1");
  EXPECT_TRUE(std::isnan(sample_gradient(p, 100 * kT, kG).alpha));
}

}  // namespace
}  // namespace fenchel
