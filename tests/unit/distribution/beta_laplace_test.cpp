#include "fenchel/distribution/line/beta_laplace.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/golden.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf;

void expect_close(double got, double want, double tolerance, const std::string& what) {
  if (std::isinf(want)) {
    EXPECT_EQ(got, want) << what;
  } else {
    EXPECT_NEAR(got, want, tolerance * (1 + std::abs(want))) << what;
  }
}

TEST(BetaLaplace, Golden) {
  for (auto& block : testing::golden_blocks("beta_laplace.txt")) {
    const double alpha = block["case"][0], b = block["case"][1];
    const BetaLaplace p(alpha, 0, b);
    const std::string where = "alpha " + shortest(alpha) + " b " + shortest(b);
    expect_close(p.log_peak(), block["shape"][0], 1e-15, where);
    expect_close(p.spread() / block["shape"][1], 1, 4e-15, where);
    if (alpha > 1) expect_close(p.half_width() / block["shape"][2], 1, 4e-15, where);
    for (std::size_t k = 0; k < block["distance"].size(); ++k) {
      const double x = block["distance"][k], tail = block["tail"][k];
      expect_close(log_pdf(p, x), block["log_pdf"][k], 1e-14, where);
      expect_close(survival(p, x) / tail, 1, 1e-13, where);
      expect_close(cdf(p, -x) / tail, 1, 1e-13, where);
      expect_close(cdf(p, x), 1 - tail, 1e-15, where);
      expect_close(log_survival(p, x), std::log(tail), 1e-14, where);
      expect_close(log_cdf(p, x), std::log1p(-tail), 1e-14, where);
      expect_close(survival_quantile(p, tail) / x, 1, 1e-12, where);
    }
    expect_close(variance(p), block["variance"][0], 1e-14, where);
    std::size_t k = 0;
    for (const double order : {0.5, 1.0, 1.00000001, 1.5, 2.0, 7.0})
      expect_close(-tsallis_entropy(p, order), block["negentropy"][k++], 1e-13, where);
  }
}

TEST(BetaLaplace, TriangularHasTheFormsOfThePaper) {  // docs/math.md 3
  const double b = 2.25, a = 1.5, mu = 4;
  const auto p = BetaLaplace::triangular(mu, b);
  EXPECT_DOUBLE_EQ(p.half_width(), a);
  EXPECT_DOUBLE_EQ(variance(p), b / 6);
  EXPECT_DOUBLE_EQ(kurtosis(p), 2.4);
  EXPECT_DOUBLE_EQ(-tsallis_entropy(p, 2), -0.5 + 1 / (3 * a));
  for (const double x : {-1.4, -0.3, 0.0, 0.8, 1.49}) {
    EXPECT_NEAR(pdf(p, mu + x), (a - std::abs(x)) / b, 1e-15);
    EXPECT_NEAR(cdf(p, mu + x), x < 0 ? (a + x) * (a + x) / (2 * b) : 1 - (a - x) * (a - x) / (2 * b), 1e-15);
  }
  EXPECT_NEAR(quantile(p, 0.1), mu - a + std::sqrt(2 * b * 0.1), 1e-15);
  EXPECT_NEAR(quantile(p, 0.9), mu + a - std::sqrt(2 * b * 0.1), 1e-15);
}

TEST(BetaLaplace, LaplaceHasTheTextbookForms) {
  const auto p = BetaLaplace::laplace(1, 0.5);
  EXPECT_DOUBLE_EQ(pdf(p, 1.75), std::exp(-1.5));
  EXPECT_DOUBLE_EQ(variance(p), 0.5);
  EXPECT_DOUBLE_EQ(kurtosis(p), 6);
  EXPECT_NEAR(entropy(p), 1, 1e-15);
  EXPECT_EQ(log_survival(p, 1001), -2000 - std::log(2));
  EXPECT_EQ(support(p), Interval(-kInf, kInf));
}

