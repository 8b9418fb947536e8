#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "fenchel/attention/attend_derivatives.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/core/quadrature.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/distribution/beta_covariance.hpp"
#include "fenchel/predict/function.hpp"
#include "support/attention_line.hpp"
#include "support/golden.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::golden_rows;
using testing::kInf;
using testing::kLineAttention;
using testing::kLineMu;
using testing::kLineSigma2;
using testing::message_of;

const GaussianBasis kPsi({0.9}, {0.4});

/// The derivative of attend by differences over h and h/2 in one parameter.
template <class Make, class Psi>
Eigen::VectorXd difference(Make make, const Psi& psi, double x, double h) {
  const auto slope = [&](double step) -> Eigen::VectorXd {
    return (attend(make(x + step), psi) - attend(make(x - step), psi)) / (2 * step);
  };
  return (4 * slope(h / 2) - slope(h)) / 3;
}

void expect_near(const Eigen::VectorXd& got, const Eigen::VectorXd& want, double bound, const char* what,
                 double alpha) {
  for (index_t j = 0; j < got.size(); ++j)
    EXPECT_NEAR(got[j], want[j], bound) << what << " " << alpha << " " << j;
}

TEST(AttendDerivatives, GoldenRows74To83) {
  for (const auto& row : kLineAttention) {
    SCOPED_TRACE(::testing::Message() << row.alpha << " " << row.mean << " " << row.width);
    const BetaGaussian p(row.alpha, kLineMu, kLineSigma2);
    const QuadraticGradient g =
        attend_vjp(p, GaussianBasis({row.mean}, {row.width}), Eigen::VectorXd::Ones(1));
    EXPECT_NEAR(g.mu, row.d_mu, 1e-11 * std::abs(row.d_mu));
    EXPECT_NEAR(g.sigma2, row.d_sigma2, 1e-11 * std::abs(row.d_sigma2));
  }
}

/// E6: the Jacobian of sparsemax is cov_{p,0}; the printed cov_{p,2} gives .0735.
TEST(AttendDerivatives, E6TheJacobianIsTheCovarianceOfOrderTwoMinusAlpha) {
  const auto identity = [](double t) { return t; };
  const auto psi = [](double t) { return evaluate(kPsi, t)[0]; };
  for (const double alpha : {1.0, 4.0 / 3, 1.5, 2.0, 3.0}) {
    const BetaGaussian p(alpha, 0.3, 0.64);
    EXPECT_NEAR(attend_jacobian(p, kPsi)(0, 0), beta_covariance(p, 2 - alpha, identity, psi), 1e-9) << alpha;
  }
  const BetaGaussian p(2, 0.3, 0.64);
  EXPECT_NEAR(attend_jacobian(p, kPsi)(0, 0), 0.39980060435774638, 1e-12);
  EXPECT_NEAR(beta_covariance(p, 2, identity, psi), 0.0735, 5e-5);
}

/// E7: the erf term of cov(t^2, psi) has a factor 1/2; as printed it is .706889.
TEST(AttendDerivatives, E7TheSecondColumnNeedsTheHalfThatIsNotPrinted) {
  const double mu = 0.3, mean = 0.9, width = 0.4;
  const BetaGaussian p(2, mu, 0.64);
  const double a = p.half_width(), u = (mu - mean - a) / width, v = (mu - mean + a) / width;
  const auto phi = [](double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); };
  const double erf = std::erf(v / std::numbers::sqrt2) - std::erf(u / std::numbers::sqrt2);
  const double square = mean * mean - mu * mu + width * width - a * a / 3;
  const double rest = -width * (mu + mean + a) * phi(v) + width * (mu + mean - a) * phi(u);
  const double got = attend_jacobian(p, kPsi)(0, 1);
  EXPECT_NEAR(got, 0.24406424154283317, 1e-12);
  EXPECT_NEAR(got, square * erf / 2 + rest, 1e-12);
  EXPECT_NEAR(square * erf + rest, 0.706889, 1e-6);
}

