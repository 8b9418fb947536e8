#include "fenchel/loss/poisson_rows.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "fenchel/core/infinity.hpp"
#include "fenchel/distribution/integers/sparse_poisson.hpp"
#include "fenchel/loss/integers.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using S = PoissonStatistic;
using testing::message_of;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::array kAlphas = {0.7, 0.9, 1 - 1e-8, 1.0, 1 + 0x1p-52, 1 + 1e-8, 4.0 / 3, 1.5, 2.0, 5.0};

struct Result {
  double value, d_mu, d_alpha, d2_mu, d_mu_alpha, d2_alpha;
};

std::vector<Result> rows_of(S statistic, PerRow mu, PerRow alpha, std::vector<double> at, index_t rows,
                            double order = 1) {
  const auto cols = std::ssize(at) / rows;
  std::vector<double> memory(6 * at.size());
  const auto part = [&](index_t k) { return Rows<double>(memory.data() + k * std::ssize(at), rows, cols); };
  sparse_poisson_rows(statistic, alpha, mu, {at.data(), rows, cols},
                      {part(0), part(1), part(2), part(3), part(4), part(5)}, order);
  std::vector<Result> results;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto of = [&](std::size_t k) { return memory[k * at.size() + i]; };
    results.push_back({of(0), of(1), of(2), of(3), of(4), of(5)});
  }
  return results;
}

Result one(S statistic, double mu, double alpha, double at, double order = 1) {
  return rows_of(statistic, mu, alpha, {at}, 1, order).front();
}

TEST(PoissonRows, ValuesAreThoseOfTheDistribution) {
  for (const double alpha : kAlphas) {
    const SparsePoisson p(alpha, 3.3);
    for (const index_t t : {0, 1, 3, 4, 9, 400}) {
      const auto x = static_cast<double>(t);
      EXPECT_EQ(one(S::log_pmf, 3.3, alpha, x).value, log_pmf(p, t));
      EXPECT_EQ(one(S::pmf, 3.3, alpha, x).value, pmf(p, t));
      EXPECT_EQ(one(S::cdf, 3.3, alpha, x + 0.4).value, cdf(p, t));
      const auto loss = fenchel_young(Tsallis(alpha), score(p), Naturals(), t);
      const Result got = one(S::loss, 3.3, alpha, x);
      EXPECT_NEAR(got.value, loss.value, 1e-14 * (1 + loss.value));
      EXPECT_NEAR(got.d_mu, loss.gradient.log_mu / 3.3, 1e-14 * (1 + x));
      EXPECT_NEAR(got.d_alpha, loss.gradient.alpha, 1e-14);
    }
    EXPECT_EQ(one(S::quantile, 3.3, alpha, 0.7).value, static_cast<double>(quantile(p, 0.7)));
    EXPECT_EQ(one(S::mean, 3.3, alpha, 0).value, mean(p));
    EXPECT_EQ(one(S::variance, 3.3, alpha, 0).value, variance(p));
    EXPECT_EQ(one(S::mode, 3.3, alpha, 0).value, 3);
    EXPECT_EQ(one(S::entropy, 3.3, alpha, 0, 1.5).value, tsallis_entropy(p, 1.5));
  }
}

TEST(PoissonRows, DerivativesAreSlopes) {
  for (const double alpha : kAlphas) {
    for (const S statistic :
         {S::log_pmf, S::pmf, S::cdf, S::loss, S::mean, S::variance, S::entropy, S::quantile, S::mode}) {
      const double at = statistic == S::quantile ? 0.7 : 3.0, h = 1e-5, order = 1.5;
      const Result r = one(statistic, 3.3, alpha, at, order);
      const auto at_mu = [&](double mu) { return one(statistic, mu, alpha, at, order); };
      EXPECT_NEAR(r.d_mu, (at_mu(3.3 + h).value - at_mu(3.3 - h).value) / (2 * h), 1e-8);
      EXPECT_NEAR(r.d2_mu, (at_mu(3.3 + h).d_mu - at_mu(3.3 - h).d_mu) / (2 * h), 1e-8);
      const Result up = one(statistic, 3.3, alpha + h, at, order),
                   down = one(statistic, 3.3, alpha - h, at, order);
      const double slope = (up.value - down.value) / (2 * h);
      for (const auto& [got, expected] : {std::pair{r.d_mu_alpha, (up.d_mu - down.d_mu) / (2 * h)},
                                          std::pair{r.d2_alpha, (up.d_alpha - down.d_alpha) / (2 * h)}}) {
        EXPECT_NEAR(got, expected, 1e-6 * (1 + std::abs(expected)))
            << alpha << " " << static_cast<int>(statistic);
      }
      EXPECT_NEAR(r.d_alpha, slope, 1e-7 * (1 + std::abs(slope)))
          << alpha << " " << static_cast<int>(statistic);
    }
  }
}