TEST(BetaLaplace, LimitsInAlpha) {
  const BetaLaplace laplace(1, 0, 2), near(1 + 1e-9, 0, 2), below(1 - 1e-9, 0, 2);
  for (const double t : {0.0, 0.4, 3.0, 11.0}) {
    EXPECT_NEAR(log_pdf(near, t), log_pdf(laplace, t), 1e-7);
    EXPECT_NEAR(log_pdf(below, t), log_pdf(laplace, t), 1e-7);
    EXPECT_NEAR(cdf(near, t), cdf(laplace, t), 1e-8);
  }
  const BetaLaplace uniform(kInf, 3, 2), flat(1e9, 3, 2);
  EXPECT_EQ(support(uniform), Interval(2.5, 3.5));
  EXPECT_NEAR(flat.half_width(), 0.5, 1e-7);
  EXPECT_EQ(pdf(uniform, 3.4), 1);
  EXPECT_EQ(pdf(uniform, 3.6), 0);
  EXPECT_DOUBLE_EQ(cdf(uniform, 2.75), 0.25);
  EXPECT_DOUBLE_EQ(variance(uniform), 1. / 12);
  EXPECT_DOUBLE_EQ(kurtosis(uniform), 1.8);
  EXPECT_EQ(entropy(uniform), 0);
  EXPECT_EQ(tsallis_entropy(uniform, kInf), 0);
  EXPECT_EQ(tsallis_entropy(BetaLaplace(2, 0, 0.01), kInf), -kInf);
  EXPECT_EQ(escort(uniform, -3), uniform);
}

TEST(BetaLaplace, MomentsEndWithTheTails) {
  EXPECT_EQ(variance(BetaLaplace(2. / 3, 0, 1)), kInf);
  EXPECT_TRUE(std::isfinite(variance(BetaLaplace(0.67, 0, 1))));
  EXPECT_TRUE(std::isnan(skewness(BetaLaplace(0.75, 0, 1))));
  EXPECT_EQ(skewness(BetaLaplace(0.76, 0, 1)), 0);
  EXPECT_EQ(kurtosis(BetaLaplace(0.79, 0, 1)), kInf);
  EXPECT_EQ(central_moment(BetaLaplace(0.79, 0, 1), 4), kInf);
  EXPECT_TRUE(std::isnan(central_moment(BetaLaplace(0.75, 0, 1), 3)));
  EXPECT_EQ(tsallis_entropy(BetaLaplace(0.75, 0, 1), 0.25), kInf);
}

TEST(BetaLaplace, OrderDerivativeIsItsDefinition) {
  for (const double alpha : {0.9, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 1.5, 2.0, 5.0, kInf}) {
    const BetaLaplace p(alpha, 0.5, 0.7);
    for (const double order : {0.6, 1.0, 1.05, 2.0, 4.0}) {
      const double step = 1e-4,
                   brute = (tsallis_entropy(p, order - step) - tsallis_entropy(p, order + step)) / (2 * step);
      EXPECT_NEAR(negentropy_order_derivative(p, order), brute, 1e-6 * (1 + std::abs(brute)))
          << alpha << " " << order;
    }
  }
}

/// By mpmath; p^(order - 1) at the mean of log p is e^711 and more.
TEST(BetaLaplace, OrderDerivativeIsRightWhereAPowerOfThePeakOverflows) {
  EXPECT_NEAR(negentropy_order_derivative(BetaLaplace(1e4, 0, 1e-307), 1e4) / 1.659473748274808e301, 1,
              1e-12);
  EXPECT_NEAR(negentropy_order_derivative(BetaLaplace(1e3, 0, 2e-307), 1e3) / 4.3588249206063327e302, 1,
              1e-12);
  EXPECT_EQ(negentropy_order_derivative(BetaLaplace(1e308, 0, 2e-12), 1e308), 0);
}

