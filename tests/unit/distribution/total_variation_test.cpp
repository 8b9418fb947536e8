#include "fenchel/distribution/line/total_variation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/grids.hpp"
#include "support/variation.hpp"
#include "unit/distribution/location_scale_examples.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::variation_on_a_grid;

TEST(TotalVariationOfADensity, UnimodalFamiliesClimbToThePeakOnce) {
  const auto check = [](const auto& q, double lower, double upper) {
    EXPECT_NEAR(total_variation(q) / variation_on_a_grid(q, lower, upper), 1, 1e-4);
  };
  check(BetaGaussian::gaussian(0.3, 2), -15, 15);
  check(BetaGaussian(1.5, 0.3, 2), -5, 5);
  check(BetaGaussian::semicircle(0.3, 2), -5, 5);
  check(BetaGaussian::uniform(-1, 3), -2, 4);
  check(BetaLaplace(1, 0, 1), -30, 30);
  check(BetaLaplace(2, 0, 1), -3, 3);
  check(TruncatedGaussian(2, 0.3, 1), -4, 4);
  check(LocationScale(testing::location_scale_example(0, 1, 2)), -9, 9);
  EXPECT_NEAR(total_variation(BetaGaussian::uniform(-1, 3)), 0.5, 1e-15);
  for (const double gamma : {0.0, 1e-8, 0.3, 5.0}) {
    const CappedTriangular tri(gamma, 0.2, 1.2);
    const CappedParabola par(gamma, 0.2, 1.2);
    check(tri, -8, 8);
    check(par, -8, 8);
    const double a = tri.plateau(), b = tri.half_width();  // docs/math.md 6.1
    EXPECT_NEAR(total_variation(tri), 2 * (b - a) / 1.2, 1e-14);
    EXPECT_NEAR(total_variation(par),
                (par.half_width() * par.half_width() - par.plateau() * par.plateau()) / 1.2, 1e-14);
  }
}

TEST(TotalVariationOfADensity, JumpsCount) {
  // 1 + |t| on [-1, 1] and 1 on [2, 3], over their mass 4: up 2, down to 1, up to 2, down, up 1, down.
  const auto log_density = [](double t) { return t < 1.5 ? std::log1p(std::abs(t)) : 0; };
  const NumericDensity q(log_density, {{-1, 1}, {2, 3}}, {-1, 1, 2.5});
  EXPECT_NEAR(total_variation(q), (2 + 1 + 1 + 2 + 1 + 1) / 4., 1e-10);
  const NumericDensity slope([](double t) { return -t; }, {{0, kInf}}, {0});  // exponential
  EXPECT_NEAR(total_variation(slope), 2, 1e-10);
}

TEST(TotalVariationOfADensity, AtomsHaveNone) {
  const std::vector<double> values = {1, 2};
  EXPECT_EQ(total_variation(Dirac{0.3}), kInf);
  EXPECT_EQ(total_variation(Empirical(values)), kInf);
}

}  // namespace
}  // namespace fenchel
