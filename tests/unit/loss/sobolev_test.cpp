#include "fenchel/loss/sobolev.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fenchel/loss/absolute.hpp"
#include "fenchel/loss/quadratic.hpp"
#include "support/differences.hpp"
#include "support/grids.hpp"

namespace fenchel {
namespace {

using testing::kInf, testing::slope_of;

constexpr double kGammas[] = {0, 1e-8, 0.1, 1, 100, 1e8};
const std::vector<double> kValues = {-0.7, 0.1, 0.55, 0.55, 1.9};

template <class Check>
void for_each_density(Check check) {
  check(BetaGaussian(1.5, 0.2, 0.4));
  check(BetaGaussian::gaussian(-0.1, 0.3));
  check(BetaLaplace::laplace(-0.1, 0.3));
  check(TruncatedGaussian(3, 0.25, 0.5));
  check(SmoothParabola(0.3, 0.1, 0.5));
  check(SmoothTriangular(2, 0.1, 0.5));
  check(escort(TruncatedGaussian(3, 0.25, 0.5), 1.2));
}
template <class Check>
void for_each_target(Check check) {
  for_each_density(check);
  check(Dirac{1.2});
  check(Empirical(kValues));
}

double scale_derivative(const QuadraticGammaGradient& gradient) { return gradient.sigma2; }
double scale_derivative(const AbsoluteGammaGradient& gradient) { return gradient.b; }

/// Gradients of cross_omega for a score that is made by make(mu, scale).
template <class Make, class Target>
void expect_gradients(Make make, const Target& q) {
  for (const double gamma : {1e-3, 0.1, 1.0, 100.0}) {
    for (const double temperature : {1.0, 1.7}) {
      SCOPED_TRACE(::testing::Message() << "gamma=" << gamma << " T=" << temperature);
      const auto value = [&](double g, double mu, double scale) {
        return cross_omega(Sobolev(g, temperature), make(mu, scale), q).value;
      };
      const Sobolev omega(gamma, temperature);
      const auto loss = cross_omega(omega, make(0.3, 0.9), q);
      const auto in_mu = [&](double mu) { return value(gamma, mu, 0.9); };
      const auto in_scale = [&](double scale) { return value(gamma, 0.3, scale); };
      const auto in_gamma = [&](double g) { return value(g, 0.3, 0.9); };
      EXPECT_NEAR(loss.gradient.mu, slope_of(in_mu, 0.3, 1e-3), 1e-6);
      EXPECT_NEAR(scale_derivative(loss.gradient), slope_of(in_scale, 0.9, 1e-3), 1e-7);
      EXPECT_NEAR(loss.gradient.gamma, slope_of(in_gamma, gamma, 1e-3 * gamma), 1e-7);
      const auto whole = fenchel_young(omega, make(0.3, 0.9), q);
      EXPECT_EQ(whole.gradient.mu, loss.gradient.mu);
      EXPECT_EQ(scale_derivative(whole.gradient), scale_derivative(loss.gradient));
      if (std::isinf(whole.value)) {
        EXPECT_EQ(whole.gradient.gamma, kInf);
      } else {
        const double energy = gamma / 2 * roughness(q) - tsallis_entropy(q, 2);
        EXPECT_NEAR(whole.value, loss.value + temperature * energy, 1e-8 * (1 + std::abs(energy)));
        EXPECT_NEAR(whole.gradient.gamma, loss.gradient.gamma + temperature / 2 * roughness(q), 1e-10);
        EXPECT_GT(whole.value, 0);
      }
    }
  }
}

TEST(SobolevLoss, GradientsAgreeWithDifferences) {
  for_each_target([](const auto& q) {
    expect_gradients([](double mu, double sigma2) { return QuadraticScore(mu, sigma2); }, q);
    expect_gradients([](double mu, double b) { return AbsoluteScore(mu, b); }, q);
  });
}

TEST(SobolevLoss, ZeroExactlyAtThePrediction) {
  for (const double gamma : kGammas) {
    for (const double temperature : {1.0, 3.0}) {
      const Sobolev omega(gamma, temperature);
      const QuadraticScore quadratic(-0.4, 0.7);
      const AbsoluteScore absolute(-0.4, 0.7);
      const auto check = [&](const auto& f) {
        const auto p = predict(omega, f, Line());
        const auto loss = fenchel_young(omega, f, p);
        EXPECT_EQ(loss.value, 0) << gamma;
        EXPECT_EQ(loss.gradient.mu, 0) << gamma;
        EXPECT_NEAR(scale_derivative(loss.gradient), 0, 1e-13 * (1 + p.half_width() * p.half_width()))
            << gamma;
        EXPECT_NEAR(loss.gradient.gamma, 0, 1e-14) << gamma;
      };
      check(quadratic);
      check(absolute);
      EXPECT_GT(fenchel_young(omega, quadratic, SmoothParabola(gamma, -0.4, 0.71 * temperature)).value, 0);
      EXPECT_GT(fenchel_young(omega, absolute, SmoothTriangular(gamma, -0.39, 0.7 * temperature)).value, 0);
    }
  }
}

/// Near the prediction the loss is a square: a hundredth of the step has a ten thousandth of the loss.
TEST(SobolevLoss, DoesNotCancelNearThePrediction) {
  for (const double gamma : kGammas) {
    const Sobolev omega(gamma);
    const auto ratio = [&](auto loss) { return loss(1e-6) / loss(1e-4); };
    EXPECT_NEAR(
        ratio([&](double step) {
          return fenchel_young(omega, QuadraticScore(0, 0.7), SmoothParabola(gamma, 0, 0.7 + step)).value;
        }),
        1e-4, 1e-6)
        << gamma;
    EXPECT_NEAR(
        ratio([&](double step) {
          return fenchel_young(omega, AbsoluteScore(0, 0.7), SmoothTriangular(gamma, 0, 0.7 + step)).value;
        }),
        1e-4, 1e-6)
        << gamma;
  }
}

/// Both forms of the value agree where neither cancels.
TEST(SobolevLoss, SquaresAreThePlainFormula) {
  const Sobolev omega(0.2);
  const QuadraticScore quadratic(0.1, 0.6);
  const AbsoluteScore absolute(0.1, 0.6);
  for_each_density([&](const auto& q) {
    const auto check = [&](const auto& f) {
      const auto p = predict(omega, f, Line());
      const auto term = [&](double t) {
        const double gap = pdf(q, t) - pdf(p, t), slope = pdf_derivative(q, t) - pdf_derivative(p, t);
        const double beyond = pdf(p, t) > 0 ? 0 : pdf(q, t) * (p.threshold() - score(p)(t));
        return gap * gap / 2 + 0.1 * slope * slope + beyond;
      };
      std::vector<double> cuts = detail::cuts_of(q);
      for (const double cut : detail::cuts_of(p)) cuts.push_back(cut);
      const double want = detail::integrate_pieces(term, cuts, 1, 1e-10).value;
      EXPECT_NEAR(fenchel_young(omega, f, q).value, want, 1e-7);
    };
    check(quadratic);
    check(absolute);
  });
}

TEST(SobolevLoss, InfiniteForAtomsAndJumps) {
  for (const double gamma : {0.0, 0.5}) {
    const Sobolev omega(gamma);
    EXPECT_EQ(fenchel_young(omega, QuadraticScore(0, 1), Dirac{0.3}).value, kInf);
    EXPECT_EQ(fenchel_young(omega, AbsoluteScore(0, 1), Empirical(kValues)).value, kInf);
    const double jump = fenchel_young(omega, QuadraticScore(0, 1), BetaGaussian::uniform(-1, 1)).value;
    EXPECT_EQ(std::isinf(jump), gamma > 0);
    EXPECT_EQ(std::isinf(fenchel_young(omega, AbsoluteScore(0, 1), BetaLaplace(4, 0, 1)).value), gamma > 0);
  }
}

TEST(SobolevLoss, GammaZeroIsTsallisTwo) {
  const QuadraticScore quadratic(0.1, 0.6);
  const AbsoluteScore absolute(0.1, 0.6);
  const BetaGaussian q(1.5, 0.2, 0.4);
  for (const double temperature : {1.0, 2.5}) {
    const Sobolev omega(0, temperature);
    const Tsallis sparse(2, temperature);
    const auto check = [&](const auto& f) {
      EXPECT_NEAR(fenchel_young(omega, f, q).value, fenchel_young(sparse, f, q).value, 1e-10);
      EXPECT_NEAR(cross_omega(omega, f, q).value, cross_omega(sparse, f, q).value, 1e-10);
      EXPECT_NEAR(cross_omega(omega, f, Dirac{1}).value, cross_omega(sparse, f, Dirac{1}).value, 1e-12);
      EXPECT_NEAR(cross_omega(omega, f, q).gradient.mu, cross_omega(sparse, f, q).gradient.mu, 1e-10);
    };
    check(quadratic);
    check(absolute);
    EXPECT_NEAR(cross_omega(omega, quadratic, q).gradient.sigma2,
                cross_omega(sparse, quadratic, q).gradient.sigma2, 1e-12);
    EXPECT_NEAR(cross_omega(omega, absolute, q).gradient.b, cross_omega(sparse, absolute, q).gradient.b,
                1e-12);
  }
}

TEST(SobolevLoss, TemperatureScalesTheLoss) {  // T loss(f / T; q)
  const double temperature = 1.7;
  const SmoothParabola q(0.3, 0.1, 0.5);
  const Sobolev hot(0.4, temperature), unit(0.4);
  EXPECT_NEAR(fenchel_young(hot, QuadraticScore(0.3, 0.9), q).value,
              temperature * fenchel_young(unit, QuadraticScore(0.3, 0.9 * temperature), q).value, 1e-13);
  EXPECT_NEAR(cross_omega(hot, AbsoluteScore(0.3, 0.9), Dirac{2}).value,
              temperature * cross_omega(unit, AbsoluteScore(0.3, 0.9 * temperature), Dirac{2}).value, 1e-13);
}

}  // namespace
}  // namespace fenchel
