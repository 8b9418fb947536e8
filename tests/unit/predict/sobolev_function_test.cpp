#include "fenchel/predict/sobolev_function.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "fenchel/core/error.hpp"
#include "fenchel/distribution/line/total_variation.hpp"
#include "support/fused_scores.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::kNaN;
using testing::message_of;
using testing::waves;

static_assert(Predictable<Sobolev, FunctionScore, Line>);
static_assert(Predictable<Sobolev, LinearScore, Interval>);

TEST(SobolevFunction, EvenScoresOnTheLine) {
  for (const double gamma : {1e-8, 1e-3, 0.3, 5.0, 1e3, 1e8}) {
    for (const bool smooth : {false, true}) {
      const auto h = [=](double x) { return smooth ? -x * x / 2.88 : -x / 1.2; };
      const FunctionScore f([=](double t) { return h(std::abs(t - 0.3)); });
      const auto exact = detail::predict_even(Sobolev(gamma), EvenScore(h, 0.3));
      const auto p = detail::predict_numeric(Sobolev(gamma), f, Interval(-kInf, kInf), 1e-8);
      ASSERT_EQ(support(p.density).size(), 1u);
      const double b = exact.density.support()[0].upper() - 0.3, peak = pdf(exact.density, 0.3);
      EXPECT_NEAR(support(p.density)[0].upper(), 0.3 + b, 1e-9 * b) << gamma;
      for (const double x : {-0.9, -0.2, 0.0, 0.5, 0.99, 1.1})
        EXPECT_NEAR(pdf(p.density, 0.3 + x * b), pdf(exact.density, 0.3 + x * b), 1e-10 * peak) << gamma;
      EXPECT_NEAR(p.roughness, exact.roughness, 1e-9 * exact.roughness) << gamma;
      EXPECT_NEAR(p.density.log_mass(), 0, 1e-9) << gamma;
    }
  }
}

