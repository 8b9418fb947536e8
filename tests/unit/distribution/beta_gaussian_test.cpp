#include "fenchel/distribution/line/beta_gaussian.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>
#include <vector>

#include "fenchel/core/parallel.hpp"
#include "support/golden.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf, testing::kNaN, testing::message_of;

const std::vector<double> kFamily{0.4,      0.6,  0.9,    1 - 1e-8, 1.0, std::nextafter(1.0, 2.0),
                                  1 + 1e-8, 1.02, 4. / 3, 1.5,      2.0, 3.0,
                                  5.0,      1e6,  kInf};

void expect_close(double found, double expected, double relative, const char* what) {
  EXPECT_NEAR(found, expected, relative * std::abs(expected)) << what;
}

TEST(BetaGaussian, DistributionFunctionsMatchTheTable) {
  for (const auto& row : testing::golden_rows("beta_gaussian_line.txt")) {
    const double alpha = row[0], t = row[2], tail = row[4];
    SCOPED_TRACE(::testing::Message() << "alpha=" << alpha << " sigma2=" << row[1] << " t=" << t);
    const BetaGaussian p(alpha, 0, row[1]);
    // Rounding of t at the edge of the support is magnified by 1 / (1 - y).
    const double y = alpha > 1 ? t * t / (p.sigma2() * p.constants().radius2) : 0;
    const double edge = std::max(1.0, 1e-2 / (1 - y) * (1 + 1 / (alpha - 1)));
    const double tolerance = 2e-13 * (y > 0 ? edge : 1);
    EXPECT_NEAR(log_pdf(p, t), row[3], tolerance + 1e-13 * std::abs(row[3]));
    if (tail < 1e-300) {  // 0 in the table once it is read
      EXPECT_NEAR(log_survival(p, t), row[5], tolerance * (1 + std::abs(row[5])));
      continue;
    }
    expect_close(survival(p, t), tail, tolerance * (1 + std::abs(row[5])), "survival");
    expect_close(cdf(p, -t), tail, tolerance * (1 + std::abs(row[5])), "cdf");
    EXPECT_NEAR(cdf(p, t), 1 - tail, 2e-15);
    EXPECT_NEAR(log_survival(p, t), row[5], tolerance * (1 + std::abs(row[5])));
    EXPECT_NEAR(log_cdf(p, t), std::log1p(-tail), tolerance * (1 + std::abs(row[5])) * tail);
    // A relative error of u moves the quantile by survival / pdf times it.
    const double slack = tail / pdf(p, t) * (1 + std::abs(row[5])) * tolerance + 2e-15 * t;
    EXPECT_NEAR(survival_quantile(p, tail), t, slack);
    EXPECT_NEAR(quantile(p, tail), -t, slack);
  }
}

TEST(BetaGaussian, MatchesTheGoldenValues) {
  // docs/math.md 8, rows 11-13, 19: R at sigma2 = 1 is the half width.
  for (const auto& [alpha, radius] : {std::pair{2.0, 1.1447142425533319},
                                      {1.5, 1.7187719275874788},
                                      {4. / 3, 2.1829968887279975},
                                      {1.01, 14.077889478973909}}) {
    expect_close(BetaGaussian(alpha, 0, 1).half_width(), radius, 1e-13, "radius");
  }
  struct Row {
    double alpha, sigma2, normalizer, threshold, factor, negentropy;
  };
  for (const Row& row :
       {Row{1.5, 0.64, 0.38500748755545838, -1.6149925124445416, 0.46142643212701189, -0.41048046907930955},
        Row{2, 0.64, 0.23972475055332498, -0.76027524944667502, 0.30411009977867001, -0.19588990022132999},
        Row{0.6, 0.7, 1.4484476837813223, 3.9484476837813223, 3.9484476837813223, -5.7044525427866391}}) {
    const BetaGaussian p(row.alpha, 0.3, row.sigma2);
    expect_close(p.constants().normalizer, row.normalizer, 1e-13, "A");
    expect_close(p.constants().threshold, row.threshold, 1e-13, "tau");
    expect_close(variance(p), row.factor * row.sigma2, 1e-13, "variance");
    expect_close(tsallis_entropy(p, row.alpha), -row.negentropy, 1e-13, "Omega");
  }
  struct Shape {
    double alpha, half_width, cdf, pdf;
  };
  for (const Shape& row : {Shape{1.5, 1.4377727274952093, 0.80069309079899582, 0.50387283443363346},
                           Shape{4. / 3, 1.8029653953377161, 0.7810490769823401, 0.47716349260712637},
                           Shape{3, 0.71364964646110845, 0.90622332553203757, 0.63651371977316929}}) {
    const BetaGaussian p(row.alpha, 0.3, 0.64);
    expect_close(p.half_width(), row.half_width, 1e-13, "half width");
    expect_close(cdf(p, 0.3 + 0.5), row.cdf, 1e-13, "cdf");
    expect_close(pdf(p, 0.3 + 0.5), row.pdf, 1e-13, "pdf");
  }
  expect_close(quantile(BetaGaussian(2, 0, 0.64), 0.9), 0.600177161946881, 1e-13, "quantile");
  expect_close(cdf(BetaGaussian(0.6, 0, 0.7), 0.8), 0.73323720065036973, 1e-13, "Student");
  expect_close(pdf(BetaGaussian::student(4, 0, 1.1755665397260432), 0.8), pdf(BetaGaussian(0.6, 0, 0.7), 0.8),
               1e-13, "Student's scale");
  expect_close(entropy(BetaGaussian(1.5, 0, 0.64)), 0.78837833140019748, 1e-13, "Shannon");
}

