#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "fenchel/core/quadrature.hpp"
#include "laws/line_examples.hpp"
#include "support/differences.hpp"
#include "support/reference_cdf.hpp"

/// What is true of every distribution on the line: one suite over all families.
namespace fenchel {
namespace {

using testing::Example, testing::examples, testing::kInf;

template <class P>
class LineLaws : public ::testing::Test {};
TYPED_TEST_SUITE(LineLaws, testing::LineFamilies);

/// Calls the law with each example of a family, by name.
template <class P, class Law>
void for_each_example(Law law) {
  for (const Example<P>& example : examples<P>()) {
    SCOPED_TRACE(example.name);
    law(example);
  }
}

TYPED_TEST(LineLaws, MassIsOne) {
  for_each_example<TypeParam>([](const auto& e) {
    EXPECT_NEAR(expectation(
                    e.p, [](double) { return 1.0; }, 1e-12),
                1, e.accuracy);
  });
}

TYPED_TEST(LineLaws, SupportIsWhereTheDensityIs) {
  for_each_example<TypeParam>([](const auto& e) {
    for (const Interval& piece : detail::pieces(support(e.p))) {
      if (!std::isinf(piece.lower())) {
        const double beyond = piece.lower() - 1e-6 * (1 + std::abs(piece.lower()));
        EXPECT_EQ(pdf(e.p, beyond), 0);
        EXPECT_EQ(log_pdf(e.p, beyond), -kInf);
      }
      const double inside = std::isinf(piece.width()) ? mode(e.p) : (piece.lower() + piece.upper()) / 2;
      EXPECT_GT(pdf(e.p, inside), 0);
      EXPECT_NEAR(std::log(pdf(e.p, inside)), log_pdf(e.p, inside), 1e-12);
    }
  });
}

TYPED_TEST(LineLaws, CdfHasTheDensityAsItsSlope) {
  for_each_example<TypeParam>([](const auto& e) {
    const double h = 1e-4 * (survival_quantile(e.p, 0.25) - quantile(e.p, 0.25));
    for (const double u : {0.03, 0.2, 0.45, 0.8, 0.97}) {
      const double t = quantile(e.p, u);
      const double slope = testing::slope_of([&](double at) { return cdf(e.p, at); }, t, h);
      EXPECT_NEAR(slope, pdf(e.p, t), 1e-7 * pdf(e.p, mode(e.p))) << "u=" << u;
    }
  });
}

TYPED_TEST(LineLaws, CdfAndSurvivalShareTheMass) {
  for_each_example<TypeParam>([](const auto& e) {
    for (const double u : {1e-3, 0.2, 0.5, 0.9}) {
      const double t = quantile(e.p, u);
      EXPECT_NEAR(cdf(e.p, t) + survival(e.p, t), 1, e.accuracy);
      EXPECT_NEAR(log_cdf(e.p, t), std::log(cdf(e.p, t)), e.accuracy / u);
      EXPECT_NEAR(log_survival(e.p, t), std::log(survival(e.p, t)), e.accuracy / (1 - u));
    }
  });
}

TYPED_TEST(LineLaws, QuantileInvertsTheCdf) {
  for_each_example<TypeParam>([](const auto& e) {
    for (const double u : {1e-9, 1e-4, 0.1, 0.5, 0.75, 0.999}) {
      EXPECT_NEAR(cdf(e.p, quantile(e.p, u)), u, 20 * e.accuracy * u + 1e-15) << "u=" << u;
      EXPECT_NEAR(survival(e.p, survival_quantile(e.p, u)), u, 20 * e.accuracy * u + 1e-15) << "u=" << u;
    }
    EXPECT_EQ(quantile(e.p, 0), detail::pieces(support(e.p)).front().lower());
    EXPECT_EQ(quantile(e.p, 1), detail::pieces(support(e.p)).back().upper());
    EXPECT_NEAR(median(e.p), quantile(e.p, 0.5), 1e-12 * (1 + std::abs(median(e.p))));
  });
}

TYPED_TEST(LineLaws, MomentsAreExpectations) {
  for_each_example<TypeParam>([](const auto& e) {
    const double accuracy = 10 * e.accuracy, deviation = standard_deviation(e.p), centre = mean(e.p);
    if (!(deviation < kInf)) return;
    EXPECT_NEAR(expectation(
                    e.p, [&](double t) { return (t - centre) / deviation; }, 1e-11),
                0, accuracy);
    const auto standard = [&](int n) {
      return expectation(
          e.p, [&](double t) { return std::pow((t - centre) / deviation, n); }, 1e-11);
    };
    EXPECT_NEAR(standard(2), 1, accuracy);
    if (std::isnan(skewness(e.p))) return;
    EXPECT_NEAR(standard(3), skewness(e.p), accuracy);
    if (!(kurtosis(e.p) < 100)) return;
    EXPECT_NEAR(standard(4), kurtosis(e.p), 10 * accuracy);
    EXPECT_NEAR(central_moment(e.p, 4), kurtosis(e.p) * std::pow(deviation, 4),
                10 * accuracy * std::pow(deviation, 4));
    EXPECT_NEAR(moment(e.p, 2), centre * centre + variance(e.p), accuracy * moment(e.p, 2));
    EXPECT_NEAR(moment(e.p, 1), centre, accuracy * (deviation + std::abs(centre)));
  });
}

TYPED_TEST(LineLaws, EntropiesAreExpectations) {
  for_each_example<TypeParam>([](const auto& e) {
    const double scale = 1 + std::abs(entropy(e.p));
    EXPECT_NEAR(expectation(
                    e.p, [&](double t) { return -log_pdf(e.p, t); }, 1e-11),
                entropy(e.p), 20 * e.accuracy * scale);
    EXPECT_NEAR(tsallis_entropy(e.p, 1), entropy(e.p), 20 * e.accuracy * scale);
    for (const double order : {0.8, 1 + 1e-8, 1.5, 2.0, 3.0}) {
      const double am1 = order - 1;
      const double expected =
          -expectation(
              e.p, [&](double t) { return std::expm1(am1 * log_pdf(e.p, t)) / am1; }, 1e-11) /
          order;
      EXPECT_NEAR(tsallis_entropy(e.p, order), expected, 20 * e.accuracy * (1 + std::abs(expected)))
          << "order " << order;
    }
  });
}

TYPED_TEST(LineLaws, EscortIsAPowerOfTheDensity) {
  for_each_example<TypeParam>([](const auto& e) {
    for (const double order : {0.75, 1.0, 2.0}) {
      const auto power = escort(e.p, order);
      const double a = quantile(e.p, 0.3), b = quantile(e.p, 0.8);
      EXPECT_NEAR(log_pdf(power, a) - log_pdf(power, b), order * (log_pdf(e.p, a) - log_pdf(e.p, b)), 1e-8);
      EXPECT_NEAR(expectation(power, [](double) { return 1.0; }), 1, 1e-8);
    }
  });
}

TYPED_TEST(LineLaws, DrawsFollowTheCdf) {
  for_each_example<TypeParam>([](const auto& e) {
    const auto draws = sample(e.p, 4000, 2022);
    const auto cdf_of = [&](long double t) { return cdf(e.p, static_cast<double>(t)); };
    EXPECT_LT(reference::kolmogorov_smirnov(draws, cdf_of), 2.47) << "exceeded with probability 1e-5";
    for (const double t : draws) ASSERT_GE(pdf(e.p, t), 0);
    Philox rng(2022, 3);
    EXPECT_EQ(sample(e.p, rng), draws[3]);
  });
}

/// E_p[f] - Omega(p) of the mixture (1 - weight) p + weight r, both with support in [lower, upper].
template <class P, class R>
double objective(const Example<P>& e, const R& r, double weight, double lower, double upper) {
  const double am1 = e.alpha - 1;
  const auto value = [&](double t) {
    const double density = (1 - weight) * pdf(e.p, t) + weight * pdf(r, t);
    if (density == 0) return 0.0;
    const double log_density = std::log(density);
    return density * (e.score(t) - (am1 == 0 ? log_density : std::expm1(am1 * log_density) / am1) / e.alpha);
  };
  double sum = 0;
  const double centre = mode(e.p), step = (upper - lower) / 16;
  for (int i = 0; i < 16; ++i) {  // pieces, so that kinks of p and r are found
    const double a = lower + i * step, b = a + step, cut = std::clamp(centre, a, b);
    sum += integrate(value, a, cut, 1e-12).value + integrate(value, cut, b, 1e-12).value;
  }
  return sum;
}

TYPED_TEST(LineLaws, PredictionIsTheMaximum) {
  std::mt19937_64 rng(5);
  std::uniform_real_distribution<double> uniform;
  for_each_example<TypeParam>([&](const auto& e) {
    if (!e.score || e.alpha > 100) return;  // past that p^alpha overflows for narrow competitors
    const double centre = median(e.p), spread = survival_quantile(e.p, 0.25) - quantile(e.p, 0.25);
    const double lower = centre - 12 * spread, upper = centre + 12 * spread;
    for (int i = 0; i < 6; ++i) {
      const auto other = BetaGaussian::from_half_width(1.5, centre + spread * (2 * uniform(rng) - 1),
                                                       spread * (0.3 + 3 * uniform(rng)));
      const double best = objective(e, other, 0, lower, upper);
      for (const double weight : {0.02, 0.3}) {
        EXPECT_LT(objective(e, other, weight, lower, upper), best)
            << mean(other) << " " << other.half_width();
      }
    }
  });
}

TYPED_TEST(LineLaws, BadProbabilitiesAndNaN) {
  for_each_example<TypeParam>([](const auto& e) {
    EXPECT_THROW(static_cast<void>(quantile(e.p, -0.1)), std::domain_error);
    EXPECT_THROW(static_cast<void>(quantile(e.p, testing::kNaN)), std::domain_error);
    EXPECT_THROW(static_cast<void>(survival_quantile(e.p, 1.1)), std::domain_error);
    EXPECT_TRUE(std::isnan(pdf(e.p, testing::kNaN)));
    EXPECT_TRUE(std::isnan(log_pdf(e.p, testing::kNaN)));
    EXPECT_TRUE(std::isnan(cdf(e.p, testing::kNaN)));
    EXPECT_TRUE(std::isnan(survival(e.p, testing::kNaN)));
    EXPECT_EQ(cdf(e.p, kInf), 1);
    EXPECT_EQ(cdf(e.p, -kInf), 0);
    EXPECT_EQ(survival(e.p, -kInf), 1);
    EXPECT_EQ(pdf(e.p, kInf), 0);
  });
}

}  // namespace
}  // namespace fenchel
