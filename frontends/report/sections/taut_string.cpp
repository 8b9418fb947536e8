#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fenchel/backend/cpu/fusedmax.hpp"
#include "fenchel/domain/finite.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/domain/line.hpp"
#include "fenchel/predict/finite.hpp"
#include "fenchel/predict/function.hpp"
#include "fenchel/predict/sobolev_function.hpp"
#include "fenchel/predict/total_variation.hpp"
#include "fenchel/predict/total_variation_finite.hpp"
#include "fenchel/predict/total_variation_function.hpp"
#include "fenchel/score/function_score.hpp"
#include "plot/taut_string.hpp"
#include "report/colours.hpp"
#include "report/compare.hpp"
#include "report/sections/sections.hpp"

namespace fenchel::report {
namespace {

constexpr double kGamma = 0.5, kWindow = 2.5;
constexpr index_t kCells = 1000;

double absolute(double t) { return -std::abs(t); }
double quadratic(double t) { return -t * t / 2; }
/// A score with several modes.
double waves(double t) { return 2 * std::cos(2 * t) + 0.3 * t - t * t / 8; }

struct Example {
  std::string name;
  FunctionScore score;
  double gamma;
  Interval window;
  TautString drawn;
  NumericDensity density;  ///< on the whole line, of the score as a function that nothing is known of
};
Example make_example(std::string name, double (*f)(double), double gamma, const Interval& window) {
  const FunctionScore score(f);
  const TotalVariation omega(gamma);
  return {std::move(name),
          score,
          gamma,
          window,
          fenchel::taut_string(omega, f, window, kCells),
          predict(omega, score, Line())};
}

/// Of cell i.
double slope(const TautString& drawn, std::size_t i) {
  return (drawn.string[i + 1] - drawn.string[i]) / (drawn.t[i + 1] - drawn.t[i]);
}

const Interval& middle_plateau(const TautString& drawn) {
  return *std::ranges::find_if(drawn.plateaus, [](const Interval& plateau) { return plateau.contains(0); });
}

plot::Chart tube(const Example& example) {
  plot::Chart chart("String: " + example.name, {"t", {{example.window.lower(), example.window.upper()}}},
                    {"F(t) \u00b1 \u03b3"});
  draw(chart, example.drawn);
  return chart;
}

/// The score, the string's slope and the level above which the slope is the density.
plot::Chart slopes(const Example& example) {
  const TautString& drawn = example.drawn;
  std::vector<double> t, capped;
  for (std::size_t i = 0; i + 1 < drawn.t.size(); ++i) {
    t.push_back((drawn.t[i] + drawn.t[i + 1]) / 2);
    capped.push_back(slope(drawn, i));
  }
  const double top = *std::ranges::max_element(capped),
               tau = top - pdf(example.density, mode(example.density));
  std::vector<double> above;
  std::vector<plot::Point> line;
  for (std::size_t i = 0; i < t.size(); ++i) {
    above.push_back(std::max(capped[i], tau));
    line.push_back({t[i], capped[i]});
  }
  plot::Chart chart("Slope: " + example.name, {"t", {{example.window.lower(), example.window.upper()}}},
                    {"slope of the string"});
  chart.band("density", t, std::vector<double>(t.size(), tau), above, {.colour = 2});
  chart.curve("score f", example.score, {.colour = plot::kMuted, .width = 1.5, .dashed = true});
  chart.line("slope", line, {.colour = 1});
  chart.horizontal("\u03c4", tau, {.colour = 3, .width = 1.5});
  return chart;
}

Figure strings(const std::vector<Example>& examples) {
  return {"taut_string",
          "The tube of half width $\\gamma$ about the integral $F$ of a score, and the shortest curve in it: "
          "first for the paper's two scores with $\\gamma = 0.5$, then for a score with several modes and "
          "$\\gamma = 0.4$. Last, the slope of that string: it is the score where the string lies along the "
          "tube and constant where it is straight; what is above $\\tau$ is the density, of area one.",
          {tube(examples[0]), tube(examples[1]), tube(examples[2]), slopes(examples[2])}};
}

/// One score under three regularizers, on the line and on a chain of points.
Figure regularizers() {
  constexpr double kTotalVariation = 0.1, kSobolev = 0.05, kLow = -3, kHigh = 5, kStep = 0.25;
  const FunctionScore f(waves);
  const auto sparse = predict(Tsallis(2), f, Line()),
             capped = predict(TotalVariation(kTotalVariation), f, Line()),
             smooth = predict(Sobolev(kSobolev), f, Line());
  plot::Chart line("One score, three regularizers", {"t", {{kLow, kHigh}}}, {"density", {{0, 1}}});
  line.curve("sparsemax", [&](double t) { return pdf(sparse, t); }, {.colour = colour_of(2)});
  line.curve("total variation", [&](double t) { return pdf(capped, t); }, {.colour = 2});
  line.curve("Sobolev", [&](double t) { return pdf(smooth, t); }, {.colour = 3});

  std::vector<double> t, scores;
  for (double x = kLow; x <= kHigh; x += kStep) t.push_back(x), scores.push_back(waves(x));
  const Finite chain(std::vector<double>(t.size(), kStep));
  const auto sparsemax = predict(Tsallis(2), VectorScore(scores), chain),
             fusedmax = predict(TotalVariation(kTotalVariation), VectorScore(scores), chain);
  std::vector<plot::Point> first, second;
  for (std::size_t i = 0; i < t.size(); ++i) {
    first.push_back({t[i], pmf(sparsemax, static_cast<index_t>(i))});
    second.push_back({t[i], pmf(fusedmax, static_cast<index_t>(i))});
  }
  plot::Chart points(fmt::format("The same on {} points", t.size()), {"t", {{kLow, kHigh}}},
                     {"probability", {{0, 0.25}}});
  points.stems("sparsemax", first, -0.04, {.colour = colour_of(2)});
  points.stems("fusedmax", second, 0.04, {.colour = 2});
  return {"fusedmax",
          "A score with two modes that matter. Sparsemax copies its shape, total variation cuts both modes "
          "off, the Sobolev penalty rounds what is left. On points a step of 0.25 apart total variation is "
          "fusedmax, which gives neighbours the same probability; rings are exact zeros.",
          {line, points}};
}

/// The largest |p - q| over the window.
template <class P, class Q>
double largest_difference(const P& p, const Q& q) {
  double largest = 0;
  for (int i = 0; i <= 1000; ++i) {
    const double t = kWindow * (2 * i / 1000. - 1);
    largest = std::max(largest, std::abs(pdf(p, t) - pdf(q, t)));
  }
  return largest;
}

/// fusedmax(h f; gamma) / h at the centres of cells of width h, less the density: the largest difference.
double grid_error(const CappedParabola& p, double h) {
  const auto count = static_cast<index_t>(std::lround(2 * kWindow / h));
  std::vector<double> scores, fused(static_cast<std::size_t>(count));
  const auto at = [&](index_t i) { return -kWindow + (static_cast<double>(i) + 0.5) * h; };
  for (index_t i = 0; i < count; ++i) scores.push_back(h * quadratic(at(i)));
  cpu::fusedmax<double>({scores.data(), 1, count}, kGamma, {fused.data(), 1, count});
  double largest = 0;
  for (index_t i = 0; i < count; ++i)
    largest = std::max(largest, std::abs(fused[static_cast<std::size_t>(i)] / h - pdf(p, at(i))));
  return largest;
}

std::vector<Check> checks(const Example& first, const Example& second) {
  const CappedTriangular triangular = predict(TotalVariation(kGamma), AbsoluteScore(0, 1), Line());
  const CappedParabola parabola = predict(TotalVariation(kGamma), QuadraticScore(0, 1), Line());
  const double cell = 2 * kWindow / static_cast<double>(kCells);
  const double a = std::sqrt(2 * kGamma), a3 = std::cbrt(3 * kGamma);
  double from_below = 0, highest = 0;
  for (const Example* example : {&first, &second}) {
    const TautString& drawn = example->drawn;
    const double end = middle_plateau(drawn).upper(), last = drawn.plateaus.back().lower();
    for (std::size_t i = 0; i < drawn.t.size(); ++i) {
      if (drawn.t[i] > end && drawn.t[i] < last)
        from_below = std::max(from_below, drawn.string[i] - drawn.lower[i]);
      if (drawn.t[i] > 0)
        highest = std::max(highest, drawn.string[i] - (drawn.lower[i] + drawn.upper[i]) / 2);
    }
  }
  const auto middle = static_cast<std::size_t>(kCells / 2);
  const double coarse = grid_error(parabola, 0.02), fine = grid_error(parabola, 0.005);
  return {
      compare("$f = -|t|$: $a$, where the string leaves the tube", "$\\sqrt{2\\gamma}$", a,
              middle_plateau(first.drawn).upper(), cell),
      compare("$f = -t^2/2$: the same", "$(3\\gamma)^{1/3}$", a3, middle_plateau(second.drawn).upper(), cell),
      compare("Slope of its straight part, $-|t|$", "$f(a)$", absolute(a), slope(first.drawn, middle), 1e-4),
      compare("\u2026 $-t^2/2$", "$f(a)$", quadratic(a3), slope(second.drawn, middle), 1e-4),
      law("Between $a$ and the flat end the string lies on the tube, at distance", "0", "", from_below,
          1e-12),
      law("For $t \\gt 0$ the string is never above $F$, largest excess", "0", "", highest, 1e-12),
      law("The density of the string, $-|t|$", "the capped triangular density", "its closed form",
          largest_difference(first.density, triangular), 1e-7),
      law("\u2026 $-t^2/2$", "the capped parabola", "its closed form",
          largest_difference(second.density, parabola), 1e-7),
      law("Fusedmax of $h f$ over $h$, step $h = 0.02$", "a discretization", "the capped parabola", coarse,
          1e-4),
      law("\u2026 $h = 0.005$", "a discretization", "the capped parabola", fine, 1e-5),
  };
}

}  // namespace

Section taut_string() {
  const Interval window(-kWindow, kWindow);
  const std::vector<Example> examples{make_example("f = \u2212|t|", absolute, kGamma, window),
                                      make_example("f = \u2212t\u00b2/2", quadratic, kGamma, window),
                                      make_example("several modes", waves, 0.4, Interval(-4, 5))};
  Section section{"taut-string", "The taut string", "Section 7.1, Appendix F, Figure 14", {}, {}, {}, {}};
  section.says = {
      "Without the constraint that $p$ is a density, the total variation problem is the denoising of Rudin, "
      "Osher and Fatemi, and its solution is the slope of a taut string: the shortest curve between the ends "
      "of $F = \\int f$ in a tube of radius $\\gamma$ about it. For an even score that falls from 0 the "
      "string is straight on $[-a, a]$ and then follows the tube. On a grid the same problem is fusedmax."};
  section.computed = {
      "The string itself, for the paper's two scores and for one with several modes, and by it the density "
      "of any score: the library finds it on cells that shrink to rounding where the string leaves the tube. "
      "It is compared with the closed forms above, which do not know of strings. The ends of the window are "
      "free, so the string is straight there, too; this does not matter as long as it happens below "
      "$\\tau$."};
  section.parts = {strings(examples), regularizers()};
  section.checks = checks(examples[0], examples[1]);
  return section;
}

}  // namespace fenchel::report