/// Below alpha = 1 there is mass beyond every window: probabilities, cdf and entropies of small order there.
TEST(PoissonRows, TailsHaveSlopes) {
  const double h = 1e-6;
  for (const double alpha : {0.55, 0.8}) {
    for (const double mu : {3.3, 2e5}) {
      for (const double t : {0.0, 700.0, 1e9}) {
        for (const S statistic : {S::log_pmf, S::pmf, S::cdf, S::entropy, S::loss}) {
          const Result r = one(statistic, mu, alpha, t, 0.6);
          const auto at = [&](double m, double a) { return one(statistic, m, a, t, 0.6); };
          const auto agrees = [&](double got, double up, double down, double level) {
            const double slope = (up - down) / (2 * h);
            EXPECT_NEAR(got, slope, 1e-6 * (std::abs(level) + std::abs(slope)))
                << alpha << " " << mu << " " << t << " " << static_cast<int>(statistic);
          };
          const Result up = at(mu * (1 + h), alpha), down = at(mu * (1 - h), alpha);
          agrees(r.d_mu * mu, up.value, down.value, r.value);
          agrees(r.d2_mu * mu, up.d_mu, down.d_mu, r.d_mu);
          const Result above = at(mu, alpha + h), below = at(mu, alpha - h);
          agrees(r.d_alpha, above.value, below.value, r.value);
          agrees(r.d_mu_alpha, above.d_mu, below.d_mu, r.d_mu);
          agrees(r.d2_alpha, above.d_alpha, below.d_alpha, r.d_alpha);
        }
      }
    }
  }
  const Result mean = one(S::mean, 3.3, 0.45, 0);
  EXPECT_EQ(mean.value, kInfinity);
  EXPECT_TRUE(std::isnan(mean.d_mu) && std::isnan(mean.d2_alpha));
  EXPECT_EQ(message_of<std::domain_error>([] { return one(S::loss, 3, 0.5, 1).value; }),
            "fenchel::sparse_poisson_rows: alpha must be above 1/2 for a loss, got 0.5");
}

TEST(PoissonRows, FarOutTheLogOfAProbabilityStillHasSlopes) {
  const double mu = 2, t = 400, h = 1e-4;
  for (const double alpha : {1.0, 1 + 1e-8}) {
    const Result r = one(S::log_pmf, mu, alpha, t);
    EXPECT_LT(r.value, -1000);
    const double up = one(S::log_pmf, mu + h, alpha, t).value, down = one(S::log_pmf, mu - h, alpha, t).value;
    EXPECT_NEAR(r.d_mu, (up - down) / (2 * h), 1e-5);
    EXPECT_NEAR(one(S::log_pmf, mu, 1, t).d_mu, t / mu - 1, 1e-10);
  }
  const double step = 1e-9;
  const double slope = (one(S::log_pmf, mu, 1 + step, t).value - one(S::log_pmf, mu, 1, t).value) / step;
  EXPECT_NEAR(one(S::log_pmf, mu, 1, t).d_alpha / slope, 1, 1e-5);
}

TEST(PoissonRows, RowsStandAlone) {
  const std::vector<double> mu{3, kNaN, 5}, alpha{2, 2, kInfinity};
  const auto results = rows_of(S::pmf, mu, alpha, {2, kNaN, 2.5, 2, 3, 4, 4, 5, 6}, 3);
  EXPECT_EQ(results[0].value, pmf(SparsePoisson(2, 3), 2));
  EXPECT_TRUE(std::isnan(results[1].value) && std::isnan(results[4].value));
  EXPECT_EQ(results[2].value, 0);
  EXPECT_EQ(results[6].value, 0.5);  // 4 and 5 are both modes
  EXPECT_EQ(results[6].d_mu, 0);
  EXPECT_EQ(results[6].d2_alpha, 0);
  EXPECT_EQ(one(S::log_pmf, 3, 2, 7).value, -kInfinity);
  EXPECT_EQ(one(S::log_pmf, 3, 2, 7).d_mu, 0);
  EXPECT_EQ(one(S::quantile, 3, 1, 1).value, kInfinity);
  EXPECT_TRUE(std::isnan(one(S::quantile, 3, 1, 1.5).value));
}

TEST(PoissonRows, RowsOfOneDistributionShareItsTable) {
  constexpr index_t kRows = 20'000;  // a table of this alpha takes milliseconds
  std::vector<double> at(kRows), mu(kRows, 12.0);
  for (std::size_t i = 0; i < at.size(); ++i) at[i] = static_cast<double>(i);
  mu.back() = 3;
  const auto found = rows_of(S::pmf, PerRow(mu), 0.016, at, kRows);
  const SparsePoisson p(0.016, 12), last(0.016, 3);
  for (index_t i : {index_t{0}, index_t{1023}, index_t{1024}, kRows - 2})
    EXPECT_NEAR(found[static_cast<std::size_t>(i)].value, pmf(p, i), 1e-14 * pmf(p, i)) << i;
  EXPECT_NEAR(found.back().value, pmf(last, kRows - 1), 1e-14 * pmf(last, kRows - 1));
}

TEST(PoissonRows, ErrorsNameTheParameter) {
  EXPECT_EQ(message_of<std::domain_error>([] { return one(S::mean, -1, 2, 0).value; }),
            "fenchel::sparse_poisson: mu must be positive and at most 2^52, got -1");
  EXPECT_EQ(message_of<std::domain_error>([] { return one(S::loss, 1, 2, 1.5).value; }),
            "fenchel::sparse_poisson_rows: at must be a natural number, got 1.5");
}

}  // namespace
}  // namespace fenchel
