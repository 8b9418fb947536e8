#include "fenchel/estimate/goodness/fit_groups.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "fenchel/core/parallel.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/data/rows_source.hpp"
#include "fenchel/estimate/fit/beta_gaussian.hpp"
#include "fenchel/estimate/fit/sparse_poisson.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::message_of;

Rows<const double> pairs(const std::vector<double>& values) {
  return {values.data(), static_cast<index_t>(values.size() / 2), 2};
}
Rows<const double> column(const std::vector<double>& values) {
  return {values.data(), static_cast<index_t>(values.size()), 1};
}
Fit<BetaGaussian> gaussian(const LineMoments& moments) { return fit_beta_gaussian(1, moments); }

TEST(FitGroups, IsAFitToEachGroup) {
  std::vector<double> all;
  std::vector<std::vector<double>> of_group(3);
  for (int k = 0; k < 9000; ++k) {
    const int group = k * k % 7 % 3;
    const double value = std::sin(k) * (1 + group) + 10 * group;
    all.insert(all.end(), {value, static_cast<double>(group - 1)});
    of_group[static_cast<std::size_t>(group)].push_back(value);
  }
  set_num_threads(3);
  const auto found = fit_groups(gaussian, {RowsSource(pairs(all))});
  set_num_threads(0);
  ASSERT_EQ(found.size(), 3U);
  for (std::size_t g = 0; g < 3; ++g) {
    const Fit<BetaGaussian> alone = gaussian(LineMoments::of(of_group[g]));
    const Goodness expected = goodness(alone, {RowsSource(column(of_group[g]))});
    EXPECT_EQ(found[g].group, static_cast<double>(g) - 1);
    EXPECT_EQ(found[g].weight, alone.weight);
    EXPECT_NEAR((found[g].fit->parameters - alone.parameters).norm(), 0, 1e-12);
    EXPECT_NEAR(found[g].goodness.log_likelihood / expected.log_likelihood, 1, 1e-12);
    EXPECT_NEAR(found[g].goodness.crps / expected.crps, 1, 1e-12);
    EXPECT_NEAR(found[g].goodness.distances.kolmogorov_smirnov, expected.distances.kolmogorov_smirnov, 1e-12);
  }
}

TEST(FitGroups, CountsAndWeights) {
  const std::vector<double> all{1, 5, 2, 5, 3, 5, 0, 6, 4, 6, 5, 6, 2, 6}, weights{1, 2, 1, 3, 1, 1, 0};
  const auto found = fit_groups([](const CountHistogram& counts) { return fit_sparse_poisson(1, counts); },
                                {RowsSource(pairs(all), weights)});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].weight, 4);
  EXPECT_NEAR(found[0].fit->parameters[0], 2, 1e-12);
  EXPECT_NEAR(found[1].fit->parameters[0], 9.0 / 5, 1e-12);
  EXPECT_LT(found[1].goodness.log_likelihood, 0);
}

TEST(FitGroups, AGroupWithoutAFitIsSaid) {
  const std::vector<double> all{1, 5, 2, 5, 3, 5, 4, 6};
  const auto found = fit_groups(gaussian, {RowsSource(pairs(all))});
  EXPECT_TRUE(found[0].fit.has_value());
  EXPECT_FALSE(found[1].fit.has_value());
  EXPECT_NE(found[1].failure.find("the variance must be positive"), std::string::npos) << found[1].failure;
}

TEST(FitGroups, SaysWhatItCannotUse) {
  const std::vector<double> bad{1, 5, 2, 5, 3.5, 5, 4, 6}, none{1, 5, 2, std::nan("")};
  const auto poisson = [](const CountHistogram& counts) { return fit_sparse_poisson(1, counts); };
  EXPECT_EQ(message_of<DataError>([&] { static_cast<void>(fit_groups(poisson, {RowsSource(pairs(bad))})); }),
            "row 2, column 0: value must be an integer of absolute value at most 2^53, got 3.5");
  EXPECT_EQ(
      message_of<DataError>([&] { static_cast<void>(fit_groups(gaussian, {RowsSource(pairs(none))})); }),
      "row 1, column 1: value must be finite, got nan");
  std::vector<double> many;
  for (int k = 0; k < 70'000; ++k) many.insert(many.end(), {1.0 * k, 1.0 * k});
  EXPECT_EQ(message_of<std::domain_error>(
                [&] { static_cast<void>(fit_groups(gaussian, {RowsSource(pairs(many))})); }),
            "fenchel::group_statistics: groups must number at most 65536 (is the column one of groups?), got "
            "65537");
}

TEST(FitGroups, StatisticsOfGroupsAreReadBackOrRefused) {
  const std::vector<double> all{1, 5, 2, 5, 3, 5, 4, 6};
  GroupStatistics<LineMoments> groups([](double) { return LineMoments(); }), again = groups;
  groups.update(pairs(all));
  const Bytes bytes = groups.to_bytes();
  again.merge_bytes(bytes);
  EXPECT_EQ(again.to_bytes(), bytes);
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    Bytes changed = bytes;
    changed[k] ^= std::byte{1};
    EXPECT_THROW(again.merge_bytes(changed), std::invalid_argument);
    EXPECT_THROW(again.merge_bytes(std::span(bytes).first(k)), std::invalid_argument);
  }
}

}  // namespace
}  // namespace fenchel