TEST(BetaGaussian, IsTheTruncatedParabolaAtTwo) {  // docs/math.md 3
  const auto p = BetaGaussian::truncated_parabola(0.5, 2. / 3);
  EXPECT_NEAR(p.half_width(), 1, 1e-15);
  EXPECT_NEAR(pdf(p, 0.5), 0.75, 1e-15);
  for (const double x : {-0.99, -0.3, 0.0, 0.7})
    EXPECT_NEAR(cdf(p, 0.5 + x), (2 + 3 * x - x * x * x) / 4, 4e-16);
  for (const double u : {0.001, 0.3, 0.9})
    EXPECT_NEAR(quantile(p, u), 0.5 + 2 * std::sin(std::asin(2 * u - 1) / 3), 2e-15);
}

TEST(BetaGaussian, ConstructorsAgree) {
  for (const double alpha : kFamily) {
    SCOPED_TRACE(::testing::Message() << "alpha=" << alpha);
    const BetaGaussian p(alpha, -1.3, 0.37);
    if (alpha > 1. / 3) {
      const auto q = BetaGaussian::from_variance(alpha, p.mu(), variance(p));
      expect_close(variance(q), variance(p), 1e-14, "variance");
      expect_close(pdf(q, -1.2), pdf(p, -1.2), 1e-13, "density");
    }
    if (alpha > 1) {
      const auto q = BetaGaussian::from_half_width(alpha, p.mu(), p.half_width());
      expect_close(q.half_width(), p.half_width(), 1e-14, "half width");
      // Near alpha = 1 the half width says little about the density: am1 is known to 2^-52 alone.
      if (alpha > 1.001) expect_close(pdf(q, -1.2), pdf(p, -1.2), 1e-13, "density");
    }
    const auto q = BetaGaussian::from_canonical(alpha, canonical_parameters(p));
    expect_close(q.mu(), p.mu(), 1e-15, "mu");
    expect_close(q.sigma2(), p.sigma2(), 1e-15, "sigma2");
    EXPECT_EQ(score(p).sigma2(), 0.37);
  }
  const auto t = BetaGaussian::student(5, 2, 3);
  EXPECT_NEAR(pdf(t, 2), std::tgamma(3) / (std::tgamma(2.5) * std::sqrt(5 * std::numbers::pi) * 3), 1e-15);
  expect_close(variance(t), 9 * 5. / 3, 1e-14, "Student's variance");
  const auto u = BetaGaussian::uniform(2, 5);
  EXPECT_NEAR(pdf(u, 4), 1. / 3, 1e-16);
  EXPECT_EQ(pdf(u, 5.1), 0);
  EXPECT_NEAR(cdf(u, 3), 1. / 3, 1e-16);
  EXPECT_NEAR(quantile(u, 0.9), 4.7, 1e-15);
  EXPECT_NEAR(variance(u), 0.75, 1e-15);
  EXPECT_NEAR(entropy(u), std::log(3.0), 1e-15);
}

TEST(BetaGaussian, InfiniteAlphaIsTheLimit) {
  const BetaGaussian limit(kInf, 0.2, 3), far(1e9, 0.2, 3);
  EXPECT_NEAR(limit.half_width(), 0.5, 1e-15);  // length one, whatever sigma2
  EXPECT_NEAR(far.half_width(), 0.5, 1e-7);
  EXPECT_NEAR(variance(limit), 1. / 12, 1e-15);
  EXPECT_NEAR(kurtosis(limit), kurtosis(far), 1e-8);
  EXPECT_NEAR(quantile(limit, 0.3), quantile(far, 0.3), 1e-7);
}

