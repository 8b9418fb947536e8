#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "cli/commands/distribution_view.hpp"
#include "cli/commands/plots.hpp"
#include "cli/families/family.hpp"
#include "cli/families/model.hpp"
#include "cli/tables/format.hpp"
#include "cli/tables/numbers.hpp"
#include "fenchel/distribution/euclidean/multivariate_geometry.hpp"
#include "fenchel/distribution/euclidean/multivariate_numeric_density.hpp"
#include "plot/ellipse.hpp"

namespace fenchel::cli {
namespace {

using plot::Chart;
using plot::Range;

struct Options {
  FamilyOptions family;
  std::vector<double> range;
  index_t samples = 400;
};

template <class P, class F>
Chart line_chart(const P& p, const Options& options, const char* label, F value) {
  Chart chart(title_of(options.family), {"t", range_of(options.range, view(p))}, {label});
  shade_support(chart, p);
  chart.curve(label, [&](double t) { return value(p, t); }, {.colour = 0});
  return chart;
}

template <class P>
Chart pmf_chart(const P& p, const Options& options) {
  const IntegerRange shown = integers_in(range_of(options.range, view(p)));
  Chart chart(title_of(options.family), {"t"}, {"probability"});
  std::vector<plot::Point> points;
  for (index_t t = shown.first; t <= shown.last; ++t) points.push_back({static_cast<double>(t), pmf(p, t)});
  chart.stems("probability; a ring is exactly 0", points, 0, {.colour = 0});
  return chart;
}

template <class P>
Chart step_chart(const P& p, const Options& options) {
  const IntegerRange shown = integers_in(range_of(options.range, view(p)));
  Chart chart(title_of(options.family), {"t"}, {"distribution function"});
  chart.shade("support", {static_cast<double>(support(p).first), static_cast<double>(support(p).last)},
              {.colour = 1});
  std::vector<plot::Point> steps;
  for (index_t t = shown.first; t <= shown.last; ++t) {
    steps.push_back({static_cast<double>(t), cdf(p, t - 1)});
    steps.push_back({static_cast<double>(t), cdf(p, t)});
  }
  chart.line("distribution function", steps, {.colour = 0});
  return chart;
}

/// The columns.
plot::Path path_of(const Eigen::MatrixXd& points) {
  plot::Path path;
  for (index_t k = 0; k < points.cols(); ++k) path.push_back({points(0, k), points(1, k)});
  return path;
}

/// A line about a set that the end of the domain cuts is open there.
bool is_closed(const plot::Path& line) {
  return line.front().x == line.back().x && line.front().y == line.back().y;
}

// The smallest set that has this mass, and the support where it is bounded: the lines about them.
std::vector<plot::Path> contour(const MultivariateBetaGaussian& p, double mass) {
  return {plot::outline(mahalanobis_contour(p, mass))};
}
std::vector<plot::Path> contour(const MultivariateNumericDensity& p, double mass) {
  std::vector<plot::Path> lines;
  for (const Eigen::MatrixXd& line : contours(p, mass)) lines.push_back(path_of(line));
  return lines;
}
std::vector<plot::Path> edge(const MultivariateBetaGaussian& p) {
  const Ellipsoid whole = support(p);
  if (!std::isfinite(whole.radius2)) return {};
  return {plot::outline(whole)};
}
std::vector<plot::Path> edge(const MultivariateNumericDensity& p) { return contour(p, 1); }

template <Multivariate P>
Chart plane_chart(const P& p, const Options& options, std::uint64_t seed) {
  if (p.dimension() != 2)
    throw UsageError(
        fmt::format("a plot shows two dimensions, {} has {}", options.family.family, p.dimension()));
  Chart chart(title_of(options.family), {"t\u2081"}, {"t\u2082"});
  chart.equal_units();
  if (options.samples > 0) {
    const Eigen::MatrixXd draws = sample(p, options.samples, seed);
    chart.markers("draws", path_of(draws), plot::Marker::dot, {.colour = plot::kMuted, .width = 3});
  }
  chart.lines("half of the mass", contour(p, 0.5), {.colour = 0});
  chart.lines("90%", contour(p, 0.9), {.colour = 1});
  const std::vector<plot::Path> whole = edge(p);
  if (whole.empty()) return chart;
  if (std::all_of(whole.begin(), whole.end(), is_closed)) {
    chart.polygons("support", whole, {.colour = 2});
  } else {
    chart.lines("support", whole, {.colour = 2});
  }
  return chart;
}

Chart density_chart(Options options, std::uint64_t seed) {
  options.family = read_family(options.family);
  return std::visit(
      [&](const auto& p) {
        using P = std::decay_t<decltype(p)>;
        if constexpr (Multivariate<P>) {
          return plane_chart(p, options, seed);
        } else if constexpr (std::same_as<typename P::value_type, index_t>) {
          return pmf_chart(p, options);
        } else {
          return line_chart(p, options, "density", [](const P& q, double t) { return pdf(q, t); });
        }
      },
      make_distribution(options.family));
}

Chart cdf_chart(Options options) {
  options.family = read_family(options.family);
  return std::visit(
      [&](const auto& p) -> Chart {
        using P = std::decay_t<decltype(p)>;
        if constexpr (Multivariate<P>) {
          throw UsageError(
              fmt::format("{} in R^{} has no distribution function to plot; see fenchel plot density",
                          options.family.family, p.dimension()));
        } else if constexpr (std::same_as<typename P::value_type, index_t>) {
          return step_chart(p, options);
        } else {
          return line_chart(p, options, "distribution function",
                            [](const P& q, double t) { return cdf(q, t); });
        }
      },
      make_distribution(options.family));
}

}  // namespace

PlotKind add_plot_density(CLI::App& plot, Session& session) {
  CLI::App* app = plot.add_subcommand("density",
                                      "The density of a distribution over its support; stems on the "
                                      "integers, contours and draws in the plane.");
  const auto options = std::make_shared<Options>();
  add_family_options(*app, options->family);
  add_range_option(*app, options->range);
  add_whole(
      *app, "--samples", [options](std::uint64_t count) { options->samples = static_cast<index_t>(count); },
      0, 100000, "Draws to show in the plane (400 unless given)");
  add_seed_option(*app, session);
  app->footer(
      "Examples:\n"
      "  fenchel plot density biweight --sigma2 4 -o biweight.svg\n"
      "  fenchel plot density sparse-poisson --mu 6 -o poisson.svg\n"
      "  fenchel plot density model.json -o fitted.svg\n"
      "  fenchel plot density score --score \"2*cos(2*t)-t^2/8\" -o waves.svg\n"
      "  fenchel plot density score --score \"cos(3*x)-(x^2+y^2)/2\" -o stripes.svg\n"
      "  fenchel plot density multivariate-beta-gaussian --mu 0,0 --Sigma 2,1,1,1 -o plane.svg");
  return {app, [&session, options] { return std::vector{density_chart(*options, session.seed)}; }};
}

PlotKind add_plot_cdf(CLI::App& plot, Session&) {
  CLI::App* app = plot.add_subcommand("cdf", "The distribution function, over the support.");
  const auto options = std::make_shared<Options>();
  add_family_options(*app, options->family);
  add_range_option(*app, options->range);
  app->footer(
      "Examples:\n  fenchel plot cdf parabola -o parabola.svg\n  fenchel plot cdf student --alpha 0.6 "
      "--range -4,4 -o student.svg");
  return {app, [options] { return std::vector{cdf_chart(*options)}; }};
}

}  // namespace fenchel::cli
