#include "fenchel/backend/cpu/fusedmax.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "support/fused_rows.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using cpu::Chain, testing::fusedmax_of, testing::kInf, testing::kNaN, testing::kRowKinds,
    testing::largest_difference, testing::make_row, testing::message_of, testing::out_of, testing::row_of,
    testing::Vector;

Vector fusedmax(const Vector& z, double gamma, const Chain& chain = {}) {
  Vector p(z.size());
  cpu::fusedmax<double>(row_of(z), gamma, out_of(p), chain);
  return p;
}

double bound(const Vector& z, double gamma) {
  const auto [low, high] = std::minmax_element(z.begin(), z.end());
  return cpu::kFusedmaxError * (1 + *high - *low + gamma);
}

const std::vector<double> kGammas{0, 1e-8, 1e-3, 0.1, 1, 3, 30, 1e3, 1e8};

TEST(Fusedmax, IsSparsemaxOfTheTautString) {
  for (const auto& kind : kRowKinds) {
    for (const std::size_t n : {1u, 2u, 3u, 7u, 16u, 17u, 64u, 65u, 129u, 700u, 5000u}) {
      for (const double gamma : kGammas) {
        const Vector z = make_row(kind, n, n), p = fusedmax(z, gamma);
        EXPECT_LE(largest_difference(p, fusedmax_of(z, gamma)), bound(z, gamma))
            << kind << " n=" << n << " gamma=" << gamma;
        const auto mass = static_cast<double>(std::accumulate(p.begin(), p.end(), 0.0L));
        EXPECT_NEAR(mass, 1, cpu::row_sum_error<double>(static_cast<index_t>(n)))
            << kind << n << " " << gamma;
      }
    }
  }
}

/// Runs that hardly pay, in every position within a vector.
TEST(Fusedmax, IsSparsemaxOfTheTautStringOnManyShortRows) {
  for (std::uint64_t seed = 0; seed < 20000; ++seed) {
    const std::size_t n = 1 + seed % 97;
    const double gamma = 0.05 * static_cast<double>(1 + seed % 41);
    const Vector z = make_row(kRowKinds[seed % 3], n, seed);
    ASSERT_LE(largest_difference(fusedmax(z, gamma), fusedmax_of(z, gamma)), bound(z, gamma)) << seed;
  }
}

/// By projected gradient steps on the dual variables of the edges, accelerated: another way altogether.
Vector reference(const Vector& z, double gamma) {
  const std::size_t edges = z.size() - 1;
  Vector u(edges), ahead(edges), x = z;
  double momentum = 1;
  const auto primal = [&](const Vector& dual) {
    for (std::size_t i = 0; i < z.size(); ++i) {
      x[i] = z[i] + (i < edges ? dual[i] : 0.0) - (i > 0 ? dual[i - 1] : 0.0);
    }
  };
  for (int step = 0; step < 4000; ++step) {
    primal(ahead);
    const double next = (1 + std::sqrt(1 + 4 * momentum * momentum)) / 2;
    for (std::size_t k = 0; k < edges; ++k) {
      const double moved = std::clamp(ahead[k] + (x[k + 1] - x[k]) / 4, -gamma, gamma);
      ahead[k] = moved + (momentum - 1) / next * (moved - u[k]);
      u[k] = moved;
    }
    momentum = step % 200 == 199 ? 1 : next;
  }
  primal(u);
  return testing::sparsemax_of(x);
}

TEST(Fusedmax, AgreesWithAnIndependentDualSolver) {
  for (int seed = 0; seed < 20; ++seed) {
    const Vector z = make_row(seed % 2 == 0 ? "walk" : "noise", 12, 100 + static_cast<std::uint64_t>(seed));
    for (const double gamma : {0.05, 0.3, 2.0}) {
      EXPECT_LT(largest_difference(fusedmax(z, gamma), reference(z, gamma)), 1e-9) << seed << " " << gamma;
    }
  }
}

TEST(Fusedmax, WithoutPenaltyIsSparsemaxAndWithALargeOneUniform) {
  const Vector z = make_row("noise", 300, 1);
  Vector sparse(z.size());
  cpu::sparsemax<double>(row_of(z), out_of(sparse));
  EXPECT_LT(largest_difference(fusedmax(z, 0), sparse), 1e-15);
  for (const double p : fusedmax(z, 1e8)) EXPECT_EQ(p, fusedmax(z, 1e8)[0]);
  EXPECT_NEAR(fusedmax(z, 1e8)[0], 1. / 300, 1e-17);
}

