#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/program/interrupt.hpp"
#include "cli/program/progress.hpp"
#include "cli/tables/input.hpp"
#include "cli/tables/numbers.hpp"
#include "cli/tables/row_writer.hpp"
#include "cli/tables/shared_input.hpp"
#include "fenchel/backend/cpu/entmax.hpp"
#include "fenchel/backend/cpu/entmax_loss.hpp"
#include "fenchel/backend/cpu/fusedmax.hpp"
#include "fenchel/backend/cpu/smooth_sparsemax.hpp"
#include "fenchel/backend/cpu/weighted_entmax.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/data/data_error.hpp"

namespace fenchel::cli {
namespace {

struct MapOptions {
  InputOptions input;  ///< its weight is the target: the column that stands apart
  std::string map = "entmax", measure;
  std::optional<double> alpha, gamma;
  bool gradient = false;
};

/// The table of --measure: one row of weights that all rows of scores share, or one for each.
class Measure {
 public:
  Measure(const Session& session, const MapOptions& options, index_t columns)
      : name_(table_name(options.measure)), columns_(columns) {
    if (options.measure.empty()) return;
    InputOptions table = options.input;
    table.paths = {options.measure};
    table.columns.clear();
    table.weight.clear();
    const Input input(session, table);
    const BatchSource& source = input.source();
    if (source.columns() != columns) {
      throw DataError(fmt::format("{}: expected {} columns, as many as there are scores, got {}", name_,
                                  columns, source.columns()));
    }
    Batch batch;
    for (index_t number = 0; number < source.batches(); ++number) {
      source.read(number, batch);
      for (index_t i = 0; i < batch.rows.rows; ++i) {
        weights_.insert(weights_.end(), batch.rows[i].begin(), batch.rows[i].end());
      }
    }
    if (weights_.empty()) refuse();
  }
  /// The weights of the next rows of scores; null where there is no measure.
  [[nodiscard]] Rows<const double> next(index_t count) {
    if (weights_.empty()) return {};
    if (rows() == 1) return {weights_.data(), count, columns_, 0};
    const double* const first = weights_.data() + used_ * columns_;
    used_ += count;
    if (used_ > rows()) refuse();
    return {first, count, columns_};
  }
  void finish() const {
    if (rows() > 1 && used_ != rows()) refuse();
  }

 private:
  [[nodiscard]] index_t rows() const { return std::ssize(weights_) / columns_; }
  [[noreturn]] void refuse() const {
    throw DataError(
        fmt::format("{}: expected one row of weights, or one for each row of scores, got {}", name_, rows()));
  }

  std::string name_;
  index_t columns_, used_ = 0;
  std::vector<double> weights_;
};

/// A map with its parameter.
class RowMap {
 public:
  explicit RowMap(const MapOptions& options);

  /// Weights are null, or those of the rows.
  void predict(Rows<const double> scores, Rows<const double> weights, Rows<double> p) const;
  void lose(Rows<const double> scores, Rows<const double> weights, const cpu::ClassTargets& targets,
            std::span<double> loss, Rows<double> gradient) const;

