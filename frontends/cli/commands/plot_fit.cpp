#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cmath>
#include <concepts>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/commands/distribution_view.hpp"
#include "cli/commands/empirical.hpp"
#include "cli/commands/plots.hpp"
#include "cli/families/model.hpp"
#include "cli/program/progress.hpp"
#include "cli/tables/input.hpp"
#include "cli/tables/shared_input.hpp"

namespace fenchel::cli {
namespace {

using plot::Chart;
using plot::Point;
using plot::Range;

constexpr double kWidth = 520, kSquare = 320, kHeight = 330;

struct Options {
  InputOptions input;
  std::string model;
  std::vector<double> range;
};

/// A distribution of integers.
template <class P>
concept OnIntegers = std::same_as<typename P::value_type, index_t>;

/// All of the model that an axis shows, and the data as far as it is not more than that away.
Range shared_view(const Range& model, const Empirical& data) {
  const double length = model.high - model.low;
  const auto near = [&](double t) { return std::clamp(t, model.low - length, model.high + length); };
  return {std::min(model.low, near(data.values.front().t)), std::max(model.high, near(data.values.back().t))};
}

bool inside(const Interval& support, double t) { return support.contains(t); }
bool inside(const std::vector<Interval>& support, double t) {
  return std::ranges::any_of(support, [&](const Interval& piece) { return piece.contains(t); });
}
bool inside(const IntegerRange& support, double t) {
  return t >= static_cast<double>(support.first) && t <= static_cast<double>(support.last) &&
         std::floor(t) == t;
}

/// Crosses on the axis where data lies that the model says cannot be.
template <class P>
void mark_outside(Chart& chart, const P& p, const Empirical& data) {
  Empirical outside;
  for (const Empirical::Value& value : data.values) {
    if (inside(support(p), value.t)) continue;
    outside.values.push_back(value);
    outside.weight += value.weight;
  }
  if (outside.values.empty()) return;
  std::vector<Point> crosses;
  for (const Empirical::Value& value : thinned(outside)) crosses.push_back({value.t, 0});
  chart.markers(fmt::format("outside of the support: {:.12g} of {:.12g} rows", outside.weight, data.weight),
                crosses, plot::Marker::cross, {.colour = 1, .width = 8});
}

std::string axis_label(const std::string& column, const Empirical& data, const Range& range) {
  double beyond = 0;
  for (const Empirical::Value& value : data.values)
    if (value.t < range.low || value.t > range.high) beyond += value.weight;
  return beyond > 0 ? fmt::format("{} ({:.12g} of {:.12g} rows are farther out)", column, beyond, data.weight)
                    : column;
}

/// What holds the points too, on both axes.
Range extended(Range range, const std::vector<Point>& points) {
  for (const Point& point : points) {
    range.low = std::min({range.low, point.x, point.y});
    range.high = std::max({range.high, point.x, point.y});
  }
  return range;
}

/// Points about a line that they are on where the model is the law of the data.
Chart comparison(const std::string& title, Range range, const std::vector<Point>& points,
                 const std::vector<Point>& crosses) {
  Chart chart(title, {"of the model", range}, {"of the data", range});
  chart.equal_units();
  chart.line("", {{range.low, range.low}, {range.high, range.high}}, {.colour = plot::kMuted, .width = 1.5});
  chart.markers("", points, plot::Marker::dot, {.colour = 0, .width = 4});
  chart.markers("", crosses, plot::Marker::cross, {.colour = 1, .width = 8});
  return chart;
}

template <class P>
std::vector<Chart> comparisons(const P& p, const Empirical& data) {
  std::vector<Point> quantiles, outside, shares;
  for (const Empirical::Value& value : thinned(data)) {
    const double middle = data.middle(value);
    const Point quantile_pair{static_cast<double>(quantile(p, middle)), value.t};
    (inside(support(p), value.t) ? quantiles : outside).push_back(quantile_pair);
    if constexpr (OnIntegers<P>) {
      shares.push_back({cdf(p, static_cast<index_t>(std::floor(value.t))), data.up_to(value)});
    } else {
      shares.push_back({cdf(p, value.t), middle});
    }
  }
  const double first = data.values.front().t;
  return {comparison("Quantiles", extended(extended({first, first}, quantiles), outside), quantiles, outside),
          comparison("Shares up to each value", {0, 1}, shares, {})};
}

template <class P>
Chart density_chart(const P& p, const Empirical& data, const std::string& title, const std::string& column,
                    const std::vector<double>& given) {
  const Range range = range_of(given, shared_view(view(p), data));
  Chart chart(title, {axis_label(column, data, range), range}, {"density"});
  shade_support(chart, p);
  const Histogram bars = histogram(data, range);
  chart.bars("data", bars.bars, bars.width, {.colour = plot::kMuted});
  chart.curve("density", [&](double t) { return pdf(p, t); }, {.colour = 0});
  mark_outside(chart, p, data);
  return chart;
}

template <OnIntegers P>
Chart density_chart(const P& p, const Empirical& data, const std::string& title, const std::string& column,
                    const std::vector<double>& given) {
  const IntegerRange shown = integers_in(range_of(given, shared_view(view(p), data)));
  const Range range{static_cast<double>(shown.first), static_cast<double>(shown.last)};
  Chart chart(title, {axis_label(column, data, range), Range{range.low - 0.5, range.high + 0.5}},
              {"probability"});
  std::vector<Point> bars, stems;
  for (const Empirical::Value& value : data.values) bars.push_back({value.t, value.weight / data.weight});
  for (index_t t = shown.first; t <= shown.last; ++t) stems.push_back({static_cast<double>(t), pmf(p, t)});
  chart.bars("data", bars, 0.8, {.colour = plot::kMuted});
  chart.stems("probability; a ring is exactly 0", stems, 0, {.colour = 0});
  mark_outside(chart, p, data);
  return chart;
}

std::vector<Chart> fit_charts(const Session& session, const Options& options) {
  const FamilyOptions family = family_of(open_model(options.model, kDistributionModel));
  const AnyDistribution any = make_distribution(family);
  const Input input(session, options.input);
  const auto columns = input.source().names();
  if (columns.size() != 1)
    throw UsageError(fmt::format("a plot of a fit shows one column, {} has '{}'; choose with --columns",
                                 table_name(options.input), fmt::join(columns, "', '")));
  ProgressMeter meter(session, "plot");
  const Empirical data =
      read_empirical({input.source(), Processes::alone(), meter.callback()}, table_name(options.input));
  return std::visit(
      [&]<class P>(const P& p) -> std::vector<Chart> {
        if constexpr (Multivariate<P>) {
          throw UsageError(
              fmt::format("a plot of a fit shows one column, {} is of {}", options.model, p.dimension()));
        } else {
          Chart density = density_chart(p, data, title_of(family), columns[0], options.range);
          density.size(kWidth, kHeight);
          std::vector<Chart> charts = comparisons(p, data);
          for (Chart& chart : charts) {  // which end where the first ends, below its legend
            chart.size(kSquare, kHeight);
            chart.size(kSquare, kHeight + density.height() - chart.height());
          }
          charts.insert(charts.begin(), std::move(density));
          return charts;
        }
      },
      any);
}

}  // namespace

PlotKind add_plot_fit(CLI::App& plot, Session& session) {
  CLI::App* app = plot.add_subcommand(
      "fit", "A column of data and a model that was fitted: histogram and density, quantiles, shares.");
  const auto options = std::make_shared<Options>();
  add_input_options(*app, options->input);
  app->add_option("--model", options->model, "What fenchel fit -o FILE.json wrote")
      ->required()
      ->option_text("FILE");
  add_columns(*app, "--columns", options->input.columns, "Which column; needed where there are several");
  app->add_option("--weight", options->input.weight, "Column that says how many rows each stands for")
      ->option_text("COL");
  add_range_option(*app, options->range);
  app->footer(
      "Points on the line say that the model is the law of the data: on the left each value of the data\n"
      "against the quantile of the model at its rank, on the right the share of the data up to each value\n"
      "against that of the model. Crosses are rows outside of the support, where the density is 0.\n"
      "\n"
      "Examples:\n"
      "  fenchel fit draws.csv --family biweight -o model.json\n"
      "  fenchel plot fit draws.csv --model model.json -o fit.svg\n"
      "  fenchel fit draws.csv --family biweight --json | fenchel plot fit draws.csv --model /dev/stdin -o "
      "fit.svg");
  return {app, [&session, options] { return fit_charts(session, *options); }, 3};
}

}  // namespace fenchel::cli
