#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "distribution/line/smooth_forms.hpp"
#include "fenchel/core/quadrature.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/line/beta_laplace.hpp"
#include "fenchel/distribution/line/smooth_parabola.hpp"
#include "fenchel/distribution/line/smooth_triangular.hpp"
#include "support/differences.hpp"
#include "support/golden.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf, testing::kNaN, testing::message_of, testing::slope_of;

constexpr double kGammas[] = {0, 1e-8, 1e-4, 0.1, 1, 100, 1e8};

double scale_of(const SmoothParabola& p) { return p.sigma2(); }
double scale_of(const SmoothTriangular& p) { return p.b(); }
constexpr double bend_of(const SmoothParabola*) { return 1; }
constexpr double bend_of(const SmoothTriangular*) { return 0; }
const char* scale_name(const SmoothParabola*) { return "sigma2"; }
const char* scale_name(const SmoothTriangular*) { return "b"; }
std::string family_name(const SmoothParabola*) { return "fenchel::smooth_parabola"; }
std::string family_name(const SmoothTriangular*) { return "fenchel::smooth_triangular"; }

template <class P>
class Smooth : public ::testing::Test {
 protected:
  static constexpr const P* kFamily = nullptr;
};
using Families = ::testing::Types<SmoothParabola, SmoothTriangular>;
TYPED_TEST_SUITE(Smooth, Families);

void expect_relative(double got, double want, double tolerance) {
  EXPECT_NEAR(got / want, 1, tolerance) << "got " << got << ", want " << want;
}

TEST(SmoothParabola, GoldenRows) {  // docs/math.md 8, rows 68 to 70: half width, C, tau, p(0), cdf(0.7)
  const double rows[][7] = {{1, 1, 1.984735113399849, 0.55597137577353553, -0.90845169811011768,
                             0.46442307388365321, 0.80050034636152263},
                            {0.1, 0.25, 1.0186127360195275, 0.10300769211484065, -1.1825782878187341,
                             0.88558597993357475, 0.96635964403406035},
                            {100, 1, 4.7015842754353615, 96.408696102865338, -3.7904962477486891,
                             0.19919235061402676, 0.63739512111869046}};
  for (const auto& row : rows) {
    const SmoothParabola p(row[0], 0, row[1]);
    expect_relative(p.half_width(), row[2], 1e-14);
    expect_relative(pdf(p, 0) + row[0] / row[1] + p.threshold(), row[3], 1e-13);
    expect_relative(p.threshold(), row[4], 1e-14);
    expect_relative(pdf(p, 0), row[5], 1e-14);
    expect_relative(cdf(p, 0.7), row[6], 1e-14);
  }
}

TEST(SmoothTriangular, GoldenRows) {  // rows 71 to 73
  const double rows[][7] = {{1, 1, 2.0279031679977923, 0.23260851210947206, -1.2605116801072643,
                             0.49312019221673639, 0.81039650606188382},
                            {0.1, 0.5, 1.061036993704792, 0.042655642187218364, -1.5322740975631264,
                             0.9424742077166689, 0.96541792997566635},
                            {100, 1, 5.936830534645421, 7.1158047549740625, -3.0526352896194835,
                             0.16844004459354596, 0.61635888693926735}};
  for (const auto& row : rows) {
    const SmoothTriangular p(row[0], 0, row[1]);
    expect_relative(p.half_width(), row[2], 1e-14);
    expect_relative(pdf(p, 0) + std::sqrt(row[0]) / row[1] + p.threshold(), row[3], 1e-13);
    expect_relative(p.threshold(), row[4], 1e-14);
    expect_relative(pdf(p, 0), row[5], 1e-14);
    expect_relative(cdf(p, 0.7), row[6], 1e-14);
  }
}

TEST(SmoothParabola, PrintedHalfWidthIsWrong) {  // E8: the paper prints b^2 where b^2/3 belongs
  const double b = SmoothParabola(1, 0, 1).half_width(), coth = 1 / std::tanh(b);
  EXPECT_NEAR(2 * b * (1 - b * coth + b * b / 3), 1, 1e-13);
  EXPECT_GT(2 * b * (1 - b * coth + b * b), 10);
  const double printed = 0.9011;
  EXPECT_NEAR(2 * printed * (1 - printed / std::tanh(printed) + printed * printed), 1, 1e-3);
}

