#include "loss/integer_sums.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/compensated_sum.hpp"
#include "core/fenchel_young_term.hpp"
#include "core/tsallis_term.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/distribution/integers/integer_tail.hpp"

namespace fenchel::detail {
namespace {

/// d phi / d alpha over p^alpha for am1 < 0, phi(p) = p log_{2-alpha}(p) / alpha, for p that may underflow.
double slope_over_power(double am1, double log_p) {
  constexpr double kLarge = 500;  // past it e^-y does not count
  const double y = am1 * log_p, alpha = 1 + am1;
  if (y > kLarge) return (log_p * (1 - 1 / y) - 1 / alpha) / am1 / alpha;
  return (deformed_log_alpha_derivative<1>(am1, log_p) - deformed_log_of_exp(am1, log_p) / alpha) *
         std::exp(-y) / alpha;
}

class Sum {
 public:
  Sum(LossKind kind, const IntegerPrediction& p, double centre, double unit)
      : has_entropy_(kind == LossKind::fenchel_young), p_(p), centre_(centre), unit_(unit) {}

  /// An integer of the window.
  void add(index_t t, double probability, double target) {
    const double excess = p_.excess(t);
    add_moments(static_cast<double>(t), probability - target);
    alpha_.add(-tsallis_term_alpha_derivative(p_.am1, probability));
    if (has_entropy_) alpha_.add(tsallis_term_alpha_derivative(p_.am1, target));
    add_value(has_entropy_ ? fenchel_young_term(p_.am1, target, probability, excess)
                           : cross_omega_term(p_.am1, target, probability, excess));
  }

  /// What the target adds at an integer outside of the window.
  void add_target(index_t t, double target) {
    add_moments(static_cast<double>(t), -target);
    add_value(cross_omega_term(p_.am1, target, 0, p_.excess(t)));
    if (!has_entropy_) return;
    add_value(tsallis_term(p_.am1, target));
    alpha_.add(tsallis_term_alpha_derivative(p_.am1, target));
  }

  void add_tail(const IntegerTail& tail) {
    const double alpha = 1 + p_.am1;
    for (const TailNode& node : tail_nodes(tail, tail.first, alpha, 0).nodes) {
      const double power = node.times(node.p.raised(alpha, 0));
      value_.add(power / alpha);
      alpha_.add(-power * slope_over_power(p_.am1, node.log_p()));
      add_moments(tail, node, 1);
    }
  }

  /// A tail of the target: a loss is infinite where E_q[f] is.
  void add_target_tail(const IntegerTail& tail) {
    if (tail.last == kInfinity && !tail.decay.sums(1, p_.growth, p_.log_growth)) {
      add_value(kInfinity);
      return;
    }
    const double am1 = p_.am1, alpha = 1 + am1;
    constexpr double kLargestSquare = 350;  // of log k, so that quadratic scores do not overflow
    IntegerTail known = tail;
    known.last_log_distance = std::min(tail.last_log_distance, kLargestSquare);
    const auto size = [this](const TailPoint& point) { return point.p.raised(1, p_.growth); };
    for (const TailNode& node : tail_nodes(known, tail.first, size).nodes) {
      const double mass = node.times(node.p), l = node.log_p();
      const double x =
          static_cast<double>(tail.centre) - static_cast<double>(p_.mode) + tail.step * node.distance;
      value_.add(-mass * (p_.relative(x) - p_.normalization.offset + 1 / alpha));
      add_moments(tail, node, -1);
      if (!has_entropy_) continue;
      value_.add(std::isinf(am1) ? 0.0 : mass * deformed_log_of_exp(am1, l) / alpha);
      alpha_.add(am1 < 0 ? node.times(node.p.raised(alpha, 0)) * slope_over_power(am1, l)
                         : node.times({0, 0}) * tsallis_term_alpha_derivative(am1, std::exp(l)));
    }
  }

  [[nodiscard]] IntegerLossSums total() const {
    const double value = is_infinite_ ? kInfinity : value_.total();
    return {has_entropy_ ? std::max(0.0, value) : value, first_.total(), second_.total(), alpha_.total()};
  }