/// E19: dr / dtheta is N x M, the transpose of cov(phi, psi).
TEST(AttendDerivatives, E19TheJacobianHasARowForEachFunction) {
  const GaussianBasis psi({0.9, -0.2, 0.4}, {0.4, 0.3, 1});
  std::vector<std::function<double(double)>> phi = {[](double t) { return t; },
                                                    [](double t) { return t * t; }};
  std::vector<std::function<double(double)>> functions;
  for (index_t j = 0; j < 3; ++j) functions.push_back(line_function(psi, j).value);
  const BetaGaussian p(1.5, 0.3, 0.64);
  const Eigen::MatrixXd jacobian = attend_jacobian(p, psi),
                        covariance = beta_covariance(p, 0.5, phi, functions);
  ASSERT_EQ(jacobian.rows(), 3);
  ASSERT_EQ(jacobian.cols(), 2);
  ASSERT_EQ(covariance.rows(), 2);
  EXPECT_LT((jacobian - covariance.transpose()).cwiseAbs().maxCoeff(), 1e-9);
  const auto make = [](double first, double second) {
    return BetaGaussian::from_canonical(1.5, {first, second});
  };
  const double theta0 = 0.3 / 0.64, theta1 = -0.5 / 0.64;
  expect_near(jacobian.col(0), difference([&](double x) { return make(x, theta1); }, psi, theta0, 1e-3), 1e-9,
              "theta_1", 1.5);
  expect_near(jacobian.col(1), difference([&](double x) { return make(theta0, x); }, psi, theta1, 1e-3), 1e-9,
              "theta_2", 1.5);
}

TEST(AttendDerivatives, EveryBasisByDifferences) {
  const GaussianBasis gaussians({0.9, 0.2, 3}, {0.4, 0.05, 0.5});
  const FunctionBasis any({[](double t) { return std::atan(t); }, [](double t) { return std::abs(t - 0.5); }},
                          {0.5});
  for (const double alpha :
       {0.9, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 1.1, 4.0 / 3, 1.5, 2.0, 3.0, 5.0}) {
    const ConcatenatedBasis psi(gaussians, PolynomialBasis(4, 0.1, 2), FourierBasis(2, 3), any);
    const BetaGaussian p(alpha, 0.3, 0.64);
    const double bound = 2e-8;
    expect_near(attend_jvp(p, psi, {1, 0, 0}),
                difference([&](double x) { return BetaGaussian(alpha, x, 0.64); }, psi, 0.3, 1e-3), bound,
                "mu", alpha);
    expect_near(attend_jvp(p, psi, {0, 1, 0}),
                difference([&](double x) { return BetaGaussian(alpha, 0.3, x); }, psi, 0.64, 1e-3), bound,
                "sigma2", alpha);
    expect_near(attend_jvp(p, psi, {0, 0, 1}),
                difference([&](double x) { return BetaGaussian(x, 0.3, 0.64); }, psi, alpha, 1e-3), bound,
                "alpha", alpha);
  }
}

/// Closed forms against the quadrature that serves any callable.
TEST(AttendDerivatives, ClosedFormsAreWhatQuadratureGives) {
  const auto check = [](const BetaGaussian& p, const auto& psi, double bound) {
    const Eigen::MatrixXd closed = detail::attend_gradient(p, psi);
    for (index_t j = 0; j < psi.size(); ++j) {
      const LineFunction f = line_function(psi, j);
      const QuadraticGradient g = expectation_gradient(p, f.value, 1e-10, f.cuts);
      EXPECT_NEAR(closed(j, 0), g.mu, bound * (1 + std::abs(g.mu))) << p.alpha() << " " << j;
      EXPECT_NEAR(closed(j, 1), g.sigma2, bound * (1 + std::abs(g.sigma2))) << p.alpha() << " " << j;
      EXPECT_NEAR(closed(j, 2), g.alpha, bound * (1 + std::abs(g.alpha))) << p.alpha() << " " << j;
    }
  };
  for (const double alpha : {0.9, 0.98, 1 - 1e-8, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 1.01, 4.0 / 3, 1.5,
                             1.7, 2.0, 5.0, 1e6, kInf}) {
    const BetaGaussian p(alpha, 0.3, 0.64);
    check(p, PolynomialBasis(5, 0.1, 2), 1e-10);
    check(p, FourierBasis(2, 3), 1e-10);
    check(p, GaussianBasis({0.9, 0.2}, {0.4, 0.03}), 1e-10);
  }
}

