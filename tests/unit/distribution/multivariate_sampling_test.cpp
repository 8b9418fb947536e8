#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fenchel/core/parallel.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"
#include "fenchel/distribution/euclidean/multivariate_geometry.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"
#include "support/reference_cdf.hpp"

namespace fenchel {
namespace {

using Eigen::Matrix3d, Eigen::MatrixXd, Eigen::Vector3d, Eigen::VectorXd;
using testing::kInf, testing::message_of;

constexpr index_t kDraws = 20000;
const Matrix3d kScale = (Matrix3d() << 1, 0.3, -0.2, 0.3, 0.8, 0.1, -0.2, 0.1, 0.5).finished();
const Vector3d kMu(0.4, -1, 2);
const double kAllAlphas[] = {0.45, 0.8, 1 - 1e-8, 1,   std::nextafter(1.0, 2.0), 1 + 1e-8, 4. / 3, 1.5,
                             2,    5,   1e6,      kInf};

/// That of the uniform distribution on [0, 1].
long double uniform(long double u) { return u; }

TEST(MultivariateSampling, RadiiFollowTheRadialCdf) {
  for (const double alpha : kAllAlphas) {
    const MultivariateBetaGaussian p(alpha, kMu, kScale);
    const MatrixXd draws = sample(p, kDraws, 20);
    std::vector<double> u;
    for (index_t k = 0; k < kDraws; ++k) u.push_back(radial_cdf(p, p.score().mahalanobis2(draws.col(k))));
    EXPECT_LT(reference::kolmogorov_smirnov(u, uniform), 1.95) << alpha;
  }
}

/// A coordinate of a uniform direction in three dimensions is uniform on [-1, 1].
TEST(MultivariateSampling, DirectionsAreUniform) {
  for (const double alpha : {0.8, 1.0, 2.0, kInf}) {
    const MultivariateBetaGaussian p(alpha, kMu, kScale);
    const MatrixXd white = p.score().whitening() * (sample(p, kDraws, 21).colwise() - p.mu());
    for (int axis = 0; axis < 4; ++axis) {
      const Vector3d direction =
          axis < 3 ? Vector3d(Vector3d::Unit(axis)) : Vector3d(Vector3d::Ones() / std::sqrt(3.0));
      std::vector<double> u;
      for (index_t k = 0; k < kDraws; ++k) u.push_back((1 + direction.dot(white.col(k).normalized())) / 2);
      EXPECT_LT(reference::kolmogorov_smirnov(u, uniform), 1.95) << alpha << " axis " << axis;
    }
  }
}

TEST(MultivariateSampling, CovarianceIsTheDistributions) {
  for (const double alpha : {1.0, 1.5, 2.0, 5.0, kInf}) {
    const MultivariateBetaGaussian p(alpha, kMu, kScale);
    const MatrixXd offsets = sample(p, kDraws, 22).colwise() - p.mu();
    const MatrixXd found = offsets * offsets.transpose() / static_cast<double>(kDraws);
    EXPECT_LT((found - covariance(p)).norm(), 0.04 * covariance(p).norm()) << alpha;
  }
}

TEST(MultivariateSampling, DrawsGoContinuouslyThroughAlphaOne) {
  const MatrixXd gaussian = sample(MultivariateBetaGaussian(1, kMu, kScale), 100, 23);
  for (const double am1 : {-1e-8, -0x1p-53, 0x1p-52, 1e-8}) {
    const MatrixXd near = sample(MultivariateBetaGaussian(1 + am1, kMu, kScale), 100, 23);
    // The gamma variate is 1/|am1| up to a few of its deviations, sqrt(1/|am1|).
    EXPECT_LT((near - gaussian).cwiseAbs().maxCoeff(), 20 * std::sqrt(std::abs(am1))) << am1;
  }
}

TEST(MultivariateSampling, DrawsLieInTheSupport) {
  for (const double alpha : {1.01, 2.0, 1e6, kInf}) {
    const MultivariateBetaGaussian p(alpha, kMu, kScale);
    const MatrixXd draws = sample(p, 1000, 24);
    const Ellipsoid edge = support(p);
    for (index_t k = 0; k < 1000; ++k)
      EXPECT_LE(p.score().mahalanobis2(draws.col(k)), edge.radius2 * (1 + 1e-14));
  }
  const MultivariateBetaGaussian flat(2, kMu, kMu * kMu.transpose());
  Philox rng(25);
  for (int k = 0; k < 100; ++k)
    EXPECT_LT(flat.score().mahalanobis2(sample(flat, rng)), support(flat).radius2);
}

TEST(MultivariateSampling, DrawsDoNotDependOnThreads) {
  const MultivariateBetaGaussian p(1.5, kMu, kScale);
  set_num_threads(1);
  const MatrixXd one = sample(p, kDraws, 26);
  set_num_threads(2);
  const MatrixXd two = sample(p, kDraws, 26);
  set_num_threads(0);
  EXPECT_EQ(one, two);
  Philox rng(26, 17);
  EXPECT_EQ(one.col(17), sample(p, rng));
  EXPECT_EQ(one.leftCols(5), sample(p, 5, 26));
  EXPECT_EQ(sample(p, 0, 26).cols(), 0);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { (void)sample(p, -1, 26); }),
            "fenchel::sample: count must not be negative, got -1");
}

}  // namespace
}  // namespace fenchel
