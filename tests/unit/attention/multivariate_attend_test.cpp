#include "fenchel/attention/multivariate_attend.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "support/differences.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;
using testing::kInf, testing::kNaN, testing::message_of, testing::slope_of;

const std::vector<double> kSpaceAlphas{0.7,      0.9,    1 - 1e-8, 1.0,     std::nextafter(1.0, 2.0),
                                       1 + 1e-8, 1.0004, 1.001,    4.0 / 3, 1.5,
                                       2.0,      5.0,    1e6,      kInf};

VectorXd vector(std::initializer_list<double> values) {
  return Eigen::Map<const VectorXd>(values.begin(), static_cast<index_t>(values.size()));
}
MatrixXd square(std::initializer_list<double> values) {
  const auto n = static_cast<index_t>(std::lround(std::sqrt(static_cast<double>(values.size()))));
  return Eigen::Map<const MatrixXd>(values.begin(), n, n);
}

/// The density and function of docs/math.md's rows 84 to 86.
const VectorXd kMu = vector({0.1, -0.2}), kMean = vector({0.5, 0.3});
const MatrixXd kScale = square({0.6, 0.2, 0.2, 0.3}), kCovariance = square({0.2, -0.05, -0.05, 0.1});

MatrixXd example_scale(index_t n) {
  MatrixXd factor = 0.6 * MatrixXd::Identity(n, n);
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < i; ++j) factor(i, j) = static_cast<double>((3 * i + 5 * j) % 7 - 3) / 12;
  }
  return factor * factor.transpose();
}
MultivariateBetaGaussian example(double alpha, index_t n) {
  return {alpha, VectorXd::LinSpaced(n, -0.3, 0.4), example_scale(n)};
}
/// Narrow, middling and wide functions, inside and outside.
MultivariateGaussianBasis example_basis(index_t n) {
  MatrixXd means(n, 4);
  means << VectorXd::LinSpaced(n, 0.1, -0.2), VectorXd::LinSpaced(n, 0.5, 0.4), VectorXd::Constant(n, 1.1),
      VectorXd::LinSpaced(n, -2, 1);
  const MatrixXd one = MatrixXd::Identity(n, n), other = example_scale(n).inverse();
  return {means, {0.01 * one, 0.2 * example_scale(n), 0.1 * one, 2 * other}};
}

TEST(MultivariateAttend, GoldenRows) {
  const double golden[3][6] = {{0.27976966910860664, 0.25791386590724169, 0.23447693419926623,
                                -0.0025372614203001867, 0.036142142395745433, 0.029220903934120327},
                               {0.2695907862483473, 0.18337810505962614, 0.17388063586798405,
                                -0.027829961841783626, 0.016535361003237541, 0.014212917818555532},
                               {0.25790011206025473, 0.15148366001112995, 0.14617822150578386,
                                -0.040035641456366419, 0.0074428008063041443, 0.0055040166192313007}};
  const MultivariateGaussianBasis psi(kMean, {kCovariance});
  for (int n = 1; n <= 3; ++n) {
    const MultivariateBetaGaussian p(1 + 1.0 / n, kMu, kScale);
    const double* const row = golden[n - 1];
    EXPECT_NEAR(attend(p, psi)[0], row[0], 1e-12 * row[0]);
    const auto gradient = attend_vjp(p, psi, VectorXd::Ones(1));
    const VectorXd first = kScale * gradient.mu;
    const MatrixXd second = 2 * kScale * gradient.Sigma * kScale;
    EXPECT_NEAR(first[0], row[1], 1e-13);
    EXPECT_NEAR(first[1], row[2], 1e-13);
    EXPECT_NEAR(second(0, 0), row[3], 1e-13);
    EXPECT_NEAR(second(1, 0), row[4], 1e-13);
    EXPECT_NEAR(second(1, 1), row[5], 1e-13);
  }
  const MatrixXd one = MatrixXd::Identity(3, 3);
  const MultivariateGaussianBasis ball(vector({0.4, 0, 0}), {0.3 * one});
  EXPECT_NEAR(attend(MultivariateBetaGaussian(2, VectorXd::Zero(3), 0.5 * one), ball)[0], 0.18931856877384968,
              1e-13);
  EXPECT_NEAR(attend(MultivariateBetaGaussian(1.5, VectorXd::Zero(3), 0.5 * one), ball)[0],
              0.16057695958742366, 1e-13);
  const MultivariateBetaGaussian student(0.8, kMu, square({0.6, 0.4, 0.4, 0.48}));
  EXPECT_NEAR(attend(student, psi)[0], 0.15840777128741561, 1e-13);
}