/// The kernel and quadrature share no code. Errors are relative to r over the unit of the parameter.
TEST(AttendDerivatives, TheKernelAndQuadratureAgree) {
  constexpr double kBound = 2e-11;
  Philox rng(11);
  for (const double alpha :
       {0.5, 0.8, 0.97, 0.9985, 1 - 1e-12, 1.0, 1 + 1e-6, 1.01, 1.1, 4.0 / 3, 1.5, 1.7, 2.0, 3.0, 10.0}) {
    for (int i = 0; i < 20; ++i) {
      const double sigma2 = std::exp(6 * uniform01(rng) - 3), mu = 2 * uniform01(rng) - 1;
      const BetaGaussian p(alpha, mu, sigma2);
      const double size = survival_quantile(p, 0.1) - quantile(p, 0.1);
      const double width = size * std::pow(10, 4 * uniform01(rng) - 2.5);
      const GaussianBasis psi({mu + (2 * uniform01(rng) - 1) * (1.5 * size + 4 * width)}, {width});
      const double r = attend(p, psi)[0];
      if (r < 1e-20 * std::min(1 / width, 1 / size)) continue;
      const LineFunction f = line_function(psi, 0);
      const QuadraticGradient want = expectation_gradient(p, f.value, 1e-12, f.cuts);
      const Eigen::MatrixXd got = detail::attend_gradient(p, psi);
      EXPECT_NEAR(got(0, 0), want.mu, kBound * (std::abs(want.mu) + r / size)) << alpha << " " << i;
      EXPECT_NEAR(got(0, 1), want.sigma2, kBound * (std::abs(want.sigma2) + r / sigma2)) << alpha << " " << i;
      EXPECT_NEAR(got(0, 2), want.alpha, kBound * (std::abs(want.alpha) + r)) << alpha << " " << i;
    }
  }
}

TEST(AttendDerivatives, WavesAgreeWithTheGoldenTable) {
  for (const auto& row : golden_rows("characteristic_function.txt")) {
    const double alpha = row[0], sigma2 = row[1], frequency = row[2];
    const FourierBasis psi(1, 2 * std::numbers::pi / frequency);
    const BetaGaussian p(alpha, 0, sigma2);
    const QuadraticGradient g = attend_vjp(p, psi, Eigen::Vector3d(0, 1, 0));
    EXPECT_EQ(g.mu, 0);
    EXPECT_NEAR(g.sigma2, row[4], 1e-13 * (1 + std::abs(row[4])))
        << alpha << " " << sigma2 << " " << frequency;
    EXPECT_NEAR(g.alpha, row[5], 1e-10) << alpha << " " << sigma2 << " " << frequency;
  }
}

TEST(AttendDerivatives, OtherFamiliesByDifferences) {
  const ConcatenatedBasis psi(GaussianBasis({0.9, 0.35, 4}, {0.4, 0.01, 0.5}), PolynomialBasis(2),
                              FourierBasis(1, 3));
  const auto check = [&](const char* name, auto make, double shape) {
    const auto p = make(shape, 0.3, 0.8);
    expect_near(attend_jvp(p, psi, {1, 0, 0}),
                difference([&](double x) { return make(shape, x, 0.8); }, psi, 0.3, 1e-4), 1e-6, name, 0);
    expect_near(attend_jvp(p, psi, {0, 1, 0}),
                difference([&](double x) { return make(shape, 0.3, x); }, psi, 0.8, 1e-4), 1e-6, name, 1);
    expect_near(attend_jvp(p, psi, {0, 0, 1}),
                difference([&](double x) { return make(x, 0.3, 0.8); }, psi, shape, 1e-4), 1e-6, name, 2);
  };
  for (const double alpha : {0.9, 1.0, 1.5, 2.0, 5.0})
    check(
        "BetaLaplace", [](double a, double mu, double b) { return BetaLaplace(a, mu, b); }, alpha);
  check(
      "CappedTriangular", [](double g, double mu, double b) { return CappedTriangular(g, mu, b); }, 0.3);
  check(
      "CappedParabola", [](double g, double mu, double s) { return CappedParabola(g, mu, s); }, 0.3);
  check(
      "SmoothTriangular", [](double g, double mu, double b) { return SmoothTriangular(g, mu, b); }, 0.1);
  check(
      "SmoothParabola", [](double g, double mu, double s) { return SmoothParabola(g, mu, s); }, 0.1);
}

