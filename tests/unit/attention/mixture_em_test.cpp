#include "fenchel/attention/mixture_em.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "fenchel/core/philox.hpp"
#include "fenchel/core/variates.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::kNaN;
using testing::message_of;

struct Weighted {
  std::vector<double> positions, weights;
};

/// Positions evenly spaced, weighted by a density.
template <class P>
Weighted on_grid(const P& p, double lower, double upper, int count) {
  Weighted points;
  for (int i = 0; i < count; ++i) {
    points.positions.push_back(lower + (upper - lower) * i / (count - 1));
    points.weights.push_back(pdf(p, points.positions.back()));
  }
  return points;
}

Mixture<BetaGaussian> three_peaks() {
  return {{0.2, 0.5, 0.3}, {BetaGaussian(1, -4, 0.25), BetaGaussian(1, 0, 0.49), BetaGaussian(1, 6, 1)}};
}

/// Unequal weights at uneven positions: nothing that fits well.
Weighted ragged() {
  Weighted points;
  for (int i = 0; i < 60; ++i) {
    points.positions.push_back(std::sin(i * 1.7) * (1 + 0.05 * i) + (i % 3));
    points.weights.push_back(1 + std::cos(i * 0.9));
  }
  return points;
}

double mean_of(const Weighted& x) {
  return std::inner_product(x.weights.begin(), x.weights.end(), x.positions.begin(), 0.0) /
         std::accumulate(x.weights.begin(), x.weights.end(), 0.0);
}
double variance_of(const Weighted& x) {
  double sum = 0, total = 0;
  for (std::size_t i = 0; i < x.weights.size(); ++i) {
    sum += x.weights[i] * std::pow(x.positions[i] - mean_of(x), 2);
    total += x.weights[i];
  }
  return sum / total;
}

/// Component numbers by rising mean.
std::vector<std::size_t> by_mean(const Mixture<BetaGaussian>& p) {
  std::vector<std::size_t> order(static_cast<std::size_t>(p.size()));
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&p](std::size_t a, std::size_t b) { return mean(p.components()[a]) < mean(p.components()[b]); });
  return order;
}

TEST(FitMixture, OneComponentMatchesTheMoments) {
  const Weighted points = ragged();
  for (const double alpha : {0.8, 1.0, 1 + 0x1p-52, 1 + 1e-8, 4. / 3, 1.5, 2.0, 5.0, kInf}) {
    const auto fit = fit_mixture(alpha, points.positions, points.weights, 1);
    const BetaGaussian& p = fit.mixture.components()[0];
    EXPECT_EQ(p.alpha(), alpha);
    EXPECT_NEAR(mean(p), mean_of(points), 1e-15);
    EXPECT_NEAR(variance(p), variance_of(points), 1e-13);
    EXPECT_EQ(fit.mixture.weights()[0], 1);
    EXPECT_TRUE(fit.converged);
    EXPECT_EQ(fit.iterations, 1);
  }
}

TEST(FitMixture, FindsComponentsThatAreApart) {
  const Mixture<BetaGaussian> truth = three_peaks();
  const Weighted points = on_grid(truth, -8, 12, 401);
  const auto fit = fit_mixture(1, points.positions, points.weights, 3);
  ASSERT_TRUE(fit.converged);
  const auto order = by_mean(fit.mixture);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(fit.mixture.weights()[order[k]], truth.weights()[k], 1e-4);
    EXPECT_NEAR(mean(fit.mixture.components()[order[k]]), mean(truth.components()[k]), 1e-3);
    EXPECT_NEAR(variance(fit.mixture.components()[order[k]]), variance(truth.components()[k]), 1e-3);
  }
  EXPECT_NEAR(fit.log_likelihood, -entropy(truth), 1e-6) << "the truth's own, on a fine grid";
}

TEST(FitMixture, FindsBoundedComponents) {  // by their moments, whatever alpha they have
  const Mixture<BetaGaussian> truth(
      {0.4, 0.6}, {BetaGaussian::from_half_width(2, 0.25, 0.1), BetaGaussian::from_half_width(2, 0.7, 0.2)});
  const Weighted points = on_grid(truth, 0, 1, 500);
  const auto fit = fit_mixture(2, points.positions, points.weights, 2);
  const auto order = by_mean(fit.mixture);
  for (std::size_t k = 0; k < 2; ++k) {
    const BetaGaussian &found = fit.mixture.components()[order[k]], &given = truth.components()[k];
    EXPECT_NEAR(fit.mixture.weights()[order[k]], truth.weights()[k], 1e-3);
    EXPECT_NEAR(mean(found), mean(given), 1e-3);
    EXPECT_NEAR(found.half_width(), given.half_width(), 3e-3);
  }
}

