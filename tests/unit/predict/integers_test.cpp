#include "fenchel/predict/integers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "fenchel/core/philox.hpp"
#include "fenchel/domain/line.hpp"
#include "support/grids.hpp"
#include "support/integer_families.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kIntegerAlphas;
using testing::message_of;

static_assert(Predictable<Tsallis, PoissonScore, Naturals>);
static_assert(Predictable<Shannon, PoissonScore, Naturals>);
static_assert(Predictable<Tsallis, QuadraticScore, Integers>);
static_assert(Predictable<Shannon, QuadraticScore, Integers>);
static_assert(!Predictable<Tsallis, PoissonScore, Integers>, "counts are not negative");
static_assert(!Predictable<Tsallis, PoissonScore, Line>, "counts are integers");

double at(const PoissonScore& f, double t) { return f(static_cast<index_t>(t)); }
double at(const QuadraticScore& f, double t) { return f(t); }

/// E_p[f] - T Omega(p), f by differences from `from`.
template <class Score>
double objective(const Tsallis& omega, const Score& f, index_t from, const IntegerTable& p) {
  const auto gain = [&](double t) { return at(f, t) - at(f, static_cast<double>(from)); };
  return expectation(p, gain) + omega.temperature() * tsallis_entropy(p, omega.alpha());
}

/// The prediction moved a little towards a random distribution on a few integers about it.
IntegerTable perturbed(const IntegerTable& p, index_t least, Philox& rng) {
  const index_t first = std::max(least, mode(p) - 4);
  std::vector<double> values;
  double total = 0;
  for (index_t t = first; t < mode(p) + 5; ++t) total += values.emplace_back(standard_exponential(rng));
  const double share = uniform01(rng);
  const index_t begin = std::min(first, p.first());
  const index_t end = std::max(mode(p) + 5, p.first() + static_cast<index_t>(p.probabilities().size()));
  std::vector<double> mixed;
  for (index_t t = begin; t < end; ++t) {
    const bool moved = t >= first && t < mode(p) + 5;
    mixed.push_back((1 - share) * pmf(p, t) +
                    (moved ? share * values[static_cast<std::size_t>(t - first)] / total : 0));
  }
  return {begin, mixed};
}

TEST(PredictIntegers, IsTheMaximum) {
  Philox rng(5);
  for (const double alpha : kIntegerAlphas) {
    for (const double temperature : {1.0, 0.3, 4.0}) {
      const Tsallis omega(alpha, temperature);
      for (const double mu : {0.2, 1.0, 4.4}) {
        const PoissonScore poisson(mu);
        const QuadraticScore quadratic(mu, 1.7);
        const auto p = predict(omega, poisson, Naturals());
        const auto q = predict(omega, quadratic, Integers());
        const double best = objective(omega, poisson, mode(p), p.table());
        const double best_quadratic = objective(omega, quadratic, mode(q), q.table());
        for (int k = 0; k < 20; ++k) {
          EXPECT_LE(objective(omega, poisson, mode(p), perturbed(p.table(), 0, rng)), best + 1e-13) << alpha;
          EXPECT_LE(objective(omega, quadratic, mode(q), perturbed(q.table(), -99, rng)),
                    best_quadratic + 1e-13)
              << alpha;
        }
      }
    }
  }
}

TEST(PredictIntegers, TemperatureDividesTheScore) {
  for (const double alpha : kIntegerAlphas) {
    const auto p = predict(Tsallis(alpha, 2.5), QuadraticScore(1.3, 2), Integers());
    EXPECT_EQ(p, SparseIntegerGaussian(alpha, 1.3, 5)) << alpha;
    EXPECT_EQ(predict(Tsallis(alpha, 2.5), PoissonScore(3), Naturals()), SparsePoisson(alpha, 3, 2.5))
        << alpha;
  }
  const auto p = predict(Shannon(2), PoissonScore(3), Naturals());  // weights (3^t / t!)^{1/2}
  for (index_t t = 1; t < 20; ++t)
    EXPECT_NEAR(pmf(p, t) / pmf(p, t - 1), std::sqrt(3.0 / static_cast<double>(t)), 4e-15) << t;
  EXPECT_EQ(predict(Shannon(), QuadraticScore(0.1, 2), Integers()), SparseIntegerGaussian(1, 0.1, 2));
}

/// Low temperatures choose the maxima; high ones spread out.
TEST(PredictIntegers, TemperatureGoesFromTheMaximaToTheFlat) {
  for (const double alpha : {1.0, 1.5, 2.0}) {
    EXPECT_NEAR(pmf(predict(Tsallis(alpha, 1e-3), PoissonScore(6.6), Naturals()), 6), 1, 1e-12) << alpha;
    double before = 0;
    for (const double temperature : {0.1, 1.0, 10.0, 100.0}) {
      const double spread = variance(predict(Tsallis(alpha, temperature), PoissonScore(6.6), Naturals()));
      EXPECT_GT(spread, before) << alpha;
      before = spread;
    }
  }
}

/// An over-dispersed family: at alpha = 0.8 and mu = 3 the variance is nearly twice the mean
/// (docs/math.md 3.3).
TEST(PredictIntegers, BelowOneCountsAreOverDispersed) {
  const SparsePoisson p = predict(Tsallis(0.8), PoissonScore(3), Naturals());
  EXPECT_NEAR(normalizer(p), 3.5449740185074883, 1e-14);
  EXPECT_NEAR(mean(p), 3.5392540085033693, 1e-14);
  EXPECT_NEAR(variance(p), 6.4572470131275176, 1e-13);
  EXPECT_EQ(message_of<std::domain_error>(
                [] { static_cast<void>(predict(Tsallis(0.5), PoissonScore(2), Naturals())); }),
            "fenchel::predict: alpha must be above 1/2 for a Poisson score, got 0.5");
  EXPECT_EQ(message_of<std::domain_error>(
                [] { static_cast<void>(predict(Tsallis(0.3), QuadraticScore(2, 1), Integers())); }),
            "fenchel::predict: alpha must be above 1/3 for a quadratic score on the integers, got 0.3");
}

}  // namespace
}  // namespace fenchel
