#include "fenchel/distribution/euclidean/multivariate_mixture.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::message_of;

using Beta = Mixture<MultivariateBetaGaussian>;

Beta two(double alpha) {
  return {{0.3, 0.7},
          {MultivariateBetaGaussian(alpha, Eigen::Vector2d(0, 1), Eigen::Matrix2d{{1, 0.4}, {0.4, 0.5}}),
           MultivariateBetaGaussian(alpha, Eigen::Vector2d(4, -2), Eigen::Matrix2d{{0.2, 0}, {0, 0.3}})}};
}

TEST(MultivariateMixture, DensityIsTheWeightedSum) {
  for (const double alpha : {0.8, 1.0, 1 + 0x1p-52, 1 + 1e-8, 4. / 3, 1.5, 2.0, 5.0, kInf}) {
    const Beta p = two(alpha);
    for (const Eigen::Vector2d& t :
         {Eigen::Vector2d(0.1, 0.8), Eigen::Vector2d(4, -2), Eigen::Vector2d(9, 9)}) {
      const double density = 0.3 * pdf(p.components()[0], t) + 0.7 * pdf(p.components()[1], t);
      EXPECT_NEAR(pdf(p, t), density, 1e-15 * density) << alpha;
      if (density > 0) {
        EXPECT_NEAR(log_pdf(p, t), std::log(density), 1e-12 * (1 + std::abs(std::log(density)))) << alpha;
      } else if (alpha > 1.1) {
        EXPECT_EQ(log_pdf(p, t), -kInf) << alpha;
      }
    }
  }
}

TEST(MultivariateMixture, MomentsAreThoseOfDraws) {
  const Beta p = two(1.5);
  EXPECT_EQ(domain(p).dimension(), 2);
  EXPECT_TRUE(mean(p).isApprox(Eigen::Vector2d(2.8, -1.1), 1e-14));
  const Eigen::MatrixXd draws = sample(p, 100000, 3);
  const Eigen::VectorXd centre = draws.rowwise().mean();
  const Eigen::MatrixXd offsets = draws.colwise() - centre;
  EXPECT_TRUE(centre.isApprox(mean(p), 0.01));
  EXPECT_TRUE((offsets * offsets.transpose() / 1e5).isApprox(covariance(p), 0.02));
  Philox rng(3, 17);
  EXPECT_EQ(Eigen::VectorXd(draws.col(17)), sample(p, rng));
  EXPECT_EQ(covariance(two(0.5))(0, 0), kInf);
}

TEST(MultivariateMixture, BadInput) {
  const MultivariateBetaGaussian plane(2, Eigen::Vector2d(0, 0), Eigen::Matrix2d::Identity());
  const MultivariateBetaGaussian space(2, Eigen::Vector3d(0, 0, 0), Eigen::Matrix3d::Identity());
  const auto flat = MultivariateBetaGaussian::diagonal(2, Eigen::Vector2d(0, 0), Eigen::Vector2d(1, 0));
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              static_cast<void>(Beta({0.5, 0.5}, {plane, space}));
            }),
            "fenchel::mixture: components[1].dimension() must be that of the first, 2, got 3");
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              static_cast<void>(Beta({0.5, 0.5}, {plane, flat}));
            }),
            "fenchel::mixture: components[1].rank() must be its dimension 2, got 1");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { static_cast<void>(sample(two(1), -1, 0)); }),
            "fenchel::sample: count must not be negative, got -1");
}

}  // namespace
}  // namespace fenchel
