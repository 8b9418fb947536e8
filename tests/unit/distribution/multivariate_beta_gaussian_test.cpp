#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "fenchel/distribution/euclidean/multivariate_expectation.hpp"
#include "fenchel/distribution/euclidean/multivariate_geometry.hpp"
#include "support/golden.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using Eigen::Matrix2d, Eigen::Matrix3d, Eigen::MatrixXd, Eigen::Vector2d, Eigen::Vector3d, Eigen::VectorXd;
using testing::kInf, testing::kNaN, testing::message_of;

constexpr double kRelative = 1e-13;
const Matrix2d kScale = (Matrix2d() << 0.6, 0.4, 0.4, 0.48).finished();
const Vector2d kMu(0.1, -0.2);

/// Alphas at which a density on R^3 has a variance.
const double kAllAlphas[] = {0.7, 1 - 1e-8, 1,   std::nextafter(1.0, 2.0), 1 + 1e-8, 4. / 3, 1.5, 2,
                             5,   1e6,      kInf};

void expect_near(double found, double expected, const char* what) {
  EXPECT_NEAR(found, expected, kRelative * std::abs(expected)) << what;
}

/// R of docs/math.md 5.1, which is for Sigma~ of determinant one.
double radius(index_t n, double alpha) {
  const MultivariateBetaGaussian p(alpha, VectorXd::Zero(n), MatrixXd::Identity(n, n));
  return std::sqrt(support(p).radius2);
}

TEST(MultivariateBetaGaussian, RadiiMatchTheGoldenRows14To18And20) {
  expect_near(radius(2, 2), 1.0622519320271969, "14");
  expect_near(radius(2, 1.5), 1.5752466357994865, "15");
  expect_near(radius(2, 4. / 3), 2.0179968487701723, "16");
  expect_near(radius(3, 1.25), 2.283993429922124, "17");
  expect_near(radius(4, 3), 0.82403622608529316, "18");
  expect_near(radius(2, 20), 0.56233097670877879, "20");
}

TEST(MultivariateBetaGaussian, ConstantsMatchTheGoldenRows23To30) {
  const Matrix3d cube = Vector3d(0.7, 1, 1).asDiagonal();
  const MatrixXd line = MatrixXd::Constant(1, 1, 0.7);
  const struct {
    double alpha;
    MatrixXd scale;
    double normalizer, threshold, variance_factor, negentropy;
  } rows[] = {
      {2, kScale, 0.056759214584382318, -0.94324078541561768, 0.31441359513853923, -0.18558640486146077},
      {4. / 3, kScale, 0.36724936871132576, -2.6327506312886742, 0.52655012625773485, -0.67034962122679546},
      {1.1, cube, 1.8852861862765009, -8.1147138137234991, 0.64917710509787993, -2.5991380399302916},
      {1 + 1e-8, cube, 2.5784780369747356, kNaN, 0.9999999492152209, -4.0784779200127878},
      {5, kScale, -0.22390155047704946, -0.47390155047704946, 0.21062291132313309, 0.0026557278307832729},
      {0.6, line, 1.4484476837813223, 3.9484476837813223, 3.9484476837813223, -5.7044525427866391},
      {0.8, kScale, 1.4735680981187991, 6.4735680981187991, 2.1578560327062664, -4.5392801635313318},
      {1 - 1e-8, cube, 2.578478218314574, kNaN, 1.0000000507847835, -4.0784783352765325},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.alpha);
    const MultivariateBetaGaussian p(row.alpha, VectorXd::Zero(row.scale.rows()), row.scale);
    expect_near(p.constants().normalizer, row.normalizer, "A");
    if (!std::isnan(row.threshold)) expect_near(p.constants().threshold, row.threshold, "tau");
    EXPECT_TRUE(covariance(p).isApprox(row.variance_factor * row.scale, kRelative));
    expect_near(tsallis_entropy(p, row.alpha), -row.negentropy, "Omega");
  }
}

