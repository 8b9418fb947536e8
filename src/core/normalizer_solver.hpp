#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/smallest_density.hpp"
#include "core/team_code.hpp"
#include "fenchel/core/deformed.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/core/normalizer.hpp"

/// How `normalize` finds densities, for one thread of the CPU and for threads of a GPU that share a row.
/// Columns visits the columns (core/columns.hpp), atoms.d(j) is the score of column j less the largest one of
/// positive weight, -inf for no mass, and atoms.w(j) its weight. docs/math.md 2.
namespace fenchel::detail {

/// c = P^{-am1} as factor (1 + excess).
struct PeakScale {
  double factor, excess;

  /// From am1 log P. c next to one is 1 + excess, where a small excess is not rounded; a small c is a factor.
  FENCHEL_HD static PeakScale of(double log_power) noexcept {
    const double excess = std::expm1(-log_power);
    return excess > -0.5 ? PeakScale{1, excess} : PeakScale{std::exp(-log_power), 0};
  }
};

/// E = exp_{2-alpha}(c d) and E^{1 - am1}: 1 + am1 c d is summed so that next to the edge of the support,
/// where am1 d is about -1, nothing of d is lost.
struct AtomPowers {
  double value, escort;
};
FENCHEL_HD inline AtomPowers atom_powers(double am1, const PeakScale& c, double d) noexcept {
  if (am1 == 0) return {std::exp(d), std::exp(d)};
  const double excess = c.excess, scaled = am1 * (d * c.factor), base = (1 + scaled) + scaled * excess;
  if (!(base > 0)) return {0, 0};
  if (am1 == 1) return {base, 1};
  if (am1 == 0.5) return {base * base, base};
  const double value = std::exp(std::log1p(scaled + scaled * excess) / am1);
  return {value, value > 0 ? value / base : 0.0};
}

/// One Newton step for log P, alpha <= 2, from log (P S) and S / R, S = sum E, R = sum E^{1 - am1}, E =
/// exp_{2-alpha}(c d). It is Newton's step in A for log_{2-alpha}(P S), which is convex in A (Minkowski, in
/// both directions of the exponent 1/am1), so from P too large it never overshoots; it is exact for equal
/// scores and for alpha = 1. docs/math.md 2.
FENCHEL_HD inline double next_log_peak(double am1, double log_peak, double log_mass, double ratio) noexcept {
  return log_peak + log_deformed_exp(am1, ratio * -deformed_log_of_exp(-am1, log_mass));
}

/// Densities by the largest one, for alpha <= 2.
struct PeakDensities {
  double am1, log_peak;
  bool reliable;  ///< as densities_from_peak says
  double peak = std::exp(log_peak);
  PeakScale c = PeakScale::of(am1 * log_peak);