TEST(FitMixture, IsTheSameForEveryAlphaUpToTheFamily) {
  const Weighted points = ragged();
  const auto gaussian = fit_mixture(1, points.positions, points.weights, 3);
  for (const double alpha : {0.5, 1 + 1e-8, 4. / 3, 2.0, 5.0, kInf}) {
    const auto fit = fit_mixture(alpha, points.positions, points.weights, 3);
    EXPECT_EQ(fit.log_likelihood, gaussian.log_likelihood);
    EXPECT_EQ(fit.iterations, gaussian.iterations);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(fit.mixture.weights()[k], gaussian.mixture.weights()[k]);
      EXPECT_NEAR(mean(fit.mixture.components()[k]), mean(gaussian.mixture.components()[k]), 1e-14);
      EXPECT_NEAR(variance(fit.mixture.components()[k]) / variance(gaussian.mixture.components()[k]), 1,
                  1e-12)
          << alpha;
    }
  }
}

TEST(FitMixture, LikelihoodNeverFalls) {
  const Weighted points = ragged();
  for (const std::optional<double> floor :
       {std::optional<double>(), std::optional(0.05), std::optional(0.5)}) {
    for (const index_t size : {2, 3, 5}) {
      double last = -kInf;
      for (index_t steps = 0; steps < 60; ++steps) {
        const auto fit = fit_mixture(1, points.positions, points.weights, size,
                                     {.variance_floor = floor, .tolerance = 0, .max_iterations = steps});
        EXPECT_GE(fit.log_likelihood, last - 1e-14) << floor.value_or(0) << " " << size << " " << steps;
        last = fit.log_likelihood;
      }
    }
  }
}

TEST(FitMixture, LogLikelihoodIsThatOfTheGaussianMixture) {
  const Weighted points = ragged();
  const auto fit = fit_mixture(1, points.positions, points.weights, 3);
  double sum = 0, total = 0;
  for (std::size_t i = 0; i < points.weights.size(); ++i) {
    sum += points.weights[i] * log_pdf(fit.mixture, points.positions[i]);
    total += points.weights[i];
  }
  EXPECT_NEAR(fit.log_likelihood, sum / total, 1e-13);
  EXPECT_NEAR(fit.criterion, -2 * 60 * fit.log_likelihood + 8 * std::log(60.0), 1e-10);
  const auto aic = fit_mixture(1, points.positions, points.weights, 3,
                               {.criterion = MixtureCriterion::aic, .observations = 7});
  EXPECT_NEAR(aic.criterion, -2 * 7 * fit.log_likelihood + 8 * 2, 1e-10);
}

TEST(FitMixture, KeepsTheMomentsOfThePoints) {
  const Weighted points = ragged();
  for (const index_t size : {1, 2, 4}) {
    for (const double alpha : {1.0, 2.0, 5.0}) {
      const auto fit = fit_mixture(alpha, points.positions, points.weights, size);
      EXPECT_NEAR(mean(fit.mixture), mean_of(points), 1e-13);
      EXPECT_NEAR(variance(fit.mixture), variance_of(points), 1e-12);
    }
  }
}

TEST(FitMixture, AffineMapsOfThePositionsMapTheFit) {
  const Weighted points = ragged();
  const double shift = 1e3, factor = -1e-3;
  Weighted moved = points;
  for (double& t : moved.positions) t = shift + factor * t;
  for (double& w : moved.weights) w *= 17;
  for (const index_t size : {2, 3}) {
    const auto fit = fit_mixture(2, points.positions, points.weights, size);
    const auto other = fit_mixture(2, moved.positions, moved.weights, size);
    EXPECT_NEAR(other.log_likelihood, fit.log_likelihood - std::log(std::abs(factor)), 1e-8);
    for (std::size_t k = 0; k < static_cast<std::size_t>(size); ++k) {
      const BetaGaussian &p = fit.mixture.components()[k], &q = other.mixture.components()[k];
      EXPECT_NEAR(mean(q), shift + factor * mean(p), 1e-6 * std::abs(factor));
      EXPECT_NEAR(variance(q) / variance(p), factor * factor, 1e-6 * factor * factor);
      EXPECT_NEAR(other.mixture.weights()[k], fit.mixture.weights()[k], 1e-6);
    }
  }
}