TEST(MultivariateBetaGaussian, EntropyAndMatchingMatchTheGoldenRows55To58) {
  expect_near(entropy(MultivariateBetaGaussian(2, kMu, kScale)), 0.55843368915907012, "55");
  const auto factor = [](double alpha) {
    return MultivariateBetaGaussian::from_covariance(alpha, kMu, kScale).Sigma()(1, 1) / kScale(1, 1);
  };
  expect_near(factor(1.5), 3.4625160131003254, "56");
  expect_near(factor(2), 10.115733212698646, "57");
  expect_near(factor(0.8), 0.5404829857880998, "58");
}

TEST(MultivariateBetaGaussian, MatchesTheTable) {
  for (const auto& block : testing::golden_blocks("multivariate.txt")) {
    const auto n = static_cast<index_t>(block.at("case")[0]);
    const double alpha = block.at("case")[1];
    SCOPED_TRACE(::testing::Message() << "n=" << n << " alpha=" << alpha);
    const VectorXd mu = Eigen::Map<const VectorXd>(block.at("mu").data(), n);
    const VectorXd offset = Eigen::Map<const VectorXd>(block.at("offset").data(), n);
    const MatrixXd scale = Eigen::Map<const MatrixXd>(block.at("scale").data(), n, n);
    const MultivariateBetaGaussian p(alpha, mu, scale);
    for (int k = 0; k < 3; ++k) {
      const double expected = block.at("log_pdf")[static_cast<std::size_t>(k)],
                   found = log_pdf(p, mu + k * offset);
      if (std::isinf(expected)) {
        EXPECT_EQ(found, expected);
      } else {
        EXPECT_NEAR(found, expected, kRelative * (1 + std::abs(expected))) << "log_pdf " << k;
      }
    }
    for (std::size_t k = 0; k < block.at("radii").size(); ++k) {
      const double expected = block.at("radial_cdf")[k];
      EXPECT_NEAR(radial_cdf(p, block.at("radii")[k]), expected, kRadialCdfError * expected) << k;
    }
    if (!block.contains("matching")) continue;
    const auto matched = MultivariateBetaGaussian::from_covariance(alpha, mu, scale);
    EXPECT_NEAR(matched.Sigma()(0, 0) / scale(0, 0), block.at("matching")[0],
                kRelative * block.at("matching")[0]);
    EXPECT_TRUE(covariance(matched).isApprox(scale, kRelative));
  }
}

TEST(MultivariateBetaGaussian, MassIsOneAndMomentsAreTheIntegrals) {
  for (index_t n = 1; n <= 3; ++n) {
    const MatrixXd mixing = (MatrixXd(3, 3) << 1, 0, 0, 0.5, 0.8, 0, -0.3, 0.2, 1.5).finished();
    const MatrixXd scale = (mixing * mixing.transpose()).topLeftCorner(n, n);
    const VectorXd mu = Vector3d(0.4, -1, 2).head(n);
    for (const double alpha : kAllAlphas) {
      SCOPED_TRACE(::testing::Message() << "n=" << n << " alpha=" << alpha);
      const MultivariateBetaGaussian p(alpha, mu, scale);
      EXPECT_NEAR(expectation(p, [](const VectorXd&) { return 1; }), 1, 1e-10);
      const double variance = covariance(p)(n - 1, 0);
      EXPECT_NEAR(expectation(p, [&](const VectorXd& t) { return (t[0] - mu[0]) * (t[n - 1] - mu[n - 1]); }),
                  variance, 1e-9 * std::abs(covariance(p).maxCoeff()));
      EXPECT_NEAR(expectation(p, [&](const VectorXd& t) { return -log_pdf(p, t); }), entropy(p),
                  1e-8 * (1 + std::abs(entropy(p))));
      if (alpha < 1 - 1e-7) continue;  // no fourth moment at 0.7 in three dimensions
      const double squares =
          expectation(p, [&](const VectorXd& t) { return std::pow(p.score().mahalanobis2(t), 2); });
      const double factor = p.constants().variance_factor;
      EXPECT_NEAR(squares / (factor * factor), kurtosis(p), 1e-8 * kurtosis(p));
    }
  }
}

