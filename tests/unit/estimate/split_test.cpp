#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "fenchel/estimate/statistics/absolute_moments.hpp"
#include "fenchel/estimate/statistics/count_histogram.hpp"
#include "fenchel/estimate/statistics/line_moments.hpp"
#include "fenchel/estimate/statistics/moments.hpp"
#include "fenchel/estimate/statistics/phi_moments.hpp"
#include "fenchel/estimate/statistics/radial_moments.hpp"
#include "support/column.hpp"
#include "support/quad.hpp"

namespace fenchel {
namespace {

using testing::column;
using testing::Quad;

constexpr double kSplitError = 1e-13;

struct Sample {
  std::string name;
  std::vector<double> values, weights;
};

/// What sums find hard.
std::vector<Sample> hostile_samples(std::size_t n) {
  std::mt19937_64 generator(7);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Sample> samples(10);
  const char* names[] = {"far",      "farther",      "an ulp apart", "outlier", "alternating",
                         "drifting", "wild weights", "constant",     "cauchy",  "light outlier"};
  for (std::size_t k = 0; k < samples.size(); ++k) samples[k].name = names[k];
  for (std::size_t i = 0; i < n; ++i) {
    const double z = normal(generator), sign = i % 2 == 0 ? 1 : -1, place = static_cast<double>(i);
    const double rows[] = {1e8 + z,
                           1e14 + z,
                           1e16 + 2 * std::floor(1.2 * z),
                           i == n / 3 ? 1e30 : z,
                           sign * (1e10 + z),
                           1e6 * place + z,
                           z * z + 100,
                           0.1,
                           z / uniform(generator),
                           i == 0 ? 1e30 : z};
    for (std::size_t k = 0; k < samples.size(); ++k) {
      samples[k].values.push_back(rows[k]);
      samples[k].weights.push_back(k == 6   ? std::pow(10, 10 * uniform(generator))
                                   : k == 7 ? 0.3
                                   : k == 9 ? (i == 0 ? 1e-10 : 1e10)
                                            : 1.0);
    }
  }
  return samples;
}

Quad power(Quad x, int n) { return n == 0 ? Quad{1} : x * power(x, n - 1); }
Quad absolute(Quad x) { return x < 0 ? -x : x; }

/// The largest of the errors of weight, mean and central moments, each relative to the mean of the absolute
/// terms; n-th moments of samples whose n-th powers overflow nothing.
double error_of(const LineMoments& got, const Sample& sample) {
  const std::size_t n = sample.values.size();
  Quad weight = 0, first = 0, size = 0;
  for (std::size_t i = 0; i < n; ++i) {
    weight += sample.weights[i];
    first += Quad{sample.weights[i]} * sample.values[i];
    size += absolute(Quad{sample.weights[i]} * sample.values[i]);
  }
  const Quad mean = first / weight;
  const auto off = [](double x, Quad exact, Quad scale) {
    return scale == 0 ? std::abs(x) : static_cast<double>(absolute(x - exact) / scale);
  };
  double worst = std::max(off(got.weight(), weight, weight), off(got.mean(), mean, size / weight));
  for (int k = 2; k <= 4; ++k) {
    Quad moment = 0, terms = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const Quad term = Quad{sample.weights[i]} * power(sample.values[i] - mean, k);
      moment += term;
      terms += absolute(term);
    }
    // A constant column has a mean that quadruple precision does not have, too.
    if (sample.name == "constant") moment = terms = 0;
    worst = std::max(worst, off(got.central_moment(k), moment / weight, terms / weight));
  }
  return worst;
}

/// update in batches that begin where random cuts are, merged by a random tree.
template <class S>
S in_pieces(const S& empty, Rows<const double> rows, std::span<const double> weights, unsigned seed,
            index_t cuts) {
  std::mt19937 generator(seed);
  std::vector<index_t> at{0, rows.rows};
  std::uniform_int_distribution<index_t> place(0, rows.rows);
  for (index_t k = 0; k < cuts; ++k) at.push_back(place(generator));
  std::sort(at.begin(), at.end());
  std::vector<S> parts;
  for (std::size_t k = 0; k + 1 < at.size(); ++k) {
    const index_t begin = at[k], count = at[k + 1] - at[k];
    parts.push_back(empty);
    parts.back().update({rows.row(begin), count, rows.cols, rows.stride},
                        weights.empty() ? PerRow(1.0)
                                        : PerRow(weights.subspan(static_cast<std::size_t>(begin),
                                                                 static_cast<std::size_t>(count))));
  }
  while (parts.size() > 1) {
    const std::size_t k = generator() % (parts.size() - 1);
    parts[k].merge_bytes(parts[k + 1].to_bytes());
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(k) + 1);
  }
  return parts[0];
}

TEST(Split, LineMomentsAreExactHoweverTheDataIsCut) {
  for (const Sample& sample : hostile_samples(9000)) {
    double worst = error_of(LineMoments::of(sample.values, sample.weights), sample);
    for (unsigned seed = 0; seed < 6; ++seed) {
      const index_t cuts = std::vector<index_t>{1, 3, 10, 100, 500, 1000}[seed];
      const LineMoments cut = in_pieces(LineMoments(), column(sample.values), sample.weights, seed, cuts);
      worst = std::max(worst, error_of(cut, sample));
    }
    RecordProperty(sample.name, std::to_string(worst * 1e15) + "e-15");
    EXPECT_LT(worst, kSplitError / 10) << sample.name;
  }
}

