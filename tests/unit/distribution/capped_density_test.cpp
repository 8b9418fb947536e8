#include "fenchel/distribution/line/capped_density.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/line/beta_laplace.hpp"
#include "fenchel/distribution/line/capped_parabola.hpp"
#include "fenchel/distribution/line/capped_triangular.hpp"
#include "fenchel/distribution/line/roughness.hpp"
#include "support/differences.hpp"
#include "support/golden.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf, testing::kNaN, testing::message_of, testing::slope_of;

constexpr double kGammas[] = {0, 1e-8, 0.3, 1, 1e8};

double scale_of(const CappedTriangular& p) { return p.b(); }
double scale_of(const CappedParabola& p) { return p.sigma2(); }

template <class P>
class Capped : public ::testing::Test {};
using Families = ::testing::Types<CappedTriangular, CappedParabola>;
TYPED_TEST_SUITE(Capped, Families);

/// got / want - 1 within the tolerance; infinities and zeros as they are.
void expect_ratio(double got, double want, double tolerance, const std::string& what) {
  if (std::isinf(want) || want == 0) {
    EXPECT_EQ(got, want) << what;
  } else {
    EXPECT_NEAR(got / want, 1, tolerance) << what;
  }
}

template <class P>
void expect_golden(const testing::GoldenBlock& block) {
  const double gamma = block.at("case")[1], scale = block.at("case")[2];
  const P p(gamma, 0, scale);
  const std::string where = "gamma " + shortest(gamma) + " scale " + shortest(scale);
  const auto& shape = block.at("shape");
  expect_ratio(p.plateau(), shape[0], 2e-15, where);
  expect_ratio(p.half_width(), shape[1], 2e-15, where);
  expect_ratio(p.threshold(), shape[2], 2e-15, where);
  expect_ratio(pdf(p, 0), shape[3], 3e-15, where);
  expect_ratio(mean_density(p), block.at("mean_density")[0], 4e-15, where);
  for (int n = 0; n < 7; ++n) {
    const double moment = block.at("moments")[static_cast<std::size_t>(n)];
    expect_ratio(absolute_moment(p, n), moment, 1e-14, where);
    EXPECT_EQ(central_moment(p, n), n % 2 == 0 ? absolute_moment(p, n) : 0);
  }
  expect_ratio(variance(p), block.at("moments")[2], 5e-15, where);
  EXPECT_EQ(skewness(p), 0);
  expect_ratio(kurtosis(p), block.at("moments")[4] / std::pow(block.at("moments")[2], 2), 1e-14, where);
  std::size_t i = 0;
  for (const double order : {0.5, 1.0, 1.00000001, 1.5, 2.0, 7.0, 1000.0}) {
    const double want = block.at("negentropy")[i++];
    if (std::isinf(want)) {
      EXPECT_EQ(-tsallis_entropy(p, order), want) << where;
    } else {
      EXPECT_NEAR(-tsallis_entropy(p, order), want, 1e-14 * (1 + order) * (1 + std::abs(want)))
          << where << " order " << order;
    }
  }
  EXPECT_EQ(entropy(p), tsallis_entropy(p, 1));
  for (std::size_t k = 0; k < block.at("tail").size(); ++k) {
    const double tail = block.at("tail")[k], depth = block.at("depth")[k], t = shape[1] - depth;
    EXPECT_NEAR(survival_quantile(p, tail), t, 1e-15 * shape[1]) << where << " tail " << tail;
    EXPECT_NEAR(quantile(p, tail), -t, 1e-15 * shape[1]) << where << " tail " << tail;
    if (t > shape[0]) expect_ratio(p.shape().tail_depth(tail) * shape[1], depth, 4e-15, where);
    const double blur = 1e-15 * shape[1] / depth;  // t knows the depth to its own rounding only
    if (blur < 0.1) {
      expect_ratio(survival(p, t), tail, 1e-14 + 2 * blur, where);
      EXPECT_NEAR(log_survival(p, t), std::log(tail), 1e-14 * (1 - std::log(tail)) + 2 * blur) << where;
    }
    EXPECT_EQ(cdf(p, -t), survival(p, t));
    EXPECT_NEAR(log_cdf(p, t), std::log1p(-tail), 1e-14) << where;
    EXPECT_NEAR(cdf(p, t) + survival(p, t), 1, 2e-16) << where;
  }
}