/// On a grid over the square that holds the support, with no polar coordinates: at alpha = 4/3 the density
/// has two derivatives at the edge.
TEST(MultivariateBetaGaussian, MassIsOneOnAGrid) {
  const MultivariateBetaGaussian p(4. / 3, kMu, kScale);
  double mass = 0, product = 0;
  constexpr double kStep = 1. / 256;
  for (double x = -3; x < 3; x += kStep) {
    for (double y = -3; y < 3; y += kStep) {
      const double density = pdf(p, kMu + Vector2d(x, y)) * kStep * kStep;
      mass += density;
      product += density * x * y;
    }
  }
  EXPECT_NEAR(mass, 1, 1e-8);
  EXPECT_NEAR(product, covariance(p)(0, 1), 1e-8);
}

/// The paper's coefficient 1/(N + 2) at alpha = infinity lacks the radius of the unit-volume ball
/// (docs/math.md E5).
TEST(MultivariateBetaGaussian, E5UniformLimitIsTheBallOfUnitVolume) {
  for (const double s : {0.3, 1.0, 7.0}) {
    const auto line = MultivariateBetaGaussian(kInf, VectorXd::Zero(1), MatrixXd::Constant(1, 1, s));
    EXPECT_NEAR(covariance(line)(0, 0), 1. / 12, 1e-15);
    EXPECT_NEAR(pdf(line, VectorXd::Constant(1, 0.4999)), 1, 1e-15);
    EXPECT_EQ(pdf(line, VectorXd::Constant(1, 0.5001)), 0);
    const auto disk = MultivariateBetaGaussian(kInf, Vector2d::Zero(), s * Matrix2d::Identity());
    EXPECT_NEAR(covariance(disk)(0, 0), 1 / (4 * std::numbers::pi), 1e-15);
    EXPECT_NEAR(covariance(MultivariateBetaGaussian(1e8, Vector2d::Zero(), s * Matrix2d::Identity()))(0, 0),
                1 / (4 * std::numbers::pi), 1e-7);
  }
}

TEST(MultivariateBetaGaussian, AlphaOneIsTheGaussianAndItsNeighboursAreNear) {
  const Vector2d x(0.5, -0.3);
  const double expected =
      -std::log(2 * std::numbers::pi) - std::log(kScale.determinant()) / 2 - x.dot(kScale.inverse() * x) / 2;
  for (const double alpha : {1 - 1e-8, std::nextafter(1.0, 0.0), 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8}) {
    const MultivariateBetaGaussian p(alpha, kMu, kScale);
    EXPECT_NEAR(log_pdf(p, kMu + x), expected, 1e-15 + 10 * std::abs(alpha - 1)) << alpha;
    EXPECT_NEAR(kurtosis(p), 8, 1e-14 + 100 * std::abs(alpha - 1));
  }
}

/// Golden rows 21 and 49 of the line, and the closed forms of alpha = 2.
TEST(MultivariateBetaGaussian, OneDimensionIsTheLine) {
  const MultivariateBetaGaussian biweight(1.5, VectorXd::Zero(1), MatrixXd::Constant(1, 1, 0.64));
  expect_near(biweight.constants().normalizer, 0.38500748755545838, "A");
  expect_near(covariance(biweight)(0, 0), 0.64 * 0.46142643212701189, "variance");
  expect_near(pdf(biweight, VectorXd::Constant(1, 0.5)), 0.50387283443363346, "pdf");
  expect_near((1 + radial_cdf(biweight, 0.25 / 0.64)) / 2, 0.80069309079899582, "cdf");
  const MultivariateBetaGaussian parabola(2, VectorXd::Zero(1), MatrixXd::Constant(1, 1, 2. / 3));
  for (const double t : {0.0, 0.3, -0.9}) {
    EXPECT_NEAR(pdf(parabola, VectorXd::Constant(1, t)), 0.75 * (1 - t * t), 1e-15);
  }
  EXPECT_NEAR(kurtosis(parabola), 15. / 7, 1e-15);
}

