#include "fenchel/distribution/integers/integer_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "fenchel/core/parallel.hpp"
#include "fenchel/distribution/integers/integer_prediction.hpp"
#include "support/grids.hpp"
#include "support/integer_families.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::integer_tables;
using testing::kInf;
using testing::kNaN;
using testing::message_of;

const IntegerTable kP(-2, std::vector<double>{0, 0.5, 0, 0.2, 0.3, 0});

TEST(IntegerTable, KeepsWhatItIsGiven) {
  EXPECT_EQ(support(kP), (IntegerRange{-1, 2}));
  EXPECT_TRUE(kP.is_complete());
  EXPECT_EQ(mode(kP), -1);
  EXPECT_EQ(pmf(kP, -1), 0.5);
  EXPECT_EQ(pmf(kP, 0), 0);
  EXPECT_EQ(log_pmf(kP, 0), -kInf);
  EXPECT_EQ(log_pmf(kP, 99), -kInf);
  EXPECT_EQ(cdf(kP, -2), 0);
  EXPECT_EQ(cdf(kP, 0), 0.5);
  EXPECT_EQ(survival(kP, 0), 0.5);
  EXPECT_EQ(cdf(kP, 2), 1);
  EXPECT_EQ(log_cdf(kP, -2), -kInf);
  EXPECT_EQ(log_survival(kP, 2), -kInf);
  EXPECT_EQ(quantile(kP, 0.5), -1);
  EXPECT_EQ(quantile(kP, 0.51), 1);
  EXPECT_EQ(survival_quantile(kP, 0.1), 2);
  EXPECT_EQ(median(kP), -1);
  EXPECT_NEAR(mean(kP), 0.3, 2e-16);
  EXPECT_NEAR(moment(kP, 3), 2.1, 1e-15);
  EXPECT_NEAR(tsallis_entropy(kP, 2), 0.31, 1e-15);
  EXPECT_EQ(pmf(IntegerTable(7, std::vector<double>{1, 3}), 8), 0.75);
}

TEST(IntegerTable, EscortsOfAnyOrderStayOnTheSupport) {
  const IntegerTable half = escort(kP, 0.5), inverse = escort(kP, -1);
  const double total = std::sqrt(0.5) + std::sqrt(0.2) + std::sqrt(0.3);
  EXPECT_NEAR(pmf(half, 1), std::sqrt(0.2) / total, 1e-15);
  EXPECT_EQ(pmf(inverse, 0), 0);
  EXPECT_NEAR(pmf(inverse, -1), 2 / (2 + 5 + 1 / 0.3), 1e-15);
  EXPECT_NEAR(pmf(escort(kP, 0), 2), 1.0 / 3, 1e-15);
}

TEST(IntegerTable, BadInputIsNamed) {
  const auto table = [](std::vector<double> p) { return IntegerTable(0, p); };
  EXPECT_EQ(message_of<std::domain_error>([&] {
              table({0.5, -1});
            }),
            "fenchel::integer_table: probabilities[1] must be finite and not negative, got -1");
  EXPECT_EQ(message_of<std::domain_error>([&] {
              table({0, 0});
            }),
            "fenchel::integer_table: the sum of the probabilities must be positive and finite, got 0");
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(quantile(kP, 1.5)); }),
            "fenchel::quantile: u must be in [0, 1], got 1.5");
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(survival_quantile(kP, kNaN)); }),
            "fenchel::survival_quantile: u must be in [0, 1], got nan");
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(central_moment(kP, -1)); }),
            "fenchel::central_moment: n must not be negative, got -1");
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(tsallis_entropy(kP, 0)); }),
            "fenchel::tsallis_entropy: order must be positive, got 0");
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(escort(kP, kInf)); }),
            "fenchel::escort: beta must be finite, got inf");
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(escort(SparsePoisson(1, 2), -1)); }),
            "fenchel::escort: beta must be positive where the support is infinite or huge, got -1");
  EXPECT_EQ(message_of<std::domain_error>(
                [&] { static_cast<void>(expectation(kP, [](double t) { return t > 0 ? kNaN : t; })); }),
            "fenchel::expectation: f(1) must be a number, got nan");
}

