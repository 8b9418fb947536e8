#include "fenchel/loss/quadratic.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "core/beta_gaussian/conjugate.hpp"
#include "fenchel/core/quadrature.hpp"
#include "fenchel/predict/quadratic.hpp"
#include "support/golden.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {

/// A family of the line that the losses know nothing about: mean 0.2, scale 1/2.
struct Logistic {
  static constexpr double kMean = 0.2, kScale = 0.5;
};
Line domain(const Logistic&) { return {}; }
Interval support(const Logistic&) { return {-testing::kInf, testing::kInf}; }
double log_pdf(const Logistic&, double t) {
  const double x = std::abs(t - Logistic::kMean) / Logistic::kScale;
  return -x - 2 * std::log1p(std::exp(-x)) - std::log(Logistic::kScale);
}
double pdf(const Logistic& q, double t) { return std::exp(log_pdf(q, t)); }
double quantile(const Logistic&, double u) {
  return Logistic::kMean + Logistic::kScale * std::log(u / (1 - u));
}
double survival_quantile(const Logistic& q, double u) { return quantile(q, 1 - u); }
double mean(const Logistic&) { return Logistic::kMean; }
double variance(const Logistic&) { return std::pow(std::numbers::pi * Logistic::kScale, 2) / 3; }
double tsallis_entropy(const Logistic& q, double order) {
  return -expectation(
      q, [&](double t) { return deformed_log_of_exp(order - 1, log_pdf(q, t)) / order; }, 1e-13);
}