TEST(MultivariateBetaGaussian, SingularScaleIsTheDensityOfFewerDimensions) {
  // An isometry from the plane into R^3.
  const MatrixXd isometry = (MatrixXd(3, 2) << 2. / 3, 1. / 3, 1. / 3, 2. / 3, 2. / 3, -2. / 3).finished();
  const Vector3d shift(1, 2, 3);
  for (const double alpha : {0.2, 0.8, 1.0, 1.5, 2.0, 5.0, kInf}) {  // 0.2 is below the bound 1/3 of rank 3
    const MultivariateBetaGaussian plane(alpha, kMu, kScale);
    const MultivariateBetaGaussian p(alpha, isometry * kMu + shift, isometry * kScale * isometry.transpose());
    EXPECT_EQ(p.rank(), 2);
    for (const Vector2d& x : {Vector2d(0, 0), Vector2d(0.3, 0.2), Vector2d(-0.2, -0.4), Vector2d(3, -4)}) {
      const double expected = log_pdf(plane, x), found = log_pdf(p, isometry * x + shift);
      if (std::isinf(expected)) {
        EXPECT_EQ(found, expected);
      } else {
        EXPECT_NEAR(found, expected, 1e-12) << alpha;
      }
    }
    EXPECT_EQ(pdf(p, isometry * kMu + shift + Vector3d(1e-5, 0, 0)), 0);
    EXPECT_NEAR(entropy(p), entropy(plane), 1e-13);
    if (alpha > 0.5) {
      EXPECT_TRUE(covariance(p).isApprox(isometry * covariance(plane) * isometry.transpose(), 1e-13));
    }
  }
}

TEST(MultivariateBetaGaussian, SupportIsAnEllipsoid) {
  const auto edge = support(MultivariateBetaGaussian(2, kMu, kScale));
  const Vector2d x(1, 0.5), step = x / std::sqrt(x.dot(kScale.inverse() * x) / edge.radius2);
  const MultivariateBetaGaussian p(2, kMu, kScale);
  EXPECT_GT(pdf(p, kMu + 0.999999 * step), 0);
  EXPECT_EQ(pdf(p, kMu + 1.000001 * step), 0);
  EXPECT_EQ(log_pdf(p, kMu + 1.000001 * step), -kInf);
  EXPECT_TRUE(contains(edge, kMu + 0.999999 * step));
  EXPECT_FALSE(contains(edge, kMu + 1.000001 * step));
  EXPECT_EQ(support(MultivariateBetaGaussian(1, kMu, kScale)).radius2, kInf);
  EXPECT_EQ(support(MultivariateBetaGaussian(0.8, kMu, kScale)).radius2, kInf);
  EXPECT_TRUE(std::isnan(pdf(p, Vector2d(kNaN, 0))));
  EXPECT_EQ(pdf(MultivariateBetaGaussian(0.8, kMu, kScale), Vector2d(kInf, 0)), 0);
}

TEST(MultivariateBetaGaussian, EscortIsThePowerOfTheDensity) {
  for (const double alpha : {0.8, 1 - 1e-8, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 4. / 3, 1.5, 2.0, 5.0}) {
    for (const double order : {0.3, 2 - alpha, 0.7, 1.0, 2.0}) {
      if (order <= 0) continue;
      SCOPED_TRACE(::testing::Message() << "alpha=" << alpha << " order=" << order);
      const MultivariateBetaGaussian p(alpha, kMu, kScale), e = escort(p, order);
      EXPECT_NEAR(e.alpha() - 1, (alpha - 1) / order, 1e-15 * e.alpha());
      for (const Vector2d& x : {Vector2d(0.3, 0.2), Vector2d(-0.2, -0.4)}) {
        EXPECT_NEAR(log_pdf(e, kMu + x) - log_pdf(e, kMu), order * (log_pdf(p, kMu + x) - log_pdf(p, kMu)),
                    1e-12);
      }
      if (alpha > 1.01) {
        EXPECT_NEAR(support(e).radius2 * e.Sigma()(0, 0), support(p).radius2 * kScale(0, 0), 1e-12);
      }
      // Under the escort of order 2 - alpha the mean of q is in closed form.
      if (order == 2 - alpha) {
        EXPECT_NEAR(covariance(e)(0, 0), escort_moments(p.constants()).q_mean / 2 * kScale(0, 0), 1e-12);
      }
    }
  }
}