TEST(CappedDensity, GoldenTable) {
  int seen = 0;
  for (const auto& block : testing::golden_blocks("capped.txt")) {
    block.at("case")[0] == 1 ? expect_golden<CappedTriangular>(block) : expect_golden<CappedParabola>(block);
    ++seen;
  }
  EXPECT_EQ(seen, 24);
}

TEST(CappedTriangular, Golden66) {
  const CappedTriangular p(0.3, 0, 1.2);
  EXPECT_NEAR(p.plateau(), 0.84852813742385703, 1e-12);
  EXPECT_NEAR(p.half_width(), 1.3856406460551018, 1e-12);
  EXPECT_NEAR(p.threshold(), -1.1547005383792515, 1e-12);
  EXPECT_NEAR(cdf(p, 1), 0.93803387171258486, 1e-12);
  EXPECT_NEAR(quantile(p, 0.9), 0.89574269749846622, 1e-12);
  EXPECT_NEAR(variance(p), 0.44, 1e-12);
}

TEST(CappedParabola, Golden67) {
  const CappedParabola p(0.3, 0, 1.44);
  EXPECT_NEAR(p.plateau(), 1.0902723556992838, 1e-12);
  EXPECT_NEAR(p.half_width(), 1.5119052598738478, 1e-12);
  EXPECT_NEAR(p.threshold(), -0.79370052598409974, 1e-12);
  EXPECT_NEAR(cdf(p, 1.2), 0.95244063118091968, 1e-12);
  EXPECT_NEAR(quantile(p, 0.97), 1.2660987123506773, 1e-12);
  EXPECT_NEAR(variance(p), 0.58883114759469845, 1e-12);
}

template <class P, class Q>
void expect_same(const P& p, const Q& q) {
  constexpr double kTight = 1e-14;
  EXPECT_NEAR(p.half_width() / q.half_width(), 1, kTight);
  for (const double u : {1e-300, 1e-9, 0.01, 0.3, 0.5, 0.9}) {
    const double t = quantile(q, u);
    EXPECT_NEAR(quantile(p, u), t, kTight * (std::abs(p.mu()) + p.half_width()));
    EXPECT_NEAR(pdf(p, t), pdf(q, t), kTight * pdf(q, mode(q)));
    EXPECT_NEAR(cdf(p, t), cdf(q, t), kTight);
    EXPECT_NEAR(survival(p, t), survival(q, t), kTight);
  }
  EXPECT_NEAR(variance(p) / variance(q), 1, kTight);
  EXPECT_NEAR(kurtosis(p) / kurtosis(q), 1, kTight);
  EXPECT_NEAR(central_moment(p, 6) / central_moment(q, 6), 1, kTight);
  for (const double order : {0.5, 1.0, 1.5, 2.0, 3.0})
    EXPECT_NEAR(tsallis_entropy(p, order), tsallis_entropy(q, order), kTight);
}

TEST(CappedDensity, WithoutAPlateauItIsSparsemax) {
  expect_same(CappedTriangular(0, 0.4, 0.7), BetaLaplace::triangular(0.4, 0.7));
  expect_same(CappedParabola(0, 0.4, 0.7), BetaGaussian::truncated_parabola(0.4, 0.7));
  for (const double t : {-2.0, 0.3, 0.5, 1.0})
    EXPECT_NEAR(mean_deviation(CappedTriangular(0, 0.4, 0.7), t),
                mean_deviation(BetaLaplace::triangular(0.4, 0.7), t), 1e-15);
}

