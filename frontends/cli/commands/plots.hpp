#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "cli/program/session.hpp"
#include "plot/chart.hpp"

namespace CLI {
class App;
}

namespace fenchel::cli {

/// A kind of plot: its options, and the charts that they ask for.
struct PlotKind {
  CLI::App* app;
  std::function<std::vector<plot::Chart>()> draw;
  std::size_t columns = 1;  ///< in which the charts stand
};

// Each adds itself to `fenchel plot`.
PlotKind add_plot_density(CLI::App& plot, Session& session);
PlotKind add_plot_cdf(CLI::App& plot, Session& session);
PlotKind add_plot_fit(CLI::App& plot, Session& session);
PlotKind add_plot_attention(CLI::App& plot, Session& session);
PlotKind add_plot_regression(CLI::App& plot, Session& session);
PlotKind add_plot_string(CLI::App& plot, Session& session);
PlotKind add_plot_geodesics(CLI::App& plot, Session& session);

/// --range, the ends of the x axis.
void add_range_option(CLI::App& app, std::vector<double>& range);
/// The range that was given, else `own`. Throws UsageError unless it is two ends, the lower first, both
/// finite.
[[nodiscard]] plot::Range range_of(const std::vector<double>& given, plot::Range own,
                                   const char* option = "--range");

}  // namespace fenchel::cli