TEST(BetaGaussian, EscortIsThePower) {
  for (const double alpha : kFamily) {
    const BetaGaussian p(alpha, 0.4, 0.8);
    for (const double order : {0.35, 0.7, 1.0, 2.0, 7.0}) {
      if (order <= 1 - alpha) continue;
      const auto e = escort(p, order);
      SCOPED_TRACE(::testing::Message() << "alpha=" << alpha << " order=" << order);
      for (const double t : {0.5, 0.7, 0.85}) {
        const double expected = order * (log_pdf(p, t) - log_pdf(p, 0.4));
        EXPECT_NEAR(log_pdf(e, t) - log_pdf(e, 0.4), expected, 1e-12 * std::abs(expected));
      }
      // Closer to 1, 1 + am1 / order is rounded.
      if (alpha > 1.001) expect_close(e.half_width(), p.half_width(), 1e-12, "support");
    }
  }
  const BetaGaussian p(2, 0.4, 0.8);
  EXPECT_EQ(support(escort(p, 0)), support(p));
  EXPECT_NEAR(pdf(escort(p, 0), 0.5), 1 / (2 * p.half_width()), 1e-15);
}

TEST(BetaGaussian, MomentsThatDoNotExistAreSaid) {
  const BetaGaussian heavy(0.3, 0, 1), middle(0.55, 0, 1);
  EXPECT_EQ(variance(heavy), kInf);
  EXPECT_TRUE(std::isnan(skewness(heavy)));
  EXPECT_EQ(kurtosis(middle), kInf);
  EXPECT_EQ(central_moment(middle, 4), kInf);
  EXPECT_TRUE(std::isnan(central_moment(heavy, 3)));
  EXPECT_EQ(tsallis_entropy(heavy, 0.3), kInf);
  EXPECT_GT(tsallis_entropy(heavy, 0.4), 0);
}

TEST(BetaGaussian, AccessorsAreTotal) {
  for (const double alpha : kFamily) {
    const BetaGaussian p(alpha, 1, 2);
    SCOPED_TRACE(::testing::Message() << "alpha=" << alpha);
    EXPECT_TRUE(std::isnan(pdf(p, kNaN)) && std::isnan(cdf(p, kNaN)) && std::isnan(log_survival(p, kNaN)));
    EXPECT_EQ(pdf(p, kInf), 0);
    EXPECT_EQ(cdf(p, kInf), 1);
    EXPECT_EQ(survival(p, kInf), 0);
    EXPECT_EQ(cdf(p, -kInf), 0);
    EXPECT_EQ(log_cdf(p, -kInf), -kInf);
    EXPECT_EQ(quantile(p, 0), support(p).lower());
    EXPECT_EQ(quantile(p, 1), support(p).upper());
    EXPECT_EQ(quantile(p, 0.5), 1);
  }
}

TEST(BetaGaussian, DrawsDoNotDependOnThreads) {
  const BetaGaussian p(1.5, 0.3, 2);
  set_num_threads(1);
  const auto one = sample(p, 4000, 7);
  set_num_threads(2);
  EXPECT_EQ(sample(p, 4000, 7), one);
  set_num_threads(0);
  Philox rng(7, 12);
  EXPECT_EQ(sample(p, rng), one[12]);
}

