#include "fenchel/loss/metric.hpp"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <string_view>
#include <utility>

#include "fenchel/core/beta_gaussian.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/deformed.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel {
namespace {

constexpr double kInf = kInfinity;
/// Where sech is below the smallest double.
constexpr double kFarthest = 750;
/// A curve whose upper end is farther from the top is vertical to the last digit.
constexpr double kSteepest = 300;

double sech(double x) { return 1 / std::cosh(x); }

/// sigma_max sech(x), whose second factor alone may be below the smallest double.
double sigma_at(double sigma_max, double x) {
  const double half = std::exp(-std::abs(x) / 2);
  return sigma_max * half * half * 2 / (1 + std::exp(-2 * std::abs(x)));
}

/// The integral of a power of sech, or of products of such, which is analytic within pi/2 of the line: 15
/// nodes are exact to rounding on panels of length 2.
double integral(FunctionRef<double(double)> f, double from, double to) {
  const double panels = std::max(1.0, std::ceil(std::abs(to - from) / 2)), width = (to - from) / panels;
  double sum = 0;
  for (double i = 0; i < panels; ++i)
    sum += boost::math::quadrature::gauss<double, 15>::integrate(
        [&](double y) { return f(from + width * (i + (y + 1) / 2)); }, -1.0, 1.0);
  return sum * width / 2;
}

/// mu(to) - mu(from) for the parameter x.
double travel(const FenchelYoungMetric& metric, double sigma_max, double from, double to) {
  const double e = 1 + metric.exponent_less_one(), root = std::sqrt(metric.constant());
  return root * integral([&](double x) { return std::pow(sigma_at(sigma_max, x), e) * sech(x); }, from, to);
}

double arc(const FenchelYoungMetric& metric, double sigma_max, double from, double to) {
  const double em1 = metric.exponent_less_one(), root = std::sqrt(metric.constant());
  if (em1 == 0) return root * (to - from);
  return root * integral([&](double x) { return std::pow(sigma_at(sigma_max, x), em1); }, from, to);
}

/// The length from sigma = 0 to sigma = 0.
double whole_arc(const FenchelYoungMetric& metric, double sigma_max) {
  const double em1 = metric.exponent_less_one();
  if (em1 <= 0) return kInf;
  return std::sqrt(metric.constant()) * std::pow(sigma_max, em1) * boost::math::beta(em1 / 2, 0.5);
}

/// The largest sigma goes like |to - from|^{(alpha + 1) / 2}.
[[noreturn]] void throw_too_far(std::string_view where, const FenchelYoungMetric& metric) {
  throw_domain_error(where, "alpha", "must leave sigma between the ends in the range of doubles",
                     metric.alpha());
}

/// The root of an increasing function in [low, high].
template <class F>
double root_between(F f, double low, double high) {
  const double at_low = f(low), at_high = f(high);
  if (at_low >= 0) return low;
  if (at_high <= 0) return high;
  std::uintmax_t iterations = 100;
  const boost::math::tools::eps_tolerance<double> tolerance(52);
  const auto bracket =
      boost::math::tools::toms748_solve(f, low, high, at_low, at_high, tolerance, iterations);
  return bracket.first + (bracket.second - bracket.first) / 2;
}

/// The parameters of the lower and of the upper end when the upper one is at x: the lower is before the top.
std::pair<double, double> ends(double low, double high, double x) {
  const double ratio = high / low, excess = std::sqrt((high - low) / low) * std::sqrt((high + low) / low);
  const double slope = std::hypot(ratio * std::sinh(x), excess);  // the sinh of the lower end
  if (slope < kInf) return {-std::asinh(slope), x};
  return {-(std::log(high) - std::log(low) + std::abs(x) + std::log1p(std::exp(-2 * std::abs(x)))), x};
}

/// The parameter of the upper end for which the curve goes `width` to the side; -infinity for a vertical one.
/// The width grows with it: two geodesics meet at most once, since the curvature is negative.
double upper_end(const FenchelYoungMetric& metric, double low, double high, double width) {
  const auto gap = [&](double x) {
    const auto [from, to] = ends(low, high, x);
    return travel(metric, high * std::cosh(x), from, to) / width - 1;
  };
  double left = 0, right = 0;
  if (gap(0) > 0) {
    for (left = -1; gap(left) > 0; left *= 2)
      if (2 * left < -kSteepest) return -kInf;
    right = left < -1 ? left / 2 : 0;
  } else {
    // Up to where sigma at the top is a double.
    const double farthest =
        std::min(2 * kSteepest, std::log(std::numeric_limits<double>::max()) - std::log(high));
    for (right = std::min(1.0, farthest); gap(right) < 0; right = std::min(2 * right, farthest)) {
      if (right == farthest) throw_too_far("geodesic", metric);
      left = right;
    }
  }
  return root_between(gap, left, right);
}

void check_point(HalfPlanePoint a) {
  detail::checked_finite("geodesic", "mu", a.mu);
  detail::checked_positive("geodesic", "sigma", a.sigma);
}

double checked_alpha(double alpha) {
  if (!(alpha > 1. / 3 && alpha < kInf))
    throw_domain_error("fenchel_young_metric", "alpha", "must be above 1/3 and finite", alpha);
  return alpha;
}

}  // namespace

