#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "backend/cpu/attention/row.hpp"
#include "core/lanes/lane_trigonometry.hpp"
#include "core/small_matrix.hpp"
#include "support/golden.hpp"
#include "support/grids.hpp"

namespace fenchel {
namespace {

using detail::Accuracy, detail::Wanted;
using testing::kInf;
using Numbers = std::vector<double>;

/// Functions of diagonal covariances under the density of Sigma = 1, mu = 0.
struct Rows {
  double alpha;
  index_t dimension;
  Numbers means, variances;  ///< N x D each

  [[nodiscard]] index_t size() const { return static_cast<index_t>(means.size()) / dimension; }

  /// The kernel's blocks; empty when it says that they are not accurate.
  [[nodiscard]] Numbers attend(Wanted wanted, Accuracy accuracy) const {
    const index_t d = dimension, n = size();
    Numbers mu(static_cast<std::size_t>(d)), scale(static_cast<std::size_t>(d * d));
    Numbers covariances(static_cast<std::size_t>(n * d * d));
    for (index_t a = 0; a < d; ++a) {
      scale[static_cast<std::size_t>(a * d + a)] = 1;
      for (index_t j = 0; j < n; ++j) {
        covariances[static_cast<std::size_t>((j * d + a) * d + a)] =
            variances[static_cast<std::size_t>(j * d + a)];
      }
    }
    Numbers scratch(static_cast<std::size_t>(detail::space_scratch(d)));
    Numbers out(static_cast<std::size_t>(n * detail::block_count(d, wanted)));
    const bool accurate =
        detail::attend_space_row({beta_gaussian_constants(d, alpha - 1, 0), mu.data(), scale.data()},
                                 {{means.data(), n, d}, {covariances.data(), n, d * d}}, wanted, accuracy,
                                 scratch.data(), {out.data(), n});
    return accurate ? out : Numbers{};
  }
};

/// Widths from 1e-4 to 1e3 of the support, centres to 30 widths outside of it.
Rows random_rows(std::mt19937_64& rng, index_t dimension, index_t count) {
  std::uniform_real_distribution<double> unit(0, 1);
  std::normal_distribution<double> normal;
  const double s = unit(rng) < 0.3 ? std::floor(4 * unit(rng)) : std::pow(10, 8 * unit(rng) - 3);
  Rows rows{1 + 1 / s, dimension, {}, {}};
  const double radius = std::sqrt(beta_gaussian_constants(dimension, rows.alpha - 1, 0).radius2);
  for (index_t j = 0; j < count; ++j) {
    Numbers widths, centre;
    double norm = 0;
    for (index_t a = 0; a < dimension; ++a) {
      widths.push_back(a > 0 && j % 2 == 0 ? widths[0] : std::pow(10, 7 * unit(rng) - 4));
      centre.push_back(normal(rng));
      norm = std::hypot(norm, centre.back());
    }
    const double narrow = *std::min_element(widths.begin(), widths.end());
    const double at = j % 3 == 0 ? unit(rng) : 1 + narrow * (35 * unit(rng) - 5);
    for (index_t a = 0; a < dimension; ++a) {
      const double width = widths[static_cast<std::size_t>(a)] * radius;
      rows.means.push_back(centre[static_cast<std::size_t>(a)] / norm * at * radius);
      rows.variances.push_back(width * width);
    }
  }
  return rows;
}

TEST(AttentionSpace, AgreesWithMultiprecision) {
  int cases = 0;
  for (const testing::GoldenBlock& block : testing::golden_blocks("attention_space.txt")) {
    const Numbers& mean = block.at("mean");
    const Rows rows{block.at("alpha")[0], static_cast<index_t>(mean.size()), mean, block.at("variances")};
    const double value = block.at("value")[0];
    const Numbers fine = rows.attend(Wanted::kValues, Accuracy::kDouble);
    const Numbers coarse = rows.attend(Wanted::kValues, Accuracy::kSingle);
    ASSERT_EQ(fine.size(), 1u);
    ASSERT_EQ(coarse.size(), 1u);
    // A function outside of the support sees every rounding of the radius many times.
    const double radius =
        std::sqrt(std::abs(beta_gaussian_constants(rows.dimension, rows.alpha - 1, 0).radius2));
    const double condition = std::max(0.0, mean[0] - radius) * radius / block.at("variances")[0];
    const double tiny = std::numeric_limits<double>::min(), tolerance = 1e-12 + 1e-15 * condition;
    EXPECT_NEAR(fine[0], value, tolerance * value + tiny)
        << "alpha " << rows.alpha << " mean " << mean[0] << " D " << mean.size();
    EXPECT_NEAR(coarse[0], value, 1e-7 * value + tiny) << "alpha " << rows.alpha << " mean " << mean[0];
    ++cases;
  }
  EXPECT_GE(cases, 140);
}

/// Twelve functions of one covariance, as they stand in a basis, share contours: the sixth is that of the
/// table.
TEST(AttentionSpace, FunctionsOfOneCovarianceAgreeWithMultiprecision) {
  constexpr std::size_t kCount = 12, kPlace = 5;
  for (const testing::GoldenBlock& block : testing::golden_blocks("attention_space.txt")) {
    const Numbers &mean = block.at("mean"), &variances = block.at("variances");
    const auto d = static_cast<index_t>(mean.size());
    Rows rows{block.at("alpha")[0], d, {}, {}};
    for (std::size_t j = 0; j < kCount; ++j) {
      const double share = static_cast<double>(j + 1) / (kPlace + 1);
      for (const double m : mean) rows.means.push_back(j == kPlace ? m : share * m);
      rows.variances.insert(rows.variances.end(), variances.begin(), variances.end());
    }
    const double value = block.at("value")[0], tiny = std::numeric_limits<double>::min();
    const double radius = std::sqrt(std::abs(beta_gaussian_constants(d, rows.alpha - 1, 0).radius2));
    const double condition = std::max(0.0, mean[0] - radius) * radius / variances[0];
    const Numbers fine = rows.attend(Wanted::kGradient, Accuracy::kDouble);
    const Numbers coarse = rows.attend(Wanted::kValues, Accuracy::kSingle);
    ASSERT_EQ(coarse.size(), kCount);
    ASSERT_EQ(fine.size(), kCount * static_cast<std::size_t>(detail::block_count(d, Wanted::kGradient)));
    SCOPED_TRACE(::testing::Message() << "alpha " << rows.alpha << " mean " << mean[0] << " D " << d);
    EXPECT_NEAR(fine[kPlace], value, (1e-12 + 1e-15 * condition) * value + tiny);
    EXPECT_NEAR(coarse[kPlace], value, 2e-7 * value + tiny);
    for (std::size_t j = 0; j < kCount; ++j) {
      const auto from = static_cast<std::ptrdiff_t>(j) * d;
      const Rows alone{rows.alpha, d, Numbers(rows.means.begin() + from, rows.means.begin() + from + d),
                       variances};
      const Numbers own = alone.attend(Wanted::kGradient, Accuracy::kDouble);
      double size = 0;
      for (const double x : own) size = std::max(size, std::abs(x));
      for (std::size_t b = 0; b < own.size(); ++b)
        EXPECT_NEAR(fine[b * kCount + j], own[b], (1e-11 + 2e-15 * condition) * size + tiny) << b;
    }
  }
}

TEST(AttentionSpace, AFloatIsADoubleToItsAccuracy) {
  std::mt19937_64 rng(1);
  for (int i = 0; i < 300; ++i) {
    const Rows rows = random_rows(rng, 2 + i % 4, 11);
    const Numbers fine = rows.attend(Wanted::kValues, Accuracy::kDouble);
    const Numbers coarse = rows.attend(Wanted::kValues, Accuracy::kSingle);
    ASSERT_EQ(fine.size(), 11u);
    ASSERT_EQ(coarse.size(), 11u);
    for (std::size_t j = 0; j < fine.size(); ++j) {
      EXPECT_NEAR(coarse[j], fine[j], 2e-7 * fine[j] + 1e-300) << rows.alpha;
    }
  }
}

TEST(AttentionSpace, AFunctionDoesNotSeeItsNeighbours) {
  std::mt19937_64 rng(2);
  for (index_t count : {1, 7, 8, 9, 20}) {
    const Rows all = random_rows(rng, 3, count);
    const Numbers together = all.attend(Wanted::kAlphaToo, Accuracy::kDouble);
    ASSERT_EQ(static_cast<index_t>(together.size()), count * detail::block_count(3, Wanted::kAlphaToo));
    for (index_t j = 0; j < count; ++j) {
      const auto part = [&](const Numbers& x) { return Numbers(x.begin() + 3 * j, x.begin() + 3 * j + 3); };
      const Numbers alone =
          Rows{all.alpha, 3, part(all.means), part(all.variances)}.attend(Wanted::kValues, Accuracy::kDouble);
      EXPECT_NEAR(together[static_cast<std::size_t>(j)], alone[0], 1e-12 * alone[0]) << count << " " << j;
    }
  }
}

TEST(AttentionSpace, AskingForDerivativesDoesNotChangeValues) {
  std::mt19937_64 rng(3);
  for (double alpha : {0.8, 1.0, 1.5, 2.0, kInf}) {
    Rows rows = random_rows(rng, 2, 9);
    rows.alpha = alpha;
    const Numbers values = rows.attend(Wanted::kValues, Accuracy::kDouble);
    for (Wanted wanted : {Wanted::kGradient, Wanted::kAlphaToo}) {
      const Numbers more = rows.attend(wanted, Accuracy::kDouble);
      for (std::size_t j = 0; j < values.size(); ++j) EXPECT_EQ(more[j], values[j]) << alpha;
    }
  }
}

/// p(mu_j) + Tr(Sigma_j p''(mu_j)) / 2, the latter 0 to rounding; psi_j(mu) for a wide function.
TEST(AttentionSpace, NarrowAndWideFunctionsAreKnown) {
  for (double alpha : {0.8, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 4.0 / 3, 1.5, 2.0, 5.0, 1e6, kInf}) {
    const BetaGaussianConstants c = beta_gaussian_constants(3, alpha - 1, 0);
    const double at = 0.3 * std::sqrt(std::min(std::abs(c.radius2), 4.0));
    const Rows narrow{alpha, 3, {at, at, -at}, Numbers(3, 1e-18)};
    EXPECT_NEAR(
        narrow.attend(Wanted::kValues, Accuracy::kDouble).at(0) / std::exp(log_density(c, 3 * at * at)), 1,
        1e-13)
        << alpha;
    const Rows wide{alpha, 3, {1, 2, 3}, Numbers(3, 1e14)};
    const double peak = std::pow(2 * 3.14159265358979323846 * 1e14, -1.5);
    EXPECT_NEAR(wide.attend(Wanted::kValues, Accuracy::kDouble).at(0) / peak, 1, 2e-13) << alpha;
  }
}

TEST(AttentionSpace, WhatUnderflowsIsZero) {
  for (double alpha : {1.5, 2.0, kInf}) {
    const Rows far{alpha, 2, {1e3, 0, 1e8, 1e8, 0, 0}, {1e-4, 1e-4, 1e-9, 1e-2, 0.1, 0.1}};
    const Numbers out = far.attend(Wanted::kAlphaToo, Accuracy::kDouble);
    ASSERT_EQ(out.size(), 21u);
    for (std::size_t block = 0; block < 7; ++block) {
      EXPECT_EQ(out[3 * block], 0);
      EXPECT_EQ(out[3 * block + 1], 0);
    }
    EXPECT_GT(out[2], 0);
  }
}

TEST(AttentionSpace, FarFunctionsOfAStudentEnd) {
  for (double alpha : {0.6, 0.99, 0.9995, 1 - 1e-12}) {
    const Rows far{alpha, 2, {1e3, 0, 1e8, 1e8, 0, 0}, {1e-4, 1e-4, 1e-9, 1e-2, 0.1, 0.1}};
    const Numbers out = far.attend(Wanted::kAlphaToo, Accuracy::kDouble);
    ASSERT_EQ(out.size(), 21u) << alpha;
    const BetaGaussianConstants c = beta_gaussian_constants(2, alpha - 1, 0);
    const double expected = std::exp(log_density(c, 1e6));
    EXPECT_NEAR(out[0], expected, 1e-6 * expected) << alpha;
    EXPECT_GT(out[2], 0.01);
  }
}

TEST(SmallMatrix, EigenvectorsDiagonalise) {
  std::mt19937_64 rng(4);
  std::normal_distribution<double> normal;
  for (index_t n : {1, 2, 3, 5, 8}) {
    const auto at = [n](index_t i, index_t k) { return static_cast<std::size_t>(i * n + k); };
    Numbers a(static_cast<std::size_t>(n * n)), vectors(a.size());
    for (index_t i = 0; i < n; ++i) {
      for (index_t k = 0; k <= i; ++k) a[at(i, k)] = a[at(k, i)] = n == 5 && i != k ? 0 : normal(rng);
    }
    Numbers diagonal = a;
    detail::symmetric_eigen(diagonal.data(), n, vectors.data());
    for (index_t i = 0; i < n; ++i) {
      for (index_t k = 0; k < n; ++k) {
        double rebuilt = 0, product = 0;
        for (index_t m = 0; m < n; ++m) {
          rebuilt += vectors[at(i, m)] * diagonal[at(m, m)] * vectors[at(k, m)];
          product += vectors[at(m, i)] * vectors[at(m, k)];
        }
        EXPECT_NEAR(rebuilt, a[at(i, k)], 1e-14 * static_cast<double>(n));
        EXPECT_NEAR(product, i == k ? 1 : 0, 1e-14);
      }
    }
  }
}

TEST(SmallMatrix, SolvesWithTheTransposedFactor) {
  const Numbers factor{2, 0, 0, 1, 3, 0, -1, 4, 5};
  Numbers x{2 * 1 + 1 * 2 - 1 * 3, 3 * 2 + 4 * 3, 5 * 3};
  detail::solve_upper(factor.data(), 3, x.data());
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(x[i], static_cast<double>(i + 1), 1e-15);
}

TEST(LaneTrigonometry, IsAccurate) {
  for (int i = -4000; i <= 4000; ++i) {
    const double x = i * std::abs(i) * 2e-4 + 1e-3;
    const detail::SineCosine found = detail::sine_cosine_element(x);
    EXPECT_NEAR(found.sine, std::sin(x), detail::kLaneAngleError);
    EXPECT_NEAR(found.cosine, std::cos(x), detail::kLaneAngleError);
    const double angle = (i + 4000) * 2.9e-4;
    EXPECT_NEAR(detail::angle_element(3 * std::cos(angle), 3 * std::sin(angle), 3), angle,
                detail::kLaneAngleError);
  }
}

}  // namespace
}  // namespace fenchel