TEST(SmoothTriangular, PrintedFormHasMassOneWithItsConstant) {  // E9: C = 2 / (beta b (e^x + 1))
  for (const double gamma : {0.1, 1.0, 100.0}) {
    const double b = 0.7, beta = 1 / std::sqrt(gamma);
    const SmoothTriangular p(gamma, 0, b);
    const double width = p.half_width(), c = 2 / (beta * b * (std::exp(beta * width) + 1));
    const auto printed = [&](double t) {
      return c * std::cosh(beta * t) - t / b - std::exp(-beta * t) / (beta * b) - p.threshold();
    };
    EXPECT_NEAR(2 * integrate(printed, 0, width).value, 1, 1e-11);
    for (const double y : {0.0, 0.2, 0.6, 0.9})
      EXPECT_NEAR(printed(y * width), pdf(p, y * width), 1e-12 * (c + 1));
    EXPECT_NEAR(width * width / b - 2 * width / (beta * b) * std::tanh(beta * width / 2), 1, 1e-13);
  }
}

TYPED_TEST(Smooth, GoldenTable) {
  int cases = 0;
  for (auto& block : testing::golden_blocks("smooth.txt")) {
    if (block["bend"][0] != bend_of(this->kFamily)) continue;
    ++cases;
    const TypeParam p(block["gamma"][0], 0, block["scale"][0]);
    SCOPED_TRACE(::testing::Message() << "gamma=" << p.gamma() << " scale=" << scale_of(p));
    constexpr double kTolerance = 1e-13;
    expect_relative(p.half_width(), block["half_width"][0], kTolerance);
    expect_relative(p.threshold(), block["threshold"][0], kTolerance);
    expect_relative(variance(p), block["variance"][0], kTolerance);
    expect_relative(central_moment(p, 4), block["fourth"][0], kTolerance);
    expect_relative(mean_density(p), block["mean_density"][0], kTolerance);
    expect_relative(roughness(p), block["roughness"][0], kTolerance);
    for (std::size_t k = 0; k < block["depth"].size(); ++k) {
      const double d = block["depth"][k], width = p.half_width(), t = width * (1 - d);
      SCOPED_TRACE(d);
      const detail::SmoothForm& form = p.shape().form();
      expect_relative(detail::edge_form(form, 0, d) / (2 * form.mass * width), block["pdf"][k], kTolerance);
      expect_relative(d * detail::edge_form(form, 1, d) / (2 * form.mass), block["tail"][k], kTolerance);
      const double rounding = kTolerance + 2e-15 / d;  // of t
      expect_relative(pdf(p, t), block["pdf"][k], rounding);
      expect_relative(pdf(p, -t), block["pdf"][k], rounding);
      expect_relative(survival(p, t), block["tail"][k], rounding);
      expect_relative(cdf(p, -t), block["tail"][k], rounding);
      expect_relative(std::exp(log_survival(p, t)), block["tail"][k], rounding);
      EXPECT_NEAR(cdf(p, t), 1 - block["tail"][k], kTolerance);
    }
  }
  EXPECT_EQ(cases, 18);
}

TYPED_TEST(Smooth, SolvesTheEulerEquation) {  // p - gamma p'' = f - tau
  for (const double gamma : {1e-4, 0.1, 1.0, 100.0}) {
    const TypeParam p(gamma, 0.3, 0.8);
    const auto f = score(p);
    const double width = p.half_width(), h = 1e-3 * std::min(width, std::sqrt(gamma));
    for (const double y : {0.1, 0.5, 0.9, -0.7}) {
      const double t = 0.3 + y * width;
      const double bend = slope_of([&](double at) { return pdf_derivative(p, at); }, t, h);
      EXPECT_NEAR(pdf(p, t) - gamma * bend, f(t) - p.threshold(), 1e-8 * (1 + gamma / width / width));
      const double slope = slope_of([&](double at) { return pdf(p, at); }, t, h);
      EXPECT_NEAR(pdf_derivative(p, t), slope, 1e-8 * (1 + std::abs(slope)));
    }
  }
}

