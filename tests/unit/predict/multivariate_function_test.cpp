#include "fenchel/predict/multivariate_function.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "fenchel/core/deformed.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/core/quadrature.hpp"
#include "fenchel/distribution/euclidean/multivariate_geometry.hpp"
#include "fenchel/predict/function.hpp"
#include "fenchel/predict/multivariate_quadratic.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"
#include "support/reference_cdf.hpp"

namespace fenchel {
namespace {

using Eigen::Matrix2d, Eigen::Matrix3d, Eigen::MatrixXd, Eigen::Vector2d, Eigen::Vector3d, Eigen::VectorXd;
using testing::kInf, testing::kNaN, testing::message_of;
using Score = MultivariateFunctionScore;

static_assert(Predictable<Tsallis, Score, Euclidean>);
static_assert(Predictable<Tsallis, Score, Box>);

Score quadratic(const VectorXd& mu, const MatrixXd& Sigma) {
  const MatrixXd precision = Sigma.inverse();
  return Score::batched([=](const MatrixXd& t) -> VectorXd {
    const MatrixXd d = t.colwise() - mu;
    return -0.5 * d.cwiseProduct(precision.lazyProduct(d)).colwise().sum().transpose();
  });
}
Score radial(double (*h)(double r)) {
  return Score([h](const VectorXd& t) { return h(t.norm()); });
}
double ring(double r) { return -8 * (r - 1) * (r - 1); }

TEST(PredictMultivariateFunction, QuadraticScoresOfEveryAlphaInThePlane) {
  const Vector2d mu(0.3, -2);
  const Matrix2d Sigma = (Matrix2d() << 1, 0.6, 0.6, 2).finished();
  const MultivariateQuadraticScore exact(mu, Sigma);
  for (const double alpha :
       {0.8, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 4. / 3, 1.5, 2.0, 2.5, 5.0, 1e6, kInf}) {
    const Tsallis omega(alpha, 0.7);
    const auto p = predict(omega, quadratic(mu, Sigma), Euclidean(2));
    const MultivariateBetaGaussian q = predict(omega, exact, Euclidean(2));
    for (const Vector2d& t : {Vector2d(mu), Vector2d(0.5, -1.8), Vector2d(0.1, -2.3), Vector2d(30, 0)})
      EXPECT_NEAR(pdf(p, t), pdf(q, t), 1e-8) << alpha;
    EXPECT_NEAR((mean(p) - mu).norm(), 0, 1e-8) << alpha;
    EXPECT_NEAR((covariance(p) - covariance(q)).norm() / covariance(q).norm(), 0, 1e-8) << alpha;
    EXPECT_NEAR(tsallis_entropy(p, 1.7), tsallis_entropy(q, 1.7), 1e-8) << alpha;
    EXPECT_NEAR(entropy(p), entropy(q), 1e-8) << alpha;
    EXPECT_NEAR((mode(p) - mu).norm(), 0, 1e-6) << alpha;
  }
  for (const double alpha : {1.0, 1.5, 5.0, kInf}) {
    EXPECT_NEAR(normalizer(Tsallis(alpha), quadratic(mu, Sigma), Euclidean(2)),
                normalizer(Tsallis(alpha), exact, Euclidean(2)), 1e-8)
        << alpha;
    EXPECT_NEAR(conjugate(Tsallis(alpha), quadratic(mu, Sigma), Euclidean(2)),
                conjugate(Tsallis(alpha), exact, Euclidean(2)), 1e-8)
        << alpha;
  }
}

TEST(PredictMultivariateFunction, LongEllipsesFarAway) {
  const Vector2d mu(1e4, -300);
  const Matrix2d Sigma = 1e-4 * (Matrix2d() << 1e4, 99.9, 99.9, 1).finished();
  for (const double alpha : {1.0, 2.0}) {
    const auto p = predict(Tsallis(alpha), quadratic(mu, Sigma), Euclidean(2));
    const MultivariateBetaGaussian q(alpha, mu, Sigma);
    EXPECT_NEAR(log_pdf(p, mu), log_pdf(q, mu), 1e-7) << alpha;
    EXPECT_NEAR((covariance(p) - covariance(q)).norm() / covariance(q).norm(), 0, 1e-6) << alpha;
  }
}

TEST(PredictMultivariateFunction, QuadraticScoresInSpace) {
  const Vector3d mu(0.3, -2, 1);
  const Matrix3d Sigma = (Matrix3d() << 1, 0.6, 0.2, 0.6, 2, -0.3, 0.2, -0.3, 0.5).finished();
  for (const double alpha : {1.5, kInf}) {
    const auto p = predict(Tsallis(alpha), quadratic(mu, Sigma), Euclidean(3));
    const MultivariateBetaGaussian q(alpha, mu, Sigma);
    EXPECT_NEAR(log_pdf(p, mu), log_pdf(q, mu), 1e-6) << alpha;
    EXPECT_NEAR((covariance(p) - covariance(q)).norm() / covariance(q).norm(), 0, 2e-6) << alpha;
  }
  const auto gaussian = predict(Tsallis(1), quadratic(mu, Sigma), Euclidean(3), 1e-2);
  EXPECT_NEAR(log_pdf(gaussian, mu), log_pdf(MultivariateBetaGaussian(1, mu, Sigma), mu), 1e-2);
}

/// The support is a ring: the mass is an integral over the radius alone.
TEST(PredictMultivariateFunction, ARingHasMassOne) {
  for (const double alpha : {1.0, 2.0, 5.0, kInf}) {
    const auto p = predict(Tsallis(alpha), radial(ring), Euclidean(2));
    const double A = normalizer(Tsallis(alpha), radial(ring), Euclidean(2)), am1 = alpha - 1;
    double inner = 0, outer = 6;
    if (alpha > 1) {
      const double half = std::sqrt((std::isinf(am1) ? -A : 1 / am1 - A) / 8);
      inner = std::max(0.0, 1 - half);
      outer = 1 + half;
    }
    const auto shell = [&](double r) {
      const double density = std::isinf(am1) ? 1 : deformed_exp(am1, ring(r) - A);
      if (density > 0.01) {
        EXPECT_NEAR(pdf(p, Vector2d(0, r)), density, 1e-7) << alpha << " " << r;
      }
      return 2 * std::numbers::pi * r * density;
    };
    EXPECT_NEAR(integrate(shell, inner, outer, 1e-12).value, 1, 1e-8) << alpha;
    EXPECT_EQ(pdf(p, Vector2d(0.1, 0.1)) == 0, alpha > 1.2) << alpha;
    EXPECT_NEAR(mean(p).norm(), 0, 1e-8) << alpha;
    EXPECT_NEAR(covariance(p)(0, 0), covariance(p)(1, 1), 1e-8) << alpha;
  }
}

/// f(x, y) = h(x) - y^2 / 2 with two wells h: over y the density is a constant times a power, so that the
/// mass is an integral over x.
TEST(PredictMultivariateFunction, TwoHills) {
  const auto wells = [](double x) { return -2 * (x * x - 1) * (x * x - 1) + 0.2 * x; };
  const Score f([&](const VectorXd& t) { return wells(t[0]) - t[1] * t[1] / 2; });
  for (const double alpha : {1.5, 2.0, 3.0}) {
    const auto p = predict(Tsallis(alpha), f, Euclidean(2));
    const double am1 = alpha - 1, A = normalizer(Tsallis(alpha), f, Euclidean(2)), tau = A - 1 / am1;
    // int [am1 (h - y^2/2)]_+^{1/am1} dy = am1^{1/am1} h^{1/am1 + 1/2} sqrt(2) B(1/2, 1/am1 + 1)
    const double beta = std::exp(std::lgamma(0.5) + std::lgamma(1 / am1 + 1) - std::lgamma(1 / am1 + 1.5));
    const auto marginal = [&](double x) {
      const double h = wells(x) - tau;
      return h <= 0 ? 0 : std::pow(am1, 1 / am1) * std::pow(h, 1 / am1 + 0.5) * std::numbers::sqrt2 * beta;
    };
    const auto edge = [&](double in, double out) {
      for (int i = 0; i < 60; ++i) (wells((in + out) / 2) > tau ? in : out) = (in + out) / 2;
      return in;
    };
    const NumericDensity line([&](double x) { return std::log(marginal(x)); },
                              {{edge(-0.99, -3), edge(-0.99, 0)}, {edge(0.99, 0), edge(0.99, 3)}}, {-1, 1});
    EXPECT_NEAR(line.log_mass(), 0, 1e-7) << alpha;
    EXPECT_EQ(p.modes().size(), 2u) << alpha;
    EXPECT_NEAR(mean(p)[0], mean(line), 1e-7) << alpha;
    EXPECT_NEAR(mean(p)[1], 0, 1e-8) << alpha;
    EXPECT_EQ(pdf(p, Vector2d(0, 0)), 0) << alpha;
    EXPECT_NEAR(expectation(
                    p, [](const VectorXd& t) { return t[0] > 0 ? 1.0 : 0.0; }, 1e-6),
                survival(line, 0), 1e-6)
        << alpha;
  }
}

TEST(PredictMultivariateFunction, BoxesAndMasks) {
  // A product at alpha = 1, on a quadrant and on a rectangle.
  const Score f([](const VectorXd& t) { return -t[0] + std::cos(t[1]); });
  const auto p = predict(Tsallis(1), f, Box(Vector2d(0, -1), Vector2d(kInf, 2)));
  const NumericDensity second =
      predict(Tsallis(1), FunctionScore([](double y) { return std::cos(y); }), Interval(-1, 2));
  EXPECT_NEAR(mean(p)[0], 1, 1e-8);
  EXPECT_NEAR(mean(p)[1], mean(second), 1e-8);
  EXPECT_NEAR(pdf(p, Vector2d(0.5, 1.5)), std::exp(-0.5) * pdf(second, 1.5), 1e-8);
  EXPECT_EQ(pdf(p, Vector2d(-0.1, 0)), 0);
  // A constant score on a disk of a square, masked outside.
  const Score disk([](const VectorXd& t) { return t.norm() < 0.8 ? 0 : -kInf; });
  const auto q = predict(Tsallis(2), disk, Box(Vector2d(-1, -1), Vector2d(1, 1)), 1e-5);
  EXPECT_NEAR(pdf(q, Vector2d(0.3, 0.2)), 1 / (0.64 * std::numbers::pi), 1e-5);
  EXPECT_EQ(pdf(q, Vector2d(0.7, 0.7)), 0);
}

/// dA = E[h] under the escort distribution of order 2 - alpha, for f + epsilon h.
TEST(PredictMultivariateFunction, TheNormalizerFallsAsTheEscortSays) {
  const auto score = [](double epsilon) {
    return Score([=](const VectorXd& t) {
      return 2 * std::cos(2 * t[0]) + std::sin(t[0] + 2 * t[1]) - t.squaredNorm() / 2 + epsilon * t[0] * t[1];
    });
  };
  for (const double alpha : {1.0, 1.8}) {
    const Tsallis omega(alpha);
    const double slope =
        (normalizer(omega, score(1e-3), Euclidean(2)) - normalizer(omega, score(-1e-3), Euclidean(2))) / 2e-3;
    const auto p = predict(omega, score(0), Euclidean(2));
    EXPECT_NEAR(expectation(escort(p, 2 - alpha), [](const VectorXd& t) { return t[0] * t[1]; }), slope, 1e-5)
        << alpha;
  }
}

TEST(PredictMultivariateFunction, DrawsFollowTheDensity) {
  const Matrix2d Sigma = (Matrix2d() << 1, 0.6, 0.6, 2).finished();
  for (const double alpha : {1.0, 2.0}) {
    const auto p = predict(Tsallis(alpha), quadratic(Vector2d(0.3, -2), Sigma), Euclidean(2));
    const MultivariateBetaGaussian q(alpha, Vector2d(0.3, -2), Sigma);
    const MatrixXd draws = sample(p, 4000, 7);
    std::vector<double> u;
    for (index_t k = 0; k < draws.cols(); ++k)
      u.push_back(radial_cdf(q, q.score().mahalanobis2(draws.col(k))));
    EXPECT_LT(reference::kolmogorov_smirnov(u, [](long double x) { return x; }), 1.95) << alpha;
    const MatrixXd first = sample(p, 3, 7);
    EXPECT_EQ(first, draws.leftCols(3)) << alpha;  // each from its own stream, and no matter how many
    Philox rng(7, 1);
    EXPECT_EQ(sample(p, rng), draws.col(1)) << alpha;
  }
  // Both hills, and space.
  const auto two =
      predict(Tsallis(2),
              Score([](const VectorXd& t) { return -2 * std::pow(t[0] * t[0] - 1, 2) - t[1] * t[1] / 2; }),
              Euclidean(2));
  const MatrixXd draws = sample(two, 4000, 3);
  EXPECT_NEAR((draws.row(0).array() > 0).cast<double>().mean(), 0.5, 0.03);
  const auto ball =
      predict(Tsallis(kInf), Score([](const VectorXd& t) { return -t.norm(); }), Euclidean(3), 1e-3);
  const MatrixXd inside = sample(ball, 40, 1);
  EXPECT_LE(inside.colwise().norm().maxCoeff(), std::cbrt(0.75 / std::numbers::pi) * 1.001);
}

TEST(PredictMultivariateFunction, ContoursOfTheSupportAndOfAMass) {
  const Matrix2d Sigma = (Matrix2d() << 1, 0.6, 0.6, 2).finished();
  const auto p = predict(Tsallis(2), quadratic(Vector2d(0.3, -2), Sigma), Euclidean(2));
  const MultivariateBetaGaussian q(2, Vector2d(0.3, -2), Sigma);
  for (const double mass : {0.5, 1.0}) {
    const auto lines = contours(p, mass);
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].col(0), lines[0].col(lines[0].cols() - 1));
    for (index_t k = 0; k < lines[0].cols(); ++k)
      EXPECT_NEAR(radial_cdf(q, q.score().mahalanobis2(lines[0].col(k))), mass, 1e-3);
  }
  EXPECT_TRUE(support(p).contains(Vector2d(0.3, -2)));
  EXPECT_FALSE(support(p).contains(Vector2d(3, 3)));
  EXPECT_TRUE(support(p).bounds.contains(Vector2d(0.3, -2)));
  EXPECT_FALSE(support(p).bounds.contains(Vector2d(3, 3)));
  const auto ring_lines = contours(predict(Tsallis(2), radial(ring), Euclidean(2)), 1);
  EXPECT_EQ(ring_lines.size(), 2u);
}

