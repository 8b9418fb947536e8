#include "predict/numeric/sobolev_run.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/quadrature/gauss_kronrod.hpp"

namespace fenchel::detail {

std::vector<double> run_cuts(double beta, double lower, double upper) {
  constexpr double kLayer = 8;
  if (beta * (upper - lower) < 4 * kLayer) return {};
  return {lower + 1 / beta, lower + kLayer / beta, upper - kLayer / beta, upper - 1 / beta};
}

SobolevRun::SobolevRun(std::shared_ptr<const SmoothScore> score, double beta, double tau, double lower,
                       double upper, RunEnd below, RunEnd above)
    : score_(std::move(score)),
      beta_(beta),
      tau_(tau),
      below_{below, -1, lower, {}},
      above_{above, 1, upper, {}},
      first_edge_(std::upper_bound(score_->edges.begin(), score_->edges.end(), lower) -
                  score_->edges.begin()),
      edges_(std::max<index_t>(0, std::lower_bound(score_->edges.begin(), score_->edges.end(), upper) -
                                      score_->edges.begin() - first_edge_)) {
  const auto size = static_cast<std::size_t>(edges_);
  below_.decayed.resize(size);
  above_.decayed.resize(size);
  for (std::size_t i = 0; i < size; ++i) below_.decayed[i] = decayed(below_, edge(i));
  for (std::size_t i = size; i-- > 0;) above_.decayed[i] = decayed(above_, edge(i));
}

/// e^{-beta d} times the solution from that end (cosh beta d where p' = 0, sinh beta d where p = 0), and its
/// derivative over beta, at distance d.
double SobolevRun::even_part(const End& end, double t) const {
  const double decay = std::expm1(-2 * beta_ * std::abs(t - end.at));
  return end.kind == RunEnd::domain ? 1 + decay / 2 : -decay / 2;
}
double SobolevRun::odd_part(const End& end, double t) const {
  const double decay = std::expm1(-2 * beta_ * std::abs(t - end.at));
  return end.kind == RunEnd::domain ? -decay / 2 : 1 + decay / 2;
}

/// The integral of kernel(s) (f(u) - tau) from `at` towards an end, s = beta |at - u| <= last: s is exact
/// where u is not.
template <class Kernel>
double SobolevRun::towards(const End& end, double at, double last, Kernel kernel) const {
  constexpr double kStep = 4;
  const auto integrand = [&](double s) {
    return kernel(s) * (score_->f(at + end.side * (s / beta_)) - tau_);
  };
  double sum = 0;
  for (double near = 0, far; near < last; near = far) {
    far = std::min(last, near + kStep);
    sum += gauss_kronrod(integrand, near, far).value;
  }
  return sum / beta_;
}

/// The integral from `from` to `at` of e^{-beta |at - u|} even_part(from, u) (f(u) - tau): up to the next
/// edge, where it is known.
double SobolevRun::decayed(const End& from, double at) const {
  constexpr double kNothing = 42;  // e^-42 is below rounding
  const double whole = beta_ * std::abs(at - from.at);
  double last = whole, rest = 0;
  if (const auto next = edge_towards(from, at)) {
    last = beta_ * std::abs(at - edge(*next));
    rest = std::exp(-last) * from.decayed[*next];
  }
  return rest + towards(from, at, std::min(last, kNothing), [&](double s) {
           const double decay = std::expm1(2 * (s - whole));
           return std::exp(-s) * (from.kind == RunEnd::domain ? 1 + decay / 2 : -decay / 2);
         });
}

/// The edge of the run that is next to `at` on the way to an end.
std::optional<std::size_t> SobolevRun::edge_towards(const End& end, double at) const {
  const auto first = score_->edges.begin() + first_edge_, last = first + edges_;
  if (end.side < 0) {
    const auto after = std::lower_bound(first, last, at);
    if (after == first) return std::nullopt;
    return static_cast<std::size_t>(after - first) - 1;
  }
  const auto after = std::upper_bound(first, last, at);
  if (after == last) return std::nullopt;
  return static_cast<std::size_t>(after - first);
}

/// That of the solutions from both ends, over beta and e^{beta (upper - lower)}.
double SobolevRun::wronskian() const {
  return above_.kind == RunEnd::domain ? odd_part(below_, upper()) : even_part(below_, upper());
}

double SobolevRun::density(double t) const {
  // Next to a free end, where p and p' are 0, the solution of that initial value problem does not cancel.
  constexpr double kBeside = 0x1p-10;
  for (const End* end : {&below_, &above_}) {
    const double distance = beta_ * std::abs(t - end->at);
    if (end->kind == RunEnd::free && distance < kBeside && !edge_towards(*end, t))
      return -beta_ * towards(*end, t, distance, [](double s) { return std::sinh(s); });
  }
  return beta_ * (even_part(above_, t) * decayed(below_, t) + even_part(below_, t) * decayed(above_, t)) /
         wronskian();
}

double SobolevRun::slope(double t) const {
  return beta_ * beta_ *
         (odd_part(below_, t) * decayed(above_, t) - odd_part(above_, t) * decayed(below_, t)) / wronskian();
}

SobolevRun::Forces SobolevRun::forces() const {
  const double x = beta_ * (upper() - lower());
  const double inverse_sinh = -2 * std::exp(-x) / std::expm1(-2 * x);
  const auto force = [&](const End& end, const End& other) {
    return end.kind == RunEnd::domain ? 0 : decayed(other, end.at) / even_part(other, end.at);
  };
  const auto share = [&](const End& end, const End& other) {  // by tau
    if (end.kind == RunEnd::domain) return 0.0;
    return -std::tanh(other.kind == RunEnd::domain ? x : x / 2) / beta_;
  };
  const auto own = [&](const End& end, const End& other, double pull) {  // by that end, outwards
    if (end.kind == RunEnd::domain) return 0.0;
    return score_->f(end.at) - tau_ - beta_ * odd_part(other, end.at) / even_part(other, end.at) * pull;
  };
  Forces f{};
  f.below = force(below_, above_);
  f.above = force(above_, below_);
  const bool coupled = below_.kind != RunEnd::domain && above_.kind != RunEnd::domain;
  const double coupling = coupled ? beta_ * inverse_sinh : 0;
  f.below_by_lower = -own(below_, above_, f.below);
  f.below_by_upper = coupling * f.above;
  f.below_by_tau = share(below_, above_);
  f.above_by_lower = -coupling * f.below;
  f.above_by_upper = own(above_, below_, f.above);
  f.above_by_tau = share(above_, below_);
  return f;
}

}  // namespace fenchel::detail