TEST(FitMixture, PointsWithoutWeightChangeNothing) {
  Weighted points = ragged();
  const auto fit = fit_mixture(2, points.positions, points.weights, 2);
  points.positions.insert(points.positions.begin(), 1e6);
  points.weights.insert(points.weights.begin(), 0);
  const auto other = fit_mixture(2, points.positions, points.weights, 2);
  EXPECT_EQ(fit.mixture.components()[0], other.mixture.components()[0]);
  EXPECT_EQ(fit.criterion, other.criterion);
}

TEST(FitMixture, VariancesStayAboveTheFloor) {
  const std::vector<double> positions{0, 1, 5}, weights{0.5, 0.25, 0.25};
  const auto fit = fit_mixture(2, positions, weights, 3);  // a component for each point
  const double whole = variance_of({positions, weights});
  for (std::size_t k = 0; k < 3; ++k)
    EXPECT_NEAR(variance(fit.mixture.components()[k]), kRelativeVarianceFloor * whole, 1e-12 * whole);
  const auto given = fit_mixture(2, positions, weights, 2, {.variance_floor = 0.1});
  for (const BetaGaussian& c : given.mixture.components()) EXPECT_GE(variance(c), 0.1 * (1 - 1e-14));
  const std::vector<double> one{3, 3}, halves{0.5, 0.5};
  const auto atom = fit_mixture(2, one, halves, 1, {.variance_floor = 0.01});
  EXPECT_NEAR(variance(atom.mixture.components()[0]), 0.01, 1e-15);
  EXPECT_EQ(mean(atom.mixture), 3);
}

TEST(FitMixture, ComponentsWithoutPointsAreLeftOut) {
  Weighted points{{0}, {1}};  // of so many points only those that hold 1/512 of the weight may start one
  for (int i = 1; i <= 1000; ++i) {
    points.positions.push_back(i);
    points.weights.push_back(1e-9);
  }
  const auto fit = fit_mixture(2, points.positions, points.weights, 3);
  EXPECT_EQ(fit.mixture.size(), 1);
  EXPECT_NEAR(variance(fit.mixture) / variance_of(points), 1, 1e-12);
}

TEST(FitMixture, ManyPointsStartFromAFewOfThem) {
  const Mixture<BetaGaussian> truth = three_peaks();
  const Weighted points = on_grid(truth, -8, 12, 5001);
  const auto fit = fit_mixture(1, points.positions, points.weights, 3);
  const auto order = by_mean(fit.mixture);
  for (std::size_t k = 0; k < 3; ++k)
    EXPECT_NEAR(mean(fit.mixture.components()[order[k]]), mean(truth.components()[k]), 1e-3);
}

/// Five components on [0, 1] at least 0.12 apart, each with a deviation of at most 0.03.
Mixture<BetaGaussian> random_peaks(Philox& rng) {
  std::vector<double> weights, means;
  std::vector<BetaGaussian> components;
  while (means.size() < 5) {
    const double mu = uniform01(rng);
    if (std::any_of(means.begin(), means.end(), [mu](double m) { return std::abs(m - mu) < 0.12; })) continue;
    means.push_back(mu);
    weights.push_back(0.1 + uniform01(rng));
    components.emplace_back(1, mu, 9e-4 * (0.3 + 0.7 * uniform01(rng)));
  }
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& w : weights) w /= total;
  return {weights, components};
}

TEST(FitMixture, StartsWellEnoughToBeatTheTruth) {
  Philox rng(5);
  const std::vector<double> weights(400, 1.0);
  for (std::uint64_t trial = 0; trial < 30; ++trial) {
    const Mixture<BetaGaussian> truth = random_peaks(rng);
    const std::vector<double> draws = sample(truth, 400, trial);
    double likelihood = 0;
    for (const double t : draws) likelihood += log_pdf(truth, t) / 400;
    EXPECT_GT(fit_mixture(1, draws, weights, 5).log_likelihood, likelihood) << trial;
  }
}

TEST(ChooseMixture, FindsTheNumberInClearCases) {
  const Mixture<BetaGaussian> one({1}, {BetaGaussian(1, 0.5, 0.01)});
  const Mixture<BetaGaussian> two({0.5, 0.5}, {BetaGaussian(1, 0.2, 0.004), BetaGaussian(1, 0.8, 0.002)});
  for (const auto criterion : {MixtureCriterion::bic, MixtureCriterion::aic}) {
    const MixtureFitOptions options{.criterion = criterion};
    const Weighted first = on_grid(one, 0, 1, 100), second = on_grid(two, 0, 1, 100),
                   third = on_grid(three_peaks(), -8, 12, 100);
    EXPECT_EQ(choose_mixture(2, first.positions, first.weights, 6, options).mixture.size(), 1);
    EXPECT_EQ(choose_mixture(2, second.positions, second.weights, 6, options).mixture.size(), 2);
    EXPECT_EQ(choose_mixture(2, third.positions, third.weights, 6, options).mixture.size(), 3);
  }
}

