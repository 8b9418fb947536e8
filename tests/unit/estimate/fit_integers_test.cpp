#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fenchel/core/philox.hpp"
#include "fenchel/estimate/fit/sparse_integer_gaussian.hpp"
#include "fenchel/estimate/fit/sparse_poisson.hpp"
#include "fenchel/loss/integers.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::kNaN;
using testing::message_of;

const std::vector<double> kFitAlphas{1, std::nextafter(1.0, 2.0), 1 + 1e-8, 1.01, 4.0 / 3, 1.5, 2, 2.5, 5,
                                     20};

/// Data with the probabilities of p.
template <class P>
CountHistogram exact_counts(const P& p, double weight = 1) {
  std::vector<double> values, weights;
  for (const double probability : p.table().probabilities()) {
    values.push_back(static_cast<double>(p.table().first()) + static_cast<double>(values.size()));
    weights.push_back(weight * probability);
  }
  return CountHistogram::of(values, weights);
}

template <class P>
CountHistogram drawn_counts(const P& p, index_t count, std::uint64_t seed) {
  const std::vector<index_t> draws = sample(p, count, seed);
  return CountHistogram::of(std::vector<double>(draws.begin(), draws.end()));
}

/// The mean is the value.
CountHistogram counts_with_mean(double mean) {
  const double below = std::floor(mean), share = mean - below;
  return CountHistogram::of(std::vector{below, below + 1}, std::vector{1 - share, share});
}

TEST(FitSparsePoisson, MomentsOfAMemberGiveItsMu) {
  for (const double alpha : kFitAlphas) {
    for (const double mu : {0.9, 3.0, 40.5, 1e3, 1e5}) {
      const SparsePoisson p(alpha, mu);
      if (variance(p) == 0) continue;
      const auto fit = fit_sparse_poisson(alpha, exact_counts(p));
      EXPECT_NEAR(fit.parameters[0], mu, 2e-13 * mu) << alpha;
      EXPECT_EQ(fit.distribution, SparsePoisson(alpha, fit.parameters[0]));
      EXPECT_EQ(fit.names, std::vector<std::string>{"mu"});
    }
  }
}

TEST(FitSparsePoisson, MatchesEveryMean) {
  for (const double alpha : kFitAlphas) {
    for (const double wanted : {1e-12, 1e-3, 0.3, 0.5, 0.999, 1.7, 2.0, 12.25, 1000.75, 1e5}) {
      const auto fit = fit_sparse_poisson(alpha, counts_with_mean(wanted));
      if (alpha < 5) {
        EXPECT_NEAR(mean(fit.distribution), wanted, 1e-12 * wanted + 1e-16) << alpha << ' ' << wanted;
      }
      EXPECT_GE(fit.parameters[0], wanted);
      EXPECT_LE(fit.parameters[0], wanted + 1);
    }
  }
}

TEST(FitSparsePoisson, WhereTheMeanJumpsMuIsExactToRounding) {
  for (const double alpha : {5.0, 20.0, 200.0, 1e6}) {
    for (const double wanted : {0.2, 0.5, 3.7}) {
      const double mu = fit_sparse_poisson(alpha, counts_with_mean(wanted)).parameters[0];
      EXPECT_LE(mean(SparsePoisson(alpha, mu * (1 - 1e-15))), wanted) << alpha;
      EXPECT_GE(mean(SparsePoisson(alpha, mu * (1 + 1e-15))), wanted) << alpha;
    }
  }
}

TEST(FitSparsePoisson, AnIntegerThatIsPredictedForCertainGetsTheMiddleOfItsMus) {
  const auto fit = fit_sparse_poisson(5, counts_with_mean(1));
  EXPECT_DOUBLE_EQ(fit.parameters[0], std::sqrt(2.0));
  EXPECT_EQ(variance(fit.distribution), 0);
  EXPECT_TRUE(std::isnan(fit.standard_errors()[0]));
}

TEST(FitSparsePoisson, LossIsTheMeanOfLosses) {
  const auto counts = CountHistogram::of(std::vector{0., 2., 3., 9.}, std::vector{1., 4., 2., 0.5});
  for (const double alpha : kFitAlphas) {
    const auto fit = fit_sparse_poisson(alpha, counts);
    double sum = 0;
    for (const auto& [value, weight] : {std::pair{0, 1.0}, {2, 4.0}, {3, 2.0}, {9, 0.5}})
      sum += weight * cross_omega(Tsallis(alpha), score(fit.distribution), Naturals(), value).value;
    EXPECT_NEAR(fit.loss, sum / 7.5, 1e-13 * fit.loss) << alpha;
    EXPECT_EQ(fit.weight, 7.5);
  }
}

