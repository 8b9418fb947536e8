#include "fenchel/loss/multivariate_quadratic.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <cmath>
#include <functional>
#include <numbers>

#include "fenchel/loss/quadratic.hpp"
#include "fenchel/predict/multivariate_quadratic.hpp"
#include "support/golden.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;
using testing::kInf, testing::message_of;

const MatrixXd kS{{0.6, 0.4}, {0.4, 0.48}}, kSf{{1, -0.2}, {-0.2, 0.7}};
const VectorXd kMu{{0.1, -0.2}}, kMuf{{0.5, 0.3}};

/// Symmetric and regular, of any size.
MatrixXd regular(index_t n, double seed) {
  MatrixXd a(n, n);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j)
      a(i, j) = 0.4 * std::sin(seed + 3.0 * static_cast<double>(i) + 7.0 * static_cast<double>(j)) +
                (i == j ? 1 : 0);
  return a * a.transpose();
}

TEST(LossMultivariateQuadratic, MatchesTheGoldenValues) {
  constexpr double kRows[][3] = {{1, 0.95798357342921491, 2.7679981323073005},
                                 {1.5, 0.56230767482137802, 1.0217938692690985},
                                 {2, 0.48444626649752775, 0.67003267135898853},
                                 {0.8, 1.8739591340180369, 6.4132392975493687}};
  const MultivariateQuadraticScore f(kMuf, kSf);
  for (const auto& row : kRows) {
    const MultivariateBetaGaussian q(row[0], kMu, kS);
    EXPECT_NEAR(fenchel_young(Tsallis(row[0]), f, q).value, row[1], 1e-13 * row[1]);
    EXPECT_NEAR(cross_omega(Tsallis(row[0]), f, q).value, row[2], 1e-13 * row[2]);
  }
}

TEST(LossMultivariateQuadratic, MatchesTheTable) {
  int seen = 0;
  for (const auto& block : testing::golden_blocks("losses.txt")) {
    ++seen;
    const auto n = static_cast<index_t>(block.at("case")[0]);
    const double alpha = block.at("case")[1];
    SCOPED_TRACE(::testing::Message()
                 << "n=" << n << " alpha=" << alpha << " target " << block.at("case")[2]);
    const auto vector = [&](const char* key) -> VectorXd {
      return Eigen::Map<const VectorXd>(block.at(key).data(), n);
    };
    const auto matrix = [&](const char* key) -> MatrixXd {
      return Eigen::Map<const MatrixXd>(block.at(key).data(), n, n);
    };
    const MultivariateQuadraticScore f(vector("mu_f"), matrix("scale_f"));
    const MultivariateBetaGaussian q(block.at("case")[2], vector("mu"), matrix("scale"));
    const auto loss = fenchel_young(Tsallis(alpha), f, q), cross = cross_omega(Tsallis(alpha), f, q);
    const double slope = block.at("cross")[1];
    EXPECT_NEAR(cross.value, block.at("cross")[0], 1e-13 * (1 + std::abs(cross.value)));
    EXPECT_NEAR(cross.gradient.alpha, slope, 1e-12 * (1 + std::abs(slope)));
    const double scale = alpha == q.alpha() ? block.at("fenchel_young")[0] : std::abs(cross.value) + 1;
    EXPECT_NEAR(loss.value, block.at("fenchel_young")[0], 1e-13 * scale);
    EXPECT_NEAR(loss.gradient.alpha, block.at("fenchel_young")[1], 1e-12 * (1 + std::abs(slope)));
  }
  EXPECT_EQ(seen, 93);
}

TEST(LossMultivariateQuadratic, IsTheLossOfTheLineForOneDimension) {
  for (const double alpha : {0.5, 1.0, 1.5, 2.0, 1e6}) {
    const Tsallis omega(alpha, 0.7);
    const MultivariateQuadraticScore f(VectorXd{{0.4}}, MatrixXd{{1.2}});
    const auto many =
        fenchel_young(omega, f, MultivariateBetaGaussian(alpha, VectorXd{{0.1}}, MatrixXd{{3.1}}));
    const auto one = fenchel_young(omega, QuadraticScore(0.4, 1.2), BetaGaussian(alpha, 0.1, 3.1));
    EXPECT_NEAR(many.value, one.value, 1e-14 * one.value);
    EXPECT_NEAR(many.gradient.mu[0], one.gradient.mu, 1e-14);
    EXPECT_NEAR(many.gradient.Sigma(0, 0), one.gradient.sigma2, 1e-14);
    EXPECT_NEAR(many.gradient.alpha, one.gradient.alpha, 1e-13);
  }
}

