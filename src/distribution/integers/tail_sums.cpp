#include "distribution/integers/tail_sums.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {
namespace {

/// log of the sum of p^order from a distance on.
double log_power_from(const IntegerTail& tail, double from, double order) {
  const double lead = order * tail.at(from).log_p();
  if (lead == -kInfinity) return lead;
  double total = 0;
  for (const TailNode& node : tail_nodes(tail, from, order, 0).nodes) {
    const LogPower size = node.p.raised(order, 0);
    total += node.times({size.rest - lead, size.power});
  }
  return lead + std::log(total);
}

}  // namespace

double log_tail_mass(const IntegerTail& tail, double from) {
  return from > tail.last ? -kInfinity : log_power_from(tail, from, 1);
}

double tail_quantile(const IntegerTail& tail, double log_mass, bool strictly) {
  constexpr double kMost = 0x1p63, kResolved = 0x1p50;
  const auto excess = [&](double k) { return log_tail_mass(tail, std::ceil(k)) - log_mass; };
  const auto holds = [strictly](double value) { return strictly ? value < 0 : value <= 0; };
  double low = tail.first, at_low = excess(low);
  if (holds(at_low)) return low;
  // The mass is nearly a power of the distance, so the secant in its logarithm is good.
  double high = 2 * low, at_high = excess(high);
  for (double factor = 2; !holds(at_high); factor *= factor) {
    low = high;
    at_low = at_high;
    if (low >= kMost || low >= tail.last) return kInfinity;
    high = std::min(low * factor, 2 * kMost);
    at_high = excess(high);
  }
  for (int step = 0; high - low > 1 && !(low > kResolved && high - low < low / kResolved); ++step) {
    const double ratio = std::log(high / low);
    double middle = std::sqrt(low) * std::sqrt(high);
    if (step % 3 != 2 && std::isfinite(at_high)) middle = low * std::exp(ratio * at_low / (at_low - at_high));
    middle = std::clamp(std::round(middle), std::min(low + 1, high), std::max(high - 1, low));
    const double at_middle = excess(middle);
    if (holds(at_middle)) {
      high = middle;
      at_high = at_middle;
    } else {
      low = middle;
      at_low = at_middle;
    }
  }
  return high >= kMost ? kInfinity : high;
}

double tail_moment(const IntegerTail& tail, double origin, int n) {
  if (tail.last == kInfinity && !tail.decay.sums(1, n)) return std::pow(tail.step, n) * kInfinity;
  const double shift = static_cast<double>(tail.centre) - origin;
  return tail_nodes(tail, tail.first, 1, n).sum(1, n, [&](const TailPoint& point) {
    return std::pow(tail.step + shift / point.distance, n);
  });
}

double tail_negentropy(const IntegerTail& tail, double order) {
  if (tail.last == kInfinity && !tail.decay.sums(order, 0)) return -kInfinity;
  const double power = std::min(order, 1.0);
  return tail_nodes(tail, tail.first, power, 0).sum(power, 0, [order](const TailPoint& point) {
    if (order == 1) return point.log_p();
    const double part = std::expm1(std::abs(order - 1) * point.log_p()) / (order * (order - 1));
    return order < 1 ? -part : part;
  });
}

double tail_expectation(const IntegerTail& tail, FunctionRef<double(double)> f, double accuracy) {
  const auto value = [&](const TailPoint& point) {
    const double t = static_cast<double>(tail.centre) + tail.step * point.distance, y = f(t);
    if (std::isnan(y)) throw_domain_error("expectation", "f(" + shortest(t) + ")", "must be a number", y);
    return y;
  };
  const auto size = [&](const TailPoint& point) {
    return LogPower{point.log_p() + std::log1p(std::abs(value(point))), 0};
  };
  IntegerTail known = tail;
  known.last_log_distance = std::min(tail.last_log_distance, 690.0);
  // A rough function shows where its terms are taken one by one: those up to twice the distance.
  double direct = 0, scale = 0;
  for (double k = tail.first; k < 2 * tail.first && k <= tail.last; ++k) {
    const TailPoint point = tail.at(k);
    const double term = std::exp(point.log_p()) * value(point);
    direct += term;
    scale += std::abs(term);
  }
  const TailNodes all = tail_nodes(known, tail.first, size), rest = tail_nodes(known, 2 * tail.first, size);
  const auto sum = [&](const TailNodes& nodes) { return nodes.sum(1, 0, value); };
  const double whole = sum(all), parts = direct + sum(rest);
  const double error = std::max(std::abs(whole - parts), all.lost * std::abs(whole));
  if (!(error <= accuracy * std::max(scale + std::abs(whole), 1.0)))
    throw ConvergenceError(error_message("expectation", "f in the tail",
                                         "must be smooth and grow slowly enough: the error is", error));
  return whole;
}

IntegerTable heavy_escort(const IntegerTable& p, double order) {
  const double top = p.log_pmf(p.mode());
  std::vector<IntegerTail> tails(p.tails().begin(), p.tails().end());
  double mass = 0;  // of p^order, in units of its value at the mode
  for (IntegerTail& tail : tails) {
    if (tail.last == kInfinity && !tail.decay.sums(order, 0))
      throw_domain_error("escort", "beta",
                         "must be above " + shortest(tail.decay.rate / tail.decay.growth) +
                             ", or the sum of p^beta is infinite",
                         order);
    mass += std::exp(log_power_from(tail, tail.first, order) - order * top);
    tail.decay.rate /= order;
  }
  std::vector<double> window;
  for (const double probability : p.probabilities())
    window.push_back(std::exp(order * (std::log(probability) - top)));
  for (const double x : window) mass += x;
  const double shift = -order * top - std::log(mass);
  for (double& x : window) x /= mass;
  const auto positive = [](double x) { return x > 0; };  // of a large order the ends of the window are 0
  const auto begin = std::find_if(window.begin(), window.end(), positive);
  const auto end = std::find_if(window.rbegin(), window.rend(), positive).base();
  const index_t first = p.first() + (begin - window.begin()), last = first + (end - begin) - 1;
  for (IntegerTail& tail : tails) {
    tail.first = tail.distance(tail.step > 0 ? last : first) + 1;
    tail.log_p = [order, shift, log_p = tail.log_p](double distance, double log_distance) {
      const LogPower power = log_p(distance, log_distance).raised(order, 0);
      return LogPower{power.rest + shift, power.power};
    };
  }
  return {first, std::vector<double>(begin, end), p.support(),
          [p, order, shift](index_t t) { return order * p.log_pmf(t) + shift; }, std::move(tails)};
}

}  // namespace fenchel::detail
