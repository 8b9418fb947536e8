#include "fenchel/estimate/statistics/collect.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "fenchel/core/parallel.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/data/part_source.hpp"
#include "fenchel/data/rows_source.hpp"
#include "fenchel/estimate/statistics/count_histogram.hpp"
#include "fenchel/estimate/statistics/line_moments.hpp"
#include "fenchel/estimate/statistics/moments.hpp"
#include "fenchel/estimate/statistics/selection.hpp"
#include "support/column.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::column;
using testing::kInf;
using testing::kNaN;
using testing::message_of;

std::vector<double> normal_sample(std::size_t n, double mean, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal(mean);
  std::vector<double> x(n);
  for (double& t : x) t = normal(generator);
  return x;
}

class CollectTest : public ::testing::Test {
 protected:
  void TearDown() override { set_num_threads(0); }
};

TEST_F(CollectTest, TheBitsDoNotDependOnTheThreads) {
  const std::vector<double> values = normal_sample(100'000, 5, 1);
  const RowsSource line(column(values)), plane({values.data(), 50'000, 2});
  set_num_threads(1);
  const Bytes one = collect({line}, LineMoments()).to_bytes(), two = collect({plane}, Moments(2)).to_bytes();
  for (const int threads : {2, 3}) {
    set_num_threads(threads);
    EXPECT_EQ(collect({line}, LineMoments()).to_bytes(), one);
    EXPECT_EQ(collect({plane}, Moments(2)).to_bytes(), two);
  }
  EXPECT_NEAR(collect({line}, LineMoments()).variance() / LineMoments::of(values).variance(), 1, 1e-14);
}

TEST_F(CollectTest, PartsAreTheWhole) {
  const std::vector<double> values = normal_sample(50'000, 5, 2);
  const RowsSource whole(column(values));
  LineMoments total;
  for (index_t part = 0; part < 3; ++part) total.merge(collect({PartSource(whole, part, 3)}, LineMoments()));
  const LineMoments once = collect({whole}, LineMoments());
  EXPECT_EQ(total.weight(), once.weight());
  EXPECT_NEAR(total.mean(), once.mean(), 1e-15);
  EXPECT_NEAR(total.variance(), once.variance(), 1e-14);
}

TEST_F(CollectTest, NoRowsAreAnEmptyStatistic) {
  const RowsSource none({nullptr, 0, 1});
  EXPECT_EQ(collect({none}, LineMoments()).to_bytes(), LineMoments().to_bytes());
}

TEST_F(CollectTest, TheFirstBadEntryIsNamedByItsPlace) {
  std::vector<double> values(40'000, 1.0), weights(20'000, 1.0);
  values[2 * 9'000 + 1] = kNaN;
  values[2 * 15'000] = kInf;
  const auto message = [&](const RowsSource& source) {
    return message_of<DataError>([&] { static_cast<void>(collect({source}, Moments(2))); });
  };
  for (const int threads : {1, 2}) {
    set_num_threads(threads);
    EXPECT_EQ(message(RowsSource({values.data(), 20'000, 2}, {}, {"x", "y"})),
              "row 9000, column y: value must be finite, got nan");
    weights[8'999] = -3;
    EXPECT_EQ(message(RowsSource({values.data(), 20'000, 2}, weights)),
              "row 8999: weight must be finite and not negative, got -3");
  }
}

TEST_F(CollectTest, AnyCallOfTheProgressCallbackCancels) {
  const std::vector<double> values(20 * RowsSource::kRowsPerBatch, 1.0);
  const RowsSource source(column(values));
  set_num_threads(1);
  std::vector<index_t> seen;
  const auto watch = [&seen](const Progress& progress) {
    EXPECT_EQ(progress.total, 20);
    seen.push_back(progress.done);
    return true;
  };
  static_cast<void>(collect({source, Processes::alone(), watch}, LineMoments()));
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), 20);
  const auto stop = [](const Progress& progress) { return progress.done < 8; };
  EXPECT_EQ(message_of<Cancelled>([&] {
              static_cast<void>(collect({source, Processes::alone(), stop}, LineMoments()));
            }),
            "fenchel::collect: cancelled");
}

/// By sorting; sums of weights exact in these tests.
double sorted_quantile(const std::vector<double>& values, const std::vector<double>& weights, double u) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  double sum = 0, last = kNaN;
  for (const std::size_t i : order) {
    if (weights[i] == 0) continue;
    sum += weights[i];
    last = values[i];
    if (sum >= u * total) break;
  }
  return last;
}

TEST_F(CollectTest, QuantilesAreThoseOfTheSortedData) {
  std::mt19937_64 generator(9);
  std::uniform_int_distribution<int> exponent(-300, 300), eighths(0, 80);
  std::vector<double> values = normal_sample(10'000, 0, 3), weights;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % 5 == 0) values[i] *= std::pow(10, exponent(generator));
    if (i % 7 == 0) values[i] = std::round(values[i]) * 0.0;
    weights.push_back(eighths(generator) / 8.0);
  }
  const RowsSource source(column(values), weights), plain(column(values));
  for (const double u : {0.0, 1e-9, 0.01, 0.1, 0.25, 0.4, 0.5, 0.75, 0.999, 1.0}) {
    EXPECT_EQ(weighted_quantile({source}, u), sorted_quantile(values, weights, u)) << u;
    EXPECT_EQ(weighted_quantile({plain}, u),
              sorted_quantile(values, std::vector<double>(values.size(), 1.0), u))
        << u;
  }
}

TEST_F(CollectTest, TheMedianIsTheLowerOne) {
  const std::vector<double> even{4, 1, 3, 2}, close{1, std::nextafter(1, 2), std::nextafter(1, 0)},
      weights{1, 5, 1, 1};
  EXPECT_EQ(weighted_median({RowsSource(column(even))}), 2);
  EXPECT_EQ(weighted_median({RowsSource(column(close))}), 1);
  EXPECT_EQ(weighted_median({RowsSource(column(even), weights)}), 1);
  EXPECT_EQ(weighted_quantile({RowsSource(column(close))}, 1), std::nextafter(1, 2));
  const std::vector<double> zeros{-0.0, 0.0, -0.0};
  EXPECT_FALSE(std::signbit(weighted_median({RowsSource(column(zeros))})));
  // u times the weight is rounded as a double: a tenth of ten rows is one row.
  std::vector<double> ten(10);
  std::iota(ten.begin(), ten.end(), 1.0);
  EXPECT_EQ(weighted_quantile({RowsSource(column(ten))}, 0.1), 1);
  EXPECT_EQ(weighted_quantile({RowsSource(column(ten))}, 0.3), 3);
}

TEST_F(CollectTest, QuantilesNeedDataAndAShare) {
  const std::vector<double> values{1, 2}, nothing{0, 0}, bad{1, kNaN};
  const RowsSource source(column(values));
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(weighted_quantile({source}, 1.5)); }),
            "fenchel::weighted_quantile: u must be in [0, 1], got 1.5");
  EXPECT_EQ(message_of<std::domain_error>(
                [&] { static_cast<void>(weighted_median({RowsSource(column(values), nothing)})); }),
            "fenchel::weighted_quantile: the weight of all rows must be positive and finite, got 0");
  EXPECT_EQ(message_of<DataError>([&] { static_cast<void>(weighted_median({RowsSource(column(bad))})); }),
            "row 1, column 0: value must be finite, got nan");
}

}  // namespace
}  // namespace fenchel