/// At a free end p and p' are 0: it rises like the square of the distance, however near.
TEST(SobolevFunction, TailsBesideFreeEndsAreExactAndQuick) {
  long calls = 0;
  const FunctionScore f([&calls](double t) {
    ++calls;
    return t * t * (1 - t * t);
  });
  const NumericDensity p = predict(Sobolev(0.9967), f, Interval(-2, 3));
  const double lower = support(p)[0].lower(), upper = support(p)[0].upper();
  const auto relative = [](double density, double x) { return density / (x * x); };
  const double limit = relative(pdf(p, lower + 0x1p-30), lower + 0x1p-30 - lower);
  for (const double away : {0x1p-34, 0x1p-38, 0x1p-42, 0x1p-46}) {
    EXPECT_NEAR(relative(pdf(p, lower + away), lower + away - lower), limit, 1e-8 * limit) << away;
    EXPECT_NEAR(relative(pdf(p, upper - away), upper - away - upper), limit, 1e-8 * limit) << away;
    EXPECT_NEAR(log_cdf(p, lower + away), std::log(limit / 3) + 3 * std::log(lower + away - lower),
                1e-8 + 0x1p-52 / away)
        << "up to the rounding of points between";
  }
  calls = 0;
  for (const double u : {1e-320, 1e-200, 1e-30, 1e-10, 1e-4, 0.1, 0.5, 1 - 0x1p-53}) {
    const double t = quantile(p, u), s = survival_quantile(p, u);
    EXPECT_TRUE(t >= lower && t <= upper && s >= lower && s <= upper) << u;
    EXPECT_NEAR(cdf(p, t), u, 1e-12);
    EXPECT_NEAR(survival(p, s), u, 1e-12);
  }
  EXPECT_LT(calls, 400'000);
}

/// p >= 0 with mass one and p - gamma p'' >= f - tau on cells, with equality where p > 0: projected
/// successive over-relaxation for each tau, and bisection on tau.
std::vector<double> relaxed(const FunctionScore& f, double gamma, double lower, double upper, int n) {
  const double width = (upper - lower) / n, link = gamma / (width * width);
  const double omega = 2 / (1 + std::sqrt(1 / (1 + 4 * link)));
  std::vector<double> score, p(static_cast<std::size_t>(n), 0.0);
  for (int i = 0; i < n; ++i) score.push_back(f(lower + (i + 0.5) * width));
  double low = -10, high = *std::max_element(score.begin(), score.end());
  for (int bisection = 0; bisection < 45; ++bisection) {
    const double tau = (low + high) / 2;
    double change = 1;
    for (int sweep = 0; sweep < 20000 && change > 1e-13; ++sweep) {
      change = 0;
      for (std::size_t i = 0; i < p.size(); ++i) {
        const bool first = i == 0, last = i + 1 == p.size();
        const double beside = link * ((first ? 0 : p[i - 1]) + (last ? 0 : p[i + 1]));
        const double solved = (score[i] - tau + beside) / (1 + link * (2 - first - last));
        const double next = std::max(0.0, p[i] + omega * (solved - p[i]));
        change = std::max(change, std::abs(next - p[i]));
        p[i] = next;
      }
    }
    double mass = 0;
    for (const double x : p) mass += width * x;
    (mass > 1 ? low : high) = tau;
  }
  return p;
}

TEST(SobolevFunction, DiscretisedObstacleConverges) {
  for (const double gamma : {0.02, 0.3}) {
    const NumericDensity p = predict(Sobolev(gamma), waves(), Interval(-3, 4));
    for (const int n : {70, 140, 280, 560, 1120}) {
      const std::vector<double> grid = relaxed(waves(), gamma, -3, 4, n);
      const double width = 7.0 / n;
      double error = 0;
      for (int i = 0; i < n; ++i)
        error = std::max(error, std::abs(grid[static_cast<std::size_t>(i)] - pdf(p, -3 + (i + 0.5) * width)));
      EXPECT_LT(error, 3 * width * width) << gamma << " " << n;
    }
  }
}

// The conditions of optimality, on the line and with several runs.
TEST(SobolevFunction, SolvesItsEquation) {
  const FunctionScore f([](double t) { return 6 * std::cos(3 * t) - t * t / 8 + 0.3 * t; });
  for (const double gamma : {1e-4, 1e-2, 0.5, 40.0}) {
    const auto p = detail::predict_numeric(Sobolev(gamma), f, Interval(-kInf, kInf), 1e-8);
    const double tau = p.threshold + p.top, step = 1e-3 * std::min(1.0, std::sqrt(gamma));
    if (gamma < 0.1) {
      EXPECT_GE(support(p.density).size(), 2u);
    }
    EXPECT_NEAR(p.density.log_mass(), 0, 1e-9) << gamma;
    double peak = 0;
    for (int i = -900; i <= 900; ++i) peak = std::max(peak, pdf(p.density, i * 0.01));
    for (int i = -900; i <= 900; ++i) {
      const double t = i * 0.01, at = pdf(p.density, t);
      const double left = pdf(p.density, t - step), right = pdf(p.density, t + step);
      if (left == 0 && right == 0) {
        EXPECT_LE(f(t), tau + 1e-9) << t;
      } else if (left > 0 && right > 0) {
        const double bend = gamma * (left - 2 * at + right) / (step * step);
        EXPECT_NEAR(at - bend, f(t) - tau, 1e-4 * (1 + gamma)) << gamma << " " << t;
      }
    }
    for (const Interval& run : support(p.density)) {
      const double near = 1e-3 * run.width();  // p = p' = 0 at the ends
      EXPECT_LT(pdf(p.density, run.lower() + near), 1e-2 * peak) << gamma;
      EXPECT_LT(pdf(p.density, run.upper() - near) - 4 * pdf(p.density, run.upper() - near / 2), 1e-6 * peak)
          << gamma;
    }
  }
}

// f = t on [0, 1] with free ends: p = t + 1/2 - sinh(beta (t - 1/2)) / (beta cosh(beta / 2)).
TEST(SobolevFunction, FreeEndsOfAnInterval) {
  const FunctionScore f([](double t) { return t; });
  for (const double gamma : {1e-8, 1e-4, 0.1, 1.0, 1e4, 1e8}) {
    const double beta = 1 / std::sqrt(gamma);
    const auto p = detail::predict_numeric(Sobolev(gamma), f, Interval(0, 1), 1e-8);
    EXPECT_NEAR(p.threshold + p.top, -0.5, 1e-12) << gamma;
    for (const double t : {0.0, 0.25, 0.5, 0.9, 1.0}) {
      const double y = t - 0.5, wave = std::copysign(std::exp(beta * (std::abs(y) - 0.5)), y) *
                                       std::expm1(-2 * beta * std::abs(y)) / (1 + std::exp(-beta));
      EXPECT_NEAR(pdf(p.density, t), t + 0.5 + wave / beta, 1e-11) << gamma << " " << t;
    }
    EXPECT_NEAR(p.density.log_mass(), 0, 1e-9) << gamma;
  }
}

// f = 0 between masks: p = 0 at both, 1 - cosh(beta (t - 1/2)) / cosh(beta / 2) but for a factor.
TEST(SobolevFunction, MasksHoldTheDensityAtZero) {
  const FunctionScore f([](double t) { return t < 0 || t > 1 ? -kInf : 0.0; });
  for (const double gamma : {1e-3, 0.1, 10.0}) {
    const double beta = 1 / std::sqrt(gamma);
    const auto shape = [=](double t) { return 1 - std::cosh(beta * (t - 0.5)) / std::cosh(beta / 2); };
    const double mass = 1 - 2 / beta * std::tanh(beta / 2);
    const NumericDensity p = predict(Sobolev(gamma), f, Interval(-1, 2));
    for (const double t : {0.01, 0.3, 0.5, 0.8}) EXPECT_NEAR(pdf(p, t), shape(t) / mass, 1e-9) << gamma;
    EXPECT_EQ(pdf(p, -0.01), 0);
    EXPECT_NEAR(p.log_mass(), 0, 1e-9);
    EXPECT_NEAR(pdf(predict(Sobolev(gamma), f, Line{}), 0.3), shape(0.3) / mass, 1e-9) << gamma;
  }
}

TEST(SobolevFunction, Jump) {
  const FunctionScore f([](double t) { return t < 0.25 ? -4 * t * t : -5 - t; });
  const double gamma = 0.01, step = 1e-3;
  const auto p = detail::predict_numeric(Sobolev(gamma), f, Interval(-kInf, kInf), 1e-8);
  EXPECT_NEAR(p.density.log_mass(), 0, 1e-9);
  for (const double t : {-0.3, 0.0, 0.24, 0.26, 0.3}) {
    const double at = pdf(p.density, t);
    if (pdf(p.density, t + step) == 0) continue;
    const double bend = (pdf(p.density, t - step) - 2 * at + pdf(p.density, t + step)) / (step * step);
    EXPECT_NEAR(at - gamma * bend, f(t) - p.threshold - p.top, 1e-3) << t;
  }
}

// A window whose ends are in the support has p' = 0 there and gives another density (docs/math.md E12).
// The penalty moves them away from those of the score.
TEST(SobolevFunction, ModesAreThoseOfTheDensity) {
  const FunctionScore skew([](double t) { return t < 0 ? t : -3 * t; });
  const FunctionScore flat([](double t) { return -std::max(0.0, std::abs(t - 0.5) - 1); });
  for (const FunctionScore& f : {skew, flat, waves()}) {
    for (const double gamma : {1e-6, 0.05, 1.0, 10.0}) {
      for (const Interval& domain : {Interval(-kInf, kInf), Interval(-1, 0.4)}) {
        const NumericDensity p = predict(Sobolev(gamma), f, domain);
        const double lower = support(p).front().lower(), upper = support(p).back().upper();
        double peak = 0, variation = 0, last = 0;
        constexpr int kPoints = 4000;
        for (int i = 0; i <= kPoints; ++i) {
          const double density = pdf(p, std::lerp(lower, upper, double(i) / kPoints));
          peak = std::max(peak, density);
          variation += std::abs(density - last);
          last = density;
        }
        EXPECT_GE(pdf(p, mode(p)), peak * (1 - 1e-9)) << gamma;
        EXPECT_NEAR(total_variation(p), variation + last, 1e-4 * peak) << gamma;
      }
    }
  }
}

TEST(SobolevFunction, WindowsThatAreTooSmall) {
  const FunctionScore f([](double t) { return -std::abs(t); });
  const NumericDensity line = predict(Sobolev(1), f, Line{});
  EXPECT_NEAR(pdf(line, 0), 0.49312019221673639, 1e-11);  // docs/math.md golden row 71
  EXPECT_NEAR(support(line)[0].upper(), 2.0279031679977923, 1e-10);
  EXPECT_GT(std::abs(pdf(predict(Sobolev(1), f, Interval(-1.8, 1.8)), 0) - pdf(line, 0)), 1e-4);
  EXPECT_NEAR(pdf(predict(Sobolev(1), f, Interval(-2.03, 2.03)), 0), pdf(line, 0), 1e-10);
}

TEST(SobolevFunction, BoundedScoresOnTheLine) {
  const ScaledGaussianScore even(1.5, 0.5, 0.8);
  for (const double gamma : {0.1, 10.0}) {
    const NumericDensity p = predict(Sobolev(gamma), FunctionScore(even), Line{});
    const NumericDensity exact = predict(Sobolev(gamma), even, Line{});
    EXPECT_NEAR(support(p)[0].upper(), support(exact)[0].upper(), 1e-7) << gamma;
    for (const double t : {-1.5, 0.5, 1.0, 1.7}) EXPECT_NEAR(pdf(p, t), pdf(exact, t), 1e-10) << gamma;
  }
}

TEST(SobolevFunction, EveryGammaOnAnInterval) {
  double roughness = kInf;
  for (const double gamma : {1e-8, 1e-5, 1e-3, 0.1, 1.0, 10.0, 1e4, 1e8}) {
    const auto p = detail::predict_numeric(Sobolev(gamma), waves(), Interval(-2, 3), 1e-8);
    EXPECT_NEAR(p.density.log_mass(), 0, 1e-9) << gamma;
    EXPECT_LE(p.roughness, roughness) << gamma;
    roughness = p.roughness;
    if (gamma == 1e-8) {
      const NumericDensity none = predict(Sobolev(0), waves(), Interval(-2, 3));
      const NumericDensity sparse = predict(Tsallis(2), waves(), Interval(-2, 3));
      for (const double t : {-1.5, -0.2, 0.3, 2.5}) {
        EXPECT_EQ(pdf(none, t), pdf(sparse, t));
        EXPECT_NEAR(pdf(p.density, t), pdf(sparse, t), 1e-4);
      }
    }
    if (gamma == 1e8) {
      EXPECT_NEAR(pdf(p.density, 1), 0.2, 1e-7);
    }
  }
}

TEST(SobolevFunction, TemperatureDividesTheScore) {
  const FunctionScore tempered([](double t) { return 2.5 * waves()(t); });
  const NumericDensity p = predict(Sobolev(0.1), waves(), Line{});
  const NumericDensity q = predict(Sobolev(0.1, 2.5), tempered, Line{});
  for (const double t : {-3.0, -0.5, 0.1, 1.7, 3.0}) EXPECT_NEAR(pdf(p, t), pdf(q, t), 1e-11);
}

TEST(SobolevFunction, BadInput) {
  const auto message = [](double value) {
    return message_of<std::domain_error>(
        [=] { (void)predict(Sobolev(1), FunctionScore([=](double) { return value; }), Interval(0, 1)); });
  };
  EXPECT_EQ(message(kNaN), "fenchel::predict: f(0) must be a number below infinity, got nan");
  EXPECT_EQ(message(kInf), "fenchel::predict: f(0) must be a number below infinity, got inf");
  EXPECT_EQ(message(-kInf), "fenchel::predict: the largest f found must be finite, got -inf");
  EXPECT_EQ(message_of<std::domain_error>([] { (void)predict(Sobolev(1), waves(), Line{}, 0); }),
            "fenchel::predict: accuracy must be positive and finite, got 0");
}

}  // namespace
}  // namespace fenchel