TEST(Split, AMillionBatchesOfOneRow) {
  std::mt19937_64 generator(3);
  std::normal_distribution<double> normal(1e9, 1);
  std::vector<double> values(1'000'000);
  for (double& x : values) x = normal(generator);
  const LineMoments whole = LineMoments::of(values);
  LineMoments rows;
  for (const double& x : values) rows.update({&x, 1, 1});
  EXPECT_EQ(rows.weight(), whole.weight());
  EXPECT_NEAR(rows.mean() / whole.mean(), 1, 3e-16);
  EXPECT_NEAR(rows.variance() / whole.variance(), 1, kSplitError);
  EXPECT_NEAR(rows.central_moment(3), whole.central_moment(3), kSplitError);
  EXPECT_NEAR(rows.central_moment(4) / whole.central_moment(4), 1, kSplitError);
  EXPECT_EQ(rows.minimum(), whole.minimum());
  EXPECT_EQ(rows.maximum(), whole.maximum());
}

TEST(Split, MomentsOfRowsAgreeWithTheirColumnsAndDoNotDependOnCuts) {
  const auto samples = hostile_samples(6000);
  std::vector<double> table;
  for (std::size_t i = 0; i < 6000; ++i) {
    for (const Sample& sample : samples) table.push_back(sample.values[i]);
  }
  const auto columns = static_cast<index_t>(samples.size());
  const Rows<const double> rows(table.data(), 6000, columns);
  const std::vector<double>& weights = samples[6].weights;
  const Moments whole = Moments::of(rows, weights);
  const Eigen::MatrixXd covariance = whole.covariance();
  for (index_t j = 0; j < columns; ++j) {
    const LineMoments line = LineMoments::of(samples[static_cast<std::size_t>(j)].values, weights);
    EXPECT_NEAR(whole.mean()[j], line.mean(),
                1e-13 * std::sqrt(line.variance()) + 2e-16 * std::abs(line.mean()));
    EXPECT_NEAR(covariance(j, j), line.variance(), 1e-14 * line.variance());
  }
  for (unsigned seed = 0; seed < 3; ++seed) {
    const Moments cut = in_pieces(Moments(columns), rows, weights, seed, 40 * index_t{seed} + 1);
    for (index_t i = 0; i < columns; ++i) {
      for (index_t j = 0; j < columns; ++j)
        EXPECT_NEAR(cut.covariance()(i, j), covariance(i, j),
                    kSplitError / 10 * std::sqrt(covariance(i, i) * covariance(j, j)));
    }
  }
}

TEST(Split, WhatHasAFixedCentreDoesNotDependOnCuts) {
  const Sample sample = hostile_samples(20000)[6];
  const Rows<const double> rows = column(sample.values);
  const AbsoluteMoments absolute(100.5, {1, 0.5, 2, 3});
  const RadialMoments radial(Eigen::VectorXd::Constant(1, 101), Eigen::MatrixXd::Constant(1, 1, 2));
  AbsoluteMoments absolute_whole = absolute;
  RadialMoments radial_whole = radial;
  absolute_whole.update(rows, sample.weights);
  radial_whole.update(rows, sample.weights);
  for (unsigned seed = 0; seed < 5; ++seed) {
    const AbsoluteMoments cut = in_pieces(absolute, rows, sample.weights, seed, 300);
    for (index_t k = 0; k < 4; ++k)
      EXPECT_NEAR(cut.moment(k) / absolute_whole.moment(k), 1, kSplitError / 10);
    EXPECT_NEAR(cut.weight_below() / absolute_whole.weight_below(), 1, kSplitError / 10);
    EXPECT_NEAR(cut.weight_above() / absolute_whole.weight_above(), 1, kSplitError / 10);
    const RadialMoments other = in_pieces(radial, rows, sample.weights, seed, 300);
    EXPECT_NEAR(other.mean() / radial_whole.mean(), 1, kSplitError / 10);
    EXPECT_NEAR(other.mean_square() / radial_whole.mean_square(), 1, kSplitError / 10);
  }
}

TEST(Split, HistogramsAndPhiMomentsDoNotDependOnCuts) {
  std::mt19937_64 generator(5);
  std::poisson_distribution<int> poisson(30);
  std::vector<double> values, weights;
  for (int i = 0; i < 20000; ++i) {
    values.push_back(i % 1000 == 0 ? 1e15 + i : poisson(generator));
    weights.push_back(std::pow(10, i % 21 - 10));
  }
  const Rows<const double> rows = column(values);
  const CountHistogram whole = CountHistogram::of(values, weights);
  const PhiMoments phi({[](double t) { return std::log1p(t); }, [](double t) { return std::sin(t); }});
  PhiMoments phi_whole = phi;
  phi_whole.update(rows, weights);
  for (unsigned seed = 0; seed < 5; ++seed) {
    const CountHistogram cut = in_pieces(CountHistogram(), rows, weights, seed, 300);
    EXPECT_EQ(cut.values(), whole.values());
    EXPECT_EQ(cut.weights(), whole.weights());
    EXPECT_NEAR(cut.mean() / whole.mean(), 1, 1e-15);
    EXPECT_NEAR(cut.variance() / whole.variance(), 1, 1e-15);
    const PhiMoments other = in_pieces(phi, rows, weights, seed, 300);
    EXPECT_LT((other.mean() - phi_whole.mean()).norm(), kSplitError / 10);
    EXPECT_LT((other.covariance() - phi_whole.covariance()).norm(), kSplitError / 10);
  }
}

}  // namespace
}  // namespace fenchel