TEST(MultivariateAttend, TheGaussianIsKnown) {
  for (index_t n : {2, 3, 5}) {
    const MultivariateBetaGaussian p = example(1, n);
    const MultivariateGaussianBasis psi = example_basis(n);
    const VectorXd r = attend(p, psi);
    for (index_t j = 0; j < psi.size(); ++j) {
      const MatrixXd sum = p.Sigma() + psi.Sigma(j), inverse = sum.inverse();
      const VectorXd shift = inverse * (p.mu() - psi.mu(j));
      const double rho = std::exp(-shift.dot(p.mu() - psi.mu(j)) / 2) /
                         std::sqrt((2 * std::numbers::pi * sum).determinant());
      EXPECT_NEAR(r[j], rho, 1e-13 * rho);
      const auto gradient = attend_vjp(p, psi, VectorXd::Unit(psi.size(), j));
      EXPECT_LT((gradient.mu + rho * shift).norm(), 1e-12 * (1 + rho));
      EXPECT_LT((gradient.Sigma - rho / 2 * (shift * shift.transpose() - inverse)).norm(), 1e-12 * (1 + rho));
    }
  }
}

/// r(1 + e) = r(1) + e r'(1) + O(e^2).
TEST(MultivariateAttend, GoesThroughTheGaussian) {
  for (index_t n : {2, 3}) {
    const MultivariateGaussianBasis psi = example_basis(n);
    const MultivariateBetaGaussian gaussian = example(1, n);
    const VectorXd r = attend(gaussian, psi);
    const VectorXd slope = attend_jvp(gaussian, psi, {VectorXd::Zero(n), MatrixXd::Zero(n, n), 1});
    for (double alpha : {1 - 1e-8, std::nextafter(1.0, 0.0), std::nextafter(1.0, 2.0), 1 + 1e-8, 1 + 1e-7}) {
      const MultivariateBetaGaussian p = example(alpha, n);
      EXPECT_LT((attend(p, psi) - r - (alpha - 1) * slope).cwiseQuotient(r).norm(), 5e-12) << alpha;
      const VectorXd near = attend_jvp(p, psi, {VectorXd::Zero(n), MatrixXd::Zero(n, n), 1});
      EXPECT_LT((near - slope).norm(), 1e-10 + 1e2 * std::abs(alpha - 1)) << alpha;
    }
  }
}

TEST(MultivariateAttend, DerivativesAreDifferences) {
  for (index_t n : {2, 3}) {
    const MultivariateGaussianBasis psi = example_basis(n);
    for (double alpha : kSpaceAlphas) {
      const MultivariateBetaGaussian p = example(alpha, n);
      for (index_t j = 0; j < psi.size(); ++j) {
        const auto gradient = attend_vjp(p, psi, VectorXd::Unit(psi.size(), j));
        for (index_t a = 0; a < n; ++a) {
          const auto moved = [&](double x) {
            VectorXd mu = p.mu();
            mu[a] += x;
            return attend(MultivariateBetaGaussian(alpha, mu, p.Sigma()), psi)[j];
          };
          EXPECT_NEAR(gradient.mu[a], slope_of(moved, 0, 2e-4), 2e-8) << alpha << " " << j;
          for (index_t b = 0; b <= a; ++b) {
            const auto scaled = [&](double x) {
              MatrixXd scale = p.Sigma();
              scale(a, b) += x / 2;
              scale(b, a) += x / 2;
              return attend(MultivariateBetaGaussian(alpha, p.mu(), scale), psi)[j];
            };
            EXPECT_NEAR(gradient.Sigma(a, b), slope_of(scaled, 0, 1e-4), 1e-7) << alpha << " " << j;
          }
        }
        const double h = 1e-3 * alpha;
        if (alpha == kInf) {
          EXPECT_EQ(gradient.alpha, 0);
        } else {
          const auto ordered = [&](double x) {
            return attend(MultivariateBetaGaussian(x, p.mu(), p.Sigma()), psi)[j];
          };
          EXPECT_NEAR(gradient.alpha, slope_of(ordered, alpha, h), 1e-8) << alpha << " " << j;
        }
      }
    }
  }
}

