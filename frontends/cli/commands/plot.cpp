#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/commands/plots.hpp"
#include "cli/tables/numbers.hpp"
#include "cli/tables/output.hpp"

namespace fenchel::cli {
namespace {

const std::map<std::string, plot::Theme> kThemes{
    {"auto", plot::Theme::automatic}, {"light", plot::Theme::light}, {"dark", plot::Theme::dark}};

struct Options {
  std::vector<PlotKind> kinds;
  std::string theme = "auto";
};

void draw(const Session& session, const Options& options) {
  const auto kind = std::find_if(options.kinds.begin(), options.kinds.end(),
                                 [](const PlotKind& candidate) { return candidate.app->parsed(); });
  const std::string ending = std::filesystem::path(session.output).extension().string();
  if (!ending.empty() && ending != ".svg")
    throw UsageError(fmt::format("--output: a plot is an SVG file, got {}", session.output));
  session.result->write(plot::svg_file("", kind->draw(), kind->columns, kThemes.at(options.theme)));
  session.result->finish();
}

}  // namespace

void add_range_option(CLI::App& app, std::vector<double>& range) {
  add_numbers(app, "--range", range, "Ends of the horizontal axis")->option_text("A,B");
}

plot::Range range_of(const std::vector<double>& given, plot::Range own, const char* option) {
  if (given.empty()) return own;
  if (given.size() != 2 || !(given[0] < given[1]) || !std::isfinite(given[1] - given[0]))
    throw UsageError(
        fmt::format("{} must be two finite ends A,B with A < B, got {}", option, fmt::join(given, ",")));
  return {given[0], given[1]};
}

Command add_plot(CLI::App& program, Session& session) {
  CLI::App* app = program.add_subcommand("plot", "Draws one thing as an SVG file.");
  app->require_subcommand(1);
  const auto options = std::make_shared<Options>();
  for (const auto add : {add_plot_density, add_plot_cdf, add_plot_fit, add_plot_attention,
                         add_plot_regression, add_plot_string, add_plot_geodesics}) {
    const PlotKind& kind = options->kinds.emplace_back(add(*app, session));
    kind.app->group("Commands");
    kind.app
        ->add_option("-o,--output", session.output,
                     "The SVG file, written whole or not at all; - is standard output")
        ->option_text("FILE");
    add_choice(*kind.app, "--theme", options->theme, {"auto", "light", "dark"},
               "auto follows the reader's system; light or dark do not");
    kind.app->add_flag("-q,--quiet", session.quiet, "No progress, no notes");
    add_threads_option(*kind.app, session);
  }
  app->footer(
      "Examples:\n"
      "  fenchel plot density triangular -o triangular.svg\n"
      "  fenchel plot cdf sparse-poisson --mu 3 --theme dark -o poisson.svg\n"
      "  fenchel plot fit draws.csv --model model.json -o fit.svg\n"
      "  fenchel plot regression cancer.csv --x population --y cancer -o cancer.svg");
  return {app, [&session, options] { draw(session, *options); }};
}

}  // namespace fenchel::cli
