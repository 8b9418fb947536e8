#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>

#include <boost/math/tools/roots.hpp>

#include "distribution/line/panels.hpp"
#include "fenchel/predict/sobolev_function.hpp"
#include "predict/numeric/even_excess.hpp"
#include "predict/numeric/sobolev_run.hpp"

namespace fenchel::detail {
namespace {

/// sinh x - x.
double sinh_rest(double x) {
  if (x > 0.5) return std::sinh(x) - x;
  double term = x * x * x / 6, sum = term;
  for (int n = 5; term > 1e-17 * sum; n += 2) sum += term *= x * x / (n * (n - 1));
  return sum;
}

/// 1 - x cosh(y) / sinh(x): on [0, x] it falls through 0 once, and its integral vanishes.
double tilt(double x, double y) {
  if (x > 20) return 1 - x * (std::exp(y - x) + std::exp(-y - x)) / -std::expm1(-2 * x);
  const double half = std::sinh(y / 2);
  return (sinh_rest(x) - 2 * x * half * half) / std::sinh(x);
}

/// Its root.
double tilt_root(double x) {
  if (x < 1e-3) return x / std::sqrt(3.0);
  return x > 300 ? x - std::log(x) : std::acosh(std::sinh(x) / x);
}

PanelSum integrate_from_both_ends(FunctionRef<double(double)> f, double b, double at_end,
                                  double accuracy = 1e-14) {
  const Interval whole(0, b);
  const Centre centres[] = {{0, 0, b * 0x1p-20}, {b, std::clamp(at_end, b * 0x1p-40, b / 4), 0}};
  return integrate_panels(f, {&whole, 1}, centres, accuracy);
}

}  // namespace

SobolevPrediction predict_even(const Sobolev& omega, const EvenScore& f) {
  const EvenProfile h(f, omega.temperature());
  const double mu = f.mu(), beta = 1 / std::sqrt(omega.gamma());
  double b = solve_excess(h, 0, h(0), 0.5, 0).at;  // without a penalty; with one it is never less
  if (beta * b < kUnfelt) {
    // int_0^b (h - tau) cosh(beta t) dt = 0 with int_0^b (h - tau) = 1/2, as an integral of what is positive
    const auto excess = [&](double end) {
      const double x = beta * end, middle = h(std::min(end, tilt_root(x) / beta));
      const double sum = integrate_from_both_ends(
                             [&](double t) { return (h(t) - middle) * tilt(x, beta * t); }, end, 1 / beta)
                             .value;
      return sum < std::numeric_limits<double>::max() ? sum - 0.5 : std::numeric_limits<double>::max();
    };
    double lower = b, at_lower = excess(lower), upper = b, at_upper = at_lower;
    while (!(at_upper > 0)) {
      lower = upper;
      at_lower = at_upper;
      upper *= 2;
      if (upper > 0x1p900) throw_small_excess(0.5, at_upper + 0.5);
      at_upper = excess(upper);
    }
    if (at_lower < 0) {
      std::uintmax_t iterations = 200;
      const auto close = [](double p, double q) { return q <= std::nextafter(std::nextafter(p, q), q); };
      const auto [p, q] =
          boost::math::tools::toms748_solve(excess, lower, upper, at_lower, at_upper, close, iterations);
      b = p + (q - p) / 2;
    }
  }
  const double least = h(b);
  const PanelSum above = integrate_from_both_ends([&](double t) { return h(t) - least; }, b, 1 / beta);
  const double tau = least + (above.value - 0.5) / b;

  auto score = std::make_shared<SmoothScore>(SmoothScore{h, {0}});
  for (const Panel& panel : above.panels) score->edges.push_back(panel.upper);
  std::vector<double> cuts = {mu};
  if (!(beta * b < kUnfelt)) {
    const double step = 1e-6 * b;  // differences of h are exact to its square
    const auto squared = [&](double t) {
      const double near = std::max(0.0, t - step), far = std::min(b, t + step);
      const double slope = (h(far) - h(near)) / (far - near);
      return slope * slope;
    };
    return {
        NumericDensity([h, tau, mu](double t) { return std::log(std::max(0.0, h(std::abs(t - mu)) - tau)); },
                       {{mu - b, mu + b}}, cuts),
        0, tau, 2 * integrate_from_both_ends(squared, b, b, 1e-11).value};
  }
  for (const double y : run_cuts(beta, 0, b)) cuts.insert(cuts.end(), {mu - y, mu + y});
  const SobolevRun run(score, beta, tau, 0, b, RunEnd::domain, RunEnd::free);
  const auto squared = [&](double t) { return run.slope(t) * run.slope(t); };
  const double roughness = 2 * integrate_from_both_ends(squared, b, 1 / beta, slope_accuracy(beta * b)).value;
  const NumericDensity density(
      [run, mu](double t) {
        return std::log(std::max(0.0, run.density(std::min(std::abs(t - mu), run.upper()))));
      },
      {{mu - b, mu + b}}, cuts);
  const auto slope = [run, mu](double t) {
    return std::copysign(1.0, t - mu) * run.slope(std::min(std::abs(t - mu), run.upper()));
  };
  return {density.with_derivative(slope), 0, tau, roughness};
}

}  // namespace fenchel::detail
