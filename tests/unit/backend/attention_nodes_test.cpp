#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>
#include <vector>

#include "backend/cpu/attention/gauss_rules.hpp"
#include "fenchel/backend/cpu/attention.hpp"
#include "fenchel/core/beta_gaussian.hpp"
#include "fenchel/core/quadrature.hpp"

/// Rules whose nodes all functions of a row share, on the line.
namespace fenchel {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kEps = std::numeric_limits<double>::epsilon();

/// E[x^2k] of a density of variance 1: products of (2j - 1) (2s + 3) / (2s + 2j + 1).
TEST(AttentionNodes, RulesAreExactForPolynomials) {
  detail::GaussRules rules;
  for (const double am1 : {0x1p-52, 1e-8, 1e-3, 0.1, 1. / 3, 0.5, 1.0, 2.0, 1e6, kInf}) {
    const double s = 1 / am1;
    for (const double least : {1.0, 4.5, 8.0, 33.0, 100.0, 128.0}) {
      const auto rule = rules.at_least(am1, least);
      ASSERT_GE(static_cast<double>(rule.size), least);
      double expected = 1;
      for (index_t k = 0; k < std::min<index_t>(rule.size, 12); ++k) {
        if (k > 0)
          expected *=
              static_cast<double>(2 * k - 1) * ((2 * s + 3) / (2 * s + static_cast<double>(2 * k) + 1));
        double even = 0, odd = 0;
        for (index_t i = 0; i < rule.size; ++i) {
          const double term = rule.weight[i] * std::pow(rule.node[i] * rule.node[i], static_cast<double>(k));
          ASSERT_GT(rule.weight[i], 0);
          even += term;
          odd += term * rule.node[i];
        }
        EXPECT_NEAR(even, expected, 2e-13 * expected) << "am1 " << am1 << " size " << rule.size << " k " << k;
        EXPECT_NEAR(odd, 0, 2e-13 * expected * 30);
      }
    }
  }
}

/// A density of mean 0, a function d away, and what quadrature says of them: r, E[psi'], E[y psi'] and
/// E[psi''], all times width and the powers of it that make them numbers, the integrals of their absolute
/// values, and the change of r for a relative change of a length.
struct Pair {
  double alpha, sigma2, d, width;
  double value = 0, slope = 0, moment = 0, bend = 0;
  double slope_size = 0, moment_size = 0, kappa = 0;

