#include "fenchel/core/beta_gaussian_jet.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "core/gamma_ratio_derivatives.hpp"
#include "fenchel/core/beta_gaussian.hpp"
#include "fenchel/core/gamma_ratio.hpp"
#include "fenchel/core/infinity.hpp"
#include "support/golden.hpp"

namespace fenchel {
namespace {

using Function = BetaGaussianFunction;

constexpr double kInf = kInfinity;

/// Central differences of the fourth order.
template <class F>
double difference(const F& f, double x, double h) {
  return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h);
}

TEST(GammaRatioDerivatives, AreDerivatives) {
  for (const index_t n : {1, 2, 3, 4, 7}) {
    for (const double am1 : {-0.2, -1e-3, 0.0, 1e-8, 0.05, 0.5, 1.0, 4.0, 1e3}) {
      SCOPED_TRACE(::testing::Message() << "n=" << n << " am1=" << am1);
      const detail::GammaRatioDerivatives d = detail::log_gamma_ratio_derivatives(n, am1);
      const double slope = log_gamma_ratio_slope(n, am1), h = 1e-3 * std::max(0.1, std::abs(am1));
      EXPECT_NEAR(d.first, slope, detail::kGammaRatioDerivativeError * slope);
      const auto first = [&](double x) { return log_gamma_ratio_slope(n, x); };
      const auto second = [&](double x) { return detail::log_gamma_ratio_derivatives(n, x).second; };
      EXPECT_NEAR(d.second, difference(first, am1, h), 1e-8 * std::abs(d.second));
      EXPECT_NEAR(d.third, difference(second, am1, h), 1e-7 * std::abs(d.third));
    }
  }
  EXPECT_EQ(detail::log_gamma_ratio_derivatives(3, kInf).second, 0);
}

TEST(GammaRatioDerivatives, DoNotJumpWhereTheirSeriesBegins) {
  for (const double edge : {1. / 16, 1. / 15, 1. / 3, -1. / 17.5, -0.1}) {
    const detail::GammaRatioDerivatives below = detail::log_gamma_ratio_derivatives(1, edge * (1 - 1e-14)),
                                        above = detail::log_gamma_ratio_derivatives(1, edge * (1 + 1e-14));
    EXPECT_NEAR(below.second, above.second, detail::kGammaRatioDerivativeError * std::abs(above.second));
    EXPECT_NEAR(below.third, above.third, detail::kGammaRatioDerivativeError * std::abs(above.third));
  }
}

struct Case {
  Function function;
  double argument;
};
const Case kCases[] = {{Function::log_density, 0.15}, {Function::cross_omega, 0.7},
                       {Function::entropy, 0},        {Function::tsallis_entropy, 0},
                       {Function::log_variance, 0},   {Function::log_radius2, 0},
                       {Function::log_draw, 123456},  {Function::cdf, 0.3},
                       {Function::quantile, 0.3},     {Function::below_peak, -0.15}};

bool has_variable(Function f, int i) {
  return i > 0 || (f != Function::log_draw && f != Function::entropy && f != Function::tsallis_entropy &&
                   f != Function::log_variance && f != Function::log_radius2);
}

/// Through alpha = 1, on both sides of it.
TEST(BetaGaussianJet, DerivativesAreDerivatives) {
  for (const auto& [function, argument] : kCases) {
    for (const index_t n : {1, 2, 3, 6}) {
      if (n > 1 && (function == Function::cdf || function == Function::quantile)) continue;
      for (const double alpha : {0.8, 0.97, 1.0, 1 + 1e-8, 1.02, 4. / 3, 1.5, 2.0, 5.0, 1e3}) {
        if (function == Function::log_radius2 && alpha < 1.01) continue;
        if (function == Function::below_peak && alpha > 100) continue;  // slopes of e^{-am1 log_peak}
        SCOPED_TRACE(::testing::Message() << static_cast<int>(function) << " n=" << n << " alpha=" << alpha);
        const double x[3] = {argument, 0.3, alpha};
        const Jet jet = beta_gaussian_jet(function, n, x[0], x[1], x[2]);
        EXPECT_EQ(jet.value, beta_gaussian_value(function, n, x[0], x[1], x[2]));
        for (int i = 0, k = 0; i < 3; ++i) {
          const double h = i == 2 ? 2e-4 * std::max(1.0, alpha - 1) : 1e-4;
          const auto moved = [&](double v) {
            double y[3] = {x[0], x[1], x[2]};
            y[i] = v;
            return beta_gaussian_jet(function, n, y[0], y[1], y[2]);
          };
          if (!has_variable(function, i)) {
            EXPECT_EQ(jet.gradient[static_cast<std::size_t>(i)], 0);
            k += 3 - i;
            continue;
          }
          const double slope = jet.gradient[static_cast<std::size_t>(i)];
          // Radii of near Gaussians come close to log_radius2's pole.
          const double step = function == Function::log_radius2 ? std::min(h, 1e-3 * (alpha - 1)) : h;
          EXPECT_NEAR(slope, difference([&](double v) { return moved(v).value; }, x[i], step),
                      1e-8 * (1 / (alpha > 100 ? 100 : 1) + std::abs(slope)));
          for (int j = i; j < 3; ++j, ++k) {
            const double second = jet.hessian[static_cast<std::size_t>(k)];
            const auto gradient = [&](double v) { return moved(v).gradient[static_cast<std::size_t>(j)]; };
            EXPECT_NEAR(second, difference(gradient, x[i], step), 1e-7 * (1 + std::abs(second))) << i << j;
          }
        }
      }
    }
  }
}

TEST(BetaGaussianJet, IsTheUniformDistributionAtInfiniteAlpha) {
  for (const index_t n : {1, 2, 5}) {
    for (const auto& [function, argument] : kCases) {
      if (n > 1 && (function == Function::cdf || function == Function::quantile)) continue;
      const Jet jet = beta_gaussian_jet(function, n, argument, 0.3, kInf);
      const auto value = [&, f = function, a = argument](double log_det) {
        return beta_gaussian_value(f, n, a, log_det, kInf);
      };
      EXPECT_NEAR(jet.value, beta_gaussian_value(function, n, argument, 0.3, 1e9), 1e-7);
      EXPECT_NEAR(jet.gradient[1], difference(value, 0.3, 1e-3), 1e-10);
      EXPECT_EQ(jet.gradient[2], 0);
    }
  }
}

/// Reciprocals and squares of alpha are beyond the range of doubles.
TEST(BetaGaussianJet, IsNearlyThatOfInfiniteAlphaForHugeOnes) {
  for (const double alpha : {1e302, 1e307, 1.7e308}) {
    for (const index_t n : {1, 2, 3}) {
      for (const Function function : {Function::cross_omega, Function::entropy, Function::tsallis_entropy,
                                      Function::log_variance, Function::log_radius2, Function::log_draw}) {
        const double argument = function == Function::log_draw ? 12345 : 0.1;
        const Jet found = beta_gaussian_jet(function, n, argument, -2.1, alpha),
                  limit = beta_gaussian_jet(function, n, argument, -2.1, kInf);
        SCOPED_TRACE(::testing::Message() << alpha << ' ' << n << ' ' << static_cast<int>(function));
        EXPECT_NEAR(found.value, limit.value, 1e-12);
        for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(found.gradient[i], limit.gradient[i], 1e-12) << i;
        for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(found.hessian[i], limit.hessian[i], 1e-12) << i;
      }
    }
  }
}

TEST(BetaGaussianJet, IsZeroOffTheSupportAndNaNForNaN) {
  const Jet off = beta_gaussian_jet(Function::log_density, 2, 1e3, 0, 2);
  EXPECT_EQ(off.value, -kInf);
  for (const double slope : off.gradient) EXPECT_EQ(slope, 0);
  EXPECT_EQ(beta_gaussian_jet(Function::cdf, 1, 1e3, 0, 2).gradient[0], 0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Function f : {Function::log_density, Function::cdf, Function::quantile}) {
    EXPECT_TRUE(std::isnan(beta_gaussian_jet(f, 1, nan, 0, 2).gradient[2]));
  }
  EXPECT_TRUE(std::isnan(beta_gaussian_value(Function::quantile, 1, 1.5, 0, 2)));
  EXPECT_EQ(beta_gaussian_jet(Function::log_variance, 1, 0, 0, 0.3).gradient[2], 0);  // infinite
}

/// The log density of a beta-Gaussian, whose score is -q/2 and largest at 0.
TEST(BetaGaussianJet, AnyPredictionFollowsFromItsPeak) {
  for (const double alpha : {0.8, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 1.5, 2.0, 5.0, 1e6}) {
    const double peak = beta_gaussian_value(Function::log_density, 1, 0, 0.3, alpha);
    for (const double q : {0.0, 1e-3, 0.4, 2.0}) {
      const double p = beta_gaussian_value(Function::log_density, 1, q, 0.3, alpha);
      const double found = beta_gaussian_value(Function::below_peak, 1, -q / 2, peak, alpha);
      if (std::isinf(p))
        EXPECT_EQ(found, p) << alpha;
      else
        EXPECT_NEAR(found, p, 1e-13 * (1 + std::abs(p))) << alpha;
    }
  }
  EXPECT_EQ(beta_gaussian_value(Function::below_peak, 1, -1, 0, kInf), -kInf);
  EXPECT_EQ(beta_gaussian_value(Function::below_peak, 1, 0, -0.5, kInf), -0.5);
  EXPECT_EQ(beta_gaussian_jet(Function::below_peak, 1, -3, 0, 2).gradient[0], 0);
}

TEST(BetaGaussianJet, NeedNotIntegrate) {
  for (const auto& [function, argument] : kCases) {
    const Jet all = beta_gaussian_jet(function, 1, argument, 0.3, 1.5),
              some = beta_gaussian_jet(function, 1, argument, 0.3, 1.5, false);
    const bool integral = function == Function::cdf || function == Function::quantile;
    for (const std::size_t i : {0, 1}) EXPECT_EQ(some.gradient[i], all.gradient[i]);
    for (const std::size_t k : {0, 1, 3}) EXPECT_EQ(some.hessian[k], all.hessian[k]);
    EXPECT_EQ(std::isnan(some.gradient[2]), integral);
  }
}

/// The ends of the support move with alpha as its radius does.
TEST(BetaGaussianJet, QuantilesOfZeroAndOneAreTheEnds) {
  const Jet end = beta_gaussian_jet(Function::quantile, 1, 0, 0.2, 1.5),
            inside = beta_gaussian_jet(Function::quantile, 1, 1e-12, 0.2, 1.5);
  EXPECT_NEAR(end.gradient[2], inside.gradient[2], 1e-2);
  EXPECT_NEAR(end.gradient[1], inside.gradient[1], 1e-2);
  EXPECT_EQ(beta_gaussian_jet(Function::quantile, 1, 1, 0, 0.5).value, kInf);
}

/// x has lost how far an end of the support is, but its derivatives have not: x_u, x_alpha and x_ualpha in
/// multiprecision (60 digits, mpmath).
TEST(BetaGaussianJet, QuantilesNearAnEndKeepTheirDerivatives) {
  struct Slopes {
    double u, log_det, alpha, in_u, in_alpha, in_both;
  };
  constexpr Slopes kExact[] = {
      {1e-200, -1.5, 4. / 3, 4.995024947306223e+149, 3.589093691241353, -1.2857814390231883e+152},
      {1e-60, 2.0, 1.1, 8.172631403715044e+53, 23.86473392975048, -8.9312034938037709e+55},
      {1e-30, 2.0, 4. / 3, 1.2301669300309478e+22, 4.0117245618092511, -4.6587127889099776e+23},
      {1e-12, -1.5, 1.5, 61795662.266337248, 1.8882691621021284, -696646732.73382327},
      {1e-12, 2.0, 2.0, 473556.49647768279, 0.64793576243411829, -3262347.992821641},
      {1e-200, 0.0, 5.0, 7.990619678497965e+39, 0.044958160398531913, -1.4703676440914305e+41},
      {1e-200, 0.0, 1e3, 1.5750808751382453, -1.5962168335806007e-6, -0.00071714979943885466}};
  constexpr double kError = 1e-12;
  for (const Slopes& at : kExact) {
    const Jet jet = beta_gaussian_jet(Function::quantile, 1, at.u, at.log_det, at.alpha);
    EXPECT_NEAR(jet.gradient[0], at.in_u, kError * at.in_u) << at.u << ' ' << at.alpha;
    EXPECT_NEAR(jet.gradient[2], at.in_alpha, kError * std::abs(at.in_alpha)) << at.u << ' ' << at.alpha;
    EXPECT_NEAR(jet.hessian[2], at.in_both, kError * std::abs(at.in_both)) << at.u << ' ' << at.alpha;
  }
}

/// E[q] = n v, and on a direction apart from the radius.
TEST(BetaGaussianJet, DrawsHaveTheVariance) {
  constexpr int kDraws = 20000;
  for (const index_t n : {1, 2, 3, 4}) {
    for (const double alpha : {0.9, 1.0, 1.5, 3.0, kInf}) {
      std::vector<double> direction(static_cast<std::size_t>(n));
      double sum = 0;
      for (int seed = 0; seed < kDraws; ++seed) {
        draw_direction(static_cast<std::uint64_t>(seed), direction);
        const double first =
            direction[0] * std::exp(beta_gaussian_value(Function::log_draw, n, seed, 0.4, alpha));
        sum += first * first;
      }
      const double v = std::exp(beta_gaussian_value(Function::log_variance, n, 0, 0.4, alpha));
      EXPECT_NEAR(sum / kDraws, v, 0.05 * v) << n << " " << alpha;
    }
  }
}

TEST(BetaGaussianJet, FunctionsHaveNames) {
  EXPECT_EQ(beta_gaussian_function("quantile"), Function::quantile);
  EXPECT_EQ(beta_gaussian_function("log_density"), Function::log_density);
  EXPECT_THROW((void)beta_gaussian_function("median"), std::invalid_argument);
}

TEST(BetaGaussianJet, SecondDerivativesInAlphaMatchTheTable) {
  for (const auto& row : testing::golden_rows("line_alpha.txt")) {
    const double alpha = row[0], x = row[1], u = row[3];
    SCOPED_TRACE(::testing::Message() << "alpha=" << alpha << " x=" << x);
    const Jet cdf = beta_gaussian_jet(Function::cdf, 1, x, 0, alpha),
              quantile = beta_gaussian_jet(Function::quantile, 1, u, 0, alpha);
    EXPECT_NEAR(cdf.hessian[5], row[2], 1e-11 * (1 + std::abs(row[2])));
    const double steep = 1e-15 * quantile.gradient[0];  // what the rounding of u is worth
    EXPECT_NEAR(quantile.gradient[2], row[4], (1e-11 + steep) * (1 + std::abs(row[4])));
    EXPECT_NEAR(quantile.hessian[5], row[5], (1e-10 + 10 * steep) * (1 + std::abs(row[5])));
  }
}

}  // namespace
}  // namespace fenchel