TYPED_TEST(Smooth, HalfWidthForEveryRatio) {
  for (double exponent = -60; exponent <= 60; exponent += 3) {
    const TypeParam p(1, 0, std::pow(10, exponent));
    const double x = p.half_width(), u = x * x;
    // the continued fractions of docs/math.md 6.2, to a depth that serves any x below 300
    double fraction = 0;
    const bool parabola = bend_of(this->kFamily) == 1;
    for (int k = 300; k > 0; --k)
      fraction = (parabola ? u : u / 4) / ((parabola ? 2 * k + 3 : 2 * k + 1) + fraction);
    double left = parabola ? x * u * fraction / (3 * (3 + fraction)) : u * fraction / (1 + fraction);
    if (x > 100) left = parabola ? x * (1 - x + u / 3) : x * (x - 2);
    expect_relative(left, parabola ? scale_of(p) / 2 : scale_of(p), 2e-14);
    EXPECT_NEAR(cdf(p, 0), 0.5, 1e-15);
  }
}

TYPED_TEST(Smooth, ExtremesAreFinite) {
  const double extremes[][2] = {{1e300, 1e-300}, {1e-300, 1e300}, {5e-324, 1}, {1e308, 1e308}, {0, 1e308}};
  for (const auto& [gamma, scale] : extremes) {
    const TypeParam p(gamma, 0, scale);
    SCOPED_TRACE(gamma);
    const double width = p.half_width();
    EXPECT_LT(p.threshold(), 0);
    for (const double value :
         {pdf(p, 0) * width, survival(p, width / 2), -quantile(p, 0.01) / width, mean_density(p) * width}) {
      EXPECT_GT(value, 0.05);
      EXPECT_LT(value, 3);
    }
    expect_relative(variance(TypeParam::from_variance(gamma, 0, variance(p))), variance(p), 1e-14);
    const auto square = [width](double t) { return t / width * (t / width); };
    EXPECT_TRUE(std::isfinite(expectation_gradient(p, square).gamma));
  }
}

TYPED_TEST(Smooth, ScalesWithGamma) {  // p(t; l^2 gamma, ...) is p stretched by l
  const double stretch = 1e5, power = std::pow(stretch, bend_of(this->kFamily) == 1 ? 3 : 2);
  const TypeParam p(0.3, 0, 0.7), q(0.3 * stretch * stretch, 0, 0.7 * power);
  expect_relative(q.half_width(), stretch * p.half_width(), 1e-14);
  expect_relative(pdf(q, 0.4 * stretch), pdf(p, 0.4) / stretch, 1e-14);
}

TYPED_TEST(Smooth, QuantilesReachTheEdge) {
  for (const double gamma : kGammas) {
    const TypeParam p(gamma, 0, 1.3);
    SCOPED_TRACE(gamma);
    for (const double u :
         {5e-324, 1.2e-316, 5.6e-312, 1e-300, 1e-100, 1e-30, 1e-12, 1e-3, 0.2, 0.4999, 0.5}) {
      const double t = survival_quantile(p, u);
      EXPECT_LE(t, p.half_width());
      EXPECT_EQ(quantile(p, u), -t);
      if (u > 1e-12) expect_relative(survival(p, t), u, 1e-12);
      // the mass beyond the neighbours of t encloses u
      EXPECT_LE(survival(p, std::nextafter(t, kInf)), u * (1 + 1e-13));
      EXPECT_GE(survival(p, std::nextafter(t, -kInf)), u * (1 - 1e-13));
    }
    EXPECT_EQ(survival_quantile(p, 0), p.half_width());
    EXPECT_EQ(quantile(p, 1), p.half_width());
    EXPECT_EQ(median(p), 0);
  }
}