TEST(IntegerTable, FarthestIsTheLastThatHolds) {
  constexpr index_t kMin = std::numeric_limits<index_t>::min(), kMax = std::numeric_limits<index_t>::max();
  for (const index_t edge : {index_t{5}, index_t{6}, index_t{1000003}, kMax - 1, kMax})
    EXPECT_EQ(detail::farthest(5, kMax, [&](index_t t) { return t <= edge; }), edge);
  for (const index_t edge : {index_t{5}, index_t{-77}, kMin + 1, kMin})
    EXPECT_EQ(detail::farthest(5, kMin, [&](index_t t) { return t >= edge; }), edge);
  EXPECT_EQ(detail::farthest(5, 5, [](index_t) { return true; }), 5);
}

/// The laws, for members of both families.
TEST(IntegerTable, SmallQuantilesTakeFewSums) {
  const SparseIntegerGaussian wide(1, 0.2, 1e6);
  const auto window = wide.table().probabilities();
  index_t terms = 0;
  const IntegerTable p(wide.table().first(), std::vector(window.begin(), window.end()), support(wide),
                       [&](index_t t) {
                         ++terms;
                         return log_pmf(wide, t);
                       });
  constexpr double kSmallest = 5e-324;
  const index_t below = quantile(p, kSmallest), above = survival_quantile(p, kSmallest);
  EXPECT_LT(terms, 20'000);  // about 1500 a sum
  EXPECT_GE(log_cdf(p, below), std::log(kSmallest));
  EXPECT_LT(log_cdf(p, below - 1), std::log(kSmallest));
  EXPECT_LE(log_survival(p, above), std::log(kSmallest));
  EXPECT_GT(log_survival(p, above - 1), std::log(kSmallest));
}

TEST(IntegerTable, SmoothSumsAreThoseOfAllTerms) {
  for (const double alpha : {1.0, 1 + 1e-8, 1.00002, 1.001, 1.01}) {
    for (const double mu : {0.2, -0x1p52}) {
      const SparseIntegerGaussian smooth(alpha, mu, 3e7);
      if (smooth.table().is_complete()) continue;
      ASSERT_TRUE(smooth.table().is_smooth());
      const auto window = smooth.table().probabilities();
      const IntegerTable other(smooth.table().first(), std::vector(window.begin(), window.end()),
                               support(smooth), [&](index_t t) { return log_pmf(smooth, t); });
      for (const double u : {1e-290, 1e-300, 1e-310, 5e-324}) {
        SCOPED_TRACE(::testing::Message() << alpha << " " << mu << " " << u);
        const index_t below = quantile(smooth, u), above = survival_quantile(smooth, u);
        EXPECT_NEAR(log_cdf(smooth, below), log_cdf(other, below), 1e-12);
        EXPECT_NEAR(log_survival(smooth, above), log_survival(other, above), 1e-12);
        EXPECT_NEAR(static_cast<double>(quantile(other, u) - below), 0, 1);
      }
    }
  }
}

TEST(IntegerLaws, MassIsOneAndFallsFromTheMode) {
  for (const auto& [name, p] : integer_tables()) {
    const auto values = p.probabilities();
    EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0), 1, 1e-13) << name;
    EXPECT_NEAR(expectation(p, [](double) { return 1.0; }), 1, 4e-16) << name;
    const auto peak = values.begin() + (mode(p) - p.first());
    EXPECT_TRUE(std::is_sorted(values.begin(), peak)) << name;
    EXPECT_TRUE(std::is_sorted(peak, values.end(), std::greater<>())) << name;
    EXPECT_GE(mode(p), support(p).first) << name;
    if (p.is_complete()) {
      EXPECT_EQ(support(p), (IntegerRange{p.first(), p.first() + static_cast<index_t>(values.size()) - 1}));
    }
  }
}

