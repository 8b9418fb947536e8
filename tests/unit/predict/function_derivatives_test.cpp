#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fenchel/predict/function.hpp"
#include "support/differences.hpp"
#include "support/grids.hpp"

namespace fenchel {
namespace {

using testing::kInf, testing::slope_of;

LinearScore linear(std::vector<double> theta) {
  return LinearScore(std::move(theta), {[](double t) { return t; }, [](double t) { return t * t; },
                                        [](double t) { return std::pow(t, 4); }});
}

TEST(FunctionDerivatives, GradientOfANormalizerIsTheEscortMean) {
  const std::vector<double> theta{0.4, 1.1, -0.9};
  for (const double alpha : {0.7, 1.0, 1 + 1e-8, 1.5, 2.0, 3.0, 5.0}) {
    for (const double temperature : {1.0, 0.4}) {
      const Tsallis omega(alpha, temperature);
      const std::vector<double> gradient = normalizer_gradient(omega, linear(theta), Line{});
      ASSERT_EQ(gradient.size(), 3u);
      for (std::size_t i = 0; i < 3; ++i) {
        const double numeric = slope_of(
            [&](double step) {
              std::vector<double> moved = theta;
              moved[i] += step;
              return normalizer(omega, linear(moved), Line{});
            },
            0, 5e-3);
        EXPECT_NEAR(gradient[i], numeric, 2e-6) << alpha << " " << temperature << " " << i;
      }
    }
  }
}

TEST(FunctionDerivatives, HessianOfANormalizerIsTheSlopeOfItsGradient) {
  const std::vector<double> theta{0.4, 0.6, -0.9};
  for (const double alpha : {0.7, 1.0, 1 + 1e-8, 1.3, 1.5, 1.9, 1.9999999, 2.0, 2.0000001, 2.1, 3.0, 5.0}) {
    for (const Interval& domain : {Interval(-kInf, kInf), Interval(-0.4, 4)}) {
      const Tsallis omega(alpha, 0.7);
      const Eigen::MatrixXd hessian = normalizer_hessian(omega, linear(theta), domain);
      for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) {
          const double numeric = slope_of(
              [&](double step) {
                std::vector<double> moved = theta;
                moved[i] += step;
                return normalizer_gradient(omega, linear(moved), domain)[j];
              },
              0, 1e-3);
          EXPECT_NEAR(hessian(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)), numeric,
                      1e-5 * hessian.norm())
              << alpha << " " << i << j << " " << domain.lower();
        }
      }
    }
  }
}

/// With (2 - alpha) int p^{3 - 2 alpha} alone the second derivative at alpha = 2 would be 0 times infinity;
/// the boundary term is (2/3)^2 a^2 for the parabola of half width a.
TEST(Errata, E15_BoundaryTermOfTheNormalizerHessian) {
  const LinearScore f({-0.5}, {[](double t) { return t * t; }});
  const double a = std::cbrt(1.5), boundary = 4 * a * a / 9;
  EXPECT_NEAR(boundary, 0.58239, 1e-5);
  EXPECT_NEAR(normalizer_hessian(Tsallis(2), f, Line{})(0, 0), boundary, 1e-9);
  EXPECT_NEAR(normalizer_hessian(Tsallis(2 - 1e-9), f, Line{})(0, 0), boundary, 1e-8);
  EXPECT_NEAR(normalizer_hessian(Tsallis(2 + 1e-9), f, Line{})(0, 0), boundary, 1e-8);
  const double numeric = slope_of(
      [](double step) {
        return normalizer_gradient(Tsallis(2), LinearScore({-0.5 + step}, {[](double t) { return t * t; }}),
                                   Line{})[0];
      },
      0, 5e-3);
  EXPECT_NEAR(numeric, boundary, 1e-6);
}

}  // namespace
}  // namespace fenchel
