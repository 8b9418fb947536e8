#include "fenchel/loss/function.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "fenchel/loss/multivariate_function.hpp"
#include "fenchel/loss/multivariate_quadratic.hpp"
#include "support/differences.hpp"
#include "support/grids.hpp"

namespace fenchel {
namespace {

using testing::kInf, testing::slope_of;

LinearScore linear(std::vector<double> theta) {
  return LinearScore(std::move(theta), {[](double t) { return t; }, [](double t) { return t * t; }});
}
FunctionScore quadratic(double mu, double sigma2) {
  return FunctionScore([=](double t) { return -(t - mu) * (t - mu) / (2 * sigma2); });
}

TEST(LossFunction, GoldenValuesOfQuadraticScores) {  // docs/math.md, golden values 31-35, 40-42
  struct {
    double alpha, fenchel_young, cross_omega;
  } const rows[] = {{1, 0.24882142524915643, 1.4446164071396194},
                    {1.5, 0.13423720612937372, 0.54471767520868327},
                    {2, 0.1056277466795248, 0.30151764690085479},
                    {0.8, 0.41688834762225047, 2.6544436378256839},
                    {1.00000001, 0.24882142023106769, 1.4446163695349784}};
  for (const auto& row : rows) {
    const Tsallis omega(row.alpha);
    const NumericDensity q = predict(omega, quadratic(0.3, 0.64), Line{});
    EXPECT_NEAR(fenchel_young(omega, quadratic(-0.2, 1.69), q).value, row.fenchel_young, 1e-9) << row.alpha;
    EXPECT_NEAR(cross_omega(omega, quadratic(-0.2, 1.69), Line{}, q).value, row.cross_omega, 1e-9)
        << row.alpha;
  }
  EXPECT_NEAR(cross_omega(Tsallis(4.0 / 3), quadratic(0.3, 1.96), Dirac{2}).value, 1.3038697897174855, 1e-10);
  EXPECT_NEAR(cross_omega(Tsallis(1.5), quadratic(0.3, 1.96), Dirac{2}).value, 1.1483736868450035, 1e-10);
  EXPECT_NEAR(cross_omega(Tsallis(2), quadratic(0.3, 1.96), Dirac{2}).value, 0.9231240674852756, 1e-10);
}

TEST(LossFunction, IsZeroAtThePredictionAndPositiveElsewhere) {
  for (const double alpha : {0.8, 1.0, 1 + 1e-8, 1.5, 2.0, 5.0, 1e6, kInf}) {
    const Tsallis omega(alpha, 0.6);
    const FunctionScore f([](double t) { return -(t * t - 1) * (t * t - 1) + 0.2 * t; });
    const NumericDensity p = predict(omega, f, Line{});
    EXPECT_NEAR(fenchel_young(omega, f, p).value, 0, 1e-9) << alpha;
    EXPECT_GE(fenchel_young(omega, f, p).value, 0) << alpha;
    const NumericDensity q = predict(omega, quadratic(0, 1), Line{});
    EXPECT_GT(fenchel_young(omega, f, q).value, 1e-3) << alpha;
  }
}

/// p^alpha feels what is left of the log mass alpha times.
TEST(LossFunction, IsZeroAtThePredictionOfALargeAlpha) {
  const FunctionScore f([](double t) { return -std::exp(std::abs(t)); });
  for (const double alpha : {1e10, 91237414198.6768, 1.5e11, 3e11, 7e11, 1e12}) {
    const Tsallis omega(alpha);
    const NumericDensity p = predict(omega, f, Interval(-2, 3));
    EXPECT_NEAR(fenchel_young(omega, f, Interval(-2, 3), p).value, 0, 1e-11) << alpha;
  }
}

TEST(LossFunction, TemperatureScalesTheLoss) {
  const NumericDensity q = predict(Tsallis(2), quadratic(0.3, 0.64), Line{});
  const double loss = fenchel_young(Tsallis(1.5, 0.7), quadratic(0, 1), q).value;
  EXPECT_NEAR(loss, 0.7 * fenchel_young(Tsallis(1.5), quadratic(0, 0.7), q).value, 1e-10);
}

TEST(LossFunction, TargetsThatChargeAMaskCostInfinity) {
  const FunctionScore f([](double t) { return t > 1 ? -kInf : -t * t; });
  EXPECT_EQ(cross_omega(Tsallis(2), f, Dirac{2}).value, kInf);
  EXPECT_EQ(cross_omega(Tsallis(2), quadratic(0, 1), Interval(-1, 1), Dirac{2}).value, kInf);
  const NumericDensity wide = predict(Shannon(), quadratic(0, 1), Line{});
  EXPECT_EQ(fenchel_young(Tsallis(1), f, wide).value, kInf);
  EXPECT_EQ(fenchel_young(Tsallis(1.5), quadratic(0, 1), Dirac{0}).value, kInf);
}

TEST(LossFunction, GradientsAreSlopes) {
  const std::vector<double> theta{0.3, -0.8}, data{-1, 0.2, 0.5, 2};
  const auto check = [&](double alpha, const auto& q) {
    const auto at = [&](std::vector<double> moved, double order) {
      return cross_omega(Tsallis(order, 0.7), linear(std::move(moved)), Line{}, q);
    };
    const auto loss = at(theta, alpha);
    for (std::size_t i = 0; i < 2; ++i) {
      const double numeric = slope_of(
          [&](double step) {
            std::vector<double> moved = theta;
            moved[i] += step;
            return at(moved, alpha).value;
          },
          0, 5e-3);
      EXPECT_NEAR(loss.gradient.theta[i], numeric, 1e-6) << alpha;
    }
    EXPECT_NEAR(loss.gradient.alpha,
                slope_of([&](double step) { return at(theta, alpha + step).value; }, 0, 5e-4), 1e-7)
        << alpha;
  };
  for (const double alpha : {0.8, 1.0, 1.5, 2.0, 5.0}) {
    check(alpha, Dirac{0.4});
    check(alpha, Empirical(data));
    const NumericDensity q = predict(Tsallis(2), quadratic(0.3, 0.64), Line{});
    check(alpha, q);
    const auto loss_at = [&](double order) { return fenchel_young(Tsallis(order, 0.7), linear(theta), q); };
    EXPECT_NEAR(loss_at(alpha).gradient.alpha,
                slope_of([&](double step) { return loss_at(alpha + step).value; }, 0, 5e-4), 1e-7)
        << alpha;
  }
  const auto atom_at = [&](double order) {
    return fenchel_young(Tsallis(order), linear(theta), Line{}, Dirac{0.4});
  };
  EXPECT_NEAR(atom_at(0.7).gradient.alpha,
              slope_of([&](double step) { return atom_at(0.7 + step).value; }, 0, 5e-4), 1e-6);
}

TEST(LossFunction, HessianIsTheSlopeOfTheGradient) {
  const std::vector<double> theta{0.3, -0.8};
  for (const double alpha : {0.8, 1.0, 1.5, 2.0, 3.0, 5.0, 50.0}) {
    const Tsallis omega(alpha, 0.7);
    const Eigen::MatrixXd hessian = fenchel_young_hessian(omega, linear(theta), Line{});
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t j = 0; j < 2; ++j) {
        const double numeric = slope_of(
            [&](double step) {
              std::vector<double> moved = theta;
              moved[i] += step;
              return cross_omega(omega, linear(moved), Dirac{0}).gradient.theta[j];
            },
            0, 5e-3);
        EXPECT_NEAR(hessian(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)), numeric,
                    1e-5 * hessian.norm())
            << alpha << " " << i << j;
      }
    }
  }
}