/// A function far narrower than the density is not missed: d/dmu is -p', d/dscale that of p at its mean.
TEST(AttendDerivatives, NarrowFunctionsAreSeen) {
  const double mean = 0.7, width = 1e-5;
  const GaussianBasis psi({mean}, {width});
  const auto check = [&](const char* name, auto make) {
    const double h = 1e-4, scale = 0.8;
    const auto p = make(0.3, scale);
    const double slope = (pdf(p, mean + h) - pdf(p, mean - h)) / (2 * h);
    const double rate = (pdf(make(0.3, scale + h), mean) - pdf(make(0.3, scale - h), mean)) / (2 * h);
    EXPECT_NEAR(attend_jvp(p, psi, {1, 0, 0})[0], -slope, 1e-6) << name;
    EXPECT_NEAR(attend_jvp(p, psi, {0, 1, 0})[0], rate, 1e-6) << name;
  };
  check("BetaGaussian", [](double mu, double s) { return BetaGaussian(1.5, mu, s); });
  check("BetaLaplace", [](double mu, double b) { return BetaLaplace(1.5, mu, b); });
  check("BetaLaplace 5", [](double mu, double b) { return BetaLaplace(5, mu, b); });
  check("CappedTriangular", [](double mu, double b) { return CappedTriangular(0.05, mu, b); });
  check("CappedParabola", [](double mu, double s) { return CappedParabola(0.02, mu, s); });
  check("SmoothTriangular", [](double mu, double b) { return SmoothTriangular(0.1, mu, b); });
  check("SmoothParabola", [](double mu, double s) { return SmoothParabola(0.1, mu, s); });
}

TEST(AttendDerivatives, VjpAndJvpAreEachOthersTranspose) {
  const GaussianBasis psi({0.9, 0.2, 3}, {0.4, 0.05, 0.5});
  const Eigen::Vector3d cotangent(0.3, -1, 2);
  const auto check = [&](const auto& p) {
    const auto [mu, scale, shape] = attend_vjp(p, psi, cotangent);
    const double pulled = 0.5 * mu - 0.7 * scale + 0.2 * shape;
    EXPECT_NEAR(cotangent.dot(attend_jvp(p, psi, {0.5, -0.7, 0.2})), pulled, 1e-12);
  };
  check(BetaGaussian(1.5, 0.3, 0.64));
  check(BetaLaplace(1.5, 0.3, 0.64));
  check(SmoothParabola(0.1, 0.3, 0.64));
}

/// The triangular family at fixed mu, and any linear score at any temperature.
TEST(AttendDerivatives, JacobiansOfOtherLinearFamilies) {
  const BetaLaplace p(2, 0.3, 0.8);
  const auto deviation = [](double t) { return std::abs(t - 0.3); };
  const auto psi = [](double t) { return evaluate(kPsi, t)[0]; };
  ASSERT_EQ(attend_jacobian(p, kPsi).cols(), 1);
  EXPECT_NEAR(attend_jacobian(p, kPsi)(0, 0), beta_covariance(p, 0, deviation, psi), 1e-9);

  const Tsallis omega(1.5, 2);
  const auto quartic = [](double a, double b) {
    return LinearScore({a, b}, {[](double t) { return t; }, [](double t) { return -t * t * t * t; }});
  };
  const auto make = [&](double a, double b) { return predict(omega, quartic(a, b), Line{}); };
  const Eigen::MatrixXd jacobian = attend_jacobian(omega, quartic(0.4, 0.7), make(0.4, 0.7), kPsi);
  ASSERT_EQ(jacobian.cols(), 2);
  expect_near(jacobian.col(0), difference([&](double x) { return make(x, 0.7); }, kPsi, 0.4, 1e-2), 1e-6, "a",
              1.5);
  expect_near(jacobian.col(1), difference([&](double x) { return make(0.4, x); }, kPsi, 0.7, 1e-2), 1e-6, "b",
              1.5);
}