TEST(FitSparsePoisson, StandardErrorIsThatOfTheMeanThroughItsSlope) {
  for (const double alpha : {1.0, 1.5, 2.0}) {
    const SparsePoisson p(alpha, 6.2);
    const auto fit = fit_sparse_poisson(alpha, exact_counts(p, 50));
    const double h = 1e-6;
    const double slope =
        (mean(SparsePoisson(alpha, 6.2 + h)) - mean(SparsePoisson(alpha, 6.2 - h))) / (2 * h);
    EXPECT_NEAR(fit.standard_errors()[0], std::sqrt(variance(p) / 50) / slope, 1e-7) << alpha;
  }
}

TEST(FitSparsePoisson, RecoversMuFromDraws) {
  std::uint64_t seed = 1;
  for (const double alpha : {1.0, 4.0 / 3, 2.0, 3.0}) {
    const auto fit = fit_sparse_poisson(alpha, drawn_counts(SparsePoisson(alpha, 7.3), 20000, ++seed));
    EXPECT_LT(std::abs(fit.parameters[0] - 7.3), 3 * fit.standard_errors()[0]) << alpha;
    EXPECT_LT(fit.standard_errors()[0], 0.05);
  }
}

TEST(FitSparsePoisson, UnderDispersedCountsHaveTheVarianceOfASparseOne) {
  const auto counts = CountHistogram::of(std::vector{2., 3., 4., 5., 6.}, std::vector{6., 38., 55., 31., 4.});
  const double poisson = variance(fit_sparse_poisson(1, counts).distribution);
  const double sparse = variance(fit_sparse_poisson(2, counts).distribution);
  EXPECT_NEAR(counts.variance(), 0.8, 0.1);
  EXPECT_GT(poisson, 3.9);
  EXPECT_LT(std::abs(sparse - counts.variance()), std::abs(poisson - counts.variance()) / 4);
}

TEST(FitSparsePoisson, NamesWhatItCannotFit) {
  const auto some = counts_with_mean(1.5);
  const auto message = [](double alpha, const CountHistogram& counts) {
    return message_of<std::domain_error>([&] { (void)fit_sparse_poisson(alpha, counts); });
  };
  EXPECT_EQ(message(0.5, some),
            "fenchel::fit_sparse_poisson: alpha must be finite and greater than 1/2, got 0.5");
  EXPECT_EQ(message(kNaN, some),
            "fenchel::fit_sparse_poisson: alpha must be finite and greater than 1/2, got nan");
  EXPECT_EQ(message(kInf, some),
            "fenchel::fit_sparse_poisson: alpha must be finite and greater than 1/2, got inf");
  EXPECT_EQ(message(2, CountHistogram()),
            "fenchel::fit_sparse_poisson: the weight of all rows must be positive and finite, got 0");
  EXPECT_EQ(message(2, CountHistogram::of(std::vector{0., 0.})),
            "fenchel::fit_sparse_poisson: the mean must be positive, got 0");
  EXPECT_EQ(message(2, CountHistogram::of(std::vector{5., -2.})),
            "fenchel::fit_sparse_poisson: the least count must not be negative, got -2");
}

TEST(FitSparseIntegerGaussian, MomentsOfAMemberGiveItsParameters) {
  for (const double alpha : kFitAlphas) {
    for (const double mu : {0.0, 0.3, -17.5, 1e6 + 0.25}) {
      for (const double sigma2 : {0.7, 10.0, 1e4}) {
        const SparseIntegerGaussian p(alpha, mu, sigma2);
        if (p.table().probabilities().size() < 3) continue;
        const auto fit = fit_sparse_integer_gaussian(alpha, exact_counts(p));
        EXPECT_NEAR(fit.parameters[0], mu, 1e-8 * std::sqrt(sigma2)) << alpha << ' ' << mu << ' ' << sigma2;
        EXPECT_NEAR(fit.parameters[1], sigma2, 1e-8 * sigma2) << alpha << ' ' << mu << ' ' << sigma2;
        EXPECT_EQ(fit.distribution, SparseIntegerGaussian(alpha, fit.parameters[0], fit.parameters[1]));
        EXPECT_EQ(fit.names, (std::vector<std::string>{"mu", "sigma2"}));
      }
    }
  }
}

TEST(FitSparseIntegerGaussian, MatchesMoments) {
  for (const double alpha : kFitAlphas) {
    if (alpha > 5) continue;
    for (const double rare : {1e-6, 0.01, 1.0}) {
      for (const double far : {2.0, 3.0, 30.0}) {
        const auto counts = CountHistogram::of(std::vector{4., 5., 4 + far}, std::vector{1., 0.3, rare});
        const auto fit = fit_sparse_integer_gaussian(alpha, counts);
        EXPECT_NEAR(mean(fit.distribution), counts.mean(), 1e-9 * std::sqrt(counts.variance()))
            << alpha << ' ' << rare << ' ' << far;
        EXPECT_NEAR(variance(fit.distribution), counts.variance(), 1e-8 * counts.variance())
            << alpha << ' ' << rare << ' ' << far;
      }
    }
  }
}

