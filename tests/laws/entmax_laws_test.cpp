#include <algorithm>
#include <limits>
#include <numeric>

#include "laws/bounds.hpp"
#include "laws/grid.hpp"
#include "laws/rows.hpp"
#include "support/certified.hpp"

/// What entmax promises of every row, alpha and scale, in float and double [SCD22, Section 4; docs/math.md
/// 2].
namespace fenchel::testing {
namespace {

template <class Real>
class EntmaxLaws : public ::testing::Test {};
TYPED_TEST_SUITE(EntmaxLaws, Reals);

TYPED_TEST(EntmaxLaws, RowsAreDistributions) {
  using Real = TypeParam;
  for_each_case(100'000, 10, [](const Case& c) {
    const std::vector<Real> p = entmax_row(c.alpha, c.scores<Real>());
    Extended sum = 0;
    index_t bad = 0;
    for (const Real x : p) {
      sum += x;
      bad += !(x >= 0);
    }
    EXPECT_EQ(bad, 0) << "negative or NaN";
    EXPECT_LE(std::fabs(static_cast<double>(sum - 1)), cpu::row_sum_error<Real>(static_cast<index_t>(c.n)));
  });
}

/// Compares a prediction with the exact one: each probability, and who is in the support. A score so near the
/// threshold that its difference to the largest one does not tell the side, or whose probability underflows,
/// may be on either.
template <class Real>
void expect_certified(double alpha, const std::vector<Real>& z, const Prediction<Real>& found) {
  const Certified exact = certified_entmax(alpha, z, found.p);
  ASSERT_TRUE(exact.proved) << "the oracle has no root";
  const Extended top = *std::max_element(z.begin(), z.end());
  const Extended blur = kEdgeUlps * Bounds<Real>::kUnit * std::fabs(exact.edge);
  double worst = 0;
  index_t inside = 0, outside = 0, misplaced = 0;
  for (std::size_t i = 0; i < z.size(); ++i) {
    const Extended d = z[i] - top, p = exact.p[i];
    const auto error = static_cast<double>(std::fabs(found.p[i] - p));
    worst = std::max(worst, error / probability_bound<Real>(alpha, p, d, exact.edge));
    const bool is_inside = p >= std::numeric_limits<Real>::min() && !(d - exact.edge <= blur);
    const bool is_outside = p == 0 && (std::isinf(d) || d - exact.edge < -blur);
    inside += is_inside;
    outside += is_outside;
    misplaced += (is_inside && found.p[i] == 0) || (is_outside && found.p[i] > 0);
  }
  EXPECT_LE(worst, 1) << "times the bound on a probability";
  EXPECT_EQ(misplaced, 0) << "scores on the wrong side of the threshold";
  EXPECT_GE(found.support_size, inside);
  EXPECT_LE(found.support_size, static_cast<index_t>(z.size()) - outside);
}

TYPED_TEST(EntmaxLaws, RowsAreTheExactPredictions) {
  using Real = TypeParam;
  for_each_case(100'000, 13, [](const Case& c) {
    const auto z = c.scores<Real>();
    expect_certified(c.alpha, z, predict_row(c.alpha, z));
  });
}

/// p = exp_{2-alpha}(z - A) = [am1 (z - tau)]_+^{1/am1} with the A and tau that are reported, each to the
/// ulps of the numbers that make it up: z - A = log_{2-alpha}(p) on the support, z <= tau off it.
TYPED_TEST(EntmaxLaws, NormalizerAndThresholdExplainTheRow) {
  using Real = TypeParam;
  for_each_case(4097, 10, [](const Case& c) {
    const auto z = c.scores<Real>();
    const auto [p, normalizer, threshold, support_size] = predict_row(c.alpha, z);
    const Extended am1 = static_cast<Extended>(c.alpha) - 1;
    const Real top = *std::max_element(z.begin(), z.end());
    double worst_normalizer = 0, worst_threshold = 0, worst_outside = 0;
    for (std::size_t i = 0; i < z.size(); ++i) {
      if (p[i] > 0) {
        const Extended log_p = std::log(static_cast<Extended>(p[i])), steep = std::exp((am1 - 1) * log_p);
        const Extended u = am1 == 0 ? log_p : std::expm1(am1 * log_p) / am1;
        const Extended slack =
            steep * probability_bound<Real>(c.alpha, p[i], Extended{z[i]} - top, Extended{threshold} - top);
        const auto ulps = [&](Extended part) {
          return 8 * Bounds<Real>::kUnit * (std::fabs(part) + std::fabs(static_cast<Extended>(top)) + 1);
        };
        worst_normalizer = std::max(worst_normalizer, static_cast<double>(std::fabs(z[i] - normalizer - u) /
                                                                          (slack + ulps(normalizer))));
        if (am1 == 0) continue;
        worst_threshold = std::max(
            worst_threshold,
            static_cast<double>(std::fabs(z[i] - threshold - u - 1 / am1) / (slack + ulps(1 / am1))));
      } else if (am1 > 0 && z[i] > -kInf) {
        // A probability may have underflowed: it lies above tau by its power at most.
        const Extended least = power(std::numeric_limits<Real>::min(), am1) / am1;
        const Extended blur =
            kEdgeUlps * Bounds<Real>::kUnit *
            (std::fabs(Extended{threshold}) + std::fabs(static_cast<Extended>(top)) + 1 / am1);
        worst_outside = std::max(worst_outside, static_cast<double>((z[i] - threshold) / (least + blur)));
      }
    }
    EXPECT_LE(worst_normalizer, 1);
    EXPECT_LE(worst_threshold, 1);
    EXPECT_LE(worst_outside, 1);
    if (am1 == 0) {
      EXPECT_EQ(threshold, -kInf);
    }
  });
}

/// z_i = z_j gives the very same probability; z_i > z_j gives no less, up to the rounding of exp and log.
TYPED_TEST(EntmaxLaws, LargerScoresHaveNoLess) {
  using Real = TypeParam;
  for_each_case(100'000, 10, [](const Case& c) {
    const auto z = c.scores<Real>(), p = entmax_row(c.alpha, z);
    std::vector<std::size_t> order(z.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return z[i] < z[j]; });
    index_t unequal_ties = 0;
    double worst = 0;
    for (std::size_t k = 1; k < order.size(); ++k) {
      const std::size_t low = order[k - 1], high = order[k];
      if (z[low] == z[high]) {
        unequal_ties += p[low] != p[high];
      } else if (p[low] > p[high]) {
        worst = std::max(worst, static_cast<double>(p[low] - p[high]) / p[low]);
      }
    }
    EXPECT_EQ(unequal_ties, 0);
    EXPECT_LE(worst, Bounds<Real>::kMonotone);
  });
}

}  // namespace
}  // namespace fenchel::testing
