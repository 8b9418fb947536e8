#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/line/beta_laplace.hpp"
#include "fenchel/distribution/line/capped_parabola.hpp"
#include "fenchel/distribution/line/capped_triangular.hpp"
#include "fenchel/distribution/line/location_scale.hpp"
#include "fenchel/distribution/line/smooth_parabola.hpp"
#include "fenchel/distribution/line/smooth_triangular.hpp"
#include "fenchel/distribution/line/truncated_gaussian.hpp"
#include "fenchel/distribution/mixture.hpp"
#include "support/grids.hpp"
#include "unit/distribution/location_scale_examples.hpp"

/// The support is where density, distribution function and quantiles agree that it is.
namespace fenchel {
namespace {

using testing::kInf;

template <class P>
void expect_one_support(const P& p) {
  const auto parts = detail::pieces(support(p));
  const double lower = parts.front().lower(), upper = parts.back().upper();
  for (const double u : {0., 5e-324, 1e-300, 1e-17, 1e-3, 0.5, 0.9, 1 - 1e-16, 1.}) {
    for (const double t : {quantile(p, u), survival_quantile(p, u)}) {
      EXPECT_GE(t, lower) << u;
      EXPECT_LE(t, upper) << u;
    }
  }
  EXPECT_EQ(quantile(p, 0), lower);
  EXPECT_EQ(quantile(p, 1), upper);
  EXPECT_EQ(survival_quantile(p, 0), upper);
  EXPECT_EQ(survival_quantile(p, 1), lower);
  const double below = std::nextafter(lower, -kInf), above = std::nextafter(upper, kInf);
  if (std::isinf(lower)) return;
  for (const double t : {below, above}) {
    EXPECT_EQ(pdf(p, t), 0);
    EXPECT_EQ(log_pdf(p, t), -kInf);
  }
  EXPECT_EQ(cdf(p, below), 0);
  EXPECT_EQ(log_cdf(p, below), -kInf);
  EXPECT_EQ(survival(p, below), 1);
  EXPECT_EQ(cdf(p, above), 1);
  EXPECT_EQ(survival(p, above), 0);
  EXPECT_EQ(log_survival(p, above), -kInf);
}

TEST(Support, IsTheSameForDensityDistributionFunctionAndQuantiles) {
  std::mt19937 rng(7);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> shape(0, 3);
  for (int k = 0; k < 300; ++k) {
    SCOPED_TRACE(k);
    const double mu = 10 * normal(rng), scale = std::exp(3 * normal(rng)), more = std::exp(2 * shape(rng));
    expect_one_support(BetaGaussian(0.4 + more, mu, scale));
    expect_one_support(BetaGaussian(1 + more, mu, scale));
    expect_one_support(BetaLaplace(0.6 + shape(rng), mu, scale));
    expect_one_support(BetaLaplace(1 + more, mu, scale));
    expect_one_support(TruncatedGaussian(1 + more, mu, scale));
    expect_one_support(CappedTriangular(more, mu, scale));
    expect_one_support(CappedParabola(more, mu, scale));
    expect_one_support(SmoothTriangular(more, mu, scale));
    expect_one_support(SmoothParabola(more, mu, scale));
    expect_one_support(LocationScale(testing::location_scale_example(k % 2, mu, scale)));
    expect_one_support(Mixture<BetaGaussian>(
        {0.25, 0.75}, {BetaGaussian(1 + more, mu, scale), BetaGaussian(2, mu + 5 * scale, 0.1 * scale)}));
    expect_one_support(escort(TruncatedGaussian(1 + more, mu, scale), 2));
  }
  for (const double alpha : {1., 2., kInf}) {
    expect_one_support(BetaGaussian(alpha, 0.1, 0.7));
    expect_one_support(BetaLaplace(alpha, 0.1, 0.7));
  }
}

TEST(Support, OfAUniformDistributionIsWhatItWasMadeOf) {
  std::mt19937 rng(8);
  std::normal_distribution<double> normal;
  for (int k = 0; k < 2000; ++k) {
    SCOPED_TRACE(k);
    const double lower = normal(rng) * std::exp(5 * normal(rng)),
                 upper = lower + std::exp(2 * normal(rng)) * (1 + std::abs(lower));
    const BetaGaussian p = BetaGaussian::uniform(lower, upper);
    EXPECT_EQ(support(p), Interval(lower, upper));
    expect_one_support(p);
    for (const double t : {lower, upper, std::nextafter(lower, upper)})
      EXPECT_EQ(pdf(p, t), pdf(p, mean(p))) << t;
    EXPECT_EQ(cdf(p, lower), 0);
    EXPECT_EQ(survival(p, upper), 0);
  }
}

}  // namespace
}  // namespace fenchel