TEST(FitSparseIntegerGaussian, LossIsTheMeanOfLosses) {
  const auto counts = CountHistogram::of(std::vector{-3., 2., 3., 9.}, std::vector{1., 4., 2., 0.5});
  for (const double alpha : {1.0, 1.5, 2.0}) {
    const auto fit = fit_sparse_integer_gaussian(alpha, counts);
    double sum = 0;
    for (const auto& [value, weight] : {std::pair{-3, 1.0}, {2, 4.0}, {3, 2.0}, {9, 0.5}})
      sum += weight * cross_omega(Tsallis(alpha), score(fit.distribution), Integers(), value).value;
    EXPECT_NEAR(fit.loss, sum / 7.5, 1e-13 * std::abs(fit.loss)) << alpha;
  }
}

TEST(FitSparseIntegerGaussian, CovarianceIsThatOfTheMomentsThroughTheirSlopes) {
  for (const double alpha : {1.0, 1.5, 2.0}) {
    const double mu = 5.3, sigma2 = 4.1, n = 1000, h = 1e-6;
    const SparseIntegerGaussian p(alpha, mu, sigma2);
    const auto moments = [alpha](double m, double s) {
      const SparseIntegerGaussian q(alpha, m, s);
      return Eigen::Vector2d(mean(q), variance(q));
    };
    Eigen::Matrix2d slopes, spread;
    slopes << (moments(mu + h, sigma2) - moments(mu - h, sigma2)) / (2 * h),
        (moments(mu, sigma2 + h) - moments(mu, sigma2 - h)) / (2 * h);
    const double second = variance(p), third = central_moment(p, 3);
    spread << second, third, third, central_moment(p, 4) - second * second;
    const double determinant = slopes(0, 0) * slopes(1, 1) - slopes(0, 1) * slopes(1, 0);
    Eigen::Matrix2d inverse;
    inverse << slopes(1, 1), -slopes(0, 1), -slopes(1, 0), slopes(0, 0);
    inverse /= determinant;
    const Eigen::Matrix2d expected = inverse * spread * inverse.transpose() / n;
    const auto fit = fit_sparse_integer_gaussian(alpha, exact_counts(p, n));
    EXPECT_LT((fit.covariance - expected).norm(), 1e-6 * expected.norm()) << alpha;
  }
}

TEST(FitSparseIntegerGaussian, RecoversParametersFromDraws) {
  std::uint64_t seed = 10;
  for (const double alpha : {1.0, 4.0 / 3, 2.0, 3.0}) {
    const SparseIntegerGaussian p(alpha, -2.4, 9);
    const auto fit = fit_sparse_integer_gaussian(alpha, drawn_counts(p, 20000, ++seed));
    EXPECT_LT(std::abs(fit.parameters[0] + 2.4), 3 * fit.standard_errors()[0]) << alpha;
    EXPECT_LT(std::abs(fit.parameters[1] - 9), 3 * fit.standard_errors()[1]) << alpha;
  }
}

TEST(FitSparseIntegerGaussian, MomentsThatJumpAreNotConverged) {
  const auto counts = CountHistogram::of(std::vector{4., 5., 34.}, std::vector{1., 0.3, 0.01});
  const std::string found =
      message_of<ConvergenceError>([&] { (void)fit_sparse_integer_gaussian(20, counts); });
  EXPECT_EQ(
      found.substr(0, found.find(", got")),
      "fenchel::fit_sparse_integer_gaussian: the residual must reach 1e-09 (for large alpha moments jump "
      "between neighbouring parameters)");
}

TEST(FitSparseIntegerGaussian, NamesWhatItCannotFit) {
  const auto message = [](double alpha, const CountHistogram& counts) {
    return message_of<std::domain_error>([&] { (void)fit_sparse_integer_gaussian(alpha, counts); });
  };
  EXPECT_EQ(message(kInf, counts_with_mean(1.5)),
            "fenchel::fit_sparse_integer_gaussian: alpha must be finite and greater than 1/3, got inf");
  EXPECT_EQ(
      message(2, CountHistogram()),
      "fenchel::fit_sparse_integer_gaussian: the weight of all rows must be positive and finite, got 0");
  EXPECT_EQ(
      message(2, counts_with_mean(1.5)),
      "fenchel::fit_sparse_integer_gaussian: the largest less the least value must be at least 2 for the "
      "variance to say something about sigma2, got 1");
  EXPECT_EQ(message(1e6, CountHistogram::of(std::vector{0., 1., 20.})),
            "fenchel::fit_sparse_integer_gaussian: sigma2 must be positive and finite, got inf");
  const std::string wide = message(1, CountHistogram::of(std::vector{0., 1e9}));
  EXPECT_EQ(
      wide.substr(0, wide.find(", got")),
      "fenchel::sparse_integer_gaussian: sigma2 must leave at most 33554432 integers with a probability "
      "above 1e-304");
}