/// Sums of the pmf, with quantiles that invert them.
TEST(IntegerLaws, CdfAddsUpAndQuantileInvertsIt) {
  for (const auto& [name, p] : integer_tables()) {
    const auto size = static_cast<index_t>(p.probabilities().size());
    const index_t step = std::max<index_t>(1, size / 97);
    for (index_t t = p.first(); t < p.first() + size; t += step) {
      const double here = cdf(p, t), before = cdf(p, t - 1);
      EXPECT_NEAR(here - before, pmf(p, t), 4e-16) << name << " t " << t;
      EXPECT_NEAR(here + survival(p, t), 1, 2e-16) << name << " t " << t;
      if (here < 1 && here > before) {
        EXPECT_EQ(quantile(p, here), t) << name;
      }
      if (survival(p, t) > 0 && survival(p, t) < survival(p, t - 1)) {
        EXPECT_EQ(survival_quantile(p, survival(p, t)), t) << name;
      }
      if (here > 0 && here < 0.5) {
        const double accuracy = 4e-16 * (1 + std::abs(std::log(here)));  // relative to the tail itself
        EXPECT_NEAR(here - before, pmf(p, t), accuracy * here) << name << " t " << t;
      }
      EXPECT_NEAR(log_cdf(p, t), std::log(here), 1e-15 * std::max(1.0, std::abs(std::log(here)))) << name;
    }
    EXPECT_EQ(quantile(p, 0), support(p).first) << name;
    EXPECT_EQ(quantile(p, 1), support(p).last) << name;
    EXPECT_EQ(survival_quantile(p, 0), support(p).last) << name;
    EXPECT_EQ(survival_quantile(p, 1), support(p).first) << name;
  }
}

/// The formula outside of the window goes on where the window ends, for probabilities and for tails.
TEST(IntegerLaws, TheFormulaContinuesTheWindow) {
  for (const auto& [name, p] : integer_tables()) {
    const IntegerRange range = support(p);
    const index_t last = p.first() + static_cast<index_t>(p.probabilities().size()) - 1;
    if (range.last > last) {
      const double slope = log_pmf(p, last + 1) - log_pmf(p, last);
      EXPECT_LT(log_pmf(p, last + 1), -699) << name;
      if (last - 1 >= p.first()) {
        EXPECT_LE(slope, log_pmf(p, last) - log_pmf(p, last - 1) + 2e-12) << name;
        const double expected = std::log1p(std::exp(log_survival(p, last) - log_pmf(p, last)));
        EXPECT_NEAR(log_survival(p, last - 1), log_pmf(p, last) + expected, 1e-12) << name;
      }
      for (const double u : {1e-300, 1e-315}) {
        const index_t t = survival_quantile(p, u);
        EXPECT_LE(log_survival(p, t), std::log(u) + 1e-9) << name;
        if (t > range.first) {
          EXPECT_GT(log_survival(p, t - 1), std::log(u) - 1e-9) << name;
        }
      }
    }
    if (range.first < p.first()) {
      EXPECT_LT(log_pmf(p, p.first() - 1), -699) << name;
      EXPECT_LE(log_cdf(p, p.first() - 1), log_cdf(p, p.first())) << name;
      const index_t t = quantile(p, 1e-310);
      EXPECT_GE(log_cdf(p, t), std::log(1e-310) - 1e-9) << name;
      if (t > range.first) {
        EXPECT_LT(log_cdf(p, t - 1), std::log(1e-310) + 1e-9) << name;
      }
    }
    if (range.first > std::numeric_limits<index_t>::min()) {
      EXPECT_EQ(pmf(p, range.first - 1), 0) << name;
      EXPECT_EQ(log_cdf(p, range.first - 1), -kInf) << name;
    }
    if (range.last < std::numeric_limits<index_t>::max()) {
      EXPECT_EQ(log_pmf(p, range.last + 1), -kInf) << name;
      EXPECT_EQ(survival(p, range.last), 0) << name;
    }
  }
}

