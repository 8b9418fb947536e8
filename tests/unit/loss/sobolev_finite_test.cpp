#include "fenchel/loss/sobolev_finite.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "fenchel/loss/finite.hpp"
#include "support/differences.hpp"
#include "support/messages.hpp"
#include "unit/backend/smooth_sparsemax_reference.hpp"

namespace fenchel {
namespace {

using testing::kGammas;
using testing::kInf;
using testing::message_of;
using testing::one_row;

const std::vector<double> kScores{0.4, -0.2, 0.1, 0.9, -3};
const std::vector<double> kProbabilities{0.25, 0.125, 0, 0.5, 0.125};
const SparseCategorical kTarget(kProbabilities);
const Finite kMeasure({0.5, 1, 2, 0.75, 1.5});

TEST(LossSobolevFinite, IsItsDefinition) {
  for (const double gamma : kGammas) {
    const Sobolev omega(gamma, 1.3);
    double square = 0, steps = 0, inner = 0, last = 0;
    for (std::size_t i = 0; i < 5; ++i) {
      const double q = kProbabilities[i], density = q / kMeasure.weight(i);
      inner += q * kScores[i];
      square += q * density;
      if (i > 0) steps += (density - last) * (density - last);
      last = density;
    }
    const double of_q = 1.3 * ((square - 1) / 2 + gamma * steps / 2);
    const double want = conjugate(omega, VectorScore(kScores), kMeasure) + of_q - inner;
    EXPECT_NEAR(fenchel_young(omega, VectorScore(kScores), kMeasure, kTarget).value, want,
                4e-15 * (1 + std::abs(of_q)))
        << gamma;
  }
}

TEST(LossSobolevFinite, IsExactlyZeroAtThePrediction) {
  std::mt19937_64 rng(41);
  for (const std::size_t n : {1, 2, 7, 60}) {
    for (const auto& f : testing::random_rows(rng, n)) {
      std::vector<double> weights(n);
      for (double& w : weights) w = std::uniform_real_distribution<double>(0.1, 4)(rng);
      for (const double gamma : kGammas) {
        for (const Finite& measure : {Finite(), Finite(weights)}) {
          const Sobolev omega(gamma, 0.6);
          const VectorScore score(f);
          const auto loss = fenchel_young(omega, score, measure, predict(omega, score, measure));
          EXPECT_EQ(loss.value, 0) << n << ' ' << gamma;
          EXPECT_EQ(loss.gamma, 0) << n << ' ' << gamma;
          for (const double g : loss.gradient) EXPECT_EQ(g, 0) << n << ' ' << gamma;
        }
      }
    }
  }
}

TEST(LossSobolevFinite, GradientsAgreeWithDifferences) {
  for (const double gamma : {0.1, 1.0, 10.0}) {
    const auto loss = fenchel_young(Sobolev(gamma, 1.3), VectorScore(kScores), kMeasure, kTarget);
    const auto at_gamma = [](double x) {
      return fenchel_young(Sobolev(x, 1.3), VectorScore(kScores), kMeasure, kTarget).value;
    };
    EXPECT_NEAR(loss.gamma, testing::slope_of(at_gamma, gamma, 1e-4 * gamma), 1e-9) << gamma;
    for (std::size_t i = 0; i < 5; ++i) {
      const auto at_score = [&](double x) {
        std::vector<double> moved = kScores;
        moved[i] = x;
        return fenchel_young(Sobolev(gamma, 1.3), VectorScore(moved), kMeasure, kTarget).value;
      };
      EXPECT_NEAR(loss.gradient[i], testing::slope_of(at_score, kScores[i], 1e-4), 1e-9) << gamma << ' ' << i;
    }
  }
}

TEST(LossSobolevFinite, AgreesWithTheBatch) {
  for (const double gamma : kGammas) {
    double value = 0, along = 0;
    cpu::smooth_sparsemax_loss(one_row(kScores), gamma, cpu::SoftTargets<double>{one_row(kProbabilities)},
                               cpu::LossOutputs<double>{{&value, 1}, {}, {&along, 1}});
    const auto loss = fenchel_young(Sobolev(gamma), VectorScore(kScores), Finite(), kTarget);
    EXPECT_NEAR(loss.value, value, 4e-15 * (1 + value)) << gamma;
    EXPECT_NEAR(loss.gamma, along, 4e-15) << gamma;
  }
}

TEST(LossSobolevFinite, IsTsallisWithoutGamma) {
  const auto loss = fenchel_young(Sobolev(0, 1.3), VectorScore(kScores), kMeasure, kTarget);
  const auto want = fenchel_young(Tsallis(2, 1.3), VectorScore(kScores), kMeasure, kTarget);
  EXPECT_NEAR(loss.value, want.value, 4e-15);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(loss.gradient[i], want.gradient[i], 1e-15);
}

TEST(LossSobolevFinite, KnowsItsDomainFromTheTarget) {
  const auto loss = fenchel_young(Sobolev(1), VectorScore(kScores), kTarget);
  EXPECT_EQ(loss.value, fenchel_young(Sobolev(1), VectorScore(kScores), Finite(), kTarget).value);
}

TEST(LossSobolevFinite, IsInfiniteOffTheDomain) {
  const SparseCategorical q(std::vector<double>{0.5, 0.5, 0});
  EXPECT_EQ(fenchel_young(Sobolev(1), VectorScore({0, -kInf, 0}), Finite(), q).value, kInf);
  EXPECT_EQ(fenchel_young(Sobolev(1), VectorScore({0, 0, 0}), Finite({1, 0, 1}), q).value, kInf);
  EXPECT_LT(fenchel_young(Sobolev(1), VectorScore({0, 0, -kInf}), Finite(), q).value, kInf);
}

TEST(LossSobolevFinite, SaysWhatIsWrong) {
  EXPECT_EQ(message_of<std::invalid_argument>([] {
              (void)fenchel_young(Sobolev(1), VectorScore({1, 2}), Finite(), kTarget);
            }),
            "fenchel::fenchel_young: q.size() must equal f.size() = 2, got 5");
}

}  // namespace
}  // namespace fenchel
