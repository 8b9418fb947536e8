#include "fenchel/distribution/mixture.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fenchel/core/quadrature.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/line/capped_parabola.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::kNaN;
using testing::message_of;

using Beta = Mixture<BetaGaussian>;
static_assert(LineDistribution<Beta>);
static_assert(LineDistribution<Mixture<CappedParabola>>);
static_assert(LineDistribution<Mixture<Beta>>);

constexpr double kSomeAlphas[] = {0.8, 1, 1 + 0x1p-52, 1 + 1e-8, 4. / 3, 1.5, 2, 5, 1e6, kInf};

Beta three(double alpha) {
  return {{0.2, 0.5, 0.3},
          {BetaGaussian(alpha, -1, 0.5), BetaGaussian(alpha, 0.4, 0.1), BetaGaussian(alpha, 2, 0.8)}};
}

/// Quarters of the mass on [-3, -1] and [-2, 0], half of it on [1, 2].
Beta gapped(double alpha) {
  return {{0.25, 0.25, 0.5},
          {BetaGaussian::from_half_width(alpha, -2, 1), BetaGaussian::from_half_width(alpha, -1, 1),
           BetaGaussian::from_half_width(alpha, 1.5, 0.5)}};
}

TEST(Mixture, DensitiesAndMassesAreWeightedSums) {
  for (const double alpha : kSomeAlphas) {
    const Beta p = three(alpha);
    for (const double t : {-30.0, -1.6, -1.0, 0.3, 0.41, 1.7, 2.9, 50.0}) {
      double density = 0, below = 0, above = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        density += p.weights()[k] * pdf(p.components()[k], t);
        below += p.weights()[k] * cdf(p.components()[k], t);
        above += p.weights()[k] * survival(p.components()[k], t);
      }
      EXPECT_NEAR(pdf(p, t), density, 1e-15 * density) << alpha << " " << t;
      if (density > 0) {
        EXPECT_NEAR(log_pdf(p, t), std::log(density), 1e-13 * (1 + std::abs(std::log(density)))) << alpha;
      } else if (alpha > 1.1) {
        EXPECT_EQ(log_pdf(p, t), -kInf) << alpha << " " << t;
      }
      EXPECT_NEAR(cdf(p, t), below, 1e-15);
      EXPECT_NEAR(survival(p, t), above, 1e-15);
      EXPECT_NEAR(std::exp(log_cdf(p, t)), below, 1e-15);
      EXPECT_NEAR(std::exp(log_survival(p, t)), above, 1e-15);
    }
  }
}

TEST(Mixture, TailsKeepTheirRelativeAccuracy) {
  const Beta p({0.25, 0.75}, {BetaGaussian(1, -1, 1), BetaGaussian(1, 3, 4)});
  EXPECT_EQ(pdf(p, -100), 0);
  EXPECT_NEAR(log_pdf(p, -100), std::log(0.75) + log_pdf(p.components()[1], -100), 1e-12);
  EXPECT_NEAR(log_cdf(p, -100), std::log(0.75) + log_cdf(p.components()[1], -100), 1e-12);
  EXPECT_NEAR(log_survival(p, 200), std::log(0.75) + log_survival(p.components()[1], 200), 1e-12);
  EXPECT_NEAR(log_cdf(p, 30) / -0.75 / survival(p.components()[1], 30), 1, 1e-12);
  for (const double u : {1e-300, 1e-100, 1e-17, 1e-5}) {
    EXPECT_NEAR(cdf(p, quantile(p, u)) / u, 1, 1e-10) << u;
    EXPECT_NEAR(survival(p, survival_quantile(p, u)) / u, 1, 1e-10) << u;
  }
}

