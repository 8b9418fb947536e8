#include "fenchel/core/taut_string.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using Vector = std::vector<double>;

/// How far x is from the conditions that only the minimiser meets: the dual z_k = sum_{i<=k} w_i (x_i - y_i)
/// stays within the caps, touches them where x jumps (on the side of the jump), and ends in 0.
double certificate(const Vector& y, const Vector& caps, const Vector& w, const Vector& x) {
  double z = 0, worst = 0;
  for (std::size_t k = 0; k < y.size(); ++k) {
    z += w[k] * (x[k] - y[k]);
    if (k + 1 == y.size()) return std::max(worst, std::abs(z));
    worst = std::max(worst, std::abs(z) - caps[k]);
    if (x[k + 1] > x[k]) worst = std::max(worst, std::abs(z - caps[k]));
    if (x[k + 1] < x[k]) worst = std::max(worst, std::abs(z + caps[k]));
  }
  return worst;
}

/// Nodes far below, or of far more weight, leave no rounding behind in the rest of the string.
TEST(TautString, ForgetsWhatItHasPassed) {
  for (const double far : {1e3, 1e9, 1e15, 1e30, 1e100}) {
    const Vector x = taut_string(Vector{-far, 1, 1.5, -far}, Vector(3, 0.1));
    EXPECT_NEAR(x[1], 1, 1e-15) << far;
    EXPECT_NEAR(x[2], 1.3, 1e-15) << far;
  }
  for (const double heavy : {1e3, 1e9, 1e14}) {
    const Vector x = taut_string(Vector{-1, 1, 1.5, 0}, Vector(3, 0.1), Vector{heavy, 1e-3, 1, 2});
    EXPECT_NEAR(x[1], 1, 1e-15) << heavy;
    EXPECT_NEAR(x[2], 1.3, 1e-15) << heavy;
    EXPECT_NEAR(x[3], 0.05, 1e-15) << heavy;
  }
  Vector y(293);  // up and down, then one node on its own
  for (std::size_t i = 1; i < y.size(); i += 2) y[i] = 1.2810938670047158;
  const Vector x = taut_string(y, Vector(292, 0.63802553057743761));
  EXPECT_NEAR(x[292], x[0], 1e-15);
}

TEST(TautString, MeetsTheConditionsOfTheMinimiser) {
  std::mt19937_64 rng(1);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t n = 1 + rng() % 300;
    const double gamma = std::exp(6 * uniform(rng) - 3);
    Vector y(n), caps(n - 1), w(n);
    double walk = 0;
    for (std::size_t i = 0; i < n; ++i) {
      walk += normal(rng);
      y[i] = trial % 3 == 0 ? walk : trial % 3 == 1 ? normal(rng) : std::round(2 * normal(rng));
      w[i] = trial % 2 == 0 ? 1 : 0.1 + uniform(rng);
      if (i + 1 < n) caps[i] = trial % 5 == 0 ? gamma : 2 * gamma * uniform(rng);
    }
    EXPECT_LT(certificate(y, caps, w, taut_string(y, caps, w)), 1e-11) << trial;
  }
}

TEST(TautString, NoPenaltyReturnsTheInputAndALargeOneTheMean) {
  const Vector y = {3, -1, 4, 1, -5};
  EXPECT_EQ(taut_string(y, Vector(4, 0.0)), y);
  for (const double x : taut_string(y, Vector(4, 1e8))) EXPECT_NEAR(x, 0.4, 1e-7);
  for (const double x : taut_string(y, Vector(4, 100.0))) EXPECT_NEAR(x, 0.4, 1e-14);
}

TEST(TautString, SmallCasesByHand) {
  EXPECT_EQ(taut_string(Vector{7}, Vector{}), Vector{7});
  EXPECT_EQ(taut_string(Vector{0, 4}, Vector{1}), (Vector{1, 3}));
  EXPECT_EQ(taut_string(Vector{0, 4}, Vector{5}), (Vector{2, 2}));
  EXPECT_EQ(taut_string(Vector{0, 4, 0}, Vector{1, 1}), (Vector{1, 2, 1}));
  EXPECT_EQ(taut_string(Vector{0, 4}, Vector{1}, Vector{1, 4}), (Vector{1, 3.75}));
}

TEST(TautString, NamesWhatIsWrong) {
  using testing::message_of;
  EXPECT_EQ(message_of<std::invalid_argument>([] { (void)taut_string(Vector{}, Vector{}); }),
            "fenchel::taut_string: y.size() must be positive, got 0");
  EXPECT_EQ(message_of<std::invalid_argument>([] {
              (void)taut_string(Vector{1, 2}, Vector{});
            }),
            "fenchel::taut_string: caps.size() must be 1, got 0");
  EXPECT_EQ(message_of<std::invalid_argument>([] {
              (void)taut_string(Vector{1, 2}, Vector{1}, Vector{1});
            }),
            "fenchel::taut_string: weights.size() must be 2, got 1");
  EXPECT_EQ(message_of<std::domain_error>([] {
              (void)taut_string(Vector{1, testing::kNaN}, Vector{1});
            }),
            "fenchel::taut_string: y[1] must be finite, got nan");
  EXPECT_EQ(message_of<std::domain_error>([] {
              (void)taut_string(Vector{1, 2}, Vector{-1});
            }),
            "fenchel::taut_string: caps[0] must be finite and not negative, got -1");
  EXPECT_EQ(message_of<std::domain_error>([] {
              (void)taut_string(Vector{1, 2}, Vector{1}, Vector{1, 0});
            }),
            "fenchel::taut_string: weights[1] must be positive and finite, got 0");
}

}  // namespace
}  // namespace fenchel
