#include "fenchel/attention/line_quadrature.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "distribution/line/panels.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {
namespace {

/// The largest value of g between a and b, if it has one maximum there: golden section.
double argmax(FunctionRef<double(double)> g, double a, double b) {
  constexpr double kRatio = 0.6180339887498949;
  constexpr int kSteps = 90;
  double left = b - kRatio * (b - a), right = a + kRatio * (b - a), g_left = g(left), g_right = g(right);
  for (int i = 0; i < kSteps && a != b; ++i) {
    if (g_left > g_right) {
      b = std::exchange(right, left);
      left = b - kRatio * (b - a);
      g_right = std::exchange(g_left, g(left));
    } else {
      a = std::exchange(left, right);
      right = a + kRatio * (b - a);
      g_left = std::exchange(g_right, g(right));
    }
  }
  return a + (b - a) / 2;
}

double panel_expectation(const LineDensityView& p, const LineFunction& f, std::vector<double> at,
                         FunctionRef<double(double)> log_weight) {
  constexpr double kAsked = 1e-12;
  const auto width = [](const Interval& piece) { return piece.upper() - piece.lower(); };
  if (std::ranges::none_of(p.support, [&](const Interval& piece) { return width(piece) > 0; }))
    throw ConvergenceError(error_message("attend", "the width of the support",
                                         "must be resolved by doubles near its centre", 0.0));
  at.insert(at.end(), p.knots.begin(), p.knots.end());
  at.insert(at.end(), f.cuts.begin(), f.cuts.end());
  std::sort(at.begin(), at.end());
  at.erase(std::unique(at.begin(), at.end()), at.end());
  const std::vector<Centre> centres = make_centres(log_weight, p.support, at);
  const auto integrand = [&](double t) {
    const double density = std::exp(p.log_pdf(t));
    if (density == 0) return 0.0;
    const double value = f.value(t);
    if (std::isnan(value))
      throw_domain_error("attend", "psi(" + shortest(t) + ")", "must be a number", value);
    return density * value;
  };
  const PanelSum sum = certified(
      integrate_panels(integrand, p.support, centres, kAsked), integrand, p.support,
      [&](double t) { return std::find(f.cuts.begin(), f.cuts.end(), t) != f.cuts.end(); }, kAsked);
  const bool reached = sum.finite && sum.error <= kAttendAccuracy * sum.scale;
  if (!reached)
    throw ConvergenceError(error_message("attend", "the estimated relative error",
                                         "must reach " + shortest(kAttendAccuracy),
                                         sum.finite ? sum.error / sum.scale : kInfinity));
  return sum.value;
}

}  // namespace

double line_expectation(const LineDensityView& p, const LineFunction& f) {
  return panel_expectation(p, f, {}, p.log_pdf);
}

double gaussian_expectation(const LineDensityView& p, const LineFunction& f, double mean, double width) {
  const auto log_product = [&](double t) {
    const double z = (t - mean) / width;
    return p.log_pdf(t) - z * z / 2;
  };
  std::vector<double> at;
  for (const Interval& piece : p.support) {
    const double nearest = std::clamp(mean, piece.lower(), piece.upper());
    at.push_back(nearest);
    for (const double knot : p.knots)
      if (piece.contains(knot)) at.push_back(argmax(log_product, nearest, knot));
  }
  return panel_expectation(p, f, std::move(at), log_product);
}

}  // namespace fenchel::detail
