#include <fmt/format.h>

#include <CLI/App.hpp>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/commands/holdout.hpp"
#include "cli/commands/regression.hpp"
#include "cli/program/interrupt.hpp"
#include "cli/program/progress.hpp"
#include "cli/tables/format.hpp"
#include "cli/tables/model_file.hpp"
#include "cli/tables/numbers.hpp"
#include "cli/tables/record.hpp"
#include "cli/tables/shared_input.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/data/data_error.hpp"
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
  index_t test_top = 0, folds = 0;
  double test_share = 0;
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
      {"scale_penalty", number(fit.scale_penalty)},
      {"status", to_string(fit.status)},
      {"mean", line(fit.names, fit.mean_intercept, fit.mean_coefficients)},
      {"scale", scale},
      {"standard_errors",
       {{"mean", errors(fit.names, fit.mean_errors())}, {"scale", errors(fit.names, fit.scale_errors())}}},
      {"starts", starts}};
}

/// Rows to fit and the others, which test.
struct Split {
  Keeps fits;
  index_t fitted, tested;
};

/// Those that the options ask for: none without a test.
std::vector<Split> read_splits(const Data& data, const Options& options, std::uint64_t seed,
                               const std::string& table) {
  std::vector<Split> splits;
  if (options.test_top > 0) {
    const Holdout held = hold_out(data, options.test_top, 1);
    splits.push_back({all_but(held, data.processes.rank()), held.total - options.test_top, options.test_top});
  } else if (options.test_share > 0 || options.folds > 0) {
    std::vector<double> ends{options.test_share, 1};
    for (index_t k = 1; k <= options.folds; ++k) {
      ends.resize(static_cast<std::size_t>(k));
      ends.back() = static_cast<double>(k) / static_cast<double>(options.folds);
    }
    const auto parts = std::make_shared<const RandomParts>(data, seed, ends);
    for (std::size_t k = 0; k < std::max<std::size_t>(1, static_cast<std::size_t>(options.folds)); ++k)
      splits.push_back({[parts, k](index_t batch, index_t row) { return parts->part(batch, row) != k; },
                        parts->total() - parts->rows(k), parts->rows(k)});
  }
  for (const Split& split : splits) {
    const std::string what = options.test_top > 0     ? fmt::format("--test-top {}", options.test_top)
                             : options.test_share > 0 ? "--test-share " + shortest_text(options.test_share)
                                                      : fmt::format("--folds {}", options.folds);
    if (split.fitted <= 0 || split.tested == 0)
      throw DataError(fmt::format("{}: has {} rows, {} leaves none of them to {}", table,
                                  split.fitted + split.tested, what, split.fitted <= 0 ? "fit" : "test"));
  }
  return splits;
}

/// Least squares as a regression with one sigma, so that its predictions are scored as others.
RegressionFit as_regression(const LeastSquares& line) {
  RegressionFit fit{};
  fit.alpha = 1;
  fit.link = ScaleLink::log;
  fit.mean_coefficients = line.coefficients;
  fit.mean_intercept = line.intercept;
  fit.scale_coefficients = Eigen::VectorXd::Zero(line.coefficients.size());
  fit.scale_intercept = std::log(line.variance) / 2;
  return fit;
}

Record describe(const PredictionScore& score, index_t rows) {
  const Determination determination = score.determination();
  return {{"rows", rows}, {"r2", number(determination.r2)}, {"r2_swapped", number(determination.r2_swapped)}};
}

/// Fits rows of one table, one time after the other, and counts the starts: in each the iterations begin
/// anew.
class Fitter {
 public:
  Fitter(const Session& session, RegressionOptions options, std::size_t fits)
      : session_(session), options_(std::move(options)), fits_(fits), meter_(session, "regress") {}

  [[nodiscard]] Data data(const BatchSource& source) const {
    return {source, *session_.processes, [](const Progress&) { return !interrupted(); }};
  }
  [[nodiscard]] ProgressMeter& meter() noexcept { return meter_; }

  [[nodiscard]] RegressionFit fit(const BatchSource& source) {
    const double before = static_cast<double>(done_++) * options_.starts,
                 total = static_cast<double>(fits_) * options_.starts;
    const std::string which = fits_ > 1 ? fmt::format("fit {} of {}, ", done_, fits_) : "";
    options_.minimize.callback = [=, this, start = 0,
                                  last = std::numeric_limits<int>::max()](const MinimizeStep& step) mutable {
      if (step.iteration <= last) ++start;
      last = step.iteration;
      const int starts = options_.starts;
      meter_.update(before + std::min(start, starts + 1) - 1, total,
                    which + (start <= starts
                                 ? fmt::format("start {} of {}, iteration {}", start, starts, step.iteration)
                                 : fmt::format("path of penalties, iteration {}", step.iteration)));
      return true;
    };
    return fit_regression(data(source), options_);
  }

 private:
  const Session& session_;
  RegressionOptions options_;
  std::size_t fits_, done_ = 0;
  ProgressMeter meter_;
};

