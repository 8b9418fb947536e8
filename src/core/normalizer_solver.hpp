#pragma once

#include <algorithm>
#include <cmath>

#include "core/smallest_density.hpp"
#include "core/team_code.hpp"
#include "fenchel/core/deformed.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/core/normalizer.hpp"

/// How `normalize` finds densities, for one thread of the CPU and for threads of a GPU that share a row.
/// Columns visits the columns (core/columns.hpp), atoms.d(j) is the score of column j less the largest one of
/// positive weight, -inf for no mass, and atoms.w(j) its weight. docs/math.md 2.
namespace fenchel::detail {

/// E = exp_{2-alpha}(c d) and E^{1 - am1}, excess = c - 1: 1 + am1 c d is summed so that next to the edge of
/// the support, where am1 d is about -1, nothing of d is lost.
struct AtomPowers {
  double value, escort;
};
FENCHEL_HD inline AtomPowers atom_powers(double am1, double excess, double d) noexcept {
  if (am1 == 0) return {std::exp(d), std::exp(d)};
  const double scaled = am1 * d, base = (1 + scaled) + scaled * excess;
  if (!(base > 0)) return {0, 0};
  if (am1 == 1) return {base, 1};
  if (am1 == 0.5) return {base * base, base};
  const double value = std::exp(std::log1p(scaled + scaled * excess) / am1);
  return {value, value > 0 ? value / base : 0.0};
}

/// One Newton step for log P, alpha <= 2, from S = sum E and R = sum E^{1 - am1}, E = exp_{2-alpha}(c d). It
/// is Newton's step in A for log_{2-alpha}(P S), which is convex in A (Minkowski, in both directions of the
/// exponent 1/am1), so from P too large it never overshoots; it is exact for equal scores and for alpha = 1.
/// docs/math.md 2.
FENCHEL_HD inline double next_log_peak(double am1, double log_peak, double sum, double escort_sum) noexcept {
  const double log_mass = log_peak + std::log(sum);
  return log_peak + log_deformed_exp(am1, sum / escort_sum * -deformed_log_of_exp(-am1, log_mass));
}

/// Densities by the largest one, for alpha <= 2.
struct PeakDensities {
  double am1, log_peak, peak = std::exp(log_peak), excess = std::expm1(-am1 * log_peak);

  FENCHEL_HD double operator()(double d) const noexcept { return peak * atom_powers(am1, excess, d).value; }
};

template <class Columns, class Atoms>
FENCHEL_TEAM PeakDensities densities_from_peak(double am1, Columns& columns, const Atoms& atoms) noexcept {
  const Totals<2> weights = columns.template sum<2>([&](index_t j) {
    return Totals<2>{{atoms.d(j) == 0 ? atoms.w(j) : 0.0, atoms.w(j)}};
  });
  // The mass is <= 1 at low, >= 1 at high.
  double low = -std::log(weights.of[1]), high = -std::log(weights.of[0]), log_peak = high;
  constexpr int kNewtonSteps = 32, kMostSteps = 200;
  for (int step = 0; step < kMostSteps; ++step) {
    const double excess = std::expm1(-am1 * log_peak);
    const Totals<2> sums = columns.template sum<2>([&](index_t j) {
      const AtomPowers powers = atom_powers(am1, excess, atoms.d(j));
      return Totals<2>{{atoms.w(j) * powers.value, atoms.w(j) * powers.escort}};
    });
    const double newton = next_log_peak(am1, log_peak, sums.of[0], sums.of[1]);
    const double next = newton < low ? low : newton > high ? high : newton;
    const double change = std::abs(next - log_peak);
    if (log_peak + std::log(sums.of[0]) < 0 && low < log_peak) low = log_peak;
    if (next < high) high = next;  // Newton's step never falls below the root
    log_peak = next;
    if (change <= 4e-16 * (std::abs(next) > 1 ? std::abs(next) : 1.0) || high <= low) break;
    if (step >= kNewtonSteps && step % 2 == 0) log_peak = low + (high - low) / 2;
  }
  return {am1, log_peak};
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
  constexpr int kMostSteps = 200;
  bool done = false;
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
  return {smallest, p};
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

/// The mass of densities, by which they are divided: rounding has left it a few ulp from one. Those of
/// infinite alpha stay as they are: one is exactly one.
template <class Columns, class Atoms, class Densities>
FENCHEL_TEAM double mass_of(Columns& columns, const Atoms& atoms, const Densities& densities) noexcept {
  return columns.template sum<1>([&](index_t j) { return Totals<1>{{atoms.w(j) * densities(atoms.d(j))}}; })
      .of[0];
}
template <class Columns, class Atoms>
FENCHEL_TEAM double mass_of(Columns&, const Atoms&, const FilledDensities&) noexcept {
  return 1;
}

/// Calls use(densities, normalization), where densities(d) has mass one up to rounding.
template <class Columns, class Atoms, class Use>
FENCHEL_TEAM void normalize_atoms(double am1, Columns& columns, const Atoms& atoms, const Use& use) noexcept {
  if (std::isinf(am1)) {
    const FilledDensities p = filled_densities(columns, atoms);
    use(p, Normalization{p.level, p.level});
  } else if (am1 <= 1) {
    const PeakDensities p = densities_from_peak(am1, columns, atoms);
    use(p, normalization_from_peak(am1, p.log_peak));
  } else {
    const SupportDensities p = densities_from_smallest(am1, columns, atoms);
    const double threshold = p.smallest - std::exp(am1 * p.floor.log_q) / am1;
    use(p, Normalization{threshold + 1 / am1, threshold});
  }
}

}  // namespace fenchel::detail
