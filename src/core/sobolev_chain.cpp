#include "core/sobolev_chain.hpp"

#include "core/compensated_sum.hpp"

namespace fenchel::detail {

/// One step of elimination: a pivot is what holds a node, a sum of positive numbers, and the coupling ahead
/// [W. K. Grassmann, M. I. Taksar, D. P. Heyman, Oper. Res. 33 (1985)]. Returns what holds the next node.
double SobolevChain::eliminate(index_t i, double held, double ahead) noexcept {
  if (!active_[i]) return ahead;
  const double excess = mass_[i] + held;
  pivot_[i] = excess + ahead;
  share_[i] = ahead / pivot_[i];
  return excess * share_[i];
}

void SobolevChain::factor() noexcept {
  double held = 0;
  for (index_t i = 0; i < n_; ++i) held = eliminate(i, held, left_[i + 1]);
}

/// A x = rhs on the active nodes, x = 0 on the others, after factor or a sweep forward.
template <class Push>
void SobolevChain::solve(const Push& rhs, double* x) const noexcept {
  double passed = 0;
  for (index_t i = 0; i < n_; ++i) {
    const double pushed = active_[i] ? rhs(i) + passed : 0.0;
    x[i] = active_[i] ? pushed / pivot_[i] : 0.0;
    passed = active_[i] ? pushed * share_[i] : 0.0;
  }
  for (index_t i = n_ - 1; i-- > 0;) {
    if (active_[i]) x[i] += share_[i] * x[i + 1];
  }
}

/// Solves A p = w (values - shift) on the active nodes for the shift with sum w p = total, and returns it:
/// (sum w h values - total) / sum w h, where A h = w. What rounding leaves of the mass goes along h, too.
double SobolevChain::balance(double total) noexcept {
  solve([this](index_t i) { return mass_[i]; }, response_);
  double response = 0, sum = -total;
  for (index_t i = 0; i < n_; ++i) {
    if (!active_[i]) continue;
    response += mass_[i] * response_[i];
    sum += mass_[i] * response_[i] * values_[i];
  }
  const double shift = sum / response;
  solve([&](index_t i) { return push(shift, i); }, p_);
  double excess = -total;
  for (index_t i = 0; i < n_; ++i) excess += mass_[i] * p_[i];
  for (index_t i = 0; i < n_; ++i) {
    if (active_[i]) p_[i] -= excess / response * response_[i];
  }
  return shift + excess / response;
}

/// Everything on the largest score bounds tau from below, hence the support from above: a neighbour has a
/// density of at most 1 / w.
void SobolevChain::begin() noexcept {
  best_ = std::max_element(values_, values_ + n_) - values_;
  const double w = mass_[best_], tau = -((1 + (left_[best_] + left_[best_ + 1]) / w) / w);
  for (index_t i = 0; i < n_; ++i) p_[i] = 1 / mass_[i];
  for (index_t i = 0; i < n_; ++i) active_[i] = i == best_ || push(tau, i) + inflow(i) > 0;
}

/// The largest score is above tau, hence on the support, whatever rounding says of scores of 1e100.
bool SobolevChain::drop() noexcept {
  bool dropped = false;
  for (index_t i = 0; i < n_; ++i) {
    if (!active_[i] || p_[i] > 0 || i == best_) continue;
    active_[i] = 0;
    p_[i] = 0;
    dropped = true;
  }
  return dropped;
}

bool SobolevChain::add(double tau) noexcept {
  bool added = false;
  for (index_t i = 0; i < n_; ++i) {
    if (active_[i] || !(push(tau, i) + inflow(i) > 0)) continue;
    active_[i] = 1;
    added = true;
  }
  return added;
}

/// Eliminates in one direction, and adds the nodes that are positive even where the next is as low as in p_
/// and everything ahead of an active one is 0. As add finds them, at the ends of a run, a support would take
/// as many solutions to grow as it has nodes.
void SobolevChain::sweep(double tau, bool forward) noexcept {
  double held = 0, passed = 0;
  for (index_t k = 0; k < n_; ++k) {
    const index_t i = forward ? k : n_ - 1 - k;
    const double ahead = left_[forward ? i + 1 : i], pushed = push(tau, i) + passed;
    const index_t next = forward ? i + 1 : i - 1;
    if (pushed > 0 || (next >= 0 && next < n_ && pushed + ahead * p_[next] > 0)) active_[i] = 1;
    held = eliminate(i, held, ahead);
    passed = active_[i] ? pushed * share_[i] : 0.0;
  }
}

/// Let p_S(tau) solve A p = w (f - tau) on S, p = 0 off S. As A is an M-matrix, the solution p(tau) of the
/// obstacle problem is the largest p_S(tau), node by node, so tau is the largest at which some p_S has mass
/// 1: Newton's iteration (drop, then grow to p(tau), then balance) raises tau to it in finitely many steps.
/// Once rounding keeps tau from rising, or after `most` rounds, nodes are only dropped, so that it ends.
double SobolevChain::predict() noexcept {
  begin();
  factor();
  double tau = balance(1);
  const index_t most = n_ + 100;
  bool rising = true;
  for (index_t round = 0;; ++round) {
    bool stale = drop(), changed = stale;
    rising = rising && round < most;
    while (rising) {
      if (stale) {
        sweep(tau, false);
        sweep(tau, true);
        solve([&](index_t i) { return push(tau, i); }, p_);
      }
      stale = add(tau);
      if (!stale) break;
      changed = true;
    }
    if (!changed) break;
    if (!rising) factor();
    const double next = balance(1);
    rising = rising && next > tau;
    tau = next;
  }
  p_[best_] = std::max(p_[best_], 0.0);
  CompensatedSum total;
  for (index_t i = 0; i < n_; ++i) total.add(mass_[i] * p_[i]);
  for (index_t i = 0; i < n_; ++i) p_[i] /= total.total();
  return tau;
}

double SobolevChain::slack(double tau, index_t i) const noexcept {
  return p_[i] > 0 ? 0.0 : std::max(0.0, -(push(tau, i) + inflow(i)));
}

}  // namespace fenchel::detail
