#include "fenchel/predict/total_variation_finite.hpp"

#include <gtest/gtest.h>

#include "fenchel/backend/cpu/fusedmax.hpp"
#include "fenchel/predict/finite.hpp"
#include "support/fused_rows.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf, testing::largest_difference, testing::make_row, testing::message_of, testing::out_of,
    testing::row_of, testing::Vector;

Vector probabilities(const SparseCategorical& p, std::size_t n) {
  Vector values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = pmf(p, static_cast<index_t>(i));
  return values;
}

TEST(TotalVariationFinite, IsFusedmax) {
  for (const double gamma : {0.0, 1e-8, 0.3, 4.0, 1e8}) {
    for (const auto& kind : testing::kRowKinds) {
      Vector z = make_row(kind, 70, 2), p(70);
      z[13] = -kInf;
      cpu::fusedmax<double>(row_of(z), gamma, out_of(p));
      const auto found = predict(TotalVariation(gamma), VectorScore(z), Finite());
      EXPECT_LT(largest_difference(probabilities(found, 70), p), 1e-12 * (1 + gamma)) << kind << " " << gamma;
    }
  }
}

TEST(TotalVariationFinite, TemperatureDividesTheScore) {
  Vector z = make_row("noise", 40, 3);
  const auto hot = predict(TotalVariation(0.2, 2.5), VectorScore(z), Finite());
  Vector cool = z;
  for (double& x : cool) x /= 2.5;
  const auto same = predict(TotalVariation(0.2), VectorScore(cool), Finite());
  EXPECT_LT(largest_difference(probabilities(hot, 40), probabilities(same, 40)), 1e-14);
  EXPECT_NEAR(conjugate(TotalVariation(0.2, 2.5), VectorScore(z), Finite()),
              2.5 * conjugate(TotalVariation(0.2), VectorScore(cool), Finite()), 1e-14);
}

/// Omega*(f) >= E_p[f] - Omega(p) for all p, with equality at the prediction (E10: Omega_2 = (|p|^2 - 1) /
/// 2).
TEST(TotalVariationFinite, ConjugateIsTheLargestValue) {
  const Vector z = make_row("walk", 25, 9), weights = [] {
    Vector w = make_row("noise", 25, 10);
    for (double& x : w) x = std::exp(x / 2);
    return w;
  }();
  const double gamma = 0.6;
  const TotalVariation omega(gamma);
  const auto value = [&](const Vector& mass) {
    double sum = 0.5;
    for (std::size_t i = 0; i < z.size(); ++i) {
      const double density = mass[i] / weights[i];
      sum += mass[i] * z[i] - mass[i] * density / 2;
      if (i > 0) sum -= gamma * std::abs(density - mass[i - 1] / weights[i - 1]);
    }
    return sum;
  };
  const Finite domain(weights);
  const double best = conjugate(omega, VectorScore(z), domain);
  const Vector p = probabilities(predict(omega, VectorScore(z), domain), 25);
  EXPECT_NEAR(value(p), best, 1e-13);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Vector other = testing::sparsemax_of(make_row("noise", 25, 50 + seed));
    const double share = seed % 2 == 0 ? 1 : 1e-3;
    for (std::size_t i = 0; i < p.size(); ++i) other[i] = share * other[i] + (1 - share) * p[i];
    EXPECT_LT(value(other), best + 1e-14) << seed;
  }
}

/// E12 and the scaling of docs/math.md 6.1: the densities on a grid of step h are those of the line, up to
/// h^2. The capped triangular density of sigma = 1.2, gamma = 0.3 (golden row 66), away from its kinks.
TEST(TotalVariationFinite, AGridConvergesToTheLineAsItsStepSquared) {
  const double sigma = 1.2, gamma = 0.3, plateau = 0.84852813742385703, width = 1.3856406460551018;
  const auto error_of = [&](double h) {
    const double reach = plateau + width + 0.2;  // the window condition
    const auto half = static_cast<int>(std::ceil(reach / h));
    Vector f, t;
    for (int i = -half; i < half; ++i) {
      t.push_back((i + 0.5) * h);
      f.push_back(-std::abs(t.back()) / sigma);
    }
    const auto p = predict(TotalVariation(gamma), VectorScore(f), Finite(Vector(f.size(), h)));
    double worst = 0;
    for (std::size_t i = 0; i < t.size(); ++i) {
      const double x = std::abs(t[i]), exact = std::max(width - std::max(x, plateau), 0.0) / sigma;
      const bool near_kink = std::abs(x - plateau) < 2 * h || std::abs(x - width) < 2 * h;
      if (!near_kink) worst = std::max(worst, std::abs(pmf(p, static_cast<index_t>(i)) / h - exact));
    }
    return worst;
  };
  for (const double h : {0.04, 0.02, 0.01, 0.005}) EXPECT_LT(error_of(h), 0.2 * h * h) << h;
}

TEST(TotalVariationFinite, AtomsWithoutWeightAreLeftOut) {
  const Vector z{0.3, 9, 0.7, 0.1, 0.6}, kept{0.3, 0.7, 0.1, 0.6};
  const auto p = predict(TotalVariation(0.1), VectorScore(z), Finite({1, 0, 1, 1, 1}));
  const auto without = predict(TotalVariation(0.1), VectorScore(kept), Finite());
  EXPECT_EQ(pmf(p, 1), 0);
  for (const index_t i : {0, 2, 3, 4}) EXPECT_NEAR(pmf(p, i), pmf(without, i == 0 ? 0 : i - 1), 1e-16);
}

TEST(TotalVariationFinite, NamesWhatIsWrong) {
  const VectorScore f({1, 2, 3});
  EXPECT_EQ(message_of<std::domain_error>([] { (void)TotalVariation(-0.5); }),
            "fenchel::total_variation: gamma must be finite and not negative, got -0.5");
  EXPECT_EQ(message_of<std::domain_error>([] { (void)TotalVariation(testing::kNaN); }),
            "fenchel::total_variation: gamma must be finite and not negative, got nan");
  EXPECT_EQ(message_of<std::domain_error>([] { (void)TotalVariation(1, 0); }),
            "fenchel::total_variation: temperature must be positive and finite, got 0");
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              (void)predict(TotalVariation(1), f, Finite({1, 1}));
            }),
            "fenchel::predict: domain.weights().size() must be 0 or f.size() = 3, got 2");
}

}  // namespace
}  // namespace fenchel
