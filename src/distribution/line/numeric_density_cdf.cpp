#include <algorithm>
#include <cmath>
#include <limits>

#include "distribution/line/numeric_density_table.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/infinity.hpp"

/// Distribution functions and quantiles of NumericDensity: the table and one panel of it.
namespace fenchel {
namespace {

using Table = NumericDensity::Table;

double between(const Table& table, double lower, double upper) {
  return detail::gauss_kronrod([&](double t) { return std::exp(table.log_pdf(t)); }, lower, upper).value;
}

/// Mass left (-1) or right (1) of t, inside the range of the table.
double mass_beside(const Table& table, double t, int direction) {
  const auto after = std::upper_bound(table.panels.begin(), table.panels.end(), t,
                                      [](double x, const detail::Panel& part) { return x < part.lower; });
  const auto i = static_cast<std::size_t>(after - table.panels.begin()) - 1;
  const detail::Panel& part = table.panels[i];
  const double inside = std::min(t, part.upper);
  if (direction < 0) return std::min(1.0, table.below[i] + between(table, part.lower, inside));
  return std::min(1.0, table.above[i + 1] + between(table, inside, part.upper));
}

constexpr double kSmall = 1e-3;  // panels are resolved for the whole mass: a smaller one is integrated anew

bool beyond_modes(const Table& table, double t, int direction) {
  return direction < 0 ? t < table.modes.front() && table.support.front().contains(t)
                       : t > table.modes.back() && table.support.back().contains(t);
}

/// The mass beside t as log_mass_beside has it: 1 less it is the other one, to every digit.
double small_mass_beside(const Table& table, double t, int direction) {
  const double mass = mass_beside(table, t, direction);
  return mass < kSmall && beyond_modes(table, t, direction) ? std::exp(table.log_tail(t, direction)) : mass;
}

/// log P(X <= t) for direction -1, log P(X > t) for 1.
double log_mass_beside(const NumericDensity& p, double t, int direction) {
  const Table& table = p.table();
  if (std::isnan(t)) return t;
  const double lower = table.panels.front().lower, upper = table.panels.back().upper;
  const bool all = direction < 0 ? t == kInfinity : t == -kInfinity;
  const bool none = direction < 0 ? t <= table.support.front().lower() : t >= table.support.back().upper();
  if (none) return -kInfinity;
  if (all) return 0;
  if (direction < 0 ? t < lower : t > upper) return table.log_tail(t, direction);
  if (direction < 0 ? t > upper : t < lower) return std::log1p(-std::exp(log_mass_beside(p, t, -direction)));
  const double mass = mass_beside(table, t, direction);
  if (mass < kSmall && beyond_modes(table, t, direction)) return table.log_tail(t, direction);
  return mass > 0.5 ? std::log1p(-small_mass_beside(table, t, -direction)) : std::log(mass);
}

/// The t of panel i with the given mass of the panel left (-1) or right (1) of it: Newton's iteration kept in
/// a bracket.
double invert(const Table& table, std::size_t i, double mass, int direction) {
  const detail::Panel& part = table.panels[i];
  double lower = part.lower, upper = part.upper;
  const double share = std::min(1.0, std::max(0.0, mass / part.value));
  double t = lower + (direction < 0 ? share : 1 - share) * (upper - lower);
  for (int iteration = 0; iteration < 60; ++iteration) {
    const double excess = direction < 0 ? between(table, part.lower, t) - mass
                                        : mass - between(table, t, part.upper);  // grows with t
    (excess > 0 ? upper : lower) = t;
    const double step = excess / std::exp(table.log_pdf(t));
    if (std::abs(step) <= 2 * std::numeric_limits<double>::epsilon() * std::abs(t)) break;
    const double next = t - step;
    t = next > lower && next < upper ? next : lower + (upper - lower) / 2;
    if (t == lower || t == upper) break;
  }
  return t;
}

/// From t on, Newton's iteration for the logarithm of the tail; by that of the distance to a finite end, to
/// which a tail falls like a power.
double tail_quantile(const Table& table, double u, double t, int direction) {
  const double target = std::log(u);
  const double end = direction < 0 ? table.support.front().lower() : table.support.back().upper();
  for (int iteration = 0; iteration < 100; ++iteration) {
    const double tail = table.log_tail(t, direction);
    const double scale = std::exp(tail - table.log_pdf(t));  // of its decay
    const double step = std::isinf(end) ? direction * (tail - target) * scale
                                        : (t - end) * std::expm1((target - tail) * scale / std::abs(end - t));
    if (!(std::abs(step) > 2 * std::numeric_limits<double>::epsilon() * std::abs(t))) break;
    t += step;
  }
  return t;
}

double quantile_beside(const Table& table, double u, int direction) {
  const std::size_t size = table.panels.size();
  if (u == 0) return direction < 0 ? table.support.front().lower() : table.support.back().upper();
  if (u > 1 - kSmall) return quantile_beside(table, 1 - u, -direction);  // what is below u is rounded
  double t = direction < 0 ? table.panels.front().lower : table.panels.back().upper;
  if (u < (direction < 0 ? table.below[0] : table.above[size])) return tail_quantile(table, u, t, direction);
  if (direction < 0) {
    const auto after = std::lower_bound(table.below.begin() + 1, table.below.end(), u);
    if (after == table.below.end()) return table.panels.back().upper;
    const auto i = static_cast<std::size_t>(after - table.below.begin()) - 1;
    t = invert(table, i, u - table.below[i], -1);
  } else {
    const auto after = std::lower_bound(table.above.rbegin() + 1, table.above.rend(), u);
    if (after == table.above.rend()) return table.panels.front().lower;
    const std::size_t i = size - static_cast<std::size_t>(after - table.above.rbegin());
    t = invert(table, i, u - table.above[i + 1], 1);
  }
  return u < kSmall && beyond_modes(table, t, direction) ? tail_quantile(table, u, t, direction) : t;
}

}  // namespace

double log_cdf(const NumericDensity& p, double t) { return log_mass_beside(p, t, -1); }
double log_survival(const NumericDensity& p, double t) { return log_mass_beside(p, t, 1); }
double cdf(const NumericDensity& p, double t) { return std::exp(log_cdf(p, t)); }
double survival(const NumericDensity& p, double t) { return std::exp(log_survival(p, t)); }

double quantile(const NumericDensity& p, double u) {
  return quantile_beside(p.table(), detail::checked_probability("quantile", "u", u), -1);
}

double survival_quantile(const NumericDensity& p, double u) {
  return quantile_beside(p.table(), detail::checked_probability("survival_quantile", "u", u), 1);
}

}  // namespace fenchel