/// The printed sum starts at a p_0 that is not there; were it 0, the first column would pay for its height.
TEST(Fusedmax, E12TheFirstColumnHasNoNeighbourBefore) {
  const Vector p = fusedmax({0.6, 0.5, 0.2}, 0.1), printed = fusedmax({-kInf, 0.6, 0.5, 0.2}, 0.1);
  EXPECT_NEAR(p[0], 0.4, 1e-15);
  EXPECT_NEAR(p[1], 0.4, 1e-15);
  EXPECT_NEAR(p[2], 0.2, 1e-15);
  EXPECT_GT(p[0] - printed[1], 0.01);
}

TEST(Fusedmax, PlateausAreOneNumber) {
  const Vector p = fusedmax({0.1, 1.0, 0.9, 1.1, 0.2, -3}, 0.15);
  EXPECT_EQ(p[1], p[2]);
  EXPECT_EQ(p[2], p[3]);
  EXPECT_GT(p[1], p[0]);
  EXPECT_EQ(p[5], 0);
}

TEST(Fusedmax, KnowsNoLeftAndRightAndNoOffset) {
  for (const auto& kind : kRowKinds) {
    Vector z = make_row(kind, 200, 7);
    const Vector p = fusedmax(z, 0.4);
    for (double& x : z) x += 1024;
    EXPECT_LT(largest_difference(p, fusedmax(z, 0.4)), 1e-12) << kind;
    std::reverse(z.begin(), z.end());
    Vector mirrored = fusedmax(z, 0.4);
    std::reverse(mirrored.begin(), mirrored.end());
    EXPECT_LT(largest_difference(p, mirrored), 1e-12) << kind;
  }
}

TEST(Fusedmax, SurvivesScoresOfAnySize) {
  EXPECT_EQ(fusedmax({1e300, 1e300, -1e300}, 1), (Vector{0.5, 0.5, 0}));
  EXPECT_EQ(fusedmax({-1e300, 1e300}, 0.25), (Vector{0, 1}));
  EXPECT_EQ(fusedmax({5e-324, 0}, 0), (Vector{0.5, 0.5}));
  EXPECT_EQ(fusedmax({1e17, 1e17, 1e17 - 64}, 0.1), (Vector{0.5, 0.5, 0}));
}

/// Differences of these overflow. What lies further below the peak than gammas reach may lie anywhere there.
TEST(Fusedmax, SurvivesScoresNextToTheLargestNumber) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> power(290, 308.2);
  for (const std::size_t n : {2u, 3u, 5u, 17u, 64u, 200u}) {
    for (int repeat = 0; repeat < 3000; ++repeat) {
      Vector z(n);
      for (double& x : z) x = std::copysign(std::pow(10, power(random)), normal(random));
      const double top = *std::max_element(z.begin(), z.end());
      for (const double gamma : {0.0, 1.0, 1e9, 1e300}) {
        const Vector p = fusedmax(z, gamma);
        ASSERT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1, 1e-15) << n << ' ' << gamma;
        Vector near = z;
        for (double& x : near) x = std::max(x, top - 1e303);
        ASSERT_LT(largest_difference(p, fusedmax(near, gamma)), 1e-15) << n << ' ' << gamma;
      }
    }
  }
}

/// Where rounding of the scores, or of gamma, is more than a probability.
TEST(Fusedmax, KeepsItsMassHoweverLargeTheScores) {
  for (double size = 1; size < 1e299; size *= 7) {
    EXPECT_EQ(fusedmax({-3, 5, 0, -kInf, 1}, 70 * size), (Vector{1. / 3, 1. / 3, 1. / 3, 0, 0})) << size;
    const Vector z{2 * size, 1.4 * size, 3.7 * size, -5 * size, -size, 3 * size};
    for (const double gamma : {0.1, 0.3, 0.7, 3.0}) {
      const Vector p = fusedmax(z, gamma * size);
      EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1, 1e-15) << size << ' ' << gamma;
    }
  }
  const Vector flat = fusedmax(Vector(39906), 1);
  EXPECT_NEAR(static_cast<double>(std::accumulate(flat.begin(), flat.end(), 0.0L)), 1, 1e-15);
}

TEST(Fusedmax, SurvivesGammasThatOverflow) {
  const Vector z{0, 1, 2, -kInf, 1, 0}, weights(5, 1e3);
  Chain heavy;
  heavy.weights = {weights.data(), 1, 5};
  const Vector want{1. / 3, 1. / 3, 1. / 3, 0, 0, 0};
  EXPECT_EQ(fusedmax(z, 1.7e308), want);
  EXPECT_EQ(fusedmax(z, 1e307, heavy), want);
}

