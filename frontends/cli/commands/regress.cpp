#include <fmt/format.h>

#include <CLI/App.hpp>
#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/commands/regress_tests.hpp"
#include "cli/tables/model_file.hpp"
#include "cli/tables/numbers.hpp"
#include "cli/tables/record.hpp"
#include "cli/tables/shared_input.hpp"
#include "fenchel/estimate/regression/least_squares.hpp"
#include "fenchel/estimate/regression/prediction_score.hpp"

namespace fenchel::cli {
namespace {

struct Options {
  InputOptions input;
  std::vector<std::string> x;
  std::string y;
  NoiseOptions noise;
  int starts = RegressionOptions().starts;
  TestOptions test;
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

Record describe(const RegressionFit& fit, const std::string& y, index_t rows, const std::string& link,
                const PredictionScore& score) {
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
      {"r2", number(score.determination().r2)},
      {"coverage", number(score.coverage())},
      {"crps", number(score.ranked())},
      {"scale_penalty", number(fit.scale_penalty)},
      {"status", to_string(fit.status)},
      {"mean", line(fit.names, fit.mean_intercept, fit.mean_coefficients)},
      {"scale", scale},
      {"standard_errors",
       {{"mean", errors(fit.names, fit.mean_errors())}, {"scale", errors(fit.names, fit.scale_errors())}}},
      {"starts", starts}};
}

Record describe(const PredictionScore& score, index_t rows) {
  const Determination determination = score.determination();
  return {{"rows", rows}, {"r2", number(determination.r2)}, {"r2_swapped", number(determination.r2_swapped)}};
}

/// The alphas that were compared, and the one that was chosen: the least score, unless it has no number.
Record describe(const std::vector<AlphaScore>& alphas) {
  Record list = Record::array();
  for (const AlphaScore& one : alphas) {
    list.push_back({{"alpha", one.alpha},
                    {"crps", number(one.score.ranked)},
                    {"difference", number(one.score.difference)},
                    {"standard_error", number(one.score.standard_error)}});
  }
  return list;
}

/// Sets the alpha of the fits to the one whose folds are predicted best.
std::vector<AlphaScore> choose_alpha(Fitter& fitter, const BatchSource& source,
                                     const std::vector<Split>& folds) {
  std::vector<AlphaScore> alphas = compare_alphas(fitter, source, folds);
  const auto best =
      std::ranges::find_if(alphas, [](const AlphaScore& one) { return one.score.difference == 0; });
  fitter.set_alpha(best->alpha);
  return alphas;
}

/// A search that converged may still have found a line that nobody wants; a robust one may leave outliers
/// far.
void note_bad_line(const Session& session, const std::string& y, double alpha, double r2) {
  if (alpha >= 1 && r2 < 0)
    note(session,
         fmt::format("the mean of '{}' is nearer to its rows than the line, r2 = {:.3g}: rows where sigma is "
                     "small outweigh the others; a larger --scale-penalty makes sigma vary less",
                     y, r2));
}

void run(const Session& session, const Options& given) {
  Options options = given;
  check_tests(options.test);
  RegressionOptions regression = regression_options(options.noise);
  regression.starts = options.starts;
  regression.seed = session.seed;
  options.input.columns = {options.y};
  options.input.columns.insert(options.input.columns.end(), options.x.begin(), options.x.end());
  check_form(session);

  const SharedInput input(session, options.input);
  const index_t folds = options.test.folds, alpha_folds = folds > 0 ? folds : kAlphaFolds,
                comparisons = options.noise.any_alpha ? std::ssize(kAlphas) * alpha_folds : 0;
  Fitter fitter(session, regression, static_cast<std::size_t>(1 + folds + comparisons));
  const auto splits_of = [&](const BatchSource& source, const TestOptions& test) {
    return read_splits({source, *session.processes, fitter.meter().callback()}, test, session.seed,
                       input.name());
  };
  const std::vector<Split> splits = splits_of(input.part(), options.test);
  const bool holds_out = !splits.empty() && folds == 0;
  const Keeps every = [](index_t, index_t) { return true; };
  const FilteredSource some(input.part(), holds_out ? splits[0].fits : every);
  const BatchSource& source = holds_out ? static_cast<const BatchSource&>(some) : input.part();
  Record record;
  RegressionFit fit;
  double r2 = 0;
  blame(input.name(), [&] {
    std::vector<AlphaScore> alphas;
    if (options.noise.any_alpha)
      alphas = choose_alpha(fitter, source, folds > 0 ? splits : splits_of(source, {.folds = alpha_folds}));
    fit = fitter.fit(source);
    const LeastSquares squares = fit_least_squares(fitter.data(source));
    const index_t rows = holds_out ? splits[0].fitted : hold_out(fitter.data(source), 0, 1).total;
    const PredictionScore score = score_predictions(fit, fitter.data(source));
    r2 = score.determination().r2;
    record = describe(fit, options.y, rows, options.noise.link, score);
    if (!alphas.empty()) record["alphas"] = describe(alphas);
    Record plain = line(options.x, squares.intercept, squares.coefficients);
    if (!splits.empty()) {
      Test test;
      if (holds_out) {
        const FilteredSource tested(input.part(), others(splits[0].fits));
        test.add(fit, squares, fitter.data(tested), splits[0].tested);
      } else {
        test = cross_validate(fitter, input.part(), splits, options.noise);
      }
      record["test"] = describe(test.model, test.rows);
      record["test"]["coverage"] = number(test.model.coverage());
      record["test"]["crps"] = number(test.model.ranked());
      record["test"]["loss"] = number(test.model.loss());
      plain["test"] = describe(test.line, test.rows);
    }
    record["least_squares"] = std::move(plain);
  });
  fitter.meter().wipe();
  note_bad_line(session, options.y, fit.alpha, r2);
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
  add_noise_options(*app, options->noise, true);
  add_test_options(*app, options->test);
  add_whole(
      *app, "--starts", [options](std::uint64_t count) { options->starts = static_cast<int>(count); }, 1,
      1000000000, "How often the search begins, at least squares and near it (4 unless given)");
  add_seed_option(*app, session);
  add_common_options(*app, session);
  app->footer(
      "r2 is 1 - SSE / variation of y, r2_swapped 1 - SSE / variation of the prediction, coverage the share "
      "of\n"
      "rows whose y is in the support of its prediction. Row i is in fold floor(N u) or, where u is less "
      "than\n"
      "the share, in the test: u is draw i of fenchel sample uniform with the same seed. --alpha auto fits "
      "0.5,\n"
      "0.7, 1, 4/3, 3/2, 2 and 3 without each of 5 folds, or of --folds, and takes the one with the least "
      "mean\n"
      "continuous ranked probability score there, crps; alphas has them all, with the differences and their\n"
      "standard errors. The test of --folds then knows which alpha was best in the same folds. The loss may "
      "have\n"
      "several minima and none that is the least: starts tells how each search ended, its objective being "
      "the\n"
      "loss with the penalty, and the result is the best that converged. Where none did, it is the minimum\n"
      "for the least --scale-penalty to which a path from a large one leads, and an error says so.\n"
      "\n"
      "Examples:\n"
      "  fenchel regress cancer.csv --x population --y cancer --alpha 2 --test-top 30\n"
      "  fenchel regress houses.csv --x size,age --y price --alpha auto --folds 10 -o model.json\n"
      "  fenchel regress outliers.csv --x size --y price --alpha 0.6\n"
      "  mpirun -n 4 fenchel regress large.npy --y 0 --x 1,2,3");
  return {app, [&session, options] { run(session, *options); }, true};
}

}  // namespace fenchel::cli
