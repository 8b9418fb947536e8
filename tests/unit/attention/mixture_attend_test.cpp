#include "fenchel/attention/mixture_attend.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fenchel/attention/attend.hpp"
#include "fenchel/attention/attend_derivatives.hpp"
#include "fenchel/distribution/euclidean/multivariate_mixture.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/quadratic_gradient.hpp"
#include "support/differences.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::message_of;
using testing::slope_of;

/// 1, t, t^2 at a fixed alpha: a basis of somebody else.
struct Powers {
  [[nodiscard]] index_t size() const { return 3; }
};
Eigen::VectorXd evaluate(const Powers&, double t) { return Eigen::Vector3d(1, t, t * t); }
static_assert(LineBasis<Powers>);

Eigen::VectorXd attend(const BetaGaussian& p, const Powers&) {
  return Eigen::Vector3d(1, p.mu(), moment(p, 2));
}
QuadraticGradient attend_vjp(const BetaGaussian& p, const Powers&, const Eigen::VectorXd& cotangent) {
  const double power = 2 / (1 + p.alpha());  // variance is proportional to sigma2^power
  return {cotangent[1] + 2 * p.mu() * cotangent[2], power * variance(p) / p.sigma2() * cotangent[2], 0};
}
Eigen::VectorXd attend_jvp(const BetaGaussian& p, const Powers& psi, const QuadraticGradient& direction) {
  Eigen::VectorXd r(3);
  for (index_t j = 0; j < 3; ++j) {
    const QuadraticGradient row = attend_vjp(p, psi, Eigen::VectorXd::Unit(3, j));
    r[j] = row.mu * direction.mu + row.sigma2 * direction.sigma2;
  }
  return r;
}

using Beta = Mixture<BetaGaussian>;

/// Parameters (weight, mu, sigma2) of both components, moved by h along a direction.
struct Direction {
  double weight[2], mu[2], sigma2[2];
};
Beta moved(double alpha, const Direction& d, double h) {
  return {{0.3 + h * d.weight[0], 0.7 + h * d.weight[1]},
          {BetaGaussian(alpha, -1 + h * d.mu[0], 0.5 + h * d.sigma2[0]),
           BetaGaussian(alpha, 2 + h * d.mu[1], 0.8 + h * d.sigma2[1])}};
}
constexpr Direction kStill{{0, 0}, {0, 0}, {0, 0}};

constexpr Direction kDirections[] = {{{1, -1}, {0, 0}, {0, 0}},
                                     {{0, 0}, {1, 0}, {0, 0}},
                                     {{0, 0}, {0, 0}, {0, 1}},
                                     {{-0.4, 0.4}, {1.2, -0.3}, {0.2, 0.5}}};

template <class Gradient>
MixtureGradient<Gradient> tangent(const Direction& d) {
  return {Eigen::Vector2d(d.weight[0], d.weight[1]), {{d.mu[0], d.sigma2[0], 0}, {d.mu[1], d.sigma2[1], 0}}};
}

/// VJP and JVP against differences of attend, for any basis.
template <class Psi>
void expect_derivatives(double alpha, const Psi& psi, double tolerance) {
  const Beta p = moved(alpha, kStill, 0);
  const Eigen::VectorXd cotangent = Eigen::VectorXd::LinSpaced(psi.size(), -1, 1.3);
  const auto gradient = attend_vjp(p, psi, cotangent);
  ASSERT_EQ(gradient.components.size(), 2U);
  for (const Direction& d : kDirections) {
    const double slope =
        slope_of([&](double h) { return attend(moved(alpha, d, h), psi).dot(cotangent); }, 0, 1e-3);
    EXPECT_NEAR(attend_jvp(p, psi, tangent<QuadraticGradient>(d)).dot(cotangent), slope, tolerance) << alpha;
    double sum = 0;
    for (std::size_t k = 0; k < 2; ++k)
      sum += gradient.weights[static_cast<index_t>(k)] * d.weight[k] + gradient.components[k].mu * d.mu[k] +
             gradient.components[k].sigma2 * d.sigma2[k];
    EXPECT_NEAR(sum, slope, tolerance) << alpha;
  }
}

TEST(MixtureAttend, IsTheWeightedSum) {
  const Beta p = moved(1.5, kStill, 0);
  const Eigen::VectorXd r = attend(p, Powers());
  EXPECT_NEAR(r[0], 1, 1e-15);
  EXPECT_NEAR(r[1], mean(p), 1e-15);
  EXPECT_NEAR(r[2], moment(p, 2), 1e-14);
}

TEST(MixtureAttend, DerivativesAreThoseOfDifferences) {
  for (const double alpha : {0.8, 1.0, 1 + 0x1p-52, 1 + 1e-8, 4. / 3, 1.5, 2.0, 5.0})
    expect_derivatives(alpha, Powers(), 1e-10);
}

