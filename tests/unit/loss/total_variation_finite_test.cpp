#include "fenchel/loss/total_variation_finite.hpp"

#include <gtest/gtest.h>

#include "fenchel/backend/cpu/fusedmax.hpp"
#include "support/differences.hpp"
#include "support/fused_rows.hpp"
#include "support/grids.hpp"

namespace fenchel {
namespace {

using testing::kInf, testing::make_row, testing::out_of, testing::row_of, testing::slope_of, testing::Vector;

TEST(TotalVariationFiniteLoss, IsTheLossOfTheRows) {
  Vector z = make_row("walk", 30, 1), q = testing::sparsemax_of(make_row("noise", 30, 2));
  z[8] = -kInf;
  q[9] += q[8];
  q[8] = 0;
  for (const double gamma : {0.0, 0.2, 3.0}) {
    double value = 0, slope = 0;
    Vector gradient(30);
    cpu::fusedmax_loss<double>(row_of(z), gamma, cpu::SoftTargets<double>{row_of(q)},
                               {{&value, 1}, out_of(gradient), {&slope, 1}});
    const auto loss = fenchel_young(TotalVariation(gamma), VectorScore(z), Finite(), SparseCategorical(q));
    EXPECT_NEAR(loss.value, value, 1e-13) << gamma;
    EXPECT_NEAR(loss.gamma, slope, 1e-13) << gamma;
    EXPECT_LT(testing::largest_difference(loss.gradient, gradient), 1e-13);
  }
}

TEST(TotalVariationFiniteLoss, HasItsDerivativesForAnyMeasureAndTemperature) {
  const Vector z = make_row("noise", 12, 4), q = testing::sparsemax_of(make_row("noise", 12, 5));
  Vector weights = make_row("noise", 12, 6);
  for (double& w : weights) w = std::exp(w);
  const Finite domain(weights);
  const SparseCategorical target(q);
  const auto value = [&](const Vector& scores, double gamma) {
    return fenchel_young(TotalVariation(gamma, 0.7), VectorScore(scores), domain, target).value;
  };
  const auto loss = fenchel_young(TotalVariation(0.15, 0.7), VectorScore(z), domain, target);
  for (std::size_t i = 0; i < z.size(); ++i) {
    const auto along = [&](double x) {
      Vector moved = z;
      moved[i] = x;
      return value(moved, 0.15);
    };
    EXPECT_NEAR(loss.gradient[i], slope_of(along, z[i], 1e-5), 1e-8) << i;
  }
  EXPECT_NEAR(loss.gamma, slope_of([&](double gamma) { return value(z, gamma); }, 0.15, 1e-5), 1e-8);
}

TEST(TotalVariationFiniteLoss, IsZeroAtThePrediction) {
  for (const double gamma : {0.0, 1e-8, 0.4, 1e8}) {
    const VectorScore f(make_row("noise", 50, 7));
    const auto p = predict(TotalVariation(gamma), f, Finite());
    EXPECT_LT(fenchel_young(TotalVariation(gamma), f, Finite(), p).value, 1e-15 * (1 + gamma));
    EXPECT_GE(fenchel_young(TotalVariation(gamma), f, Finite(), p).value, 0);
  }
}

TEST(TotalVariationFiniteLoss, KnowsItsDomainFromTheTarget) {
  const VectorScore f({0.3, 0.9, 0.1});
  const SparseCategorical q(Vector{0.5, 0.5, 0});
  EXPECT_EQ(fenchel_young(TotalVariation(0.2), f, q).value,
            fenchel_young(TotalVariation(0.2), f, Finite(), q).value);
}

TEST(TotalVariationFiniteLoss, IsInfiniteWhereAMaskIsCharged) {
  const VectorScore f({1, -kInf, 2});
  EXPECT_EQ(fenchel_young(TotalVariation(1), f, Finite(), SparseCategorical(Vector{0, 1, 0})).value, kInf);
}

}  // namespace
}  // namespace fenchel
