#include "fenchel/distribution/line/truncated_gaussian.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "support/differences.hpp"
#include "support/golden.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::slope_of;

constexpr double kPlaces[] = {0, 0.3, 0.9, 0.999999};

TEST(TruncatedGaussian, PrintedGoldenRow) {  // docs/math.md 8, row 60
  const TruncatedGaussian p(2, 0, 1);
  EXPECT_NEAR(p.half_width(), 1.5381722544550523, 1e-15);
  EXPECT_NEAR(p.threshold(), 0.24444173653800069, 1e-15);
  EXPECT_NEAR(variance(p), 0.40693947031039246, 1e-15);
}

TEST(TruncatedGaussian, Golden) {
  for (auto& block : testing::golden_blocks("truncated_gaussian.txt")) {
    const double kappa = block["case"][0];
    SCOPED_TRACE(kappa);
    const TruncatedGaussian p(kappa, 0, block["case"][1]);
    EXPECT_NEAR(p.z() / block["edge"][0], 1, 4e-15);
    EXPECT_NEAR(p.threshold() / block["edge"][1], 1, 1e-13);
    for (std::size_t k = 0; k < 4; ++k) {
      const double t = p.half_width() * kPlaces[k], lost = 1e-15 / (1 - kPlaces[k]);
      EXPECT_NEAR(pdf(p, t) / block["density"][k], 1, 2e-13 + lost) << k;
      EXPECT_NEAR(survival(p, t) / block["tail"][k], 1, 2e-13 + 2 * lost) << k;
      EXPECT_NEAR(cdf(p, -t) / block["tail"][k], 1, 2e-13 + 2 * lost) << k;
      EXPECT_NEAR(log_survival(p, t), std::log(block["tail"][k]), 4e-13 + 2 * lost) << k;
      if (block["tail"][k] < 0.5) {
        EXPECT_NEAR(survival_quantile(p, block["tail"][k]) / p.half_width(), kPlaces[k], 1e-13) << k;
      }
    }
    for (int n = 1; n <= 3; ++n)
      EXPECT_NEAR(central_moment(p, 2 * n) / block["moments"][static_cast<std::size_t>(n - 1)], 1, 4e-14);
    EXPECT_NEAR(mean_density(p) / block["mean_density"][0], 1, 1e-13);
    std::size_t k = 0;
    for (const double order : {0.5, 1.0, 1.00000001, 1.5, 2.0, 7.0}) {
      const double want = block["negentropy"][k++];
      EXPECT_NEAR(-tsallis_entropy(p, order), want, 1e-11 * (1 + std::abs(want))) << order;
    }
  }
}

/// kappa N(t) falls like -kappa t^2 / (2 sigma2 sqrt(2 pi sigma2)): a truncated parabola.
TEST(TruncatedGaussian, HugeKappaIsATruncatedParabola) {
  for (const double kappa : {1e30, 1e100, 1e300}) {
    const double sigma2 = 0.7, score_scale = sigma2 * std::sqrt(2 * std::acos(-1.0) * sigma2) / kappa;
    const double a = std::cbrt(1.5 * score_scale);
    const TruncatedGaussian p(kappa, 0, sigma2);
    EXPECT_NEAR(p.half_width() / a, 1, 1e-14) << kappa;
    EXPECT_NEAR(variance(p) / a / a, 0.2, 1e-14);
    EXPECT_NEAR(kurtosis(p), 15. / 7, 1e-14);
    EXPECT_NEAR(pdf(p, 0) * a, 0.75, 1e-14);
    EXPECT_NEAR(mean_density(p) * a, 0.6, 1e-14);
    for (const double x : {-1 + 1e-10, -0.6, -0.1, 0.0}) {
      const double parabola = (1 + x) * (1 + x) * (2 - x) / 4;
      EXPECT_NEAR(cdf(p, x * p.half_width()) / parabola, 1, 1e-14 + 1e-15 / (1 + x)) << kappa << " " << x;
      EXPECT_NEAR(quantile(p, parabola) / p.half_width(), x, 1e-13);
    }
    EXPECT_NEAR(entropy(p) - std::log(a), std::log(4. / 3) + 5. / 3 - 2 * std::log(2), 1e-10);
  }
}

