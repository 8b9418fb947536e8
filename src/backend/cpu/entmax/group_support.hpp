#pragma once

#include <cmath>

#include "backend/cpu/entmax/group_solvers.hpp"

/// Rows beyond alpha = 2 in lanes of double: next to the threshold p is steep, and the mass of a row of
/// floats must be known better than a float can. As core/normalizer_solver.hpp does it for one row: the
/// smallest score of the support, the pivot, then its probability q, from which all others follow: p^am1 =
/// q^am1 + am1 (z - z_q). docs/math.md 2.
namespace fenchel::detail {

/// The lanes of a group as doubles, in vectors of eight.
template <class Real>
inline constexpr index_t kOctets = kGroup<Real> / kLanes<double>;
template <class Real>
using WideLanes = Lanes<double>[kOctets<Real>];

/// for (octet) for (lane) body(octet, lane).
template <class Real, class Body>
FENCHEL_INLINE void for_each_wide_lane(Body body) noexcept {
#pragma GCC unroll 2
  for (index_t o = 0; o < kOctets<Real>; ++o)
    for_each_lane<double>([&](index_t j) FENCHEL_INLINE_LAMBDA { body(o, j); });
}

template <class Real>
FENCHEL_INLINE void load_wide(const Real* from, WideLanes<Real>& to) noexcept {
  typedef Real Eight __attribute__((vector_size(kLanes<double> * sizeof(Real))));
  for (index_t o = 0; o < kOctets<Real>; ++o) {
    Eight numbers;
    std::memcpy(&numbers, from + o * kLanes<double>, sizeof numbers);
    to[o] = __builtin_convertvector(numbers, Lanes<double>);
  }
}

template <class Real>
FENCHEL_INLINE void store_wide(Real* to, const WideLanes<Real>& from) noexcept {
  typedef Real Eight __attribute__((vector_size(kLanes<double> * sizeof(Real))));
  for (index_t o = 0; o < kOctets<Real>; ++o) {
    const Eight numbers = __builtin_convertvector(from[o], Eight);
    std::memcpy(to + o * kLanes<double>, &numbers, sizeof numbers);
  }
}

/// x^s for a finite x > 0, in double; for rows of floats to 2^-28 of the result, of an x that is not
/// subnormal, and 2^-1000 at least.
template <class Real>
FENCHEL_INLINE double wide_power(double x, double s) noexcept {
  if constexpr (sizeof(Real) == 8) {
    return exp_element(s * log_element(x));
  } else {
    using Traits = LaneTraits<double>;
    using Fit = LaneCoefficients<float>;
    const LogParts<double> parts = log_parts<double>(to_bits(x), Traits::kInteger + double(Traits::kBias));
    const double log = parts.exponent + parts.fraction * polynomial_of<Fit::kLog2>(parts.fraction);
    const double power = s * log > -1000 ? s * log : -1000.0, rounded = power + Traits::kRounder;
    const double r = power - (rounded - Traits::kRounder);
    return scale_normal(1 + r * polynomial_of<Fit::kExp2>(r), rounded);
  }
}

/// The smallest scores of the supports.
template <class Real>
struct PivotLanes {
  WideLanes<Real> score;
  WideLanes<Real> lacks;  ///< one less the mass of the scores above
  IntLanes<double> going[kOctets<Real>];