TEST(MultivariateAttend, ProductsWithTheJacobianAreTransposed) {
  for (double alpha : kSpaceAlphas) {
    const MultivariateBetaGaussian p = example(alpha, 3);
    const MultivariateGaussianBasis psi = example_basis(3);
    const VectorXd cotangent = vector({0.3, -1, 2, 0.5});
    const MultivariateQuadraticGradient direction{vector({1, -2, 0.5}), example_scale(3), -0.7};
    const auto gradient = attend_vjp(p, psi, cotangent);
    EXPECT_NEAR(cotangent.dot(attend_jvp(p, psi, direction)),
                gradient.mu.dot(direction.mu) + (gradient.Sigma * direction.Sigma).trace() +
                    gradient.alpha * direction.alpha,
                1e-12)
        << alpha;
  }
}

/// N x (D + D^2), by differences in the canonical parameters (E19).
TEST(MultivariateAttend, TheJacobianHasARowForEachFunction) {
  const index_t n = 2;
  const MultivariateGaussianBasis psi = example_basis(n);
  for (double alpha : {0.8, 1.0, 4.0 / 3, 1.5, 2.0, 3.0}) {
    const MultivariateBetaGaussian p = example(alpha, n);
    const CanonicalParameters theta = canonical_parameters(p);
    const MatrixXd jacobian = attend_jacobian(p, psi);
    ASSERT_EQ(jacobian.rows(), psi.size());
    ASSERT_EQ(jacobian.cols(), n + n * n);
    for (index_t j = 0; j < psi.size(); ++j) {
      for (index_t a = 0; a < n; ++a) {
        const auto along = [&](double x) {
          CanonicalParameters moved = theta;
          moved.linear[a] += x;
          return attend(MultivariateBetaGaussian::from_canonical(alpha, moved), psi)[j];
        };
        EXPECT_NEAR(jacobian(j, a), slope_of(along, 0, 1e-3), 1e-8);
        for (index_t b = 0; b < n; ++b) {
          const auto across = [&](double x) {
            CanonicalParameters moved = theta;
            moved.quadratic(a, b) += x / 2;
            moved.quadratic(b, a) += x / 2;
            return attend(MultivariateBetaGaussian::from_canonical(alpha, moved), psi)[j];
          };
          EXPECT_NEAR(jacobian(j, n + b * n + a), slope_of(across, 0, 1e-3), 1e-8) << alpha;
        }
      }
    }
  }
}

/// t -> B t + b takes Sigma to |det B|^am1 B Sigma B^T (docs/math.md 5.6) and r to r / |det B|.
TEST(MultivariateAttend, MovesWithAffineMaps) {
  const MatrixXd b = square({1.2, 0.3, -0.4, 0.1, 0.7, 0.2, -0.6, 0.5, 1.5});
  const VectorXd shift = vector({3, -1, 2});
  const double det = std::abs(b.determinant());
  const MultivariateGaussianBasis psi = example_basis(3);
  MatrixXd means(3, psi.size());
  std::vector<MatrixXd> covariances;
  for (index_t j = 0; j < psi.size(); ++j) {
    means.col(j) = b * psi.mu(j) + shift;
    const MatrixXd moved = b * psi.Sigma(j) * b.transpose();
    covariances.emplace_back((moved + moved.transpose()) / 2);
  }
  const MultivariateGaussianBasis moved(means, covariances);
  for (double alpha : {0.8, 1.0, 1 + 1e-8, 1.5, 2.0, 5.0}) {
    const MultivariateBetaGaussian p = example(alpha, 3);
    const MatrixXd scale = std::pow(det, alpha - 1) * b * p.Sigma() * b.transpose();
    const MultivariateBetaGaussian q(alpha, b * p.mu() + shift, (scale + scale.transpose()) / 2);
    const VectorXd before = attend(p, psi), after = det * attend(q, moved);
    for (index_t j = 0; j < psi.size(); ++j) EXPECT_NEAR(after[j], before[j], 2e-12 * before[j]) << alpha;
  }
}

