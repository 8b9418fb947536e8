#include "fenchel/predict/total_variation_function.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "fenchel/core/error.hpp"
#include "fenchel/core/taut_string.hpp"
#include "support/fused_scores.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::kNaN;
using testing::message_of;
using testing::waves;

static_assert(Predictable<TotalVariation, FunctionScore, Line>);
static_assert(Predictable<TotalVariation, LinearScore, Interval>);

FunctionScore absolute(double mu, double b) {
  return FunctionScore([=](double t) { return -std::abs(t - mu) / b; });
}
FunctionScore quadratic(double mu, double sigma2) {
  return FunctionScore([=](double t) { return -(t - mu) * (t - mu) / (2 * sigma2); });
}

/// The threshold of sum w [x - tau]_+ = 1, by bisection.
double threshold(const std::vector<double>& x, const std::vector<double>& w) {
  double lower = *std::min_element(x.begin(), x.end()) - 1 / w[0] - 1;
  double upper = *std::max_element(x.begin(), x.end());
  for (int i = 0; i < 200; ++i) {
    const double tau = (lower + upper) / 2;
    double mass = 0;
    for (std::size_t k = 0; k < x.size(); ++k) mass += w[k] * std::max(0.0, x[k] - tau);
    (mass > 1 ? lower : upper) = tau;
  }
  return lower;
}

TEST(TotalVariationFunction, EvenScoresOnTheLine) {
  for (const double gamma : {1e-8, 1e-3, 0.3, 5.0, 1e3}) {
    const double mu = 0.3, b = 1.2, cap = std::sqrt(2 * b * gamma), end = std::sqrt(b * (1 + 2 * gamma));
    const auto p =
        detail::predict_numeric(TotalVariation(gamma), absolute(mu, b), Interval(-kInf, kInf), 1e-8);
    const double peak = 1 / (end + cap);
    ASSERT_EQ(support(p.density).size(), 1u);
    ASSERT_EQ(p.plateaus.size(), 1u);
    EXPECT_NEAR(p.plateaus[0].lower(), mu - cap, 1e-11 * end) << gamma;
    EXPECT_NEAR(support(p.density)[0].upper(), mu + end, 1e-12 * end) << gamma;
    EXPECT_NEAR(pdf(p.density, mu), peak, 1e-10 * peak) << gamma;
    EXPECT_NEAR(p.total_variation, 2 * peak, 1e-9 * peak) << gamma;
    EXPECT_NEAR(p.density.log_mass(), 0, 1e-11) << gamma;
    const double sigma2 = 1.44, b3 = std::cbrt(1.5 * sigma2 * (1 + 2 * gamma)),
                 a3 = std::cbrt(3 * sigma2 * gamma), top = (b3 * b3 - a3 * a3) / (2 * sigma2);
    const NumericDensity q = predict(TotalVariation(gamma), quadratic(mu, sigma2), Line{});
    EXPECT_NEAR(support(q)[0].lower(), mu - b3, 1e-12 * b3) << gamma;
    EXPECT_NEAR(pdf(q, mu), top, 1e-10 * top) << gamma;
    const double t = (a3 + b3) / 2;
    EXPECT_NEAR(pdf(q, mu + t), (b3 * b3 - t * t) / (2 * sigma2), 1e-10 * top) << gamma;
  }
}

// Against fusedmax on cells [docs/math.md 6.1]: the error, in mass, falls as the square of their width.
TEST(TotalVariationFunction, DiscretisedFusedmaxConverges) {
  const double gamma = 0.15;
  const auto p = detail::predict_numeric(TotalVariation(gamma), waves(), Interval(-kInf, kInf), 1e-8);
  EXPECT_GE(support(p.density).size() + p.plateaus.size(), 4u);
  const double end = 9;
  for (const int n : {500, 1000, 2000, 4000, 8000}) {
    const double width = 2 * end / n;
    std::vector<double> means, weights(static_cast<std::size_t>(n), width);
    for (int i = 0; i < n; ++i) {
      const double t = -end + (i + 0.5) * width, g = width / std::sqrt(12.0);
      means.push_back((waves()(t - g) + waves()(t + g)) / 2);
    }
    const auto x = taut_string(means, std::vector(static_cast<std::size_t>(n) - 1, gamma), weights);
    const double tau = threshold(x, weights);
    double error = 0;
    for (int i = 0; i < n; ++i) {
      const double t = -end + (i + 0.5) * width;
      error += width * std::abs(std::max(0.0, x[static_cast<std::size_t>(i)] - tau) - pdf(p.density, t));
    }
    EXPECT_LT(error, 20 * width * width) << n;
  }
}