  FENCHEL_HD double operator()(double d) const noexcept { return peak * atom_powers(am1, c, d).value; }
};

/// Not reliable where the largest score has so little of the weight that its density does not tell those of
/// the others: to one rounding of it the mass is not one, or they underflow beside it.
template <class Columns, class Atoms>
FENCHEL_TEAM PeakDensities densities_from_peak(double am1, Columns& columns, const Atoms& atoms) noexcept {
  const Totals<2> weights = columns.template sum<2>([&](index_t j) {
    return Totals<2>{{atoms.d(j) == 0 ? atoms.w(j) : 0.0, atoms.w(j)}};
  });
  // The mass is <= 1 at low, >= 1 at high.
  double low = -std::log(weights.of[1]), high = -std::log(weights.of[0]), log_peak = high, log_mass = 0;
  const bool narrow = high - low < 400;
  constexpr int kNewtonSteps = 32, kMostSteps = 200;
  for (int step = 0; step < kMostSteps; ++step) {
    const PeakScale c = PeakScale::of(am1 * log_peak);
    const Totals<2> sums = columns.template sum<2>([&](index_t j) {
      const AtomPowers powers = atom_powers(am1, c, atoms.d(j));
      return Totals<2>{{atoms.w(j) * powers.value, atoms.w(j) * powers.escort}};
    });
    log_mass = log_peak + std::log(sums.of[0]);
    if (high <= low) break;
    const double newton = next_log_peak(am1, log_peak, log_mass, sums.of[0] / sums.of[1]);
    const double next = newton < low ? low : newton > high ? high : newton;
    const double change = std::abs(next - log_peak);
    if (log_mass < 0 && low < log_peak) low = log_peak;
    if (next < high) high = next;  // Newton's step never falls below the root
    log_peak = next;
    if (change <= 4e-16 * (std::abs(next) > 1 ? std::abs(next) : 1.0)) break;
    if (step >= kNewtonSteps && step % 2 == 0) log_peak = low + (high - low) / 2;
  }
  return {am1, log_peak, narrow && std::abs(log_mass) <= 1e-12};
}

/// [am1 (d - t)]_+^{1/am1}, which is 1 above t at infinite alpha: the density if the threshold lies at t.
FENCHEL_HD inline double density_above(double am1, double d, double t) noexcept {
  if (!(d > t)) return 0;
  return std::isinf(am1) ? 1.0 : std::exp(std::log(am1 * (d - t)) / am1);
}

/// The smallest score of the support, for alpha > 2: t is in it iff the mass above t is less than one. Each
/// round decides about the undecided score nearest to the middle of where it can lie, and so halves that
/// range.
template <class Columns, class Atoms>
FENCHEL_TEAM double smallest_in_support(double am1, Columns& columns, const Atoms& atoms) noexcept {
  const double peak_weight =
      columns.template sum<1>([&](index_t j) { return Totals<1>{{atoms.d(j) == 0 ? atoms.w(j) : 0.0}}; })
          .of[0];
  const double lowest = columns
                            .template smallest<1>([&](index_t j) {
                              return Totals<1>{{atoms.d(j) > -kInfinity ? atoms.d(j) : 0.0}};
                            })
                            .of[0];
  double inside = 0, outside = std::nextafter(lowest, -kInfinity);
  if (!std::isinf(am1)) {
    const double bound = -std::exp(-am1 * std::log(peak_weight)) / am1;  // as P <= 1 / peak_weight
    if (bound > outside) outside = bound;
  }
  for (;;) {
    const double middle = outside + (inside - outside) / 2;
    const Totals<2> near = columns.template smallest<2>([&](index_t j) {
      const double d = atoms.d(j);
      const bool undecided = outside < d && d < inside;
      return Totals<2>{{undecided && d >= middle ? d : kInfinity, undecided && d < middle ? -d : kInfinity}};
    });
    if (near.of[0] == kInfinity && near.of[1] == kInfinity) return inside;
    const double nearest = near.of[0] - middle < middle + near.of[1] ? near.of[0] : -near.of[1];
    const bool reached =
        columns.reaches_one([&](index_t j) { return atoms.w(j) * density_above(am1, atoms.d(j), nearest); });
    (reached ? outside : inside) = nearest;
  }
}

/// Densities by the smallest one, for alpha > 2.
struct SupportDensities {
  double smallest;
  SmallestDensity floor;
  bool reliable;  ///< the weights have a sum

  FENCHEL_HD double operator()(double d) const noexcept {
    if (d < smallest) return 0;
    return d == smallest ? floor.q : std::exp(floor.log_density(d - smallest));
  }
};

template <class Columns, class Atoms>
FENCHEL_TEAM SupportDensities densities_from_smallest(double am1, Columns& columns,
                                                      const Atoms& atoms) noexcept {
  const double smallest = smallest_in_support(am1, columns, atoms);
  const Totals<2> weights = columns.template sum<2>([&](index_t j) {
    const double d = atoms.d(j), w = atoms.w(j);
    return Totals<2>{{d >= smallest ? w : 0.0, d == smallest ? w : 0.0}};
  });
  SmallestDensity p{am1, 1 / weights.of[0]};
  const bool reliable = p.q > 0;
  constexpr int kMostSteps = 200;
  bool done = !reliable;
  for (int step = 0; step < kMostSteps && !done; ++step) {
    // The mass less one, and its slope. What all columns of the smallest score have comes first, so that two
    // columns may be swapped.
    const Totals<2> sums = columns.template sum<2>(
        [&](index_t j) {
          const double d = atoms.d(j), w = atoms.w(j);
          if (!(d > smallest)) return Totals<2>{};
          const double log_p = p.log_density(d - smallest);
          return Totals<2>{{w * std::exp(log_p), w * p.slope(log_p)}};
        },
        Totals<2>{{-1, 0}}, Totals<2>{{weights.of[1] * p.q, weights.of[1]}});
    done = p.advance(sums.of[0], sums.of[1], Columns::kRounding);
  }
  return {smallest, p, reliable};
}

/// Densities by the one from which all others differ with one sign, so that nothing cancels: p^am1 = r^am1 +
/// am1 (d - d_r), r the smallest of the support for alpha > 1 and the largest for alpha <= 1. In logarithms,
/// for weights of any sizes beside each other. At most some 1e-13 of a density is rounding.
struct ReferenceDensities {
  double am1, d, log_r;

