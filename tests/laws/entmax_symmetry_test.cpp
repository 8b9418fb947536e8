#include <algorithm>
#include <numeric>

#include "fenchel/predict/finite.hpp"
#include "laws/bounds.hpp"
#include "laws/grid.hpp"
#include "laws/rows.hpp"

/// What entmax keeps when its scores are moved, reordered, scaled or joined by others.
namespace fenchel::testing {
namespace {

template <class Real>
class EntmaxSymmetry : public ::testing::Test {};
TYPED_TEST_SUITE(EntmaxSymmetry, Reals);

/// Two computations of one row: each may be off by the bound.
template <class Real>
double distance_in_bounds(double alpha, const std::vector<Real>& p, const std::vector<Real>& q,
                          const std::vector<Real>& z) {
  const Real top = *std::max_element(z.begin(), z.end());
  double worst = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const Real larger = std::max(p[i], q[i]);
    const Extended d = larger > 0 ? Extended{z[i]} - top : 0.0L;
    const double bound = 2 * probability_bound<Real>(alpha, larger, d, d);
    worst = std::max(worst, std::fabs(static_cast<double>(p[i]) - static_cast<double>(q[i])) / bound);
  }
  return worst;
}

/// Scores on a grid of 2^-10, so that adding a shift is exact in float.
template <class Real>
std::vector<Real> dyadic(std::vector<Real> z) {
  for (Real& x : z) x = std::isinf(x) ? x : std::round(std::clamp<Real>(x, -100, 100) * 1024) / 1024;
  return z;
}

TYPED_TEST(EntmaxSymmetry, AShiftOfAllScoresChangesNothing) {
  using Real = TypeParam;
  for_each_case(4097, 20, [](const Case& c) {
    const auto z = dyadic(c.scores<Real>()), p = entmax_row(c.alpha, z);
    for (const Real shift : {Real(-4096), Real(0.125), Real(1000)}) {
      auto shifted = z;
      for (Real& x : shifted) x += shift;
      EXPECT_LE(distance_in_bounds(c.alpha, p, entmax_row(c.alpha, shifted), z), 1) << shift;
    }
  });
}

TYPED_TEST(EntmaxSymmetry, AReorderedRowHasReorderedProbabilities) {
  using Real = TypeParam;
  std::mt19937 random(12);
  for_each_case(4097, 20, [&](const Case& c) {
    const auto z = c.scores<Real>(), p = entmax_row(c.alpha, z);
    std::vector<std::size_t> order(c.n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    const auto reordered = [&](const std::vector<Real>& x) {
      std::vector<Real> y(c.n);
      for (std::size_t i = 0; i < c.n; ++i) y[i] = x[order[i]];
      return y;
    };
    const auto moved = reordered(z);
    EXPECT_LE(distance_in_bounds(c.alpha, reordered(p), entmax_row(c.alpha, moved), moved), 1);
  });
}

/// The sum of two numbers does not depend on their order: neither does a bit of the result.
TYPED_TEST(EntmaxSymmetry, TwoScoresSwapExactly) {
  using Real = TypeParam;
  for (const double alpha : kAlphas) {
    for (const double gap : {1e-30, 1e-7, 0.3, 0.999, 5.0}) {
      const auto p = entmax_row<Real>(alpha, {0, static_cast<Real>(gap)});
      EXPECT_EQ((std::vector<Real>{p[1], p[0]}), entmax_row<Real>(alpha, {static_cast<Real>(gap), 0}))
          << alpha;
    }
  }
}

/// What has no probability can leave, and what stays does not notice.
TYPED_TEST(EntmaxSymmetry, ScoresOffTheSupportDoNotMatter) {
  using Real = TypeParam;
  for_each_case(4097, 20, [](const Case& c) {
    const auto z = c.scores<Real>(), p = entmax_row(c.alpha, z);
    std::vector<Real> kept, expected;
    for (std::size_t i = 0; i < c.n; ++i) {
      if (p[i] == 0) continue;
      kept.push_back(z[i]);
      expected.push_back(p[i]);
    }
    EXPECT_LE(distance_in_bounds(c.alpha, expected, entmax_row(c.alpha, kept), kept), 1);
  });
}

/// T Omega on f is Omega on f / T: the object and the batched kernel agree at every temperature.
TEST(EntmaxTemperature, DividesTheScores) {
  for (const double alpha : kAlphas) {
    for (const double temperature : {1e-3, 0.5, 4.0, 1e3}) {
      const auto f = normal_row<double>(50, 2, 21);
      auto scaled = f;
      for (double& x : scaled) x /= temperature;
      const auto p = entmax_row(alpha, scaled);
      const SparseCategorical found = predict(Tsallis(alpha, temperature), VectorScore(f), Finite());
      std::vector<double> q(f.size());
      for (std::size_t i = 0; i < q.size(); ++i) q[i] = pmf(found, static_cast<index_t>(i));
      EXPECT_LE(distance_in_bounds(alpha, p, q, scaled), 1) << alpha << " at temperature " << temperature;
    }
  }
}

TYPED_TEST(EntmaxSymmetry, HotRowsAreUniformAndColdRowsAreTheirMaxima) {
  using Real = TypeParam;
  for (const double alpha : kAlphas) {
    for (const std::size_t n : {2u, 7u, 100u, 1000u}) {
      auto z = make_scores<Real>(Pattern::ties, n, 1);
      const Real top = *std::max_element(z.begin(), z.end());
      const auto maxima = static_cast<double>(std::count(z.begin(), z.end(), top));
      auto hot = z, cold = z;
      for (Real& x : hot) x *= Real(1e-30);
      for (Real& x : cold) x *= Real(1e30);
      const auto hot_p = entmax_row(alpha, hot), cold_p = entmax_row(alpha, cold);
      for (std::size_t i = 0; i < n; ++i) {
        // Beyond alpha = 5 even 1e-30 is not hot against n^-am1; below 1 the tails reach far.
        if (alpha <= 5) {
          EXPECT_NEAR(hot_p[i], 1.0 / static_cast<double>(n), Bounds<Real>::kRelative / 4) << alpha;
        }
        if (alpha > 0.5) {
          EXPECT_NEAR(cold_p[i], z[i] == top ? 1 / maxima : 0, Bounds<Real>::kRelative / 4) << alpha;
        }
      }
    }
  }
}

}  // namespace
}  // namespace fenchel::testing
