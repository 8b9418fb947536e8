#include <algorithm>
#include <array>

#include "laws/bounds.hpp"
#include "laws/rows.hpp"
#include "support/certified.hpp"
#include "support/hard_rows.hpp"

/// Rows on which a search for the threshold has many steps to make: it must end soon, and in the right place.
namespace fenchel::testing {
namespace {

template <class Real>
class SlowRows : public ::testing::Test {};
TYPED_TEST_SUITE(SlowRows, Reals);

constexpr std::array kSolverAlphas{1.25, 1.3, 4.0 / 3, 1.5, 1.7, 1.9, 1.99, 2.0};

template <class Real>
double worst_in_bounds(double alpha, const std::vector<Real>& z) {
  const auto p = entmax_row(alpha, z);
  const auto exact = certified_entmax(alpha, z, p);
  EXPECT_TRUE(exact.proved);
  double worst = 0;
  for (std::size_t i = 0; i < z.size(); ++i) {
    const double bound =
        probability_bound<Real>(alpha, exact.p[i], -1, exact.edge) + crowd_bound<Real>(z.size());
    worst = std::max(worst, static_cast<double>(std::fabs(p[i] - exact.p[i])) / bound);
  }
  return worst;
}

TYPED_TEST(SlowRows, SlowlyShrinkingSupportsAreExact) {
  for (const double alpha : kSolverAlphas) {
    for (const double growth : {0.02, 0.2, 0.45, 1.0}) {
      for (const double gap : {1e-16, 1e-14, 1e-12, 1e-9, 1e-7, 1e-5, 1e-2}) {
        const auto z = slowly_shrinking_row<TypeParam>(alpha - 1, 20'000, growth, gap);
        EXPECT_LE(worst_in_bounds(alpha, z), 1) << alpha << ", groups of " << growth << ", first gap " << gap;
      }
    }
  }
}

TYPED_TEST(SlowRows, GeometricRowsAreExact) {
  for (const double alpha : kSolverAlphas) {
    for (const double ratio : {0.5, 0.9, 0.99, 0.999, 0.9999}) {
      EXPECT_LE(worst_in_bounds(alpha, geometric_row<TypeParam>(alpha - 1, 4000, ratio)), 1)
          << alpha << ' ' << ratio;
    }
  }
}

TYPED_TEST(SlowRows, AlmostOneHotRowsAreExact) {
  for (const double alpha : kSolverAlphas) {
    for (const std::size_t n : {2u, 10u, 100u, 1000u, 8000u}) {
      for (int k = 1; k<56; k += n> 1000 ? 6 : 3) {
        const auto z = almost_one_hot_row<TypeParam>(alpha - 1, n, std::ldexp(1.0, -k));
        EXPECT_LE(worst_in_bounds(alpha, z), 1) << alpha << ", n = " << n << ", gap 2^-" << k;
      }
    }
  }
}

}  // namespace
}  // namespace fenchel::testing