  [[nodiscard]] FENCHEL_INLINE bool any_going() const noexcept {
    IntLanes<double> any = going[0];
    for (index_t o = 1; o < kOctets<Real>; ++o) any |= going[o];
    return any_of<double>(any);
  }
};

/// A score is in the support iff the mass above it is less than one. Each round decides about the undecided
/// score nearest to the middle of where the pivot can lie, above `outside`.
template <class Real>
FENCHEL_INLINE PivotLanes<Real> find_pivots(double am1, const Columns<Real>& columns,
                                            const WideLanes<Real>& top, WideLanes<Real>& outside) noexcept {
  constexpr int kMostRounds = 64;
  const double s = 1 / am1;
  PivotLanes<Real> pivot;
  for_each_wide_lane<Real>([&](index_t o, index_t j) FENCHEL_INLINE_LAMBDA {
    pivot.score[o][j] = top[o][j];
    pivot.lacks[o][j] = 1;
  });
  for (int round = 0; round < kMostRounds; ++round) {
    WideLanes<Real> above, below, middle, next;
    for_each_wide_lane<Real>([&](index_t o, index_t j) FENCHEL_INLINE_LAMBDA {
      middle[o][j] = outside[o][j] + (pivot.score[o][j] - outside[o][j]) / 2;
      above[o][j] = kInfinity;
      below[o][j] = -kInfinity;
    });
    for (index_t k = 0; k < columns.count; ++k) {
      WideLanes<Real> z;
      load_wide(columns.d + k * kGroup<Real>, z);
      for_each_wide_lane<Real>([&](index_t o, index_t j) FENCHEL_INLINE_LAMBDA {
        const double x = z[o][j];
        const double higher = x >= middle[o][j] && x < pivot.score[o][j] ? x : kInfinity;
        const double lower = x < middle[o][j] && x > outside[o][j] ? x : -kInfinity;
        above[o][j] = higher < above[o][j] ? higher : above[o][j];
        below[o][j] = lower > below[o][j] ? lower : below[o][j];
      });
    }
    for_each_wide_lane<Real>([&](index_t o, index_t j) FENCHEL_INLINE_LAMBDA {
      const bool up = above[o][j] - middle[o][j] < middle[o][j] - below[o][j];
      const double nearest = up ? above[o][j] : below[o][j];
      pivot.going[o][j] = nearest > -kInfinity;
      next[o][j] = nearest > -kInfinity ? nearest : pivot.score[o][j];
    });
    if (!pivot.any_going()) break;
    CompensatedLanes<double> mass[kOctets<Real>];
    for (index_t k = 0; k < columns.count; ++k) {
      WideLanes<Real> p;
      load_wide(columns.d + k * kGroup<Real>, p);
      for_each_wide_lane<Real>([&](index_t o, index_t j) FENCHEL_INLINE_LAMBDA {
        const double height = p[o][j] - next[o][j];
        const double power = wide_power<Real>(height > 0 ? am1 * height : 1.0, s);
        p[o][j] = height > 0 ? power : 0.0;
      });
      for (index_t o = 0; o < kOctets<Real>; ++o) mass[o].add(p[o]);
    }
    WideLanes<Real> lacks;
    for (index_t o = 0; o < kOctets<Real>; ++o) lacks[o] = mass[o].lacks_of_one();
    for_each_wide_lane<Real>([&](index_t o, index_t j) FENCHEL_INLINE_LAMBDA {
      const bool going = pivot.going[o][j] != 0, inside = going && lacks[o][j] > 0;
      outside[o][j] = going && !inside ? next[o][j] : outside[o][j];
      pivot.score[o][j] = inside ? next[o][j] : pivot.score[o][j];
      pivot.lacks[o][j] = inside ? lacks[o][j] : pivot.lacks[o][j];
    });
  }
  return pivot;
}

/// The probabilities of the pivots.
template <class Real>
struct PivotDensities {
  WideLanes<Real> q;
  WideLanes<Real> step;  ///< not yet taken
  IntLanes<double> going[kOctets<Real>];
};

/// No pivot has more than all scores of the support would have if they were equal, nor than those above it
/// leave if it had none.
template <class Real>
FENCHEL_INLINE void bound_densities(const Columns<Real>& columns, const PivotLanes<Real>& pivot,
                                    WideLanes<Real>& q) noexcept {
  WideLanes<Real> support{}, ties{};
  for (index_t k = 0; k < columns.count; ++k) {
    WideLanes<Real> z;
    load_wide(columns.d + k * kGroup<Real>, z);
    for_each_wide_lane<Real>([&](index_t o, index_t j) FENCHEL_INLINE_LAMBDA {
      support[o][j] += z[o][j] >= pivot.score[o][j] ? 1.0 : 0.0;
      ties[o][j] += z[o][j] == pivot.score[o][j] ? 1.0 : 0.0;
    });
  }
  for_each_wide_lane<Real>([&](index_t o, index_t j) FENCHEL_INLINE_LAMBDA {
    const double equal = 1 / support[o][j], left = pivot.lacks[o][j] / ties[o][j];
    q[o][j] = left < equal ? left : equal;
  });
}

/// Halley's iteration for q, in which the mass is convex with slope at least one: the second derivative of p
/// is (am1 - 1) / q dp/dq (1 - (q/p)^am1). p and dp/dq are left in `value` and `slope`. Newton's last step
/// is left to be taken to first order.
template <class Real>
FENCHEL_INLINE PivotDensities<Real> solve_densities(double am1, const Columns<Real>& columns,
                                                    const PivotLanes<Real>& pivot, Real* value,
                                                    Real* slope) noexcept {
  constexpr int kMostSteps = 30;
  constexpr bool kFloat = sizeof(Real) == 4;
  constexpr double kSmall = kFloat ? 1e-4 : 1e-8, kRounding = kFloat ? 2e-9 : 4e-16;
  const double s = 1 / am1, small = kSmall / am1;
  PivotDensities<Real> found;
  bound_densities(columns, pivot, found.q);
  for (int step = 0; step < kMostSteps; ++step) {
    WideLanes<Real> power, inverse;
    for_each_wide_lane<Real>([&](index_t o, index_t j) FENCHEL_INLINE_LAMBDA {
      power[o][j] = wide_power<Real>(found.q[o][j], am1);
      inverse[o][j] = 1 / found.q[o][j];
    });
    CompensatedLanes<double> mass[kOctets<Real>];
    WideLanes<Real> slopes{}, bends{};
    for (index_t k = 0; k < columns.count; ++k) {
      WideLanes<Real> p, first, second;
      load_wide(columns.d + k * kGroup<Real>, p);
      for_each_wide_lane<Real>([&](index_t o, index_t j) FENCHEL_INLINE_LAMBDA {
        const double height = p[o][j] - pivot.score[o][j];
        const double base = height > 0 ? power[o][j] + am1 * height : 1.0;
        const double share = power[o][j] / base, root = wide_power<Real>(base, s);
        const double rising = root * inverse[o][j] * share;
        p[o][j] = height > 0 ? root : (height == 0 ? found.q[o][j] : 0.0);
        first[o][j] = height > 0 ? rising : (height == 0 ? 1.0 : 0.0);
        second[o][j] = height > 0 ? rising * (1 - share) : 0.0;
      });
      for (index_t o = 0; o < kOctets<Real>; ++o) {
        mass[o].add(p[o]);
        slopes[o] += first[o];
        bends[o] += second[o];
      }
      store_wide(value + k * kGroup<Real>, p);
      store_wide(slope + k * kGroup<Real>, first);
    }
    WideLanes<Real> lacks;
    for (index_t o = 0; o < kOctets<Real>; ++o) lacks[o] = mass[o].lacks_of_one();
    IntLanes<double> any{};
    for_each_wide_lane<Real>([&](index_t o, index_t j) FENCHEL_INLINE_LAMBDA {
      const double q = found.q[o][j], newton = lacks[o][j] / slopes[o][j], size = std::abs(newton);
      const double lengthening = -newton * (am1 - 1) * inverse[o][j] * bends[o][j] / (2 * slopes[o][j]);
      const double halley = q + newton / (1 - (lengthening < 0.5 ? lengthening : 0.5));
      const double next = halley > 0 ? halley : q + newton;
      const bool going = size > small * q && size > kRounding;
      found.step[o][j] = newton;
      found.going[o][j] = going;
      any[j] |= going;
      found.q[o][j] = going ? (next > 0 ? next : q / 2) : q;
    });
    if (!any_of<double>(any)) break;
  }
  return found;
}

}  // namespace fenchel::detail