TYPED_TEST(Smooth, MomentsOfEveryOrder) {
  for (const double gamma : kGammas) {
    const TypeParam p(gamma, -2, 0.6);
    SCOPED_TRACE(gamma);
    const double width = p.half_width();
    for (const int n : {0, 1, 2, 3, 4, 6, 20, 60}) {
      const double want =
          2 * integrate([&](double s) { return std::pow(1 - s / width, n) * p.shape().density(width - s); },
                        0, width, 1e-13)
                  .value;
      expect_relative(absolute_moment(p, n) / std::pow(width, n), want, 2e-11);
      EXPECT_EQ(central_moment(p, n), n % 2 == 0 ? absolute_moment(p, n) : 0);
    }
    expect_relative(kurtosis(p), central_moment(p, 4) / std::pow(variance(p), 2), 1e-13);
    expect_relative(mean_deviation(p, -2), absolute_moment(p, 1), 1e-14);
    const double t = -2 + 0.4 * width;
    const double deviation = integrate([&](double y) { return survival(p, y); }, t, -2 + width, 1e-13).value;
    expect_relative(mean_deviation(p, t), t + 2 + 2 * deviation, 1e-11);
  }
}

TYPED_TEST(Smooth, FromVariance) {
  for (const double gamma : kGammas) {
    for (const double wanted : {1e-6, 0.4, 1e5})
      expect_relative(variance(TypeParam::from_variance(gamma, 1, wanted)), wanted, 1e-13);
  }
}

TEST(SmoothTriangular, FromMeanDeviation) {
  for (const double gamma : kGammas) {
    for (const double wanted : {1e-6, 0.4, 1e5})
      expect_relative(absolute_moment(SmoothTriangular::from_mean_deviation(gamma, 1, wanted), 1), wanted,
                      1e-13);
  }
  const auto message = [](double gamma, double deviation) {
    return message_of<std::domain_error>(
        [&] { static_cast<void>(SmoothTriangular::from_mean_deviation(gamma, 0, deviation)); });
  };
  EXPECT_EQ(message(1, 0),
            "fenchel::smooth_triangular::from_mean_deviation: deviation must be positive and finite, got 0");
  EXPECT_EQ(message(-1, 1),
            "fenchel::smooth_triangular::from_mean_deviation: gamma must be finite and not negative, got -1");
}

TYPED_TEST(Smooth, EntropyOfOrderTwoIsTheMeanDensity) {
  for (const double gamma : kGammas) {
    const TypeParam p(gamma, 1, 2);
    const double square =
        integrate([&](double t) { return pdf(p, t) * pdf(p, t); }, support(p).lower(), 1).value;
    expect_relative(mean_density(p), 2 * square, 1e-10);
    EXPECT_NEAR(tsallis_entropy(p, 2), 0.5 - square, 1e-10);
    EXPECT_NEAR(tsallis_entropy(p, std::nextafter(2., 3.)), tsallis_entropy(p, 2), 1e-11);
  }
}

TEST(SmoothParabola, GammaZeroIsATruncatedParabola) {
  const SmoothParabola p(0, 0.3, 0.64);
  const BetaGaussian q = BetaGaussian::truncated_parabola(0.3, 0.64);
  expect_relative(p.half_width(), q.half_width(), 1e-15);
  expect_relative(variance(p), variance(q), 1e-14);
  expect_relative(kurtosis(p), kurtosis(q), 1e-14);
  for (const double t : {-0.5, 0.0, 0.3, 0.9, 1.2}) {
    expect_relative(pdf(p, t), pdf(q, t), 1e-13);
    expect_relative(survival(p, t), survival(q, t), 1e-13);
    EXPECT_NEAR(pdf(SmoothParabola(1e-14, 0.3, 0.64), t), pdf(q, t), 1e-6);
  }
  EXPECT_NEAR(tsallis_entropy(p, 2), tsallis_entropy(q, 2), 1e-14);
}

TEST(SmoothTriangular, GammaZeroIsATriangular) {
  const SmoothTriangular p(0, 0.3, 0.64);
  const BetaLaplace q = BetaLaplace::triangular(0.3, 0.64);
  expect_relative(p.half_width(), q.half_width(), 1e-15);
  expect_relative(variance(p), variance(q), 1e-14);
  for (const double t : {-0.4, 0.0, 0.3, 0.9, 1.05}) {
    expect_relative(pdf(p, t), pdf(q, t), 1e-13);
    expect_relative(survival(p, t), survival(q, t), 1e-13);
    EXPECT_NEAR(pdf(SmoothTriangular(1e-14, 0.3, 0.64), t), pdf(q, t), 1e-6);
  }
  EXPECT_NEAR(quantile(p, 0.1), quantile(q, 0.1), 1e-14);
}