TEST(BetaGaussian, BadParametersAreNamed) {
  EXPECT_EQ(message_of<std::domain_error>([] { BetaGaussian(0, 0, 1); }),
            "fenchel::beta_gaussian: alpha must be positive on the line, got 0");
  EXPECT_EQ(message_of<std::domain_error>([] { BetaGaussian(kNaN, 0, 1); }),
            "fenchel::beta_gaussian: alpha must be positive on the line, got nan");
  EXPECT_EQ(message_of<std::domain_error>([] { BetaGaussian(2, kInf, 1); }),
            "fenchel::beta_gaussian: mu must be finite, got inf");
  EXPECT_EQ(message_of<std::domain_error>([] { BetaGaussian(2, 0, -1); }),
            "fenchel::beta_gaussian: sigma2 must be positive and finite, got -1");
  EXPECT_EQ(message_of<std::domain_error>([] { BetaGaussian(2, 0, kNaN); }),
            "fenchel::beta_gaussian: sigma2 must be positive and finite, got nan");
  EXPECT_EQ(message_of<std::domain_error>([] { static_cast<void>(BetaGaussian::student(1, 0, 1)); }),
            "fenchel::beta_gaussian: nu must be above 1 and finite, got 1");
  EXPECT_EQ(message_of<std::domain_error>([] { static_cast<void>(BetaGaussian::from_variance(0.3, 0, 1)); }),
            "fenchel::beta_gaussian: alpha must be above 1/3 for a finite variance, got 0.3");
  EXPECT_EQ(message_of<std::domain_error>([] { static_cast<void>(BetaGaussian::from_half_width(1, 0, 1)); }),
            "fenchel::beta_gaussian: alpha must be above 1 for a bounded support, got 1");
  EXPECT_EQ(message_of<std::domain_error>([] {
              static_cast<void>(BetaGaussian::from_canonical(2, {1, 0}));
            }),
            "fenchel::beta_gaussian: theta[1] must be negative and finite, got 0");
  const BetaGaussian p(2, 0, 1);
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(quantile(p, 1.5)); }),
            "fenchel::quantile: u must be in [0, 1], got 1.5");
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(survival_quantile(p, -0.1)); }),
            "fenchel::survival_quantile: u must be in [0, 1], got -0.1");
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(escort(p, -1)); }),
            "fenchel::escort: order must be finite and not negative for a beta-Gaussian, got -1");
  EXPECT_EQ(message_of<std::domain_error>([] { static_cast<void>(escort(BetaGaussian(1, 0, 1), 0)); }),
            "fenchel::escort: order must be above 1 - alpha for a beta-Gaussian, got 0");
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(moment(p, -1)); }),
            "fenchel::moment: n must not be negative, got -1");
  EXPECT_EQ(message_of<std::domain_error>([&] {
              static_cast<void>(expectation(p, [](double t) { return std::sqrt(t); }));
            }).substr(0, 23),
            "fenchel::expectation: f");
}

// The first value by mpmath.
TEST(BetaGaussian, QuantilesKeepTheirDigitsWhereBoostsInverseDoesNot) {
  EXPECT_NEAR(quantile(BetaGaussian(2, 0, 1), 0.4999999999), -1.5262857830232173e-10, 1e-24);
  EXPECT_NEAR(quantile(BetaGaussian(1.5, 0, 1), 5e-324), -BetaGaussian(1.5, 0, 1).half_width(), 1e-15);
  const BetaGaussian heavy(0.1, 0, 1);
  for (const double u : {1e-300, 1e-200, 1e-20, 0.01, 0.25, 0.4999999999})
    EXPECT_NEAR(log_cdf(heavy, quantile(heavy, u)), std::log(u), 1e-13 * (1 - std::log(u))) << u;
}

TEST(BetaGaussian, StudentTailsGoOnWhereTheSquareOverflows) {
  for (const double alpha : {1e-20, 0.1, 0.5, 0.97, 0.99, 1 - 1e-10}) {
    const BetaGaussian p(alpha, 0, 1);
    const double nu = (1 + alpha) / (1 - alpha);  // of the power law
    EXPECT_NEAR(log_cdf(p, -1e200), log_cdf(p, -1e140) - nu * 60 * std::numbers::ln10, 1e-12 * nu * 500)
        << alpha;
    EXPECT_NEAR(log_pdf(p, -1e200), log_pdf(p, -1e140) - (nu + 1) * 60 * std::numbers::ln10, 1e-12 * nu * 500)
        << alpha;
    EXPECT_EQ(cdf(p, 1e200), 1) << alpha;
    EXPECT_EQ(log_cdf(p, -kInf), -kInf) << alpha;
  }
}

TEST(BetaGaussian, TheCauchyIsExactNextToItsCentre) {
  const BetaGaussian p(1e-20, 0, 1);  // of scale 2 pi
  for (const double x : {1e-9, 1e-6, 1e-3})
    EXPECT_NEAR(cdf(p, x), 0.5 + std::atan(x / (2 * std::numbers::pi)) / std::numbers::pi, 2e-16) << x;
}

