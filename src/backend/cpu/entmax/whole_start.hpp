#pragma once

#include <algorithm>
#include <cmath>

#include "backend/cpu/row_lanes.hpp"
#include "backend/entmax/newton.hpp"
#include "core/lanes/lane_math.hpp"
#include "fenchel/core/index.hpp"

/// Where the iteration for c = P^{-am1} begins, by multiplications alone. With v = 1 + am1 c d, or its
/// inverse for am1 < 0, E = v^q, q = 1/|am1|. The logarithm of sum v^q is smooth and convex in q: from four
/// whole powers next to q it follows to some 1e-3, and so do those of sum E^{1-am1} and sum E^{1-2am1}, whose
/// powers are one and two off.
namespace fenchel::detail {

/// The powers 2^doublings (first + j), j = 0 to 3; q = 2^doublings (first + at).
struct WholeNodes {
  static constexpr int kCount = 4, kMostFirst = 8;
  /// Of fewer scores a start does not pay; two may be swapped, but for sums of products, whose last bits
  /// depend on the order.
  static constexpr index_t kFewest = 8;

  /// Closer to alpha = 1 Halley's first step is as good; past 3/2 there are no powers below 1/am1 and one
  /// less.
  [[nodiscard]] FENCHEL_INLINE static bool serve(double am1) noexcept {
    constexpr double kLeast = 1.0 / 512;
    return std::abs(am1) >= kLeast && second_is_bounded(am1);
  }

  FENCHEL_INLINE explicit WholeNodes(double am1) noexcept : next(am1 > 0 ? -1 : 1) {
    double q = 1 / std::abs(am1);
    for (; q >= kMostFirst + 2; q /= 2, next /= 2) ++doublings;
    first = std::max(static_cast<int>(q) - 1, 1);
    at = q - first;
  }

  int first, doublings = 0;
  double at, next;
};

/// x^exponent, of exponents from 1 on.
template <class Real>
FENCHEL_INLINE Lanes<Real> whole_power(Lanes<Real> x, int exponent) noexcept {
  Lanes<Real> power = Real(1) - Lanes<Real>{};
  for (;; x *= x) {
    if (exponent % 2 != 0) power *= x;
    if ((exponent /= 2) == 0) return power;
  }
}

/// Calls add(j, v^...) for the four powers of v, y = am1 c d; `rises` says that am1 < 0.
template <bool rises, class Real, class Add>
FENCHEL_INLINE void add_whole_powers(Lanes<Real> y, const WholeNodes& nodes, const Add& add) noexcept {
  Lanes<Real> v;
  for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA {
    const Real base = 1 + y[j];
    v[j] = rises ? 1 / base : (base > 0 ? base : Real(0));
  });
  for (int k = 0; k < nodes.doublings; ++k) v *= v;
  Lanes<Real> power = whole_power<Real>(v, nodes.first);
  add(0, power);
  for (int j = 1; j < WholeNodes::kCount; ++j) {
    power *= v;
    add(j, power);
  }
}

/// The next c, and how far it is, relatively; after a small change the next error is that of the
/// interpolation.
template <class Real>
struct StartStep {
  static constexpr Real kSmall = Real(0.03);
  Real c, change;

  [[nodiscard]] FENCHEL_INLINE bool last() const noexcept { return std::abs(change) <= kSmall; }
};
inline constexpr int kMostStartSteps = 3;

/// Halley's step from the four sums; `share` as in solve.
template <class Real>
FENCHEL_INLINE StartStep<Real> start_step(Real am1, const WholeNodes& nodes, Real c, Real share,
                                          const Real (&sums)[WholeNodes::kCount]) noexcept {
  const Real l0 = log_element(share * sums[0]), l1 = log_element(share * sums[1]),
             l2 = log_element(share * sums[2]), l3 = log_element(share * sums[3]);
  const Real first = l1 - l0, second = (l2 - l1) - first, third = (l3 - 2 * l2 + l1) - second;
  const auto at = [&](double x) FENCHEL_INLINE_LAMBDA {
    const auto t = static_cast<Real>(x);
    return l0 + t * (first + (t - 1) / 2 * (second + (t - 2) / 3 * third));
  };
  const Real sum = at(nodes.at), escort = at(nodes.at + nodes.next), power = at(nodes.at + 2 * nodes.next);
  const Real excess = c * exp_element(-am1 * sum) - 1, newton = excess * exp_element(sum - escort);
  const Real curvature = exp_element(sum + power - 2 * escort) - 1;
  const Real lengthening = -excess * (1 - am1) / (2 * am1) * curvature;
  const Real change = newton / (1 - (lengthening < Real(0.5) ? lengthening : Real(0.5)));
  const Real next = change > -1 ? c / (1 + change) : Real(1);
  const Real least = next > 1 ? next : Real(1), most = next < 1 ? next : Real(1);
  return {am1 > 0 ? least : most, change};
}

/// A start for c of one row from the vectors at a stride, which stand for all.
double start_row(const float* z, index_t n, float top, index_t stride, double am1, double c) noexcept;
double start_row(const double* z, index_t n, double top, index_t stride, double am1, double c) noexcept;

/// The same of a vector of rows, whose scores less the largest ones stand in lanes, from every stride-th
/// column.
void start_lanes(const float* columns, index_t count, index_t stride, double am1, double* c) noexcept;
void start_lanes(const double* columns, index_t count, index_t stride, double am1, double* c) noexcept;

}  // namespace fenchel::detail
