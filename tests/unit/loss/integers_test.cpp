#include "fenchel/loss/integers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "fenchel/distribution/beta_covariance.hpp"
#include "fenchel/loss/integer_function.hpp"
#include "support/golden.hpp"
#include "support/grids.hpp"
#include "support/integer_families.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::kIntegerAlphas;
using testing::message_of;

const std::vector<index_t> kSample{2, 5, 3, 3, 9, 0, 4};

TEST(LossIntegers, Rows63And65OfTheGoldenValues) {
  EXPECT_NEAR(fenchel_young(Tsallis(2), PoissonScore(3), Naturals(), 3).value, 0.26523804247189707, 2.6e-14);
  EXPECT_NEAR(fenchel_young(Tsallis(2), QuadraticScore(3.4, 1), Integers(), 2).value, 1.1025, 1.1e-13);
}

/// mpmath, scripts/golden/integers.py: loss of one integer, its gradients and its Hessian.
void expect_golden_losses(const char* table) {
  for (auto& golden : testing::golden_blocks(table)) {
    const auto& c = golden["case"];
    if (!golden.contains("loss")) continue;
    const auto& expected = golden["loss"];  // y, value, mean - y, d/dalpha, Hessian
    const auto y = static_cast<index_t>(expected[0]);
    const auto check = [&](double value, double slope, double alpha, double hessian) {
      const auto where = ::testing::Message() << "alpha " << c[1] << " mu " << c[2] << " scale " << c[3];
      EXPECT_NEAR(value, expected[1], 1e-13 * std::max(1.0, expected[1])) << where;
      EXPECT_NEAR(slope, expected[2], 1e-13 * std::max(std::abs(expected[2]), 1.0)) << where;
      EXPECT_NEAR(alpha, expected[3], 2e-13 * std::max(std::abs(expected[3]), 1.0)) << where;
      EXPECT_NEAR(hessian, expected[4], 1e-12 * expected[4]) << where;
    };
    if (c[0] == 0) {
      const Tsallis omega(c[1], c[3]);
      const PoissonScore f(c[2]);
      const auto loss = fenchel_young(omega, f, Naturals(), y);
      check(loss.value, loss.gradient.log_mu, loss.gradient.alpha,
            fenchel_young_hessian(omega, f, Naturals()));
    } else {
      const Tsallis omega(c[1]);
      const QuadraticScore f(c[2], c[3]);
      const auto loss = fenchel_young(omega, f, Integers(), y);
      check(loss.value, loss.gradient.mu * c[3], loss.gradient.alpha,
            fenchel_young_hessian(omega, f, Integers())[0][0]);
    }
  }
}

TEST(LossIntegers, AgreesWithTheTable) { expect_golden_losses("integers.txt"); }
TEST(LossIntegers, AgreesWithTheTableOfHeavyTails) { expect_golden_losses("heavy_integers.txt"); }

/// The laws of losses below alpha = 1: 0 at the prediction, definition, slopes.
TEST(LossIntegers, BelowOne) {
  const SparsePoisson heavy(0.7, 5.5);
  for (const double alpha : {0.55, 0.8, 1 - 1e-8}) {
    const Tsallis omega(alpha, 1.5);
    const PoissonScore f(3.3);
    const auto p = predict(omega, f, Naturals());
    EXPECT_EQ(fenchel_young(omega, f, p).value, 0);
    const auto score = [](double t) { return t * std::log(3.3) - std::lgamma(t + 1); };
    const double best = expectation(p, score, 1e-6) + 1.5 * tsallis_entropy(p, alpha);
    const double h = 1e-5, log_mu = std::log(3.3);
    for (const IntegerTarget& q :
         {IntegerTarget(4), IntegerTarget(3000), IntegerTarget(kSample), IntegerTarget(heavy)}) {
      const auto loss = [&](double a, double x) {
        return fenchel_young(Tsallis(a, 1.5), PoissonScore(std::exp(x)), Naturals(), q);
      };
      const auto found = loss(alpha, log_mu);
      const double scale = std::max(1.0, found.value);
      EXPECT_NEAR(found.gradient.log_mu,
                  (loss(alpha, log_mu + h).value - loss(alpha, log_mu - h).value) / (2 * h), 1e-8 * scale)
          << alpha;
      EXPECT_NEAR(found.gradient.alpha,
                  (loss(alpha + h, log_mu).value - loss(alpha - h, log_mu).value) / (2 * h), 3e-6 * scale)
          << alpha;
    }
    EXPECT_NEAR(cross_omega(omega, f, Naturals(), 5).value, best - f(5), 1e-9) << alpha;
    const double expected = best - expectation(heavy, score, 1e-6);
    EXPECT_NEAR(cross_omega(omega, f, Naturals(), heavy).value, expected, 1e-9) << alpha;
    EXPECT_NEAR(fenchel_young(omega, f, Naturals(), heavy).value,
                expected - 1.5 * tsallis_entropy(heavy, alpha), 1e-9)
        << alpha;
  }
  // A target without E_q[f], and one of a finite prediction.
  EXPECT_EQ(fenchel_young(Tsallis(0.8), PoissonScore(3), SparsePoisson(0.45, 3)).value, kInf);
  const double cross = cross_omega(Tsallis(2), PoissonScore(3), Naturals(), heavy).value;
  EXPECT_NEAR(cross,
              cross_omega(Tsallis(2), PoissonScore(3), Naturals(), 0).value -
                  expectation(
                      heavy, [](double t) { return t * std::log(3) - std::lgamma(t + 1); }, 1e-6),
              1e-9);
  const QuadraticScore g(0.3, 2);
  EXPECT_EQ(fenchel_young(Tsallis(0.5), g, predict(Tsallis(0.5), g, Integers())).value, 0);
  EXPECT_GT(fenchel_young(Tsallis(0.5), g, SparseIntegerGaussian(0.6, 0.3, 2)).value, 0);
}