// A score of steps has a prediction of steps: projected gradient on its dual finds it without the string.
TEST(TotalVariationFunction, StepsAgainstTheDual) {
  const std::array<double, 12> steps{0.3, 1.4, 1.1, -0.5, 0.9, 2.0, 1.8, -1.0, 0.2, 0.4, 1.6, 0.1};
  const double width = 0.25;
  const FunctionScore f([&](double t) {
    return steps[std::min<std::size_t>(11, static_cast<std::size_t>(std::max(0.0, t / width)))];
  });
  for (const double gamma : {0.01, 0.1, 0.3}) {
    std::vector<double> z(13, 0.0), x(12);
    for (int iteration = 0; iteration < 40000; ++iteration) {
      for (std::size_t i = 0; i < 12; ++i) x[i] = steps[i] + (z[i + 1] - z[i]) / width;
      for (std::size_t i = 1; i < 12; ++i)
        z[i] = std::clamp(z[i] + width / 4 * (x[i] - x[i - 1]), -gamma, gamma);
    }
    const double tau = threshold(x, std::vector(12, width));
    const NumericDensity p = predict(TotalVariation(gamma), f, Interval(0, 3));
    for (std::size_t i = 0; i < 12; ++i)
      EXPECT_NEAR(pdf(p, (static_cast<double>(i) + 0.4) * width), std::max(0.0, x[i] - tau), 1e-9)
          << gamma << " " << i;
  }
}

// f = s t on [0, 1]: both free ends are flattened over sqrt(2 gamma / s).
TEST(TotalVariationFunction, FreeEndsOfAnInterval) {
  const double s = 3;
  const FunctionScore f([=](double t) { return s * t; });
  for (const double gamma : {1e-4, 0.05, 0.3}) {
    const double l = std::sqrt(2 * gamma / s);
    const auto p = detail::predict_numeric(TotalVariation(gamma), f, Interval(0, 1), 1e-8);
    double tau = s / 2 - 1;  // where everything is in the support
    if (s * l < tau) {
      double lower = 0, upper = s * (1 - l);  // mass of the right part: int_{tau/s}^{1} f - tau, less gamma
      for (int i = 0; i < 100; ++i) {
        tau = (lower + upper) / 2;
        const double mass = s / 2 * (1 - tau / s) * (1 - tau / s) - gamma;
        (mass > 1 ? lower : upper) = tau;
      }
    }
    EXPECT_NEAR(p.threshold + p.top, tau, 1e-12) << gamma;
    EXPECT_NEAR(pdf(p.density, 1), s * (1 - l) - tau, 1e-11) << gamma;
    EXPECT_NEAR(pdf(p.density, 0.5), s * 0.5 - tau, 1e-11) << gamma;
    EXPECT_NEAR(pdf(p.density, 0), std::max(0.0, s * l - tau), 1e-11) << gamma;
    EXPECT_NEAR(p.plateaus.back().lower(), 1 - l, 1e-12) << gamma;
    EXPECT_NEAR(p.total_variation, s * (1 - l) - std::max(tau, s * l), 1e-11) << gamma;
  }
  const auto flat = detail::predict_numeric(TotalVariation(10), f, Interval(0, 1), 1e-8);
  EXPECT_NEAR(pdf(flat.density, 0.2), 1, 1e-13);
  EXPECT_EQ(flat.total_variation, 0);
}

// The same between masks: p falls to 0 there, so the upper plateau costs twice and the lower end is no end.
TEST(TotalVariationFunction, MasksAreLowerNeighbours) {
  const double s = 3, gamma = 0.04;
  const FunctionScore f([=](double t) { return t < 0 || t > 1 ? -kInf : s * t; });
  const auto p = detail::predict_numeric(TotalVariation(gamma), f, Interval(-1, 2), 1e-8);
  const double r = 1 - std::sqrt(4 * gamma / s), tau = s / 2 - 1 - 2 * gamma;
  ASSERT_GT(s * r, tau);
  const double low = [&] {  // all of [0, 1] if tau < 0, else [tau / s, 1]
    double lower = -5, upper = s;
    for (int i = 0; i < 200; ++i) {
      const double x = (lower + upper) / 2, from = std::max(0.0, x / s);
      (s / 2 * (1 - from * from) - x * (1 - from) - 2 * gamma > 1 ? lower : upper) = x;
    }
    return lower;
  }();
  EXPECT_NEAR(p.threshold + p.top, low, 1e-12);
  EXPECT_NEAR(p.plateaus.back().lower(), r, 1e-7);
  EXPECT_NEAR(pdf(p.density, 0.5), s * 0.5 - low, 1e-12);
  EXPECT_NEAR(pdf(p.density, 0.99), s * r - low, 1e-12);
  EXPECT_EQ(pdf(p.density, 1.01), 0);
  EXPECT_EQ(pdf(p.density, -0.01), 0);
  const double first = std::max(0.0, -low), last = s * r - low;
  EXPECT_NEAR(p.total_variation, 2 * last, 1e-11) << first;
  const NumericDensity line = predict(TotalVariation(gamma), f, Line{});
  EXPECT_NEAR(pdf(line, 0.99), s * r - low, 1e-11);
}

