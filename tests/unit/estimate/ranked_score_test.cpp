#include "fenchel/estimate/goodness/ranked_score.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "fenchel/core/infinity.hpp"
#include "fenchel/core/quadrature.hpp"
#include "fenchel/distribution/integers/sparse_integer_gaussian.hpp"
#include "fenchel/distribution/integers/sparse_poisson.hpp"
#include "fenchel/distribution/line/capped_parabola.hpp"
#include "fenchel/distribution/line/capped_triangular.hpp"
#include "fenchel/distribution/line/location_scale.hpp"
#include "fenchel/distribution/line/smooth_parabola.hpp"
#include "fenchel/distribution/line/smooth_triangular.hpp"

namespace fenchel {
namespace {

constexpr double kInf = kInfinity;

/// int F^2 up to y and int (1 - F)^2 beyond it, by quadrature, the kinks of a symmetric density cut out.
template <class P>
double by_quadrature(const P& p, double y) {
  const Interval range = support(p);
  const double scale = std::isinf(range.upper()) ? survival_quantile(p, 0.25) - p.mu() : 1;
  std::vector<double> cuts{range.lower(), p.mu(), y, range.upper()};
  if constexpr (requires { p.plateau(); }) {
    cuts.push_back(p.mu() - p.plateau());
    cuts.push_back(p.mu() + p.plateau());
  }
  cuts.front() = std::min(range.lower(), y);
  cuts.push_back(std::max(range.upper(), y));
  std::sort(cuts.begin(), cuts.end());
  double sum = 0;
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    if (!(cuts[i] > cuts[i - 1])) continue;
    const bool after = cuts[i - 1] >= y;
    const auto square = [&](double x) {
      const double t = p.mu() + scale * x, part = after ? survival(p, t) : cdf(p, t);
      return scale * part * part;
    };
    sum += integrate(square, (cuts[i - 1] - p.mu()) / scale, (cuts[i] - p.mu()) / scale).value;
  }
  return sum;
}

template <class P>
void expect_integral(const P& p, double tolerance, const char* what) {
  const RankedScore score = ranked_score(p);
  const double unit = survival_quantile(p, 0.25) - p.mu();
  for (const double x : {0.0, 0.3, 0.9, 1.7, 2.5, 40.0}) {
    for (const double side : {-1.0, 1.0}) {
      const double y = p.mu() + side * x * unit;
      EXPECT_NEAR(score(y) / by_quadrature(p, y), 1, tolerance) << what << " at " << x;
    }
  }
}

TEST(RankedScore, OfBetaGaussiansIsTheIntegral) {
  for (const double alpha : {0.2, 0.5, 0.9, 1 - 1e-9, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 1.2, 4.0 / 3,
                             1.5, 2.0, 3.0, 5.0, 100.0}) {
    const double tolerance = alpha < 0.4 ? 1e-9 : 1e-11;
    expect_integral(BetaGaussian(alpha, 0.7, 1.9), tolerance, "beta-Gaussian");
  }
  expect_integral(BetaGaussian::from_variance(1e6, 0.7, 1.0 / 12), 1e-9, "beta-Gaussian 1e6");
  expect_integral(BetaGaussian::uniform(-1, 3), 1e-12, "uniform");
}

// docs/math.md 5.8; SciPy: norm's closed form y (2 Phi - 1) + 2 phi - 1 / sqrt(pi) at y = 0.3; Student's with
// 5 degrees of freedom at 0.3 by quad of (t.cdf - step)^2.
TEST(RankedScore, HasItsGoldenValues) {
  EXPECT_NEAR(ranked_score(BetaGaussian(2))(0.3), 0.19320443138491428, 1e-15);
  const double phi = std::exp(-0.045) / std::sqrt(2 * std::numbers::pi), y = 0.3;
  EXPECT_NEAR(ranked_score(BetaGaussian(1))(y),
              y * std::erf(y / std::numbers::sqrt2) + 2 * phi - 1 / std::sqrt(std::numbers::pi), 1e-15);
  EXPECT_NEAR(ranked_score(BetaGaussian::uniform(0, 1)).half_difference(), 1.0 / 6, 1e-16);
  EXPECT_NEAR(ranked_score(BetaLaplace::laplace()).half_difference(), 0.75, 1e-15);
}

TEST(RankedScore, OfBetaLaplacesIsTheIntegral) {
  for (const double alpha : {0.7, 0.9, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 1.5, 2.0, 5.0, 1e6})
    expect_integral(BetaLaplace(alpha, -2, 0.8), alpha < 1 || alpha > 1e3 ? 1e-8 : 1e-11, "beta-Laplace");
  expect_integral(BetaLaplace(kInf, -2, 0.8), 1e-11, "beta-Laplace at infinity");
}

TEST(RankedScore, OfOtherDensitiesIsTheIntegral) {
  for (const double kappa : {1 + 1e-5, 1.5, 2.0, 50.0, 1e8})
    expect_integral(TruncatedGaussian(kappa, 1, 2), 1e-10, "truncated Gaussian");
  for (const double gamma : {0.0, 0.5, 4.0}) {
    expect_integral(CappedParabola(gamma, 1, 2), 1e-10, "capped parabola");
    expect_integral(CappedTriangular(gamma, 1, 2), 1e-10, "capped triangular");
    expect_integral(SmoothParabola(gamma, 1, 2), 1e-10, "smooth parabola");
    expect_integral(SmoothTriangular(gamma, 1, 2), 1e-10, "smooth triangular");
  }
}

TEST(RankedScore, FromATableIsThatOfClosedForm) {
  for (const double alpha : {0.6, 1.0, 1.5, 2.0}) {
    const BetaGaussian p(alpha, 3, 2);
    const RankedScore expected = ranked_score(p);
    const Interval body{quantile(p, alpha > 1 ? 0 : 1e-6), survival_quantile(p, alpha > 1 ? 0 : 1e-6)};
    const RankedScore found = detail::tabulated_ranked_score(
        {[p](double y) { return cdf(p, y); }, [p](double y) { return survival(p, y); }, support(p), body, 3});
    const double unit = survival_quantile(p, 0.25) - 3;
    EXPECT_NEAR(found.half_difference(), expected.half_difference(), 2e-6 * (alpha < 1) + 1e-8) << alpha;
    for (const double x : {-50.0, -1.3, 0.0, 0.2, 1.0, 4.0, 300.0})
      EXPECT_NEAR(found(3 + x * unit), expected(3 + x * unit), 2e-6 * (alpha < 1) + 1e-8)
          << alpha << " " << x;
  }
  const auto cube = [](double u) { return u * u * u / 6; };
  const LocationScale parabola(LocationScaleScore(
      cube, [](double u) { return u * u / 2; }, 1, std::sqrt(2.0)));
  // g = u^3 / 6 at sigma is the truncated parabola with sigma2 = sigma^3.
  const RankedScore expected = ranked_score(BetaGaussian(2, 1, std::pow(2.0, 1.5)));
  for (const double y : {-5.0, 0.2, 1.0, 1.7, 9.0}) EXPECT_NEAR(ranked_score(parabola)(y), expected(y), 1e-8);
}

/// sum_k (F(k) - [y <= k])^2.
template <class P>
double by_sum(const P& p, index_t y, index_t from, index_t to) {
  double sum = 0;
  for (index_t k = from; k < to; ++k) {
    const double part = k >= y ? survival(p, k) : cdf(p, k);
    sum += part * part;
  }
  return sum;
}

TEST(RankedScore, OfCountsIsTheSum) {
  for (const double alpha : {0.8, 1.0, 1 + 1e-8, 1.5, 2.0, 5.0}) {
    const SparsePoisson p(alpha, 6.3);
    const SparseIntegerGaussian q(alpha, 0.4, 30);
    const index_t far = alpha < 1 ? 4000 : 300;
    const double tolerance = alpha < 1 ? 1e-8 : 1e-12;
    for (const index_t y : {0, 6, 40}) {
      EXPECT_NEAR(ranked_score(p)(static_cast<double>(y)), by_sum(p, y, 0, far), tolerance) << alpha;
      EXPECT_NEAR(ranked_score(q)(static_cast<double>(y)), by_sum(q, y, -far, far), tolerance) << alpha;
    }
    EXPECT_NEAR(ranked_score(p)(-7), by_sum(p, -7, -7, far), tolerance);
  }
}

/// E|X - y| - E|X - X'| / 2 by draws, as properscoring's crps_ensemble.
TEST(RankedScore, IsThatOfAnEnsemble) {
  const BetaGaussian p(1.5, 2, 3);
  const std::vector<double> draws = sample(p, 200'000, 3);
  double near = 0, apart = 0;
  for (std::size_t i = 0; i < draws.size(); ++i) {
    near += std::abs(draws[i] - 2.4);
    apart += std::abs(draws[i] - draws[(i + 77'777) % draws.size()]);
  }
  const double n = static_cast<double>(draws.size());
  EXPECT_NEAR(ranked_score(p)(2.4), near / n - apart / (2 * n), 5 * standard_deviation(p) / std::sqrt(n));
}

}  // namespace
}  // namespace fenchel
