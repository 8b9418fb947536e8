#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "fenchel/backend/cpu/entmax.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/distribution/line/numeric_density.hpp"
#include "fenchel/domain/finite.hpp"
#include "fenchel/domain/line.hpp"
#include "fenchel/predict/finite.hpp"
#include "fenchel/predict/function.hpp"
#include "report/brute_force.hpp"
#include "report/colours.hpp"
#include "report/sections/sections.hpp"

namespace fenchel::report {
namespace {

struct Map {
  double alpha;
  const char *text, *name;
};
constexpr Map kThree[] = {{1, "1", "softmax"}, {1.5, "1.5", "entmax"}, {2, "2", "sparsemax"}};

/// The score of the figure: two hills of different height, falling off on both sides.
double hills(double t) { return 0.6 * std::cos(2 * t) + 0.1 * t - 0.08 * t * t; }

/// Evenly spaced points from -end to end, both included.
std::vector<double> grid(std::size_t steps, double end) {
  std::vector<double> t(steps + 1);
  for (std::size_t i = 0; i <= steps; ++i) {
    t[i] = end * (2 * static_cast<double>(i) / static_cast<double>(steps) - 1);
  }
  return t;
}

std::vector<double> scores_at(const std::vector<double>& t) {
  std::vector<double> f(t.size());
  std::ranges::transform(t, f.begin(), hills);
  return f;
}

Figure one_score() {
  const plot::Axis x{"t", plot::Range{-4.5, 4.5}};
  const std::vector<double> t = grid(16, 4), f = scores_at(t);
  plot::Chart finite_score("Scores on 17 points", x, {"f", plot::Range{-2.5, 1}}),
      line_score("Score on the line", x, {"f(t)", plot::Range{-2.5, 1}});
  plot::Chart finite("Probabilities", x, {"probability", plot::Range{0, 0.6}}),
      line("Densities", x, {"density", plot::Range{0, 0.8}});
  std::vector<plot::Point> points;
  for (std::size_t i = 0; i < t.size(); ++i) points.push_back({t[i], f[i]});
  finite_score.bars("", points, 0.3, {.colour = plot::kMuted});
  line_score.curve("", hills, {.colour = plot::kMuted});
  double shift = -0.12;
  for (std::size_t k = 0; k < std::size(kThree); ++k) {
    const Tsallis omega(kThree[k].alpha);
    const std::string name = fmt::format("\u03b1 = {}, {}", kThree[k].text, kThree[k].name);
    const auto p = predict(omega, VectorScore(f), Finite());
    std::vector<plot::Point> stems;
    for (std::size_t i = 0; i < t.size(); ++i) stems.push_back({t[i], pmf(p, static_cast<index_t>(i))});
    finite.stems(name, stems, shift, {.colour = colour_of(kThree[k].alpha)});
    const auto density = predict(omega, FunctionScore(hills), Line());
    line.curve(name, [&](double at) { return pdf(density, at); }, {.colour = colour_of(kThree[k].alpha)});
    shift += 0.12;
  }
  return {.name = "maps",
          .caption =
              "<b>One score function, finite and continuous.</b> Above, $f(t) = 0.6 \\cos 2t + 0.1t - "
              "0.08t^2$ at 17 points and on the line; below, what three regularizers make of it. Rings are "
              "probabilities of exactly zero.",
          .charts = {finite_score, line_score, finite, line}};
}

Figure entmax_alphas() {
  constexpr Map kMaps[] = {
      {0.5, "0.5", ""}, {1, "1", ", softmax"},   {1.25, "1.25", ""}, {4. / 3, "4/3", ""},
      {1.5, "1.5", ""}, {2, "2", ", sparsemax"}, {3, "3", ""},       {kInfinity, "\u221e", ", argmax"}};
  const std::vector<double> scores{-0.5, 0.6, 1.4, 1.9, 1.6, 0.9, 0.1, -1.5};
  constexpr double kBar = 0.7;
  const plot::Axis x{"", plot::Range{0.3, 8.7}};
  std::vector<plot::Chart> charts;
  plot::Chart first("Scores", x, {"", plot::Range{-2, 2.2}});
  std::vector<plot::Point> bars;
  for (std::size_t j = 0; j < scores.size(); ++j) bars.push_back({static_cast<double>(j + 1), scores[j]});
  first.bars("", bars, kBar, {.colour = plot::kMuted});
  charts.push_back(first);
  for (const Map& map : kMaps) {
    const auto p = predict(Tsallis(map.alpha), VectorScore(scores), Finite());
    plot::Chart chart(fmt::format("\u03b1 = {}{}", map.text, map.name), x, {"", plot::Range{0, 1.15}});
    std::vector<plot::Point> positive, zero;
    for (std::size_t j = 0; j < scores.size(); ++j) {
      const double probability = pmf(p, static_cast<index_t>(j));
      (probability > 0 ? positive : zero).push_back({static_cast<double>(j + 1), probability});
    }
    chart.bars("", positive, kBar, {.colour = colour_of(map.alpha)});
    if (!zero.empty())
      chart.markers("", zero, plot::Marker::ring, {.colour = colour_of(map.alpha), .width = 7});
    for (const plot::Point& bar : positive) {
      if (bar.y >= 0.095)
        chart.text({bar.x, bar.y + 0.07}, bar.y == 1 ? "1" : fmt::format("{:.2f}", bar.y).substr(1));
    }
    charts.push_back(chart);
  }
  for (plot::Chart& chart : charts) chart.size(300, 230);
  return {.name = "entmax_alphas",
          .caption =
              "<b>One vector of scores, eight maps to probabilities.</b> For $\\alpha \\le 1$ no probability "
              "is zero; for $\\alpha \\gt 1$ scores far below the best get exactly zero (rings), the more of "
              "them the larger $\\alpha$.",
          .charts = charts,
          .columns = 3,
          .heading = "One vector of scores, eight maps to probabilities (rings: exactly zero)"};
}

/// The largest difference between the density on a grid of that many steps, each point weighing one step, and
/// the density on the line.
double grid_error(double alpha, std::size_t steps) {
  constexpr double kFar = 16;  // beyond it the densities hold less than 1e-7
  const std::vector<double> t = grid(steps, kFar);
  const Tsallis omega(alpha);
  const auto coarse =
      predict_density(omega, VectorScore(scores_at(t)),
                      Finite(std::vector<double>(t.size(), 2 * kFar / static_cast<double>(steps))));
  const auto fine = predict(omega, FunctionScore(hills), Line());
  double worst = 0;
  for (std::size_t i = 0; i < t.size(); ++i) {
    worst = std::max(worst, std::abs(coarse.density[i] - pdf(fine, t[i])));
  }
  return worst;
}

Table convergence() {
  Table table{.caption =
                  "<b>From the finite to the continuous map:</b> the largest difference between the density "
                  "on an even grid and the density on the line.",
              .header = {"points", "$\\alpha = 1$", "$\\alpha = 1.5$", "$\\alpha = 2$"},
              .rows = {}};
  for (const std::size_t steps : {16u, 64u, 256u, 1024u}) {
    std::vector<std::string> row{std::to_string(steps + 1)};
    for (const Map& map : kThree) row.push_back(fmt::format("{:.1e}", grid_error(map.alpha, steps)));
    table.rows.push_back(row);
  }
  return table;
}

std::vector<Check> checks() {
  std::vector<Check> all;
  const std::vector<double> t = grid(16, 4), f = scores_at(t);
  const auto largest = [&](const std::vector<double>& a, const std::function<double(std::size_t)>& b) {
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b(i)));
    return worst;
  };
  const auto at = [&](double alpha, const std::vector<double>& scores) {
    return predict_density(Tsallis(alpha), VectorScore(scores), Finite());
  };
  double sum = 0;
  for (const double score : f) sum += std::exp(score);
  const auto soft = at(1, f), sparse = at(2, f);
  const FinitePrediction bisected = finite_prediction(2, f);
  all.push_back({"softmax of 17 scores", "$\\exp f / \\sum \\exp f$", "the formula", "agrees",
                 largest(soft.density, [&](std::size_t i) { return std::exp(f[i]) / sum; }), 1e-15});
  const double tau = sparse.top + sparse.threshold_offset;
  all.push_back({"sparsemax of 17 scores", "$[f - \\tau]_+$",
                 fmt::format("$\\tau = {:.10f}$ by bisection", bisected.threshold),
                 fmt::format("$\\tau = {:.10f}$", tau),
                 largest(sparse.density, [&](std::size_t i) { return bisected.p[i]; }), 1e-15});
  std::vector<double> shifted = f;
  for (double& score : shifted) score += 3;
  const auto moved = at(1.5, shifted), still = at(1.5, f);
  all.push_back({"$f + 3$ in place of $f$, $\\alpha = 1.5$", "constants change nothing",
                 "the same 17 probabilities", "agrees",
                 largest(moved.density, [&](std::size_t i) { return still.density[i]; }), 1e-14});
  const auto cold = predict(Tsallis(1, 1e-3), VectorScore(f), Finite());
  const double best = pmf(cold, std::ranges::max_element(f) - f.begin());
  all.push_back({"mass at the maximizer, temperature 0.001", "all of it in the limit", "1",
                 fmt::format("{:.12f}", best), std::abs(best - 1), 1e-12});
  // The normalizing function of [SCD22, Section 4.2].
  for (const double alpha : {0.5, 1.5, 2.0}) {
    const auto p = at(alpha, f);
    double power = 0, mean = 0;
    for (std::size_t i = 0; i < f.size(); ++i) {
      if (p.density[i] == 0) continue;
      const double weight = std::pow(p.density[i], 2 - alpha);
      power += weight, mean += weight * f[i];
    }
    const double am1 = alpha - 1, printed = (mean - 1 / am1) / power + 1 / am1,
                 ours = normalizer(Tsallis(alpha), VectorScore(f), Finite());
    all.push_back({fmt::format("normalizing function $A$ at $\\alpha = {}$", alpha), "its formula in $p$",
                   fmt::format("{:.12f}", printed), fmt::format("{:.12f}", ours), std::abs(printed - ours),
                   1e-13});
  }
  for (const Map& map : kThree) {
    const auto p = predict(Tsallis(map.alpha), FunctionScore(hills), Line());
    const double mass = expectation(p, [](double) { return 1.; });
    all.push_back({fmt::format("mass of the density on the line, $\\alpha = {}$", map.text), "", "1",
                   fmt::format("{:.12f}", mass), std::abs(mass - 1), 1e-10});
  }
  for (const Map& map : kThree) {
    const double error = grid_error(map.alpha, 1024);
    all.push_back({fmt::format("density on 1025 points, $\\alpha = {}$", map.text), "",
                   "the density on the line", "agrees", error, 1e-5});
  }
  // The multiprecision value is docs/math.md's golden row 8.
  const double value = pmf(predict(Tsallis(1.5), VectorScore({1, 0.8, 0.1, -2}), Finite()), 0);
  all.push_back({"1.5-entmax of $(1, 0.8, 0.1, -2)$, first probability", "",
                 "0.529247894323 in multiprecision", fmt::format("{:.12f}", value),
                 std::abs(value - 0.52924789432273287), 1e-15});
  return all;
}

}  // namespace

Section maps() {
  return {
      .id = "maps",
      .title = "Discrete and continuous maps of one score function",
      .place = "Sections 2.1 and 2.2, Figure 3",
      .says =
          {"The same definition serves a finite set and the line: $\\hat{p}_{\\Omega}[f]$ maximizes $E_p[f] "
           "- \\Omega (p)$. Shannon's negentropy gives softmax on a finite set and the Boltzmann-Gibbs "
           "density on the line; other regularizers give sparsemax, entmax, fusedmax. Constants added to f "
           "change nothing; as the temperature falls the mass gathers at the maximizer."},
      .computed = {"One f, sampled at 17 points and on the line, through softmax, 1.5-entmax and sparsemax. "
                   "The paper draws Shannon alone. On ever finer grids, each point weighing one step, the "
                   "finite map becomes the continuous one."},
      .parts = {one_score(), convergence(), entmax_alphas()},
      .checks = checks()};
}

}  // namespace fenchel::report