namespace {

using testing::kInf, testing::message_of;

const double kAlphasOfLosses[] = {0.4, 0.6,     0.8, 1 - 1e-9, 1,  std::nextafter(1.0, 2.0), 1 + 1e-8, 1.1,
                                  1.5, 4. / 3., 2,   5.0,      1e6};

void expect_relative(double found, double expected, double relative) {
  EXPECT_NEAR(found, expected, relative * std::abs(expected));
}

TEST(LossQuadratic, MatchesTheGoldenValues) {
  constexpr double kRows[][3] = {{1, 0.24882142524915643, 1.4446164071396194},
                                 {1.5, 0.13423720612937372, 0.54471767520868327},
                                 {2, 0.1056277466795248, 0.30151764690085479},
                                 {0.8, 0.41688834762225047, 2.6544436378256839},
                                 {1.00000001, 0.24882142023106769, 1.4446163695349784}};
  const QuadraticScore f(-0.2, 1.69);
  for (const auto& row : kRows) {
    const BetaGaussian q(row[0], 0.3, 0.64);
    expect_relative(fenchel_young(Tsallis(row[0]), f, q).value, row[1], 1e-13);
    expect_relative(cross_omega(Tsallis(row[0]), f, q).value, row[2], 1e-13);
  }
  constexpr double kDirac[][2] = {
      {4. / 3, 1.3038697897174855}, {1.5, 1.1483736868450035}, {2, 0.9231240674852756}};
  for (const auto& row : kDirac)
    expect_relative(cross_omega(Tsallis(row[0]), QuadraticScore(0.3, 1.96), Dirac{2}).value, row[1], 1e-13);
}

TEST(LossQuadratic, MatchesTheTable) {
  int seen = 0;
  for (const auto& block : testing::golden_blocks("losses.txt")) {
    if (block.at("case")[0] != 1) continue;
    ++seen;
    const double alpha = block.at("case")[1];
    SCOPED_TRACE(::testing::Message() << "alpha=" << alpha << " of the target " << block.at("case")[2]);
    const QuadraticScore f(block.at("mu_f")[0], block.at("scale_f")[0]);
    const BetaGaussian q(block.at("case")[2], block.at("mu")[0], block.at("scale")[0]);
    const auto loss = fenchel_young(Tsallis(alpha), f, q), cross = cross_omega(Tsallis(alpha), f, q);
    expect_relative(cross.value, block.at("cross")[0], 1e-13);
    const double slope = block.at("cross")[1];
    EXPECT_NEAR(cross.gradient.alpha, slope, 1e-12 * std::max(1e-3, std::abs(slope)));
    // Of another alpha it is a difference of terms like the cross-Omega loss.
    const double scale = alpha == q.alpha() ? block.at("fenchel_young")[0] : std::abs(cross.value) + 1;
    EXPECT_NEAR(loss.value, block.at("fenchel_young")[0], 1e-13 * scale);
    EXPECT_NEAR(loss.gradient.alpha, block.at("fenchel_young")[1], 1e-12 * std::max(1e-3, std::abs(slope)));
  }
  EXPECT_EQ(seen, 21);
}

TEST(LossQuadratic, IsExactlyZeroAtThePredictionAndPositiveElsewhere) {
  const QuadraticScore f(0.7, 1.3);
  for (const double alpha : kAlphasOfLosses) {
    SCOPED_TRACE(alpha);
    const Tsallis omega(alpha, 0.3);
    const auto at = fenchel_young(omega, f, predict(omega, f, Line()));
    EXPECT_EQ(at.value, 0);
    EXPECT_EQ(at.gradient.mu, 0);
    EXPECT_EQ(at.gradient.sigma2, 0);
    EXPECT_EQ(at.gradient.alpha, 0);
    const double v = BetaGaussian(alpha, 0, 0.39).constants().variance_factor;
    for (const double s : {1e-3, -1e-5, 1e-8, -1e-12}) {
      // Second order in the logarithm of the scale; the third is s times as large.
      const BetaGaussian q(alpha, 0.7, 0.3 * 1.3 * std::exp(s));
      const double r = std::log1p((q.sigma2() - 0.39) / 0.39), value = fenchel_young(omega, f, q).value;
      expect_relative(value, 0.3 * v * r * r / 2 / (1 + alpha), 1e-13 + std::abs(s));
      EXPECT_GT(value, 0);
    }
    for (const double sigma2 : {1e-8, 1e-3, 0.2, 0.5, 10.0, 1e6})
      EXPECT_GT(fenchel_young(omega, f, BetaGaussian(alpha, 0.7, sigma2)).value, 0) << sigma2;
    EXPECT_GT(fenchel_young(omega, f, BetaGaussian(alpha, 0.7 + 1e-9, 0.39)).value, 0);
  }
}

TEST(LossQuadratic, IsItsDefinition) {
  for (const double alpha : {0.6, 0.8, 1.0, 1.5, 2.0, 3.0}) {
    const QuadraticScore f(-0.2, 1.69);
    const BetaGaussian q(alpha, 0.3, 0.64), p = predict(Tsallis(alpha), f, Line());
    const double conjugate_value = expectation(p, f, 1e-13) + tsallis_entropy(p, alpha);
    EXPECT_NEAR(conjugate(Tsallis(alpha), f, Line()), conjugate_value, 1e-10);
    const double cross = conjugate_value - expectation(q, f, 1e-13);
    EXPECT_NEAR(cross_omega(Tsallis(alpha), f, q).value, cross, 1e-10);
    EXPECT_NEAR(fenchel_young(Tsallis(alpha), f, q).value, cross - tsallis_entropy(q, alpha), 1e-10);
  }
}

TEST(LossQuadratic, AtOneItIsKullbackLeiblerAndTheCrossEntropy) {
  const BetaGaussian q = BetaGaussian::gaussian(0.3, 0.64), p = BetaGaussian::gaussian(-0.2, 1.69);
  const double kl = std::log(1.3 / 0.8) + (0.64 + 0.25) / (2 * 1.69) - 0.5;
  EXPECT_NEAR(fenchel_young(Shannon(), score(p), q).value, kl, 1e-15);
  const auto surprise = [&](double t) { return -log_pdf(p, t); };
  EXPECT_NEAR(cross_omega(Shannon(), score(p), q).value, expectation(q, surprise, 1e-13), 1e-11);
}

using LossAt = std::function<Loss<QuadraticGradient>(double alpha, double mu, double sigma2)>;

void expect_gradient_is_the_slope(const LossAt& loss, double alpha) {
  constexpr double kMu = 0.4, kSigma2 = 1.2, kStep = 1e-5;
  const auto g = loss(alpha, kMu, kSigma2).gradient;
  const auto slope = [&](double da, double dm, double ds) {
    const auto at = [&](double h) { return loss(alpha + h * da, kMu + h * dm, kSigma2 + h * ds).value; };
    return (8 * (at(kStep) - at(-kStep)) - (at(2 * kStep) - at(-2 * kStep))) / (12 * kStep);
  };
  SCOPED_TRACE(alpha);
  EXPECT_NEAR(g.mu, slope(0, 1, 0), 1e-9 * (1 + std::abs(g.mu)));
  EXPECT_NEAR(g.sigma2, slope(0, 0, 1), 1e-9 * (1 + std::abs(g.sigma2)));
  EXPECT_NEAR(g.alpha, slope(1, 0, 0), 2e-9 * (1 + std::abs(g.alpha)));
}

TEST(LossQuadratic, GradientsAreTheSlopes) {
  constexpr double kSample[] = {0.1, -0.4, 2.3};
  for (const double alpha : {0.45, 0.8, 1 - 1e-8, 1.0, 1 + 1e-8, 4. / 3, 1.5, 2.0, 5.0}) {
    const auto with = [](const auto& q, double temperature) -> LossAt {
      return [=](double a, double mu, double sigma2) {
        return fenchel_young(Tsallis(a, temperature), QuadraticScore(mu, sigma2), q);
      };
    };
    const auto cross = [](const auto& q) -> LossAt {
      return [=](double a, double mu, double sigma2) {
        return cross_omega(Tsallis(a, 0.7), QuadraticScore(mu, sigma2), q);
      };
    };
    expect_gradient_is_the_slope(cross(Dirac{1.7}), alpha);
    expect_gradient_is_the_slope(cross(Empirical(kSample)), alpha);
    expect_gradient_is_the_slope(cross(BetaGaussian(2, 0.3, 0.64)), alpha);
    expect_gradient_is_the_slope(with(BetaGaussian(alpha, 0.3, 0.64), 0.7), alpha);  // its own at alpha alone
    expect_gradient_is_the_slope(with(BetaGaussian(1.25, 0.3, 0.64), 1), alpha);
    expect_gradient_is_the_slope(with(Logistic(), 0.7), alpha);
    if (alpha < 0.9) expect_gradient_is_the_slope(with(Dirac{1.7}, 0.7), alpha);
  }
}

TEST(LossQuadratic, ObservationsAreInfinitelyFarForAlphaFromOne) {
  const QuadraticScore f(0.4, 1.2);
  EXPECT_EQ(fenchel_young(Tsallis(1), f, Dirac{1}).value, kInf);
  EXPECT_TRUE(std::isnan(fenchel_young(Tsallis(2), f, Dirac{1}).gradient.alpha));
  EXPECT_EQ(fenchel_young(Tsallis(2), f, Dirac{1}).gradient.mu,
            cross_omega(Tsallis(2), f, Dirac{1}).gradient.mu);
  const double values[] = {1};
  EXPECT_EQ(fenchel_young(Tsallis(0.5), f, Dirac{1}).value,
            fenchel_young(Tsallis(0.5), f, Empirical(values)).value);
}

/// The second derivatives of a function of the canonical parameters.
template <class F>
std::array<std::array<double, 2>, 2> second_differences(F value, std::array<double, 2> theta) {
  constexpr double kStep = 2e-4;
  std::array<std::array<double, 2>, 2> h{};
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 2; ++j) {
      const auto at = [&](double a, double b) {
        auto shifted = theta;
        shifted[i] += a * kStep;
        shifted[j] += b * kStep;
        return value(shifted);
      };
      h[i][j] = (at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1)) / (4 * kStep * kStep);
    }
  }
  return h;
}