TEST(LossMultivariateQuadratic, IsExactlyZeroAtThePredictionAndPositiveElsewhere) {
  for (const index_t n : {2, 5}) {
    const MatrixXd scale = regular(n, 0.3), other = regular(n, 1.9);
    for (const double alpha : {0.8, 1 - 1e-9, 1.0, 1 + 1e-8, 4. / 3, 2.0, 5.0, 1e6, kInf}) {
      SCOPED_TRACE(::testing::Message() << "n=" << n << " alpha=" << alpha);
      const MultivariateQuadraticScore f(VectorXd::Ones(n), scale);
      const Tsallis omega(alpha, 0.3);
      const auto at = fenchel_young(omega, f, predict(omega, f, Euclidean(n)));
      EXPECT_EQ(at.value, 0);
      EXPECT_EQ(at.gradient.mu.norm(), 0);
      EXPECT_EQ(at.gradient.Sigma.norm(), 0);
      EXPECT_EQ(at.gradient.alpha, 0);
      const auto loss = [&](double h) {
        return fenchel_young(omega, f, MultivariateBetaGaussian(alpha, f.mu(), 0.3 * (scale + h * other)))
            .value;
      };
      EXPECT_GT(loss(1), 0);
      // Second order all the way down to the prediction.
      EXPECT_NEAR(loss(1e-6) / loss(1e-5), 0.01, 1e-6);
      EXPECT_NEAR(loss(1e-9) / loss(1e-8), 0.01, 1e-7);
      EXPECT_GT(loss(1e-12), 0);
    }
  }
}

using LossOf =
    std::function<Loss<MultivariateQuadraticGradient>(const Tsallis&, const MultivariateQuadraticScore&)>;

void expect_gradient_is_the_slope(const LossOf& loss, double alpha, index_t n) {
  constexpr double kStep = 1e-4;
  const VectorXd mu = VectorXd::LinSpaced(n, -0.3, 0.8), along = VectorXd::LinSpaced(n, 1.0, -0.5);
  const MatrixXd scale = regular(n, 0.3), change = regular(n, 2.2) - regular(n, 5.1);
  const auto slope = [&](double da, double dm, double ds) {
    const auto at = [&](double h) {
      return loss(Tsallis(alpha + h * da, 0.7), {mu + h * dm * along, scale + h * ds * change}).value;
    };
    return (8 * (at(kStep) - at(-kStep)) - (at(2 * kStep) - at(-2 * kStep))) / (12 * kStep);
  };
  const auto g = loss(Tsallis(alpha, 0.7), {mu, scale}).gradient;
  SCOPED_TRACE(::testing::Message() << "n=" << n << " alpha=" << alpha);
  EXPECT_NEAR(g.mu.dot(along), slope(0, 1, 0), 1e-9);
  EXPECT_NEAR(g.Sigma.cwiseProduct(change).sum(), slope(0, 0, 1), 1e-9);
  EXPECT_LE((g.Sigma - g.Sigma.transpose()).norm(), 1e-14 * g.Sigma.norm());
  EXPECT_NEAR(g.alpha, slope(1, 0, 0), 2e-8 * (1 + std::abs(g.alpha)));
  // The same change of Sigma by its Cholesky factor.
  const auto factor = [&](double h) -> MatrixXd { return (scale + h * change).llt().matrixL(); };
  const MatrixXd factor_slope = (factor(kStep) - factor(-kStep)) / (2 * kStep);
  EXPECT_NEAR(cholesky_gradient(g.Sigma, factor(0)).cwiseProduct(factor_slope).sum(), slope(0, 0, 1),
              1e-6 * (1 + g.Sigma.norm()));
}