TEST(LossIntegers, IsExactlyZeroAtThePredictionAndPositiveElsewhere) {
  for (const double alpha : kIntegerAlphas) {
    for (const double temperature : {1.0, 2.5}) {
      const Tsallis omega(alpha, temperature);
      for (const double mu : {0.2, 3.0, 500.5}) {
        const PoissonScore f(mu);
        const auto loss = fenchel_young(omega, f, predict(omega, f, Naturals()));
        EXPECT_EQ(loss.value, 0) << alpha << " " << mu;
        EXPECT_EQ(loss.gradient.log_mu, 0) << alpha << " " << mu;
        EXPECT_EQ(loss.gradient.alpha, 0) << alpha << " " << mu;
        const QuadraticScore g(mu, 0.7);
        const auto gaussian = fenchel_young(omega, g, predict(omega, g, Integers()));
        EXPECT_EQ(gaussian.value, 0) << alpha << " " << mu;
        EXPECT_EQ(gaussian.gradient.mu, 0) << alpha << " " << mu;
        EXPECT_EQ(gaussian.gradient.sigma2, 0) << alpha << " " << mu;
      }
      EXPECT_GT(fenchel_young(omega, PoissonScore(3.3), SparsePoisson(alpha, 4.7)).value, 0) << alpha;
      EXPECT_GE(fenchel_young(omega, PoissonScore(3.3), Naturals(), 3).value, 0) << alpha;
    }
  }
}

/// Omega*(f) + Omega(q) - E_q[f] with Omega*(f) = E_p[f] - Omega(p).
TEST(LossIntegers, IsItsDefinition) {
  const IntegerTable q(1, std::vector<double>{0.2, 0, 0.5, 0.2, 0.1});
  for (const double alpha : kIntegerAlphas) {
    for (const double temperature : {1.0, 2.5}) {
      const Tsallis omega(alpha, temperature);
      const PoissonScore f(3.3);
      const auto p = predict(omega, f, Naturals());
      const auto value = [&f](double t) { return f(static_cast<index_t>(t)); };
      const double cross =
          expectation(p, value) + temperature * tsallis_entropy(p, alpha) - expectation(q, value);
      EXPECT_NEAR(cross_omega(omega, f, Naturals(), q).value, cross, 1e-14) << alpha;
      EXPECT_NEAR(fenchel_young(omega, f, Naturals(), q).value,
                  cross - temperature * tsallis_entropy(q, alpha), 1e-14)
          << alpha;
      const QuadraticScore g(2.2, 1.3);
      const auto r = predict(omega, g, Integers());
      const double gaussian = expectation(r, g) + temperature * tsallis_entropy(r, alpha) - expectation(q, g);
      EXPECT_NEAR(cross_omega(omega, g, q).value, gaussian, 1e-14) << alpha;
      EXPECT_NEAR(fenchel_young(omega, g, q).value, gaussian - temperature * tsallis_entropy(q, alpha), 1e-14)
          << alpha;
    }
  }
}