TEST(MultivariateBetaGaussian, EscortOfOrderZeroIsUniform) {
  const MultivariateBetaGaussian p(2, kMu, kScale), flat = escort(p, 0);
  EXPECT_EQ(flat.alpha(), kInf);
  EXPECT_EQ(support(flat).radius2, support(p).radius2);
  const double volume = std::numbers::pi * support(p).radius2 * std::sqrt(kScale.determinant());
  EXPECT_NEAR(pdf(flat, kMu), 1 / volume, 1e-14);
  EXPECT_NEAR(entropy(flat), std::log(volume), 1e-14);
  EXPECT_NEAR(tsallis_entropy(flat, 2), (1 - 1 / volume) / 2, 1e-14);
  EXPECT_NEAR(expectation(flat, [](const VectorXd& t) { return (t - kMu).squaredNorm(); }),
              covariance(flat).trace(), 1e-10);
  EXPECT_EQ(log_pdf(escort(flat, 3), kMu), log_pdf(flat, kMu));
}

TEST(MultivariateBetaGaussian, TsallisEntropyIsInfiniteWhereTheIntegralIs) {
  const MultivariateBetaGaussian p(0.5, kMu, kScale);  // p ~ |t|^-4
  EXPECT_EQ(tsallis_entropy(p, 0.5), kInf);
  EXPECT_LT(tsallis_entropy(p, 0.51), kInf);
  EXPECT_EQ(covariance(p)(0, 0), kInf);
  EXPECT_EQ(kurtosis(p), kInf);
}

TEST(MultivariateBetaGaussian, CanonicalParametersComeBack) {
  for (const double alpha : {0.8, 1.0, 2.0}) {
    const MultivariateBetaGaussian p(alpha, kMu, kScale);
    const CanonicalParameters theta = canonical_parameters(p);
    EXPECT_TRUE(theta.linear.isApprox(kScale.inverse() * kMu, 1e-14));
    EXPECT_TRUE(theta.quadratic.isApprox(-kScale.inverse() / 2, 1e-14));
    const auto back = MultivariateBetaGaussian::from_canonical(alpha, theta);
    EXPECT_TRUE(back.mu().isApprox(kMu, 1e-13));
    EXPECT_TRUE(back.Sigma().isApprox(kScale, 1e-13));
  }
}

TEST(MultivariateBetaGaussian, DiagonalAndUniformAreMembers) {
  const auto p = MultivariateBetaGaussian::diagonal(1.5, kMu, Vector2d(2, 3));
  EXPECT_EQ(p.Sigma(), MatrixXd(Vector2d(2, 3).asDiagonal()));
  const auto cube = MultivariateBetaGaussian::from_covariance(kInf, kMu, kScale);
  EXPECT_TRUE(covariance(cube).isApprox(kScale, 1e-15));
  EXPECT_NEAR(expectation(cube, [](const VectorXd&) { return 1; }), 1, 1e-10);
}

