#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "laws/bounds.hpp"
#include "laws/grid.hpp"
#include "laws/rows.hpp"

/// entmax at the alphas that have a textbook of their own, and between them.
namespace fenchel::testing {
namespace {

template <class Real>
class EntmaxLimits : public ::testing::Test {};
TYPED_TEST_SUITE(EntmaxLimits, Reals);

constexpr std::array kTextbookLengths{std::size_t{1}, std::size_t{2}, std::size_t{17}, std::size_t{256},
                                      std::size_t{4097}};

template <class Real, class Formula>
void expect_formula(double alpha, const Formula& formula) {
  for (const std::size_t n : kTextbookLengths) {
    for (const double scale : kScales) {
      for (const Pattern pattern : kPatterns) {
        const auto z = make_scores<Real>(pattern, n, scale, 3);
        const auto p = entmax_row(alpha, z);
        const ExtendedVector expected = formula(ExtendedVector(z.begin(), z.end()));
        double worst = 0;
        for (std::size_t i = 0; i < n; ++i) {
          worst = std::max(worst, static_cast<double>(std::fabs(p[i] - expected[i])) /
                                      probability_bound<Real>(alpha, expected[i], 0, 0));
        }
        EXPECT_LE(worst, 1) << n << ' ' << pattern << " x " << scale;
      }
    }
  }
}

ExtendedVector plain_softmax(const ExtendedVector& z) {
  const Extended top = *std::max_element(z.begin(), z.end());
  ExtendedVector p(z.size());
  for (std::size_t i = 0; i < z.size(); ++i) p[i] = std::exp(z[i] - top);
  return normalized(std::move(p));
}

/// Both sort-based algorithms, on finite scores less their maximum: a score is in the support as long as it
/// lies above the threshold of those before it. `threshold(k, sum, sum_of_squares)` is that of k scores.
template <class Threshold>
ExtendedVector sorted_projection(const ExtendedVector& z, const Threshold& threshold, int exponent) {
  ExtendedVector sorted = z;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  const Extended top = sorted[0];
  Extended sum = 0, squares = 0, tau = 0;
  for (std::size_t k = 0; k < sorted.size() && std::isfinite(sorted[k]); ++k) {
    const Extended x = sorted[k] - top;
    sum += x;
    squares += x * x;
    const Extended next = threshold(static_cast<Extended>(k + 1), sum, squares);
    if (!(next <= x)) break;
    tau = next;
  }
  ExtendedVector p(z.size());
  for (std::size_t i = 0; i < z.size(); ++i) {
    const Extended x = std::max(0.0L, z[i] - top - tau);
    p[i] = exponent == 1 ? x : x * x;
  }
  return p;
}

/// [A. Martins, R. Astudillo, From softmax to sparsemax, ICML 2016, Algorithm 1]
ExtendedVector sorted_sparsemax(const ExtendedVector& z) {
  const auto threshold = [](Extended k, Extended sum, Extended) { return (sum - 1) / k; };
  return sorted_projection(z, threshold, 1);
}

/// [B. Peters, V. Niculae, A. Martins, Sparse sequence-to-sequence models, ACL 2019, Algorithm 2], on z / 2.
ExtendedVector sorted_entmax15(ExtendedVector z) {
  for (Extended& x : z) x /= 2;
  const auto threshold = [](Extended k, Extended sum, Extended squares) {
    const Extended mean = sum / k, deviation = squares - k * mean * mean;
    return mean - std::sqrt((1 - deviation) / k);
  };
  return sorted_projection(z, threshold, 2);
}

TYPED_TEST(EntmaxLimits, OneIsSoftmax) { expect_formula<TypeParam>(1, plain_softmax); }
TYPED_TEST(EntmaxLimits, TwoIsTheProjectionOnTheSimplex) { expect_formula<TypeParam>(2, sorted_sparsemax); }
TYPED_TEST(EntmaxLimits, ThreeHalvesIsItsExactFormula) { expect_formula<TypeParam>(1.5, sorted_entmax15); }

/// p(alpha + h) = p(alpha) + h dp/dalpha + O(h^2), from both sides: smooth at 1, where the formula changes,
/// and at 2, where the algorithm does.
TYPED_TEST(EntmaxLimits, AlphaIsSmoothThroughOneAndTwo) {
  using Real = TypeParam;
  for (const double at : {1.0, 2.0}) {
    for (const std::size_t n : {2u, 7u, 100u, 1000u, 4097u}) {
      const auto z = normal_row<Real>(n, 1, 4);
      const auto p = entmax_row(at, z);
      const auto slope = jvp_row(at, p, std::vector<Real>(n), 1);
      for (const double h :
           {1e-7, -1e-7, 1e-12, -1e-12, std::nextafter(at, 9) - at, std::nextafter(at, 0) - at}) {
        const auto moved = entmax_row(at + h, z);
        double worst = 0;
        for (std::size_t i = 0; i < n; ++i) {
          // Where a score enters or leaves the support the slope jumps.
          const bool kinked = (p[i] == 0) != (moved[i] == 0);
          const double expected = static_cast<double>(p[i]) + h * static_cast<double>(slope[i]);
          const double bound =
              2 * probability_bound<Real>(at, p[i], 0, 0) + (kinked ? 10 * std::fabs(h) : 1e3 * h * h);
          worst = std::max(worst, std::fabs(static_cast<double>(moved[i]) - expected) / bound);
        }
        EXPECT_LE(worst, 1) << at << " + " << h << ", n = " << n;
      }
    }
  }
}

/// A score below the maximum by more than n^-am1 / am1 leaves the support; ties of the maximum share.
TYPED_TEST(EntmaxLimits, LargeAlphaIsUniformOverTheMaxima) {
  using Real = TypeParam;
  for (const std::size_t n : {1u, 2u, 16u, 255u, 4097u}) {
    auto z = make_scores<Real>(Pattern::ties, n, 0.01, 5);
    const auto limit = entmax_row(kInf, z);
    const Real top = *std::max_element(z.begin(), z.end());
    const auto maxima = static_cast<Real>(std::count(z.begin(), z.end(), top));
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(limit[i], z[i] == top ? 1 / maxima : 0);
    for (const double alpha : {2e2, 1e3, 1e5, 1e7, 1e300}) EXPECT_EQ(entmax_row(alpha, z), limit) << alpha;
  }
}

/// Towards alpha = 0 the map is (1 + |d| / tau)^{-1}: still a distribution, and it gives weight to
/// everything.
TYPED_TEST(EntmaxLimits, SmallAlphaIsHeavyTailed) {
  using Real = TypeParam;
  for (const double alpha : {1e-300, 1e-12, 0.01, 0.05}) {
    for (const std::size_t n : {2u, 17u, 1000u}) {
      const auto z = normal_row<Real>(n, 3, 6), p = entmax_row(alpha, z);
      const Extended sum = std::accumulate(p.begin(), p.end(), Extended(0));
      EXPECT_NEAR(static_cast<double>(sum), 1, cpu::row_sum_error<Real>(static_cast<index_t>(n))) << alpha;
      EXPECT_GT(*std::min_element(p.begin(), p.end()), 0) << alpha;
    }
  }
}

}  // namespace
}  // namespace fenchel::testing