  Pair(double alpha_at, double sigma2_at, double d_at, double width_at)
      : alpha(alpha_at), sigma2(sigma2_at), d(d_at), width(width_at) {
    const BetaGaussianConstants c = beta_gaussian_constants(1, alpha - 1, std::log(sigma2));
    const double unit = std::sqrt(std::abs(std::isinf(c.radius2) ? 1.0 : c.radius2) * sigma2);
    const double end = alpha > 1 ? unit : kInf;
    std::vector<double> cuts{d, 0, unit / 2, -unit / 2, d - 3 * width, d + 3 * width};
    const double from = std::max(-end, d - 14 * width), to = std::min(end, d + 14 * width);
    if (!(from < to)) return;
    for (double& cut : cuts) cut = std::clamp(cut, from, to);
    cuts.push_back(from);
    cuts.push_back(to);
    std::sort(cuts.begin(), cuts.end());
    const auto over = [&](const auto& g) {
      double sum = 0;
      for (std::size_t i = 1; i < cuts.size(); ++i) {
        if (!(cuts[i] > cuts[i - 1])) continue;
        sum += integrate(
                   [&](double y) {
                     const double x = (y - d) / width;
                     return std::exp(log_density(c, y * y / sigma2) - x * x / 2) * g(x, y / width);
                   },
                   cuts[i - 1], cuts[i], 1e-14)
                   .value;
      }
      return sum / std::sqrt(2 * std::numbers::pi);
    };
    value = over([](double, double) { return 1.0; });
    slope = over([](double x, double) { return -x; });
    moment = over([](double x, double y) { return -x * y; });
    bend = over([](double x, double) { return x * x - 1; });
    slope_size = over([](double x, double) { return std::abs(x); });
    moment_size = over([](double x, double y) { return std::abs(x * y); });
    kappa = over([](double x, double y) { return std::abs(x) * (std::abs(y) + std::abs(x)); }) / value;
  }
};

template <class Real>
void expect_accurate(const Pair& pair) {
  SCOPED_TRACE(::testing::Message() << "alpha - 1 = " << pair.alpha - 1 << ", sigma2 " << pair.sigma2
                                    << ", d " << pair.d << ", width " << pair.width << ", value "
                                    << pair.value);
  constexpr bool kSingle = sizeof(Real) == 4;
  const Real mu = 0, sigma2 = static_cast<Real>(pair.sigma2), one = 1;
  const double mean = pair.d, covariance = pair.width * pair.width;
  const cpu::Densities<Real> p{pair.alpha, {&mu, 1, 1}, {&sigma2, 1, 1}};
  const cpu::GaussianFunctions psi{{&mean, 1, 1}, {&covariance, 1, 1}};
  Real r = 0, by_mu = 0, by_sigma2 = 0;
  double by_mean = 0, by_covariance = 0;
  cpu::attend<Real>(p, psi, {&r, 1, 1});
  cpu::attend_vjp<Real>(p, psi, {&one, 1, 1}, {{}, {&by_mu, 1, 1}, {&by_sigma2, 1, 1}},
                        {{&by_mean, 1, 1}, {&by_covariance, 1, 1}});
  const double w = pair.width, rounding = 8 * kEps * pair.kappa;
  const double relative = kSingle ? 1e-6 : cpu::kAttendLineError + rounding;
  const double scaled = kSingle ? 1e-6 : 1e-12 + rounding;
  EXPECT_NEAR(w * double{r}, pair.value, relative * pair.value);
  EXPECT_NEAR(w * w * double{by_mu}, pair.slope, scaled * pair.slope_size);
  EXPECT_NEAR(w * w * by_mean, -pair.slope, scaled * pair.slope_size);
  const double unit = (1 + pair.alpha) * pair.sigma2;
  if (std::isfinite(unit)) {
    EXPECT_NEAR(w * unit * double{by_sigma2}, pair.moment, scaled * pair.moment_size);
  }
  EXPECT_NEAR(w * w * w * by_covariance, pair.bend / 2, scaled * (pair.value + std::abs(pair.bend)));
}

/// Functions from far wider than the density to an eighth of it, in it and outside of it, for all alphas.
TEST(AttentionNodes, SharedNodesAreAccurate) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (const double alpha :
       {0.01,     0.3,  0.6, 0.8,     0.95, 0.995, 1 - 1e-4, 1 - 1e-9, std::nextafter(1.0, 2.0),
        1 + 1e-8, 1.01, 1.1, 4.0 / 3, 1.5,  1.7,   2.0,      3.0,      11.0,
        1e6,      kInf}) {
    for (int i = 0; i < 60; ++i) {
      const double sigma2 = static_cast<float>(0.01 * std::pow(100.0, uniform(random)));
      const BetaGaussianConstants c = beta_gaussian_constants(1, alpha - 1, std::log(sigma2));
      const double size =
          std::sqrt(sigma2 * (alpha > 1 || c.variance_factor < 1e3 ? c.variance_factor : -c.radius2));
      const double width = size * std::pow(10.0, 3 * uniform(random) - 0.9);
      const double reach = i % 2 == 0 ? 2 * size : std::min(10.0, 3 / std::abs(alpha - 1)) * size + 4 * width;
      const Pair pair(alpha, sigma2, reach * (2 * uniform(random) - 1), width);
      if (!(pair.value > 1e-29)) continue;
      expect_accurate<double>(pair);
      expect_accurate<float>(pair);
    }
  }
}

/// A row is sorted by width for its kernel: the results are in the caller's order, the same bits in each.
TEST(AttentionNodes, TheOrderOfFunctionsDoesNotMatter) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  constexpr index_t kCount = 83;
  std::vector<double> mean, covariance;
  for (index_t j = 0; j < kCount; ++j) {
    mean.push_back(uniform(random));
    covariance.push_back(std::pow(10.0, -4 * uniform(random)));
  }
  std::vector<std::size_t> order(kCount);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  std::vector<double> shuffled_mean, shuffled_covariance;
  for (const std::size_t j : order) {
    shuffled_mean.push_back(mean[j]);
    shuffled_covariance.push_back(covariance[j]);
  }
  for (const double alpha : {0.7, 1.0, 1.2, 1.5, 2.0}) {
    const double mu = 0.4, sigma2 = 0.01;
    const cpu::Densities<double> p{alpha, {&mu, 1, 1}, {&sigma2, 1, 1}};
    std::vector<double> r(kCount), shuffled(kCount);
    cpu::attend<double>(p, {{mean.data(), kCount, 1}, {covariance.data(), kCount, 1}}, {r.data(), 1, kCount});
    cpu::attend<double>(p, {{shuffled_mean.data(), kCount, 1}, {shuffled_covariance.data(), kCount, 1}},
                        {shuffled.data(), 1, kCount});
    for (std::size_t k = 0; k < order.size(); ++k) EXPECT_EQ(shuffled[k], r[order[k]]) << "alpha " << alpha;
  }
}

}  // namespace
}  // namespace fenchel