TEST(TotalVariationFunction, Jump) {
  const FunctionScore f([](double t) { return t < 0.25 ? -4 * t * t : -5 - t; });
  const double gamma = 0.1;
  const NumericDensity p = predict(TotalVariation(gamma), f, Line{});
  // The plateau ends at the jump: int_l^(1/4) (f - v) = 2 gamma with f(l) = v = -4 l^2.
  double lower = -3, upper = -0.1;
  for (int i = 0; i < 200; ++i) {
    const double l = (lower + upper) / 2;
    const double excess = -4. / 3 * (1. / 64 - l * l * l) + 4 * l * l * (0.25 - l);
    (excess > 2 * gamma ? lower : upper) = l;
  }
  EXPECT_NEAR(support(p)[0].upper(), 0.25, 1e-12);
  EXPECT_NEAR(pdf(p, 0.2499) - pdf(p, lower - 0.1), 4 * ((lower - 0.1) * (lower - 0.1) - lower * lower),
              1e-10);
  EXPECT_EQ(pdf(p, 0.2499), pdf(p, lower + 1e-6));
}

// docs/math.md E12: on a window whose ends are too near, the flattened ends reach into the support.
TEST(TotalVariationFunction, WindowsThatAreTooSmall) {
  const double gamma = 0.5, b = 2, cap = std::sqrt(2 * b * gamma), end = std::sqrt(b * (1 + 2 * gamma));
  const double peak = 1 / (end + cap);
  const auto error = [&](const NumericDensity& p) {
    double most = 0;
    for (int i = -400; i <= 400; ++i) {
      const double t = end * i / 200, y = std::max(cap, std::abs(t));
      most = std::max(most, std::abs(pdf(p, t) - std::max(0.0, (end - y) / b)));
    }
    return most;
  };
  const TotalVariation omega(gamma);
  const double wrong = error(predict(omega, absolute(0, b), Interval(-1.6 * end, 1.6 * end)));
  EXPECT_NEAR(wrong, 0.06, 0.01);
  EXPECT_GT(error(predict(omega, absolute(0, b), Interval(-0.99 * (cap + end), 0.99 * (cap + end)))), 1e-6);
  EXPECT_LT(error(predict(omega, absolute(0, b), Interval(-1.001 * (cap + end), 1.001 * (cap + end)))),
            1e-10 * peak);
  EXPECT_LT(error(predict(omega, absolute(0, b), Line{})), 1e-10 * peak);
}

// Flat tails that the flattening reaches far into.
TEST(TotalVariationFunction, BoundedScoresOnTheLine) {
  const ScaledGaussianScore even(3, 0.5, 0.8);
  const FunctionScore f(even);
  for (const double gamma : {0.1, 0.9, 0.99}) {
    const NumericDensity p = predict(TotalVariation(gamma), f, Line{});
    const NumericDensity exact = predict(TotalVariation(gamma), even, Line{});
    EXPECT_NEAR(support(p)[0].upper(), support(exact)[0].upper(), 1e-7) << gamma;
    for (const double t : {-1.5, 0.5, 1.0, 1.7}) EXPECT_NEAR(pdf(p, t), pdf(exact, t), 1e-10) << gamma;
  }
  EXPECT_EQ(
      message_of<std::domain_error>([&] { (void)predict(TotalVariation(1.1), f, Line{}); }).substr(0, 95),
      "fenchel::predict: the window must hold the support: no distribution exists where f does not fal");
}

TEST(TotalVariationFunction, HalfLine) {
  const FunctionScore f([](double t) { return -std::abs(t - 1) / 2; });
  const double gamma = 0.05;
  const NumericDensity p = predict(TotalVariation(gamma), f, Interval(0, kInf));
  const NumericDensity window = predict(TotalVariation(gamma), f, Interval(0, 8));
  for (const double t : {0.0, 0.1, 0.5, 1.0, 2.0}) EXPECT_NEAR(pdf(p, t), pdf(window, t), 1e-11);
  EXPECT_GT(pdf(p, 0), 0);
}

