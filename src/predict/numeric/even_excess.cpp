#include "predict/numeric/even_excess.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>

#include <boost/math/tools/roots.hpp>

#include "distribution/line/panels.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {
namespace {

constexpr double kLargest = std::numeric_limits<double>::max() / 4;

}  // namespace

double EvenProfile::operator()(double x) const {
  const double value = f_.profile(x);
  if (!(value < kInfinity))
    throw_domain_error("predict", "h(" + shortest(x) + ")", "must be a number below infinity", value);
  return value / temperature_;
}

double EvenProfile::integral(double x, double y, double level) const {
  if (f_.has_antiderivative() && y - x > y / 8)
    return (f_.antiderivative(y) - f_.antiderivative(x)) / temperature_ - (y - x) * level;
  const Interval whole(x, y);
  const Centre centre{x, 0, y - x};
  return integrate_panels([&](double t) { return (*this)(t)-level; }, {&whole, 1}, {&centre, 1}, 1e-14).value;
}

void throw_small_excess(double needed, double got) {
  throw_domain_error(
      "predict", "the mass of h / T above its limit",
      "must be more than " + shortest(needed) + ": no distribution exists where f does not fall enough", got);
}

EvenEdge solve_excess(const EvenProfile& h, double from, double at_from, double target, double gamma) {
  // E(y') = E(y) + y (h(y) - h(y')) + int_y^y' (h - h(y')): sums of what is never negative.
  double known_at = from, known = 0, known_level = at_from;
  const auto excess = [&](double y) {
    const double level = h(y);
    const double value =
        known + (known_at == 0 ? 0 : known_at * (known_level - level)) + h.integral(known_at, y, level);
    return value < kLargest ? value : kLargest;
  };
  double step = from == 0 ? 0x1p-200 : from * 0x1p-50, upper = from + step, at_upper = excess(upper);
  while (!(at_upper > target)) {
    if (from > 0 || !h.exact()) {
      known = at_upper;
      known_at = upper;
      known_level = h(upper);
    }
    step *= 2;
    upper += step;
    if (upper > 0x1p900) throw_small_excess(0.5 + gamma, at_upper + (from == 0 ? 0 : gamma));
    at_upper = excess(upper);
  }
  double lower = known_at, at_lower = known;
  if (at_lower < target) {
    std::uintmax_t iterations = 200;
    const auto difference = [&](double y) { return excess(y) - target; };
    const auto close = [](double a, double b) { return b <= std::nextafter(a, b); };
    std::tie(lower, upper) = boost::math::tools::toms748_solve(difference, lower, upper, at_lower - target,
                                                               at_upper - target, close, iterations);
    at_lower = lower == known_at ? known : excess(lower);
    at_upper = excess(upper);
  }
  const bool nearer_lower = lower > from && target - at_lower < at_upper - target;
  const double at = nearer_lower ? lower : upper;
  return {at, h(at) + ((nearer_lower ? at_lower : at_upper) - target) / at};
}

}  // namespace fenchel::detail