TYPED_TEST(Capped, ExpectationsAreExactForEveryGamma) {
  for (const double gamma : kGammas) {
    SCOPED_TRACE(gamma);
    const TypeParam p(gamma, 0.25, 0.8);
    const auto mean_of = [&](auto&& f) { return expectation(p, f, 1e-12); };
    const double width = p.half_width();
    EXPECT_NEAR(mean_of([](double) { return 1.0; }), 1, 1e-13);
    EXPECT_NEAR(mean_of([&](double t) { return std::abs(t - 0.25) / width; }), absolute_moment(p, 1) / width,
                1e-12);
    EXPECT_NEAR(mean_of([&](double t) { return std::pow((t - 0.25) / width, 6); }),
                central_moment(p, 6) / std::pow(width, 6), 1e-12);
    EXPECT_NEAR(mean_of([&](double t) { return pdf(p, t); }) / mean_density(p), 1, 1e-12);
    for (const double place : {-1.5, -0.4, 0.0, 0.7, 0.99}) {
      const double t = 0.25 + place * width;
      EXPECT_NEAR(mean_deviation(p, t) / width,
                  expectation(p, [&](double x) { return std::abs(x - t) / width; }), 1e-9);
    }
  }
  const auto call = [](auto&& f) {
    return message_of<std::domain_error>([&] { static_cast<void>(expectation(TypeParam(0.3, 0, 1), f)); });
  };
  EXPECT_EQ(call([](double t) { return t > 0.5 ? kNaN : 0; }).substr(0, 24), "fenchel::expectation: f(");
  EXPECT_EQ(call([](double) { return 1.0; }), "(no error)");
  EXPECT_EQ(message_of<std::domain_error>([] {
              static_cast<void>(expectation(
                  TypeParam(0.3, 0, 1), [](double t) { return t; }, 0));
            }),
            "fenchel::expectation: accuracy must be positive and finite, got 0");
}

TYPED_TEST(Capped, TheDensityAndItsDerivative) {
  for (const double gamma : {0.0, 0.3, 5.0}) {
    const TypeParam p(gamma, 0.25, 0.8);
    const double a = p.plateau(), b = p.half_width();
    for (const double y : {-b - 1, -b + 0.01, -(a + b) / 2, -a / 2, 0.0, a / 3, (2 * a + b) / 3, b + 0.3}) {
      const double t = 0.25 + y, step = 1e-5;
      const double expected = y == 0 ? 0 : slope_of([&](double x) { return pdf(p, x); }, t, step);
      EXPECT_NEAR(pdf_derivative(p, t), expected, 1e-9) << y;
      const double f = score(p)(t), capped = std::min(f, score(p)(0.25 + a));
      EXPECT_NEAR(excess_score(p, t), capped - p.threshold(), 1e-14) << y;
      EXPECT_NEAR(pdf(p, t), std::max(0.0, capped - p.threshold()), 1e-14) << y;
    }
    EXPECT_TRUE(std::isnan(pdf_derivative(p, kNaN)));
    EXPECT_EQ(pdf_derivative(p, kInf), 0);
    EXPECT_EQ(excess_score(p, kInf), -kInf);
    EXPECT_EQ(kinks(p), (std::vector<double>{0.25 - a, 0.25 + a}));
  }
}

TYPED_TEST(Capped, ItIsAScaleFamily) {  // lengths grow like s^{1/(k+1)} at fixed gamma
  const double power = std::is_same_v<TypeParam, CappedTriangular> ? 1. / 2 : 1. / 3;
  for (const double gamma : kGammas) {
    const TypeParam p(gamma, 0, 1), q(gamma, 3, 7);
    const double ratio = std::pow(7, power);
    for (const double u : {1e-12, 0.02, 0.4, 0.8}) {
      const double t = quantile(p, u);
      EXPECT_NEAR(quantile(q, u), 3 + ratio * t, 1e-14 * (3 + q.half_width()));
      EXPECT_NEAR(pdf(q, 3 + ratio * t) * ratio, pdf(p, t), 1e-14 * pdf(p, 0) * (1 + 1e3 * gamma));
    }
    EXPECT_NEAR(entropy(q), entropy(p) + std::log(ratio), 1e-13);
  }
}

