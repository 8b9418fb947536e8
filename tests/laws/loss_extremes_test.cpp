#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "fenchel/loss/finite.hpp"
#include "laws/bounds.hpp"
#include "laws/rows.hpp"
#include "support/certified.hpp"
#include "support/generators.hpp"

/// Losses where q / p is far from one: targets that are tiny but not 0, and the powers of a large alpha.
namespace fenchel::testing {
namespace {

Extended negentropy_term(double alpha, Extended p) {
  const Extended eps = static_cast<Extended>(alpha) - 1;
  if (p == 0) return 0;
  return p * (eps == 0 ? std::log(p) : std::expm1(eps * std::log(p)) / eps) / (1 + eps);
}

/// On two equal scores the prediction is (1/2, 1/2), and the loss is Omega(q) - Omega(p).
double two_equal_scores(double alpha, double q) {
  return static_cast<double>(negentropy_term(alpha, q) + negentropy_term(alpha, 1 - Extended{q}) -
                             2 * negentropy_term(alpha, 0.5L));
}

TEST(LossExtremes, TinyTargetsCount) {
  for (const double alpha : {0.05, 0.1, 0.5, 0.9, 1.0, 1.1, 1.5, 2.0, 3.0}) {
    for (const double q : {1e-3, 1e-6, 1e-10, 1e-15, 1e-17, 1e-30, 1e-300}) {
      const double expected = two_equal_scores(alpha, q);
      EXPECT_NEAR(soft_loss<double>(alpha, {0, 0}, {q, 1 - q}).value, expected, 1e-14 * expected)
          << "alpha = " << alpha << ", q = " << q;
      const std::vector<double> target{q, 1 - q};
      EXPECT_NEAR(
          fenchel_young(Tsallis(alpha), VectorScore({0, 0}), Finite(), SparseCategorical(target)).value,
          expected, 1e-14 * expected)
          << "alpha = " << alpha << ", q = " << q << ", as an object";
      const auto narrow = static_cast<float>(q);
      EXPECT_NEAR(soft_loss<float>(alpha, {0, 0}, {narrow, 1 - narrow}).value,
                  two_equal_scores(alpha, narrow), 1e-6 * expected)
          << "alpha = " << alpha << ", q = " << q << ", in float";
    }
  }
}

/// Omega* is max z + (1 - n^{1-alpha}) / (alpha (alpha - 1)) on n equal scores.
TEST(LossExtremes, LargeAlphaClassLossesAreSmall) {
  for (const double alpha : {4.0, 8.0, 20.0, 50.0, 300.0, 1e6}) {
    for (const std::size_t n : {2u, 3u, 10u, 1000u}) {
      const double expected =
          -std::expm1((1 - alpha) * std::log(static_cast<double>(n))) / (alpha * (alpha - 1));
      EXPECT_NEAR(class_loss(alpha, std::vector<double>(n, -2.788), 0).value, expected, 1e-14)
          << alpha << ' ' << n;
      EXPECT_NEAR(class_loss(alpha, std::vector<float>(n, -2.788F), 0).value, expected, 1e-6)
          << alpha << ' ' << n;
    }
  }
}

/// The loss lies above its tangents, for every alpha: L(y) >= L(x) + <p(x) - q, y - x>.
template <class Real>
void check_tangents() {
  rc::detail::checkGTest([] {
    const double alpha = *any_alpha();
    const auto n = *rc::gen::inRange<std::size_t>(1, 60);
    const auto x = *moderate_row<Real>(n), y = *moderate_row<Real>(n);
    const auto label = *rc::gen::inRange<index_t>(0, static_cast<index_t>(n));
    const auto at_x = class_loss(alpha, x, label), at_y = class_loss(alpha, y, label);
    RC_ASSERT(std::isfinite(at_x.value));
    Extended tangent = at_x.value;
    for (std::size_t i = 0; i < n; ++i) tangent += at_x.gradient[i] * (Extended{y[i]} - x[i]);
    const Extended size = 10 + at_x.value + at_y.value + 1 / alpha;
    RC_ASSERT(at_y.value >= tangent - 32 * Bounds<Real>::kUnit * size);
  });
}
TEST(LossExtremes, LossesLieAboveTheirTangents) { check_tangents<double>(); }
TEST(LossExtremes, LossesLieAboveTheirTangentsInFloat) { check_tangents<float>(); }

}  // namespace
}  // namespace fenchel::testing