TEST(IntegerLaws, MomentsAreExpectations) {
  for (const auto& [name, table] : integer_tables()) {
    const IntegerTable& p = table;
    const double centre = mean(p), spread = standard_deviation(p);
    for (int n = 0; n <= 5; ++n) {
      if (n != 1) {
        const auto distance = [&](double t) { return t - static_cast<double>(mode(p)) - p.mean_offset(); };
        const double expected = expectation(p, [&](double t) { return std::pow(distance(t), n); });
        const double size = expectation(p, [&](double t) { return std::pow(std::abs(distance(t)), n); });
        EXPECT_NEAR(central_moment(p, n), expected, 1e-12 * size) << name << " n " << n;
      }
      const double raw = expectation(p, [&](double t) { return std::pow(t, n); });
      EXPECT_NEAR(moment(p, n), raw, 1e-12 * std::max(std::abs(raw), std::pow(std::abs(centre) + spread, n)))
          << name << " n " << n;
    }
  }
}

TEST(IntegerLaws, EscortsAndEntropiesAreTheirFormulas) {
  for (const auto& [name, table] : integer_tables()) {
    const IntegerTable& p = table;
    const double shannon = -expectation(p, [&](double t) { return log_pmf(p, static_cast<index_t>(t)); });
    EXPECT_NEAR(entropy(p), shannon, 1e-13 * std::max(1.0, shannon)) << name;
    EXPECT_NEAR(tsallis_entropy(p, 1 + 1e-9), entropy(p), 1e-7 * std::max(1.0, shannon)) << name;
    const double square = expectation(p, [&](double t) { return pmf(p, static_cast<index_t>(t)); });
    EXPECT_NEAR(tsallis_entropy(p, 2), (1 - square) / 2, 1e-15) << name;
    EXPECT_EQ(tsallis_entropy(p, kInf), 0) << name;
    for (const double beta : {0.05, 0.5, 1.0, 3.0}) {
      if (p.probabilities().size() > 20000) continue;
      const IntegerTable q = escort(p, beta);
      EXPECT_EQ(support(q).first, support(p).first) << name << " beta " << beta;
      EXPECT_EQ(support(q).last, support(p).last) << name << " beta " << beta;
      const index_t middle = mode(p), near = quantile(p, 0.3);
      EXPECT_NEAR(log_pmf(q, near) - log_pmf(q, middle), beta * (log_pmf(p, near) - log_pmf(p, middle)),
                  1e-13)
          << name << " beta " << beta;
      const auto values = q.probabilities();
      EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0), 1, 1e-13) << name << " beta " << beta;
      if (beta < 1) {  // sum p^beta = p(mode)^beta / q(mode)
        const double log_sum = beta * log_pmf(p, middle) - log_pmf(q, middle);
        const double expected = std::expm1(log_sum) / (beta * (1 - beta));
        EXPECT_NEAR(tsallis_entropy(p, beta), expected, 1e-12 * std::max(1.0, expected))
            << name << " " << beta;
      }
    }
  }
}

/// 50000 draws: the largest distance of the cdfs is below the 1e-6 quantile of Kolmogorov's distribution.
TEST(IntegerLaws, SamplesFollowTheCdfForAnyNumberOfThreads) {
  constexpr index_t kCount = 50'000;
  for (const auto& [name, p] : integer_tables()) {
    auto draws = sample(p, kCount, 2022);
    set_num_threads(1);
    EXPECT_EQ(sample(p, 100, 2022), std::vector<index_t>(draws.begin(), draws.begin() + 100)) << name;
    set_num_threads(0);
    std::sort(draws.begin(), draws.end());
    double distance = 0;
    for (std::size_t i = 0; i < draws.size(); ++i) {
      if (i + 1 < draws.size() && draws[i] == draws[i + 1]) continue;
      distance = std::max(distance, std::abs(static_cast<double>(i + 1) / kCount - cdf(p, draws[i])));
    }
    EXPECT_LT(distance, 2.7 / std::sqrt(kCount)) << name;
    EXPECT_GT(pmf(p, draws.front()), 0) << name;
    EXPECT_GT(pmf(p, draws.back()), 0) << name;
  }
}

}  // namespace
}  // namespace fenchel