TYPED_TEST(Capped, FromVariance) {
  for (const double gamma : {0.0, 1e-8, 0.3, 1.0, 1e8, 1e200}) {
    for (const double v : {1e-12, 0.44, 3e7}) {
      const auto p = TypeParam::from_variance(gamma, 0.5, v);
      EXPECT_NEAR(variance(p) / v, 1, 1e-14) << gamma;
      EXPECT_EQ(mean(p), 0.5);
    }
    const TypeParam p(gamma, -1, 2.3);
    EXPECT_NEAR(scale_of(TypeParam::from_variance(gamma, -1, variance(p))) / 2.3, 1, 2e-14) << gamma;
  }
}

TEST(CappedDensity, FromMeanDeviation) {
  for (const double gamma : {0.0, 1e-8, 0.3, 1.0, 1e8, 1e200}) {
    for (const double deviation : {1e-12, 0.44, 3e7}) {
      const auto p = CappedTriangular::from_mean_deviation(gamma, 0.5, deviation);
      EXPECT_NEAR(absolute_moment(p, 1) / deviation, 1, 1e-14) << gamma;
      EXPECT_EQ(mean(p), 0.5);
    }
  }
  const auto message = [](double gamma, double deviation) {
    return message_of<std::domain_error>(
        [&] { static_cast<void>(CappedTriangular::from_mean_deviation(gamma, 0, deviation)); });
  };
  EXPECT_EQ(message(1, 0),
            "fenchel::capped_triangular::from_mean_deviation: deviation must be positive and finite, got 0");
  EXPECT_EQ(message(-1, 1),
            "fenchel::capped_triangular::from_mean_deviation: gamma must be finite and not negative, got -1");
}

TEST(CappedDensity, FromVarianceWhereTheCubeOfTheWidthOverflows) {
  const CappedParabola p(1e100, 0, 1e250);
  EXPECT_NEAR(CappedParabola::from_variance(1e100, 0, variance(p)).sigma2() / 1e250, 1, 1e-13);
}

TYPED_TEST(Capped, RoughnessIsThatOfItsSlopes) {
  for (const double gamma : {0.0, 1e-8, 0.3, 1.0, 10.0}) {
    const TypeParam p(gamma, 0.4, 1.7);
    EXPECT_NEAR(roughness(p) / detail::quadrature_roughness(p, 1e-9), 1, 1e-8) << gamma;
  }
  const TypeParam flat(1e16, 0, 2);  // slopes thinner than rounding of the line
  const double height = pdf(flat, 0), slope = flat.shape().degree() == 1 ? 0.5 : flat.half_width() / 2;
  EXPECT_NEAR(roughness(flat) / (2 * height * slope), 1, 1e-13);
}

/// E[psi] as a function of the parameters, to be differentiated.
template <class P>
double mean_at(double gamma, double mu, double scale, double (*psi)(double)) {
  return expectation(P(gamma, mu, scale), psi, 1e-14);
}

double derivative_in_scale(const AbsoluteGammaGradient& g) { return g.b; }
double derivative_in_scale(const QuadraticGammaGradient& g) { return g.sigma2; }

TYPED_TEST(Capped, GradientsOfExpectationsAgreeWithDifferences) {
  constexpr double kMu = 0.2, kScale = 1.3, kStep = 1e-3;
  double (*const psi)(double) = [](double t) { return std::sin(1.3 * t) + t * t; };
  double (*const psi_prime)(double) = [](double t) { return 1.3 * std::cos(1.3 * t) + 2 * t; };
  const double share = std::is_same_v<TypeParam, CappedTriangular> ? 1. / 2 : 1. / 3;  // e / 2 in sigma2
  for (const double gamma : {0.0, 1e-8, 0.3, 1.0, 50.0}) {
    SCOPED_TRACE(gamma);
    const TypeParam p(gamma, kMu, kScale);
    const auto gradient = expectation_gradient(p, psi, 1e-12);
    const auto in_mu = [&](double x) { return mean_at<TypeParam>(gamma, x, kScale, psi); };
    const auto in_scale = [&](double x) { return mean_at<TypeParam>(gamma, kMu, x, psi); };
    const auto in_gamma = [&](double x) { return mean_at<TypeParam>(x, kMu, kScale, psi); };
    EXPECT_NEAR(gradient.mu, slope_of(in_mu, kMu, kStep), 1e-9);
    EXPECT_NEAR(derivative_in_scale(gradient), slope_of(in_scale, kScale, kStep), 1e-9);
    if (gamma > 0.1) {
      EXPECT_NEAR(gradient.gamma, slope_of(in_gamma, gamma, kStep), 1e-9);
    }
    // the pathwise form
    EXPECT_NEAR(gradient.mu, expectation(p, psi_prime, 1e-12), 1e-11);
    const auto stretch = [&](double t) { return (t - kMu) * psi_prime(t); };
    EXPECT_NEAR(derivative_in_scale(gradient), share / kScale * expectation(p, stretch, 1e-12), 1e-11);
  }
}