/// How well the rows of a test, or of all folds together, are predicted by fits to the others.
struct Test {
  PredictionScore model, line;
  index_t rows = 0;

  void add(const RegressionFit& fit, const LeastSquares& squares, const Data& tested, index_t count) {
    model.merge(score_predictions(fit, tested));
    line.merge(score_predictions(as_regression(squares), tested));
    rows += count;
  }
};

Test cross_validate(Fitter& fitter, const BatchSource& part, const std::vector<Split>& folds,
                    const NoiseOptions& noise) {
  Test test;
  for (std::size_t k = 0; k < folds.size(); ++k) {
    const FilteredSource fitted(part, folds[k].fits),
        tested(part, [&](index_t batch, index_t row) { return !folds[k].fits(batch, row); });
    const RegressionFit fit = fitter.fit(fitted);
    try {
      check_converged(fit, noise);
    } catch (const ConvergenceError& error) {
      throw ConvergenceError(fmt::format("without fold {} of {}: {}", k + 1, folds.size(), error.what()));
    }
    test.add(fit, fit_least_squares(fitter.data(fitted)), fitter.data(tested), folds[k].tested);
  }
  return test;
}

void run(const Session& session, const Options& given) {
  Options options = given;
  if (options.test_share != 0 && !(options.test_share > 0 && options.test_share < 1))
    throw UsageError("--test-share must be between 0 and 1, got " + shortest_text(options.test_share));
  RegressionOptions regression = regression_options(options.noise);
  regression.starts = options.starts;
  regression.seed = session.seed;
  options.input.columns = {options.y};
  options.input.columns.insert(options.input.columns.end(), options.x.begin(), options.x.end());
  check_form(session);

  const SharedInput input(session, options.input);
  Fitter fitter(session, regression, 1 + static_cast<std::size_t>(options.folds));
  const std::vector<Split> splits = read_splits({input.part(), *session.processes, fitter.meter().callback()},
                                                options, session.seed, input.name());
  const bool holds_out = splits.size() == 1;
  const Keeps every = [](index_t, index_t) { return true; };
  const FilteredSource some(input.part(), holds_out ? splits[0].fits : every);
  const BatchSource& source = holds_out ? static_cast<const BatchSource&>(some) : input.part();
  Record record;
  RegressionFit fit;
  blame(input.name(), [&] {
    fit = fitter.fit(source);
    const LeastSquares squares = fit_least_squares(fitter.data(source));
    const PredictionScore own = score_predictions(fit, fitter.data(source));
    const index_t rows = holds_out ? splits[0].fitted : hold_out(fitter.data(source), 0, 1).total;
    record = describe(fit, options.y, rows, options.noise.link, own);
    Record plain = line(options.x, squares.intercept, squares.coefficients);
    if (!splits.empty()) {
      Test test;
      if (holds_out) {
        const FilteredSource tested(input.part(),
                                    [&](index_t batch, index_t row) { return !splits[0].fits(batch, row); });
        test.add(fit, squares, fitter.data(tested), splits[0].tested);
      } else {
        test = cross_validate(fitter, input.part(), splits, options.noise);
      }
      record["test"] = describe(test.model, test.rows);
      record["test"]["coverage"] = number(test.model.coverage());
      record["test"]["loss"] = number(test.model.loss());
      plain["test"] = describe(test.line, test.rows);
    }
    record["least_squares"] = std::move(plain);
  });
  fitter.meter().wipe();
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
  CLI::Option* top = add_whole(
      *app, "--test-top", [options](std::uint64_t count) { options->test_top = static_cast<index_t>(count); },
      0, std::uint64_t{1} << 31,
      "Leave out the N rows with the largest values of the first --x column, and say under test how well "
      "they are predicted");
  CLI::Option* share = add_number(*app, "--test-share", options->test_share,
                                  "The same with rows that are drawn by --seed, each with this probability")
                           ->excludes(top);
  add_whole(
      *app, "--folds", [options](std::uint64_t count) { options->folds = static_cast<index_t>(count); }, 2,
      1000,
      "Cut the rows into N parts that are drawn by --seed, and say under test how well each is predicted by "
      "a fit to the others; the result is the fit to all")
      ->excludes(top)
      ->excludes(share);
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
      "the share, in the test: u is draw i of fenchel sample uniform with the same seed. The loss may have\n"
      "several minima and none that is the least: starts tells how each search ended, its objective being "
      "the\n"
      "loss with the penalty, and the result is the best that converged. Where none did, it is the minimum\n"
      "for the least --scale-penalty to which a path from a large one leads, and an error says so.\n"
      "\n"
      "Examples:\n"
      "  fenchel regress cancer.csv --x population --y cancer --alpha 2 --test-top 30\n"
      "  fenchel regress houses.csv --x size,age --y price --folds 10 -o model.json\n"
      "  fenchel regress outliers.csv --x size --y price --alpha 0.6\n"
      "  mpirun -n 4 fenchel regress large.npy --y 0 --x 1,2,3");
  return {app, [&session, options] { run(session, *options); }, true};
}

}  // namespace fenchel::cli