/// Two calls before one derivative: nothing is kept between them [bug 3 of the peers].
TEST(AttendDerivatives, AnotherCallInBetweenChangesNothing) {
  const BetaGaussian p(1.4, 0.3, 0.64), other(2, -5, 0.01);
  const QuadraticGradient alone = attend_vjp(p, kPsi, Eigen::VectorXd::Ones(1));
  (void)attend(p, kPsi);
  (void)attend(other, GaussianBasis({-5, 0.9}, {0.1, 4}));
  const QuadraticGradient after = attend_vjp(p, kPsi, Eigen::VectorXd::Ones(1));
  EXPECT_EQ(after.mu, alone.mu);
  EXPECT_EQ(after.sigma2, alone.sigma2);
  EXPECT_EQ(after.alpha, alone.alpha);
}

TEST(AttendDerivatives, ACotangentOfAnotherSizeIsNamed) {
  EXPECT_EQ(message_of<std::invalid_argument>(
                [] { (void)attend_vjp(BetaGaussian(2, 0, 1), kPsi, Eigen::VectorXd::Ones(3)); }),
            "fenchel::attend_vjp: cotangent.size() must equal the basis' size, 1, got 3");
}

TEST(AttendDerivatives, ScalesWhoseDerivativesLeaveTheDoublesAreNamed) {
  EXPECT_EQ(
      message_of<std::domain_error>([] { (void)attend_jacobian(BetaGaussian(4. / 3, 0, 1e308), kPsi); }),
      "fenchel::attend_jacobian: sigma2 must be at most 1e+200, got 1e+308");
  EXPECT_EQ(message_of<std::domain_error>([] { (void)attend_jacobian(BetaLaplace(2, 0, 1e155), kPsi); }),
            "fenchel::attend_jacobian: b must be at most 1e+100, got 1e+155");
  EXPECT_EQ(message_of<std::domain_error>(
                [] { (void)attend_jacobian(BetaGaussian(2, 1e200, 1), PolynomialBasis(3)); }),
            "fenchel::attend_jacobian: mu must keep derivatives in the range of doubles, got 1e+200");
  const GaussianBasis bump({0.3}, {0.2});
  const BetaGaussian narrow(0.999, 0.45, 5e-324);
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)attend(narrow, bump); }),
            "fenchel::attend: sigma2 must be at least 2.2250738585072014e-308, got 5e-324");
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)attend_jacobian(narrow, bump); }),
            "fenchel::attend_jacobian: sigma2 must be at least 2.2250738585072014e-308, got 5e-324");
  // r goes like sigma2^(-1/3), and so dr / dtheta[1] = 2 sigma2^2 dr / dsigma2 = -2 / 3 sigma2 r.
  const BetaGaussian wide(2, 0, 1e190);
  const double slope = -2e190 / 3 * attend(wide, kPsi)[0];
  EXPECT_NEAR(attend_jacobian(wide, kPsi)(0, 1), slope, 1e-10 * -slope);
}

