#include "fenchel/distribution/line/total_variation.hpp"
#include "fenchel/core/infinity.hpp"

#include <cmath>
#include <numbers>

namespace fenchel {
namespace {

/// The least density between two modes, by golden section of its logarithm.
double least_between(const NumericDensity& q, double lower, double upper) {
  constexpr int kSteps = 80;  // to 2e-17 of the distance
  constexpr double kShare = 1 / std::numbers::phi;
  double x = upper - kShare * (upper - lower), y = lower + kShare * (upper - lower);
  double at_x = log_pdf(q, x), at_y = log_pdf(q, y);
  for (int k = 0; k < kSteps; ++k) {
    if (at_x < at_y) {
      upper = y;
      y = x;
      at_y = at_x;
      at_x = log_pdf(q, x = upper - kShare * (upper - lower));
    } else {
      lower = x;
      x = y;
      at_x = at_y;
      at_y = log_pdf(q, y = lower + kShare * (upper - lower));
    }
  }
  return std::exp(std::fmin(at_x, at_y));
}

}  // namespace

double total_variation(const NumericDensity& q) {
  double sum = 0, height = 0;
  const auto go_to = [&](double next) {
    sum += std::abs(next - height);
    height = next;
  };
  double last_end = -kInfinity;
  for (const Interval& piece : q.support()) {
    if (piece.lower() > last_end) go_to(0);
    go_to(pdf(q, piece.lower()));
    const double* last = nullptr;
    for (const double& mode : q.modes()) {
      if (!piece.contains(mode)) continue;
      if (last != nullptr && *last < mode) go_to(least_between(q, *last, mode));
      go_to(pdf(q, mode));
      last = &mode;
    }
    go_to(pdf(q, piece.upper()));
    last_end = piece.upper();
  }
  go_to(0);
  return sum;
}

}  // namespace fenchel
