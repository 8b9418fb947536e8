#include <fmt/format.h>

#include <CLI/App.hpp>
#include <Eigen/Core>
#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/commands/holdout.hpp"
#include "cli/commands/regression.hpp"
#include "cli/program/interrupt.hpp"
#include "cli/program/progress.hpp"
#include "cli/tables/model_file.hpp"
#include "cli/tables/numbers.hpp"
#include "cli/tables/record.hpp"
#include "cli/tables/shared_input.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/distribution/line/dirac.hpp"
#include "fenchel/estimate/regression/determination.hpp"
#include "fenchel/estimate/regression/least_squares.hpp"
#include "fenchel/loss/quadratic.hpp"

namespace fenchel::cli {
namespace {

struct Options {
  InputOptions input;
  std::vector<std::string> x;
  std::string y;
  NoiseOptions noise;
  int starts = RegressionOptions().starts;
  index_t test_top = 0;
};

using Names = std::vector<std::string>;

Record line(const Names& names, double intercept, const Eigen::VectorXd& coefficients) {
  Record by_name = Record::object();
  for (std::size_t k = 0; k < names.size(); ++k)
    by_name[names[k]] = number(coefficients[static_cast<index_t>(k)]);
  return {{"intercept", number(intercept)}, {"coefficients", by_name}};
}

/// The library keeps the error of the intercept last.
Record errors(const Names& names, const Eigen::VectorXd& all) {
  return line(names, all[all.size() - 1], all.head(all.size() - 1));
}

std::span<const double> features(const HeldRow& row) { return std::span(row.values).subspan(1); }

/// How well predict(features) meets the rows that were held out.
template <class Predict>
Record score(const Holdout& holdout, Predict predict) {
  std::vector<double> truth, prediction, weights;
  for (const HeldRow& row : holdout.rows) {
    truth.push_back(row.values[0]);
    prediction.push_back(predict(features(row)));
    weights.push_back(row.weight);
  }
  const Determination result = determination(truth, prediction, weights);
  return {
      {"rows", holdout.rows.size()}, {"r2", number(result.r2)}, {"r2_swapped", number(result.r2_swapped)}};
}

double test_loss(const Holdout& holdout, const RegressionFit& fit) {
  double sum = 0, weight = 0;
  for (const HeldRow& row : holdout.rows) {
    const BetaGaussian p = predict(fit, features(row));
    const double y = row.values[0];
    sum += row.weight * (fit.noise_loss == NoiseLoss::likelihood
                             ? -log_pdf(p, y)
                             : cross_omega(Tsallis(fit.alpha), score(p), Line(), Dirac{y}).value);
    weight += row.weight;
  }
  return sum / weight;
}

Record describe(const RegressionFit& fit, const std::string& y, index_t rows, const std::string& link) {
  Record starts = Record::array();
  for (const RegressionStart& start : fit.starts)
    starts.push_back({{"objective", number(start.objective)}, {"status", to_string(start.status)}});
  Record scale = {{"link", link}};
  scale.update(line(fit.names, fit.scale_intercept, fit.scale_coefficients));
  return {
      {"y", y},
      {"alpha", fit.alpha},
      {"rows", rows},
      {"weight", number(fit.weight)},
      {"noise_loss", to_string(fit.noise_loss)},
      {"loss", number(fit.loss)},
      {"scale_penalty", number(fit.scale_penalty)},
      {"status", to_string(fit.status)},
      {"mean", line(fit.names, fit.mean_intercept, fit.mean_coefficients)},
      {"scale", scale},
      {"standard_errors",
       {{"mean", errors(fit.names, fit.mean_errors())}, {"scale", errors(fit.names, fit.scale_errors())}}},
      {"starts", starts}};
}

/// Counts starts: in each the iterations begin anew.
void tell_progress(RegressionOptions& options, ProgressMeter& meter) {
  options.minimize.callback = [&meter, total = options.starts, start = 0,
                               last = std::numeric_limits<int>::max()](const MinimizeStep& step) mutable {
    if (step.iteration <= last) ++start;
    last = step.iteration;
    meter.update(std::min(start, total + 1) - 1, total,
                 start <= total ? fmt::format("start {} of {}, iteration {}", start, total, step.iteration)
                                : fmt::format("path of penalties, iteration {}", step.iteration));
    return true;
  };
}

void run(const Session& session, const Options& given) {
  Options options = given;
  RegressionOptions regression = regression_options(options.noise);
  regression.starts = options.starts;
  regression.seed = session.seed;
  options.input.columns = {options.y};
  options.input.columns.insert(options.input.columns.end(), options.x.begin(), options.x.end());
  check_form(session);

  const SharedInput input(session, options.input);
  ProgressMeter meter(session, "regress");
  const Holdout holdout = hold_out({input.part(), *session.processes, meter.callback()}, options.test_top, 1);
  if (holdout.total <= options.test_top)
    throw DataError(fmt::format("{}: has {} rows, --test-top {} leaves none of them to fit", input.name(),
                                holdout.total, options.test_top));
  const RemainingSource remaining(input.part(), holdout, session.processes->rank());
  const Data data{remaining, *session.processes, [](const Progress&) { return !interrupted(); }};
  tell_progress(regression, meter);
  Record record;
  RegressionFit fit;
  blame(input.name(), [&] {
    fit = fit_regression(data, regression);
    const LeastSquares squares = fit_least_squares(data);
    record = describe(fit, options.y, holdout.total - options.test_top, options.noise.link);
    Record plain = line(options.x, squares.intercept, squares.coefficients);
    if (options.test_top > 0) {
      record["test"] = score(holdout, [&](std::span<const double> x) { return mean(predict(fit, x)); });
      record["test"]["loss"] = number(test_loss(holdout, fit));
      plain["test"] = score(holdout, [&](std::span<const double> x) {
        return squares.intercept + squares.coefficients.dot(Eigen::Map<const Eigen::VectorXd>(
                                       x.data(), squares.coefficients.size()));
      });
    }
    record["least_squares"] = std::move(plain);
  });
  meter.wipe();
  together(*session.processes, [&] { print_model(session, kRegressionModel, record); });
  check_converged(fit, options.noise);
}

}  // namespace

Command add_regress(CLI::App& program, Session& session) {
  const auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand("regress",
                                         "Fits y = a line in x + beta-Gaussian noise, whose width depends on "
                                         "x too: for every x a distribution of y, "
                                         "with bounds for alpha > 1, robust for alpha < 1.");
  add_input_options(*app, options->input);
  add_columns(*app, "--x", options->x, "Columns to predict from")->required();
  app->add_option("--y", options->y, "Column to predict")->required()->option_text("COL");
  app->add_option("--weight", options->input.weight, "Column that says how many rows each stands for")
      ->option_text("COL");
  add_noise_options(*app, options->noise);
  add_whole(
      *app, "--test-top", [options](std::uint64_t count) { options->test_top = static_cast<index_t>(count); },
      0, std::uint64_t{1} << 31,
      "Leave out the N rows with the largest values of the first --x column, and say under test how well "
      "they are predicted");
  add_whole(
      *app, "--starts", [options](std::uint64_t count) { options->starts = static_cast<int>(count); }, 1,
      1000000000, "How often the search begins, at least squares and near it (4 unless given)");
  add_seed_option(*app, session);
  add_common_options(*app, session);
  app->footer(
      "r2 is 1 - SSE / variation of y, r2_swapped 1 - SSE / variation of the prediction. The loss may have\n"
      "several minima and none that is the least: starts tells how each search ended, its objective being "
      "the\n"
      "loss with the penalty, and the result is the best that converged. Where none did, it is the minimum\n"
      "for the least --scale-penalty to which a path from a large one leads, and an error says so.\n"
      "\n"
      "Examples:\n"
      "  fenchel regress cancer.csv --x population --y cancer --alpha 2 --test-top 30\n"
      "  fenchel regress houses.csv --x size,age --y price --alpha 3/2 --link linear --json\n"
      "  fenchel regress outliers.csv --x size --y price --alpha 0.6\n"
      "  mpirun -n 4 fenchel regress large.npy --y 0 --x 1,2,3");
  return {app, [&session, options] { run(session, *options); }, true};
}

}  // namespace fenchel::cli