TEST(LossQuadratic, E11HessianIsTheCovarianceUnderTheModel) {
  for (const double alpha : {0.6, 1.0, 1 + 1e-8, 1.5, 2.0, 5.0}) {
    for (const double temperature : {1.0, 0.5}) {
      SCOPED_TRACE(alpha);
      const Tsallis omega(alpha, temperature);
      const BetaGaussian q(alpha, 0.3, 0.64);
      const QuadraticScore f(0.9, 1.3);
      const auto value = [&](std::array<double, 2> theta) {
        return fenchel_young(omega, score(BetaGaussian::from_canonical(alpha, theta)), q).value;
      };
      const auto expected = second_differences(value, canonical_parameters(BetaGaussian(alpha, 0.9, 1.3)));
      const auto found = fenchel_young_hessian(omega, f, Line());
      const auto printed = fenchel_young_hessian(omega, score(q), Line());  // under the target
      for (std::size_t i = 0; i < 2; ++i) {
        for (std::size_t j = 0; j < 2; ++j) {
          EXPECT_NEAR(found[i][j], expected[i][j], 2e-6 * std::abs(expected[i][j]));
          EXPECT_GT(std::abs(printed[i][j] - expected[i][j]), 0.2 * std::abs(expected[i][j]));
        }
      }
    }
  }
  // All of the unit interval is predicted, wherever it is wanted.
  EXPECT_EQ(fenchel_young_hessian(Tsallis(kInf), QuadraticScore(0, 2), Line())[1][1], 0);
}