TEST(LossIntegers, IsTheKullbackLeiblerDivergenceAtAlphaOne) {
  const SparsePoisson q(2, 5.5);
  const SparsePoisson p(1, 4);
  const double divergence = expectation(
      q, [&](double t) { return log_pmf(q, static_cast<index_t>(t)) - log_pmf(p, static_cast<index_t>(t)); });
  EXPECT_NEAR(fenchel_young(Shannon(), PoissonScore(4), q).value, divergence, 1e-14);
  EXPECT_NEAR(fenchel_young(Shannon(), PoissonScore(4), Naturals(), 30).value, -log_pmf(p, 30), 1e-13);
  const SparsePoisson far(1, 4e3);  // mu log(mu / nu) - mu + nu
  EXPECT_NEAR(fenchel_young(Shannon(), PoissonScore(4), far).value, 4e3 * std::log(1e3) - 4e3 + 4, 1e-9);
}

TEST(LossIntegers, GradientsAreSlopes) {
  const auto slope = [](auto loss, double at, double h) { return (loss(at + h) - loss(at - h)) / (2 * h); };
  const SparsePoisson q(1.5, 5.2);
  for (const double alpha : {1.0, 1 + 1e-8, 4.0 / 3, 1.5, 2.0, 5.0}) {
    for (const double temperature : {1.0, 0.4}) {
      const Tsallis omega(alpha, temperature);
      for (const IntegerTarget& target : {IntegerTarget(4), IntegerTarget(kSample), IntegerTarget(q)}) {
        const double log_mu = 1.1, mu = 2.3, sigma2 = 1.9, h = 1e-6;
        const auto poisson = [&](double x) {
          return fenchel_young(omega, PoissonScore(std::exp(x)), Naturals(), target).value;
        };
        const auto found = fenchel_young(omega, PoissonScore(std::exp(log_mu)), Naturals(), target);
        EXPECT_NEAR(found.gradient.log_mu, slope(poisson, log_mu, h), 2e-8) << alpha;
        const auto gaussian = [&](double m, double s) {
          return fenchel_young(omega, QuadraticScore(m, s), Integers(), target).value;
        };
        const auto other = fenchel_young(omega, QuadraticScore(mu, sigma2), Integers(), target);
        EXPECT_NEAR(other.gradient.mu, slope([&](double x) { return gaussian(x, sigma2); }, mu, h), 2e-8)
            << alpha;
        EXPECT_NEAR(other.gradient.sigma2, slope([&](double x) { return gaussian(mu, x); }, sigma2, h), 2e-8)
            << alpha;
        if (alpha < 1.1) continue;  // no members below alpha = 1
        const auto order = [&](double x) {
          return fenchel_young(Tsallis(x, temperature), QuadraticScore(mu, sigma2), Integers(), target).value;
        };
        EXPECT_NEAR(other.gradient.alpha, slope(order, alpha, h), 2e-8) << alpha;
        const auto cross = [&](double x) {
          return cross_omega(Tsallis(x, temperature), PoissonScore(3), Naturals(), target).value;
        };
        const auto crossed = cross_omega(omega, PoissonScore(3), Naturals(), target);
        EXPECT_NEAR(crossed.gradient.alpha, slope(cross, alpha, h), 2e-8) << alpha;
      }
    }
  }
}

TEST(LossIntegers, HessianIsTheSlopeOfTheGradient) {
  for (const double alpha : {0.6, 0.9, 1 - 1e-8, 1.0, 1 + 1e-8, 4.0 / 3, 1.5, 2.0, 5.0}) {
    for (const double temperature : {1.0, 0.4}) {
      const Tsallis omega(alpha, temperature);
      const double h = 1e-6, log_mu = 1.1;
      const auto poisson = [&](double x) {
        return fenchel_young(omega, PoissonScore(std::exp(x)), Naturals(), 4).gradient.log_mu;
      };
      EXPECT_NEAR(fenchel_young_hessian(omega, PoissonScore(std::exp(log_mu)), Naturals()),
                  (poisson(log_mu + h) - poisson(log_mu - h)) / (2 * h), 1e-6)
          << alpha;
      const double theta[] = {2.3 / 1.9, -0.5 / 1.9};
      const auto moments = [&](double a, double b) {  // the gradient is E_p[t], E_p[t^2] less the target's
        const auto p = predict(omega, QuadraticScore(-a / (2 * b), -0.5 / b), Integers());
        return std::array{mean(p), moment(p, 2)};
      };
      const auto hessian = fenchel_young_hessian(omega, QuadraticScore(2.3, 1.9), Integers());
      for (std::size_t i = 0; i < 2; ++i) {
        const auto up = moments(theta[0] + h, theta[1]), down = moments(theta[0] - h, theta[1]);
        const auto up2 = moments(theta[0], theta[1] + h), down2 = moments(theta[0], theta[1] - h);
        EXPECT_NEAR(hessian[0][i], (up[i] - down[i]) / (2 * h), 1e-6 * std::abs(hessian[1][1])) << alpha;
        EXPECT_NEAR(hessian[1][i], (up2[i] - down2[i]) / (2 * h), 1e-6 * std::abs(hessian[1][1])) << alpha;
      }
    }
  }
}

