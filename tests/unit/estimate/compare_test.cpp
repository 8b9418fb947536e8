#include "fenchel/estimate/goodness/compare.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "fenchel/core/parallel.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/data/rows_source.hpp"
#include "fenchel/estimate/fit/beta_gaussian.hpp"
#include "fenchel/estimate/fit/beta_laplace.hpp"
#include "fenchel/estimate/fit/sparse_poisson.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf, testing::message_of;

Rows<const double> column(const std::vector<double>& values) {
  return {values.data(), static_cast<index_t>(values.size()), 1};
}

Candidate beta_gaussian(const std::string& name, double alpha) {
  return candidate(name, [alpha](const LineMoments& moments) { return fit_beta_gaussian(alpha, moments); });
}
Candidate laplace() {
  return candidate("laplace", [](const Data& data) { return fit_beta_laplace(1, data); });
}
const std::vector<Candidate> kThree{beta_gaussian("gaussian", 1), beta_gaussian("biweight", 1.5), laplace()};

/// The scores of one family by hand: fits to the values of the other folds, and their mean and spread.
struct ByHand {
  std::vector<double> ranked, logs;
};
template <class Fit>
ByHand by_hand(const std::vector<double>& values, index_t folds, std::uint64_t seed, const Fit& fit) {
  std::vector<index_t> fold;
  Philox rng(seed, 0);
  for (std::size_t i = 0; i < values.size(); ++i)
    fold.push_back(static_cast<index_t>((rng() >> 32) * static_cast<std::uint64_t>(folds) >> 32));
  ByHand found{std::vector<double>(values.size()), std::vector<double>(values.size())};
  for (index_t f = 0; f < folds; ++f) {
    std::vector<double> others;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (fold[i] != f) others.push_back(values[i]);
    const auto p = fit(others);
    const RankedScore score = ranked_score(p);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (fold[i] != f) continue;
      found.ranked[i] = score(values[i]);
      found.logs[i] = log_pdf(p, values[i]);
    }
  }
  return found;
}
double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double x : values) sum += x;
  return sum / static_cast<double>(values.size());
}
ScoreDifference difference_of(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> apart, squares;
  for (std::size_t i = 0; i < a.size(); ++i) apart.push_back(a[i] - b[i]);
  const double mean = mean_of(apart);
  for (const double d : apart) squares.push_back((d - mean) * (d - mean));
  return {mean, std::sqrt(mean_of(squares) / static_cast<double>(a.size()))};
}

TEST(Compare, IsCrossValidationByHand) {
  const std::vector<double> values = sample(BetaGaussian::gaussian(3, 2), 700, 5);
  const Comparison found = compare(kThree, {RowsSource(column(values))}, {.folds = 5, .seed = 9});
  const auto gaussian = by_hand(values, 5, 9, [](const std::vector<double>& others) {
    return fit_beta_gaussian(1, LineMoments::of(others)).distribution;
  });
  const auto exponential = by_hand(values, 5, 9, [](const std::vector<double>& others) {
    return fit_beta_laplace(1, {RowsSource(column(others))}).distribution;
  });
  ASSERT_EQ(found.scores.size(), 3U);
  EXPECT_EQ(found.weight, 700);
  EXPECT_EQ(found.scores[0].name, "gaussian");
  EXPECT_NEAR(found.scores[0].crps, mean_of(gaussian.ranked), 1e-13);
  EXPECT_NEAR(found.scores[0].log_score, mean_of(gaussian.logs), 1e-13);
  EXPECT_EQ(found.scores[0].crps_difference.value, 0);
  EXPECT_EQ(found.scores[0].crps_difference.standard_error, 0);
  const HeldOutScore& last = found.scores[2];
  EXPECT_EQ(last.name, "laplace");
  const ScoreDifference ranked = difference_of(exponential.ranked, gaussian.ranked),
                        logs = difference_of(exponential.logs, gaussian.logs);
  EXPECT_NEAR(last.crps_difference.value, ranked.value, 1e-13);
  EXPECT_NEAR(last.crps_difference.standard_error, ranked.standard_error, 1e-12);
  EXPECT_NEAR(last.log_difference.value, logs.value, 1e-13);
  EXPECT_NEAR(last.log_difference.standard_error, logs.standard_error, 1e-12);
}

