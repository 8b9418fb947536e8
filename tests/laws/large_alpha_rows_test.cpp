#include <algorithm>

#include "laws/bounds.hpp"
#include "laws/rows.hpp"
#include "support/certified.hpp"
#include "support/grids.hpp"
#include "support/scores.hpp"

/// Rows beyond alpha = 2, up to infinity: what the support search and its edge cases must stand.
namespace fenchel::testing {
namespace {

template <class Real>
class LargeAlphaRows : public ::testing::Test {};
TYPED_TEST_SUITE(LargeAlphaRows, Reals);

/// A score below the maximum by more than n^-am1 / am1 leaves the support; ties of the maximum share.
TYPED_TEST(LargeAlphaRows, AreUniformOverTheMaximaInTheLimit) {
  using Real = TypeParam;
  for (const Real top : {Real(0), Real(-1), Real(3), std::numeric_limits<Real>::denorm_min(), Real(1e30)}) {
    for (const std::size_t n : {1u, 2u, 16u, 255u, 4097u}) {
      std::vector<Real> z(n), expected(n);
      const auto maxima = static_cast<Real>((n + 2) / 3);
      for (std::size_t i = 0; i < n; ++i) {
        z[i] =
            i % 3 == 0 ? top : top - std::max(Real(0.01), std::abs(top) / 2) * static_cast<Real>(1 + i % 7);
        expected[i] = i % 3 == 0 ? 1 / maxima : 0;
      }
      for (const double alpha : {1e3, 1e5, 1e7, 1e300, kInf})
        EXPECT_EQ(entmax_row(alpha, z), expected) << "alpha = " << alpha << ", n = " << n << ", top " << top;
    }
  }
}

/// The mass of a long row is summed to the last bits: its smallest probability takes what the sum loses.
TEST(LargeAlphaRowsInDouble, AreAsExactAsShortOnes) {
  for (const double alpha : {2.01, 3.0, 5.0}) {
    for (const std::size_t n : {1000u, 4097u, 100'000u}) {
      const auto z = make_scores<double>(Pattern::spike, n, 1e-3), p = entmax_row(alpha, z);
      const auto exact = certified_entmax(alpha, z, p);
      ASSERT_TRUE(exact.proved);
      double worst = 0;
      for (std::size_t i = 0; i < n; ++i)
        worst = std::max(worst, static_cast<double>(std::fabs(p[i] - exact.p[i])));
      EXPECT_LE(worst, Bounds<double>::kBeyondTwo) << alpha << ' ' << n;
    }
  }
}

/// All derivatives are 0 at infinite alpha, except that a NaN row stays NaN.
TYPED_TEST(LargeAlphaRows, SecondOrderOfANaNRowIsNaN) {
  using Real = TypeParam;
  const std::vector<Real> p(3, std::numeric_limits<Real>::quiet_NaN()), v{1, 2, 3};
  for (const double alpha : {1.5, 3.0, kInf}) {
    std::vector<Real> out(3);
    double grad_alpha = 0;
    cpu::entmax_vjp_vjp<Real>(row_of(p), alpha, row_of(v), row_of(v), {}, row_of(out), {&grad_alpha, 1});
    EXPECT_TRUE(std::isnan(out[0]) && std::isnan(out[2])) << alpha;
  }
}

}  // namespace
}  // namespace fenchel::testing
