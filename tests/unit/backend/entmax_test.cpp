#include "fenchel/backend/cpu/entmax.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "backend/cpu/entmax/row_group.hpp"
#include "fenchel/core/parallel.hpp"
#include "support/golden.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"
#include "support/reference.hpp"

namespace fenchel {
namespace {

using testing::kAlphas;
using testing::kInf;
using testing::kNaN;

std::vector<double> entmax(double alpha, std::vector<double> z, cpu::EntmaxByproducts byproducts = {}) {
  const auto n = static_cast<index_t>(z.size());
  cpu::entmax({z.data(), 1, n}, alpha, Rows<double>(z.data(), 1, n), byproducts);
  return z;
}

/// docs/math.md, golden values 8 to 10.
TEST(Entmax, MatchesTheGoldenValues) {
  struct Case {
    double alpha, tau;
    std::vector<double> p;
  };
  const std::vector<Case> cases{
      {1.5, -0.45498851448763385, {0.52924789432273287, 0.39374904287396949, 0.077003062803297641, 0}},
      {4.0 / 3, -1.3777953327951785, {0.49792008677479823, 0.38254931096509086, 0.11953060226011091, 0}},
      {1.25,
       -2.3366186589182589,
       {0.48415712912286409, 0.37810021230157072, 0.137692503743979, 5.0154831586196157e-5}}};
  for (const auto& [alpha, tau, expected] : cases) {
    double threshold = 0;
    index_t support = 0;
    const auto p = entmax(alpha, {1, 0.8, 0.1, -2}, {nullptr, &threshold, &support});
    EXPECT_NEAR(threshold, tau, 1e-14 * std::abs(tau));
    EXPECT_EQ(support, expected[3] > 0 ? 4 : 3);
    for (std::size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(p[i], expected[i], 1e-14 * expected[i]) << alpha;
  }
}

TEST(Entmax, MatchesTheTable) {
  for (auto& block : testing::golden_blocks("entmax.txt")) {
    const double alpha = block["alpha"][0];
    const auto& z = block["scores"];
    SCOPED_TRACE(::testing::Message() << "alpha = " << alpha << ", " << z.size() << " scores from " << z[0]);
    double normalizer = 0, threshold = 0;
    const auto p = entmax(alpha, z, {&normalizer, &threshold});
    for (std::size_t i = 0; i < p.size(); ++i)
      EXPECT_NEAR(p[i], block["p"][i], 2e-14 * block["p"][i] + 4e-16);
    EXPECT_NEAR(normalizer, block["normalizer"][0], 1e-14 * std::abs(block["normalizer"][0]) + 1e-15);
    if (alpha != 1) {
      EXPECT_NEAR(threshold, block["threshold"][0], 2e-14 * std::abs(block["threshold"][0]) + 1e-15);
    }
    std::vector<float> q(z.begin(), z.end());
    const bool exact_in_float = std::ranges::equal(q, z);
    cpu::entmax(Rows<const float>(q.data(), 1, static_cast<index_t>(q.size())), alpha,
                Rows<float>(q.data(), 1, static_cast<index_t>(q.size())));
    for (std::size_t i = 0; i < q.size() && exact_in_float; ++i) {
      EXPECT_NEAR(q[i], block["p"][i], 2e-6 * block["p"][i] + 1e-8) << "in float";
    }
  }
}

TEST(Entmax, NamedMapsAreEntmax) {
  const std::vector<double> z{0.3, -1, 2, 1.7};
  std::vector<double> soft(4), sparse(4);
  cpu::softmax({z.data(), 1, 4}, Rows<double>(soft.data(), 1, 4));
  cpu::sparsemax({z.data(), 1, 4}, Rows<double>(sparse.data(), 1, 4));
  EXPECT_EQ(soft, entmax(1, z));
  EXPECT_EQ(sparse, entmax(2, z));
  EXPECT_EQ(sparse[0], 0);
  EXPECT_NEAR(sparse[2], 0.65, 1e-15);
}

TEST(Entmax, LongRowsTakeNoMemoryForAGroup) {
  constexpr index_t kLong = index_t{1} << 26;
  EXPECT_LE(detail::group_scratch_bytes<float>(kLong) - detail::entmax_scratch_bytes<float>(kLong),
            detail::group_scratch_bytes<float>(detail::kLongestInGroup));
  EXPECT_EQ(detail::most_in_group<float>(kLong), 1);
}

TEST(Entmax, MaskedScoresHaveProbabilityZero) {
  for (const double alpha : kAlphas) {
    const auto masked = entmax(alpha, {0.2, -kInf, 0.5, -kInf, 0.1}), plain = entmax(alpha, {0.2, 0.5, 0.1});
    EXPECT_EQ(masked[1], 0);
    EXPECT_EQ(masked[3], 0);
    EXPECT_EQ((std::vector<double>{masked[0], masked[2], masked[4]}), plain) << alpha;
  }
}

TEST(Entmax, ABadRowIsNaNAndTheOthersAreUntouched) {
  for (const double alpha : kAlphas) {
    for (const double bad : {kNaN, kInf}) {
      std::vector<double> z{1, 2, 3, bad, 0, 1, -kInf, -kInf, -kInf, 1, 2, 3};
      std::vector<double> p(12), a(4), tau(4);
      std::vector<index_t> support(4);
      cpu::entmax({z.data(), 4, 3}, alpha, Rows<double>(p.data(), 4, 3),
                  {a.data(), tau.data(), support.data()});
      for (int j = 0; j < 3; ++j) {
        EXPECT_TRUE(std::isnan(p[3 + j]));
        EXPECT_TRUE(std::isnan(p[6 + j]));
        EXPECT_EQ(p[j], p[9 + j]) << alpha;
      }
      EXPECT_TRUE(std::isnan(a[1]) && std::isnan(a[2]) && std::isnan(tau[1]));
      EXPECT_EQ(support[1], 0);
      EXPECT_EQ(a[0], a[3]);
      EXPECT_EQ(p[0], entmax(alpha, {1, 2, 3})[0]);
    }
  }
}

TEST(Entmax, ExtremeScoresWork) {
  for (const double alpha : kAlphas) {
    EXPECT_EQ(entmax(alpha, {-7.5}), (std::vector<double>{1})) << alpha;
    const auto huge = entmax(alpha, {1e30, -1e30, 1e30});
    EXPECT_NEAR(huge[0], 0.5, 1e-15) << alpha;
    EXPECT_NEAR(huge[1], 0, alpha < 1 ? 1e-12 : 0) << alpha;
    EXPECT_EQ(huge[2], huge[0]) << alpha;
    const auto tiny = entmax(alpha, {1e-30, -1e-30, 3e-30});
    if (alpha <= 5) {  // beyond, 1e-30 is not small against (1/3)^am1
      for (const double x : tiny) EXPECT_NEAR(x, 1.0 / 3, 1e-15) << alpha;
    }
    const std::vector<double> equal(1'000'000, 4.25);
    for (const double x : {entmax(alpha, equal).front(), entmax(alpha, equal).back()})
      EXPECT_NEAR(x, 1e-6, 1e-21);
  }
}

TEST(Entmax, InfiniteAlphaIsUniformOverTheMaxima) {
  EXPECT_EQ(entmax(kInf, {1, 3, -2, 3}), (std::vector<double>{0, 0.5, 0, 0.5}));
  EXPECT_EQ(entmax(1e300, {1, 3, -2, 3}), (std::vector<double>{0, 0.5, 0, 0.5}));
}

TEST(Entmax, AlphaMayDifferByRow) {
  const std::vector<double> alphas(kAlphas.begin(), kAlphas.end());
  const auto rows = static_cast<index_t>(alphas.size());
  const std::vector<double> z{0.5, -0.25, 0.125, 1};
  std::vector<double> p(alphas.size() * 4);
  cpu::entmax({z.data(), rows, 4, 0}, std::span<const double>(alphas), Rows<double>(p.data(), rows, 4));
  for (std::size_t i = 0; i < alphas.size(); ++i) {
    EXPECT_EQ((std::vector<double>(p.begin() + 4 * i, p.begin() + 4 * i + 4)), entmax(alphas[i], z))
        << alphas[i];
  }
}

TEST(Entmax, AnyStrideInPlaceOrNot) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (const double alpha : {1.0, 1.3, 1.5, 2.0, 3.0}) {
    constexpr index_t kRows = 5, kCols = 37, kStride = 41;
    std::vector<double> z(kRows * kStride, -99), expected, padded(kRows * kStride, -99);
    for (double& x : z) x = normal(random);
    for (index_t i = 0; i < kRows; ++i) {
      const auto row = entmax(alpha, {z.begin() + i * kStride, z.begin() + i * kStride + kCols});
      expected.insert(expected.end(), row.begin(), row.end());
    }
    std::vector<double> p(kRows * kCols);
    cpu::entmax({z.data(), kRows, kCols, kStride}, alpha, Rows<double>(p.data(), kRows, kCols));
    EXPECT_EQ(p, expected);
    // Bottom up: the last row first.
    cpu::entmax({z.data() + (kRows - 1) * kStride, kRows, kCols, -kStride}, alpha,
                Rows<double>(p.data() + (kRows - 1) * kCols, kRows, kCols, -kCols));
    EXPECT_EQ(p, expected);
    cpu::entmax({z.data(), kRows, kCols, kStride}, alpha, Rows<double>(padded.data(), kRows, kCols, kStride));
    EXPECT_EQ(padded[kCols], -99) << "the gap between rows is not ours";
    cpu::entmax({z.data(), kRows, kCols, kStride}, alpha, Rows<double>(z.data(), kRows, kCols, kStride));
    EXPECT_TRUE(std::equal(z.begin(), z.begin() + kCols, expected.begin()));
  }
}

TEST(Entmax, ThreadsDoNotChangeTheResult) {
  std::mt19937 random(4);
  std::normal_distribution<float> normal(0, 2);
  std::vector<float> z(64 * 3000), one(z.size()), many(z.size());
  for (float& x : z) x = normal(random);
  for (const double alpha : {0.7, 1.0, 1.5, 1.6, 2.0, 4.0}) {
    set_num_threads(1);
    cpu::entmax({z.data(), 64, 3000}, alpha, Rows<float>(one.data(), 64, 3000));
    set_num_threads(5);
    cpu::entmax({z.data(), 64, 3000}, alpha, Rows<float>(many.data(), 64, 3000));
    set_num_threads(0);
    EXPECT_EQ(one, many) << alpha;
  }
}

TEST(Entmax, BadInputIsNamed) {
  std::vector<double> z(6), p(6);
  const Rows<const double> scores(z.data(), 2, 3);
  const Rows<double> out(p.data(), 2, 3);
  using testing::message_of;
  EXPECT_EQ(message_of<std::domain_error>([&] { cpu::entmax(scores, 0.0, out); }),
            "fenchel::entmax: alpha must be positive, got 0");
  EXPECT_EQ(message_of<std::domain_error>([&] { cpu::entmax(scores, -1.0, out); }),
            "fenchel::entmax: alpha must be positive, got -1");
  EXPECT_EQ(message_of<std::domain_error>([&] { cpu::entmax(scores, kNaN, out); }),
            "fenchel::entmax: alpha must be positive, got nan");
  const std::vector<double> alphas{1.5, -2}, three{1, 1, 1};
  EXPECT_EQ(message_of<std::domain_error>([&] { cpu::entmax(scores, std::span<const double>(alphas), out); }),
            "fenchel::entmax: alpha[1] must be positive, got -2");
  EXPECT_EQ(
      message_of<std::invalid_argument>([&] { cpu::entmax(scores, std::span<const double>(three), out); }),
      "fenchel::entmax: alpha.size() must equal the number of rows, 2, got 3");
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              cpu::softmax({z.data(), 2, 0}, Rows<double>(p.data(), 2, 0));
            }),
            "fenchel::softmax: scores.cols must be at least 1, got 0");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { cpu::sparsemax(scores, Rows<double>(p.data(), 2, 2)); }),
            "fenchel::sparsemax: p.cols must equal scores.cols = 3, got 2");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { cpu::sparsemax(scores, Rows<double>(p.data(), 1, 3)); }),
            "fenchel::sparsemax: p.rows must equal scores.rows = 2, got 1");
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              cpu::softmax({nullptr, 2, 3}, out);
            }),
            "fenchel::softmax: scores.data must not be null, got a null pointer");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { cpu::softmax(scores, Rows<double>(nullptr, 2, 3)); }),
            "fenchel::softmax: p.data must not be null, got a null pointer");
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              cpu::softmax({z.data(), -2, 3}, out);
            }),
            "fenchel::softmax: scores.rows must not be negative, got -2");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { cpu::softmax(scores, Rows<double>(p.data(), 2, 3, 1)); }),
            "fenchel::softmax: p.stride must be at least cols, so that rows do not overlap, got 1");
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              cpu::softmax({z.data(), 2, 2, 2}, Rows<double>(z.data() + 1, 2, 2, 2));
            }),
            "fenchel::softmax: p.data must be scores.data or not overlap it, got an offset of 1");
}

TEST(Entmax, NoRowsIsNothingToDo) {
  cpu::entmax({nullptr, 0, 3}, 1.5, Rows<double>(nullptr, 0, 3));
  cpu::entmax({nullptr, 0, 0}, 1.5, Rows<double>(nullptr, 0, 0));
}

}  // namespace
}  // namespace fenchel