 private:
  void add_value(double part) {
    is_infinite_ = is_infinite_ || part == kInfinity;
    if (!is_infinite_) value_.add(part);
  }
  void add_moments(double t, double difference) {
    const double x = t - centre_;
    first_.add(difference * x);
    second_.add(difference * (x / unit_) * (x / unit_));
  }
  void add_moments(const IntegerTail& tail, const TailNode& node, double sign) {
    const double side = tail.step + (static_cast<double>(tail.centre) - centre_) / node.distance;  // x / k
    first_.add(sign * node.times(node.p.raised(1, 1)) * side);
    if (!(p_.growth > 1)) return;
    LogPower square = node.p.raised(1, 2);
    square.rest -= 2 * std::log(unit_);
    second_.add(sign * node.times(square) * side * side);
  }

  bool has_entropy_, is_infinite_ = false;
  const IntegerPrediction& p_;
  double centre_, unit_;
  CompensatedSum value_, first_, second_, alpha_;
};

/// Whether the target is the prediction itself.
bool is_prediction(const IntegerTable& p, const IntegerTarget& q) {
  const auto tails = p.tails(), others = q.tails();
  if (tails.empty() || tails.size() != others.size() || q.atoms().size() != p.probabilities().size())
    return false;
  if (q.atoms().front().at != p.first()) return false;
  const auto same = [](double probability, const auto& atom) { return probability == atom.probability; };
  if (!std::equal(p.probabilities().begin(), p.probabilities().end(), q.atoms().begin(), same)) return false;
  return std::equal(tails.begin(), tails.end(), others.begin(), [](const auto& a, const auto& b) {
    return a.centre == b.centre && a.at(a.first).log_p() == b.at(b.first).log_p() &&
           a.at(2 * a.first).log_p() == b.at(2 * b.first).log_p();
  });
}

}  // namespace

IntegerLossSums integer_loss_sums(LossKind kind, const IntegerPrediction& p, const IntegerTarget& q,
                                  double centre, double unit) {
  if (kind == LossKind::fenchel_young && is_prediction(p.table, q)) return {0, 0, 0, 0};
  Sum sum(kind, p, centre, unit);
  auto atom = q.atoms().begin();
  const auto end = q.atoms().end();
  index_t t = p.table.first();
  for (; atom != end && atom->at < t; ++atom) sum.add_target(atom->at, atom->probability);
  for (const double probability : p.table.probabilities()) {
    const bool charged = atom != end && atom->at == t;
    sum.add(t, probability, charged ? atom->probability : 0.0);
    if (charged) ++atom;
    ++t;
  }
  for (; atom != end; ++atom) sum.add_target(atom->at, atom->probability);
  for (const IntegerTail& tail : p.table.tails()) sum.add_tail(tail);
  for (const IntegerTail& tail : q.tails()) sum.add_target_tail(tail);
  return sum.total();
}

std::array<double, 4> heavy_covariance(const IntegerTable& p, double beta, int degree) {
  // Sums of p^beta times polynomials of x = t - mode, which are given with a bound of their degree.
  const auto sum = [&](int n, const auto& polynomial) {
    CompensatedSum total;
    auto x = static_cast<double>(p.first() - p.mode());
    for (const double probability : p.probabilities())
      total.add(std::pow(probability, beta) * polynomial(x++, 1.0));
    for (const IntegerTail& tail : p.tails()) {
      const auto shift = static_cast<double>(tail.centre - p.mode());
      total.add(tail_nodes(tail, tail.first, beta, n).sum(beta, n, [&](const TailPoint& point) {
        return polynomial(tail.step + shift / point.distance, 1 / point.distance);
      }));
    }
    return total.total();
  };
  // A polynomial of degree n is given as homogeneous in x and a unit, so that x / k and 1 / k may stand for
  // them.
  const double mass = sum(0, [](double, double) { return 1.0; });
  const double mean = sum(1, [](double x, double) { return x; }) / mass;
  const double variance = sum(2, [mean](double x, double unit) {
    const double d = x - mean * unit;
    return d * d;
  });
  if (degree == 1) return {variance, 0, 0, 0};
  const double square = sum(2, [](double x, double) { return x * x; }) / mass;
  const double mixed =
      sum(3, [=](double x, double unit) { return (x - mean * unit) * (x * x - square * unit * unit); });
  const double last = sum(4, [=](double x, double unit) {
    const double d = x * x - square * unit * unit;
    return d * d;
  });
  return {variance, mixed, mixed, last};
}

}  // namespace fenchel::detail
