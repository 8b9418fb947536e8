#include <gtest/gtest.h>

#include <cmath>

#include "fenchel/distribution/line/truncated_gaussian.hpp"
#include "fenchel/predict/location_scale.hpp"
#include "fenchel/predict/scaled_gaussian.hpp"
#include "fenchel/predict/sobolev_function.hpp"
#include "fenchel/predict/total_variation_function.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::kNaN;
using testing::message_of;

static_assert(Predictable<TotalVariation, EvenScore, Line>);
static_assert(Predictable<TotalVariation, ScaledGaussianScore, Line>);
static_assert(Predictable<Sobolev, LocationScaleScore, Line>);
static_assert(!Predictable<Sobolev, EvenScore, Interval>);

EvenScore absolute(double mu, double b, bool known = true) {
  const auto h = [=](double x) { return -x / b; };
  return known ? EvenScore(
                     h, [=](double x) { return -x * x / (2 * b); }, mu)
               : EvenScore(h, mu);
}
EvenScore quadratic(double mu, double sigma2, bool known = true) {
  const auto h = [=](double x) { return -x * x / (2 * sigma2); };
  return known ? EvenScore(
                     h, [=](double x) { return -x * x * x / (6 * sigma2); }, mu)
               : EvenScore(h, mu);
}
LocationScaleScore cosine(double mu, double sigma) {
  return {[](double x) { return std::cosh(x); }, [](double x) { return std::sinh(x); }, mu, sigma};
}

// docs/math.md golden rows 66 and 67.
TEST(EvenTotalVariation, GoldenValues) {
  for (const bool known : {true, false}) {
    const auto tri = detail::predict_even(TotalVariation(0.3), absolute(0, 1.2, known));
    EXPECT_NEAR(tri.plateaus[0].upper(), 0.84852813742385703, 1e-13);
    EXPECT_NEAR(tri.density.support()[0].upper(), 1.3856406460551018, 1e-13);
    EXPECT_NEAR(tri.threshold, -1.1547005383792515, 1e-13);
    EXPECT_NEAR(cdf(tri.density, 1), 0.93803387171258486, 1e-13);
    EXPECT_NEAR(quantile(tri.density, 0.9), 0.89574269749846622, 1e-12);
    EXPECT_NEAR(variance(tri.density), 0.44, 1e-12);
    const auto par = detail::predict_even(TotalVariation(0.3), quadratic(0, 1.44, known));
    EXPECT_NEAR(par.plateaus[0].upper(), 1.0902723556992838, 1e-13);
    EXPECT_NEAR(par.density.support()[0].upper(), 1.5119052598738478, 1e-13);
    EXPECT_NEAR(par.threshold, -0.79370052598409974, 1e-13);
    EXPECT_NEAR(cdf(par.density, 1.2), 0.95244063118091968, 1e-13);
    EXPECT_NEAR(quantile(par.density, 0.97), 1.2660987123506773, 1e-12);
    EXPECT_NEAR(variance(par.density), 0.58883114759469845, 1e-12);
  }
}

TEST(EvenTotalVariation, ClosedFormsOfEveryGammaAndScale) {
  for (const double gamma : {0.0, 1e-8, 1e-3, 0.3, 5.0, 1e3}) {
    for (const double b : {1e-6, 1.0, 30.0, 1e6}) {
      for (const bool known : {true, false}) {
        const double mu = 2.5, cap = std::sqrt(2 * b * gamma), end = std::sqrt(b * (1 + 2 * gamma));
        const auto p = detail::predict_even(TotalVariation(gamma), absolute(mu, b, known));
        const double peak = 1 / (end + cap);  // (end - cap) / b without cancellation
        EXPECT_NEAR(p.density.support()[0].upper(), mu + end, 1e-11 * end + 1e-15) << gamma << " " << b;
        EXPECT_NEAR(pdf(p.density, mu), peak, 1e-10 * peak) << gamma << " " << b;
        EXPECT_NEAR(p.total_variation, 2 * peak, 1e-9 * peak) << gamma << " " << b;
        EXPECT_EQ(p.plateaus.size(), gamma == 0 ? 0u : 1u);
      }
    }
  }
}

TEST(EvenTotalVariation, LargeGamma) {
  const auto p = detail::predict_even(TotalVariation(1e8), absolute(0, 1));
  const double peak = 1 / (std::sqrt(1 + 2e8) + std::sqrt(2e8));
  EXPECT_NEAR(pdf(p.density, 0), peak, 1e-6 * peak);
  EXPECT_NEAR(cdf(p.density, 0), 0.5, 1e-9);
}

TEST(EvenTotalVariation, TemperatureDividesTheScore) {
  const NumericDensity p = predict(TotalVariation(0.3, 2.5), absolute(1, 1.2), Line{});
  const NumericDensity q = predict(TotalVariation(0.3), absolute(1, 3.0), Line{});
  for (const double t : {-1.0, 0.5, 1.0, 2.0, 2.8}) EXPECT_NEAR(pdf(p, t), pdf(q, t), 1e-13);
}