/// Families with two parameters, or three in another order.
TEST(AttendDerivatives, TruncatedGaussianAndLocationScale) {
  const ConcatenatedBasis psi(GaussianBasis({0.1, 0.9}, {0.4, 0.05}), PolynomialBasis(2),
                              FunctionBasis({[](double t) { return t > 0.45 ? 1.0 : 0.0; }}, {0.45}));
  const TruncatedGaussian p(2.5, 0.3, 0.64);
  const auto in_kappa = [](double x) { return TruncatedGaussian(x, 0.3, 0.64); };
  const auto in_mu = [](double x) { return TruncatedGaussian(2.5, x, 0.64); };
  const auto in_sigma2 = [](double x) { return TruncatedGaussian(2.5, 0.3, x); };
  expect_near(attend_jvp(p, psi, {1, 0, 0}), difference(in_kappa, psi, 2.5, 1e-3), 1e-8, "kappa", 2);
  expect_near(attend_jvp(p, psi, {0, 1, 0}), difference(in_mu, psi, 0.3, 1e-3), 1e-8, "mu", 2);
  expect_near(attend_jvp(p, psi, {0, 0, 1}), difference(in_sigma2, psi, 0.64, 1e-3), 1e-8, "sigma2", 2);
  const Eigen::VectorXd weights = Eigen::VectorXd::LinSpaced(psi.size(), -1, 2);
  const ScaledGaussianGradient gradient = attend_vjp(p, psi, weights);
  EXPECT_NEAR(gradient.kappa, attend_jvp(p, psi, {1, 0, 0}).dot(weights), 1e-12);
  EXPECT_NEAR(gradient.mu, attend_jvp(p, psi, {0, 1, 0}).dot(weights), 1e-12);
  EXPECT_NEAR(gradient.sigma2, attend_jvp(p, psi, {0, 0, 1}).dot(weights), 1e-12);

  const auto located = [](double mu, double sigma) {
    return LocationScale(LocationScaleScore([](double x) { return std::cosh(x); },
                                            [](double x) { return std::sinh(x); }, mu, sigma));
  };
  const LocationScale q = located(0.3, 0.8);
  const LocationScaleGradient both = attend_vjp(q, psi, weights);
  const Eigen::VectorXd mu = difference([&](double x) { return located(x, 0.8); }, psi, 0.3, 1e-3);
  const Eigen::VectorXd sigma = difference([&](double x) { return located(0.3, x); }, psi, 0.8, 1e-3);
  EXPECT_NEAR(both.mu, mu.dot(weights), 1e-8);
  EXPECT_NEAR(both.sigma, sigma.dot(weights), 1e-8);
  expect_near(attend_jvp(q, psi, {2, -1}), 2 * mu - sigma, 1e-8, "location-scale", 2);
}

/// Any score, moved along any function; the gradient in the score is a function of t.
TEST(AttendDerivatives, OfThePredictionOfAnyScore) {
  const auto score = [](double t) { return 3 * t * t - t * t * t * t + 0.4 * t; };  // two hills
  const auto h = [](double t) { return std::sin(2 * t) + 0.3 * t * t; };
  const GaussianBasis psi({-0.8, 1.1}, {0.4, 0.1});
  const Eigen::Vector2d weights(1, -0.5);
  for (const double alpha : {0.8, 1.0, 1.5, 2.0, 3.0}) {
    for (const double temperature : {1.0, 1.7}) {
      const Tsallis omega(alpha, temperature);
      const auto at = [&](double x) {
        return predict(omega, FunctionScore([=](double t) { return score(t) + x * h(t); }), Line(), 1e-12);
      };
      const NumericDensity p = at(0);
      const Eigen::VectorXd moved = attend_jvp(omega, p, psi, h);
      expect_near(moved, difference(at, psi, 0, 1e-2), 1e-7, "score", alpha);
      const LinearScore linear({1, 0}, {score, h});
      expect_near(attend_jvp(omega, linear, p, psi, Eigen::Vector2d(0, 1)), moved, 1e-14, "theta", alpha);
      const Eigen::VectorXd theta = attend_vjp(omega, linear, p, psi, weights);
      EXPECT_NEAR(theta[1], moved.dot(weights), 1e-14) << alpha;
      const auto gradient = attend_vjp(omega, p, psi, weights);
      double sum = 0;
      for (const Interval& piece : support(p))
        sum +=
            integrate([&](double t) { return gradient(t) * h(t); }, piece.lower(), piece.upper(), 1e-9).value;
      EXPECT_NEAR(sum, moved.dot(weights), alpha > 2 ? 1e-5 : 1e-8) << alpha;
      EXPECT_NEAR(gradient(50), 0, 1e-30) << alpha;
    }
  }
}

}  // namespace
}  // namespace fenchel