 private:
  enum class Kind { entmax, fusedmax, smooth_sparsemax };
  Kind kind_ = Kind::entmax;
  double parameter_;  // alpha of entmax, else gamma
};

RowMap::RowMap(const MapOptions& options) {
  const std::string& name = options.map;
  if (name == "fusedmax" || name == "smooth-sparsemax") {
    if (options.alpha)
      throw UsageError(fmt::format("--alpha does not go with --map {}; it has --gamma", name));
    if (!options.measure.empty())
      throw UsageError(
          fmt::format("--measure does not go with --map {}; softmax, sparsemax and entmax have it", name));
    kind_ = name == "fusedmax" ? Kind::fusedmax : Kind::smooth_sparsemax;
    parameter_ = options.gamma.value_or(1);
    return;
  }
  if (options.gamma)
    throw UsageError(
        fmt::format("--gamma does not go with --map {}; fusedmax and smooth-sparsemax have it", name));
  const double own = name == "softmax" ? 1 : name == "sparsemax" ? 2 : options.alpha.value_or(1.5);
  parameter_ = options.alpha.value_or(own);
  if (parameter_ != own)
    throw UsageError(
        fmt::format("--map {} is --alpha {}, got --alpha {}; leave one out", name, own, parameter_));
}

void RowMap::predict(Rows<const double> scores, Rows<const double> weights, Rows<double> p) const {
  switch (kind_) {
    case Kind::entmax:
      if (weights.data != nullptr) return cpu::weighted_entmax<double>(scores, weights, parameter_, p);
      return cpu::entmax<double>(scores, parameter_, p);
    case Kind::fusedmax:
      return cpu::fusedmax<double>(scores, parameter_, p);
    case Kind::smooth_sparsemax:
      return cpu::smooth_sparsemax<double>(scores, parameter_, p);
  }
}

void RowMap::lose(Rows<const double> scores, Rows<const double> weights, const cpu::ClassTargets& targets,
                  std::span<double> loss, Rows<double> gradient) const {
  switch (kind_) {
    case Kind::entmax:
      if (weights.data != nullptr)
        return cpu::weighted_entmax_loss<double>(scores, weights, parameter_, targets, {loss, {gradient}});
      return cpu::entmax_loss<double>(scores, parameter_, targets, {loss, gradient});
    case Kind::fusedmax:
      return cpu::fusedmax_loss<double>(scores, parameter_, targets, {loss, gradient});
    case Kind::smooth_sparsemax:
      return cpu::smooth_sparsemax_loss<double>(scores, parameter_, targets, {loss, gradient});
  }
}

/// The classes that stand in the column of targets.
std::vector<index_t> classes_of(const BatchSource& source, index_t number, const Batch& batch) {
  std::vector<index_t> classes;
  const auto count = static_cast<double>(source.columns());
  for (const double value : batch.weights) {
    if (value != std::floor(value) || value < 0 || value >= count)
      throw DataError(fmt::format("{}: the target must be a class from 0 to {}, got {}",
                                  source.place(number, std::ssize(classes), kWeightColumn), count - 1,
                                  value));
    classes.push_back(static_cast<index_t>(value));
  }
  return classes;
}

std::vector<std::string> output_columns(const MapOptions& options, const BatchSource& source) {
  std::vector<std::string> columns(source.names().begin(), source.names().end());
  if (!options.input.weight.empty()) columns.push_back("loss");
  if (options.gradient) {
    for (const std::string& name : source.names()) columns.push_back("d_" + name);
  }
  std::vector<std::string> sorted = columns;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    throw UsageError(
        fmt::format("the result would have two columns '{}'; choose the scores with --columns", *twice));
  return columns;
}

void check(const MapOptions& options) {
  const std::string& target = options.input.weight;
  if (options.gradient && target.empty())
    throw UsageError("--gradient needs --target, the column of the classes");
  const auto& columns = options.input.columns;
  if (!target.empty() && std::find(columns.begin(), columns.end(), target) != columns.end())
    throw UsageError(fmt::format("--target {} is among --columns; it cannot be a score as well", target));
}

/// Throws DataError for a row of masks alone, which has no distribution.
void check_masks(const BatchSource& source, index_t number, Rows<const double> scores) {
  for (index_t i = 0; i < scores.rows; ++i)
    if (std::ranges::all_of(scores[i], [](double z) { return z == -kInfinity; }))
      throw DataError(fmt::format("{}: all scores of the row are masked", source.place(number, i, 0)));
}

void map_rows(const Session& session, const MapOptions& options) {
  check(options);
  const RowMap map(options);
  const Input input(session, options.input);
  const BatchSource& source = input.source();
  const index_t classes = source.columns();
  Measure measure(session, options, classes);
  RowWriter writer(session, output_columns(options, source));
  ProgressMeter meter(session, "map");
  Batch batch;
  std::vector<double> p, loss, gradient, row;
  for (index_t number = 0; number < source.batches(); ++number) {
    source.read(number, batch);
    const index_t count = batch.rows.rows;
    if (count == 0) continue;
    check_masks(source, number, batch.rows);
    p.resize(static_cast<std::size_t>(count * classes));
    const Rows<double> probabilities(p.data(), count, classes);
    const Rows<const double> weights = measure.next(count);
    map.predict(batch.rows, weights, probabilities);
    Rows<double> slopes;
    if (options.gradient) {
      gradient.resize(p.size());
      slopes = {gradient.data(), count, classes};
    }
    if (!options.input.weight.empty()) {
      loss.resize(static_cast<std::size_t>(count));
      const std::vector<index_t> targets = classes_of(source, number, batch);
      map.lose(batch.rows, weights, {targets}, loss, slopes);
    }
    for (index_t i = 0; i < count; ++i) {
      row.assign(probabilities[i].begin(), probabilities[i].end());
      if (!loss.empty()) row.push_back(loss[static_cast<std::size_t>(i)]);
      if (options.gradient) row.insert(row.end(), slopes[i].begin(), slopes[i].end());
      writer.write(row);
    }
    if (writer.is_terminal()) {
      check_interrupt();
    } else {
      meter.update(static_cast<double>(number + 1), static_cast<double>(source.batches()));
    }
  }
  measure.finish();
  writer.finish();
}

}  // namespace

Command add_map(CLI::App& program, Session& session) {
  CLI::App* app =
      program.add_subcommand("map",
                             "Rows of scores become rows of probabilities: softmax, sparsemax, entmax, "
                             "fusedmax or smooth sparsemax; "
                             "with the class of each row also the Fenchel-Young loss and its gradient.");
  const auto options = std::make_shared<MapOptions>();
  add_input_options(*app, options->input);
  options->input.masks = true;
  add_columns(*app, "--columns", options->input.columns,
              "The scores (all columns but the target unless given)");
  add_choice(*app, "--map", options->map, {"softmax", "sparsemax", "entmax", "fusedmax", "smooth-sparsemax"},
             "softmax (alpha = 1), sparsemax (alpha = 2), entmax (any alpha; unless given), fusedmax "
             "(neighbours become equal) or smooth-sparsemax (neighbours become alike)");
  add_number(*app, "--alpha", options->alpha,
             "Of entmax: positive, inf allowed (1.5 unless given). The larger, the sparser");
  add_number(*app, "--gamma", options->gamma,
             "Of fusedmax and smooth-sparsemax: what differing neighbours cost, 0 or more (1 unless given)");
  app->add_option(
         "--measure", options->measure,
         "Of softmax, sparsemax and entmax: a table of weights, a base measure such as a prior or the "
         "weights of quadrature nodes; one row for all, or one for each row of scores")
      ->option_text("FILE");
  app->add_option("--target", options->input.weight,
                  "The column of the right classes, from 0 in the order of the scores; adds the column loss")
      ->option_text("COLUMN");
  app->add_flag("--gradient", options->gradient,
                "Add columns d_NAME: the gradient of the loss in each score (needs --target)");
  add_common_options(*app, session);
  app->footer(
      "A probability of 0 is exactly 0. An empty field or -inf is a mask: its probability is 0 (with "
      "--missing drop rows with an empty field are left out). The table is read and written a piece at a "
      "time, so that it may be "
      "larger than memory.\n\n"
      "Examples:\n"
      "  printf 'a,b,c\\n1,2,0\\n' | fenchel map -\n"
      "  fenchel map scores.csv --map sparsemax -o probabilities.csv\n"
      "  fenchel map scores.npy --alpha 4/3 -o probabilities.npy\n"
      "  fenchel map scores.csv --map fusedmax --gamma 0.2 --json\n"
      "  fenchel map scores.csv --target label --gradient");
  return {app, [&session, options] { map_rows(session, *options); }};
}

}  // namespace fenchel::cli