TEST(Mixture, OneComponentIsThatComponent) {
  for (const double alpha : kSomeAlphas) {
    const BetaGaussian c(alpha, 0.3, 0.64);
    const Beta p({1, 0}, {c, BetaGaussian(1, 100, 1)});  // a weight of 0 changes nothing
    EXPECT_EQ(support(p), std::vector{support(c)}) << alpha;
    EXPECT_EQ(mean(p), mean(c));
    EXPECT_EQ(variance(p), variance(c));
    EXPECT_EQ(mode(p), mode(c));
    EXPECT_NEAR(kurtosis(p) / kurtosis(c), 1, 1e-14);
    for (const double u : {0.0, 1e-9, 0.3, 0.5, 0.9, 1.0}) {
      if (u == 0 || u == 1) {
        EXPECT_EQ(quantile(p, u), quantile(c, u));
        EXPECT_EQ(survival_quantile(p, u), survival_quantile(c, u));
      } else {
        EXPECT_NEAR(quantile(p, u), quantile(c, u), 1e-14);
        EXPECT_NEAR(survival_quantile(p, u), survival_quantile(c, u), 1e-14);
      }
    }
    EXPECT_NEAR(entropy(p), entropy(c), 1e-12);
    for (const double order : {0.8, 1.5, 3.0})
      EXPECT_NEAR(tsallis_entropy(p, order), tsallis_entropy(c, order), 1e-11) << alpha << " " << order;
  }
}

TEST(Mixture, SupportIsTheUnion) {
  const Beta p = gapped(2);
  ASSERT_EQ(support(p).size(), 2U);
  EXPECT_NEAR(support(p)[0].lower(), -3, 1e-14);
  EXPECT_NEAR(support(p)[0].upper(), 0, 1e-14);
  EXPECT_NEAR(support(p)[1].lower(), 1, 1e-14);
  EXPECT_NEAR(support(p)[1].upper(), 2, 1e-14);
  EXPECT_EQ(pdf(p, 0.5), 0);
  EXPECT_EQ(log_pdf(p, 0.5), -kInf);
  const Beta touching({0.5, 0.5}, {BetaGaussian::uniform(0, 1), BetaGaussian::uniform(1, 2)});
  EXPECT_EQ(support(touching), std::vector{Interval(0, 2)});
}

TEST(Mixture, QuantileInAGapIsItsLeftEnd) {
  for (const double alpha : {1.5, 2.0, 5.0, kInf}) {
    const Beta p = gapped(alpha);
    const double end = support(p)[0].upper();
    EXPECT_EQ(quantile(p, 0.5), end) << alpha;
    EXPECT_EQ(survival_quantile(p, 0.5), end) << alpha;
    EXPECT_EQ(median(p), end) << alpha;
    const Beta uneven({0.75, 0.25}, {BetaGaussian::from_half_width(alpha, -50, 50), p.components()[2]});
    EXPECT_EQ(quantile(uneven, 0.75), support(uneven)[0].upper()) << alpha;
    EXPECT_EQ(survival_quantile(uneven, 0.25), support(uneven)[0].upper()) << alpha;
    EXPECT_LE(quantile(p, std::nextafter(0.5, 0.0)), end);
    EXPECT_GE(quantile(p, std::nextafter(0.5, 1.0)), support(p)[1].lower());
    EXPECT_LE(survival_quantile(p, std::nextafter(0.5, 1.0)), end);
    EXPECT_GE(survival_quantile(p, std::nextafter(0.5, 0.0)), support(p)[1].lower());
    for (double u = 0.01; u < 1; u += 0.01) {
      EXPECT_NEAR(cdf(p, quantile(p, u)), u, 1e-14) << alpha;
      EXPECT_NEAR(survival(p, survival_quantile(p, u)), u, 1e-14) << alpha;
    }
  }
}

TEST(Mixture, QuantilesBesideTheLargestNumbers) {
  const Beta p({0.4, 0.6}, {BetaGaussian(1e-300, 1.8, 1.1), BetaGaussian(3, 3.4, 0.2)});
  for (const double u : {5e-324, 1e-320, 1e-310, 1e-300, 1e-200}) {
    EXPECT_LT(quantile(p, u), -1e190) << u;
    EXPECT_GT(survival_quantile(p, u), 1e190) << u;
    if (u > 1e-301) {
      EXPECT_NEAR(cdf(p, quantile(p, u)), u, 1e-12 * u);
    }
  }
}