TEST(LossMultivariateQuadratic, GradientsAreTheSlopes) {
  for (const index_t n : {1, 2, 4}) {
    const VectorXd at = VectorXd::LinSpaced(n, 0.4, 1.0);
    const MatrixXd sample = (MatrixXd(n, 3) << at, -at, 0.3 * at).finished();
    for (const double alpha : {0.8, 1.0, 1 + 1e-8, 1.5, 2.0, 5.0}) {
      const auto expect = [&](const auto& q) {
        expect_gradient_is_the_slope(
            [&](const Tsallis& omega, const MultivariateQuadraticScore& f) {
              return cross_omega(omega, f, q);
            },
            alpha, n);
      };
      expect(MultivariateDirac{at});
      expect(MultivariateEmpirical(sample));
      expect(MultivariateBetaGaussian(1.7, at, regular(n, 0.9)));
      for (const double target : {alpha, 1.25}) {
        const MultivariateBetaGaussian q(target, at, regular(n, 0.9));
        expect_gradient_is_the_slope(
            [&](const Tsallis& omega, const MultivariateQuadraticScore& f) {
              return fenchel_young(omega, f, q);
            },
            alpha, n);
      }
    }
  }
}

TEST(LossMultivariateQuadratic, AtOneItIsKullbackLeibler) {
  const double trace = (kSf.inverse() * kS).trace(), square = (kMu - kMuf).dot(kSf.inverse() * (kMu - kMuf));
  const double kl = (trace + square - 2 + std::log(kSf.determinant() / kS.determinant())) / 2;
  const MultivariateBetaGaussian q(1, kMu, kS);
  const MultivariateQuadraticScore f(kMuf, kSf);
  EXPECT_NEAR(fenchel_young(Shannon(), f, q).value, kl, 1e-14);
  const double surprise = std::log(std::pow(2 * std::numbers::pi, 2) * kSf.determinant()) / 2;
  EXPECT_NEAR(cross_omega(Shannon(), f, q).value, surprise + (trace + square) / 2, 1e-14);
}

TEST(LossMultivariateQuadratic, E11HessianIsTheSecondDifferenceOfTheLoss) {
  constexpr double kStep = 2e-4;
  for (const index_t n : {1, 2, 3}) {
    for (const double alpha : {0.8, 1.0, 1.5, 2.0, 5.0}) {
      SCOPED_TRACE(::testing::Message() << "n=" << n << " alpha=" << alpha);
      const Tsallis omega(alpha, 0.5);
      const VectorXd mu = VectorXd::LinSpaced(n, -0.3, 0.8);
      const MultivariateQuadraticScore f(mu, regular(n, 0.3));
      const MultivariateBetaGaussian q(alpha, mu.reverse(), regular(n, 1.1));
      const MatrixXd h = fenchel_young_hessian(omega, f, Euclidean(n));
      EXPECT_LE((h - h.transpose()).norm(), 1e-14 * h.norm());
      EXPECT_GE(Eigen::SelfAdjointEigenSolver<MatrixXd>(h).eigenvalues().minCoeff(), -1e-13 * h.norm());
      const auto theta = canonical_parameters(MultivariateBetaGaussian(alpha, f.mu(), f.Sigma()));
      const VectorXd linear = VectorXd::LinSpaced(n, 0.7, -0.2);
      const MatrixXd quadratic = 0.1 * (regular(n, 2.2) - regular(n, 5.1));
      const auto score_at = [&](double t) {
        return score(MultivariateBetaGaussian::from_canonical(
            alpha, {theta.linear + t * linear, theta.quadratic + t * quadratic}));
      };
      const auto at = [&](double t) { return fenchel_young(omega, score_at(t), q).value; };
      VectorXd direction(n + n * n);
      direction << linear, quadratic.reshaped();
      const double second = (at(kStep) - 2 * at(0) + at(-kStep)) / (kStep * kStep);
      EXPECT_NEAR(direction.dot(h * direction), second, 1e-5 * second);
      // The gradient of the normaliser is a mean, that of the loss a difference of means.
      const auto mean_phi = normalizer_gradient(omega, f, Euclidean(n));
      const auto a = [&](double t) {
        const MultivariateQuadraticScore g = score_at(t);
        return normalizer(omega, g, Euclidean(n)) + g.mahalanobis2(VectorXd::Zero(n)) / 2;
      };
      EXPECT_NEAR(mean_phi.linear.dot(linear) + mean_phi.quadratic.cwiseProduct(quadratic).sum(),
                  (a(kStep) - a(-kStep)) / (2 * kStep), 1e-6);
    }
  }
}