/// At kappa = 1 the support is the line and below there is no solution; the paper prints kappa >= 1.
TEST(TruncatedGaussian, E17KappaMustExceedOne) {
  const auto message = [](auto call) { return testing::message_of<std::domain_error>(call); };
  EXPECT_EQ(message([] { TruncatedGaussian(1, 0, 1); }),
            "fenchel::truncated_gaussian: kappa must be > 1 and finite, got 1");
  EXPECT_EQ(message([] { TruncatedGaussian(0.5, 0, 1); }),
            "fenchel::truncated_gaussian: kappa must be > 1 and finite, got 0.5");
  EXPECT_NO_THROW(TruncatedGaussian(std::nextafter(1.0, 2.0), 0, 1));
}

TEST(TruncatedGaussian, BadParametersAreNamed) {
  const auto message = [](auto call) { return testing::message_of<std::domain_error>(call); };
  EXPECT_EQ(message([] { TruncatedGaussian(2, testing::kNaN, 1); }),
            "fenchel::truncated_gaussian: mu must be finite, got nan");
  EXPECT_EQ(message([] { TruncatedGaussian(2, 0, -1); }),
            "fenchel::truncated_gaussian: sigma2 must be positive and finite, got -1");
  EXPECT_EQ(message([] { (void)quantile(TruncatedGaussian(2, 0, 1), -0.1); }),
            "fenchel::quantile: u must be in [0, 1], got -0.1");
  EXPECT_EQ(message([] { (void)central_moment(TruncatedGaussian(2, 0, 1), -2); }),
            "fenchel::central_moment: n must not be negative, got -2");
}

TEST(TruncatedGaussian, EqualParametersAreEqual) {
  EXPECT_EQ(TruncatedGaussian(2, 1, 3), TruncatedGaussian(2, 1, 3));
  EXPECT_EQ(score(TruncatedGaussian(2, 1, 3)), ScaledGaussianScore(2, 1, 3));
}

TEST(TruncatedGaussian, EntropiesDoNotDependOnMu) {
  for (const double order : {0.5, 1.0, 2.0})
    EXPECT_EQ(tsallis_entropy(TruncatedGaussian(2, 1e300, 1), order),
              tsallis_entropy(TruncatedGaussian(2, 0, 1), order));
}

TEST(TruncatedGaussian, AnInfiniteNegentropyHasNoSlope) {
  const TruncatedGaussian p(2, 0, 0.01);  // its density reaches 3: to the power 1e6 it overflows
  EXPECT_EQ(tsallis_entropy(p, 1e6), -testing::kInf);
  EXPECT_TRUE(std::isnan(negentropy_order_derivative(p, 1e6)));
}

TEST(TruncatedGaussian, GradientsOfExpectationsAreDifferences) {
  const double step = 0.55;  // a jump of psi
  const auto jump = [&](double t) { return t > step ? 1.0 : 0.0; };
  const auto wave = [](double t) { return std::sin(3 * t) + t * t; };
  for (const double kappa : {1.01, 1.5, 3.0, 1e4}) {
    for (const double sigma2 : {0.25, 4.0}) {
      const double mu = 0.3;
      const auto survival_at = [&](double k, double m, double s) {
        return survival(TruncatedGaussian(k, m, s), step);
      };
      const auto wave_at = [&](double k, double m, double s) {
        return expectation(TruncatedGaussian(k, m, s), wave, 1e-13);
      };
      const auto expect = [&](const auto& of, const ScaledGaussianGradient& got) {
        EXPECT_NEAR(got.kappa,
                    slope_of([&](double x) { return of(x, mu, sigma2); }, kappa, 1e-3 * (kappa - 1)), 1e-7);
        EXPECT_NEAR(got.mu, slope_of([&](double x) { return of(kappa, x, sigma2); }, mu, 1e-3), 1e-6);
        EXPECT_NEAR(got.sigma2, slope_of([&](double x) { return of(kappa, mu, x); }, sigma2, 1e-3), 1e-7);
      };
      const TruncatedGaussian p(kappa, mu, sigma2);
      expect(wave_at, expectation_gradient(p, wave));
      const std::vector<double> cuts = {step};
      expect(survival_at, expectation_gradient(p, jump, 1e-10, cuts));
    }
  }
  EXPECT_THROW(static_cast<void>(expectation_gradient(TruncatedGaussian(), [](double) { return NAN; })),
               std::domain_error);
}

}  // namespace
}  // namespace fenchel