  [[nodiscard]] FENCHEL_HD double log_density(double other) const noexcept {
    if (am1 == 0 || other == d) return log_r + (other - d);
    if (other == -kInfinity || (am1 > 0 && other < d)) return -kInfinity;
    const double above = am1 * (other - d);  // 0 where it underflows
    const double power = std::exp(am1 * log_r);
    if (above > power) return (std::log(above) + std::log1p(power / above)) / am1;
    return log_r + std::log1p(above / power) / am1;
  }
  /// Saturates at the largest number.
  FENCHEL_HD double operator()(double other) const noexcept {
    const double p = std::exp(log_density(other));
    return p < kInfinity ? p : std::numeric_limits<double>::max();
  }
};

template <class Columns, class Atoms>
FENCHEL_TEAM ReferenceDensities densities_from_reference(double am1, Columns& columns,
                                                         const Atoms& atoms) noexcept {
  ReferenceDensities p{am1, am1 > 0 ? smallest_in_support(am1, columns, atoms) : 0.0, 0};
  // Newton's iteration on the logarithm of the mass, whose slope in log r lies in (0, 1].
  // At `low` no score has mass, or r^am1 is nothing beside the powers of those that have.
  double low = am1 > 0 ? -1500 - 800 / am1 : -1500, high = 1500;
  constexpr int kNewtonSteps = 32, kMostSteps = 200;
  for (int step = 0; step < kMostSteps; ++step) {
    const Totals<2> sums = columns.template sum<2>([&](index_t j) {
      const double log_p = p.log_density(atoms.d(j)), mass = atoms.w(j) * std::exp(log_p);
      return Totals<2>{{mass, mass > 0 ? mass * std::exp(am1 * (p.log_r - log_p)) : 0.0}};
    });
    const double log_mass = std::log(sums.of[0]), before = p.log_r;
    (log_mass <= 0 ? low : high) = before;  // NaN is too much mass
    const double newton = before - log_mass * (sums.of[0] / sums.of[1]);
    const bool bisects = !(newton > low && newton < high) || (step >= kNewtonSteps && step % 2 == 0);
    p.log_r = log_mass == 0 ? before : bisects ? low + (high - low) / 2 : newton;
    if (std::abs(p.log_r - before) <= 4e-16 * (std::abs(before) > 1 ? std::abs(before) : 1.0)) break;
  }
  return p;
}

/// Infinite alpha, where no density exceeds one: one from the top down while there is mass, and what is left
/// at the level where it ends. Uniform where the weights do not reach one.
struct FilledDensities {
  double level, above, at_level;

  FENCHEL_HD double operator()(double d) const noexcept {
    return d > level ? above : d == level ? at_level : 0.0;
  }
};

template <class Columns, class Atoms>
FENCHEL_TEAM FilledDensities filled_densities(Columns& columns, const Atoms& atoms) noexcept {
  const double level = smallest_in_support(kInfinity, columns, atoms);
  const Totals<2> weights = columns.template sum<2>([&](index_t j) {
    const double d = atoms.d(j), w = atoms.w(j);
    return Totals<2>{{d > level ? w : 0.0, d == level ? w : 0.0}};
  });
  const double left = (1 - weights.of[0]) / weights.of[1], uniform = 1 / (weights.of[0] + weights.of[1]);
  return left > 1 ? FilledDensities{level, uniform, uniform} : FilledDensities{level, 1, left};
}

/// Calls use(densities, normalization), where densities(d) has mass one up to rounding.
template <class Columns, class Atoms, class Use>
FENCHEL_TEAM void normalize_atoms(double am1, Columns& columns, const Atoms& atoms, const Use& use) noexcept {
  if (std::isinf(am1)) {
    const FilledDensities p = filled_densities(columns, atoms);
    return use(p, Normalization{p.level, p.level});
  }
  if (am1 <= 1) {
    const PeakDensities p = densities_from_peak(am1, columns, atoms);
    if (p.reliable) return use(p, normalization_from_peak(am1, p.log_peak));
  } else {
    const SupportDensities p = densities_from_smallest(am1, columns, atoms);
    const double threshold = p.smallest - std::exp(am1 * p.floor.log_q) / am1;
    if (p.reliable) return use(p, Normalization{threshold + 1 / am1, threshold});
  }
  const ReferenceDensities p = densities_from_reference(am1, columns, atoms);
  const Normalization relative = normalization_from_peak(am1, p.log_r);
  use(p, Normalization{p.d + relative.offset, p.d + relative.threshold});
}

}  // namespace fenchel::detail