/// A function that is constant along an axis sees the marginal, which has another alpha (docs/math.md 5.6).
TEST(MultivariateAttend, WideAxesIntegrateOut) {
  constexpr double kWide = 1e6;
  for (double alpha : {0.8, 1.0, 4.0 / 3, 2.0, 4.0}) {
    const double am1 = alpha - 1;
    const MultivariateBetaGaussian p = example(alpha, 3);
    const MultivariateBetaGaussian marginal = MultivariateBetaGaussian::from_covariance(
        1 + 2 * am1 / (2 + am1), p.mu().head(2), covariance(p).topLeftCorner(2, 2));
    MatrixXd wide = MatrixXd::Zero(3, 3);
    wide.topLeftCorner(2, 2) = kCovariance;
    wide(2, 2) = kWide * kWide;
    VectorXd mean = VectorXd::Zero(3);
    mean.head(2) = kMean;
    const double expected = attend(marginal, MultivariateGaussianBasis(kMean, {kCovariance}))[0];
    const double found = attend(p, MultivariateGaussianBasis(mean, {wide}))[0];
    EXPECT_NEAR(found * kWide * std::sqrt(2 * std::numbers::pi), expected, kAttendError * expected) << alpha;
  }
}

/// A basis that is known by its values alone.
struct AnyBasis {
  MultivariateGaussianBasis inner;
  [[nodiscard]] index_t size() const { return inner.size(); }
  [[nodiscard]] index_t dimension() const { return inner.dimension(); }
};
VectorXd evaluate(const AnyBasis& psi, const VectorXd& t) { return evaluate(psi.inner, t); }

TEST(MultivariateAttend, AnyBasisIsIntegrated) {
  const MultivariateGaussianBasis psi(MatrixXd(kMean), {kCovariance});
  for (double alpha : {1.0, 1.5, 2.0}) {
    const MultivariateBetaGaussian p(alpha, kMu, kScale);
    const VectorXd exact = attend(p, psi), found = attend(p, AnyBasis{psi});
    EXPECT_NEAR(found[0], exact[0], 1e-9 * exact[0]) << alpha;
  }
}

TEST(MultivariateAttend, AUniformDensityKeepsItsOwnVolume) {
  const MultivariateBetaGaussian p = MultivariateBetaGaussian::uniform({kMu, kScale, 3.0});
  const MultivariateGaussianBasis psi(MatrixXd(kMean), {kCovariance});
  EXPECT_NEAR(attend(p, psi)[0], attend(p, AnyBasis{psi})[0], 1e-9);
}

TEST(MultivariateGaussianBasis, BadInput) {
  using Basis = MultivariateGaussianBasis;
  using Shape = std::invalid_argument;
  const MatrixXd one = MatrixXd::Identity(2, 2), means = MatrixXd::Zero(2, 1);
  EXPECT_EQ(message_of<Shape>([&] { Basis(MatrixXd::Zero(2, 0), {}); }),
            "fenchel::multivariate_gaussian_basis: mu must not be empty, got 2 x 0");
  EXPECT_EQ(message_of<Shape>([&] {
              Basis(means, {one, one});
            }),
            "fenchel::multivariate_gaussian_basis: Sigma.size() must equal mu.cols() = 1, got 2");
  EXPECT_EQ(message_of<Shape>([&] { Basis(means, {MatrixXd::Identity(3, 3)}); }),
            "fenchel::multivariate_gaussian_basis: Sigma[0].rows() must be 2, got 3");
  EXPECT_EQ(message_of<std::domain_error>([&] { Basis(means * kNaN, {one}); }),
            "fenchel::multivariate_gaussian_basis: mu[0] must be finite, got nan");
  EXPECT_EQ(message_of<std::domain_error>([&] {
              Basis(means, {square({1, 0, 0.5, 1})});
            }),
            "fenchel::multivariate_gaussian_basis: Sigma[0] must be finite and symmetric, got 0.5");
  EXPECT_EQ(message_of<std::domain_error>([&] {
              Basis(means, {square({1, 0, 0, -2})});
            }),
            "fenchel::multivariate_gaussian_basis: the smallest eigenvalue of Sigma[0] must be "
            "positive, got -2");
  EXPECT_EQ(message_of<Shape>([&] { (void)Basis::unit_square(0, 3, one); }),
            "fenchel::multivariate_gaussian_basis::unit_square: rows must be at least 1, got 0");
  EXPECT_EQ(message_of<Shape>([&] { (void)evaluate(Basis(means, {one}), VectorXd::Zero(3)); }),
            "fenchel::evaluate: t.size() must equal the basis' dimension, 2, got 3");
}

