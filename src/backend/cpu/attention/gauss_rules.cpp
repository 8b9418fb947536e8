#include "backend/cpu/attention/gauss_rules.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/lanes/lanes.hpp"

namespace fenchel::detail {
namespace {

/// The orthonormal polynomials of the densities of power s: next_k p_k = x p_{k-1} - next_{k-1} p_{k-2}.
struct Recurrence {
  double next[GaussRules::kMost + 1], inverse[GaussRules::kMost + 1];

  Recurrence(double s, index_t size) noexcept {
    next[0] = inverse[0] = 0;
    for (index_t i = 1; i <= size; ++i) {
      const auto k = static_cast<double>(i);
      next[i] = std::sqrt(k * ((k + 2 * s) / (2 * k + 2 * s + 1)) * ((2 * s + 3) / (2 * k + 2 * s - 1)));
      inverse[i] = 1 / next[i];
    }
  }
};

constexpr index_t kRoots = 16;  ///< that are improved together

/// Newton's steps from roots that are right to a small part of their distances, and the weights there: by
/// Christoffel and Darboux, 1 / (next_n p_n' p_{n-1}).
FENCHEL_CLONES void improve(const Recurrence& r, index_t size, double* roots, double* weights) noexcept {
  constexpr int kSteps = 4;
  for (int step = 0; step <= kSteps; ++step) {
    double before[kRoots], value[kRoots], before_slope[kRoots], slope[kRoots];
    for (index_t j = 0; j < kRoots; ++j) {
      before[j] = before_slope[j] = slope[j] = 0;
      value[j] = 1;
    }
    for (index_t k = 1; k <= size; ++k) {
      const double last = r.next[k - 1], inverse = r.inverse[k];
      for (index_t j = 0; j < kRoots; ++j) {
        const double next = (roots[j] * value[j] - last * before[j]) * inverse;
        const double next_slope = (value[j] + roots[j] * slope[j] - last * before_slope[j]) * inverse;
        before[j] = value[j];
        before_slope[j] = slope[j];
        value[j] = next;
        slope[j] = next_slope;
      }
    }
    if (step < kSteps) {
      for (index_t j = 0; j < kRoots; ++j) roots[j] -= value[j] / slope[j];
    } else {
      for (index_t j = 0; j < kRoots; ++j) weights[j] = r.inverse[size] / (slope[j] * before[j]);
    }
  }
}

/// The roots from the middle on, by the phase of the WKB approximation with Langer's correction, n (psi - c
/// atan(c tan psi)) with n = size + s + 1/2 and c = s / n: it grows by pi from root to root, and the turning
/// point is psi = pi / 2.
void estimate_roots(double power, index_t size, double* roots) noexcept {
  constexpr double kMostPower = 1e6;  // where the phase would be lost; the roots have their limits there
  const double s = std::min(power, kMostPower), n = static_cast<double>(size) + s + 0.5, c = s / n;
  const double unit =
      std::sqrt((static_cast<double>(size) + 0.5) * (static_cast<double>(size) + 2 * s + 0.5)) / n;
  double psi = 0;
  for (index_t j = 0; j < (size + 1) / 2; ++j) {
    const double phase = std::numbers::pi * (static_cast<double>(j) + (size % 2 == 0 ? 0.5 : 0));
    for (int step = 0; step < 40; ++step) {  // from below, where Newton's steps do not pass the root
      const double x = std::cos(psi), y = c * std::sin(psi);
      const double gap = phase - n * (psi - c * std::atan2(y, x));
      const double move = gap * (x * x + y * y) / (n * unit * unit * x * x);
      psi += move;
      if (!(move > 1e-4)) break;
    }
    roots[j] = unit * std::sin(psi) * std::sqrt(2 * s + 3);
  }
}

void make(double s, index_t size, double* nodes, double* weights) noexcept {
  const Recurrence recurrence(s, size);
  const index_t half = size / 2, positive = size - half;  // of an odd size the first root is 0
  double roots[GaussRules::kMost / 2 + kRoots], shares[GaussRules::kMost / 2 + kRoots];
  estimate_roots(s, size, roots);
  std::fill_n(roots + positive, kRoots, roots[positive - 1]);
  for (index_t begin = 0; begin < positive; begin += kRoots)
    improve(recurrence, size, roots + begin, shares + begin);
  if (size % 2 != 0) roots[0] = 0;
  double sum = 0;
  for (index_t j = 0; j < positive; ++j) sum += (roots[j] == 0 ? 1 : 2) * shares[j];
  for (index_t j = 0; j < positive; ++j) {
    nodes[half + j] = roots[j];
    nodes[positive - 1 - j] = -roots[j];
    weights[half + j] = weights[positive - 1 - j] = shares[j] / sum;
  }
}

}  // namespace

GaussRules::Rule GaussRules::at_least(double am1, double least) noexcept {
  if (am1 != am1_) {
    am1_ = am1;
    made_.fill(false);
  }
  index_t i = 0, begin = 0;
  while (static_cast<double>(kSizes[i]) < least) begin += kSizes[i++];
  double *const nodes = nodes_.data() + begin, *const weights = weights_.data() + begin;
  if (!made_[static_cast<std::size_t>(i)]) make(1 / am1, kSizes[i], nodes, weights);
  made_[static_cast<std::size_t>(i)] = true;
  return {kSizes[i], nodes, weights};
}

}  // namespace fenchel::detail
