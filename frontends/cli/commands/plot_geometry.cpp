#include <fmt/format.h>

#include <CLI/App.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands/plots.hpp"
#include "cli/families/expression.hpp"
#include "cli/tables/format.hpp"
#include "cli/tables/numbers.hpp"
#include "plot/geodesic.hpp"
#include "plot/taut_string.hpp"

namespace fenchel::cli {
namespace {

using plot::Chart;

struct StringOptions {
  std::string score;
  double gamma = 1;
  std::vector<double> interval{-4, 4};
};

/// The tube around the integral of the score with the string in it, and below them the density: the string's
/// slope less a threshold, where it is positive.
std::vector<Chart> string_charts(const StringOptions& options) {
  constexpr index_t kCells = 800;
  const plot::Range range = range_of(options.interval, {}, "--interval");
  const Interval domain(range.low, range.high);
  const Expression f("--score", options.score);
  const TotalVariation omega(options.gamma);
  Chart tube(fmt::format("Taut string of {}, \u03b3 = {}", options.score, short_text(options.gamma)),
             {"t", range}, {"F(t) \u00b1 \u03b3"});
  draw(tube, taut_string(omega, f, domain, kCells));

  Chart density("Its density", {"t", range}, {"density"});
  const auto p = predict(omega, FunctionScore(f), domain);
  const auto plain = predict(Tsallis(2), FunctionScore(f), domain);
  density.curve("fusedmax", [&](double t) { return pdf(p, t); }, {.colour = 0});
  density.curve("sparsemax, \u03b3 = 0", [&](double t) { return pdf(plain, t); },
                {.colour = 2, .dashed = true});
  return {tube, density};
}

struct GeodesicOptions {
  std::vector<double> alphas{1, 4. / 3, 1.5, 2}, from{-1, 0.2}, to{1, 0.5};
};

HalfPlanePoint member(const char* option, const std::vector<double>& pair) {
  if (pair.size() != 2)
    throw UsageError(fmt::format("{} must be MU,SIGMA, got {} numbers", option, pair.size()));
  return {pair[0], pair[1]};
}

Chart geodesic_chart(const GeodesicOptions& options) {
  const HalfPlanePoint from = member("--from", options.from), to = member("--to", options.to);
  Chart chart(fmt::format("Geodesics from ({}, {}) to ({}, {})", short_text(from.mu), short_text(from.sigma),
                          short_text(to.mu), short_text(to.sigma)),
              {"\u03bc"}, {"\u03c3"});
  for (const double alpha : options.alphas) {
    const Geodesic path = geodesic(FenchelYoungMetric(alpha), from, to);
    chart.line(fmt::format("\u03b1 = {}, length {:.4g}", short_text(alpha), path.length()),
               plot::trace(path));
  }
  chart.markers("", {{from.mu, from.sigma}, {to.mu, to.sigma}}, plot::Marker::dot,
                {.colour = plot::kInk, .width = 7});
  return chart;
}

}  // namespace

PlotKind add_plot_string(CLI::App& plot, Session&) {
  CLI::App* app = plot.add_subcommand(
      "string", "How a taut string finds the density with plateaus (continuous fusedmax) of a score.");
  const auto options = std::make_shared<StringOptions>();
  app->add_option("--score", options->score, "Formula in t")->required()->option_text("FORMULA");
  add_number(*app, "--gamma", options->gamma, "Half the width of the tube (1 unless given)");
  add_numbers(*app, "--interval", options->interval, "Where the score is defined (-4,4 unless given)")
      ->option_text("A,B");
  app->footer("Examples:\n  fenchel plot string --score \"2*cos(2*t)-t^2/8\" --gamma 0.4 -o string.svg");
  return {app, [options] { return string_charts(*options); }};
}

PlotKind add_plot_geodesics(CLI::App& plot, Session&) {
  CLI::App* app = plot.add_subcommand(
      "geodesics", "Shortest paths between two beta-Gaussians in the geometry of the Fenchel-Young loss.");
  const auto options = std::make_shared<GeodesicOptions>();
  add_numbers(*app, "--alpha", options->alphas, "One path for each (1,4/3,3/2,2 unless given)");
  add_numbers(*app, "--from", options->from, "The first member (-1,0.2 unless given)")
      ->option_text("MU,SIGMA");
  add_numbers(*app, "--to", options->to, "The last member (1,0.5 unless given)")->option_text("MU,SIGMA");
  app->footer(
      "Examples:\n  fenchel plot geodesics -o geodesics.svg\n  fenchel plot geodesics --alpha 1,2 --from 0,1 "
      "--to 3,1 -o two.svg");
  return {app, [options] { return std::vector{geodesic_chart(*options)}; }};
}

}  // namespace fenchel::cli