/// The ends of the support are mu, as doubles.
TEST(BetaGaussian, AMemberThatDoublesDoNotResolveHasHalfOfItsMassOnEachSideOfItsCentre) {
  for (const double alpha : {4. / 3, 2.0, 2.7, kInf}) {
    const BetaGaussian p(alpha, 1e20, 1e-307);
    EXPECT_EQ(cdf(p, 1e20), 0.5) << alpha;
    EXPECT_EQ(survival(p, 1e20), 0.5) << alpha;
    EXPECT_NEAR(log_cdf(p, 1e20), std::log(0.5), 1e-15) << alpha;
    EXPECT_NEAR(log_survival(p, 1e20), std::log(0.5), 1e-15) << alpha;
    const double below = std::nextafter(1e20, 0), above = std::nextafter(1e20, kInf);
    EXPECT_EQ(cdf(p, below), 0) << alpha;
    EXPECT_EQ(survival(p, below), 1) << alpha;
    EXPECT_EQ(cdf(p, above), 1) << alpha;
    EXPECT_EQ(survival(p, above), 0) << alpha;
    EXPECT_EQ(log_survival(p, above), -kInf) << alpha;
  }
  const BetaGaussian narrow = BetaGaussian::uniform(1, std::nextafter(1, 2));  // ends that a caller gave
  EXPECT_EQ(cdf(narrow, 1), 0);
  EXPECT_EQ(survival(narrow, std::nextafter(1, 2)), 0);
}

TEST(BetaGaussian, HugeAlphaAndTinyScaleIsNearlyTheUniform) {
  const BetaGaussian p(1e15, 0, 1e-300);
  EXPECT_NEAR(p.half_width(), 0.5, 1e-12);
  EXPECT_NEAR(variance(p), 1. / 12, 1e-12);
  EXPECT_NEAR(central_moment(p, 4), 1. / 80, 1e-12);
  EXPECT_NEAR(quantile(p, 0.25), -0.25, 1e-12);
}

TEST(BetaGaussian, UniformsFarFromZeroHaveTheVarianceThatWasGiven) {
  for (const double mu : {-15818695.49, 1e20}) {  // whose ends round by 1e-12 of the length, and to mu
    const auto p = BetaGaussian::from_variance(kInf, mu, 25607.02);
    EXPECT_NEAR(variance(p), 25607.02, 1e-15 * 25607.02);
    EXPECT_EQ(mean(p), mu);
    EXPECT_DOUBLE_EQ(BetaGaussian::from_half_width(kInf, mu, 0.3).half_width(), 0.3);
  }
}

TEST(BetaGaussian, EntropiesOfSmallOrderAreDifferentiable) {
  for (const double alpha : {0.99, 1.0, 1.02}) {
    const BetaGaussian p(alpha, 0, 1);
    for (const double order : {0.01, 0.03, 0.1, 0.5}) {
      const double h = 1e-4 * order;
      const double slope = (tsallis_entropy(p, order - h) - tsallis_entropy(p, order + h)) / (2 * h);
      EXPECT_NEAR(negentropy_order_derivative(p, order), slope, 1e-6 * std::abs(slope))
          << alpha << ' ' << order;
    }
  }
}

TEST(BetaGaussian, ParametersThatLeaveTheDoublesAreNamed) {
  EXPECT_EQ(message_of<std::domain_error>([] { BetaGaussian(1e-9, 0, 1e308); }),
            "fenchel::beta_gaussian: sigma2 must keep p(mu)^(alpha - 1) in the range of doubles, got 1e+308");
  EXPECT_THROW((void)BetaGaussian::student(1 + 1e-9, 0, 1e308), std::domain_error);
  EXPECT_EQ(
      message_of<std::domain_error>([] { (void)BetaGaussian::uniform(0, 1e200); }),
      "fenchel::beta_gaussian: upper - lower must have a square within the range of doubles, got 1e+200");
  EXPECT_EQ(
      message_of<std::domain_error>([] { (void)BetaGaussian::uniform(0, 1e-200); }),
      "fenchel::beta_gaussian: upper - lower must have a square within the range of doubles, got 1e-200");
  EXPECT_EQ(
      message_of<std::domain_error>([] { (void)BetaGaussian::from_half_width(kInf, 0, 1e200); }),
      "fenchel::beta_gaussian: 2 half_width must have a square within the range of doubles, got 2e+200");
  EXPECT_EQ(message_of<std::domain_error>([] { (void)escort(BetaGaussian(2, 0, 1), 1e-5); }),
            "fenchel::escort: order must be such that the escort's sigma2 is positive and finite, got 1e-05");
  EXPECT_EQ(
      message_of<ConvergenceError>(
          [] { (void)expectation(BetaGaussian(2, 1e300, 1), [](double) { return 1.0; }); }),
      "fenchel::expectation: the interquartile range must be resolved by doubles near the median, got 0");
  const BetaGaussian wide = BetaGaussian::student(1.01, 0, 1e200);
  EXPECT_NEAR(quantile(wide, 0.25) / 1e200, quantile(BetaGaussian::student(1.01, 0, 1), 0.25), 1e-12);
}

}  // namespace
}  // namespace fenchel
