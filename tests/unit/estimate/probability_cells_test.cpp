#include "fenchel/estimate/goodness/probability_cells.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "fenchel/core/philox.hpp"
#include "fenchel/core/variates.hpp"
#include "support/grids.hpp"

namespace fenchel {
namespace {

ProbabilityCells cells_of(const std::vector<double>& u, const std::vector<double>& weights = {}) {
  std::vector<double> s;
  for (const double x : u) s.push_back(1 - x);
  ProbabilityCells cells;
  cells.add(u, s, weights.empty() ? std::vector<double>(u.size(), 1.0) : weights);
  return cells;
}

std::vector<double> uniform_draws(index_t count, double power = 1) {
  Philox rng(4);
  std::vector<double> u;
  for (index_t k = 0; k < count; ++k) u.push_back(std::pow(uniform01(rng), power));
  return u;
}

/// The textbook formulas over sorted values.
double sorted_distance(std::vector<double> u) {
  std::sort(u.begin(), u.end());
  double distance = 0;
  const auto n = static_cast<double>(u.size());
  for (std::size_t i = 0; i < u.size(); ++i) {
    const auto k = static_cast<double>(i);
    distance = std::max({distance, (k + 1) / n - u[i], u[i] - k / n});
  }
  return distance;
}
double sorted_anderson_darling(std::vector<double> u) {
  std::sort(u.begin(), u.end());
  double sum = 0;
  const auto n = static_cast<double>(u.size());
  for (std::size_t i = 0; i < u.size(); ++i)
    sum += (2 * static_cast<double>(i) + 1) * (std::log(u[i]) + std::log1p(-u[u.size() - 1 - i]));
  return -n - sum / n;
}

TEST(ProbabilityCells, HaveTheTextbooksDistances) {
  for (const double power : {1.0, 1.3, 0.2}) {
    const std::vector<double> u = uniform_draws(3000, power);
    EXPECT_NEAR(cells_of(u).kolmogorov_smirnov(), sorted_distance(u), 1e-15);
    EXPECT_NEAR(cells_of(u).anderson_darling() / sorted_anderson_darling(u), 1, 1e-11);
  }
}

TEST(ProbabilityCells, AWeightIsThatManyRows) {
  const std::vector<double> u{0.3, 0.9, 0.05, 0.6}, weights{3, 1, 0, 2},
      repeated{0.6, 0.3, 0.3, 0.9, 0.3, 0.6};
  EXPECT_NEAR(cells_of(u, weights).kolmogorov_smirnov(), sorted_distance(repeated), 1e-15);
  EXPECT_NEAR(cells_of(u, weights).anderson_darling(), sorted_anderson_darling(repeated), 1e-14);
  EXPECT_EQ(cells_of(u, weights).size(), 3);
}

TEST(ProbabilityCells, AValueOutsideOfTheSupportIsInfinitelyFar) {
  EXPECT_EQ(cells_of({0, 0.5, 0.7}).anderson_darling(), testing::kInf);
  EXPECT_EQ(cells_of({0.4, 1}).anderson_darling(), testing::kInf);
  EXPECT_NEAR(cells_of({0.4, 1}).kolmogorov_smirnov(), 0.5, 1e-16);
  EXPECT_TRUE(std::isnan(ProbabilityCells().kolmogorov_smirnov()));
  EXPECT_TRUE(std::isnan(ProbabilityCells().anderson_darling()));
}

TEST(ProbabilityCells, ManyValuesAreRoundedAndTheSameInAnySplit) {
  const index_t count = 3 * ProbabilityCells::kMostCells;
  const std::vector<double> u = uniform_draws(count, 1.02);
  const ProbabilityCells whole = cells_of(u);
  EXPECT_LE(whole.size(), ProbabilityCells::kMostCells);
  EXPECT_GT(whole.size(), ProbabilityCells::kMostCells / 4);
  EXPECT_NEAR(whole.kolmogorov_smirnov(), sorted_distance(u), 1e-4);
  EXPECT_NEAR(whole.anderson_darling() / sorted_anderson_darling(u), 1, 1e-3);
  ProbabilityCells parts;
  for (index_t first = 0; first < count; first += 9999) {
    const auto end = std::min(first + 9999, count);
    ProbabilityCells part = cells_of(std::vector<double>(u.begin() + first, u.begin() + end));
    part.merge(parts);
    parts = part;
  }
  EXPECT_EQ(parts.kolmogorov_smirnov(), whole.kolmogorov_smirnov());
  EXPECT_EQ(parts.anderson_darling(), whole.anderson_darling());
}

}  // namespace
}  // namespace fenchel
