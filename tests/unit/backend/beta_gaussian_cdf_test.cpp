#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "fenchel/backend/cpu/beta_gaussian.hpp"
#include "fenchel/core/parallel.hpp"
#include "fenchel/core/quadrature.hpp"
#include "support/beta_gaussian_params.hpp"
#include "support/grids.hpp"
#include "support/reference_cdf.hpp"

namespace fenchel {
namespace {

using testing::BetaGaussianCase;
using testing::kBetaGaussianAlphas;
using testing::kInf;
using testing::kNaN;

template <class Real>
std::vector<Real> cdf(const BetaGaussianCase& p, std::vector<Real> t) {
  cpu::cdf_rows(p.params(), t, t);
  return t;
}
template <class Real>
std::vector<Real> quantile(const BetaGaussianCase& p, std::vector<Real> u) {
  cpu::quantile_rows(p.params(), u, u);
  return u;
}

const std::vector<double> kClosedForms{1, 4.0 / 3, 1.5, 2, kInf};

double width(const BetaGaussianCase& p) {
  return p.factor(0, 0) * (p.constants().am1 == 0 ? 1 : std::sqrt(p.constants().radius2));
}

/// What quantile_rows is allowed at t.
long double quantile_error(const BetaGaussianCase& p, double t) {
  const double half_width = p.constants().am1 > 0 ? width(p) : 0;
  return cpu::kQuantileError * (std::fabs(p.mu(0)) + std::fabs(t - p.mu(0)) + half_width);
}

/// docs/math.md 3 and 5.6 in long double; x is (t - mu) / width.
long double exact_cdf(double alpha, long double x) {
  if (alpha == 1) return std::erfc(-x / std::numbers::sqrt2_v<long double>) / 2;
  x = std::min(1.0L, std::max(-1.0L, x));
  if (alpha == 2) return (2 + 3 * x - x * x * x) / 4;
  if (alpha == 1.5) return (8 + 15 * x - 10 * x * x * x + 3 * std::pow(x, 5.0L)) / 16;
  if (std::isinf(alpha)) return (1 + x) / 2;
  return (16 + 35 * x - 35 * x * x * x + 21 * std::pow(x, 5.0L) - 5 * std::pow(x, 7.0L)) / 32;
}

TEST(BetaGaussianRows, CdfIsWithinItsErrorInClosedForm) {
  for (const double alpha : kClosedForms) {
    const BetaGaussianCase p(alpha, 1);
    std::vector<double> t;
    for (int k = -1500; k <= 1500; ++k) t.push_back(p.mu(0) + width(p) * k / 1000.0 * (alpha == 1 ? 5 : 1));
    const auto found = cdf(p, t);
    const auto in_float = cdf(p, std::vector<float>(t.begin(), t.end()));
    for (std::size_t k = 0; k < t.size(); ++k) {
      const auto at = [&](long double s) { return exact_cdf(alpha, (s - p.mu(0)) / width(p)); };
      EXPECT_NEAR(found[k], static_cast<double>(at(t[k])), cpu::kCdfError) << alpha << " at " << t[k];
      EXPECT_NEAR(in_float[k], static_cast<double>(at(static_cast<float>(t[k]))), 6e-8);
    }
    EXPECT_EQ(found.front(), alpha == 1 ? found.front() : 0);
    EXPECT_EQ(found.back(), alpha == 1 ? found.back() : 1);
  }
}

TEST(BetaGaussianRows, TheLowerTailKeepsItsDigits) {
  const BetaGaussianCase p(1, 1);
  const double t = p.mu(0) - 30 * p.factor(0, 0);
  EXPECT_NEAR(cdf<double>(p, {t})[0] / 4.906713927148187e-198, 1, 1e-12);
  EXPECT_NEAR(quantile<double>(p, {4.906713927148187e-198})[0], t, 1e-13);
}

TEST(BetaGaussianRows, QuantileIsWithinItsErrorInClosedForm) {
  for (const double alpha : kClosedForms) {
    const BetaGaussianCase p(alpha, 1);
    std::vector<double> u{1e-300, 1e-100, 1e-30, 1e-16, 1e-10, 1e-5, 1 - 1e-5, 1 - 1e-10, 0.5};
    for (int k = 1; k < 2000; ++k) u.push_back(k / 2000.0);
    const auto found = quantile(p, u);
    for (std::size_t k = 0; k < u.size(); ++k) {
      const long double error = quantile_error(p, found[k]);
      const auto at = [&](long double t) { return exact_cdf(alpha, (t - p.mu(0)) / width(p)); };
      const long double rounding = alpha == 1 ? 0 : 1e-18L;
      EXPECT_LE(at(found[k] - error), u[k] + rounding) << alpha << " at " << u[k];
      EXPECT_GE(at(found[k] + error), u[k] - rounding) << alpha << " at " << u[k];
    }
    const auto ends = quantile<double>(p, {0, 1, 0.5, -0.1, 1.1, kNaN});
    EXPECT_EQ(ends[0], alpha == 1 ? -kInf : p.mu(0) - width(p));
    EXPECT_EQ(ends[1], alpha == 1 ? kInf : p.mu(0) + width(p));
    EXPECT_NEAR(ends[2], p.mu(0), 1e-15);
    for (std::size_t k = 3; k < 6; ++k) EXPECT_TRUE(std::isnan(ends[k]));
  }
}

/// docs/math.md 5.6 in long double, for alpha that is not close to 1.
long double general_cdf(const BetaGaussianConstants& c, long double z) {
  const long double am1 = c.am1, y = std::fabs(z * z / c.radius2);
  const long double outside = am1 > 0 ? reference::beta_cdf(1 + 1 / am1, 0.5L, std::max(1 - y, 0x1p-80L))
                                      : reference::beta_cdf(-1 / am1 - 0.5L, 0.5L, 1 / (1 + y));
  return z < 0 ? outside / 2 : 1 - outside / 2;
}

TEST(BetaGaussianRows, QuantilesOfTheLeastLevelsAreTheEnd) {
  constexpr double kLeast = std::numeric_limits<double>::denorm_min();
  for (const double alpha : {4.0 / 3, 1.5, 2.0, kInf}) {
    const BetaGaussianCase p(alpha, 1);
    for (const double t : quantile(p, std::vector{kLeast, 2 * kLeast, 40 * kLeast, 1e-320, 1e-301}))
      EXPECT_NEAR(t, p.mu(0) - width(p), static_cast<double>(quantile_error(p, t))) << alpha;
  }
}

TEST(BetaGaussianRows, LineFunctionsAreWithinTheirErrorForAnyAlpha) {
  for (const double alpha : {0.2, 0.55, 0.9, 0.99, 1.01, 1.1, 1.2, 1.7, 3.0, 5.0, 1e6}) {
    const BetaGaussianCase p(alpha, 1);
    std::vector<double> u{1e-300, 1e-100, 1e-30, 1e-16, 1e-10, 1e-5, 1 - 1e-5, 1 - 1e-10};
    for (int k = 1; k < 500; ++k) u.push_back(k / 500.0);
    const auto t = quantile(p, u);
    const auto back = cdf(p, t);
    const auto at = [&](long double s) { return general_cdf(p.constants(), (s - p.mu(0)) / p.factor(0, 0)); };
    for (std::size_t k = 0; k < u.size(); ++k) {
      EXPECT_NEAR(back[k], static_cast<double>(at(t[k])), cpu::kCdfError) << alpha << " at " << t[k];
      const bool far = alpha < 1 && u[k] < 1e-16;
      const long double error = quantile_error(p, t[k]) * (far ? 100 : 1);
      const long double rounding = alpha < 1 ? 1e-18L * std::min(u[k], 1.0) : 1e-18L;
      EXPECT_LE(at(t[k] - error), u[k] + rounding) << alpha << " at " << u[k];
      EXPECT_GE(at(t[k] + error), u[k] - rounding) << alpha << " at " << u[k];
    }
  }
}

TEST(BetaGaussianRows, CdfIsTheIntegralOfTheDensity) {
  for (const double alpha : kBetaGaussianAlphas) {
    const BetaGaussianCase p(alpha, 1);
    const auto pdf = [&](double t) {
      const double z = (t - p.mu(0)) / p.factor(0, 0);
      return std::exp(log_density(p.constants(), z * z));
    };
    for (const double distance : {0.1, 0.35, 0.45, 0.7, 3.0}) {
      const double t = p.mu(0) + distance;
      const double end = alpha > 1 ? std::min(t, p.mu(0) + width(p)) : t;
      const double middle = integrate(pdf, p.mu(0), end).value;
      const auto found = cdf<double>(p, {t, p.mu(0) - distance});
      EXPECT_NEAR(found[0], 0.5 + middle, 2e-12) << alpha - 1;
      EXPECT_NEAR(found[1], 0.5 - middle, 2e-12) << alpha - 1;
    }
  }
}

TEST(BetaGaussianRows, QuantileInvertsTheCdf) {
  for (const double alpha :
       {0.2, 0.55, 0.9, std::nextafter(1.0, 0.0), std::nextafter(1.0, 2.0), 1 + 1e-8, 1.2, 1.7, 5.0, 1e6}) {
    const BetaGaussianCase p(alpha, 1);
    const std::vector<double> u{1e-30, 1e-8, 0.01, 0.3, 0.5, 0.77, 0.999};
    const auto t = quantile(p, u);
    const auto back = cdf(p, t);
    for (std::size_t k = 0; k < u.size(); ++k) {
      // Where the density is steep at the end of the support, t cannot say more.
      const double next = cdf<double>(p, {std::nextafter(t[k], kInf)})[0];
      EXPECT_NEAR(back[k], u[k], 1e-12 * u[k] + 4 * std::abs(next - back[k]) + 1e-16) << alpha - 1;
    }
  }
}

TEST(BetaGaussianRows, LineFunctionsGoThroughTheNamedAlphas) {
  for (const double alpha : {1.0, 4.0 / 3, 1.5, 2.0}) {
    const BetaGaussianCase p(alpha, 1), above(std::nextafter(alpha, 3), 1),
        below(std::nextafter(alpha, 0), 1);
    const std::vector<double> t{-0.7, 0.1, 0.3, 0.6}, u{1e-5, 0.1, 0.5, 0.9};
    for (std::size_t k = 0; k < t.size(); ++k) {
      EXPECT_NEAR(cdf(p, t)[k], cdf(above, t)[k], 3e-15) << alpha;
      EXPECT_NEAR(cdf(p, t)[k], cdf(below, t)[k], 3e-15) << alpha;
      EXPECT_NEAR(quantile(p, u)[k], quantile(above, u)[k], 1e-14) << alpha;
      EXPECT_NEAR(quantile(p, u)[k], quantile(below, u)[k], 1e-14) << alpha;
    }
  }
}

TEST(BetaGaussianRows, CdfOfSpecialValuesIsTotal) {
  for (const double alpha : kBetaGaussianAlphas) {
    const BetaGaussianCase p(alpha, 1);
    const auto found = cdf<double>(p, {-kInf, kInf, kNaN, p.mu(0)});
    EXPECT_EQ(found[0], 0) << alpha;
    EXPECT_EQ(found[1], 1) << alpha;
    EXPECT_TRUE(std::isnan(found[2])) << alpha;
    EXPECT_EQ(found[3], 0.5) << alpha;
  }
}

TEST(BetaGaussianRows, TheCauchyIsExactNextToItsCentre) {
  const BetaGaussianCase p(1e-20, 1);
  const double scale = std::abs(p.params().factor.row(0)[0]) * std::sqrt(-p.params().constants.radius2);
  for (const double x : {1e-9, 1e-6, 1e-3})
    EXPECT_NEAR(cdf<double>(p, {scale * x + p.mu(0)})[0], 0.5 + std::atan(x) / std::numbers::pi,
                4e-16 * (1 + 1 / scale))
        << x;
}

}  // namespace
}  // namespace fenchel
