#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "fenchel/core/quadrature.hpp"
#include "fenchel/distribution/concept.hpp"
#include "support/grids.hpp"

/// What every family on the line obeys that is symmetric about mu, checked from its density alone.
namespace fenchel::testing {

/// int f p over a support that is symmetric about centre, each side in units of `scale`.
template <class P, class F>
double against_density(const P& p, F f, double centre, double scale) {
  const double reach = (support(p).upper() - centre) / scale;
  const auto side = [&](double sign) {
    const auto integrand = [&](double x) {
      const double t = centre + sign * scale * x, density = pdf(p, t);
      return density == 0 ? 0 : density * f(t) * scale;
    };
    return integrate(integrand, 0, reach, 1e-12).value;
  };
  return side(1) + side(-1);
}

template <class P>
void expect_line_laws(const P& p, double tolerance) {
  static_assert(LineDistribution<P>);
  const double mu = mean(p), scale = survival_quantile(p, 0.25) - quantile(p, 0.25);
  EXPECT_NEAR(against_density(
                  p, [](double) { return 1.0; }, mu, scale),
              1, tolerance);
  EXPECT_NEAR(cdf(p, mu), 0.5, tolerance);
  for (const double u : {1e-12, 1e-3, 0.1, 0.3, 0.49, 0.5, 0.51, 0.7, 0.9, 0.999}) {
    const double t = quantile(p, u), s = survival_quantile(p, u);
    EXPECT_NEAR(cdf(p, t), u, 1e-13 + tolerance * u) << u;
    EXPECT_NEAR(survival(p, s), u, 1e-13 + tolerance * u) << u;
    EXPECT_NEAR(t - mu, mu - s, 1e-12 * (std::abs(mu) + std::abs(t - mu))) << u;
    EXPECT_NEAR(cdf(p, t) + survival(p, t), 1, 1e-13) << u;
    EXPECT_NEAR(std::exp(log_cdf(p, t)), cdf(p, t), 1e-13) << u;
    EXPECT_NEAR(std::exp(log_survival(p, t)), survival(p, t), 1e-13) << u;
    EXPECT_NEAR(log_pdf(p, t), std::log(pdf(p, t)), 1e-12 * (1 + std::abs(log_pdf(p, t)))) << u;
    const double step = 1e-5 * scale;
    if (u > 0.01 && u < 0.99 && std::abs(t - mu) > 2 * step) {
      EXPECT_NEAR((cdf(p, t + step) - cdf(p, t - step)) / (2 * step) * scale, pdf(p, t) * scale,
                  2e-9 + 1e-15 * (std::abs(mu) + scale) / step)
          << u;
    }
  }
  EXPECT_EQ(quantile(p, 0), support(p).lower());
  EXPECT_EQ(quantile(p, 1), support(p).upper());
  EXPECT_EQ(survival_quantile(p, 0), support(p).upper());
  EXPECT_EQ(survival_quantile(p, 1), support(p).lower());
  EXPECT_EQ(cdf(p, -kInf), 0);
  EXPECT_EQ(cdf(p, kInf), 1);
  EXPECT_EQ(survival(p, kInf), 0);
  EXPECT_EQ(pdf(p, kInf), 0);
  EXPECT_EQ(log_pdf(p, -kInf), -kInf);
  EXPECT_EQ(log_survival(p, kInf), -kInf);
  for (const double nan : {pdf(p, kNaN), log_pdf(p, kNaN), cdf(p, kNaN), survival(p, kNaN), log_cdf(p, kNaN),
                           log_survival(p, kNaN)})
    EXPECT_TRUE(std::isnan(nan));
}

/// Moments against quadrature, for a density with thin tails or none.
template <class P>
void expect_moments(const P& p, double tolerance) {
  const double mu = mean(p), sd = standard_deviation(p);
  for (const int n : {2, 4, 6}) {
    const double brute = against_density(
        p, [&](double t) { return std::pow((t - mu) / sd, n); }, mu, sd);
    EXPECT_NEAR(central_moment(p, n) / std::pow(sd, n), brute, tolerance * brute) << n;
  }
  EXPECT_EQ(central_moment(p, 3), 0);
  EXPECT_EQ(central_moment(p, 0), 1);
  EXPECT_EQ(skewness(p), 0);
  EXPECT_NEAR(kurtosis(p), central_moment(p, 4) / std::pow(variance(p), 2), tolerance * kurtosis(p));
  EXPECT_NEAR(moment(p, 2), variance(p) + mu * mu, tolerance * moment(p, 2));
  for (const double order : {0.5, 1.0, 1 + 1e-9, 2.0, 3.0}) {
    const double brute = against_density(
        p,
        [&](double t) {
          const double l = log_pdf(p, t);
          return order == 1 ? l : std::expm1((order - 1) * l) / (order - 1) / order;
        },
        mu, sd);
    EXPECT_NEAR(tsallis_entropy(p, order), -brute, tolerance * (1 + std::abs(brute))) << order;
  }
  EXPECT_EQ(entropy(p), tsallis_entropy(p, 1));
}

/// The largest distance of the draws' distribution function from the cdf, times sqrt(count): above 1.95 with
/// probability 1e-3.
template <class P>
double kolmogorov_smirnov(const P& p, index_t count) {
  std::vector<double> draws = sample(p, count, 2022);
  std::sort(draws.begin(), draws.end());
  double distance = 0;
  const double n = static_cast<double>(count);
  for (index_t k = 0; k < count; ++k) {
    const double u = cdf(p, draws[static_cast<std::size_t>(k)]), at = static_cast<double>(k);
    distance = std::max({distance, u - at / n, (at + 1) / n - u});
  }
  return distance * std::sqrt(n);
}

}  // namespace fenchel::testing