/// The printed Hessian takes the covariance under the target; the slope of the gradient is the one under the
/// model, whatever the target.
TEST(Errata, E11_HessianIsUnderTheModel) {
  const Tsallis omega(1.5);
  const LinearScore f = linear({0.3, -0.8});
  const NumericDensity target = predict(omega, quadratic(1, 3), Line{});
  const double model = fenchel_young_hessian(omega, f, Line{})(0, 0);
  const double printed = beta_covariance(target, 0.5, f.phi(), f.phi())(0, 0);
  const double numeric = slope_of(
      [&](double step) {
        return fenchel_young(omega, linear({0.3 + step, -0.8}), target).gradient.theta[0];
      },
      0, 5e-3);
  EXPECT_NEAR(model, numeric, 1e-7);
  EXPECT_GT(std::abs(printed - numeric), 0.2 * numeric);
}

TEST(LossMultivariateFunction, AgreesWithTheQuadraticLossAndIsZeroAtThePrediction) {
  const Eigen::Vector2d mu(0.3, -0.5), at(0.4, 0.1);
  const MultivariateQuadraticScore quadratic_score(mu, Eigen::Matrix2d::Identity());
  const MultivariateFunctionScore f([&](const Eigen::VectorXd& t) { return -(t - mu).squaredNorm() / 2; });
  const Euclidean plane(2);
  for (const double alpha : {1.0, 2.0}) {
    const Tsallis omega(alpha, 0.7);
    const auto exact = cross_omega(omega, quadratic_score, plane, MultivariateDirac{at});
    const auto loss = cross_omega(omega, f, MultivariateDirac{at});
    EXPECT_NEAR(loss.value, exact.value, 1e-7) << alpha;
    EXPECT_NEAR(loss.gradient.alpha, exact.gradient.alpha, 1e-6) << alpha;
    const MultivariateBetaGaussian q(alpha, at, 0.3 * Eigen::Matrix2d::Identity());
    EXPECT_NEAR(fenchel_young(omega, f, q).value, fenchel_young(omega, quadratic_score, plane, q).value,
                1e-7);
    EXPECT_NEAR(fenchel_young(omega, f, predict(omega, f, plane)).value, 0, 1e-7) << alpha;
  }
  const Eigen::MatrixXd columns = (Eigen::MatrixXd(2, 2) << 0, 1, 0, 1).finished();
  EXPECT_NEAR(cross_omega(Tsallis(2), f, plane, MultivariateEmpirical(columns)).value,
              cross_omega(Tsallis(2), quadratic_score, plane, MultivariateEmpirical(columns)).value, 1e-7);
  EXPECT_EQ(fenchel_young(Tsallis(2), f, MultivariateDirac{at}).value, kInf);
  EXPECT_EQ(
      cross_omega(Tsallis(2), f, Box(Eigen::Vector2d(-1, -1), Eigen::Vector2d(0, 0)), MultivariateDirac{at})
          .value,
      kInf);
}

}  // namespace
}  // namespace fenchel