/// E2: the loss of the sparse Poisson is convex in log mu, and not in mu as printed. At mu = e^0.1, y = 0 the
/// second derivative in mu is (1/2 - (1 + log mu) / 2) / mu^2 = -0.0409.
TEST(LossIntegers, E2PoissonLossIsConvexInLogMuAndNotInMu) {
  const double mu = std::exp(0.1), h = 1e-3;
  const auto loss = [](double x) { return fenchel_young(Tsallis(2), PoissonScore(x), Naturals(), 0).value; };
  const double curvature = (loss(mu + h) - 2 * loss(mu) + loss(mu - h)) / (h * h);
  EXPECT_NEAR(curvature, (0.5 - (1 + std::log(mu)) / 2) / (mu * mu), 1e-5);
  EXPECT_LT(curvature, -0.04);
  for (const double alpha : {1.0, 1.5, 2.0, 3.0}) {
    for (double log_mu = -2; log_mu < 4; log_mu += 0.05) {
      const auto at = [&](double x) {
        return fenchel_young(Tsallis(alpha), PoissonScore(std::exp(x)), Naturals(), 3).value;
      };
      EXPECT_GE(at(log_mu + 0.1) - 2 * at(log_mu) + at(log_mu - 0.1), -1e-13) << alpha << " " << log_mu;
      EXPECT_GE(fenchel_young_hessian(Tsallis(alpha), PoissonScore(std::exp(log_mu)), Naturals()), 0);
    }
  }
}

/// A sample is the distribution of its values; its cross-Omega loss is the mean of the values' losses.
TEST(LossIntegers, ASampleIsItsFrequencies) {
  std::vector<double> frequencies(10);
  for (const index_t t : kSample) frequencies[static_cast<std::size_t>(t)] += 1.0 / 7;
  for (const double alpha : kIntegerAlphas) {
    const Tsallis omega(alpha, 1.5);
    const PoissonScore f(3.1);
    const auto sampled = fenchel_young(omega, f, Naturals(), kSample);
    const auto table = fenchel_young(omega, f, Naturals(), IntegerTable(0, frequencies));
    EXPECT_NEAR(sampled.value, table.value, 1e-14) << alpha;
    EXPECT_NEAR(sampled.gradient.log_mu, table.gradient.log_mu, 1e-14) << alpha;
    double mean_loss = 0;
    for (const index_t t : kSample) mean_loss += fenchel_young(omega, f, Naturals(), t).value / 7;
    EXPECT_NEAR(cross_omega(omega, f, Naturals(), kSample).value, mean_loss, 1e-13) << alpha;
  }
}