TEST(LossMultivariateQuadratic, MinimiserMatchesTheMoments) {
  const MatrixXd sample{{0.1, 2.0, -0.4, 0.9}, {1.1, 0.2, 0.3, -0.7}};
  const MultivariateEmpirical q(sample);
  for (const double alpha : {0.8, 1.0, 1.5, 2.0, 5.0}) {
    const auto p = MultivariateBetaGaussian::from_covariance(alpha, mean(q), covariance(q));
    const auto g = cross_omega(Tsallis(alpha), score(p), q).gradient;
    EXPECT_NEAR(g.mu.norm(), 0, 1e-14);
    EXPECT_NEAR((g.Sigma * p.Sigma()).norm(), 0, 1e-12);
  }
}

TEST(LossMultivariateQuadratic, TemperatureScalesTheScore) {
  const double t = 0.3;
  const MultivariateBetaGaussian q(1.5, kMu, kS);
  const MultivariateQuadraticScore f(kMuf, kSf), divided(kMuf, t * kSf);
  EXPECT_DOUBLE_EQ(fenchel_young(Tsallis(1.5, t), f, q).value,
                   t * fenchel_young(Tsallis(1.5), divided, q).value);
  EXPECT_DOUBLE_EQ(conjugate(Tsallis(1.5, t), f, Euclidean(2)),
                   t * conjugate(Tsallis(1.5), divided, Euclidean(2)));
}

TEST(LossMultivariateQuadratic, InfiniteAlphaMeasuresTheUnitVolume) {
  const Tsallis omega(kInf);
  const MultivariateQuadraticScore f(VectorXd::Zero(2), MatrixXd::Identity(2, 2));
  const auto disc = [](double radius2) {
    return MultivariateBetaGaussian::uniform({VectorXd::Zero(2), MatrixXd::Identity(2, 2), radius2});
  };
  EXPECT_EQ(fenchel_young(omega, f, disc(0.9 / std::numbers::pi)).value, kInf);
  // E|t|^2 / 2 of a disc is radius^2 / 4.
  EXPECT_NEAR(fenchel_young(omega, f, disc(2 / std::numbers::pi)).value, 0.25 / std::numbers::pi, 1e-15);
}

TEST(LossMultivariateQuadratic, IsInfiniteForATargetWithoutCovariance) {
  const MultivariateBetaGaussian q(0.4, kMu, kSf);
  EXPECT_EQ(fenchel_young(Tsallis(1.5), MultivariateQuadraticScore(kMuf, kS), q).value, kInf);
  EXPECT_EQ(cross_omega(Tsallis(1.5), MultivariateQuadraticScore(kMuf, kS), q).value, kInf);
}

TEST(LossMultivariateQuadratic, BadInputIsNamed) {
  const MultivariateQuadraticScore f(kMuf, kSf), flat(kMuf, MatrixXd{{1, 0}, {0, 0}});
  const MultivariateDirac q{kMu}, longer{VectorXd::Zero(3)};
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)cross_omega(Tsallis(0.5), f, q); }),
            "fenchel::predict: alpha must be greater than 2/4 for a score of rank 2, got 0.5");
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)cross_omega(Tsallis(2), flat, q); }),
            "fenchel::fenchel_young: f.rank() must be its dimension 2, got 1");
  EXPECT_EQ(message_of<std::domain_error>(
                [&] { (void)fenchel_young(Tsallis(2), f, MultivariateBetaGaussian(2, kMu, flat.Sigma())); }),
            "fenchel::fenchel_young: q.rank() must be its dimension 2, got 1");
  EXPECT_EQ(
      message_of<std::invalid_argument>([&] { (void)cross_omega(Tsallis(2), f, Euclidean(2), longer); }),
      "fenchel::fenchel_young: the dimension of q must be f.dimension() = 2, got 3");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { MultivariateEmpirical(MatrixXd(2, 0)); }),
            "fenchel::multivariate_empirical: columns must not be empty, got 0");
}

}  // namespace
}  // namespace fenchel