const GaussianBasis kGaussians = GaussianBasis::linearly_spaced(12, -3, 4, {0.2, 1});

TEST(MixtureAttend, EveryBasisIsAttendedByTheComponents) {
  const PolynomialBasis polynomials(3);
  const FourierBasis waves(4, 2);
  const ConcatenatedBasis both(kGaussians, polynomials);
  for (const double alpha : {0.9, 1.0, 1 + 0x1p-52, 4. / 3, 2.0, 5.0, 1e6}) {
    const Beta p = moved(alpha, kStill, 0);
    const auto expect_sum = [&](const auto& psi) {
      const Eigen::VectorXd expected =
          0.3 * attend(p.components()[0], psi) + 0.7 * attend(p.components()[1], psi);
      EXPECT_LT((attend(p, psi) - expected).norm(), 1e-15 * expected.norm()) << alpha;
      for (index_t j = 0; j < psi.size(); ++j)
        EXPECT_NEAR(attend(p, psi)[j], expectation(p, [&](double t) { return evaluate(psi, t)[j]; }),
                    1e-9 * expected.norm())
            << alpha << " " << j;
    };
    expect_sum(kGaussians);
    expect_sum(polynomials);
    expect_sum(waves);
    expect_sum(both);
  }
}

TEST(MixtureAttend, DerivativesOfGaussianFunctions) {
  for (const double alpha : {0.8, 1.0, 1 + 0x1p-52, 1 + 1e-8, 4. / 3, 1.5, 2.0, 5.0})
    expect_derivatives(alpha, kGaussians, 1e-8);
}

TEST(MixtureAttend, WeightsOfZeroHaveAGradient) {
  const Beta p({0, 1}, {BetaGaussian(2, -1, 0.5), BetaGaussian(2, 2, 0.8)});
  const auto gradient = attend_vjp(p, Powers(), Eigen::Vector3d(0, 1, 0));
  EXPECT_EQ(gradient.weights, Eigen::Vector2d(-1, 2));
  EXPECT_EQ(gradient.components[0].mu, 0);
  EXPECT_EQ(gradient.components[1].mu, 1);
}

/// The coordinates of the plane.
struct Coordinates {
  [[nodiscard]] index_t size() const { return 2; }
};
Eigen::VectorXd attend(const MultivariateBetaGaussian& p, const Coordinates&) { return p.mu(); }
MultivariateQuadraticGradient attend_vjp(const MultivariateBetaGaussian&, const Coordinates&,
                                         const Eigen::VectorXd& cotangent) {
  return {cotangent, Eigen::Matrix2d::Zero(), 0};
}
Eigen::VectorXd attend_jvp(const MultivariateBetaGaussian&, const Coordinates&,
                           const MultivariateQuadraticGradient& direction) {
  return direction.mu;
}

TEST(MixtureAttend, InThePlane) {
  const Eigen::Matrix2d scale = Eigen::Matrix2d::Identity();
  const Mixture<MultivariateBetaGaussian> p({0.25, 0.75},
                                            {MultivariateBetaGaussian(2, Eigen::Vector2d(1, -2), scale),
                                             MultivariateBetaGaussian(2, Eigen::Vector2d(4, 3), scale)});
  EXPECT_EQ(attend(p, Coordinates()), mean(p));
  const Eigen::Vector2d cotangent(0.5, 2);
  const auto gradient = attend_vjp(p, Coordinates(), cotangent);
  EXPECT_EQ(gradient.weights, Eigen::Vector2d(-3.5, 8));
  EXPECT_EQ(gradient.components[0].mu, Eigen::Vector2d(0.125, 0.5));
  EXPECT_EQ(gradient.components[1].mu, Eigen::Vector2d(0.375, 1.5));
  EXPECT_NEAR(attend_jvp(p, Coordinates(), gradient).dot(cotangent),
              gradient.weights.squaredNorm() + gradient.components[0].mu.squaredNorm() +
                  gradient.components[1].mu.squaredNorm(),
              1e-13)
      << "each is the transpose of the other";
}

TEST(MixtureAttend, BadInput) {
  const Beta p = moved(2, kStill, 0);
  const auto message = [&p](const MixtureGradient<QuadraticGradient>& direction) {
    return message_of<std::invalid_argument>([&] { static_cast<void>(attend_jvp(p, Powers(), direction)); });
  };
  EXPECT_EQ(message({Eigen::Vector3d(1, 0, 0), std::vector<QuadraticGradient>(2)}),
            "fenchel::attend_jvp: direction.weights.size() must be the number of components 2, got 3");
  EXPECT_EQ(message({Eigen::Vector2d(1, 0), {}}),
            "fenchel::attend_jvp: direction.components.size() must be the number of components 2, got 0");
}

}  // namespace
}  // namespace fenchel