TYPED_TEST(Capped, GradientsNeedNoDerivativeAndKeepTheirDigits) {
  const auto half_line = [](double t) { return t > 0.2 ? 1.0 : 0.0; };
  for (const double gamma : kGammas) {
    SCOPED_TRACE(gamma);
    const TypeParam p(gamma, 0.2, 1.3);
    const auto constant = expectation_gradient(p, [](double) { return 3.0; });
    EXPECT_NEAR(constant.mu, 0, 1e-15);
    EXPECT_NEAR(derivative_in_scale(constant), 0, 1e-15);
    EXPECT_NEAR(constant.gamma, 0, 1e-15);
    EXPECT_NEAR(expectation_gradient(p, half_line).mu / pdf(p, 0.2), 1, 1e-12);
    // in units of the half width, which is proportional to s^{1/(k+1)}
    const auto square = expectation_gradient(p, [](double t) { return (t - 0.2) * (t - 0.2); });
    const double order = std::is_same_v<TypeParam, CappedTriangular> ? 1 : 2. / 3;
    EXPECT_NEAR(derivative_in_scale(square) / (order * variance(p) / 1.3), 1, 1e-14);
  }
}

TYPED_TEST(Capped, TheVarianceGrowsWithGamma) {  // dVar/dgamma = (2/3) (b^2 - a^2)
  for (const double gamma : kGammas) {
    const TypeParam p(gamma, 0, 1.3);
    const auto gradient = expectation_gradient(p, [](double t) { return t * t; });
    const double a = p.plateau(), b = p.half_width();
    EXPECT_NEAR(gradient.gamma / (2. / 3 * b * p.shape().slope_share() * (b + a)), 1, 1e-14) << gamma;
  }
}

TYPED_TEST(Capped, ExtremeParameters) {
  for (const double gamma : {0.0, 5e-324, 1e-300, 1e150, 1e300}) {
    for (const double scale : {1e-300, 1.0, 1e300}) {
      if (gamma / scale > 1e300) continue;
      SCOPED_TRACE("gamma " + shortest(gamma) + " scale " + shortest(scale));
      const TypeParam p(gamma, 0, scale);
      const double b = p.half_width();
      EXPECT_EQ(cdf(p, 0), 0.5);
      EXPECT_NEAR(survival(p, survival_quantile(p, 0.1)), 0.1, 1e-15);
      EXPECT_EQ(quantile(p, 1), b);
      EXPECT_NEAR(expectation(
                      p, [](double) { return 1.0; }, 1e-13),
                  1, 1e-14);
      EXPECT_NEAR(mean_density(p) * b, expectation(p, [&](double t) { return pdf(p, t); }) * b, 1e-9);
      EXPECT_NEAR(absolute_moment(p, 1) / b, expectation(p, [&](double t) { return std::abs(t) / b; }),
                  1e-12);
      EXPECT_NEAR(mean_deviation(p, 0) / b, absolute_moment(p, 1) / b, 1e-14);
      EXPECT_NEAR(
          entropy(p),
          std::log(b) + entropy(TypeParam(gamma, 0, 1)) - std::log(TypeParam(gamma, 0, 1).half_width()),
          1e-11);
    }
  }
}

TYPED_TEST(Capped, OrderDerivativeOfTheNegentropy) {
  for (const double gamma : {0.0, 0.3, 5.0}) {
    const TypeParam p(gamma, 0.3, 0.64);
    for (const double order : {0.7, 1.0, 1.5, 2.0}) {
      const auto negentropy = [&](double x) { return -tsallis_entropy(p, x); };
      EXPECT_NEAR(negentropy_order_derivative(p, order), slope_of(negentropy, order, 1e-3), 1e-9) << order;
    }
  }
}