TEST(Mixture, QuantilesOfComponentsOfVeryDifferentSizes) {
  const BetaGaussian narrow(4, -0.008, 2e-5);
  const Beta p({0.25, 0.75}, {BetaGaussian(0.9, 1e308, 0.3), narrow});
  for (const double u : {0.01, 0.1, 0.5, 0.7, 0.74}) {
    const double t = quantile(narrow, u / 0.75);
    EXPECT_NEAR(quantile(p, u), t, 1e-12) << u;
    EXPECT_NEAR(survival_quantile(p, 1 - u), t, 1e-12) << u;
  }
  for (const double u : {0.76, 0.9}) EXPECT_NEAR(quantile(p, u), 1e308, 1e-15 * 1e308) << u;
}

TEST(Mixture, MomentsAreThoseOfTheDensity) {
  for (const double alpha : kSomeAlphas) {
    const Beta p = three(alpha);
    const double centre = mean(p);
    EXPECT_NEAR(centre, -0.2 + 0.2 + 0.6, 1e-15);
    if (alpha == 0.8) continue;  // its fourth moment exists; the quadrature of it converges slowly
    for (const int n : {0, 1, 2, 3, 4, 5}) {
      const double expected = expectation(
          p, [&](double t) { return std::pow(t - centre, n); }, 1e-11);
      EXPECT_NEAR(central_moment(p, n), expected, 1e-9 * std::max(1.0, std::abs(expected)))
          << alpha << " " << n;
    }
  }
  const Beta heavy({0.5, 0.5}, {BetaGaussian(0.5, 0, 1), BetaGaussian(0.5, 1, 1)});
  EXPECT_EQ(central_moment(heavy, 4), kInf);
  EXPECT_EQ(kurtosis(heavy), kInf);
  EXPECT_TRUE(std::isnan(skewness(heavy)));
  const Beta cauchy_like({0.5, 0.5}, {BetaGaussian(0.2, 0, 1), BetaGaussian(1, 1, 1)});
  EXPECT_EQ(variance(cauchy_like), kInf);
  EXPECT_EQ(kurtosis(cauchy_like), kInf);
}

TEST(Mixture, OddMomentsThatOverflowHaveASign) {
  const BetaGaussian near(1.5, 1340, 0.3), far(1.5, 1e308, 0.1), opposite(1.5, -1e308, 0.1);
  const Beta p({0.25, 0.75}, {near, far}), even({0.5, 0.5}, {far, opposite});
  EXPECT_EQ(central_moment(p, 3), -kInf);
  EXPECT_EQ(moment(p, 3), kInf);
  EXPECT_EQ(moment(p, 7), kInf);
  EXPECT_EQ(central_moment(p, 4), kInf);
  EXPECT_EQ(central_moment(even, 3), 0);
  EXPECT_EQ(moment(even, 3), 0);
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(moment(p, -1)); }),
            "fenchel::moment: n must not be negative, got -1");
}

/// Brute force over a fine grid.
double highest_of_grid(const Beta& p, double lower, double upper) {
  double best = lower;
  for (int i = 0; i <= 40000; ++i) {
    const double t = lower + (upper - lower) * i / 40000;
    if (pdf(p, t) > pdf(p, best)) best = t;
  }
  return best;
}

TEST(Mixture, ModeIsTheHighestPoint) {
  for (const double alpha : {0.8, 1.0, 1.5, 2.0, 5.0}) {
    const Beta p = three(alpha);
    EXPECT_GE(pdf(p, mode(p)), pdf(p, highest_of_grid(p, -3, 4)) * (1 - 1e-12)) << alpha;
    const Beta close({0.5, 0.5}, {BetaGaussian(alpha, -0.2, 1), BetaGaussian(alpha, 0.2, 1)});
    EXPECT_NEAR(mode(close), 0, 1e-7) << alpha << ": between the components' modes";
    const Beta narrow({0.01, 0.99},
                      {BetaGaussian::from_variance(alpha, 1, 1e-10), BetaGaussian(alpha, 0, 1)});
    EXPECT_GE(pdf(narrow, mode(narrow)), pdf(narrow, 1.0)) << alpha;
    EXPECT_NEAR(mode(narrow), 1, 1e-5);
  }
  const Beta overlap({0.5, 0.5}, {BetaGaussian::uniform(0, 10), BetaGaussian::uniform(6, 16)});
  EXPECT_NEAR(mode(overlap), 8, 2) << "off both components' modes";
}

