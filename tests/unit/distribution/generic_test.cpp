#include "fenchel/distribution/line/generic.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "fenchel/core/philox.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/line/beta_laplace.hpp"
#include "fenchel/distribution/line/capped_triangular.hpp"
#include "fenchel/distribution/line/numeric_density.hpp"
#include "fenchel/distribution/line/truncated_gaussian.hpp"
#include "fenchel/distribution/mixture.hpp"

namespace fenchel {
namespace {

constexpr double kWidth = 1e-4;

template <class Check>
void for_families(Check check) {
  check("BetaGaussian(2)", BetaGaussian(2, 0, 1));
  check("BetaGaussian(1)", BetaGaussian(1, 0, 1));
  check("BetaGaussian(0.6)", BetaGaussian(0.6, 0, 1));
  check("BetaGaussian(4)", BetaGaussian(4, 0, 1));
  check("BetaLaplace(1)", BetaLaplace(1, 0, 1));
  check("TruncatedGaussian", TruncatedGaussian(2, 0, 1));
  check("CappedTriangular", CappedTriangular(0.2, 0, 1));
  check("Mixture", Mixture<BetaGaussian>({0.3, 0.7}, {BetaGaussian(2, -1, 1), BetaGaussian(2, 1, 1)}));
  check("NumericDensity",
        NumericDensity([](double t) { return -t * t / 2; }, {Interval(-INFINITY, INFINITY)}, {0}));
}

TEST(Expectation, OfAStepIsAProbability) {
  Philox rng(5);
  for (int trial = 0; trial < 30; ++trial) {
    const double at = 2 * uniform01(rng) - 1;
    for_families([at](const char* name, const auto& p) {
      EXPECT_NEAR(expectation(p, [at](double t) { return t > at ? 1.0 : 0.0; }), survival(p, at), 2e-10)
          << name << " " << at;
    });
  }
}

TEST(Expectation, SeesANarrowBumpOnNothing) {
  for_families([](const char* name, const auto& p) {
    const auto bump = [](double t) { return std::exp(-std::pow((t - 0.3) / kWidth, 2)); };
    const auto tent = [](double t) { return std::max(0.0, 1 - std::abs(t - 0.3) / kWidth); };
    EXPECT_NEAR(expectation(p, bump) / (kWidth * std::sqrt(std::numbers::pi) * pdf(p, 0.3)), 1, 1e-7) << name;
    EXPECT_NEAR(expectation(p, tent) / (kWidth * pdf(p, 0.3)), 1, 1e-7) << name;
    EXPECT_EQ(expectation(p, [](double) { return 0.0; }), 0) << name;
  });
}

TEST(Expectation, SeesAnyBumpThatItIsCutAt) {
  for_families([](const char* name, const auto& p) {
    for (const double width : {1e-2, 1e-4, 1e-6}) {
      const double cuts[] = {0.3, 100};
      const auto f = [width](double t) { return 1 + std::exp(-std::pow((t - 0.3) / width, 2)) / width; };
      EXPECT_NEAR((expectation(p, f, 1e-10, cuts) - 1) / (std::sqrt(std::numbers::pi) * pdf(p, 0.3)), 1, 1e-3)
          << name << " " << width;
    }
  });
}

}  // namespace
}  // namespace fenchel