TEST(LossQuadratic, NormalizerGradientIsItsSlope) {
  constexpr double kStep = 1e-5;
  for (const double alpha : {0.6, 1.0, 1.5, 2.0, 5.0}) {
    const Tsallis omega(alpha, 0.7);
    const auto value = [&](std::array<double, 2> theta) {
      const QuadraticScore f = score(BetaGaussian::from_canonical(alpha, theta));
      return normalizer(omega, f, Line()) + f.mu() * f.mu() / (2 * f.sigma2());
    };
    const QuadraticScore f(0.9, 1.3);
    const auto gradient = normalizer_gradient(omega, f, Line());
    const auto theta = canonical_parameters(BetaGaussian(alpha, 0.9, 1.3));
    for (std::size_t i = 0; i < 2; ++i) {
      auto up = theta, down = theta;
      up[i] += kStep;
      down[i] -= kStep;
      EXPECT_NEAR(gradient[i], (value(up) - value(down)) / (2 * kStep), 1e-7) << alpha << ' ' << i;
    }
  }
}

TEST(LossQuadratic, MinimiserMatchesTheMoments) {
  constexpr double kSample[] = {0.1, -0.4, 2.3, 1.1};
  const Empirical q(kSample);
  for (const double alpha : {0.6, 1.0, 1 + 1e-8, 1.5, 2.0, 5.0}) {
    const QuadraticScore best = score(BetaGaussian::from_variance(alpha, mean(q), variance(q)));
    const auto least = cross_omega(Tsallis(alpha), best, q);
    EXPECT_NEAR(least.gradient.mu, 0, 1e-15);
    EXPECT_NEAR(least.gradient.sigma2 * best.sigma2(), 0, 1e-13);
    for (const double change : {-0.01, 0.01}) {
      EXPECT_GT(cross_omega(Tsallis(alpha), QuadraticScore(best.mu() + change, best.sigma2()), q).value,
                least.value);
      EXPECT_GT(cross_omega(Tsallis(alpha), QuadraticScore(best.mu(), best.sigma2() * (1 + change)), q).value,
                least.value);
    }
  }
}

TEST(LossQuadratic, TemperatureScalesTheScore) {
  const BetaGaussian q(1.5, 0.3, 0.64);
  const double t = 0.3;
  const auto hot = fenchel_young(Tsallis(1.5, t), QuadraticScore(0.9, 1.3), q);
  const auto unit = fenchel_young(Tsallis(1.5), QuadraticScore(0.9, t * 1.3), q);
  EXPECT_DOUBLE_EQ(hot.value, t * unit.value);
  EXPECT_DOUBLE_EQ(conjugate(Tsallis(1.5, t), QuadraticScore(0.9, 1.3), Line()),
                   t * conjugate(Tsallis(1.5), QuadraticScore(0.9, t * 1.3), Line()));
}

/// The radius R of the paper.
double radius(double alpha) { return std::sqrt(BetaGaussian(alpha, 0, 1).constants().radius2); }

TEST(LossQuadratic, E3CrossOmegaOfAnObservation) {
  const double alpha = 2, y = 2, mu = 0.3, sigma2 = 1.96;
  const auto formula = [&](double factor) {
    return (mu - y) * (mu - y) / (2 * sigma2) -
           std::pow(radius(alpha), 2) / 2 * std::pow(sigma2, -(alpha - 1) / (alpha + 1)) * factor +
           1 / (alpha * (alpha - 1));
  };
  const double found = cross_omega(Tsallis(alpha), QuadraticScore(mu, sigma2), Dirac{y}).value;
  EXPECT_NEAR(found, 0.923124, 5e-7);
  EXPECT_NEAR(found, formula((alpha + 1) / (3 * alpha - 1)), 1e-14);
  EXPECT_NEAR(formula((alpha - 1) / (3 * alpha - 1)), 1.132538, 5e-7);  // as printed
}

TEST(LossQuadratic, E4CrossOmegaOfABetaGaussian) {
  const double alpha = 1.5, sigma = 0.8;
  const QuadraticScore f(0.3, 1.96);
  const auto formula = [&](double exponent) {
    const double variance =
        std::pow(radius(alpha), 2) * (alpha - 1) / (3 * alpha - 1) * std::pow(sigma, exponent);
    return conjugate(Tsallis(alpha), f, Line()) + variance / (2 * f.sigma2());
  };
  const double found = cross_omega(Tsallis(alpha), f, BetaGaussian(alpha, 0.3, sigma * sigma)).value;
  EXPECT_NEAR(found, 0.48646372, 5e-9);
  EXPECT_NEAR(found, formula(4 / (1 + alpha)), 1e-14);
  EXPECT_NEAR(formula(2 / (1 + alpha)), 0.50118722, 5e-9);  // as printed
}

