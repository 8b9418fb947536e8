#include "fenchel/attention/composition.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fenchel/attention/function_basis.hpp"
#include "fenchel/attention/gaussian_basis.hpp"
#include "fenchel/attention/match_weights.hpp"
#include "fenchel/attention/multivariate_gaussian_basis.hpp"
#include "fenchel/core/quadrature.hpp"
#include "fenchel/predict/finite.hpp"
#include "support/differences.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"
#include "support/normal_matrix.hpp"

namespace fenchel {
namespace {

using testing::message_of;
using testing::normal_matrix;
using testing::slope_of;

constexpr AttentionKind kKinds[] = {AttentionKind::discrete, AttentionKind::continuous, AttentionKind::both};

RidgeRegression<GaussianBasis> sequence(index_t length, double lambda) {
  return {GaussianBasis::linearly_spaced(20, 0, 1, {.1, .5}), positions(length), lambda};
}

Eigen::VectorXd predicted(const Tsallis& omega, const Eigen::VectorXd& scores) {
  const SparseCategorical p = predict(omega, VectorScore({scores.begin(), scores.end()}), Finite());
  return Eigen::VectorXd::NullaryExpr(scores.size(), [&](index_t i) { return pmf(p, i); });
}

template <class Psi>
concept Composable = requires(const RidgeRegression<Psi>& ridge) {
  compose({}, ridge, Eigen::VectorXd(), Eigen::MatrixXd());
};
static_assert(Composable<GaussianBasis> && Composable<MultivariateGaussianBasis>);
static_assert(!Composable<FunctionBasis>);

TEST(Composition, IsWhatItsPartsGive) {
  const index_t length = 15;
  const auto ridge = sequence(length, .1);
  const Eigen::MatrixXd h = normal_matrix(3, length, 1);
  Eigen::VectorXd scores = 2 * normal_matrix(length, 1, 2);
  scores[4] = -testing::kInf;
  const auto v = ridge.fit(h);
  for (const double alpha : {1.0, 4.0 / 3, 1.5, 1.7, 2.0}) {
    const Tsallis omega(1.2, .8);
    const Eigen::VectorXd w = predicted(omega, scores);
    const BetaGaussian p = match_weights(alpha, w);
    const double reach = alpha > 1 ? p.half_width() : 40 * std::sqrt(p.sigma2());
    Eigen::VectorXd continuous(3);
    for (index_t m = 0; m < 3; ++m) {
      continuous[m] =
          integrate([&](double t) { return pdf(p, t) * value(v, t)[m]; }, p.mu() - reach, p.mu() + reach)
              .value;
    }
    const auto found = [&](AttentionKind kind) { return compose({kind, omega, alpha}, ridge, scores, h); };
    EXPECT_LE((found(AttentionKind::discrete) - h * w).norm(), 1e-14);
    EXPECT_LE((found(AttentionKind::continuous) - continuous).norm(), 1e-9) << alpha;
    EXPECT_LE((found(AttentionKind::both) - h * w - continuous).norm(), 1e-9) << alpha;
  }
}

/// The scores over such temperatures are beyond the largest number.
TEST(Composition, NearTemperatureZeroTheBestPositionIsSeen) {
  const index_t length = 9;
  const auto ridge = sequence(length, .1);
  const Eigen::MatrixXd h = normal_matrix(3, length, 1);
  const Eigen::VectorXd scores = normal_matrix(length, 1, 2);
  index_t best = 0;
  scores.maxCoeff(&best);
  for (const double temperature : {5e-324, 1e-310}) {
    for (const double weights_alpha : testing::kAlphas) {
      SCOPED_TRACE(::testing::Message() << weights_alpha << " " << temperature);
      const Composition discrete{AttentionKind::discrete, Tsallis(weights_alpha, temperature)};
      EXPECT_LE((compose(discrete, ridge, scores, h) - h.col(best)).norm(), 1e-14);
      EXPECT_TRUE(compose_vjp(discrete, ridge, scores, h, Eigen::VectorXd::Ones(3)).scores.allFinite());
    }
  }
}

/// The scale of the density is 1e-250: its slope, times a context of 1e60, is beyond the largest number.
TEST(Composition, GradientsAreLinearInObservationsOfAnySize) {
  const index_t length = 9;
  const auto ridge = sequence(length, .1);
  const Eigen::MatrixXd h = normal_matrix(3, length, 1);
  const Eigen::VectorXd scores = .3 * normal_matrix(length, 1, 2), w = normal_matrix(3, 1, 7);
  for (const double alpha : {2.0, 500.0, 3000.0}) {
    const Composition both{AttentionKind::both, Tsallis(2), alpha};
    const auto of = [&](double size) { return compose_vjp(both, ridge, scores, size * h, w); };
    const CompositionGradient one = of(1), many = of(0x1p200);
    EXPECT_GT(one.scores.norm(), 0) << alpha;
    EXPECT_EQ(many.scores, 0x1p200 * one.scores) << alpha;
    EXPECT_EQ(many.alpha, 0x1p200 * one.alpha) << alpha;
    EXPECT_EQ(many.weights_alpha, 0x1p200 * one.weights_alpha) << alpha;
    EXPECT_EQ(many.ridge, 0x1p200 * one.ridge) << alpha;
  }
}

TEST(Composition, GradientsMatchDifferences) {
  const index_t length = 9;
  const Eigen::MatrixXd h = normal_matrix(2, length, 3), h_step = normal_matrix(2, length, 4);
  const Eigen::VectorXd scores = normal_matrix(length, 1, 5), step = normal_matrix(length, 1, 6),
                        w = normal_matrix(2, 1, 7);
  for (const AttentionKind kind : kKinds) {
    for (const double weights_alpha : {1.0, 1.5}) {
      for (const double alpha : {1.0, 1.5, 1.7, 2.0}) {
        const auto loss = [&](double x, double y, double a, double b, double lambda) {
          return compose({kind, Tsallis(a, .7), b}, sequence(length, lambda), scores + x * step,
                         h + y * h_step)
              .dot(w);
        };
        const CompositionGradient found =
            compose_vjp({kind, Tsallis(weights_alpha, .7), alpha}, sequence(length, .1), scores, h, w);
        const double tolerance = 1e-8;
        EXPECT_NEAR(found.scores.dot(step),
                    slope_of([&](double x) { return loss(x, 0, weights_alpha, alpha, .1); }, 0, 1e-3),
                    tolerance);
        EXPECT_NEAR(found.observations.cwiseProduct(h_step).sum(),
                    slope_of([&](double x) { return loss(0, x, weights_alpha, alpha, .1); }, 0, 1e-2),
                    tolerance);
        EXPECT_NEAR(found.weights_alpha,
                    slope_of([&](double x) { return loss(0, 0, x, alpha, .1); }, weights_alpha, 1e-4),
                    tolerance);
        EXPECT_NEAR(found.alpha,
                    slope_of([&](double x) { return loss(0, 0, weights_alpha, x, .1); }, alpha, 1e-3),
                    tolerance);
        EXPECT_NEAR(found.ridge,
                    slope_of([&](double x) { return loss(0, 0, weights_alpha, alpha, x); }, .1, 1e-4),
                    tolerance);
      }
    }
  }
}

/// At alpha = 1, E_p[psi_j] = N(mu; mean_j, Sigma + covariance_j).
TEST(Composition, OfImagesIsWhatItsPartsGive) {
  const RidgeCache<MultivariateGaussianBasis> cache(
      MultivariateGaussianBasis::unit_square(4, 5, .02 * Eigen::Matrix2d::Identity()), .1);
  const auto& ridge = cache.at(6, 5);
  const Eigen::MatrixXd h = normal_matrix(2, 30, 10);
  const Eigen::VectorXd scores = normal_matrix(30, 1, 11), w = predicted(Tsallis(1), scores);
  const MultivariateBetaGaussian p = match_weights(1, w, ridge.positions());
  Eigen::VectorXd r(20);
  for (index_t j = 0; j < 20; ++j) {
    r[j] = pdf(MultivariateBetaGaussian(1, ridge.basis().mu(j), p.Sigma() + ridge.basis().Sigma(j)), p.mu());
  }
  const Eigen::VectorXd expected = ridge.fit(h).coefficients * r;
  EXPECT_LE((compose({AttentionKind::continuous, Tsallis(1), 1}, ridge, scores, h) - expected).norm(), 1e-12);
  EXPECT_LE((compose({AttentionKind::both, Tsallis(1), 1}, ridge, scores, h) - expected - h * w).norm(),
            1e-12);
}

TEST(Composition, OfImagesHasGradientsThatMatchDifferences) {
  const RidgeCache<MultivariateGaussianBasis> cache(
      MultivariateGaussianBasis::unit_square(3, 3, .05 * Eigen::Matrix2d::Identity()), .1);
  const auto& ridge = cache.at(3, 4);
  const Eigen::MatrixXd h = normal_matrix(2, 12, 12);
  const Eigen::VectorXd scores = normal_matrix(12, 1, 13), step = normal_matrix(12, 1, 14),
                        w = normal_matrix(2, 1, 15);
  for (const double alpha : {1.0, 1.5, 2.0}) {
    const auto loss = [&](double x, double a) {
      return compose({AttentionKind::both, Tsallis(1.5), a}, ridge, scores + x * step, h).dot(w);
    };
    const auto found = compose_vjp({AttentionKind::both, Tsallis(1.5), alpha}, ridge, scores, h, w);
    EXPECT_NEAR(found.scores.dot(step), slope_of([&](double x) { return loss(x, alpha); }, 0, 1e-4), 1e-8)
        << alpha;
    EXPECT_NEAR(found.alpha, slope_of([&](double a) { return loss(0, a); }, alpha, 1e-3), 1e-8) << alpha;
  }
}

TEST(Composition, SaysWhatIsWrong) {
  const auto ridge = sequence(5, .1);
  const Eigen::MatrixXd h = normal_matrix(2, 5, 8);
  const Eigen::VectorXd scores = normal_matrix(5, 1, 9);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { (void)compose({}, ridge, normal_matrix(6, 1, 1), h); }),
            "fenchel::compose: scores.size() must equal the number of positions, 5, got 6");
  EXPECT_EQ(
      message_of<std::invalid_argument>([&] { (void)compose({}, ridge, scores, normal_matrix(2, 4, 1)); }),
      "fenchel::compose: observations.cols() must equal the number of positions, 5, got 4");
  EXPECT_EQ(message_of<std::invalid_argument>(
                [&] { (void)compose_vjp({}, ridge, scores, h, normal_matrix(3, 1, 1)); }),
            "fenchel::compose_vjp: cotangent.size() must equal observations.rows() = 2, got 3");
  EXPECT_EQ(message_of<std::domain_error>(
                [&] { (void)compose({}, ridge, Eigen::VectorXd::Constant(5, -testing::kInf), h); }),
            "fenchel::vector_score: the largest value must be finite, got -inf");
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)compose({.alpha = .2}, ridge, scores, h); }),
            "fenchel::match_weights: alpha must be finite and greater than 1/3, got 0.2");
}

}  // namespace
}  // namespace fenchel
