#include "fenchel/distribution/canonical_gradient.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <array>
#include <vector>

#include "fenchel/attention/attend.hpp"
#include "fenchel/attention/attend_derivatives.hpp"
#include "fenchel/attention/multivariate_attend.hpp"

namespace fenchel {
namespace {

const GaussianBasis kBasis({-0.4, 0.3, 1.1}, {0.3, 0.5, 0.2});
const Eigen::Vector3d kCotangent(1.5, -2, 0.7);
constexpr double kStep = 1e-5;

TEST(CanonicalGradient, OnTheLineIsADifferenceInTheta) {
  for (const double alpha : {0.8, 1.0, 1.5, 2.0, 3.0}) {
    const BetaGaussian p(alpha, 0.2, 0.7);
    const auto theta = canonical_parameters(p);
    const auto gradient = canonical_gradient(p, attend_vjp(p, kBasis, kCotangent));
    for (std::size_t k = 0; k < 2; ++k) {
      auto up = theta, down = theta;
      up[k] += kStep;
      down[k] -= kStep;
      const Eigen::VectorXd difference = (attend(BetaGaussian::from_canonical(alpha, up), kBasis) -
                                          attend(BetaGaussian::from_canonical(alpha, down), kBasis)) /
                                         (2 * kStep);
      EXPECT_NEAR(gradient[k], kCotangent.dot(difference), 1e-8) << alpha;
      std::array<double, 2> direction{};
      direction[k] = 1;
      const Eigen::VectorXd tangent = attend_jvp(p, kBasis, canonical_direction(p, direction));
      EXPECT_LT((tangent - difference).cwiseAbs().maxCoeff(), 1e-8) << alpha;
    }
  }
}

TEST(CanonicalGradient, InThePlaneIsADifferenceInTheta) {
  const auto psi = MultivariateGaussianBasis::unit_square(1, 3, Eigen::Matrix2d{{0.2, 0.05}, {0.05, 0.1}});
  const Eigen::Matrix2d scale{{0.6, 0.2}, {0.2, 0.3}}, along{{0.3, -0.2}, {-0.2, 0.5}};
  const Eigen::Vector2d mu(0.1, -0.2), linear(0.4, -0.9);
  for (const double alpha : {0.8, 1.0, 1.5, 2.0}) {
    const MultivariateBetaGaussian p(alpha, mu, scale);
    const auto moved = [&](double step) {
      const Eigen::Matrix2d precision = scale.inverse();
      return attend(MultivariateBetaGaussian::from_canonical(
                        alpha, {precision * mu + step * linear, -precision / 2 + step * along}),
                    psi);
    };
    const Eigen::VectorXd difference = (moved(kStep) - moved(-kStep)) / (2 * kStep);
    const auto gradient = canonical_gradient(p, attend_vjp(p, psi, kCotangent));
    EXPECT_NEAR(gradient.linear.dot(linear) + (gradient.quadratic * along).trace(),
                kCotangent.dot(difference), 1e-8)
        << alpha;
    const Eigen::VectorXd tangent = attend_jvp(p, psi, canonical_direction(p, {linear, along}));
    EXPECT_LT((tangent - difference).cwiseAbs().maxCoeff(), 1e-8) << alpha;
  }
}

TEST(AttendObservations, IsTheMeanOfTheFunctions) {
  EXPECT_EQ(attend(Dirac{0.4}, kBasis), evaluate(kBasis, 0.4));
  const std::vector<double> values{0.4, -1};
  const Eigen::VectorXd mean = (evaluate(kBasis, 0.4) + evaluate(kBasis, -1)) / 2;
  EXPECT_LT((attend(Empirical(values), kBasis) - mean).cwiseAbs().maxCoeff(), 1e-16);
  const std::vector<double> weights{3, 1};
  const Eigen::VectorXd weighted = (3 * evaluate(kBasis, 0.4) + evaluate(kBasis, -1)) / 4;
  EXPECT_LT((attend(Empirical(values, weights), kBasis) - weighted).cwiseAbs().maxCoeff(), 1e-15);
  const auto psi = MultivariateGaussianBasis::unit_square(2, 2, Eigen::Matrix2d::Identity());
  const Eigen::Vector2d first(0.1, 0.2), second(1, -1);
  EXPECT_EQ(attend(MultivariateDirac{first}, psi), evaluate(psi, first));
  const Eigen::VectorXd average = (evaluate(psi, first) + evaluate(psi, second)) / 2;
  const Eigen::MatrixXd columns{{0.1, 1}, {0.2, -1}};
  EXPECT_LT((attend(MultivariateEmpirical(columns), psi) - average).cwiseAbs().maxCoeff(), 1e-16);
  EXPECT_THROW((void)attend(MultivariateDirac{Eigen::Vector3d::Zero()}, psi), std::invalid_argument);
}

}  // namespace
}  // namespace fenchel
