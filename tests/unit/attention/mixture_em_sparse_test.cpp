#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fenchel/attention/mixture_em.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/core/variates.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::message_of;

constexpr double kOrders[] = {1, 1 + 0x1p-52, 1 + 1e-8, 4. / 3, 1.5, 2, 5, 1e6};

/// Draws about 0 and about `distance`, and weights that differ.
struct Points {
  std::vector<double> positions, weights;
};
Points two_groups(double distance, int count) {
  Philox rng(7);
  Points points;
  for (int i = 0; i < count; ++i) {
    const BetaGaussian p(1, i % 3 == 0 ? distance : 0, i % 3 == 0 ? 0.25 : 1);
    points.positions.push_back(sample(p, rng));
    points.weights.push_back(1 + uniform01(rng));
  }
  return points;
}

MixtureFit<BetaGaussian> fitted(const Points& points, const MixtureFitOptions& options,
                                index_t components = 2) {
  return fit_mixture(1, points.positions, points.weights, components, options);
}

TEST(SparseResponsibilities, TheObjectiveNeverFallsAndStaysBelowTheLikelihood) {
  const Points points = two_groups(3, 200);
  for (const double order : kOrders) {
    for (const index_t size : {2, 4}) {
      double last = -kInf;
      for (index_t steps = 0; steps < 40; ++steps) {
        const auto fit =
            fitted(points, {.responsibilities = order, .tolerance = 0, .max_iterations = steps}, size);
        EXPECT_GE(fit.objective, last - 1e-13) << order << " " << size << " " << steps;
        EXPECT_LE(fit.objective, fit.log_likelihood + 1e-13) << order << " " << size << " " << steps;
        last = fit.objective;
      }
    }
  }
}

TEST(SparseResponsibilities, OrderOneIsEm) {
  const Points points = two_groups(3, 200);
  const auto em = fitted(points, {});
  EXPECT_EQ(em.objective, em.log_likelihood);
  for (const double order : {1 + 0x1p-52, 1 + 1e-8}) {
    const auto near = fitted(points, {.responsibilities = order});
    EXPECT_NEAR(near.objective, em.objective, 1e-8) << order;
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_NEAR(mean(near.mixture.components()[k]), mean(em.mixture.components()[k]), 1e-6) << order;
      EXPECT_NEAR(near.mixture.weights()[k], em.mixture.weights()[k], 1e-6) << order;
    }
  }
}

/// For two scores at order 2 the larger has the share (1 + gap) / 2, at most 1.
TEST(SparseResponsibilities, TheObjectiveIsTheMeanConjugateOfTheScores) {
  const Points points = two_groups(2, 100);
  const auto fit = fitted(points, {.responsibilities = 2});
  const auto w = fit.mixture.weights();
  const auto parts = fit.mixture.components();
  double sum = 0, total = 0;
  for (std::size_t i = 0; i < points.positions.size(); ++i) {
    const double x = points.positions[i];
    const double s = std::log(w[0]) + log_pdf(parts[0], x), t = std::log(w[1]) + log_pdf(parts[1], x);
    const double p = std::clamp((1 + s - t) / 2, 0.0, 1.0), q = 1 - p;
    sum += points.weights[i] * (p * s + q * t - (p * p + q * q - 1) / 2);
    total += points.weights[i];
  }
  EXPECT_NEAR(fit.objective, sum / total, 1e-13);
}

/// Points that one component leads at by 1 / (order - 1) are its own: its moments are theirs, and no others
/// have a part in them, as they do by EM.
TEST(SparseResponsibilities, ClearPointsMoveOneComponentAlone) {
  const Points points = two_groups(6, 300);
  double mass[2] = {}, first[2] = {}, second[2] = {};
  for (std::size_t i = 0; i < points.positions.size(); ++i) {
    const double w = points.weights[i], x = points.positions[i];
    const int group = x > 4 ? 1 : 0;
    mass[group] += w;
    first[group] += w * x;
    second[group] += w * x * x;
  }
  const auto off = [&](double order) {
    const auto fit = fitted(points, {.responsibilities = order});
    double largest = 0;
    for (std::size_t k = 0; k < 2; ++k) {
      const BetaGaussian& p = fit.mixture.components()[k];
      const int group = mean(p) > 4 ? 1 : 0;
      const double centre = first[group] / mass[group],
                   spread = second[group] / mass[group] - centre * centre;
      largest = std::max({largest, std::abs(mean(p) - centre), std::abs(variance(p) - spread),
                          std::abs(fit.mixture.weights()[k] - mass[group] / (mass[0] + mass[1]))});
    }
    return largest;
  };
  for (const double order : {1.5, 2.0, 5.0, 1e6}) EXPECT_LT(off(order), 1e-12) << order;
  EXPECT_GT(off(1), 1e-9);
}

TEST(SparseResponsibilities, BadOrders) {
  const std::vector<double> x{0, 1, 2}, w{1, 1, 1};
  for (const auto& [order, text] : {std::pair{0.5, "0.5"}, {kInf, "inf"}, {testing::kNaN, "nan"}}) {
    EXPECT_EQ(
        message_of<std::domain_error>(
            [&, bad = order] { static_cast<void>(fit_mixture(1, x, w, 2, {.responsibilities = bad})); }),
        std::string("fenchel::fit_mixture: responsibilities must be finite and at least 1, got ") + text);
  }
}

}  // namespace
}  // namespace fenchel