// Mass, plateau and edge of the location-scale example g = cosh - 1 by its own equations.
TEST(EvenTotalVariation, LocationScale) {
  const double sigma = 0.7, mu = -1, gamma = 0.2;
  const auto p = detail::predict_even(TotalVariation(gamma), cosine(mu, sigma));
  const double a = (p.plateaus[0].upper() - mu) / sigma, b = (p.density.support()[0].upper() - mu) / sigma;
  EXPECT_NEAR(a * std::sinh(a) - std::cosh(a) + 1, gamma, 1e-13);
  EXPECT_NEAR(b * std::sinh(b) - std::cosh(b) + 1, 0.5 + gamma, 1e-13);
  EXPECT_NEAR(p.threshold, -std::sinh(b) / sigma, 1e-13);
  EXPECT_NEAR(p.density.log_mass(), 0, 1e-12);
  const NumericDensity none = predict(TotalVariation(0), cosine(mu, sigma), Line{});
  const LocationScale exact = predict(Tsallis(2), cosine(mu, sigma), Line{});
  for (const double t : {-1.0, -0.7, -0.2}) EXPECT_NEAR(pdf(none, t), pdf(exact, t), 1e-12);
}

TEST(EvenTotalVariation, TruncatedGaussian) {
  const ScaledGaussianScore f(3, 0.5, 0.8);
  const NumericDensity none = predict(TotalVariation(0), f, Line{});
  const TruncatedGaussian exact = predict(Tsallis(2), f, Line{});
  for (const double t : {-0.3, 0.5, 1.0}) EXPECT_NEAR(pdf(none, t), pdf(exact, t), 1e-12);
  // The mass above 0 is kappa / 2 on either side; 1/2 + gamma of it is needed.
  EXPECT_NEAR(predict(TotalVariation(0.9999), f, Line{}).log_mass(), 0, 1e-9);
  EXPECT_EQ(
      message_of<std::domain_error>([&] { (void)predict(TotalVariation(1), f, Line{}); }),
      "fenchel::predict: the mass of h / T above its limit must be more than 1.5: no distribution exists "
      "where f does not fall enough, got 1.5");
  EXPECT_EQ(
      message_of<std::domain_error>(
          [&] { (void)predict(TotalVariation(0), ScaledGaussianScore(1, 0, 1), Line{}); }),
      "fenchel::predict: the mass of h / T above its limit must be more than 0.5: no distribution exists "
      "where f does not fall enough, got 0.5");
  EXPECT_EQ(
      message_of<std::domain_error>(
          [&] { (void)predict(Sobolev(1), ScaledGaussianScore(0.5, 0, 1), Line{}); }),
      "fenchel::predict: the mass of h / T above its limit must be more than 0.5: no distribution exists "
      "where f does not fall enough, got 0.25");
}

// h = 0 up to 1, -1 beyond: the plateau ends at the jump and lies between its sides, or p is uniform.
TEST(EvenTotalVariation, Jump) {
  const EvenScore f([](double x) { return x < 1 ? 0.0 : -std::floor(x); }, 0);
  const NumericDensity p = predict(TotalVariation(0.4), f, Line{});
  // v = -gamma, and tau = v - 1/2 from mass one, above h(1) = -1.
  EXPECT_NEAR(pdf(p, 0.5), 0.5, 1e-12);
  EXPECT_NEAR(support(p)[0].upper(), 1, 1e-12);
  EXPECT_NEAR(cdf(p, 0), 0.5, 1e-12);
}

TEST(EvenTotalVariation, BadScores) {
  const auto message = [](double value) {
    return message_of<std::domain_error>(
        [=] { (void)predict(TotalVariation(1), EvenScore([=](double) { return value; }, 0), Line{}); });
  };
  EXPECT_EQ(message(kNaN), "fenchel::predict: h(0) must be a number below infinity, got nan");
  EXPECT_EQ(message(kInf), "fenchel::predict: h(0) must be a number below infinity, got inf");
  EXPECT_EQ(message(1),
            "fenchel::predict: the mass of h / T above its limit must be more than 1.5: no "
            "distribution exists where f does not fall enough, got 0");
  EXPECT_EQ(message_of<std::domain_error>([] { (void)EvenScore([](double x) { return -x; }, kInf); }),
            "fenchel::even_score: mu must be finite, got inf");
}

struct SmoothRow {
  double scale, gamma, b, tau, peak, cdf;
};

