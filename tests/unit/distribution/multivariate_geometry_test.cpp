#include "fenchel/distribution/euclidean/multivariate_geometry.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <vector>

#include "fenchel/core/quadrature.hpp"
#include "fenchel/distribution/euclidean/multivariate_expectation.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using Eigen::Matrix2d, Eigen::Matrix3d, Eigen::MatrixXd, Eigen::Vector2d, Eigen::Vector3d, Eigen::VectorXd;
using testing::kInf, testing::kNaN, testing::message_of;

const Matrix2d kScale = (Matrix2d() << 0.6, 0.4, 0.4, 0.48).finished();
const Vector2d kMu(0.1, -0.2);
const Matrix3d kCube = (Matrix3d() << 1, 0.3, -0.2, 0.3, 0.8, 0.1, -0.2, 0.1, 0.5).finished();
const Vector3d kCentre(0.4, -1, 2);
const double kAllAlphas[] = {0.8, 1 - 1e-8, 1, std::nextafter(1.0, 2.0), 1 + 1e-8, 4. / 3, 1.5, 2, 5, kInf};

TEST(MultivariateGeometry, MarginalMatchesTheGoldenRow59) {
  const MultivariateBetaGaussian first =
      marginal(MultivariateBetaGaussian(2, kMu, kScale), std::vector<index_t>{0});
  EXPECT_NEAR(first.alpha(), 5. / 3, 1e-15);
  EXPECT_NEAR(first.Sigma()(0, 0), 0.43860266073192991, 1e-13);
}

/// The integral of the joint density over the second coordinate of the plane.
TEST(MultivariateGeometry, MarginalIsTheIntegral) {
  for (const double alpha : kAllAlphas) {
    const MultivariateBetaGaussian p(alpha, kMu, kScale), first = marginal(p, std::vector<index_t>{0});
    EXPECT_EQ(first.mu()[0], kMu[0]);
    for (const double x : {0.0, 0.2, -0.35}) {
      SCOPED_TRACE(::testing::Message() << "alpha=" << alpha << " x=" << x);
      const auto slice = [&](double y) { return pdf(p, kMu + Vector2d(x, y)); };
      double lower = -kInf, upper = kInf;
      if (alpha > 1.01) {  // the chord of the ellipse
        const double middle = kScale(0, 1) / kScale(0, 0) * x, schur = kScale.determinant() / kScale(0, 0);
        const double half = std::sqrt(schur * (support(p).radius2 - x * x / kScale(0, 0)));
        lower = middle - half;
        upper = middle + half;
      }
      const double expected = integrate(slice, lower, upper, 1e-12).value;
      EXPECT_NEAR(pdf(first, VectorXd::Constant(1, kMu[0] + x)), expected, 1e-10 * expected);
    }
    EXPECT_NEAR(covariance(first)(0, 0), covariance(p)(0, 0), 1e-13 * covariance(p)(0, 0));
  }
}

TEST(MultivariateGeometry, MarginalsCompose) {
  for (const double alpha : kAllAlphas) {
    const MultivariateBetaGaussian p(alpha, kCentre, kCube);
    const auto pair = marginal(p, std::vector<index_t>{2, 0}), direct = marginal(p, std::vector<index_t>{0});
    const auto single = marginal(pair, std::vector<index_t>{1});
    EXPECT_EQ(pair.mu(), VectorXd(Vector2d(2, 0.4)));
    EXPECT_NEAR(single.alpha(), direct.alpha(), 1e-15);
    EXPECT_NEAR(single.Sigma()(0, 0), direct.Sigma()(0, 0), 1e-13 * direct.Sigma()(0, 0)) << alpha;
    const auto same = marginal(p, std::vector<index_t>{0, 1, 2});
    EXPECT_NEAR(log_pdf(same, kCentre), log_pdf(p, kCentre), 1e-13);
  }
}

TEST(MultivariateGeometry, MarginalKeepsTheDegreesOfFreedomBelowOne) {
  const MultivariateBetaGaussian p(0.4, kMu, kScale);  // no variance: nu = 2/0.6 - 2 = 4/3
  const auto first = marginal(p, std::vector<index_t>{0});
  EXPECT_NEAR(2 / (1 - first.alpha()) - 1, 4. / 3, 1e-14);
  const auto slice = [&](double y) { return pdf(p, kMu + Vector2d(0.3, y)); };
  const double expected = integrate(slice, -kInf, kInf, 1e-12).value;
  EXPECT_NEAR(pdf(first, VectorXd::Constant(1, kMu[0] + 0.3)), expected, 1e-10 * expected);
}

