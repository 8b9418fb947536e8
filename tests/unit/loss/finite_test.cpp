#include "fenchel/loss/finite.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "fenchel/backend/cpu/entmax_loss.hpp"
#include "support/grids.hpp"

namespace fenchel {
namespace {

using testing::kAlphas;
using testing::kInf;

const std::vector<double> kScores{0.4, -0.2, 0.1, 0.9};
const SparseCategorical kTarget(std::vector<double>{0.25, 0.25, 0, 0.5});

TEST(LossFinite, IsItsDefinition) {
  const Finite measure({0.5, 1, 2, 0.75});
  for (const double alpha : kAlphas) {
    const Tsallis omega(alpha, 1.3);
    const VectorScore f(kScores);
    std::vector<double> density(4);
    double inner = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      density[i] = pmf(kTarget, static_cast<index_t>(i)) / measure.weight(i);
      inner += pmf(kTarget, static_cast<index_t>(i)) * kScores[i];
    }
    if (alpha > 100) continue;  // densities above one: p^alpha is past the largest double
    const double cross = conjugate(omega, f, measure) - inner;
    const double full = cross + 1.3 * tsallis_negentropy(alpha, density, measure.weights());
    EXPECT_NEAR(cross_omega(omega, f, measure, kTarget).value, cross, 2e-14 * std::max(1.0, std::abs(cross)))
        << alpha;
    EXPECT_NEAR(fenchel_young(omega, f, measure, kTarget).value, full,
                2e-14 * std::max(1.0, std::abs(full) + std::abs(cross)))
        << alpha;
  }
}

TEST(LossFinite, IsExactlyZeroAtThePrediction) {
  for (const double alpha : kAlphas) {
    const VectorScore f(kScores);
    const auto loss = fenchel_young(Tsallis(alpha), f, Finite(), predict(Tsallis(alpha), f, Finite()));
    EXPECT_EQ(loss.value, 0) << alpha;
    for (const double g : loss.gradient) EXPECT_EQ(g, 0) << alpha;
  }
}

TEST(LossFinite, AgreesWithTheBatch) {
  std::vector<double> q(4);
  for (std::size_t i = 0; i < 4; ++i) q[i] = pmf(kTarget, static_cast<index_t>(i));
  for (const double alpha : kAlphas) {
    double value = 0;
    cpu::entmax_loss({kScores.data(), 1, 4}, alpha, cpu::SoftTargets<double>{{q.data(), 1, 4}},
                     cpu::LossOutputs<double>{{&value, 1}});
    EXPECT_NEAR(fenchel_young(Tsallis(alpha), VectorScore(kScores), Finite(), kTarget).value, value, 4e-15)
        << alpha;
  }
}

TEST(LossFinite, GradientAndHessianAreTheSlopes) {
  const Finite measure({0.5, 1, 2, 0.75});
  for (const double alpha : {0.6, 1.0, 1 + 1e-8, 1.5, 2.0, 3.0}) {
    const Tsallis omega(alpha, 0.9);
    const double h = 1e-5;
    double hessian[16];
    fenchel_young_hessian(omega, VectorScore(kScores), measure, Rows<double>(hessian, 4, 4));
    const auto loss = fenchel_young(omega, VectorScore(kScores), measure, kTarget);
    for (std::size_t i = 0; i < 4; ++i) {
      auto above = kScores, below = kScores;
      above[i] += h;
      below[i] -= h;
      const auto up = fenchel_young(omega, VectorScore(above), measure, kTarget);
      const auto down = fenchel_young(omega, VectorScore(below), measure, kTarget);
      EXPECT_NEAR(loss.gradient[i], (up.value - down.value) / (2 * h), 1e-9) << alpha;
      for (std::size_t j = 0; j < 4; ++j) {
        EXPECT_NEAR(hessian[4 * i + j], (up.gradient[j] - down.gradient[j]) / (2 * h), 1e-7) << alpha;
      }
    }
  }
}

TEST(LossFinite, AnAtomIsACertainTarget) {
  const VectorScore f(kScores);
  for (const double alpha : kAlphas) {
    const auto one = fenchel_young(Tsallis(alpha), f, Finite(), 2);
    EXPECT_NEAR(one.value, conjugate(Tsallis(alpha), f, Finite()) - kScores[2], 4e-15 * (1 + 1 / alpha))
        << alpha;
    EXPECT_LT(one.gradient[2], 0);
  }
  EXPECT_THROW(static_cast<void>(fenchel_young(Tsallis(2), f, Finite(), 4)), std::domain_error);
  EXPECT_THROW(static_cast<void>(fenchel_young(Tsallis(2), f, Finite(), -1)), std::domain_error);
}

TEST(LossFinite, ATargetOffTheMeasureIsInfinitelyBad) {
  EXPECT_EQ(fenchel_young(Tsallis(1.5), VectorScore({0, -kInf, 1, 1}), Finite(), kTarget).value, kInf);
  EXPECT_EQ(fenchel_young(Tsallis(1.5), VectorScore(kScores), Finite({0, 1, 1, 1}), kTarget).value, kInf);
  EXPECT_THROW(static_cast<void>(fenchel_young(Tsallis(1.5), VectorScore({0, 1}), Finite(), kTarget)),
               std::invalid_argument);
}

}  // namespace
}  // namespace fenchel