TEST(Fusedmax, TheLowestFloatIsAMask) {
  std::vector<float> z(40), p(40), q(40);
  for (std::size_t i = 0; i < z.size(); ++i) z[i] = 0.01F * static_cast<float>(i % 7);
  const auto predict = [&z](float mask, std::vector<float>& out) {
    z[0] = z[1] = z[20] = mask;
    cpu::fusedmax<float>({z.data(), 1, 40}, 0.1, {out.data(), 1, 40});
  };
  predict(std::numeric_limits<float>::lowest(), p);
  predict(-std::numeric_limits<float>::infinity(), q);
  EXPECT_EQ(p, q);
}

TEST(Fusedmax, AMaskIsTheLimitOfALowScore) {
  Vector z = make_row("noise", 80, 3), low = z;
  for (const std::size_t i : {0u, 5u, 6u, 30u, 79u}) {
    z[i] = -kInf;
    low[i] = -1e5;
  }
  for (const double gamma : {0.0, 0.1, 1.0, 20.0}) {
    const Vector p = fusedmax(z, gamma);
    EXPECT_LT(largest_difference(p, fusedmax_of(low, gamma)), 1e-10) << gamma;
    EXPECT_EQ(p[5], 0);
  }
}

TEST(Fusedmax, PaddingDoesNotExist) {
  constexpr index_t kCols = 40;
  Vector z = make_row("walk", 3 * kCols, 5), p(z.size());
  const std::vector<index_t> lengths{40, 1, 17};
  for (std::size_t i = 0; i < 3; ++i) {
    for (auto j = static_cast<std::size_t>(lengths[i]); j < kCols; ++j) z[i * kCols + j] = kNaN;
  }
  cpu::fusedmax<double>({z.data(), 3, kCols}, 0.7, {p.data(), 3, kCols}, {.lengths = lengths});
  for (std::size_t i = 0; i < 3; ++i) {
    const auto begin = z.begin() + static_cast<std::ptrdiff_t>(i) * kCols;
    Vector expected = fusedmax(Vector(begin, begin + lengths[i]), 0.7);
    expected.resize(kCols);
    const auto first = p.begin() + static_cast<std::ptrdiff_t>(i) * kCols;
    EXPECT_EQ(Vector(first, first + kCols), expected) << i;
  }
}

TEST(Fusedmax, WeightsScaleGammaEdgeByEdge) {
  for (const std::size_t n : {2u, 9u, 300u}) {
    const Vector z = make_row("walk", n, 11);
    Vector weights = make_row("noise", n - 1, 12), caps = weights;
    for (std::size_t k = 0; k + 1 < n; ++k) caps[k] = 0.4 * (weights[k] = std::exp(weights[k]));
    const Vector p = fusedmax(z, 0.4, {.weights = row_of(weights)});
    EXPECT_LT(largest_difference(p, testing::sparsemax_of(taut_string(z, caps))), 1e-11) << n;
    const Vector ones(n - 1, 1.0);
    EXPECT_LT(largest_difference(fusedmax(z, 0.4, {.weights = row_of(ones)}), fusedmax(z, 0.4)), 1e-13);
  }
}

TEST(Fusedmax, RowsHaveTheirOwnGammaWeightsAndFate) {
  constexpr index_t kCols = 30;
  Vector z = make_row("noise", 3 * kCols, 8), p(z.size()), threshold(3);
  z[kCols + 4] = kNaN;
  const Vector gamma{0.1, 1, 5}, weights(kCols - 1, 2.0);
  cpu::fusedmax<double>({z.data(), 3, kCols}, gamma, {p.data(), 3, kCols},
                        {.weights = {weights.data(), 3, kCols - 1, 0}}, threshold.data());
  for (const std::ptrdiff_t i : {0, 2}) {
    const Vector row(z.begin() + i * kCols, z.begin() + (i + 1) * kCols);
    const Vector found(p.begin() + i * kCols, p.begin() + (i + 1) * kCols);
    EXPECT_LT(largest_difference(found, fusedmax_of(row, 2 * gamma[static_cast<std::size_t>(i)])), 1e-13);
    // p = x - tau at the peak.
    const Vector x = taut_string(row, Vector(kCols - 1, 2 * gamma[static_cast<std::size_t>(i)]));
    EXPECT_NEAR(*std::max_element(found.begin(), found.end()),
                *std::max_element(x.begin(), x.end()) - threshold[static_cast<std::size_t>(i)], 1e-13);
  }
  EXPECT_TRUE(std::isnan(threshold[1]));
  for (index_t j = 0; j < kCols; ++j) EXPECT_TRUE(std::isnan(p[static_cast<std::size_t>(kCols + j)]));
  for (const double bad : {kInf, kNaN}) EXPECT_TRUE(std::isnan(fusedmax({1, bad, 2}, 1)[0]));
  EXPECT_TRUE(std::isnan(fusedmax({-kInf, -kInf}, 1)[1]));
}

