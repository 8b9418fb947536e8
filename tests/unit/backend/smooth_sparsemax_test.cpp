#include "fenchel/backend/cpu/smooth_sparsemax.hpp"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "fenchel/core/parallel.hpp"
#include "support/messages.hpp"
#include "unit/backend/smooth_sparsemax_reference.hpp"

namespace fenchel {
namespace {

using cpu::Chain;
using testing::kGammas;
using testing::kInf;
using testing::kNaN;
using testing::message_of;
using testing::one_row;
using testing::smooth_row;
using testing::SmoothRow;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// What makes p the prediction: mass 1, p >= 0, nu >= 0, nu p = 0, to the rounding of the largest term of
/// 1 + gamma L.
void expect_optimal(const std::vector<double>& z, double gamma, const std::vector<double>& weights,
                    const SmoothRow& row) {
  const auto n = static_cast<index_t>(z.size());
  EXPECT_NEAR(testing::mass(row.p), 1, cpu::row_sum_error<double>(n)) << gamma;
  const double heaviest = weights.empty() ? 1 : *std::max_element(weights.begin(), weights.end());
  const double peak = *std::max_element(row.p.begin(), row.p.end());
  const double scale = 1 + std::abs(row.tau) + *std::max_element(z.begin(), z.end());
  const double rounding = (20 + 0.01 * static_cast<double>(n)) * kEpsilon * (scale + gamma * heaviest * peak);
  const std::vector<double> nu = testing::multipliers(z, gamma, weights, row);
  for (std::size_t j = 0; j < z.size(); ++j) {
    EXPECT_GE(row.p[j], 0) << gamma << ' ' << j;
    if (row.p[j] > 0) {
      EXPECT_NEAR(nu[j], 0, rounding) << gamma << ' ' << j;
    } else {
      EXPECT_GE(nu[j], -rounding) << gamma << ' ' << j;
    }
  }
}

TEST(SmoothSparsemax, IsOptimal) {
  std::mt19937_64 rng(1);
  for (const std::size_t n : {1, 2, 3, 4, 7, 30, 200, 2000}) {
    for (const auto& z : testing::random_rows(rng, n)) {
      const auto weights = testing::random_weights(rng, n);
      for (const double gamma : kGammas) {
        expect_optimal(z, gamma, {}, smooth_row(z, gamma));
        expect_optimal(z, gamma, weights, smooth_row(z, gamma, weights));
      }
    }
  }
}

TEST(SmoothSparsemax, IsTheBestOfAllSupports) {
  std::mt19937_64 rng(2);
  for (const std::size_t n : {1, 2, 3, 5, 8}) {
    for (int repeat = 0; repeat < 3; ++repeat) {
      for (auto z : testing::random_rows(rng, n)) {
        if (repeat == 2 && n > 2) z[n / 2] = -kInf;
        const auto weights = repeat == 0 ? std::vector<double>{} : testing::random_weights(rng, n);
        for (const double gamma : kGammas) {
          const SmoothRow got = smooth_row(z, gamma, weights), want = testing::brute_force(z, gamma, weights);
          for (std::size_t j = 0; j < n; ++j) {
            EXPECT_NEAR(got.p[j], want.p[j], 2e-15) << n << ' ' << gamma << ' ' << j;
          }
          const double stiffest = gamma * (repeat == 0 ? 1 : 1e3);  // what the dense elimination loses
          EXPECT_NEAR(got.tau, want.tau, 4e-15 * std::max(1.0, std::abs(want.tau)) + 1e-18 * stiffest)
              << n << ' ' << gamma;
        }
      }
    }
  }
}

/// Scores made for a prediction: z = p + gamma L p - nu, rounded once, with tau = 0.
TEST(SmoothSparsemax, FindsAPredictionThatIsKnown) {
  constexpr std::size_t kCols = 2000;
  for (const double level : {1.1, 0.3, -0.9}) {  // everywhere positive, most, few
    std::vector<long double> p(kCols);
    long double total = 0;
    for (std::size_t j = 0; j < kCols; ++j) {
      const long double bump = level + std::sin(0.01L * static_cast<long double>(j));
      total += p[j] = bump > 0 ? bump * bump : 0;
    }
    for (const double gamma : kGammas) {
      std::vector<double> z(kCols);
      for (std::size_t j = 0; j < kCols; ++j) {
        const long double left = j > 0 ? p[j] - p[j - 1] : 0, right = j + 1 < kCols ? p[j + 1] - p[j] : 0;
        z[j] = static_cast<double>((p[j] + gamma * (left - right)) / total - (p[j] > 0 ? 0 : 0.1L));
      }
      const SmoothRow row = smooth_row(z, gamma);
      const double peak = *std::max_element(row.p.begin(), row.p.end());
      double error = 0;
      for (std::size_t j = 0; j < kCols; ++j) {
        error = std::max(error, std::abs(row.p[j] - static_cast<double>(p[j] / total)));
      }
      EXPECT_LT(error, 4e-14 * peak) << level << ' ' << gamma;
      EXPECT_NEAR(row.tau, 0, 1e-16 * (1 + gamma * peak)) << level << ' ' << gamma;
    }
  }
}

TEST(SmoothSparsemax, IsSparsemaxWithoutGamma) {
  std::mt19937_64 rng(3);
  for (const std::size_t n : {1, 2, 10, 1000}) {
    for (const auto& z : testing::random_rows(rng, n)) {
      std::vector<double> p(n);
      double tau = 0;
      cpu::sparsemax(one_row(z), one_row(p), {nullptr, &tau});
      const SmoothRow row = smooth_row(z, 0);
      EXPECT_NEAR(row.tau, tau, 4e-16 * std::max(1.0, std::abs(tau)));
      for (std::size_t j = 0; j < n; ++j) EXPECT_NEAR(row.p[j], p[j], 4e-16) << n << ' ' << j;
    }
  }
}

TEST(SmoothSparsemax, IsFlatInTheLimit) {
  const std::vector<double> z{1, -2, 0.5, 7, -4};
  for (const double p : smooth_row(z, 1e8).p) EXPECT_NEAR(p, 0.2, 2e-7);
  for (const double p : smooth_row(z, 1e300).p) EXPECT_NEAR(p, 0.2, 1e-16);
  EXPECT_NEAR(smooth_row(z, 1e8).tau, 0.5 - 0.2, 1e-6);
}

TEST(SmoothSparsemax, IsTheParabolaBetweenMasksInTheLimit) {
  std::vector<double> z(12, 0.0);
  z[0] = z[11] = -kInf;
  const SmoothRow row = smooth_row(z, 1e15);
  double total = 0;
  for (int j = 1; j <= 10; ++j) total += j * (11 - j);
  for (int j = 0; j < 12; ++j) {
    EXPECT_NEAR(row.p[static_cast<std::size_t>(j)], j * (11 - j) / total, 1e-14) << j;
  }
}

TEST(SmoothSparsemax, ReversesWithItsScores) {
  std::mt19937_64 rng(4);
  for (auto z : testing::random_rows(rng, 101)) {
    auto weights = testing::random_weights(rng, 101);
    for (const double gamma : kGammas) {
      const SmoothRow row = smooth_row(z, gamma, weights);
      std::reverse(z.begin(), z.end());
      std::reverse(weights.begin(), weights.end());
      SmoothRow back = smooth_row(z, gamma, weights);
      std::reverse(z.begin(), z.end());
      std::reverse(weights.begin(), weights.end());
      std::reverse(back.p.begin(), back.p.end());
      for (std::size_t j = 0; j < z.size(); ++j) EXPECT_NEAR(row.p[j], back.p[j], 1e-14) << gamma << ' ' << j;
    }
  }
}

TEST(SmoothSparsemax, IgnoresAnOffset) {
  const std::vector<double> z{0.5, 2, 1.25, -1, 1.75};
  std::vector<double> shifted = z;
  for (double& x : shifted) x += 0x1p40;
  for (const double gamma : kGammas) {
    EXPECT_EQ(smooth_row(z, gamma).p, smooth_row(shifted, gamma).p) << gamma;
    EXPECT_EQ(smooth_row(z, gamma).tau + 0x1p40, smooth_row(shifted, gamma).tau) << gamma;
  }
}

TEST(SmoothSparsemax, SurvivesHugeScores) {
  const std::vector<double> z{1e300, -1e300, 1e300, 9e299, -1e308};
  for (const double gamma : kGammas) {
    const auto p = smooth_row(z, gamma).p;
    expect_optimal({0, -1e300, 0, -1e299, -1e300}, gamma, {},
                   smooth_row({0, -1e300, 0, -1e299, -1e300}, gamma));
    EXPECT_NEAR(p[0] + p[2], 1, 4e-16) << gamma;
    EXPECT_EQ(p[1] + p[3] + p[4], 0) << gamma;
  }
  // A stiff chain balances them: (1 + 2 gamma) (p_0 - p_1) = z_0 - z_1.
  const auto p = smooth_row({0, -1e300}, 1e300).p;
  EXPECT_NEAR(p[0], 0.75, 1e-15);
  EXPECT_NEAR(p[1], 0.25, 1e-15);
  const auto q = smooth_row({0, -1e18}, 1e18).p;
  EXPECT_NEAR(q[0], 0.75, 1e-15);
  EXPECT_NEAR(q[1], 0.25, 1e-15);
  const auto r = smooth_row({-9e113, -9e113, 0, 0, -9e113}, 4e113).p;
  EXPECT_NEAR(testing::mass(r), 1, 1e-15);
}

TEST(SmoothSparsemax, EndsOnRowsFullOfTies) {
  std::mt19937_64 rng(5);
  for (const std::size_t n : {64, 1000}) {
    for (const double step : {1e-17, 1e-16, 1e-9, 1.0}) {
      std::vector<double> z(n);
      for (double& x : z) x = step * static_cast<double>(rng() % 3);
      for (const double gamma : {0.0, 1e-17, 1e-12, 1.0, 1e3, 1e16, 1e300, 1e308}) {
        const SmoothRow row = smooth_row(z, gamma);
        EXPECT_NEAR(testing::mass(row.p), 1, cpu::row_sum_error<double>(static_cast<index_t>(n)))
            << step << ' ' << gamma;
      }
    }
  }
}

/// Ties that rounding makes seem to enter and to leave the support, again and again.
TEST(SmoothSparsemax, EndsWhereScoresAreOnTheEdge) {
  const std::vector<double> z{-0.4, -0.8, -1.2, -1, -1.2, -0.6, -0.2, -1.2, -1, -1};
  const std::vector<double> y{0, -1.5, -0.25, -0.5, -0.75, -0.75, 0, -1.5, -1.5, -1.5};
  expect_optimal(z, 0.1, {}, smooth_row(z, 0.1));
  expect_optimal(y, 0.5, {}, smooth_row(y, 0.5));
}

TEST(SmoothSparsemax, SurvivesCouplingsThatOverflow) {
  const std::vector<double> z{0, 1, 2, -kInf, 1, 0}, weights(5, 1e3);
  for (const double gamma : {1e300, 1e306, 1e308}) {
    const auto p = smooth_row(z, gamma, weights).p;  // as g -> inf: the discrete torsion of each part
    const std::vector<double> want{6, 5, 3, 0, 2, 3};
    for (std::size_t j = 0; j < 6; ++j) EXPECT_NEAR(p[j], want[j] / 19, 1e-15) << gamma << ' ' << j;
  }
}

TEST(SmoothSparsemax, HoldsNeighboursOfMasks) {
  const std::vector<double> z{0, -kInf, 0};
  for (const double gamma : kGammas) {  // (1 + gamma) p = -tau on both sides
    const SmoothRow row = smooth_row(z, gamma);
    EXPECT_EQ(row.p, (std::vector<double>{0.5, 0, 0.5}));
    EXPECT_NEAR(row.tau, -(1 + gamma) / 2, 4e-16 * (1 + gamma));
  }
}

TEST(SmoothSparsemax, TreatsPaddingAsAbsent) {
  std::mt19937_64 rng(6);
  for (const auto& z : testing::random_rows(rng, 20)) {
    const auto weights = testing::random_weights(rng, 20);
    for (const index_t length : {1, 2, 13, 20}) {
      std::vector<double> padded = z, p(20);
      std::fill(padded.begin() + length, padded.end(), kNaN);
      Chain chain{{&length, 1}, one_row(weights)};
      double tau = 0;
      cpu::smooth_sparsemax(one_row(padded), 0.7, one_row(p), chain, &tau);
      const SmoothRow cut =
          smooth_row({z.begin(), z.begin() + length}, 0.7, {weights.begin(), weights.begin() + length - 1});
      EXPECT_EQ(tau, cut.tau);
      for (index_t j = 0; j < 20; ++j) {
        const auto at = static_cast<std::size_t>(j);
        EXPECT_EQ(p[at], j < length ? cut.p[at] : 0.0) << length << ' ' << j;
      }
    }
  }
}

TEST(SmoothSparsemax, MapsEveryRowByItself) {
  const int threads = num_threads();
  std::mt19937_64 rng(7);
  const index_t rows = 40, cols = 17;
  std::vector<double> z, gamma, weights, p(static_cast<std::size_t>(rows * cols)), tau(40);
  std::vector<index_t> lengths;
  for (index_t i = 0; i < rows; ++i) {
    const auto row = testing::random_rows(rng, cols)[static_cast<std::size_t>(i % 4)];
    const auto weight = testing::random_weights(rng, cols);
    z.insert(z.end(), row.begin(), row.end());
    weights.insert(weights.end(), weight.begin(), weight.end());
    gamma.push_back(kGammas[static_cast<std::size_t>(i) % kGammas.size()]);
    lengths.push_back(1 + i % cols);
  }
  const Chain chain{lengths, {weights.data(), rows, cols - 1}};
  for (const int count : {1, 3}) {
    set_num_threads(count);
    cpu::smooth_sparsemax({z.data(), rows, cols}, gamma, Rows<double>(p.data(), rows, cols), chain,
                          tau.data());
    for (index_t i = 0; i < rows; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const auto length = lengths[at];
      const SmoothRow row =
          smooth_row({z.begin() + i * cols, z.begin() + i * cols + length}, gamma[at],
                     {weights.begin() + i * (cols - 1), weights.begin() + i * (cols - 1) + length - 1});
      EXPECT_EQ(tau[at], row.tau) << i;
      for (index_t j = 0; j < length; ++j) {
        EXPECT_EQ(p[static_cast<std::size_t>(i * cols + j)], row.p[static_cast<std::size_t>(j)])
            << i << ' ' << j;
      }
    }
  }
  set_num_threads(threads);
}

TEST(SmoothSparsemax, SharesWeightsAmongRows) {
  const std::vector<double> z{1, 2, 0, 1, 2, 0}, weights{3, 0.5};
  std::vector<double> p(6);
  cpu::smooth_sparsemax({z.data(), 2, 3}, 1, Rows<double>(p.data(), 2, 3),
                        Chain{{}, {weights.data(), 2, 2, 0}});
  const auto row = smooth_row({1, 2, 0}, 1, weights).p;
  EXPECT_EQ(p, (std::vector<double>{row[0], row[1], row[2], row[0], row[1], row[2]}));
}

TEST(SmoothSparsemax, WritesOverItsScores) {
  const std::vector<double> z{1, 2, -kInf, 0.5};
  std::vector<double> p = z;
  cpu::smooth_sparsemax(one_row(p), 2, one_row(p));
  EXPECT_EQ(p, smooth_row(z, 2).p);
}

TEST(SmoothSparsemax, RoundsDoubleToFloat) {
  std::mt19937_64 rng(8);
  for (const auto& row : testing::random_rows(rng, 300)) {
    const std::vector<float> z(row.begin(), row.end());
    std::vector<float> p(300);
    for (const double gamma : kGammas) {
      cpu::smooth_sparsemax(one_row(z), gamma, one_row(p));
      const auto exact = smooth_row({z.begin(), z.end()}, gamma).p;
      for (std::size_t j = 0; j < p.size(); ++j) EXPECT_EQ(p[j], static_cast<float>(exact[j])) << gamma;
      EXPECT_NEAR(testing::mass(p), 1, cpu::row_sum_error<float>(300)) << gamma;
    }
  }
}

TEST(SmoothSparsemax, BadRowsBecomeNaN) {
  const std::vector<double> z{1, kNaN, 0, 1, 2, 0, kInf, 1, 0, -kInf, -kInf, 5};
  const std::vector<index_t> lengths{3, 3, 2, 2};
  std::vector<double> p(12), tau(4);
  cpu::smooth_sparsemax({z.data(), 4, 3}, 1, Rows<double>(p.data(), 4, 3), Chain{lengths}, tau.data());
  for (const std::size_t i : {0, 2, 3}) {
    EXPECT_TRUE(std::isnan(tau[i])) << i;
    for (std::size_t j = 0; j < 3; ++j) EXPECT_TRUE(std::isnan(p[3 * i + j])) << i << ' ' << j;
  }
  EXPECT_EQ((std::vector<double>{p[3], p[4], p[5]}), smooth_row({1, 2, 0}, 1).p);
}

TEST(SmoothSparsemax, NoRowsIsNothingToDo) {
  cpu::smooth_sparsemax({nullptr, 0, 3}, 1, Rows<double>(nullptr, 0, 3));
}

class SmoothSparsemaxErrors : public ::testing::Test {
 protected:
  template <class Error>
  std::string message(PerRow gamma, const Chain& chain = {}) {
    return message_of<Error>([&] {
      cpu::smooth_sparsemax({z.data(), 2, 3}, gamma, Rows<double>(p.data(), 2, 3), chain);
    });
  }
  std::vector<double> z = std::vector<double>(6), p = std::vector<double>(6);
};

TEST_F(SmoothSparsemaxErrors, Gamma) {
  EXPECT_EQ(message<std::domain_error>(-1),
            "fenchel::smooth_sparsemax: gamma must be finite and not negative, got -1");
  EXPECT_EQ(message<std::domain_error>(kNaN),
            "fenchel::smooth_sparsemax: gamma must be finite and not negative, got nan");
  EXPECT_EQ(message<std::domain_error>(std::vector<double>{1, kInf}),
            "fenchel::smooth_sparsemax: gamma[1] must be finite and not negative, got inf");
  EXPECT_EQ(message<std::invalid_argument>(std::vector<double>{1, 2, 3}),
            "fenchel::smooth_sparsemax: gamma.size() must equal the number of rows, 2, got 3");
}

TEST_F(SmoothSparsemaxErrors, Lengths) {
  const std::vector<index_t> zero{3, 0}, four{4, 1}, one{3};
  EXPECT_EQ(message<std::invalid_argument>(1, {zero}),
            "fenchel::smooth_sparsemax: lengths[1] must be in [1, 3], got 0");
  EXPECT_EQ(message<std::invalid_argument>(1, {four}),
            "fenchel::smooth_sparsemax: lengths[0] must be in [1, 3], got 4");
  EXPECT_EQ(message<std::invalid_argument>(1, {one}),
            "fenchel::smooth_sparsemax: lengths.size() must equal the number of rows, 2, got 1");
}

TEST_F(SmoothSparsemaxErrors, Weights) {
  std::vector<double> weights{1, 1, 1, 1, 1, 1};
  EXPECT_EQ(message<std::invalid_argument>(1, {{}, {weights.data(), 2, 3}}),
            "fenchel::smooth_sparsemax: weights.cols must be 2, got 3");
  EXPECT_EQ(message<std::invalid_argument>(1, {{}, {weights.data(), 1, 2}}),
            "fenchel::smooth_sparsemax: weights.rows must be 2, got 1");
  weights[3] = -2;
  EXPECT_EQ(message<std::domain_error>(1, {{}, {weights.data(), 2, 2}}),
            "fenchel::smooth_sparsemax: weights[1][1] must be positive and finite, got -2");
  weights[3] = kNaN;
  EXPECT_EQ(message<std::domain_error>(1, {{}, {weights.data(), 2, 2}}),
            "fenchel::smooth_sparsemax: weights[1][1] must be positive and finite, got nan");
}

TEST_F(SmoothSparsemaxErrors, Shapes) {
  const auto message_for = [&](Rows<const double> scores, Rows<double> out) {
    return message_of<std::invalid_argument>([&] { cpu::smooth_sparsemax(scores, 1, out); });
  };
  EXPECT_EQ(message_for({z.data(), 2, 3}, {p.data(), 2, 2}),
            "fenchel::smooth_sparsemax: p.cols must equal scores.cols = 3, got 2");
  EXPECT_EQ(message_for({z.data(), 2, 0}, {p.data(), 2, 0}),
            "fenchel::smooth_sparsemax: scores.cols must be at least 1, got 0");
  EXPECT_EQ(message_for({nullptr, 2, 3}, {p.data(), 2, 3}),
            "fenchel::smooth_sparsemax: scores.data must not be null, got a null pointer");
  EXPECT_EQ(message_for({z.data(), 1, 3}, {z.data() + 1, 1, 3}),
            "fenchel::smooth_sparsemax: p.data must be scores.data or not overlap it, got an offset of 1");
}

}  // namespace
}  // namespace fenchel
