#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/commands/regression.hpp"
#include "cli/program/interrupt.hpp"
#include "cli/program/progress.hpp"
#include "cli/tables/format.hpp"
#include "cli/tables/input.hpp"
#include "cli/tables/numbers.hpp"
#include "cli/tables/row_writer.hpp"
#include "cli/tables/shared_input.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/data/batch_source.hpp"
#include "fenchel/data/data_error.hpp"

namespace fenchel::cli {
namespace {

/// What a table with masks has in place of a missing value.
constexpr double kMissing = -kInfinity;
/// Rows between two looks at the clock and at signals.
constexpr index_t kRows = 1 << 12;

struct Options {
  std::string model;
  InputOptions input;
  std::vector<double> quantiles;
  std::optional<double> level;
};

bool has(std::span<const std::string> names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The columns that the model predicts from, and the one that it predicts if it is there. A stream cannot be
/// looked into before: all its columns are read.
std::vector<std::string> columns_of(const Session& session, const Options& options,
                                    const RegressionModel& model) {
  if (std::ranges::any_of(options.input.paths, is_stream)) return {};
  Session silent = session;
  silent.quiet = true;
  InputOptions with_y = options.input;
  with_y.columns = model.fit.names;
  with_y.columns.push_back(model.y);
  try {
    static_cast<void>(Input(silent, with_y));
    return with_y.columns;
  } catch (const DataError&) {  // what else is wrong is said when the table is opened without y
    return model.fit.names;
  }
}

/// Where a row of the table has what the model needs.
struct Places {
  std::vector<std::size_t> x;
  std::optional<std::size_t> y;
};

std::size_t place_of(std::span<const std::string> names, const std::string& name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

Places places(std::span<const std::string> names, const RegressionModel& model, const Options& options) {
  Places found;
  for (const std::string& name : model.fit.names) {
    if (!has(names, name))
      throw DataError(fmt::format("{}: has no column '{}'; its columns are '{}'", table_name(options.input),
                                  name, fmt::join(names, "', '")));
    found.x.push_back(place_of(names, name));
  }
  if (has(names, model.y)) found.y = place_of(names, model.y);
  return found;
}

std::vector<std::string> headers(const Options& options, bool with_y) {
  std::vector<std::string> names{"mean", "support_lower", "support_upper"};
  if (options.level) names.insert(names.end(), {"lower", "upper"});
  for (const double u : options.quantiles) names.push_back("q" + shortest_text(u));
  if (with_y) names.insert(names.end(), {"y", "pdf", "inside"});
  return names;
}

void predict_row(const BetaGaussian& p, const Options& options, std::optional<double> y,
                 std::vector<double>& row) {
  row.assign({mean(p), support(p).lower(), support(p).upper()});
  if (options.level) {
    const double tail = (1 - *options.level) / 2;
    row.insert(row.end(), {quantile(p, tail), survival_quantile(p, tail)});
  }
  for (const double u : options.quantiles) row.push_back(quantile(p, u));
  if (y && *y == kMissing) row.insert(row.end(), 3, std::numeric_limits<double>::quiet_NaN());
  if (y && *y != kMissing) row.insert(row.end(), {*y, pdf(p, *y), support(p).contains(*y) ? 1. : 0.});
}

void run(const Session& session, Options options) {
  for (const double u : options.quantiles)
    if (!(u >= 0 && u <= 1)) throw UsageError(fmt::format("--quantiles must be in [0, 1], got {}", u));
  if (options.level && !(*options.level >= 0 && *options.level <= 1))
    throw UsageError(fmt::format("--level must be in [0, 1], got {}", *options.level));
  const RegressionModel model = read_regression(options.model);
  options.input.columns = columns_of(session, options, model);
  options.input.masks = true;
  const Input input(session, options.input);
  const BatchSource& source = input.source();
  const Places at = places(source.names(), model, options);
  RowWriter writer(session, headers(options, at.y.has_value()));
  ProgressMeter meter(session, "predict");
  Batch batch;
  std::vector<double> x(at.x.size()), row;
  for (index_t number = 0; number < source.batches(); ++number) {
    source.read(number, batch);
    for (index_t i = 0; i < batch.rows.rows; ++i) {
      if (i % kRows == 0) {
        if (writer.is_terminal()) {
          check_interrupt();
        } else {
          meter.update(static_cast<double>(number), static_cast<double>(source.batches()));
        }
      }
      for (std::size_t k = 0; k < x.size(); ++k) {
        x[k] = batch.rows[i][at.x[k]];
        if (x[k] == kMissing)
          throw DataError(source.place(number, i, static_cast<index_t>(at.x[k])) + ": a value is missing");
      }
      try {
        predict_row(predict(model.fit, x), options, at.y ? std::optional(batch.rows[i][*at.y]) : std::nullopt,
                    row);
      } catch (const std::domain_error& error) {
        throw DataError(source.place(number, i, 0) + ": " + plain_message(error.what()));
      }
      writer.write(row);
    }
  }
  writer.finish();
}

}  // namespace

Command add_predict(CLI::App& program, Session& session) {
  const auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand(
      "predict", "What a model of fenchel regress says of each row of a table: mean, support, quantiles.");
  app->add_option("MODEL", options->model, "What fenchel regress -o FILE.json wrote")
      ->required()
      ->option_text(" ");
  add_input_options(*app, options->input);
  add_numbers(*app, "--quantiles", options->quantiles, "Of which to give quantiles: columns such as q0.05")
      ->option_text("U,U,...");
  add_number(*app, "--level", options->level,
             "Also give the interval that holds y with this probability, with equal tails: lower and upper");
  add_common_options(*app, session);
  app->footer(
      "The columns of the table are found by their names. support_lower and support_upper are the ends of\n"
      "the support: y cannot lie outside; for alpha up to 1 they are infinite. Where the table has the "
      "column\n"
      "that the model predicts, it is shown as y, with the density there and whether it is inside of the\n"
      "support (1) or not (0); in a row without it these three are nan. Rows leave as they come; of standard "
      "input all columns must be numbers.\n"
      "\n"
      "Examples:\n"
      "  fenchel regress houses.csv --x size,age --y price -o model.json\n"
      "  fenchel predict model.json new.csv --quantiles 0.05,0.5,0.95\n"
      "  fenchel predict model.json new.csv --level 0.9 -o predictions.csv");
  return {app, [&session, options] { run(session, *options); }};
}

}  // namespace fenchel::cli