TEST(Fusedmax, FloatsAreRoundedDoubles) {
  for (const auto& kind : kRowKinds) {
    for (const double gamma : {0.0, 0.2, 4.0, 1e4}) {
      const Vector wide = make_row(kind, 1000, 21);
      std::vector<float> z(wide.begin(), wide.end()), p(z.size());
      cpu::fusedmax<float>({z.data(), 1, 1000}, gamma, {p.data(), 1, 1000});
      const Vector exact = fusedmax({z.begin(), z.end()}, gamma);
      for (std::size_t i = 0; i < z.size(); ++i) EXPECT_NEAR(double{p[i]}, exact[i], 1e-7 * exact[i] + 1e-12);
      cpu::fusedmax<float>({z.data(), 1, 1000}, gamma, {z.data(), 1, 1000});
      EXPECT_EQ(z, p) << "in place";
    }
  }
}

TEST(Fusedmax, NamesWhatIsWrong) {
  const Vector z(6), two(2, 1.0);
  Vector p(6);
  const Rows<const double> rows(z.data(), 2, 3);
  const Rows<double> out(p.data(), 2, 3);
  const auto call = [&](PerRow gamma, const Chain& chain = {}) {
    return [&rows, &out, gamma, chain] { cpu::fusedmax<double>(rows, gamma, out, chain); };
  };
  using std::domain_error, std::invalid_argument;
  EXPECT_EQ(message_of<domain_error>(call(-1.0)),
            "fenchel::fusedmax: gamma must be finite and not negative, got -1");
  EXPECT_EQ(message_of<domain_error>(call(kNaN)),
            "fenchel::fusedmax: gamma must be finite and not negative, got nan");
  const Vector gammas{1, -2}, three(3, 1.0);
  EXPECT_EQ(message_of<domain_error>(call(gammas)),
            "fenchel::fusedmax: gamma[1] must be finite and not negative, got -2");
  EXPECT_EQ(message_of<invalid_argument>(call(three)),
            "fenchel::fusedmax: gamma.size() must equal the number of rows, 2, got 3");
  const std::vector<index_t> one{3}, outside{3, 4}, none{0, 3};
  EXPECT_EQ(message_of<invalid_argument>(call(1.0, {.lengths = one})),
            "fenchel::fusedmax: lengths.size() must equal the number of rows, 2, got 1");
  EXPECT_EQ(message_of<invalid_argument>(call(1.0, {.lengths = outside})),
            "fenchel::fusedmax: lengths[1] must be in [1, 3], got 4");
  EXPECT_EQ(message_of<invalid_argument>(call(1.0, {.lengths = none})),
            "fenchel::fusedmax: lengths[0] must be in [1, 3], got 0");
  EXPECT_EQ(message_of<invalid_argument>(call(1.0, {.weights = {two.data(), 2, 3, 0}})),
            "fenchel::fusedmax: weights.cols must be 2, got 3");
  EXPECT_EQ(message_of<invalid_argument>(call(1.0, {.weights = {two.data(), 1, 2}})),
            "fenchel::fusedmax: weights.rows must be 2, got 1");
  const Vector negative{1, 1, 1, -0.5}, zero{0, 1};
  EXPECT_EQ(message_of<domain_error>(call(1.0, {.weights = {negative.data(), 2, 2}})),
            "fenchel::fusedmax: weights[1][1] must be positive and finite, got -0.5");
  EXPECT_EQ(message_of<domain_error>(call(1.0, {.weights = {zero.data(), 2, 2, 0}})),
            "fenchel::fusedmax: weights[0][0] must be positive and finite, got 0");
  EXPECT_EQ(message_of<invalid_argument>([&] {
              cpu::fusedmax<double>(rows, 1, {p.data(), 1, 3});
            }),
            "fenchel::fusedmax: p.rows must equal scores.rows = 2, got 1");
}

}  // namespace
}  // namespace fenchel
