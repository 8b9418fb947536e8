#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands/attention.hpp"
#include "cli/commands/plots.hpp"
#include "cli/commands/regression.hpp"
#include "cli/program/progress.hpp"
#include "cli/tables/format.hpp"
#include "cli/tables/input.hpp"
#include "cli/tables/numbers.hpp"
#include "cli/tables/shared_input.hpp"
#include "fenchel/attention/positions.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/estimate/regression/regression.hpp"

namespace fenchel::cli {
namespace {

using plot::Chart;

/// What a reader tells apart; more points than this are thinned evenly.
constexpr std::size_t kMostPoints = 3000;

std::vector<plot::Point> thinned(std::vector<plot::Point> points) {
  if (points.size() <= kMostPoints) return points;
  std::vector<plot::Point> some;
  for (std::size_t k = 0; k < kMostPoints; ++k) some.push_back(points[k * points.size() / kMostPoints]);
  return some;
}

std::vector<Chart> attention_charts(const Session& session, const AttentionOptions& options) {
  constexpr std::size_t kMostChannels = 6;  // colours that are told apart
  const Attention attention = read_attention(session, options);
  if (attention.channels.size() > kMostChannels)
    throw UsageError(fmt::format("a plot shows {} channels at most, {} has {}; choose with --columns",
                                 kMostChannels, table_name(options.input), attention.channels.size()));
  const BetaGaussian& p = attention.density;
  const std::vector<double> times = positions(attention.values.cols());
  const plot::Axis time{"t", plot::Range{0, 1}};

  Chart signal("The signal, and the function made of it", time, {"value"});
  signal.shade("support", {support(p).lower(), support(p).upper()}, {.colour = 1});
  for (std::size_t c = 0; c < attention.channels.size(); ++c) {
    std::vector<plot::Point> frames;
    for (std::size_t l = 0; l < times.size(); ++l)
      frames.push_back({times[l], attention.values(static_cast<index_t>(c), static_cast<index_t>(l))});
    signal.markers("", thinned(std::move(frames)), plot::Marker::dot, {.colour = c, .width = 3});
    signal.curve(attention.channels[c],
                 [&](double t) { return value(attention.signal, t)[static_cast<index_t>(c)]; },
                 {.colour = c});
  }
  Chart density(fmt::format("Attention: \u03b1 = {}, \u03bc = {}, \u03c3\u00b2 = {}",
                            short_text(options.alpha), short_text(p.mu()), short_text(p.sigma2())),
                time, {"density"});
  if (attention.weights.size() > 0) {
    std::vector<plot::Point> weights;
    const double frames = static_cast<double>(times.size());
    for (std::size_t l = 0; l < times.size(); ++l)
      weights.push_back({times[l], frames * attention.weights[static_cast<index_t>(l)]});
    density.bars("weights times frames", thinned(std::move(weights)), 0.8 / frames, {.colour = 2});
  }
  density.area("density", [&](double t) { return pdf(p, t); }, {.colour = 1});
  return {signal, density};
}

struct Regression {
  InputOptions input;
  std::string x, y;
  NoiseOptions noise;
};

Chart regression_chart(const Session& session, Regression options) {
  RegressionOptions regression = regression_options(options.noise);
  regression.seed = session.seed;
  options.input.columns = {options.y, options.x};
  const Input input(session, options.input);
  const BatchSource& source = input.source();
  ProgressMeter meter(session, "regression");
  RegressionFit fit;
  blame(table_name(options.input), [&] {
    fit = fit_regression({source, Processes::alone(), meter.callback()}, regression);
  });
  check_converged(fit, options.noise);
  std::vector<plot::Point> points;
  Batch batch;
  for (index_t number = 0; number < source.batches(); ++number) {
    source.read(number, batch);
    for (index_t i = 0; i < batch.rows.rows; ++i) points.push_back({batch.rows[i][1], batch.rows[i][0]});
  }
  const auto [least, most] = std::minmax_element(
      points.begin(), points.end(), [](const plot::Point& a, const plot::Point& b) { return a.x < b.x; });
  const plot::Range range{least->x, most->x};
  constexpr int kSteps = 200;
  std::vector<double> x, low, high;
  std::vector<plot::Point> middle;
  for (int i = 0; i <= kSteps; ++i) {
    const double at = range.low + (range.high - range.low) * i / kSteps;
    const BetaGaussian p = predict(fit, std::array{at});
    const Interval edge = std::isfinite(support(p).upper())
                              ? support(p)
                              : Interval(quantile(p, 0.025), survival_quantile(p, 0.025));
    x.push_back(at), low.push_back(edge.lower()), high.push_back(edge.upper());
    middle.push_back({at, mean(p)});
  }
  Chart chart(fmt::format("{} by {}, \u03b1 = {}", options.y, options.x, short_text(regression.alpha)),
              {options.x, range}, {options.y});
  chart.band(regression.alpha > 1 ? "support" : "95%", x, low, high, {.colour = 1});
  chart.line("mean", middle, {.colour = 1});
  chart.markers("", thinned(std::move(points)), plot::Marker::dot, {.colour = plot::kInk, .width = 3});
  return chart;
}

}  // namespace

PlotKind add_plot_attention(CLI::App& plot, Session& session) {
  CLI::App* app = plot.add_subcommand("attention", "A signal, and the density of attention over it.");
  const auto options = std::make_shared<AttentionOptions>();
  add_attention_options(*app, *options);
  app->footer(
      "Examples:\n"
      "  fenchel plot attention signal.csv --mu 0.3 --sigma2 0.002 -o attention.svg\n"
      "  fenchel plot attention signal.csv --weight w --alpha 1.5 -o attention.svg");
  return {app, [&session, options] { return attention_charts(session, *options); }};
}

PlotKind add_plot_regression(CLI::App& plot, Session& session) {
  CLI::App* app = plot.add_subcommand(
      "regression", "A regression with bounded noise: the rows, the mean, and the band that holds them.");
  const auto options = std::make_shared<Regression>();
  add_input_options(*app, options->input);
  app->add_option("--x", options->x, "Column to predict from")->required()->option_text("COL");
  app->add_option("--y", options->y, "Column to predict")->required()->option_text("COL");
  app->add_option("--weight", options->input.weight, "Column that says how many rows each stands for")
      ->option_text("COL");
  add_noise_options(*app, options->noise);
  add_seed_option(*app, session);
  app->footer(
      "Examples:\n  fenchel plot regression cancer.csv --x population --y cancer --alpha 2 -o cancer.svg");
  return {app, [&session, options] { return std::vector{regression_chart(session, *options)}; }};
}

}  // namespace fenchel::cli