TEST(FitSparsePoisson, MatchesTheMeanBelowAlphaOne) {
  for (const double alpha : {0.55, 0.7, 0.9, 1 - 1e-8, std::nextafter(1.0, 0.0)}) {
    for (const double wanted : {0.3, 3.5, 40.0}) {
      const auto fit = fit_sparse_poisson(alpha, counts_with_mean(wanted));
      EXPECT_NEAR(mean(fit.distribution), wanted, 1e-11 * wanted) << alpha << ' ' << wanted;
      EXPECT_LT(fit.parameters[0], wanted * (1 + 1e-12));
      EXPECT_EQ(std::isinf(fit.covariance(0, 0)), alpha < 0.6) << alpha;
    }
  }
  EXPECT_NEAR(fit_sparse_poisson(std::nextafter(1.0, 0.0), counts_with_mean(3.5)).parameters[0], 3.5, 1e-12);
}

TEST(FitSparsePoisson, FindsTheAlphaOfDraws) {
  for (const double alpha : {0.8, 1.0, 1.2, 1.6}) {
    SCOPED_TRACE(alpha);
    const auto fit = fit_sparse_poisson(drawn_counts(SparsePoisson(alpha, 4.3), 20000, 5));
    EXPECT_EQ(fit.names, (std::vector<std::string>{"alpha", "mu"}));
    EXPECT_EQ(fit.distribution, SparsePoisson(fit.parameters[0], fit.parameters[1]));
    EXPECT_NEAR(fit.parameters[0], alpha, 4 * fit.standard_errors()[0]);
    EXPECT_NEAR(fit.parameters[1], 4.3, 4 * fit.standard_errors()[1]);
    EXPECT_LT(fit.standard_errors().maxCoeff(), 0.1);
  }
}

/// Standard errors are those of repeated draws.
TEST(FitSparsePoisson, TheErrorOfAlphaIsThatOfRepeatedDraws) {
  constexpr int kTrials = 24;
  for (const double alpha : {0.85, 1.2}) {
    SCOPED_TRACE(alpha);
    const SparsePoisson p(alpha, 5);
    double squares = 0, error = 0;
    for (int k = 0; k < kTrials; ++k) {
      const auto fit = fit_sparse_poisson(drawn_counts(p, 500, static_cast<std::uint64_t>(k)));
      squares += std::pow(fit.parameters[0] - alpha, 2), error += fit.standard_errors()[0];
    }
    EXPECT_NEAR(std::sqrt(squares / kTrials) / (error / kTrials), 1, 0.45);
  }
}

TEST(FitSparsePoisson, WithoutAnAlphaThatCanBeEstimatedItSaysSo) {
  const auto message = [](const CountHistogram& counts) {
    return message_of<std::domain_error>([&] { (void)fit_sparse_poisson(counts); });
  };
  EXPECT_NE(message(CountHistogram::of(std::vector<double>{3, 3, 3})).find("the counts vary too little"),
            std::string::npos);
  EXPECT_NE(message(CountHistogram::of(std::vector<double>{0, 0, 0, 0, 0, 0, 0, 1e4})).find("vary too much"),
            std::string::npos);
}

TEST(FitSparseIntegerGaussian, FindsTheAlphaOfDraws) {
  for (const double alpha : {0.8, 1.0, 1.4}) {
    SCOPED_TRACE(alpha);
    const auto fit = fit_sparse_integer_gaussian(drawn_counts(SparseIntegerGaussian(alpha, 2.3, 9), 5000, 5));
    const Eigen::VectorXd errors = fit.standard_errors();
    EXPECT_NEAR(fit.parameters[0], alpha, 4 * errors[0]);
    EXPECT_NEAR(fit.parameters[1], 2.3, 4 * errors[1]);
    EXPECT_NEAR(fit.parameters[2], 9, 4 * errors[2]);
    EXPECT_LT(errors[0], 0.1);
  }
}

TEST(FitSparseIntegerGaussian, MatchesMomentsBelowAlphaOne) {
  const CountHistogram counts = drawn_counts(SparseIntegerGaussian(0.8, -1.2, 6), 500, 3);
  for (const double alpha : {0.5, 0.7, 0.9, std::nextafter(1.0, 0.0)}) {
    const auto fit = fit_sparse_integer_gaussian(alpha, counts);
    EXPECT_NEAR(mean(fit.distribution), counts.mean(), 1e-8) << alpha;
    EXPECT_NEAR(variance(fit.distribution), counts.variance(), 1e-7 * counts.variance()) << alpha;
  }
}

}  // namespace
}  // namespace fenchel