TEST(BetaLaplace, OtherConstructors) {
  for (const double alpha : {0.8, 1.0, 1.5, 2.0, 5.0}) {
    EXPECT_NEAR(variance(BetaLaplace::from_variance(alpha, 0, 0.3)), 0.3, 1e-14);
    EXPECT_NEAR(absolute_moment(BetaLaplace::from_mean_deviation(alpha, 0, 0.3), 1), 0.3, 1e-14);
    if (alpha > 1) {
      EXPECT_NEAR(BetaLaplace::from_half_width(alpha, 0, 2.5).half_width(), 2.5, 1e-14);
    }
  }
  const BetaLaplace p(1.5, 0.5, 2);
  EXPECT_EQ(score(p), AbsoluteScore(0.5, 2));
  EXPECT_EQ(canonical_parameter(p), -0.5);
}

TEST(BetaLaplace, EscortIsThePowerNormalised) {
  for (const double alpha : {0.8, 1.0, 4. / 3, 2.0, 5.0}) {
    for (const double order : {0.5, 1.0, 3.0}) {
      const BetaLaplace p(alpha, 1, 2), e = escort(p, order);
      for (const double x : {0.05, 0.2, 0.4})
        EXPECT_NEAR(log_pdf(e, 1 + x) - log_pdf(e, 1), order * (log_pdf(p, 1 + x) - log_pdf(p, 1)), 1e-12)
            << alpha << " " << order;
    }
  }
}

TEST(BetaLaplace, BadParametersAreNamed) {
  const auto message = [](auto call) { return testing::message_of<std::domain_error>(call); };
  const BetaLaplace p(0.75, 0, 1);
  EXPECT_EQ(message([] { BetaLaplace(0.5, 0, 1); }),
            "fenchel::beta_laplace: alpha must be above 1/2, got 0.5");
  EXPECT_EQ(message([] { BetaLaplace(2, kInf, 1); }), "fenchel::beta_laplace: mu must be finite, got inf");
  EXPECT_EQ(message([] { BetaLaplace(2, 0, 0); }),
            "fenchel::beta_laplace: b must be positive and finite, got 0");
  EXPECT_EQ(
      message([] { BetaLaplace(0.51, 0, 1e-300); }),
      "fenchel::beta_laplace: b must keep spread, peak and threshold in the range of doubles, got 1e-300");
  EXPECT_EQ(message([] { (void)BetaLaplace::from_variance(0.6, 0, 1); }),
            "fenchel::beta_laplace::from_variance: alpha must be finite and above 2/3, got 0.6");
  EXPECT_EQ(message([] { (void)BetaLaplace::from_mean_deviation(0.5, 0, 1); }),
            "fenchel::beta_laplace::from_mean_deviation: alpha must be finite and above 1/2, got 0.5");
  EXPECT_EQ(message([] { (void)BetaLaplace::from_mean_deviation(2, 0, 0); }),
            "fenchel::beta_laplace::from_mean_deviation: deviation must be positive and finite, got 0");
  EXPECT_EQ(message([] { (void)BetaLaplace::from_half_width(1, 0, 1); }),
            "fenchel::beta_laplace::from_half_width: alpha must be finite and above 1, got 1");
  EXPECT_EQ(message([&] { (void)escort(p, 0.5); }),
            "fenchel::escort: order must be positive and above 2 (1 - alpha), got 0.5");
  EXPECT_EQ(message([&] { (void)quantile(p, 1.5); }), "fenchel::quantile: u must be in [0, 1], got 1.5");
  EXPECT_EQ(message([&] { (void)central_moment(p, -1); }),
            "fenchel::central_moment: n must not be negative, got -1");
  EXPECT_EQ(message([&] { (void)tsallis_entropy(p, 0); }),
            "fenchel::tsallis_entropy: order must be positive, got 0");
}

TEST(BetaLaplace, WhereTheRateIsSubnormalItIsNearlyLaplace) {
  const BetaLaplace p(std::nextafter(1.0, 2.0), 0, 1e300), laplace(1, 0, 1e300);
  EXPECT_NEAR(log_pdf(p, 3e300), log_pdf(laplace, 3e300), 1e-12);
  EXPECT_NEAR(log_cdf(p, -3e300), log_cdf(laplace, -3e300), 1e-12);
  EXPECT_NEAR(quantile(p, 0.1) / quantile(laplace, 0.1), 1, 1e-12);
}

}  // namespace
}  // namespace fenchel
