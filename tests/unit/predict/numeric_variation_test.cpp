#include <gtest/gtest.h>

#include <cmath>

#include "fenchel/distribution/line/total_variation.hpp"
#include "fenchel/predict/function.hpp"
#include "support/variation.hpp"

namespace fenchel {
namespace {

using testing::variation_on_a_grid;

TEST(TotalVariationOfADensity, NumericDensitiesAreWalkedFromModeToMode) {
  const auto waves = [](double t) { return 2 * std::cos(2 * t) + 0.3 * t - t * t / 8; };
  for (const double alpha : {1.0, 1.5, 2.0}) {  // one piece, and several
    const NumericDensity q = predict(Tsallis(alpha), FunctionScore(waves), Line());
    EXPECT_NEAR(total_variation(q) / variation_on_a_grid(q, -20, 20), 1, 1e-6) << alpha;
  }
  const NumericDensity same = escort(TruncatedGaussian(2, 0.3, 1), 1);
  EXPECT_NEAR(total_variation(same), total_variation(TruncatedGaussian(2, 0.3, 1)), 1e-9);
}

TEST(TotalVariationOfADensity, NumericAndClosedFormsAgree) {
  const AbsoluteScore tent(0.3, 0.7);
  const QuadraticScore bowl(0.3, 0.7);
  EXPECT_NEAR(total_variation(predict(Tsallis(2), FunctionScore(tent), Line())),
              total_variation(BetaLaplace(2, 0.3, 0.7)), 1e-9);
  EXPECT_NEAR(total_variation(predict(Tsallis(2), FunctionScore(bowl), Line())),
              total_variation(BetaGaussian(2, 0.3, 0.7)), 1e-9);
  const CappedTriangular p(0.4, 0.3, 0.7);
  EXPECT_NEAR(total_variation(escort(p, 1)), total_variation(p), 1e-9);
}

}  // namespace
}  // namespace fenchel
