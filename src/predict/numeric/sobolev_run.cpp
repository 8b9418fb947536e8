#include "predict/numeric/sobolev_run.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
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
    : score_(std::move(score)), beta_(beta), tau_(tau), below_{below, lower}, above_{above, upper} {}

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

/// The integral from `from` to `at` of e^{-beta |at - u|} even_part(from, u) (f(u) - tau), in s = beta |at -
/// u|, which is exact where u is not.
double SobolevRun::decayed(const End& from, double at) const {
  constexpr double kStep = 4, kNothing = 42;  // e^-42 is below rounding
  const std::vector<double>& edges = score_->edges;
  const double sign = from.at < at ? -1 : 1, whole = beta_ * std::abs(at - from.at);
  const auto integrand = [&](double s) {
    const double decay = std::expm1(2 * (s - whole)), u = at + sign * (s / beta_);
    return std::exp(-s) * (from.kind == RunEnd::domain ? 1 + decay / 2 : -decay / 2) * (score_->f(u) - tau_);
  };
  const auto first = std::lower_bound(edges.begin(), edges.end(), at);
  auto edge = sign > 0 ? first - edges.begin() : first - edges.begin() - 1;
  const double last = std::min(whole, kNothing);
  double sum = 0, near = 0;
  while (near < last) {
    double far = std::min(last, near + kStep);
    for (; edge >= 0 && edge<std::ssize(edges); edge += sign> 0 ? 1 : -1) {
      const double next = beta_ * (sign * (edges[static_cast<std::size_t>(edge)] - at));
      if (!(next > near)) continue;
      far = std::min(far, next);
      break;
    }
    sum += gauss_kronrod(integrand, near, far).value;
    near = far;
  }
  return sum / beta_;
}

/// That of the solutions from both ends, over beta and e^{beta (upper - lower)}.
double SobolevRun::wronskian() const {
  return above_.kind == RunEnd::domain ? odd_part(below_, upper()) : even_part(below_, upper());
}

double SobolevRun::density(double t) const {
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
