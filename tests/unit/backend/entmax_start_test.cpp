#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "backend/cpu/entmax/whole_start.hpp"
#include "backend/entmax/deformed_power.hpp"
#include "fenchel/core/normalizer.hpp"
#include "laws/rows.hpp"

/// Where the iteration for c = P^{-am1} begins, and how it ends.
namespace fenchel {
namespace {

using testing::normal_row;

/// log P of scores less the largest one.
double exact_log_peak(double am1, std::vector<double> d) {
  normalize(am1, d);
  return std::log(*std::max_element(d.begin(), d.end()));
}

TEST(EntmaxStart, IsNearTheRoot) {
  for (const double alpha : {0.1, 0.5, 0.77, 0.98, 1.003, 1.02, 1.1, 1.15, 1.3, 1.45}) {
    for (const index_t n : {64, 256, 1000}) {
      const double am1 = alpha - 1;
      auto d = normal_row<double>(static_cast<std::size_t>(n), 1, 3);
      const double top = *std::max_element(d.begin(), d.end());
      const double alone =
          -std::log(detail::start_row(d.data(), n, top, detail::kLanes<double>, am1, 1)) / am1;
      for (double& x : d) x -= top;
      const double exact = exact_log_peak(am1, d);
      EXPECT_NEAR(alone, exact, 1e-2) << alpha << ' ' << n;

      std::vector<double> columns;
      for (const double x : d) columns.insert(columns.end(), detail::kLanes<double>, x);
      std::vector<double> c(detail::kLanes<double>, 1);
      detail::start_lanes(columns.data(), n, 1, am1, c.data());
      for (const double x : c) EXPECT_NEAR(-std::log(x) / am1, exact, 1e-2) << alpha << ' ' << n;
    }
  }
}

/// A row of few is left alone, so that two scores may be swapped.
TEST(EntmaxStart, LeavesFewScoresAlone) {
  const std::vector<double> z{1, 0};
  EXPECT_EQ(detail::start_row(z.data(), 2, 1, detail::kLanes<double>, 0.1, 1.5), 1.5);
}

TEST(EntmaxStart, AStepToSecondOrderLeavesItsCube) {
  for (const double am1 : {-0.9, -0.5, -0.2, -1e-3, 1e-8, 0.1, 0.2, 0.3}) {
    const detail::GeneralPower<double> power{am1};
    for (const double d : {0.0, -0.1, -0.5, -1.0, -2.0}) {
      for (const double step : {1e-2, -1e-2, 1e-3}) {
        const double c = 1.1;
        const auto here = power(am1 * c * d), there = power(am1 * c * std::exp(-am1 * step) * d);
        const double u = std::max(1.0, here.kept),
                     cube = std::abs(step * step * step) * u * u * u * here.value;
        EXPECT_NEAR(power.moved(here.value, here.kept, step), there.value, cube + 1e-15) << am1 << ' ' << d;
      }
    }
  }
}

}  // namespace
}  // namespace fenchel