TEST(SmoothParabola, LargeGammaIsABiweight) {  // docs/math.md 6.2
  const double gamma = 1e12, sigma2 = 1.7;
  const SmoothParabola p(gamma, 0, sigma2);
  expect_relative(p.half_width(), std::pow(22.5 * sigma2 * gamma, 0.2), 1e-4);
  const BetaGaussian q = BetaGaussian::from_half_width(1.5, 0, p.half_width());
  for (const double y : {0.0, 0.3, 0.9}) {
    const double t = y * p.half_width();
    expect_relative(pdf(p, t), pdf(q, t), 1e-4);
  }
}

TEST(SmoothTriangular, LargeGammaIsACubic) {
  const double gamma = 1e12, b = 1.7;
  const SmoothTriangular p(gamma, 0, b);
  const double width = p.half_width();
  expect_relative(width, std::pow(12 * b * gamma, 0.25), 1e-4);
  for (const double y : {0.0, 0.3, 0.9})
    expect_relative(pdf(p, y * width), (1 - y) * (1 - y) * (1 + 2 * y) / width, 1e-4);
}

TYPED_TEST(Smooth, BadParameters) {
  const std::string where = family_name(this->kFamily), scale = scale_name(this->kFamily);
  const auto message = [](auto... arguments) {
    return message_of<std::domain_error>([&] { static_cast<void>(TypeParam(arguments...)); });
  };
  EXPECT_EQ(message(-1., 0., 1.), where + ": gamma must be finite and not negative, got -1");
  EXPECT_EQ(message(kInf, 0., 1.), where + ": gamma must be finite and not negative, got inf");
  EXPECT_EQ(message(1., kNaN, 1.), where + ": mu must be finite, got nan");
  EXPECT_EQ(message(1., 0., 0.), where + ": " + scale + " must be positive and finite, got 0");
  EXPECT_EQ(message_of<std::domain_error>([] { static_cast<void>(TypeParam::from_variance(1, 0, -2)); }),
            where + "::from_variance: variance must be positive and finite, got -2");
  EXPECT_EQ(message_of<std::domain_error>([] { static_cast<void>(TypeParam::from_variance(-3, 0, 2)); }),
            where + "::from_variance: gamma must be finite and not negative, got -3");
  const TypeParam p(1, 0, 1);
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(central_moment(p, -1)); }),
            "fenchel::central_moment: n must not be negative, got -1");
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(absolute_moment(p, -2)); }),
            "fenchel::absolute_moment: n must not be negative, got -2");
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(tsallis_entropy(p, 0)); }),
            "fenchel::tsallis_entropy: order must be positive, got 0");
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(quantile(p, 1.5)); }),
            "fenchel::quantile: u must be in [0, 1], got 1.5");
}

TEST(SmoothDensity, Parameters) {
  const SmoothTriangular p(0.3, -1, 1.2);
  EXPECT_EQ(score(p), AbsoluteScore(-1, 1.2));
  EXPECT_EQ(canonical_parameter(p), -1 / 1.2);
  const SmoothParabola q(0.3, -1, 1.2);
  EXPECT_EQ(score(q), QuadraticScore(-1, 1.2));
  EXPECT_EQ(canonical_parameters(q), (std::array{-1 / 1.2, -1 / 2.4}));
}

TYPED_TEST(Smooth, TotalOffTheSupport) {
  for (const double gamma : kGammas) {
    const TypeParam p(gamma, 0, 1);
    for (const double t : {2 * p.half_width(), -kInf, kInf}) {
      EXPECT_EQ(pdf(p, t), 0);
      EXPECT_EQ(log_pdf(p, t), -kInf);
      EXPECT_EQ(pdf_derivative(p, t), 0);
      EXPECT_EQ(survival(p, t), t < 0 ? 1 : 0);
    }
    EXPECT_TRUE(std::isnan(pdf_derivative(p, kNaN)));
    EXPECT_TRUE(std::isnan(survival(p, kNaN)));
    EXPECT_EQ(pdf_derivative(p, 0), 0);
    EXPECT_TRUE(p == TypeParam(gamma, 0, 1));
    EXPECT_FALSE(p == TypeParam(gamma, 0, 2));
  }
}

}  // namespace
}  // namespace fenchel