TEST(TotalVariationFunction, EveryGammaOnAnInterval) {
  double variation = kInf;
  for (const double gamma : {1e-8, 1e-5, 1e-3, 0.1, 1.0, 10.0, 1e4, 1e8}) {
    const auto p = detail::predict_numeric(TotalVariation(gamma), waves(), Interval(-2, 3), 1e-8);
    EXPECT_NEAR(p.density.log_mass(), 0, 1e-10) << gamma;
    EXPECT_LE(p.total_variation, variation) << gamma;
    variation = p.total_variation;
    if (gamma == 1e-8) {
      const NumericDensity none = predict(TotalVariation(0), waves(), Interval(-2, 3));
      const NumericDensity sparse = predict(Tsallis(2), waves(), Interval(-2, 3));
      for (const double t : {-1.5, -0.2, 0.3, 2.5}) {
        EXPECT_EQ(pdf(none, t), pdf(sparse, t));
        EXPECT_NEAR(pdf(p.density, t), pdf(sparse, t), 1e-4);
      }
    }
    if (gamma >= 10) {
      EXPECT_NEAR(pdf(p.density, 1), 0.2, 1e-12);
    }
  }
}

TEST(TotalVariationFunction, TemperatureDividesTheScore) {
  const FunctionScore tempered([](double t) { return 2.5 * waves()(t); });
  const NumericDensity p = predict(TotalVariation(0.1), waves(), Line{});
  const NumericDensity q = predict(TotalVariation(0.1, 2.5), tempered, Line{});
  for (const double t : {-3.0, -0.5, 0.1, 1.7, 3.0}) EXPECT_NEAR(pdf(p, t), pdf(q, t), 1e-12);
}

TEST(TotalVariationFunction, LinearScoresAreFunctions) {
  const LinearScore f({1.0, -0.5}, {[](double t) { return t; }, [](double t) { return t * t; }});
  const NumericDensity p = predict(TotalVariation(0.2), f, Line{});
  const NumericDensity q = predict(TotalVariation(0.2), quadratic(1, 1), Line{});
  for (const double t : {0.0, 1.0, 1.9}) EXPECT_NEAR(pdf(p, t), pdf(q, t), 1e-12);
}

TEST(TotalVariationFunction, BadInput) {
  const auto message = [](double value) {
    return message_of<std::domain_error>([=] {
      (void)predict(TotalVariation(1), FunctionScore([=](double) { return value; }), Interval(0, 1));
    });
  };
  EXPECT_EQ(message(kNaN), "fenchel::predict: f(0) must be a number below infinity, got nan");
  EXPECT_EQ(message(kInf), "fenchel::predict: f(0) must be a number below infinity, got inf");
  EXPECT_EQ(message(-kInf), "fenchel::predict: the largest f found must be finite, got -inf");
  EXPECT_EQ(
      message_of<std::domain_error>([] { (void)predict(TotalVariation(1), absolute(0, 1), Line{}, -1); }),
      "fenchel::predict: accuracy must be positive and finite, got -1");
}

TEST(DrawnTautString, StaysInItsTube) {
  const double gamma = 0.15;
  const TautString drawn = taut_string(TotalVariation(gamma, 2), waves(), Interval(-4, 4), 500);
  ASSERT_EQ(drawn.t.size(), 501u);
  ASSERT_EQ(drawn.string.size(), 501u);
  EXPECT_EQ(drawn.lower.front(), drawn.upper.front());
  EXPECT_NEAR(drawn.string.back(), drawn.lower.back(), 1e-12);
  EXPECT_GE(drawn.plateaus.size(), 4u);
  EXPECT_EQ(drawn.plateaus.front().lower(), -4);
  const auto sum = [](double t) { return std::sin(2 * t) - t * t * t / 240; };
  for (std::size_t i = 0; i <= 500; ++i) {
    const double t = drawn.t[i], exact = (sum(t) - sum(-4)) / 2;
    if (i > 0 && i < 500) {
      EXPECT_NEAR(drawn.upper[i], exact + gamma, 1e-12);
    }
    EXPECT_GE(drawn.string[i], drawn.lower[i] - 1e-12);
    EXPECT_LE(drawn.string[i], drawn.upper[i] + 1e-12);
    const bool flat = std::any_of(drawn.plateaus.begin(), drawn.plateaus.end(),
                                  [&](const Interval& s) { return t > s.lower() && t < s.upper(); });
    if (!flat) {
      EXPECT_NEAR(std::min(drawn.string[i] - drawn.lower[i], drawn.upper[i] - drawn.string[i]), 0, 1e-12)
          << t;
    }
  }
}

TEST(DrawnTautString, BadInput) {
  const TotalVariation omega(1);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { (void)taut_string(omega, waves(), Interval(0, 1), 0); }),
            "fenchel::taut_string: cells must be positive, got 0");
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)taut_string(omega, waves(), Interval(0, kInf), 5); }),
            "fenchel::taut_string: domain.width() must be positive and finite, got inf");
  const FunctionScore nowhere([](double) { return kNaN; });
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)taut_string(omega, nowhere, Interval(0, 1), 2); }),
            "fenchel::taut_string: f(0.25) must be finite, got nan");
}

}  // namespace
}  // namespace fenchel