// docs/math.md golden rows 68 to 73; `scale` is sigma, squared for the parabola.
TEST(EvenSobolev, GoldenValues) {
  const SmoothRow parabolas[] = {
      {1, 1, 1.984735113399849, -0.90845169811011768, 0.46442307388365321, 0.80050034636152263},
      {0.25, 0.1, 1.0186127360195275, -1.1825782878187341, 0.88558597993357475, 0.96635964403406035},
      {1, 100, 4.7015842754353615, -3.7904962477486891, 0.19919235061402676, 0.63739512111869046}};
  const SmoothRow triangles[] = {
      {1, 1, 2.0279031679977923, -1.2605116801072643, 0.49312019221673639, 0.81039650606188382},
      {0.5, 0.1, 1.061036993704792, -1.5322740975631264, 0.9424742077166689, 0.96541792997566635},
      {1, 100, 5.936830534645421, -3.0526352896194835, 0.16844004459354596, 0.61635888693926735}};
  const auto check = [](const SmoothRow& row, const EvenScore& f) {
    const auto p = detail::predict_even(Sobolev(row.gamma), f);
    EXPECT_NEAR(p.density.support()[0].upper(), row.b, 1e-12 * row.b) << row.gamma;
    EXPECT_NEAR(p.threshold, row.tau, 1e-12) << row.gamma;
    EXPECT_NEAR(pdf(p.density, 0), row.peak, 1e-12) << row.gamma;
    EXPECT_NEAR(cdf(p.density, 0.7), row.cdf, 1e-12) << row.gamma;
  };
  for (const bool known : {true, false}) {
    for (const SmoothRow& row : parabolas) check(row, quadratic(0, row.scale, known));
    for (const SmoothRow& row : triangles) check(row, absolute(0, row.scale, known));
  }
}

// gamma -> inf: (b^2 - t^2)^2 / (24 sigma2 gamma), b = (45 sigma2 gamma / 2)^(1/5); gamma -> 0: sparsemax.
TEST(EvenSobolev, ExtremeGammas) {
  for (const double gamma : {1e6, 1e8}) {
    const NumericDensity p = predict(Sobolev(gamma), quadratic(0, 1), Line{});
    const double b = std::pow(22.5 * gamma, 0.2), off = 30 * b * b / gamma;
    EXPECT_NEAR(support(p)[0].upper() / b, 1, off);
    for (const double t : {0.0, 0.3 * b, 0.8 * b}) {
      const double limit = (b * b - t * t) * (b * b - t * t) / (24 * gamma);
      EXPECT_NEAR(pdf(p, t) / limit, 1, off) << gamma << " " << t;
    }
    EXPECT_NEAR(p.log_mass(), 0, 1e-10);
  }
  for (const double gamma : {0.0, 1e-300, 1e-16, 1e-8}) {
    const NumericDensity p = predict(Sobolev(gamma), quadratic(0, 2.0 / 3), Line{});
    for (const double t : {0.0, 0.3, 0.7})
      EXPECT_NEAR(pdf(p, t), 0.75 * (1 - t * t), 10 * std::sqrt(gamma) * 1e-2 + 10 * gamma + 1e-12) << gamma;
    EXPECT_NEAR(p.log_mass(), 0, 1e-9) << gamma;
  }
}

TEST(EvenSobolev, SolvesItsEquation) {
  const double gamma = 0.3, mu = 0.4, sigma = 0.7;
  const auto p = detail::predict_even(Sobolev(gamma), cosine(mu, sigma));
  EXPECT_NEAR(p.density.log_mass(), 0, 1e-11);
  const double end = p.density.support()[0].upper(), step = 1e-3;
  for (const double t : {0.5, 0.9, 0.1, end - 0.1}) {
    const double bend =
        (pdf(p.density, t + step) - 2 * pdf(p.density, t) + pdf(p.density, t - step)) / step / step;
    EXPECT_NEAR(pdf(p.density, t) - gamma * bend, cosine(mu, sigma)(t) - p.threshold, 1e-4) << t;
  }
  EXPECT_NEAR(pdf(p.density, end - 1e-4), 0, 1e-7);  // p' = 0 at the end
  double rough = 0;
  const int n = 20000;
  for (int i = 0; i < n; ++i) {
    const double h = (end - mu) / n, t = mu + h * i;
    const double d = (pdf(p.density, t + h) - pdf(p.density, t)) / h;
    rough += 2 * h * d * d;
  }
  EXPECT_NEAR(p.roughness, rough, 1e-6 * rough);
}

TEST(EvenSobolev, TemperatureDividesTheScore) {
  const NumericDensity p = predict(Sobolev(0.3, 2.5), quadratic(1, 1.2), Line{});
  const NumericDensity q = predict(Sobolev(0.3), quadratic(1, 3.0), Line{});
  for (const double t : {-1.0, 0.5, 1.0, 2.0, 2.8}) EXPECT_NEAR(pdf(p, t), pdf(q, t), 1e-12);
}

}  // namespace
}  // namespace fenchel
