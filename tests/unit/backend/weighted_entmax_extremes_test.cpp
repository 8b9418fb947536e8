#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "fenchel/backend/cpu/weighted_entmax.hpp"
#include "support/grids.hpp"

/// Weights and orders at the ends of their ranges.
namespace fenchel {
namespace {

template <class Real>
Rows<const Real> row(const std::vector<Real>& x) {
  return {x.data(), 1, static_cast<index_t>(x.size())};
}
template <class Real>
Rows<Real> out(std::vector<Real>& x) {
  return {x.data(), 1, static_cast<index_t>(x.size())};
}
template <class Real>
std::vector<Real> predict(double alpha, const std::vector<Real>& z, const std::vector<Real>& w) {
  std::vector<Real> p(z.size());
  cpu::weighted_entmax(row(z), row(w), alpha, out(p));
  return p;
}

/// log_{2-alpha}(P / w) = z - A on the support, and less off it: both sides against the heaviest node.
void expect_prediction(double alpha, const std::vector<double>& z, const std::vector<double>& w,
                       const std::vector<double>& p) {
  const long double am1 = alpha - 1;
  const auto log_density = [&](std::size_t i, double mass) {
    return std::log(static_cast<long double>(mass)) - std::log(static_cast<long double>(w[i]));
  };
  const auto deformed = [&](long double l) { return am1 == 0 ? l : std::expm1(am1 * l) / am1; };
  long double mass = 0;
  for (const double x : p) mass += x;
  ASSERT_NEAR(static_cast<double>(mass), 1, 1e-14);
  const auto k = static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin());
  const long double own = log_density(k, p[k]);
  for (std::size_t i = 0; i < z.size(); ++i) {
    SCOPED_TRACE(::testing::Message() << i << ": " << p[i] << ' ' << w[i] << ' ' << z[i] << ", heaviest "
                                      << p[k] << ' ' << w[k] << ' ' << z[k]);
    constexpr double kNothing = 1e-20;
    const long double above = log_density(i, p[i] + kNothing), below = log_density(i, p[i] - kNothing);
    const long double expected = deformed(own) + (static_cast<long double>(z[i]) - z[k]);
    const auto error = [&](long double l) {
      return 2e-12L * (std::exp(am1 * l) + std::exp(am1 * own)) + 1e-14L * (std::abs(z[i]) + std::abs(z[k]));
    };
    ASSERT_GE(deformed(above), expected - error(above));
    if (p[i] > kNothing) {
      ASSERT_LE(deformed(below), expected + error(below));
    }
  }
}

TEST(WeightedEntmaxExtremes, WeightsOfAnySizeBesideEachOther) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> power(-300, 300);
  for (const double alpha :
       {0.3, 0.7, 0.9, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 1.1, 1.5, 1.7, 2.0, 3.0, 9.0}) {
    for (const double deviation : {1e-3, 1.0, 469.887589052464, 1e9}) {
      for (const bool ties : {false, true}) {
        for (const std::size_t n : {1u, 2u, 5u, 64u}) {
          for (int repeat = 0; repeat < 10; ++repeat) {
            SCOPED_TRACE(::testing::Message() << alpha << ' ' << deviation << ' ' << ties << ' ' << n);
            std::vector<double> z(n), w(n);
            for (double& x : z) x = (ties ? std::round(normal(random)) : normal(random)) * deviation;
            for (double& x : w) x = std::pow(10, power(random));
            expect_prediction(alpha, z, w, predict(alpha, z, w));
          }
        }
      }
    }
  }
}

/// Weights c w and scores c^{-am1} z give the same probabilities.
TEST(WeightedEntmaxExtremes, WeightsOfOneSizeFarFromOne) {
  const std::vector<double> z{0.3, -0.1, 0.25, -2, 0.1, -0.4}, w{0.5, 2, 1, 3, 0.25, 1};
  for (const double alpha : {0.5, 1.0, 1.5, 2.0, 3.0}) {
    const auto p = predict(alpha, z, w);
    for (const int power : {-400, -100, -40, 40, 100, 400}) {
      auto scaled_z = z, scaled_w = w;
      for (double& x : scaled_z) x *= std::pow(2, power * (1 - alpha));
      for (double& x : scaled_w) x *= std::pow(2, power);
      const auto scaled = predict(alpha, scaled_z, scaled_w);
      for (std::size_t i = 0; i < z.size(); ++i) EXPECT_NEAR(scaled[i], p[i], 1e-13) << alpha << ' ' << power;
    }
  }
}

TEST(WeightedEntmaxExtremes, TheSumOfTheWeightsOverflows) {
  constexpr double w = std::numeric_limits<double>::max();
  for (const double alpha : testing::kAlphas) {
    for (const double x : predict<double>(alpha, {1, 1, 1, 1}, {w, w, w, w}))
      EXPECT_NEAR(x, 0.25, 1e-13) << alpha;
    for (const double x : predict<double>(alpha, {1, -1e9, 2, 0}, {w, w, w, 0})) EXPECT_GE(x, 0) << alpha;
  }
}

}  // namespace
}  // namespace fenchel