TEST(ChooseMixture, HasTheLeastCriterion) {
  const Weighted points = ragged();
  const auto chosen = choose_mixture(1.5, points.positions, points.weights, 5);
  double least = kInf;
  for (index_t size = 1; size <= 5; ++size)
    least = std::min(least, fit_mixture(1.5, points.positions, points.weights, size).criterion);
  EXPECT_EQ(chosen.criterion, least);
  const std::vector<double> two{0, 1}, halves{0.5, 0.5};
  EXPECT_LE(choose_mixture(2, two, halves, 9).mixture.size(), 2) << "no more than distinct points";
  EXPECT_EQ(choose_mixture(1.5, points.positions, points.weights, 5, {.observations = 2}).mixture.size(), 1)
      << "few observations, few components";
}

template <class Error>
std::string message(std::vector<double> positions, std::vector<double> weights, index_t components,
                    const MixtureFitOptions& options = {}, double alpha = 2) {
  return message_of<Error>(
      [&] { static_cast<void>(fit_mixture(alpha, positions, weights, components, options)); });
}

TEST(FitMixture, BadInput) {
  using Domain = std::domain_error;
  using Argument = std::invalid_argument;
  EXPECT_EQ(message<Argument>({0, 1}, {1}, 1),
            "fenchel::fit_mixture: weights.size() must be the number of positions 2, got 1");
  EXPECT_EQ(message<Domain>({0, 1}, {1, -1}, 1),
            "fenchel::fit_mixture: weights[1] must be finite and not negative, got -1");
  EXPECT_EQ(message<Domain>({0, 1}, {1, kNaN}, 1),
            "fenchel::fit_mixture: weights[1] must be finite and not negative, got nan");
  EXPECT_EQ(message<Domain>({0, 1}, {0, 0}, 1),
            "fenchel::fit_mixture: the sum of weights must be positive and finite, got 0");
  EXPECT_EQ(message<Domain>({}, {}, 1),
            "fenchel::fit_mixture: the sum of weights must be positive and finite, got 0");
  EXPECT_EQ(message<Domain>({0, kInf}, {1, 1}, 1),
            "fenchel::fit_mixture: positions[1] must be finite, got inf");
  EXPECT_EQ(
      message<Argument>({0, 1, 1, 2}, {1, 1, 1, 0}, 3),
      "fenchel::fit_mixture: components must be from 1 to 2, the number of distinct positions with positive "
      "weight, got 3");
  EXPECT_EQ(
      message<Argument>({0, 1}, {1, 1}, 0),
      "fenchel::fit_mixture: components must be from 1 to 2, the number of distinct positions with positive "
      "weight, got 0");
  EXPECT_EQ(message<Domain>({1, 1}, {1, 1}, 1),
            "fenchel::fit_mixture: the variance of the positions must be positive unless a variance_floor "
            "is given, got 0");
  EXPECT_EQ(message<Domain>({0, 1e200}, {1, 1}, 1, {.variance_floor = 1}),
            "fenchel::fit_mixture: the variance of the positions must be finite, got inf");
  EXPECT_EQ(message<Domain>({0, 1}, {1, 1}, 1, {.variance_floor = -1}),
            "fenchel::fit_mixture: variance_floor must be positive and finite, got -1");
  EXPECT_EQ(message<Domain>({0, 1}, {1, 1}, 1, {.observations = -1}),
            "fenchel::fit_mixture: observations must be positive and finite, got -1");
  EXPECT_EQ(message<Domain>({0, 1}, {1, 1}, 1, {.tolerance = kNaN}),
            "fenchel::fit_mixture: tolerance must be finite and not negative, got nan");
  EXPECT_EQ(message<Argument>({0, 1}, {1, 1}, 1, {.max_iterations = -1}),
            "fenchel::fit_mixture: max_iterations must not be negative, got -1");
  EXPECT_EQ(message<Domain>({0, 1}, {1, 1}, 1, {}, 0.25),
            "fenchel::beta_gaussian: alpha must be above 1/3 for a finite variance, got 0.25");
  EXPECT_EQ(message_of<Argument>([] {
              static_cast<void>(choose_mixture(2, std::vector<double>{0, 1}, std::vector<double>{1, 1}, 0));
            }),
            "fenchel::choose_mixture: max_components must be positive, got 0");
}

}  // namespace
}  // namespace fenchel