FenchelYoungMetric::FenchelYoungMetric(double alpha) : alpha_(checked_alpha(alpha)) {
  const BetaGaussianConstants c = beta_gaussian_constants(1, alpha - 1, 0);
  constant_ = 4 * c.variance_factor / (alpha + 1);
}

std::array<double, 2> FenchelYoungMetric::tensor(double sigma) const noexcept {
  if (!(sigma > 0))
    return {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  return {1 / (sigma * sigma), constant_ * std::pow(sigma, 2 * exponent_less_one() - 2)};
}

double FenchelYoungMetric::curvature(double sigma) const noexcept {
  if (!(sigma > 0)) return std::numeric_limits<double>::quiet_NaN();
  return -2 / ((alpha_ + 1) * constant_) * std::pow(sigma, -2 * exponent_less_one());
}

Geodesic::Geodesic(const FenchelYoungMetric& metric, HalfPlanePoint from, HalfPlanePoint to, double sigma_max,
                   double begin, double end)
    : metric_(metric),
      from_(from),
      to_(to),
      sigma_max_(sigma_max),
      begin_(begin),
      end_(end),
      length_(std::isinf(sigma_max) ? vertical_distance(metric, from.sigma, to.sigma)
              : std::isinf(begin)   ? whole_arc(metric, sigma_max)
                                    : arc(metric, sigma_max, begin, end)) {}

HalfPlanePoint Geodesic::point(double x) const {
  const double side = to_.mu > from_.mu ? 1 : -1, sigma = sigma_at(sigma_max_, x);
  if (std::isinf(begin_))
    return {from_.mu + (to_.mu - from_.mu) / 2 + side * travel(metric_, sigma_max_, 0, x), sigma};
  return {from_.mu + side * travel(metric_, sigma_max_, begin_, x), sigma};
}

HalfPlanePoint Geodesic::at(double s) const {
  detail::checked_probability("geodesic", "s", s);
  if (s == 0) return from_;
  if (s == 1) return to_;
  if (std::isinf(sigma_max_)) {
    const double em1 = metric_.exponent_less_one();
    return {from_.mu, from_.sigma * deformed_exp(em1, s * deformed_log(em1, to_.sigma / from_.sigma))};
  }
  if (std::isinf(length_)) return point(std::log(std::tan(std::numbers::pi * s / 2)));
  if (std::isinf(begin_)) {  // from the top, which is the middle
    const auto gap = [&](double x) { return arc(metric_, sigma_max_, 0, x) / length_ - (s - 0.5); };
    return point(root_between(gap, -kFarthest, kFarthest));
  }
  const auto gap = [&](double x) { return arc(metric_, sigma_max_, begin_, x) / length_ - s; };
  return point(root_between(gap, begin_, end_));
}

Geodesic geodesic(const FenchelYoungMetric& metric, HalfPlanePoint from, HalfPlanePoint to) {
  check_point(from);
  check_point(to);
  const double low = std::min(from.sigma, to.sigma), high = std::max(from.sigma, to.sigma);
  const double width = std::abs(to.mu - from.mu);
  const double x = width == 0 ? -kInf : upper_end(metric, low, high, width);
  if (std::isinf(x)) return {metric, from, to, kInf, 0, 0};
  const auto [lower, upper] = ends(low, high, x);
  const double sigma_max = high * std::cosh(x);
  if (from.sigma <= to.sigma) return {metric, from, to, sigma_max, lower, upper};
  return {metric, from, to, sigma_max, -upper, -lower};
}

Geodesic geodesic_of_diracs(const FenchelYoungMetric& metric, double a, double b) {
  detail::checked_finite("geodesic_of_diracs", "a", a);
  detail::checked_finite("geodesic_of_diracs", "b", b);
  if (a == b) throw_domain_error("geodesic_of_diracs", "b", "must differ from a", b);
  const double e = 1 + metric.exponent_less_one();
  const double unit = std::sqrt(metric.constant()) * boost::math::beta((1 + e) / 2, 0.5);
  const double sigma_max = std::pow(std::abs(b - a) / unit, 1 / e);
  if (!(sigma_max > 0 && sigma_max < kInf)) throw_too_far("geodesic_of_diracs", metric);
  return {metric, {a, 0}, {b, 0}, sigma_max, -kInf, kInf};
}

double distance(const FenchelYoungMetric& metric, HalfPlanePoint a, HalfPlanePoint b) {
  return geodesic(metric, a, b).length();
}

double vertical_distance(const FenchelYoungMetric& metric, double sigma_a, double sigma_b) {
  for (const double sigma : {sigma_a, sigma_b}) {
    if (!(sigma >= 0 && sigma < kInf))
      throw_domain_error("vertical_distance", "sigma", "must be finite and not negative", sigma);
  }
  const double high = std::max(sigma_a, sigma_b), low = std::min(sigma_a, sigma_b);
  detail::checked_positive("vertical_distance", "the larger sigma", high);
  const double em1 = metric.exponent_less_one();
  return -std::sqrt(metric.constant()) * std::pow(high, em1) * deformed_log(em1, low / high);
}

}  // namespace fenchel