TEST(Compare, FindsTheFamilyOfManyDraws) {
  const std::vector<double> bounded = sample(BetaGaussian::truncated_parabola(0, 1), 20'000, 5);
  const std::vector<Candidate> four{beta_gaussian("gaussian", 1), beta_gaussian("biweight", 1.5),
                                    beta_gaussian("parabola", 2), laplace()};
  const Comparison found = compare(four, {RowsSource(column(bounded))});
  EXPECT_EQ(found.scores[0].name, "parabola");
  EXPECT_EQ(found.scores[3].name, "laplace");
  EXPECT_TRUE(found.scores[0].close);
  EXPECT_FALSE(found.scores[3].close);
  EXPECT_GT(found.scores[3].crps_difference.value, 5 * found.scores[3].crps_difference.standard_error);
}

TEST(Compare, LogScoresAreBehindTheLargestOne) {
  std::vector<double> values = sample(BetaGaussian::truncated_parabola(0, 1), 3000, 5);
  values.push_back(1.3);  // outside of the parabola that has the moments of the data
  const Comparison found =
      compare({beta_gaussian("gaussian", 1), beta_gaussian("parabola", 2)}, {RowsSource(column(values))});
  EXPECT_EQ(found.scores[0].name, "parabola");
  EXPECT_EQ(found.scores[0].log_score, -kInf);
  EXPECT_TRUE(std::isnan(found.scores[0].log_difference.value));
  EXPECT_EQ(found.scores[1].log_difference.value, 0);
}

TEST(Compare, RowsOutsideMakeTheLogScoreInfinite) {
  const std::vector<double> values = sample(BetaGaussian::gaussian(0, 1), 2000, 1);
  const Comparison found = compare(kThree, {RowsSource(column(values))});
  for (const HeldOutScore& score : found.scores) {
    EXPECT_EQ(score.outside > 0, score.name == "biweight");
    EXPECT_EQ(score.log_score == -kInf, score.name == "biweight");
    EXPECT_EQ(std::isnan(score.log_difference.value), score.name == "biweight");
    EXPECT_GT(score.crps, 0);
  }
}

TEST(Compare, DoesNotDependOnThreads) {
  const std::vector<double> values = sample(BetaGaussian::gaussian(0, 1), 30'000, 1);
  const RowsSource source(column(values));
  set_num_threads(1);
  const Comparison one = compare(kThree, {source}, {.folds = 3});
  set_num_threads(3);
  const Comparison three = compare(kThree, {source}, {.folds = 3});
  set_num_threads(0);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(one.scores[k].crps, three.scores[k].crps);
    EXPECT_EQ(one.scores[k].log_score, three.scores[k].log_score);
    EXPECT_EQ(one.scores[k].crps_difference.standard_error, three.scores[k].crps_difference.standard_error);
  }
}

TEST(Compare, CountsWithWeights) {
  const std::vector<double> values{0, 1, 2, 3, 4, 5, 6}, weights{40, 90, 110, 80, 50, 20, 10};
  std::vector<double> rows, of_rows;
  for (int k = 0; k < 30; ++k) {
    rows.insert(rows.end(), values.begin(), values.end());
    of_rows.insert(of_rows.end(), weights.begin(), weights.end());
  }
  const auto poisson = [](double alpha) {
    return [alpha](const CountHistogram& counts) { return fit_sparse_poisson(alpha, counts); };
  };
  const Comparison found = compare({candidate("wide", poisson(1)), candidate("narrow", poisson(2))},
                                   {RowsSource(column(rows), of_rows)}, {.folds = 4});
  EXPECT_EQ(found.weight, 30 * 400);
  EXPECT_EQ(found.scores[0].name, "wide");
  EXPECT_GT(found.scores[1].outside, 0);
}

TEST(Compare, AFamilyWithoutAFitIsSaid) {
  const std::vector<double> values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  std::vector<Candidate> candidates{beta_gaussian("gaussian", 1)};
  candidates.push_back(candidate("never", [](const LineMoments& moments) {
    return moments.weight() > 1e9 ? fit_beta_gaussian(1, moments) : fit_beta_gaussian(0.1, moments);
  }));
  const Comparison found = compare(candidates, {RowsSource(column(values))}, {.folds = 2});
  EXPECT_EQ(found.scores[1].name, "never");
  EXPECT_TRUE(std::isnan(found.scores[1].crps));
  EXPECT_NE(found.scores[1].failure.find("alpha"), std::string::npos);
}

TEST(Compare, SaysWhatItCannotDo) {
  const std::vector<double> values{1, 2, 3, 4}, bad{1, 2, std::nan(""), 4};
  const RowsSource source(column(values));
  const auto refused = [&](const std::vector<Candidate>& candidates, index_t folds) {
    return message_of<std::invalid_argument>(
        [&] { static_cast<void>(compare(candidates, {source}, {.folds = folds})); });
  };
  EXPECT_EQ(refused({}, 5), "fenchel::compare: candidates must not be empty, got none");
  EXPECT_EQ(refused(kThree, 1), "fenchel::compare: folds must be at least 2 and at most 2^20, got 1");
  const Candidate counts =
      candidate("counts", [](const CountHistogram& of) { return fit_sparse_poisson(1, of); });
  EXPECT_EQ(refused({laplace(), counts}, 5),
            "fenchel::compare: candidates must all be of counts, or all of numbers, got laplace and counts");
  EXPECT_EQ(message_of<DataError>([&] { static_cast<void>(compare(kThree, {RowsSource(column(bad))})); }),
            "row 2, column 0: value must be finite, got nan");
}

}  // namespace
}  // namespace fenchel
