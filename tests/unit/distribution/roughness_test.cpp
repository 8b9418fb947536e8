#include "fenchel/distribution/line/roughness.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "fenchel/core/quadrature.hpp"
#include "fenchel/distribution/line/capped_triangular.hpp"
#include "fenchel/distribution/line/smooth_parabola.hpp"
#include "fenchel/distribution/line/smooth_triangular.hpp"
#include "fenchel/distribution/mixture.hpp"
#include "support/differences.hpp"
#include "support/grids.hpp"

namespace fenchel {
namespace {

using testing::kInf, testing::kNaN, testing::slope_of;

constexpr double kAlphas[] = {0.8, 1 - 1e-8, 1, 1 + 0x1p-52, 1 + 1e-8, 4. / 3, 1.5, 2, 2.4, 2.9};

template <class P>
void expect_derivative(const P& p, double tolerance) {
  const double unit = survival_quantile(p, 0.25) - quantile(p, 0.25);
  for (const double u : {0.02, 0.3, 0.6, 0.98}) {
    const double t = quantile(p, u);
    const double want = slope_of([&](double at) { return pdf(p, at); }, t, 1e-4 * unit);
    EXPECT_NEAR(pdf_derivative(p, t), want, tolerance * pdf(p, mode(p)) / unit) << u;
  }
  EXPECT_TRUE(std::isnan(pdf_derivative(p, kNaN)));
}

TEST(Roughness, DerivativesOfDensities) {
  for (const double alpha : kAlphas) {
    SCOPED_TRACE(alpha);
    expect_derivative(BetaGaussian(alpha, 0.3, 0.7), 1e-8);
    expect_derivative(BetaLaplace(alpha, 0.3, 0.7), 1e-8);
  }
  expect_derivative(TruncatedGaussian(2, 0.3, 0.7), 1e-8);
  const LocationScale cosh(LocationScaleScore([](double x) { return std::cosh(x); },
                                              [](double x) { return std::sinh(x); }, 1.3, 2));
  expect_derivative(cosh, 1e-8);
  expect_derivative(escort(TruncatedGaussian(2, 0.3, 0.7), 1.5), 1e-8);
  EXPECT_EQ(pdf_derivative(BetaGaussian(2, 0, 1), 9), 0);
  EXPECT_EQ(pdf_derivative(BetaLaplace(2, 0, 1), 9), 0);
  EXPECT_EQ(pdf_derivative(TruncatedGaussian(2, 0, 1), 9), 0);
  EXPECT_EQ(pdf_derivative(cosh, 99), 0);
  EXPECT_EQ(pdf_derivative(BetaGaussian::uniform(0, 2), 0.5), 0);
}

TEST(Roughness, OfBetaGaussians) {
  const double sigma = 0.7, sigma3 = sigma * sigma * sigma;
  EXPECT_NEAR(roughness(BetaGaussian::gaussian(3, sigma * sigma)),
              1 / (4 * std::sqrt(std::numbers::pi) * sigma3), 1e-10);
  const double near = roughness(BetaGaussian::gaussian(3, sigma * sigma));
  for (const double alpha : {1 + 0x1p-52, 1 + 1e-12, 1 - 1e-9, 1 + 1e-8})
    EXPECT_NEAR(roughness(BetaGaussian(alpha, 3, sigma * sigma)), near, 1e-7 * near) << alpha;
  const BetaGaussian parabola = BetaGaussian::truncated_parabola(0, 0.64);
  EXPECT_NEAR(roughness(parabola), roughness(SmoothParabola(0, 0, 0.64)), 1e-13);
  for (const double alpha : {0.8, 1.2, 4. / 3, 1.5, 2.0}) {
    const BetaGaussian p(alpha, 0, 0.5);
    const double end = std::min(p.half_width(), 1e3);
    const auto square = [&](double t) { return pdf_derivative(p, t) * pdf_derivative(p, t); };
    const double want = 2 * (integrate(square, 0, 1, 1e-13).value + integrate(square, 1, end, 1e-13).value);
    EXPECT_NEAR(roughness(p) / want, 1, 1e-9) << alpha;
  }
  EXPECT_LT(roughness(BetaGaussian(std::nextafter(3., 2.), 0, 1)), kInf);
  for (const double alpha : {3.0, 5.0, 1e6, kInf}) EXPECT_EQ(roughness(BetaGaussian(alpha, 0, 1)), kInf);
}

TEST(Roughness, OfBetaLaplaces) {
  for (const double alpha : {0.8, 1.0, 1 + 1e-8, 1.5, 2.0}) {
    const BetaLaplace p(alpha, 0, 0.5);
    const double end = std::min(p.half_width(), 1e3);
    const auto square = [&](double t) { return pdf_derivative(p, t) * pdf_derivative(p, t); };
    const double want = 2 * (integrate(square, 0, 1, 1e-13).value + integrate(square, 1, end, 1e-13).value);
    EXPECT_NEAR(roughness(p) / want, 1, 1e-8) << alpha;
  }
  EXPECT_NEAR(roughness(BetaLaplace::triangular(0, 0.64)), roughness(SmoothTriangular(0, 0, 0.64)), 1e-13);
  for (const double alpha : {3.0, 5.0, kInf}) EXPECT_EQ(roughness(BetaLaplace(alpha, 0, 1)), kInf);
}

TEST(Roughness, OfMixtures) {
  for (const double alpha : {1.0, 1.5, 2.0, 2.5, 2.9}) {
    const BetaGaussian p(alpha, 0.3, 2);
    const Mixture<BetaGaussian> alone({1}, {p}), twice({0.25, 0.75}, {p, p});
    EXPECT_NEAR(roughness(alone) / roughness(p), 1, 1e-15) << alpha;
    EXPECT_NEAR(roughness(twice) / roughness(p), 1, 1e-15) << alpha;
    expect_derivative(twice, 1e-7);
  }
  for (const double alpha : {2.1, 2.497673382798894, 2.9}) {
    SCOPED_TRACE(alpha);
    const BetaGaussian p(alpha, 2.44, 2.49), wide(1.4, 2.76, 3);
    // int p' wide' in t = mu + radius sin(x), where p' is finite
    const double power = 1 / (alpha - 1), radius = p.half_width();
    const auto product = [&](double x) {
      const double slope = -2 * power * pdf(p, p.mu()) * std::sin(x) * std::pow(std::cos(x), 2 * power - 1);
      return slope * pdf_derivative(wide, p.mu() + radius * std::sin(x));
    };
    const double cross = integrate(product, -std::numbers::pi / 2, std::numbers::pi / 2, 1e-12).value;
    const double want = roughness(p) / 16 + 9 * roughness(wide) / 16 + 6 * cross / 16;
    EXPECT_NEAR(roughness(Mixture<BetaGaussian>({0.25, 0.75}, {p, wide})) / want, 1, 1e-8);
  }
  const BetaGaussian steep(3, 0, 1), far(2, 1e3, 1), near(2, 0, 1);
  EXPECT_EQ(roughness(Mixture<BetaGaussian>({0.5, 0.5}, {steep, near})), kInf);
  const Mixture<BetaGaussian> apart({0.5, 0.5}, {far, near});
  EXPECT_NEAR(roughness(apart), roughness(near) / 2, 1e-12);
}

TEST(Roughness, OfDensitiesByQuadrature) {
  const TruncatedGaussian p(1e8, 0.2, 0.5);  // a truncated parabola, nearly
  const double width = p.half_width();
  EXPECT_NEAR(roughness(p) * width * width * width, 1.5, 1e-4);
  const LocationScale cubic(
      LocationScaleScore([](double x) { return x * x * x / 6; }, [](double x) { return x * x / 2; }, 0.4, 1));
  EXPECT_NEAR(roughness(cubic) / roughness(BetaGaussian::truncated_parabola(0.4, 1)), 1, 1e-7);
  const NumericDensity same([](double t) { return -t * t; }, {Interval(-kInf, kInf)}, {0});
  EXPECT_NEAR(roughness(same) / roughness(BetaGaussian::gaussian(0, 0.5)), 1, 1e-7);
  const NumericDensity biweight([](double t) { return 2 * std::log1p(-t * t); }, {Interval(-1, 1)}, {0});
  EXPECT_NEAR(roughness(biweight) / roughness(BetaGaussian::from_half_width(1.5, 0, 1)), 1, 1e-6);
  const CappedTriangular kinks(0.3, 0.2, 0.64);  // at the modes of the numeric one
  EXPECT_NEAR(roughness(escort(kinks, 1)) / roughness(kinks), 1, 1e-7);
  const NumericDensity jump([](double t) { return -t; }, {Interval(0, 3)}, {0});
  EXPECT_EQ(roughness(jump), kInf);
  EXPECT_EQ(roughness(jump, Interval(0, 4)), kInf);
  const double mass = -std::expm1(-3);
  EXPECT_NEAR(roughness(jump, Interval(0, 3)), -std::expm1(-6) / 2 / (mass * mass), 1e-7);
}

TEST(Roughness, OfAtomsIsInfinite) {
  const std::vector<double> values = {1, 2};
  EXPECT_EQ(roughness(Dirac{1}), kInf);
  EXPECT_EQ(roughness(Empirical(values)), kInf);
}

}  // namespace
}  // namespace fenchel