TEST(CappedDensity, BadInput) {
  const auto triangular = [](double gamma, double mu, double b) {
    return message_of<std::domain_error>([&] { CappedTriangular(gamma, mu, b); });
  };
  const auto parabola = [](double gamma, double mu, double sigma2) {
    return message_of<std::domain_error>([&] { CappedParabola(gamma, mu, sigma2); });
  };
  EXPECT_EQ(triangular(-1, 0, 1),
            "fenchel::capped_triangular: gamma must be finite and not negative, got -1");
  EXPECT_EQ(triangular(kNaN, 0, 1),
            "fenchel::capped_triangular: gamma must be finite and not negative, got nan");
  EXPECT_EQ(triangular(1, kInf, 1), "fenchel::capped_triangular: mu must be finite, got inf");
  EXPECT_EQ(triangular(1, 0, 0), "fenchel::capped_triangular: b must be positive and finite, got 0");
  EXPECT_EQ(triangular(1, 0, kInf), "fenchel::capped_triangular: b must be positive and finite, got inf");
  EXPECT_EQ(triangular(1e308, 0, 5e-324),
            "fenchel::capped_triangular: b must keep peak and threshold in the range of doubles, got 5e-324");
  EXPECT_EQ(parabola(kInf, 0, 1), "fenchel::capped_parabola: gamma must be finite and not negative, got inf");
  EXPECT_EQ(parabola(1, kNaN, 1), "fenchel::capped_parabola: mu must be finite, got nan");
  EXPECT_EQ(parabola(1, 0, -2), "fenchel::capped_parabola: sigma2 must be positive and finite, got -2");
  EXPECT_EQ(
      parabola(1e308, 0, 1e-320),
      "fenchel::capped_parabola: sigma2 must keep peak and threshold in the range of doubles, got 1e-320");
  const auto from_variance = [](double gamma, double v) {
    return message_of<std::domain_error>(
        [&] { static_cast<void>(CappedParabola::from_variance(gamma, 0, v)); });
  };
  EXPECT_EQ(from_variance(1, 0),
            "fenchel::capped_parabola::from_variance: variance must be positive and finite, got 0");
  EXPECT_EQ(from_variance(-1, 1),
            "fenchel::capped_parabola::from_variance: gamma must be finite and not negative, got -1");
  EXPECT_EQ(from_variance(1, 1e250), "fenchel::capped_parabola: sigma2 must be positive and finite, got inf");
  const CappedTriangular p(0.3, 0, 1);
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(tsallis_entropy(p, 0)); }),
            "fenchel::tsallis_entropy: order must be positive, got 0");
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(central_moment(p, -1)); }),
            "fenchel::central_moment: n must not be negative, got -1");
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(absolute_moment(p, -2)); }),
            "fenchel::absolute_moment: n must not be negative, got -2");
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(quantile(p, 2)); }),
            "fenchel::quantile: u must be in [0, 1], got 2");
}

TEST(CappedDensity, Parameters) {
  const CappedTriangular p(0.3, -1, 1.2);
  EXPECT_EQ(score(p), AbsoluteScore(-1, 1.2));
  EXPECT_EQ(canonical_parameter(p), -1 / 1.2);
  EXPECT_EQ(p, CappedTriangular(0.3, -1, 1.2));
  EXPECT_FALSE(p == CappedTriangular(0.4, -1, 1.2));
  const CappedParabola q(0.3, -1, 1.2);
  EXPECT_EQ(score(q), QuadraticScore(-1, 1.2));
  EXPECT_EQ(canonical_parameters(q)[1], -1 / 2.4);
  EXPECT_FALSE(q == CappedParabola(0.3, -1, 1.3));
  EXPECT_EQ(tsallis_entropy(p, kInf), 0);
  EXPECT_EQ(tsallis_entropy(CappedTriangular(0, 0, 0.1), kInf), -kInf);
}

}  // namespace
}  // namespace fenchel
