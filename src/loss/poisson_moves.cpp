#include "loss/poisson_moves.hpp"

#include <algorithm>
#include <span>

#include "fenchel/backend/cpu/entmax_derivatives.hpp"
#include "fenchel/core/deformed_derivatives.hpp"

namespace fenchel::detail {

double scaled_deformation(double am1, double log_p) {
  constexpr double kLarge = 500;  // past it e^-y does not count
  const double y = am1 * log_p;
  return y > kLarge ? log_p * (1 - 1 / y) / am1 : std::exp(-y) * deformed_log_alpha_derivative<1>(am1, log_p);
}

double scaled_deformation_curvature(double am1, double log_p) {
  constexpr double kLarge = 500;
  const double y = am1 * log_p;
  return y > kLarge ? log_p * log_p * (1 - 2 / y + 2 / y / y) / am1
                    : std::exp(-y) * deformed_log_alpha_derivative<2>(am1, log_p);
}

PoissonMoves::PoissonMoves(double alpha, double mu, bool twice) : p_(alpha, mu) {
  if (p_.table().tails().empty()) {
    move_window();
  } else {
    move_with_tails();
  }
  if (twice) bend();
}

Slopes PoissonMoves::log_pmf(index_t t) const {
  Slopes s = log_pmf_once(t);
  if (s.value == -kInfinity || !twice()) return s;
  s.second = relative_curves(s.value, s.log_mu, s.alpha);
  s.second.add(-1, square(s.log_mu, s.alpha));
  return s;
}

Slopes PoissonMoves::log_pmf_once(index_t t) const {
  const IntegerTable& table = p_.table();
  const double log_p = table.log_pmf(t), am1 = p_.prediction().am1;
  if (log_p == -kInfinity) return {log_p};
  const std::size_t i = position(t);
  if (!table.tails().empty()) {
    const double power = std::exp(-am1 * log_p), x = static_cast<double>(t - mode(p_));
    return {log_p, power * (x - log_mu_centre_), power * alpha_centre_ - scaled_deformation(am1, log_p)};
  }
  if (i < by_log_mu_.size()) {
    const double p = table.probabilities()[i];
    return {log_p, by_log_mu_[i] / p, by_alpha_[i] / p};
  }
  // d log p = p^-am1 (t - c) d log mu + p^-am1 (d - D(log p)) d alpha, D = d/dalpha log_{2-alpha}; the
  // constants c and d are the same for all t, and known from the mode.
  const double top = table.log_pmf(mode(p_));
  const std::size_t peak = position(mode(p_));
  const double scale = std::exp(am1 * (top - log_p)), p = table.probabilities()[peak];
  const auto distance = static_cast<double>(t - mode(p_));
  const double power = std::exp(-am1 * log_p);
  const auto deformation = [am1](double l) { return deformed_log_alpha_derivative<1>(am1, l); };
  return {log_p, power * distance + scale * by_log_mu_[peak] / p,
          power * (deformation(top) - deformation(log_p)) + scale * by_alpha_[peak] / p};
}

void PoissonMoves::move_window() {
  const auto window = p_.table().probabilities();
  std::vector<double> distance(window.size());
  for (std::size_t i = 0; i < window.size(); ++i) distance[i] = from_mode(i);
  const auto row = [](auto& x) { return Rows(x.data(), 1, static_cast<index_t>(x.size())); };
  const double one = 1;
  by_log_mu_.resize(window.size());
  by_alpha_.resize(window.size());
  cpu::entmax_jvp<double>(row(window), p_.alpha(), row(distance), {}, row(by_log_mu_));
  std::ranges::fill(distance, 0.0);
  cpu::entmax_jvp<double>(row(window), p_.alpha(), row(distance), std::span(&one, 1), row(by_alpha_));
}

void PoissonMoves::move_with_tails() {
  const IntegerTable& table = p_.table();
  const double am1 = p_.prediction().am1, beta = 1 - am1;
  const auto window = table.probabilities();
  CompensatedSum power, first, deformed;
  for (std::size_t i = 0; i < window.size(); ++i) {
    const double l = std::log(window[i]), q = std::exp(beta * l);
    by_log_mu_.push_back(q);
    by_alpha_.push_back(-window[i] * scaled_deformation(am1, l));
    power.add(q);
    first.add(q * from_mode(i));
    deformed.add(-by_alpha_[i]);
  }
  for (const auto& tail : table.tails()) {
    for (const auto& node : tail_nodes(tail, tail.first, 1, 0).nodes) {
      power.add(node.times(node.p.raised(beta, 0)));
      first.add(node.times(node.p.raised(beta, 1)) * side(tail, node));
      deformed.add(node.times(node.p) * scaled_deformation(am1, node.log_p()));
    }
  }
  log_mu_centre_ = first.total() / power.total();
  alpha_centre_ = deformed.total() / power.total();
  for (std::size_t i = 0; i < window.size(); ++i) {
    by_alpha_[i] += alpha_centre_ * by_log_mu_[i];
    by_log_mu_[i] *= from_mode(i) - log_mu_centre_;
  }
}

Curves PoissonMoves::relative_curves(double log_p, double log_mu, double alpha) const {
  const double am1 = p_.prediction().am1, power = std::exp(-am1 * log_p);
  Curves c{0, -log_p * log_mu, -2 * log_p * alpha - scaled_deformation_curvature(am1, log_p)};
  c.add(1 - am1, square(log_mu, alpha));
  c.add(-power, centre_);
  return c;
}

Slopes PoissonMoves::log_slopes(const IntegerTail& tail, const TailPoint& node) const {
  const double am1 = p_.prediction().am1, l = node.log_p();
  const double by_distance = std::exp(node.p.raised(-am1, 1).at(node.log_distance));
  return {l, by_distance * (side(tail, node) - log_mu_centre_ / node.distance),
          std::exp(-am1 * l) * alpha_centre_ - scaled_deformation(am1, l)};
}

void PoissonMoves::bend() {
  if (std::isinf(p_.alpha())) return;  // nothing moves
  const auto window = p_.table().probabilities();
  curves_.resize(window.size());
  const double beta = 2 - p_.alpha();
  CompensatedSum power;
  Curves total;
  const auto of_window = [&](std::size_t i) {
    const double p = window[i];
    return relative_curves(std::log(p), by_log_mu_[i] / p, by_alpha_[i] / p);
  };
  for (std::size_t i = 0; i < window.size(); ++i) {
    if (window[i] == 0) continue;
    power.add(std::pow(window[i], beta));
    total.add(window[i], of_window(i));
  }
  for (const auto& tail : p_.table().tails()) {
    for (const auto& node : tail_nodes(tail, tail.first, 1, 0).nodes) {
      const Slopes s = log_slopes(tail, node);
      power.add(node.times(node.p.raised(beta, 0)));
      total.add(node.times(node.p), relative_curves(s.value, s.log_mu, s.alpha));
    }
  }
  centre_.add(1 / power.total(), total);
  for (std::size_t i = 0; i < window.size(); ++i) {
    if (window[i] > 0) curves_[i].add(window[i], of_window(i));
  }
}

}  // namespace fenchel::detail