TEST(Mixture, ComponentsMayBeAsFarApartAsDoublesAre) {
  const BetaGaussian here(1, 2, 1), far(2, 1e308, 1e-8), other_side(2, -1e308, 1e-8);
  EXPECT_EQ(mode(Beta({0.25, 0.75}, {here, far})), 1e308);
  EXPECT_EQ(mode(Beta({0.25, 0.75}, {other_side, far})), 1e308);
  EXPECT_EQ(mode(Beta({0.25, 0.75}, {far, BetaGaussian(2, 0, 1e-12)})), 0);
  EXPECT_EQ(mean(Beta({0.25, 0.75}, {here, far})), 7.5e307);
}

TEST(Mixture, QuadratureMustResolveTheComponents) {
  const BetaGaussian here(2, 2, 1), far(2, 1e308, 1e-8), narrow(3.65, -6871.2, 5e-324);
  for (const auto& c : {far, narrow}) {
    const Beta p({0.25, 0.75}, {here, c});
    const auto message = [](auto call) { return message_of<std::domain_error>(call); };
    const std::string expected =
        "fenchel::mixture: the interquartile range of components[1] must be resolved by doubles near its "
        "median, got 0";
    EXPECT_EQ(message([&] { static_cast<void>(expectation(p, [](double) { return 1.0; })); }), expected);
    EXPECT_EQ(message([&] { static_cast<void>(entropy(p)); }), expected);
    EXPECT_EQ(message([&] { static_cast<void>(escort(p, 1)); }), expected);
    const Beta without({1, 0}, {here, c});
    EXPECT_NEAR(expectation(without, [](double) { return 1.0; }), 1, 1e-12);
  }
}

TEST(Mixture, EntropiesAreIntegrals) {
  for (const double alpha : {1.5, 2.0, 5.0, kInf}) {
    const Beta p = gapped(alpha);
    const double edges[] = {-3, -2, -1, 0, 1, 1.5, 2};
    for (const double order : {0.7, 1.0, 1 + 1e-8, 2.0, 4.0}) {
      double sum = 0;
      for (int i = 0; i < 6; ++i) {
        const auto term = [&](double t) {
          const double l = log_pdf(p, t);
          return std::isinf(l) ? 0
                               : std::exp(l) * (order == 1 ? l : std::expm1((order - 1) * l) / (order - 1));
        };
        sum += integrate(term, edges[i], edges[i + 1], 1e-12).value;
      }
      EXPECT_NEAR(tsallis_entropy(p, order), -sum / order, 1e-11) << alpha << " " << order;
    }
  }
  const Beta apart({0.25, 0.75}, {BetaGaussian(1, 0, 1), BetaGaussian(1, 100, 1e-6)});
  const double choice = -0.25 * std::log(0.25) - 0.75 * std::log(0.75);
  EXPECT_NEAR(entropy(apart),
              choice + 0.25 * entropy(apart.components()[0]) + 0.75 * entropy(apart.components()[1]), 1e-9);
  EXPECT_EQ(tsallis_entropy(apart, kInf), -kInf) << "a density above one";
  EXPECT_EQ(tsallis_entropy(gapped(kInf), kInf), 0);
  const Beta heavy({0.5, 0.5}, {BetaGaussian(0.2, 0, 1), BetaGaussian(1, 1, 1)});
  EXPECT_EQ(tsallis_entropy(heavy, 0.4), kInf);
}