TEST(LossIntegers, FarTargetsAreFinite) {
  for (const double alpha : kIntegerAlphas) {
    const double far = fenchel_young(Tsallis(alpha), PoissonScore(3), Naturals(), 1'000'000).value;
    const double f = PoissonScore(3)(1'000'000) - PoissonScore(3)(3);
    EXPECT_NEAR(far, -f, 3 + 1e-9 * std::abs(f)) << alpha;  // Omega*(f) is within 3 of f(mode)
    EXPECT_GT(fenchel_young(Tsallis(alpha), QuadraticScore(0, 1), Integers(), -1'000'000).value, 4.9e11);
  }
  EXPECT_NEAR(fenchel_young(Tsallis(1), PoissonScore(1e9), Naturals(), 1'000'050'000).value,
              12.530575618323713, 1e-12);
}

/// E_p (t - mu)^2 overflows, not so over sigma2.
TEST(LossIntegers, AGradientIsFiniteWhereTheVarianceIsNot) {
  for (const double alpha : {0.5, 0.7, 0.9}) {
    const auto at = [alpha](double sigma2) {
      return cross_omega(Tsallis(alpha), QuadraticScore(-6.4e7, sigma2), Integers(), IntegerTarget(kSample));
    };
    const double sigma2 = 1e307, step = 1e-4 * sigma2;
    const double slope = (at(sigma2 + step).value - at(sigma2 - step).value) / (2 * step);
    EXPECT_NEAR(at(sigma2).gradient.sigma2, slope, 1e-7 * slope) << alpha;
  }
}

TEST(LossIntegers, ATinyVarianceGivesNoNaN) {
  for (const double alpha : {1.0, 1 + 1e-8, 2.0}) {
    const auto loss =
        cross_omega(Tsallis(alpha), QuadraticScore(-0.36, 5e-324), Integers(), IntegerTarget(kSample));
    EXPECT_EQ(loss.value, kInf) << alpha;
    EXPECT_FALSE(std::isnan(loss.gradient.mu) || std::isnan(loss.gradient.sigma2)) << alpha;
  }
}

TEST(LossIntegers, BadInputIsNamed) {
  EXPECT_EQ(message_of<std::domain_error>(
                [] { static_cast<void>(fenchel_young(Tsallis(2), PoissonScore(3), Naturals(), -1)); }),
            "fenchel::fenchel_young: the smallest integer of the target must not be negative, got -1");
  EXPECT_EQ(
      message_of<std::domain_error>([] {
        static_cast<void>(cross_omega(Tsallis(2), PoissonScore(3), Naturals(), std::vector<index_t>{3, -2}));
      }),
      "fenchel::cross_omega: the smallest integer of the target must not be negative, got -2");
  EXPECT_EQ(message_of<std::invalid_argument>([] {
              static_cast<void>(
                  fenchel_young(Tsallis(2), QuadraticScore(3, 1), Integers(), std::vector<index_t>{}));
            }),
            "fenchel::integer_target: the sample must not be empty, got 0");
  EXPECT_EQ(message_of<std::domain_error>(
                [] { static_cast<void>(fenchel_young(Tsallis(0.5), PoissonScore(3), Naturals(), 1)); }),
            "fenchel::predict: alpha must be above 1/2 for a Poisson score, got 0.5");
  EXPECT_EQ(message_of<std::domain_error>(
                [] { static_cast<void>(fenchel_young_hessian(Tsallis(kInf), PoissonScore(3), Naturals())); }),
            "fenchel::fenchel_young_hessian: alpha must be finite, got inf");
}

/// A callable has the losses of its family.
TEST(LossIntegers, OfCallables) {
  const FunctionScore f([](double t) { return t * std::log(3.3) - std::lgamma(t + 1); });
  for (const double alpha : {0.6, 0.9, 1.0, 1.5, 2.0, kInf}) {
    const Tsallis omega(alpha, 1.5);
    const SparsePoisson heavy(0.8, 5);
    for (const IntegerTarget& q : {IntegerTarget(4), IntegerTarget(kSample), IntegerTarget(heavy)}) {
      const auto expected = fenchel_young(omega, PoissonScore(3.3), Naturals(), q);
      const auto found = fenchel_young(omega, f, Naturals(), q);
      EXPECT_NEAR(found.value, expected.value, 1e-11 * (1 + expected.value)) << alpha;
      EXPECT_NEAR(found.gradient.alpha, expected.gradient.alpha,
                  1e-10 * (1 + std::abs(expected.gradient.alpha)))
          << alpha;
      EXPECT_NEAR(cross_omega(omega, f, Naturals(), q).value,
                  cross_omega(omega, PoissonScore(3.3), Naturals(), q).value, 1e-11 * (1 + expected.value))
          << alpha;
    }
    EXPECT_EQ(fenchel_young(omega, f, Naturals(), predict(omega, f, Naturals())).value, 0) << alpha;
    EXPECT_EQ(fenchel_young(omega, f, Naturals(), -1).value, kInf) << alpha;
  }
}

TEST(BetaCovariance, OnTheIntegersIsTheHessianOfTheLoss) {
  const auto identity = [](double t) { return t; };
  for (const double alpha : {1.0, 1.5, 2.0, 3.0}) {
    const SparsePoisson p(alpha, 6);
    const double hessian = fenchel_young_hessian(Tsallis(alpha), PoissonScore(6), Naturals());
    EXPECT_NEAR(beta_covariance(p, 2 - alpha, identity, identity), hessian, 1e-12 * hessian) << alpha;
  }
}

}  // namespace
}  // namespace fenchel
