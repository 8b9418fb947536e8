#pragma once

#include <cmath>
#include <numbers>

#include "fenchel/score/location_scale_score.hpp"

namespace fenchel::testing {

inline constexpr int kLocationScaleExamples = 6;

/// The functions g of scripts/golden/line_families.py, in its order.
inline LocationScaleScore location_scale_example(int index, double mu, double sigma) {
  const auto normal = [](double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); };
  switch (index) {
    case 0:
      return {[](double x) { return x * x * x / 6; }, [](double x) { return x * x / 2; }, mu, sigma};
    case 1:
      return {[](double x) { return x * x / 2; }, [](double x) { return x; }, mu, sigma};
    case 2:
      return {[](double x) { return std::cosh(x); }, [](double x) { return std::sinh(x); }, mu, sigma};
    case 3:
      return {[](double x) { return -std::erf(x / std::numbers::sqrt2); },
              [normal](double x) { return -2 * normal(x); }, mu, sigma};
    case 4:
      return {[](double x) { return x * x * x * x / 24 + x; }, [](double x) { return x * x * x / 6 + 1; }, mu,
              sigma};
    default:
      return {[](double x) { return std::sqrt(1 + x * x); },
              [](double x) { return std::isinf(x) ? 1 : x / std::sqrt(1 + x * x); }, mu, sigma};
  }
}

}  // namespace fenchel::testing