TEST(MultivariateBetaGaussian, BadInputIsNamed) {
  const auto message = [](auto call) { return message_of<std::domain_error>(call); };
  const std::string where = "fenchel::multivariate_beta_gaussian: ";
  EXPECT_EQ(message([] { MultivariateBetaGaussian(0, kMu, kScale); }),
            where + "alpha must be greater than 0 for rank 2, got 0");
  EXPECT_EQ(message([] { MultivariateBetaGaussian(0.3, Vector3d::Zero(), Matrix3d::Identity()); }),
            where + "alpha must be greater than 1 - 2/3 for rank 3, got 0.3");
  EXPECT_EQ(message([] { MultivariateBetaGaussian(kNaN, kMu, kScale); }),
            where + "alpha must be greater than 0 for rank 2, got nan");
  EXPECT_EQ(message([] { (void)MultivariateBetaGaussian::diagonal(2, kMu, Vector2d(1, -1)); }),
            where + "sigma2[1] must be finite and not negative, got -1");
  EXPECT_EQ(message_of<std::invalid_argument>(
                [] { (void)MultivariateBetaGaussian::diagonal(2, kMu, Vector3d(1, 1, 1)); }),
            where + "sigma2.size() must be mu.size() = 2, got 3");
  EXPECT_EQ(message([] { (void)MultivariateBetaGaussian::from_covariance(0.5, kMu, kScale); }),
            where + "alpha must be greater than 2/4 for rank 2, got 0.5");
  EXPECT_EQ(message([] { (void)MultivariateBetaGaussian::from_shape(kInf, kMu, kScale); }),
            where + "alpha must be finite, got inf");
  EXPECT_EQ(message([] { (void)MultivariateBetaGaussian::from_covariance(1e6, kMu, kScale); }).substr(0, 96),
            where + "the logarithm of what multiplies Sigma must be within +-700");
  // Sigma would be 6e-316, which has few digits, and radius2 infinite.
  const Matrix2d narrow = (Matrix2d() << 2.6e-10, 1e-10, 1e-10, 5.2e-10).finished();
  EXPECT_EQ(
      message([&] { (void)escort(MultivariateBetaGaussian(3.378, kMu, narrow), 0.01947); }).substr(0, 96),
      where + "the logarithm of what multiplies Sigma must be within +-700");
  const std::string radius2 = where + "log(det(Sigma)) must keep radius2 in the range of doubles, got ";
  for (const auto& given : {std::pair(123., 1e-314), {kInf, 1e-314}, {0.1, 1e300}}) {
    const double alpha = given.first;
    const Matrix2d Sigma = given.second * Matrix2d::Identity();
    EXPECT_EQ(message([&] { MultivariateBetaGaussian(alpha, kMu, Sigma); }).substr(0, radius2.size()),
              radius2);
  }
  EXPECT_EQ(message([] {
              (void)MultivariateBetaGaussian::from_canonical(2, {kMu, Vector2d(1, -1).asDiagonal()});
            }),
            where + "the smallest eigenvalue of -2 * quadratic must not be negative, got -2");
  EXPECT_EQ(message([] {
              (void)MultivariateBetaGaussian::from_canonical(2, {kMu, -Matrix2d::Ones()});
            }),
            where + "the smallest eigenvalue of -2 * quadratic must be positive, got 0");
  EXPECT_EQ(message([] {
              (void)MultivariateBetaGaussian::uniform({kMu, kScale, 0});
            }),
            where + "radius2 must be positive and finite, got 0");
  EXPECT_EQ(message([] { (void)canonical_parameters(MultivariateBetaGaussian(2, kMu, Matrix2d::Ones())); }),
            "fenchel::canonical_parameters: the smallest eigenvalue of Sigma must be positive, got 0");
  EXPECT_EQ(message([] { (void)tsallis_entropy(MultivariateBetaGaussian(2, kMu, kScale), 0); }),
            "fenchel::tsallis_entropy: order must be positive, got 0");
  EXPECT_EQ(message([] { (void)escort(MultivariateBetaGaussian(2, kMu, kScale), -0.5); }),
            "fenchel::escort: order must be at least 0, got -0.5");
  EXPECT_EQ(message([] { (void)escort(MultivariateBetaGaussian(1, kMu, kScale), 0); }),
            "fenchel::escort: order must be greater than 0, got 0");
  EXPECT_EQ(message([] { (void)escort(MultivariateBetaGaussian(0.5, kMu, kScale), 0.5); }),
            "fenchel::escort: order must be greater than 0.5, got 0.5");
}

}  // namespace
}  // namespace fenchel