TEST(PredictMultivariateFunction, ErrorsSayWhy) {
  const auto predicted = [](double alpha, std::function<double(const VectorXd&)> f, const auto& domain) {
    return message_of<std::exception>([&] { (void)predict(Tsallis(alpha), Score(std::move(f)), domain); });
  };
  const auto bowl = [](const VectorXd& t) { return -t.squaredNorm(); };
  EXPECT_THROW((void)predict(Tsallis(2), Score(bowl), Euclidean(4)), std::invalid_argument);
  EXPECT_EQ(predicted(2, bowl, Euclidean(4)),
            "fenchel::predict: the dimension of any score must be 2 or 3: quadratic scores have closed forms "
            "in every "
            "dimension, got 4");
  EXPECT_EQ(
      predicted(2, bowl, Euclidean(1)),
      "fenchel::predict: the dimension of any score must be 2 or 3: on the line take a FunctionScore, got 1");
  EXPECT_EQ(predicted(
                2, [](const VectorXd& t) { return t[0] > 0 ? kNaN : 0; }, Box(Vector2d(0, 0), Vector2d(1, 1)))
                .substr(0, 20),
            "fenchel::predict: f(");
  EXPECT_EQ(predicted(
                2, [](const VectorXd&) { return -kInf; }, Euclidean(2)),
            "fenchel::predict: the largest f found must be finite, got -inf");
  EXPECT_EQ(predicted(kInf, bowl, Box(Vector2d(0, 0), Vector2d(1, 0.5))),
            "fenchel::predict: the volume of the domain must be at least 1 for infinite alpha, got 0.5");
  const std::string none = "must be 1 for some A: no distribution exists where f does not fall enough";
  EXPECT_NE(predicted(
                2, [](const VectorXd& t) { return 0.5 * std::exp(-t.squaredNorm()) / std::numbers::pi; },
                Euclidean(2))
                .find(none),
            std::string::npos);
  EXPECT_NE(predicted(
                1, [](const VectorXd& t) { return -std::log1p(t.squaredNorm()); }, Euclidean(2))
                .find(none),
            std::string::npos);
  EXPECT_NE(predicted(0.45, bowl, Euclidean(2))
                .find("fenchel::predict: alpha must be larger for E_p[f] to be finite"),
            std::string::npos);
  EXPECT_NE(predicted(
                2, [](const VectorXd& t) { return t[0] - t[1] * t[1]; }, Euclidean(2))
                .find("must be less than f nearer to 0"),
            std::string::npos);
}

}  // namespace
}  // namespace fenchel
