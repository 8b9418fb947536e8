#include "fenchel/core/normalizer.hpp"

#include <algorithm>

#include "core/compensated_sum.hpp"
#include "core/smallest_density.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel {
namespace {

/// Scores less their maximum, with the measure.
struct Row {
  std::span<double> values;
  std::span<const double> weights;

  [[nodiscard]] std::size_t size() const noexcept { return values.size(); }
  [[nodiscard]] double weight(std::size_t i) const noexcept { return weights.empty() ? 1.0 : weights[i]; }

  /// The weight of the atoms at the maximum.
  [[nodiscard]] double peak_weight() const noexcept {
    double sum = 0;
    for (std::size_t i = 0; i < size(); ++i) sum += values[i] == 0 ? weight(i) : 0.0;
    return sum;
  }

  /// Divides by the mass, which rounding has left a few ulp from one.
  void rescale() const noexcept {
    detail::CompensatedSum mass;
    for (std::size_t i = 0; i < size(); ++i) mass.add(weight(i) * values[i]);
    for (double& value : values) value /= mass.total();
  }
};

struct Sums {
  double mass = 0, escort = 0;
};

/// sum w E and sum w E^{1 - am1}, E = exp_{2-alpha}(c d), c = exp(-am1 log P).
Sums deformed_sums(double am1, double log_peak, const Row& row) noexcept {
  const double slope = am1 * std::exp(-am1 * log_peak);
  detail::CompensatedSum mass, escort;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double base = 1 + slope * row.values[i];
    const double e = am1 == 0 ? std::exp(row.values[i])
                              : (base > 0 ? std::exp(std::log1p(slope * row.values[i]) / am1) : 0.0);
    mass.add(row.weight(i) * e);
    escort.add(e > 0 ? row.weight(i) * e / base : 0.0);
  }
  return {mass.total(), escort.total()};
}

/// One Newton step for log P, alpha <= 2, from S = sum E and R = sum E^{1 - am1}, E = exp_{2-alpha}(c d). It
/// is Newton's step in A for log_{2-alpha}(P S), which is convex in A (Minkowski, in both directions of the
/// exponent 1/am1), so from P too large it never overshoots; it is exact for equal scores and for alpha = 1.
/// docs/math.md 2.
double next_log_peak(double am1, double log_peak, double sum, double escort_sum) noexcept {
  const double log_mass = log_peak + std::log(sum);
  return log_peak + log_deformed_exp(am1, sum / escort_sum * -deformed_log_of_exp(-am1, log_mass));
}

Normalization normalize_from_peak(double am1, const Row& row) noexcept {
  double peak_weight = 0, total_weight = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row.values[i] == 0) peak_weight += row.weight(i);
    total_weight += row.weight(i);
  }
  double low = -std::log(total_weight),
         high = -std::log(peak_weight);  // the mass is <= 1 at low, >= 1 at high
  double log_peak = high;
  constexpr int kNewtonSteps = 32, kMostSteps = 200;
  for (int step = 0; step < kMostSteps; ++step) {
    const Sums sums = deformed_sums(am1, log_peak, row);
    const double next = std::clamp(next_log_peak(am1, log_peak, sums.mass, sums.escort), low, high);
    const double change = std::abs(next - log_peak);
    if (log_peak + std::log(sums.mass) < 0) low = std::max(low, log_peak);
    high = std::min(high, next);  // Newton's step never falls below the root
    log_peak = next;
    if (change <= 4e-16 * std::max(1.0, std::abs(next)) || high <= low) break;
    if (step >= kNewtonSteps && step % 2 == 0) log_peak = low + (high - low) / 2;
  }
  const double scale = std::exp(-am1 * log_peak);
  for (double& value : row.values) value = std::exp(log_peak) * deformed_exp(am1, scale * value);
  row.rescale();
  return normalization_from_peak(am1, log_peak);
}

/// sum w [am1 (d - t)]_+^{1/am1}: the mass when the threshold lies at t. Stops once it has reached one.
double mass_above(double am1, double t, const Row& row) noexcept {
  double mass = 0;
  for (std::size_t i = 0; i < row.size() && mass < 1; ++i) {
    if (row.values[i] > t) mass += row.weight(i) * std::exp(std::log(am1 * (row.values[i] - t)) / am1);
  }
  return mass;
}

/// The smallest score of the support: t is in it iff the mass above t is less than one. Each round decides
/// about the undecided score nearest to the middle of where it can lie, and so halves that range.
double smallest_in_support(double am1, const Row& row) noexcept {
  double lowest = 0;
  for (const double d : row.values) lowest = d > -kInfinity ? std::min(lowest, d) : lowest;
  double inside = 0;
  double outside = -std::exp(-am1 * std::log(row.peak_weight())) / am1;  // as P <= 1 / peak_weight
  outside = std::max(outside, std::nextafter(lowest, -kInfinity));
  for (;;) {
    const double middle = outside + (inside - outside) / 2;
    double nearest = kInfinity;
    for (const double d : row.values) {
      const bool undecided = outside < d && d < inside;
      if (undecided && std::abs(d - middle) < std::abs(nearest - middle)) nearest = d;
    }
    if (nearest == kInfinity) return inside;
    (mass_above(am1, nearest, row) < 1 ? inside : outside) = nearest;
  }
}

Normalization normalize_from_smallest(double am1, const Row& row) noexcept {
  const double smallest = smallest_in_support(am1, row);
  double support_weight = 0, smallest_weight = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row.values[i] >= smallest) support_weight += row.weight(i);
    if (row.values[i] == smallest) smallest_weight += row.weight(i);
  }
  detail::SmallestDensity p{am1, 1 / support_weight};
  constexpr int kMostSteps = 200;
  constexpr double kRounding = 1e-16;
  bool done = false;
  for (int step = 0; step < kMostSteps && !done; ++step) {
    detail::CompensatedSum excess;  // the mass less one
    excess.add(-1);
    excess.add(smallest_weight * p.q);
    double slope = smallest_weight;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row.values[i] <= smallest) continue;
      const double log_p = p.log_density(row.values[i] - smallest);
      excess.add(row.weight(i) * std::exp(log_p));
      slope += row.weight(i) * p.slope(log_p);
    }
    done = p.advance(excess.total(), slope, kRounding);
  }
  for (double& value : row.values) {
    if (value < smallest) {
      value = 0;
    } else {
      value = value == smallest ? p.q : std::exp(p.log_density(value - smallest));
    }
  }
  row.rescale();
  const double threshold = smallest - std::exp(am1 * p.log_q) / am1;
  return {threshold + 1 / am1, threshold};
}

Normalization normalize_to_maxima(const Row& row) noexcept {
  for (double& value : row.values) value = value == 0 ? 1.0 : 0.0;
  row.rescale();
  return {0, 0};
}

}  // namespace

Normalization normalize(double am1, std::span<double> values, std::span<const double> weights) noexcept {
  const Row row{values, weights};
  if (am1 == kInfinity) return normalize_to_maxima(row);
  return am1 <= 1 ? normalize_from_peak(am1, row) : normalize_from_smallest(am1, row);
}

}  // namespace fenchel
