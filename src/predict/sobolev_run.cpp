#include "predict/sobolev_run.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/gauss_kronrod.hpp"

namespace fenchel::detail {

SobolevRun::SobolevRun(std::shared_ptr<const SmoothScore> score, double beta, double tau, double lower,
                       double upper, RunEnd below, RunEnd above)
    : score_(std::move(score)),
      beta_(beta),
      tau_(tau),
      lower_(lower),
      upper_(upper),
      below_{below, lower},
      above_{above, upper} {}

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

/// The integral from `from` to `at` of e^{-beta |at - u|} even_part(from, u) (f(u) - tau).
double SobolevRun::decayed(const End& from, double at) const {
  constexpr double kStep = 4, kNothing = 42;  // e^-42 is below rounding
  const std::vector<double>& edges = score_->edges;
  const double sign = from.at < at ? -1 : 1, last = from.at;
  const auto integrand = [&](double u) {
    return std::exp(-beta_ * std::abs(at - u)) * even_part(from, u) * (score_->f(u) - tau_);
  };
  double sum = 0, near = at;
  auto edge = std::lower_bound(edges.begin(), edges.end(), at);
  const auto next_edge = [&] {
    if (sign > 0) {
      while (edge != edges.end() && *edge <= near) ++edge;
      return edge == edges.end() ? last : std::min(last, *edge);
    }
    while (edge != edges.begin() && *std::prev(edge) >= near) --edge;
    return edge == edges.begin() ? last : std::max(last, *std::prev(edge));
  };
  while (near != last && beta_ * std::abs(near - at) < kNothing) {
    double far = next_edge();
    if (beta_ * std::abs(far - near) > kStep) far = near + sign * kStep / beta_;
    if (far == near) break;
    sum += gauss_kronrod(integrand, std::min(near, far), std::max(near, far)).value;
    near = far;
  }
  return sum;
}

double SobolevRun::density(double t) const {
  const double decay = std::expm1(-2 * beta_ * (upper_ - lower_));
  const bool alike = (below_.kind == RunEnd::domain) == (above_.kind == RunEnd::domain);
  const double wronskian = alike ? -decay / 2 : 1 + decay / 2;
  return beta_ * (even_part(above_, t) * decayed(below_, t) + even_part(below_, t) * decayed(above_, t)) /
         wronskian;
}

double SobolevRun::slope(double t) const {
  const double decay = std::expm1(-2 * beta_ * (upper_ - lower_));
  const bool alike = (below_.kind == RunEnd::domain) == (above_.kind == RunEnd::domain);
  const double wronskian = alike ? -decay / 2 : 1 + decay / 2;
  return beta_ * beta_ *
         (odd_part(below_, t) * decayed(above_, t) - odd_part(above_, t) * decayed(below_, t)) / wronskian;
}

SobolevRun::Forces SobolevRun::forces() const {
  const double x = beta_ * (upper_ - lower_);
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
