#include "fenchel/distribution/sparse_categorical.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>

#include "fenchel/core/parallel.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

const SparseCategorical kP(std::vector<double>{0, 0.5, 0, 0.2, 0.3, 0});

TEST(SparseCategorical, KeepsTheSupport) {
  EXPECT_EQ(kP.size(), 6);
  EXPECT_EQ(std::vector<index_t>(support(kP).begin(), support(kP).end()), (std::vector<index_t>{1, 3, 4}));
  EXPECT_EQ(pmf(kP, 1), 0.5);
  EXPECT_EQ(pmf(kP, 0), 0);
  EXPECT_EQ(pmf(kP, -7), 0);
  EXPECT_EQ(pmf(kP, 99), 0);
  EXPECT_EQ(log_pmf(kP, 3), std::log(0.2));
  EXPECT_EQ(log_pmf(kP, 2), -testing::kInf);
  EXPECT_EQ(mode(kP), 1);
  EXPECT_EQ(mode(SparseCategorical(std::vector<double>{0.25, 0.5, 0.25, 0})), 1);
}

TEST(SparseCategorical, QuantileInvertsTheCdf) {
  EXPECT_EQ(cdf(kP, -1), 0);
  EXPECT_EQ(cdf(kP, 0), 0);
  EXPECT_EQ(cdf(kP, 2), 0.5);
  EXPECT_EQ(cdf(kP, 3), 0.7);
  EXPECT_EQ(cdf(kP, 4), 1);
  EXPECT_EQ(cdf(kP, 1000), 1);
  for (const index_t atom : support(kP)) {
    EXPECT_EQ(quantile(kP, cdf(kP, atom)), atom);
    EXPECT_EQ(quantile(kP, cdf(kP, atom - 1) + 1e-9), atom);
  }
  EXPECT_EQ(quantile(kP, 0), 1);
  EXPECT_EQ(quantile(kP, 1), 4);
  EXPECT_THROW(static_cast<void>(quantile(kP, 1.5)), std::domain_error);
  EXPECT_THROW(static_cast<void>(quantile(kP, testing::kNaN)), std::domain_error);
}

TEST(SparseCategorical, EntropiesAreTheirFormulas) {
  EXPECT_NEAR(entropy(kP), -(0.5 * std::log(0.5) + 0.2 * std::log(0.2) + 0.3 * std::log(0.3)), 1e-15);
  EXPECT_NEAR(tsallis_entropy(kP, 2), 0.31, 1e-15);
  EXPECT_EQ(entropy(SparseCategorical(std::vector<double>{0, 1})), 0);
}

/// 60000 draws: each frequency within five standard deviations.
TEST(SparseCategorical, SamplesHaveTheRightFrequencies) {
  constexpr index_t kCount = 60'000;
  const auto draws = sample(kP, kCount, 17);
  for (index_t atom = 0; atom < kP.size(); ++atom) {
    const double expected = pmf(kP, atom) * kCount;
    const auto found = static_cast<double>(std::count(draws.begin(), draws.end(), atom));
    EXPECT_NEAR(found, expected, 5 * std::sqrt(expected)) << atom;
  }
}

TEST(SparseCategorical, SamplesDependOnTheSeedAlone) {
  set_num_threads(1);
  const auto one = sample(kP, 5000, 3);
  set_num_threads(4);
  EXPECT_EQ(sample(kP, 5000, 3), one);
  set_num_threads(0);
  EXPECT_NE(sample(kP, 5000, 4), one);
  EXPECT_EQ(sample(kP, 0, 3).size(), 0u);
  std::mt19937 standard(1);
  const index_t draw = sample(kP, standard);
  EXPECT_GT(pmf(kP, draw), 0) << "any standard generator will do";
}

TEST(SparseCategorical, DividesByTheSum) {
  const SparseCategorical p(std::vector<double>{2, 0, 6});
  EXPECT_EQ(pmf(p, 0), 0.25);
  EXPECT_EQ(pmf(p, 2), 0.75);
  EXPECT_EQ(p, SparseCategorical(std::vector<double>{1, 0, 3}));
}

TEST(SparseCategorical, BadProbabilitiesAreNamed) {
  using testing::message_of;
  EXPECT_EQ(message_of<std::domain_error>([] {
              SparseCategorical(std::vector<double>{0.5, -0.5});
            }),
            "fenchel::sparse_categorical: probabilities[1] must be finite and not negative, got -0.5");
  EXPECT_EQ(message_of<std::domain_error>([] { SparseCategorical(std::vector<double>{}); }),
            "fenchel::sparse_categorical: the sum of the probabilities must be positive and finite, got 0");
  EXPECT_EQ(message_of<std::domain_error>([] { SparseCategorical(std::vector<double>{testing::kNaN}); }),
            "fenchel::sparse_categorical: probabilities[0] must be finite and not negative, got nan");
}

}  // namespace
}  // namespace fenchel
