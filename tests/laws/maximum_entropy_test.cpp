// [SCD22, Appendix A; docs/math.md 5.10]: a prediction has the largest Tsallis entropy of its order among all
// laws with its moments, and what another law lacks is its Fenchel-Young loss.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <vector>

#include "fenchel/core/quadrature.hpp"
#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/line/beta_laplace.hpp"
#include "fenchel/distribution/line/truncated_gaussian.hpp"
#include "fenchel/distribution/mixture.hpp"
#include "fenchel/distribution/sparse_categorical.hpp"
#include "fenchel/loss/finite.hpp"
#include "fenchel/loss/multivariate_quadratic.hpp"
#include "fenchel/loss/quadratic.hpp"
#include "fenchel/predict/finite.hpp"

namespace fenchel {
namespace {

const double kAlphas[] = {0.8, 1, std::nextafter(1.0, 2.0), 1 + 1e-8, 4. / 3, 1.5, 2, 5, 1e6};

/// Entropy of order alpha that q lacks, which is its loss.
template <class Q>
void expect_less_entropy(double alpha, const BetaGaussian& p, const Q& q) {
  const double lacking = tsallis_entropy(p, alpha) - tsallis_entropy(q, alpha);
  EXPECT_GT(lacking, 1e-6);
  EXPECT_NEAR(lacking, fenchel_young(Tsallis(alpha), score(p), q).value, 1e-9 * (1 + std::abs(lacking)));
}

TEST(MaximumEntropy, OnTheLineAmongLawsWithTheSameMeanAndVariance) {
  constexpr double kMu = 0.7, kVariance = 0.5;
  for (const double alpha : kAlphas) {
    if (alpha > 1000) continue;  // no sigma2 in range has this variance
    SCOPED_TRACE(alpha);
    const auto p = BetaGaussian::from_variance(alpha, kMu, kVariance);
    for (const double other : {0.9, 1.2, 3.0}) {
      SCOPED_TRACE(other);
      expect_less_entropy(alpha, p, BetaGaussian::from_variance(other, kMu, kVariance));
    }
    expect_less_entropy(alpha, p, BetaLaplace::triangular(kMu, 6 * kVariance));
    // Two bumps, of which each has the rest of the variance.
    const double apart = std::sqrt(kVariance / 2);
    const Mixture two({0.5, 0.5}, std::vector{BetaGaussian::from_variance(2, kMu - apart, kVariance / 2),
                                              BetaGaussian::from_variance(2, kMu + apart, kVariance / 2)});
    expect_less_entropy(alpha, p, two);
  }
}

TEST(MaximumEntropy, InThePlaneAmongLawsWithTheSameCovariance) {
  const Eigen::Vector2d mu(0.1, -0.2);
  const Eigen::Matrix2d covariance{{0.6, 0.4}, {0.4, 0.48}};
  for (const double alpha : {0.8, 1.0, 4. / 3, 1.5, 2.0, 5.0}) {
    const auto p = MultivariateBetaGaussian::from_covariance(alpha, mu, covariance);
    for (const double other : {0.9, 1.2, 3.0}) {
      SCOPED_TRACE(::testing::Message() << alpha << " " << other);
      const auto q = MultivariateBetaGaussian::from_covariance(other, mu, covariance);
      const double lacking = tsallis_entropy(p, alpha) - tsallis_entropy(q, alpha);
      EXPECT_GT(lacking, 1e-6);
      EXPECT_NEAR(lacking, fenchel_young(Tsallis(alpha), score(p), q).value, 1e-10 * (1 + lacking));
    }
  }
}

/// Moves along which neither the mass nor the expected score changes.
TEST(MaximumEntropy, OnAFiniteSetAmongLawsWithTheSameExpectedScore) {
  const std::vector<double> f{0.4, 0.1, 0.3, 0.2};
  for (const double alpha : kAlphas) {
    SCOPED_TRACE(alpha);
    const Tsallis omega(alpha);
    const auto p = predict(omega, VectorScore(f), Finite());
    for (const double step : {-0.05, -1e-3, 1e-3, 0.05}) {
      const std::vector<double> q{pmf(p, 0) + step, pmf(p, 1) + step, pmf(p, 2) - step, pmf(p, 3) - step};
      if (*std::min_element(q.begin(), q.end()) < 0) continue;
      const SparseCategorical other(q);
      const double lacking = tsallis_entropy(p, alpha) - tsallis_entropy(other, alpha);
      EXPECT_GT(lacking, 0) << step;
      EXPECT_NEAR(lacking, fenchel_young(omega, VectorScore(f), other).value, 1e-13) << step;
    }
  }
}

/// Tsallis' own principle: with escort moments of order a the maximum is proportional to exp_a(-theta t^2),
/// which is the beta-Gaussian of alpha = 2 - a. Its entropy of order a is larger than that of others with the
/// same escort variance.
TEST(MaximumEntropy, WithEscortMomentsTheMaximumIsThePredictionOfTwoMinusTheOrder) {
  for (const double order : {0.6, 0.8, 1.2, 1.4}) {
    SCOPED_TRACE(order);
    const auto escort_variance = [order](const BetaGaussian& p) { return variance(escort(p, order)); };
    const auto with_unit = [&](double alpha) {  // scales as the variance does
      const auto p = BetaGaussian::from_variance(alpha, 0, 1);
      return BetaGaussian::from_variance(alpha, 0, 1 / escort_variance(p));
    };
    const BetaGaussian best = with_unit(2 - order);
    EXPECT_NEAR(escort_variance(best), 1, 1e-12);
    for (const double alpha : {0.95, 1.0, 1.3, 1.7, 2.5}) {
      if (std::abs(alpha - (2 - order)) < 0.01) continue;
      EXPECT_GT(tsallis_entropy(best, order), tsallis_entropy(with_unit(alpha), order) + 1e-9) << alpha;
    }
  }
}

}  // namespace
}  // namespace fenchel
