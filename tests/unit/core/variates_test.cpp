#include "fenchel/core/variates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/random/portable_math.hpp"
#include "fenchel/core/philox.hpp"
#include "support/reference_cdf.hpp"

namespace fenchel {
namespace {

using reference::beta_cdf, reference::gamma_cdf, reference::kolmogorov_smirnov, reference::normal_cdf;
using Real = long double;

constexpr Real kAccepted = 1.95L;
constexpr std::size_t kSampleSize = 40'000;

template <class Draw>
std::vector<double> sample(std::uint64_t seed, const Draw& draw, std::size_t size = kSampleSize) {
  Philox rng(seed);
  std::vector<double> values(size);
  for (double& value : values) value = draw(rng);
  return values;
}

double mean_of(const std::vector<double>& values) {
  Real sum = 0;
  for (const double value : values) sum += value;
  return static_cast<double>(sum / static_cast<Real>(values.size()));
}

double covariance_of(const std::vector<double>& x, const std::vector<double>& y) {
  const double mean_x = mean_of(x), mean_y = mean_of(y);
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += (x[i] - mean_x) * (y[i] - mean_y);
  return sum / static_cast<double>(x.size());
}

double correlation_of(const std::vector<double>& x, const std::vector<double>& y) {
  return covariance_of(x, y) / std::sqrt(covariance_of(x, x) * covariance_of(y, y));
}

/// The distance of a double from the truth, in the units in the last place of the double nearest to the
/// truth.
Real ulps_off(double value, Real truth) {
  const int exponent = std::max(std::ilogb(truth), std::numeric_limits<double>::min_exponent - 1);
  return std::fabs(value - truth) / std::ldexp(Real{1}, exponent - 52);
}

TEST(PortableMath, LogIsWithinItsUlp) {
  Philox rng(1);
  Real worst = 0;
  for (int i = 0; i < 400'000; ++i) {
    const double anywhere = std::bit_cast<double>(rng() % std::bit_cast<std::uint64_t>(HUGE_VAL));
    const double denormal = std::bit_cast<double>((rng() >> (12 + rng() % 40)) | 1);
    const double near_one = 1 + (uniform01(rng) - 0.5) * std::ldexp(1., -static_cast<int>(rng() % 53));
    for (const double x : {anywhere, denormal, near_one})
      if (x != 1 && x > 0) worst = std::max(worst, ulps_off(detail::portable_log(x), std::log(Real{x})));
  }
  EXPECT_LE(worst, detail::kPortableUlp);
  RecordProperty("worst_ulp", std::to_string(worst));
  EXPECT_EQ(detail::portable_log(1), 0);
  EXPECT_EQ(detail::portable_log(std::numeric_limits<double>::denorm_min()), -0x1.74385446d71c3p+9);
  EXPECT_EQ(detail::portable_log(std::numeric_limits<double>::max()), 0x1.62e42fefa39efp+9);
}

TEST(PortableMath, ExpIsWithinItsUlp) {
  Philox rng(2);
  Real worst = 0;
  for (int i = 0; i < 400'000; ++i) {
    const double anywhere = -746 + 1455.78 * uniform01(rng);
    const double denormal = -746 + 38 * uniform01(rng);
    const double small = (uniform01(rng) - 0.5) * std::ldexp(1., -static_cast<int>(rng() % 60));
    for (const double x : {anywhere, denormal, small})
      worst = std::max(worst, ulps_off(detail::portable_exp(x), std::exp(Real{x})));
  }
  EXPECT_LE(worst, detail::kPortableUlp);
  RecordProperty("worst_ulp", std::to_string(worst));
  EXPECT_EQ(detail::portable_exp(0), 1);
  EXPECT_EQ(detail::portable_exp(0x1.62e42fefa39efp+9), 0x1.fffffffffff2ap+1023);  // log of the largest
  EXPECT_EQ(detail::portable_exp(710), HUGE_VAL);
  EXPECT_EQ(detail::portable_exp(HUGE_VAL), HUGE_VAL);
  EXPECT_EQ(detail::portable_exp(-745.13), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(detail::portable_exp(-745.14), 0);
  EXPECT_EQ(detail::portable_exp(-HUGE_VAL), 0);
}

/// Counts through [5, 10]: six values, so two bits a draw, and 9 and 10 are rejected.
struct Counter {
  using result_type = std::uint8_t;
  static constexpr result_type min() { return 5; }
  static constexpr result_type max() { return 10; }
  result_type operator()() { return static_cast<result_type>(5 + draws++ % 6); }
  int draws = 0;
};

TEST(RandomBits, CollectAnyRange) {
  Counter counter;
  EXPECT_EQ(random_bits(counter), 0xe4e4e4e4e4e4e4e4);  // 3, 2, 1, 0 again and again, from the top
  EXPECT_EQ(counter.draws, 6 * 8 - 2);
  std::mt19937 rng, same;
  const std::uint64_t low = same(), high = same();
  EXPECT_EQ(random_bits(rng), high << 32 | low);
  EXPECT_EQ(rng, same);
  std::mt19937_64 wide, same_wide;
  EXPECT_EQ(random_bits(wide), same_wide());
}

TEST(Uniform, IsOnTheOddMultiplesOfTwoToTheMinus53) {
  EXPECT_EQ(uniform01(std::uint64_t{0}), 0x1p-53);
  EXPECT_EQ(uniform01(std::uint64_t{1} << 12), 3 * 0x1p-53);
  EXPECT_EQ(uniform01(~std::uint64_t{0}), 1 - 0x1p-53);
  EXPECT_LT(
      kolmogorov_smirnov(sample(3, [](Philox& rng) { return uniform01(rng); }), [](Real u) { return u; }),
      kAccepted);
}

TEST(Exponential, HasItsEndsAndItsLaw) {
  EXPECT_EQ(standard_exponential(std::uint64_t{0}), 0x1.25e4f7b2737fap+5);
  EXPECT_EQ(standard_exponential(~std::uint64_t{0}), 0x1p-53);
  const auto values = sample(4, [](Philox& rng) { return standard_exponential(rng); });
  EXPECT_LT(kolmogorov_smirnov(values, [](Real t) { return -std::expm1(-t); }), kAccepted);
  EXPECT_GT(kolmogorov_smirnov(values, [](Real t) { return -std::expm1(-1.03L * t); }), kAccepted);
}

TEST(Normal, MatchesTheGoldenQuantiles) {
  std::ifstream file(FENCHEL_GOLDEN_DIR "/standard_normal.txt");
  std::string line;
  ASSERT_TRUE(std::getline(file, line)) << "no golden file";
  int rows = 0;
  Real worst = 0;
  for (; std::getline(file, line); ++rows) {
    const std::uint64_t bits = std::stoull(line.substr(0, 16), nullptr, 16);
    const Real truth = std::stold(line.substr(17));
    worst = std::max(worst, std::fabs(standard_normal(bits) / truth - 1));
    EXPECT_EQ(standard_normal(~bits), -standard_normal(bits)) << line;
  }
  EXPECT_GT(rows, 200);
  EXPECT_LE(worst, kNormalRelativeError);
  RecordProperty("worst_relative_error", std::to_string(worst * 1e16L) + "e-16");
}

// Between the golden points, by one Newton step from the variate to the quantile.
TEST(Normal, IsWithinItsErrorEverywhere) {
  if (std::numeric_limits<Real>::digits < 64) GTEST_SKIP() << "long double is no better than double";
  constexpr std::uint64_t kLast = std::numeric_limits<std::int64_t>::max();
  Philox rng(16);
  Real worst = 0;
  for (int i = 0; i < 400'000; ++i) {
    const std::uint64_t distance = i % 2 == 0 ? rng() >> 1 : kLast - (rng() >> (2 + rng() % 61));
    const Real z = standard_normal(distance),
               density = std::exp(-z * z / 2) / std::sqrt(2 * std::acos(Real{-1}));
    const auto probability = [](std::uint64_t n) { return std::ldexp(static_cast<Real>(n) + 0.5L, -64); };
    const Real excess = distance < kLast / 2 ? std::erf(z / std::sqrt(Real{2})) / 2 - probability(distance)
                                             : probability(kLast - distance) - normal_cdf(-z);
    worst = std::max(worst, std::fabs(excess / density / z));
  }
  EXPECT_LE(worst, kNormalRelativeError);
  RecordProperty("worst_relative_error", std::to_string(worst * 1e16L) + "e-16");
}

// Steps of 2^e bits from any place, and across the joints of the three pieces: never down by more than the
// error, and up by what the density says.
TEST(Normal, GrowsWithItsBits) {
  Philox rng(5);
  std::vector<std::int64_t> starts{0x6ccccccccccccccc, std::int64_t{0x7fffffffff05d9b0}};
  for (int i = 0; i < 20'000; ++i) starts.push_back(static_cast<std::int64_t>(rng() >> (1 + rng() % 40)));
  for (int i = 0; i < 20'000; ++i)
    starts.push_back(std::numeric_limits<std::int64_t>::max() -
                     static_cast<std::int64_t>(rng() >> (2 + rng() % 61)));
  for (const std::int64_t start : starts)
    for (int e = 0; e < 55; e += 3) {
      const std::uint64_t low = static_cast<std::uint64_t>(start) - (std::uint64_t{1} << e);
      const double below = standard_normal(low), above = standard_normal(static_cast<std::uint64_t>(start));
      EXPECT_GE(above, below - kNormalRelativeError * std::fabs(below)) << start << " " << e;
    }
}

TEST(Normal, HasItsLaw) {
  const auto values = sample(6, [](Philox& rng) { return standard_normal(rng); });
  EXPECT_LT(kolmogorov_smirnov(values, normal_cdf), kAccepted);
  EXPECT_GT(kolmogorov_smirnov(values, [](Real z) { return normal_cdf(1.03L * z); }), kAccepted);
  EXPECT_GT(kolmogorov_smirnov(values, [](Real z) { return normal_cdf(z + 0.02L); }), kAccepted);
  const double n = kSampleSize;
  EXPECT_NEAR(mean_of(values), 0, 4 / std::sqrt(n));
  EXPECT_NEAR(covariance_of(values, values), 1, 4 * std::sqrt(2 / n));
}

TEST(Gamma, HasItsLaw) {
  for (const double shape : {1e-3, 0.05, 0.5, 1., 1.5, 4., 30., 1e3}) {
    const auto logs = sample(7, [=](Philox& rng) { return standard_log_gamma(shape, rng); });
    const auto against = [&](Real other) {
      return kolmogorov_smirnov(logs, [=](Real log_x) { return gamma_cdf(other, log_x); });
    };
    EXPECT_LT(against(shape), kAccepted) << shape;
    EXPECT_GT(against(shape * (1 + 0.05 / std::sqrt(std::max(shape, 1.)))), kAccepted) << shape;
  }
}

TEST(Gamma, HasItsMoments) {
  const double n = kSampleSize;
  for (const double shape : {1e-3, 0.3, 1., 7., 1e4, 1e8}) {
    const auto values = sample(8, [=](Philox& rng) { return standard_gamma(shape, rng); });
    EXPECT_NEAR(mean_of(values), shape, 4 * std::sqrt(shape / n)) << shape;
    // The variance of (x - shape)^2 is 2 shape^2 + 6 shape.
    EXPECT_NEAR(covariance_of(values, values), shape, 4 * std::sqrt((2 * shape * shape + 6 * shape) / n))
        << shape;
  }
}

TEST(Gamma, IsNormalAtHugeShapes) {
  for (const double shape : {1e8, 1e15}) {
    const auto values = sample(9, [=](Philox& rng) { return standard_gamma(shape, rng); });
    const auto cdf = [=](Real x) { return normal_cdf((x - shape) / std::sqrt(Real{shape})); };
    EXPECT_LT(kolmogorov_smirnov(values, cdf), kAccepted);
  }
}

TEST(Gamma, IsTheExponentialOfItsLogarithm) {
  for (const double shape : {1e-300, 1e-3, 0.02, 0.9, 1., 50., 1e8}) {
    Philox rng(10), log_rng(10);
    for (int i = 0; i < 1000; ++i) {
      const double log_variate = standard_log_gamma(shape, log_rng);
      EXPECT_TRUE(std::isfinite(log_variate));
      const double expected = std::exp(log_variate);
      EXPECT_NEAR(standard_gamma(shape, rng), expected, 2e-13 * expected + 1e-322);
    }
    EXPECT_EQ(rng, log_rng);
  }
}

TEST(Beta, HasItsLaw) {
  const double shapes[][2] = {{1e-3, 1e-3}, {1e-3, 2},   {1e-3, 1e8}, {0.05, 0.5}, {0.5, 0.5}, {0.5, 1e3},
                              {1, 1},       {1, 0.9999}, {2, 3},      {2.5, 0.2},  {40, 60},   {1e3, 1e3}};
  for (const auto& [one, other] : shapes)
    for (const auto& [a, b] : {std::pair(one, other), std::pair(other, one)}) {
      const auto values = sample(11, [a = a, b = b](Philox& rng) { return standard_beta(a, b, rng); });
      const auto against = [&, b = b](Real first) {
        return kolmogorov_smirnov(
            values, [=](Real x) { return beta_cdf(first, b, x); }, 0, 0.6);
      };
      EXPECT_LT(against(a), kAccepted) << a << " " << b;
      // A shape that is off moves the mass in the window, if there is any.
      const Real mass = beta_cdf(a, b, 0.6L);
      if (mass > 0.4) {
        EXPECT_GT(against(a * (1 + 0.2 / std::sqrt(std::max(a, 1.)))), kAccepted) << a << " " << b;
      }
    }
}

TEST(Beta, HasItsMoments) {
  const double n = kSampleSize;
  const double shapes[][2] = {{1e-3, 1e-3}, {1e-3, 1}, {0.5, 3}, {2, 2}, {1e4, 10}, {1e8, 1e8}, {1e8, 0.5}};
  for (const auto& [a, b] : shapes) {
    const auto values = sample(12, [a = a, b = b](Philox& rng) { return standard_beta(a, b, rng); });
    const double sum = a + b, variance = a / sum * (b / sum) / (sum + 1);
    EXPECT_NEAR(mean_of(values), a / sum, 4 * std::sqrt(variance / n)) << a << " " << b;
  }
}

TEST(Beta, IsNormalAtHugeShapes) {
  const auto values = sample(13, [](Philox& rng) { return standard_beta(1e8, 1e8, rng); });
  const auto cdf = [](Real x) { return normal_cdf((x - 0.5L) * std::sqrt(8e8L + 4)); };
  EXPECT_LT(kolmogorov_smirnov(values, cdf), kAccepted);
}

TEST(Beta, IsBernoulliAtVanishingShapes) {
  for (const double scale : {1e-12, 1e-150, 1e-205, 1e-310}) {
    const auto values = sample(14, [=](Philox& rng) { return standard_beta(scale, 3 * scale, rng); });
    for (const double value : values) EXPECT_TRUE(value == 0 || value == 1) << value;
    EXPECT_NEAR(mean_of(values), 0.25, 4 * std::sqrt(0.1875 / kSampleSize)) << scale;
  }
}

TEST(Variates, RefuseShapesThatAreNotPositiveAndFinite) {
  Philox rng;
  for (const double bad : {-1., 0., HUGE_VAL, std::nan("")}) {
    EXPECT_THROW((void)standard_gamma(bad, rng), std::domain_error);
    EXPECT_THROW((void)standard_log_gamma(bad, rng), std::domain_error);
    EXPECT_THROW((void)standard_beta(bad, 1, rng), std::domain_error);
    EXPECT_THROW((void)standard_beta(1, bad, rng), std::domain_error);
  }
  EXPECT_EQ(rng, Philox()) << "a refusal must not draw";
  try {
    (void)standard_gamma(-1, rng);
  } catch (const std::domain_error& error) {
    EXPECT_STREQ(error.what(), "fenchel::standard_gamma: shape must be positive and finite, got -1");
  }
}

// One stream a row: the same draw of consecutive streams is a sample, and streams do not go together.
TEST(Streams, AreIndependent) {
  const auto row = [](std::uint64_t seed, std::uint64_t stream) {
    Philox rng(seed, stream);
    std::vector<double> values(4000);
    for (double& value : values) value = standard_normal(rng);
    return values;
  };
  const double bound = 4.5 / std::sqrt(4000.);
  const auto base = row(1, 0);
  for (std::uint64_t other = 1; other < 100; ++other) {
    EXPECT_LT(std::fabs(correlation_of(base, row(1, other))), bound);
    EXPECT_LT(std::fabs(correlation_of(base, row(1 + other, 0))), bound);
    EXPECT_LT(std::fabs(correlation_of(base, row(1 + other, other))), bound);
  }
  std::vector<double> firsts(kSampleSize);
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    Philox rng(15, i);
    firsts[i] = standard_normal(rng);
  }
  EXPECT_LT(kolmogorov_smirnov(firsts, normal_cdf), kAccepted);
  const std::vector<double> lagged(firsts.begin() + 1, firsts.end());
  firsts.pop_back();
  EXPECT_LT(std::fabs(correlation_of(firsts, lagged)), 4.5 / std::sqrt(double{kSampleSize}));
}

}  // namespace
}  // namespace fenchel