TEST(MultivariateGeometry, ConditionalIsTheJointOverTheMarginal) {
  for (const double alpha : kAllAlphas) {
    const MultivariateBetaGaussian p(alpha, kCentre, kCube);
    const std::vector<index_t> given{2, 0};
    const Vector2d values(2.1, 0.2);
    const auto part = marginal(p, given), rest = conditional(p, given, values);
    EXPECT_EQ(rest.dimension(), 1);
    EXPECT_EQ(rest.alpha(), alpha);
    const MatrixXd block = kCube({2, 0}, {2, 0});
    const Eigen::RowVector2d row = kCube(1, {2, 0});
    const double mean_given = kCentre[1] + row.dot(block.inverse() * (values - Vector2d(2, 0.4)));
    EXPECT_NEAR(rest.mu()[0], mean_given, 1e-14);
    if (alpha < kInf) {
      const double schur = kCube(1, 1) - row.dot(block.inverse() * row.transpose());
      EXPECT_NEAR(rest.Sigma()(0, 0), std::pow(pdf(part, values), alpha - 1) * schur,
                  1e-12 * rest.Sigma()(0, 0));
    }
    for (const double x : {mean_given, mean_given + 0.1, mean_given - 0.2}) {
      const double joint = log_pdf(p, Vector3d(0.2, x, 2.1));
      EXPECT_NEAR(log_pdf(rest, VectorXd::Constant(1, x)), joint - log_pdf(part, values), 1e-12) << alpha;
    }
    const auto wide = conditional(p, std::vector<index_t>{1}, VectorXd::Constant(1, -1.1));
    EXPECT_NEAR(log_pdf(wide, Vector2d(0.3, 2.1)),
                log_pdf(p, Vector3d(0.3, -1.1, 2.1)) -
                    log_pdf(marginal(p, std::vector<index_t>{1}), VectorXd::Constant(1, -1.1)),
                1e-12);
  }
}

/// The scale maps as |det B|^{am1} B Sigma B^T, since a density is divided by |det B|.
TEST(MultivariateGeometry, AffineMapsTheDensity) {
  const Matrix2d B = (Matrix2d() << 2, 1, -0.5, 1.5).finished();
  const Vector2d b(3, -4);
  for (const double alpha : kAllAlphas) {
    const MultivariateBetaGaussian p(alpha, kMu, kScale), q = affine(p, B, b);
    for (const Vector2d& t : {kMu, Vector2d(0.3, 0.1), Vector2d(-0.1, -0.3)}) {
      EXPECT_NEAR(log_pdf(q, B * t + b), log_pdf(p, t) - std::log(B.determinant()), 1e-12) << alpha;
    }
    EXPECT_TRUE(covariance(q).isApprox(B * covariance(p) * B.transpose(), 1e-13));
    if (alpha == kInf) continue;
    const double factor = std::pow(B.determinant(), alpha - 1);
    EXPECT_TRUE(q.Sigma().isApprox(factor * B * kScale * B.transpose(), 1e-12)) << alpha;
  }
}

TEST(MultivariateGeometry, AffineMapsOfAnyRank) {
  const MatrixXd flat = (MatrixXd(2, 3) << 1, -1, 2, 0.5, 1, 1).finished();
  const MatrixXd tall = (MatrixXd(3, 2) << 1, 0, 2, 1, -1, 1).finished();
  for (const double alpha : kAllAlphas) {
    const MultivariateBetaGaussian p(alpha, kCentre, kCube);
    const auto image = affine(p, flat, Vector2d(1, 1));
    EXPECT_TRUE(covariance(image).isApprox(flat * covariance(p) * flat.transpose(), 1e-13));
    // A projection is the marginal.
    const auto first = affine(p, Eigen::RowVector3d(1, 0, 0), VectorXd::Zero(1));
    EXPECT_NEAR(first.Sigma()(0, 0), marginal(p, std::vector<index_t>{0}).Sigma()(0, 0),
                1e-14 * first.Sigma()(0, 0));
    const auto plane = affine(image, tall, Vector3d(1, 2, 3));
    EXPECT_EQ(plane.rank(), 2);
    EXPECT_NEAR(plane.alpha(), image.alpha(), 1e-15);
    EXPECT_TRUE(covariance(plane).isApprox(tall * covariance(image) * tall.transpose(), 1e-12));
    // And back: t -> tall t -> t.
    const MatrixXd left = (tall.transpose() * tall).inverse() * tall.transpose();
    const auto back = affine(plane, left, -left * Vector3d(1, 2, 3));
    EXPECT_NEAR(log_pdf(back, image.mu()), log_pdf(image, image.mu()), 1e-11) << alpha;
  }
}

TEST(MultivariateGeometry, RadialCdfOfTheGaussianIsChiSquare) {
  const MultivariateBetaGaussian p(1, kMu, kScale);
  for (const double q : {1e-8, 0.3, 1.0, 5.0, 30.0}) {
    EXPECT_NEAR(radial_cdf(p, q), -std::expm1(-q / 2), 1e-14 * -std::expm1(-q / 2));
    EXPECT_NEAR(radial_cdf(MultivariateBetaGaussian(1, kMu.head(1), kScale.topLeftCorner(1, 1)), q),
                std::erf(std::sqrt(q / 2)), 1e-15);
  }
  EXPECT_EQ(radial_cdf(p, -1), 0);
  EXPECT_EQ(radial_cdf(p, kInf), 1);
  EXPECT_TRUE(std::isnan(radial_cdf(p, kNaN)));
}