TEST(MultivariateAttend, BadInput) {
  const MultivariateGaussianBasis psi = example_basis(2);
  const MultivariateBetaGaussian p = example(2, 3), q = example(2, 2);
  using Shape = std::invalid_argument;
  EXPECT_EQ(message_of<Shape>([&] { (void)attend(p, psi); }),
            "fenchel::attend: the basis' dimension must equal the density's dimension, 3, got 2");
  EXPECT_EQ(message_of<Shape>([&] { (void)attend(p, AnyBasis{psi}); }),
            "fenchel::attend: the basis' dimension must equal the density's dimension, 3, got 2");
  EXPECT_EQ(message_of<Shape>([&] { (void)attend_jacobian(p, psi); }),
            "fenchel::attend_jacobian: the basis' dimension must equal the density's dimension, 3, got 2");
  EXPECT_EQ(message_of<Shape>([&] { (void)attend_vjp(q, psi, VectorXd::Zero(3)); }),
            "fenchel::attend_vjp: cotangent.size() must equal the basis' size, 4, got 3");
  EXPECT_EQ(message_of<Shape>([&] {
              (void)attend_jvp(q, psi, {VectorXd::Zero(1), MatrixXd::Zero(2, 2), 0});
            }),
            "fenchel::attend_jvp: direction.mu.rows() must be 2, got 1");
  EXPECT_EQ(message_of<Shape>([&] {
              (void)attend_jvp(q, psi, {VectorXd::Zero(2), MatrixXd::Zero(2, 3), 0});
            }),
            "fenchel::attend_jvp: direction.Sigma.cols() must be 2, got 3");
  const MultivariateBetaGaussian flat(2, VectorXd::Zero(2), square({1, 1, 1, 1}));
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)attend(flat, psi); }),
            "fenchel::attend: the rank of Sigma must be its dimension, 2, got 1");
}

TEST(MultivariateAttend, DerivativesForAnyBasisAreThoseOfTheGaussianOnes) {
  const MultivariateGaussianBasis one(MatrixXd(kMean), {MatrixXd::Identity(2, 2)});
  for (const double alpha : {1.0, 1.5}) {
    const MultivariateBetaGaussian p(alpha, kMu, kScale);
    const auto want = attend_vjp(p, one, VectorXd::Ones(1)),
               got = attend_vjp(p, AnyBasis{one}, VectorXd::Ones(1));
    EXPECT_LT((got.mu - want.mu).norm(), 1e-8) << alpha;
    EXPECT_LT((got.Sigma - want.Sigma).norm(), 1e-8) << alpha;
    EXPECT_NEAR(got.alpha, want.alpha, 1e-8) << alpha;
    EXPECT_NEAR(attend_jvp(p, AnyBasis{one}, want)[0], attend_jvp(p, one, want)[0], 1e-8) << alpha;
    EXPECT_LT((attend_jacobian(p, AnyBasis{one}) - attend_jacobian(p, one)).norm(), 1e-8) << alpha;
  }
  const AnyBasis psi{example_basis(2)};
  EXPECT_EQ(message_of<std::domain_error>(
                [&] { static_cast<void>(attend_vjp(example(kInf, 2), psi, VectorXd::Ones(4))); }),
            "fenchel::attend_vjp: alpha must be finite, got inf");
  EXPECT_THROW(static_cast<void>(attend_vjp(example(2, 2), psi, VectorXd::Ones(3))), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(attend_vjp(example(2, 3), psi, VectorXd::Ones(4))), std::invalid_argument);
}

}  // namespace
}  // namespace fenchel
