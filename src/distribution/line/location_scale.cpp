#include "fenchel/distribution/line/location_scale.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "distribution/line/bounded_density.hpp"
#include "distribution/line/symmetric.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/core/quadrature.hpp"

namespace fenchel {
namespace {

constexpr auto kWhere = "location_scale";
constexpr auto kLeft = "a g'(a) - g(a) + g(0)";
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kInf = kInfinity;

double number(const char* what, double x, double value) {
  if (std::isnan(value))
    throw_domain_error(kWhere, what + ("(" + shortest(x) + ")"), "must be a number",
                       std::numeric_limits<double>::quiet_NaN());
  return value;
}

/// x g'(x) - g(x) + g(0), which does not decrease; infinite where g' is.
double left_side(const LocationScaleScore& f, double x) {
  const double slope = number("g'", x, f.slope(x));
  if (slope == kInf) return kInf;
  const double rise = number("g", x, f.g(x)) - f.g(0), product = x * slope;
  if (4 * kEpsilon * (std::abs(product) + std::abs(rise)) >
      std::max(0.25, std::abs(product - rise) / 4))  // all of it may be rounding
    throw_domain_error(kWhere, kLeft, "must reach 1/2 before it is lost in rounding", product - rise);
  return product - rise;
}

/// The root of left_side = 1/2, by doubling or halving to a bracket of two, then bisection.
double solve_edge(const LocationScaleScore& f) {
  number("g", 0, f.g(0));
  double lower = 1, upper = 1;
  if (left_side(f, 1) < 0.5) {
    for (double last = 0; left_side(f, upper) < 0.5; upper *= 2) {
      const double left = left_side(f, upper), rounding = 8 * kEpsilon * upper * std::abs(f.slope(upper));
      if (left < last - rounding) throw_domain_error(kWhere, kLeft, "must not decrease", left);
      if (upper > std::numeric_limits<double>::max() / 2)
        throw_domain_error(kWhere, kLeft, "must reach 1/2", left);
      last = left;
      lower = upper;
    }
  } else {
    for (lower = 0.5; left_side(f, lower) >= 0.5; lower /= 2) {
      if (lower < std::numeric_limits<double>::min())
        throw_domain_error(kWhere, kLeft, "must be below 1/2 near a = 0", left_side(f, lower));
      upper = lower;
    }
  }
  for (double middle = lower + (upper - lower) / 2; middle > lower && middle < upper;
       middle = lower + (upper - lower) / 2)
    (left_side(f, middle) < 0.5 ? lower : upper) = middle;
  return upper;
}

void require_convex(const LocationScaleScore& f, double a) {
  constexpr int kSteps = 32;
  double last = number("g'", 0, f.slope(0));
  for (int k = 1; k <= kSteps; ++k) {
    const double x = a * k / kSteps, slope = number("g'", x, f.slope(x));
    if (slope < last - 8 * kEpsilon * std::abs(last))
      throw_domain_error(kWhere, "g'(" + shortest(x) + ")", "must not be below g' nearer to 0 (convex g)",
                         slope);
    last = slope;
  }
}

/// P(X > mu + sigma (a - depth)) for 0 <= depth <= a.
double tail(const LocationScale& p, double depth) {
  if (!(depth > 0)) return std::isnan(depth) ? depth : 0;
  const double y = std::max(0.0, p.a() - depth), slope = p.edge_slope(), g = p.score().g(y);
  const double closed = depth * slope - (p.edge_g() - g);
  const double terms = std::abs(depth * slope) + std::abs(p.edge_g()) + std::abs(g);
  if (closed >= terms / 128) return closed;
  const auto height = [&](double r) { return std::max(0.0, slope - p.score().slope(p.a() - depth * r)); };
  return depth * integrate(height, 0, 1, detail::kBoundedAccuracy + 16 * kEpsilon * p.a() / depth).value;
}

double beyond(const LocationScale& p, double x) {
  const double mass = tail(p, (p.half_width() - std::abs(x)) / p.sigma());
  return x < 0 ? 1 - mass : mass;
}
double log_beyond(const LocationScale& p, double x) {
  const double mass = tail(p, (p.half_width() - std::abs(x)) / p.sigma());
  return x < 0 ? std::log1p(-mass) : std::log(mass);
}

/// The x >= 0 with P(X > mu + x) = u <= 1/2.
double tail_distance(const LocationScale& p, double u) {
  const auto excess = [&](double depth) {
    return detail::ValueAndSlope{tail(p, depth) - u, p.edge_slope() - p.score().slope(p.a() - depth)};
  };
  const double depth = detail::increasing_root(excess, 0, p.a(), p.a() * std::sqrt(2 * u));
  return std::max(0.0, p.half_width() - p.sigma() * depth);
}

/// 2 int_0^a h(y, g'(a) - g'(y)) dy.
template <class Integrand>
double both_sides(const LocationScale& p, Integrand h) {
  const auto side = [&](double y) { return h(y, std::max(0.0, p.edge_slope() - p.score().slope(y))); };
  return 2 * detail::bounded_integral(side, {0, p.a()}, 0);
}

/// The n-th moment of sigma = 1, n even.
double unit_moment(const LocationScale& p, int n) {
  return both_sides(p, [n](double y, double d) { return std::pow(y, n) * d; });
}

}  // namespace

LocationScale::LocationScale(LocationScaleScore score)
    : score_(std::move(score)),
      a_(solve_edge(score_)),
      edge_g_(number("g", a_, score_.g(a_))),
      edge_slope_(number("g'", a_, score_.slope(a_))) {
  require_convex(score_, a_);
  const double peak = (edge_slope_ - score_.slope(0)) / sigma();
  if (!(std::isfinite(peak) && std::isfinite(threshold())))
    throw_domain_error(kWhere, "sigma", "must keep peak and threshold in the range of doubles", sigma());
}

Interval support(const LocationScale& p) noexcept {
  return {p.mu() - p.half_width(), p.mu() + p.half_width()};
}

double excess_score(const LocationScale& p, double t) {
  return (p.edge_slope() - p.score().slope(std::abs(t - p.mu()) / p.sigma())) / p.sigma();
}
double pdf(const LocationScale& p, double t) {
  if (std::isnan(t)) return t;
  return std::abs(t - p.mu()) >= p.half_width() ? 0 : std::max(0.0, excess_score(p, t));
}
double log_pdf(const LocationScale& p, double t) { return std::log(pdf(p, t)); }

double survival(const LocationScale& p, double t) { return beyond(p, t - p.mu()); }
double log_survival(const LocationScale& p, double t) { return log_beyond(p, t - p.mu()); }
double cdf(const LocationScale& p, double t) { return beyond(p, p.mu() - t); }
double log_cdf(const LocationScale& p, double t) { return log_beyond(p, p.mu() - t); }

double quantile(const LocationScale& p, double u) {
  return detail::symmetric_quantile(p.mu(), support(p), u, [&p](double v) { return tail_distance(p, v); });
}
double survival_quantile(const LocationScale& p, double u) {
  return detail::symmetric_survival_quantile(p.mu(), support(p), u,
                                             [&p](double v) { return tail_distance(p, v); });
}

double central_moment(const LocationScale& p, int n) {
  if (n < 0) throw_domain_error("central_moment", "n", "must not be negative", n);
  if (n % 2 == 1 || n == 0) return n == 0;
  return std::pow(p.sigma(), n) * unit_moment(p, n);
}
double variance(const LocationScale& p) { return central_moment(p, 2); }
double standard_deviation(const LocationScale& p) {
  return detail::deviation(variance(p), p.sigma() * std::sqrt(unit_moment(p, 2)));
}
double kurtosis(const LocationScale& p) {
  const double v = unit_moment(p, 2);
  return unit_moment(p, 4) / (v * v);
}

double mean_density(const LocationScale& p) {
  return both_sides(p, [](double, double d) { return d * d; }) / p.sigma();
}
double entropy(const LocationScale& p) { return tsallis_entropy(p, 1); }
double tsallis_entropy(const LocationScale& p, double order) {
  // About 0: about a large mu doubles are too coarse.
  const auto log_density = [&p](double x) {
    return std::log(std::max(0.0, p.edge_slope() - p.score().slope(std::abs(x) / p.sigma())) / p.sigma());
  };
  return detail::bounded_tsallis_entropy(log_density, {-p.half_width(), p.half_width()}, 0, order);
}

NumericDensity escort(const LocationScale& p, double order) {
  return escort(NumericDensity([p](double t) { return log_pdf(p, t); }, {support(p)}, {p.mu()}), order);
}

std::vector<double> sample(const LocationScale& p, index_t count, std::uint64_t seed) {
  return detail::sample_on_one_thread(p, count, seed);
}

}  // namespace fenchel