/// The area 2 pi sqrt(det) int_0^r p r dr in the plane.
TEST(MultivariateGeometry, RadialCdfIsTheMassOfTheContour) {
  for (const double alpha :
       {0.3, 0.8, 1 - 1e-8, 1., std::nextafter(1.0, 2.0), 1 + 1e-8, 4. / 3, 1.5, 2., 5., 1e6, kInf}) {
    const MultivariateBetaGaussian p(alpha, kMu, kScale);
    for (const double mass : {1e-9, 0.1, 0.5, 0.9, 0.999}) {
      SCOPED_TRACE(::testing::Message() << "alpha=" << alpha << " mass=" << mass);
      const Ellipsoid contour = mahalanobis_contour(p, mass);
      EXPECT_NEAR(radial_cdf(p, contour.radius2), mass, 1e-12 * mass);
      const auto shell = [&](double r) {
        return 2 * std::acos(-1.0) * std::sqrt(kScale.determinant()) * r *
               std::exp(log_density(p.constants(), r * r));
      };
      EXPECT_NEAR(integrate(shell, 0, std::sqrt(contour.radius2)).value, mass, 1e-11 * mass);
    }
    EXPECT_EQ(mahalanobis_contour(p, 0).radius2, 0);
    EXPECT_EQ(mahalanobis_contour(p, 1).radius2, support(p).radius2);
  }
}

TEST(MultivariateGeometry, SlicesOfSingularScales) {
  // t = (x, x + y, y) for a pair (x, y).
  const MatrixXd lift = (MatrixXd(3, 2) << 1, 0, 1, 1, 0, 1).finished();
  for (const double alpha : {0.8, 1.0, 1.5, 2.0, kInf}) {
    const MultivariateBetaGaussian pair(alpha, kMu, kScale), p = affine(pair, lift, Vector3d::Zero());
    const auto rest = conditional(p, std::vector<index_t>{0}, VectorXd::Constant(1, 0.3));
    const auto plain = conditional(pair, std::vector<index_t>{0}, VectorXd::Constant(1, 0.3));
    EXPECT_EQ(rest.rank(), 1);
    EXPECT_TRUE(covariance(rest)(1, 1) > 0);
    EXPECT_NEAR(covariance(rest)(1, 1), covariance(plain)(0, 0), 1e-12 * covariance(plain)(0, 0)) << alpha;
    EXPECT_NEAR(rest.mu()[0], 0.3 + plain.mu()[0], 1e-14);
    EXPECT_EQ(marginal(p, std::vector<index_t>{0, 1, 2}).rank(), 2);
    EXPECT_DOUBLE_EQ(marginal(p, std::vector<index_t>{0, 2}).alpha(), alpha);
  }
}

TEST(MultivariateGeometry, BadInputIsNamed) {
  const MultivariateBetaGaussian p(2, kMu, kScale);
  const auto sizes = [](auto call) { return message_of<std::invalid_argument>(call); };
  const auto values = [](auto call) { return message_of<std::domain_error>(call); };
  using Indices = std::vector<index_t>;
  EXPECT_EQ(sizes([&] { (void)marginal(p, Indices{}); }),
            "fenchel::marginal: indices.size() must be positive, got 0");
  EXPECT_EQ(sizes([&] {
              (void)marginal(p, Indices{0, 2});
            }),
            "fenchel::marginal: indices[1] must be in [0, 2), got 2");
  EXPECT_EQ(sizes([&] {
              (void)marginal(p, Indices{1, 1});
            }),
            "fenchel::marginal: indices[1] must differ from those before, got 1");
  EXPECT_EQ(sizes([&] { (void)conditional(p, Indices{1}, kMu); }),
            "fenchel::conditional: values.size() must be indices.size() = 1, got 2");
  EXPECT_EQ(values([&] { (void)conditional(p, Indices{0}, VectorXd::Constant(1, 40)); }),
            "fenchel::conditional: the density of the values must be positive, got 0");
  EXPECT_EQ(values([&] {
              (void)conditional(p, Indices{0, 1}, kMu);
            }),
            "fenchel::conditional: the rank that the values leave free must be positive, got 0");
  EXPECT_EQ(sizes([&] { (void)affine(p, Matrix3d::Identity(), kCentre); }),
            "fenchel::affine: B.cols() must be the dimension 2, got 3");
  EXPECT_EQ(sizes([&] { (void)affine(p, Matrix2d::Identity(), kCentre); }),
            "fenchel::affine: b.size() must be B.rows() = 2, got 3");
  EXPECT_EQ(values([&] { (void)affine(p, Matrix2d::Zero(), kMu); }),
            "fenchel::multivariate_quadratic_score: the largest eigenvalue of Sigma must be positive, got 0");
  EXPECT_EQ(values([&] { (void)mahalanobis_contour(p, 1.5); }),
            "fenchel::mahalanobis_contour: mass must be in [0, 1], got 1.5");
}

}  // namespace
}  // namespace fenchel