TEST(LossQuadratic, InfiniteAlphaMeasuresTheUnitInterval) {
  const Tsallis omega(kInf);
  const QuadraticScore f(0.5, 2);
  EXPECT_EQ(fenchel_young(omega, f, BetaGaussian::uniform(0, 1)).value, 0);
  EXPECT_NEAR(fenchel_young(omega, f, BetaGaussian::uniform(1, 2)).value, 1. / 4, 1e-15);
  EXPECT_NEAR(fenchel_young(omega, f, BetaGaussian::uniform(-1, 2)).value, (9 - 1) / (12. * 2 * 2), 1e-15);
  EXPECT_EQ(fenchel_young(omega, f, BetaGaussian::uniform(0, 0.5)).value, kInf);
  EXPECT_NEAR(conjugate(Tsallis(1e12), f, Line()), conjugate(omega, f, Line()), 1e-10);
}

TEST(LossQuadratic, IsInfiniteForATargetWithoutVariance) {
  for (const double alpha : {0.4, 1.0, 2.0}) {
    EXPECT_EQ(fenchel_young(Tsallis(alpha), QuadraticScore(0, 1), BetaGaussian(0.2, 0, 1)).value, kInf);
    EXPECT_EQ(cross_omega(Tsallis(alpha), QuadraticScore(0, 1), BetaGaussian(0.2, 0, 1)).value, kInf);
  }
}

TEST(LossQuadratic, BadAlphaIsNamed) {
  const auto call = [] { (void)cross_omega(Tsallis(0.25), QuadraticScore(0, 1), Dirac{1}); };
  EXPECT_EQ(message_of<std::domain_error>(call),
            "fenchel::predict: alpha must be above 1/3 for a quadratic score on the line, got 0.25");
}

TEST(BetaGaussianConjugate, ScaleDivergenceKeepsItsDigits) {
  for (const double s : {-20.0, -2.0, -0.3, -1e-6, 0.0, 1e-9, 0.7, 5.0}) {
    const auto by_long_double = [&](long double gamma) {
      return std::expm1(static_cast<long double>(s)) - std::expm1(gamma * s) / gamma;
    };
    for (const double am1 : {-0.6, -0.1, 0.3, 1.9, 2.1, 7.0}) {
      const long double gamma = static_cast<long double>(am1) / (2 + static_cast<long double>(am1));
      const auto expected = static_cast<double>(by_long_double(gamma));
      EXPECT_NEAR(detail::scale_divergence(1, am1, s), expected, 2e-15 * expected + 1e-18) << am1 << ' ' << s;
    }
    EXPECT_EQ(detail::scale_divergence(1, kInf, s), 0);
  }
}

/// p(mu)^(alpha - 1) = 1e314 is no double, and its quotient by alpha is.
TEST(LossQuadratic, TheSlopeInAlphaIsANumberWhereThePowerOfThePeakIsNone) {
  const double alpha = 1.1e8, step = 1e-3 * alpha, sigma2 = 1e-307;
  const BetaGaussian p(alpha, 0, sigma2);
  const auto conjugate = [&](double order) {
    return detail::beta_gaussian_conjugate(BetaGaussian(order, 0, sigma2).constants());
  };
  const double slope = (conjugate(alpha + step) - conjugate(alpha - step)) / (2 * step);
  const double found = cross_omega(Tsallis(alpha), score(p), Line(), p).gradient.alpha;
  EXPECT_NEAR(found, slope, 1e-5 * std::abs(slope));
  EXPECT_EQ(fenchel_young(Tsallis(alpha), score(p), Line(), p).gradient.alpha, 0);
}

TEST(LossQuadratic, DistancesAndRatiosMayOverflowOnTheWay) {
  const BetaGaussian far(2, 0, 1e300);
  EXPECT_NEAR(fenchel_young(Tsallis(2), QuadraticScore(1e200, 1e300), Line(), far).value, 5e99, 1e85);
  EXPECT_NEAR(cross_omega(Tsallis(2), QuadraticScore(1e200, 1e300), Line(), Dirac{0}).value, 5e99, 1e85);
  for (const double alpha : {0.5, 1.0, 1.5, 2.0, 1e6}) {
    const BetaGaussian narrow(alpha, 0, 1e-300), wide(alpha, 0, 1e300);
    EXPECT_GT(fenchel_young(Tsallis(alpha), score(narrow), Line(), wide).value, 0) << alpha;
    EXPECT_GT(fenchel_young(Tsallis(alpha), score(wide), Line(), narrow).value, 0) << alpha;
  }
  EXPECT_EQ(detail::scale_divergence(1, kInf, 1400), 0);
}

}  // namespace
}  // namespace fenchel