TEST(Mixture, EscortIsAPower) {
  const Beta p = three(1);
  const NumericDensity power = escort(p, 2);
  EXPECT_NEAR(log_pdf(power, 0.3) - log_pdf(power, 1.5), 2 * (log_pdf(p, 0.3) - log_pdf(p, 1.5)), 1e-12);
  EXPECT_EQ(mode(power), mode(p));
  EXPECT_EQ(support(escort(gapped(2), 0)), support(gapped(2)));
}

TEST(Mixture, DrawsAreOfTheComponents) {
  const Beta p = gapped(2);
  const std::vector<double> draws = sample(p, 4000, 7);
  int right = 0;
  for (const double t : draws) {
    EXPECT_GT(pdf(p, t), 0);
    right += t > 0.5;
  }
  EXPECT_NEAR(right / 4000.0, 0.5, 4 * 0.5 / std::sqrt(4000.0));
  Philox rng(7, 5);
  EXPECT_EQ(sample(p, rng), draws[5]);
}

TEST(Mixture, OfOtherFamilies) {
  const Mixture<CappedParabola> p({0.4, 0.6}, {CappedParabola(0.1, -1, 1), CappedParabola(1, 1, 0.5)});
  EXPECT_NEAR(expectation(p, [](double) { return 1.0; }), 1, 1e-11);
  EXPECT_NEAR(mean(p), 0.2, 1e-14);
  EXPECT_NEAR(cdf(p, quantile(p, 0.4)), 0.4, 1e-12);
  const Mixture<Beta> nested({0.5, 0.5}, {three(1.5), gapped(2)});
  EXPECT_NEAR(expectation(nested, [](double) { return 1.0; }), 1, 1e-11);
  EXPECT_NEAR(variance(nested), expectation(nested, [&](double t) { return std::pow(t - mean(nested), 2); }),
              1e-9);
}

TEST(Mixture, WeightsMayComeFromFloat) {
  const float third = 1.0F / 3;
  const Beta p({third, third, third}, {BetaGaussian(1, 0, 1), BetaGaussian(1, 1, 1), BetaGaussian(1, 2, 1)});
  EXPECT_NEAR(p.weights()[0], 1. / 3, 1e-16);
  EXPECT_EQ(cdf(p, kInf), 1);
  EXPECT_EQ(survival(p, -kInf), 1);
}

std::string message(std::vector<double> weights, std::vector<BetaGaussian> components) {
  try {
    static_cast<void>(Beta(std::move(weights), std::move(components)));
  } catch (const std::logic_error& error) {  // both kinds are
    return error.what();
  }
  return "(no error)";
}

TEST(Mixture, BadInput) {
  const BetaGaussian c(1, 0, 1);
  EXPECT_EQ(message({}, {}), "fenchel::mixture: components must not be empty, got 0");
  EXPECT_EQ(message({1}, {c, c}), "fenchel::mixture: weights.size() must be components.size() = 2, got 1");
  EXPECT_EQ(message({1.5, -0.5}, {c, c}),
            "fenchel::mixture: weights[1] must be finite and not negative, got -0.5");
  EXPECT_EQ(message({kNaN, 0.5}, {c, c}),
            "fenchel::mixture: weights[0] must be finite and not negative, got nan");
  EXPECT_EQ(message({0.5, 0.4}, {c, c}),
            "fenchel::mixture: the sum of weights must be 1 within 1e-06, got 0.9");
  const Beta p({0.5, 0.5}, {c, c});
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(quantile(p, 1.5)); }),
            "fenchel::quantile: u must be in [0, 1], got 1.5");
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(survival_quantile(p, kNaN)); }),
            "fenchel::survival_quantile: u must be in [0, 1], got nan");
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(tsallis_entropy(p, 0)); }),
            "fenchel::tsallis_entropy: order must be positive, got 0");
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(central_moment(p, -1)); }),
            "fenchel::central_moment: n must not be negative, got -1");
  EXPECT_TRUE(std::isnan(log_pdf(p, kNaN)));
  EXPECT_TRUE(std::isnan(log_cdf(p, kNaN)));
}

}  // namespace
}  // namespace fenchel
