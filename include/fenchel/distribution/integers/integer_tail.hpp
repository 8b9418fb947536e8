#pragma once

/// The tails of distributions on the integers that fall like powers, and sums over them.

#include <cmath>
#include <functional>
#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/infinity.hpp"

/// A distribution on the integers whose probabilities fall like a power cannot be summed term by term. Where
/// they change little from one integer to the next a sum is an integral with Gregory's correction at its end
/// [docs/math.md 3.3], and so a sum over few nodes with weights.
namespace fenchel::detail {

/// How fast p falls: like (k^growth (log k)^log_growth)^{-1/rate} at the distance k.
struct IntegerDecay {
  double growth, log_growth, rate;

  /// Whether the sum of p^order k^power (log k)^log_power is finite.
  [[nodiscard]] bool sums(double order, double power, double log_power = 0) const noexcept {
    const double excess = order * growth - (power + 1) * rate;
    return excess > 0 || (excess == 0 && order * log_growth > (log_power + 1) * rate);
  }
};

/// The logarithm rest + power log k of a function of the distance k, whose parts may be huge and cancel.
struct LogPower {
  double rest, power;

  [[nodiscard]] double at(double log_distance) const noexcept {
    return power == 0 ? rest : rest + power * log_distance;
  }
  /// Of the function to the power `order` times k^n.
  [[nodiscard]] LogPower raised(double order, double n) const noexcept {
    return {order * rest, order * power + n};
  }
};

/// A point of a tail: its distance from the centre, which may be infinite where its logarithm is not.
struct TailPoint {
  double distance, log_distance;
  LogPower p;

  [[nodiscard]] double log_p() const noexcept { return p.at(log_distance); }
};

/// A point with a weight: the sum of g over a tail is that of weight g over the nodes.
struct TailNode : TailPoint {
  double sign;
  LogPower weight;

  /// The weight times a function.
  [[nodiscard]] double times(const LogPower& g) const noexcept {
    return sign * std::exp(LogPower{weight.rest + g.rest, weight.power + g.power}.at(log_distance));
  }
};

/// The probabilities on one side of an integer, beyond a window.
struct IntegerTail {
  index_t centre;
  int step;      ///< 1 above the centre, -1 below it
  double first;  ///< the distance of the first integer outside of the window
  double last;   ///< that of the last one, often infinite
  IntegerDecay decay;
  /// log p at a distance, given its logarithm too.
  std::function<LogPower(double, double)> log_p;
  /// log p is known up to here.
  double last_log_distance = kInfinity;

  [[nodiscard]] TailPoint at(double distance) const {
    const double log_distance = std::log(distance);
    return {distance, log_distance, log_p(distance, log_distance)};
  }
  [[nodiscard]] double distance(index_t t) const noexcept {
    return step * (static_cast<double>(t) - static_cast<double>(centre));
  }
};

/// Nodes for sums over a tail, and the part of the sum that lies beyond the last one.
struct TailNodes {
  std::vector<TailNode> nodes;
  double lost;

  /// The sum of p^order k^n factor.
  template <class Factor>
  [[nodiscard]] double sum(double order, double n, const Factor& factor) const {
    double total = 0;
    for (const TailNode& node : nodes) total += node.times(node.p.raised(order, n)) * factor(node);
    return total;
  }
};

/// For the sum over all integers of the tail at least `from` away of functions of this size, which the caller
/// knows to be finite. Relative accuracy about 1e-14.
using TailSize = FunctionRef<LogPower(const TailPoint&)>;
[[nodiscard]] FENCHEL_EXPORT TailNodes tail_nodes(const IntegerTail& tail, double from, TailSize size);
/// The size p^order k^n.
[[nodiscard]] FENCHEL_EXPORT TailNodes tail_nodes(const IntegerTail& tail, double from, double order,
                                                  double n);

/// Whether from this distance on probabilities can be summed by an integral.
[[nodiscard]] FENCHEL_EXPORT bool is_smooth(const IntegerTail& tail, double from);

}  // namespace fenchel::detail
