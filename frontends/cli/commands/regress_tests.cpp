#include "cli/commands/regress_tests.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "cli/program/interrupt.hpp"
#include "cli/tables/format.hpp"
#include "cli/tables/numbers.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/data/data_error.hpp"

namespace fenchel::cli {
namespace {

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

}  // namespace

void add_test_options(CLI::App& app, TestOptions& options) {
  CLI::Option* top = add_whole(
      app, "--test-top", [&options](std::uint64_t count) { options.top = static_cast<index_t>(count); }, 0,
      std::uint64_t{1} << 31,
      "Leave out the N rows with the largest values of the first --x column, and say under test how well "
      "they are predicted");
  CLI::Option* share = add_number(app, "--test-share", options.share,
                                  "The same with rows that are drawn by --seed, each with this probability")
                           ->excludes(top);
  add_whole(
      app, "--folds", [&options](std::uint64_t count) { options.folds = static_cast<index_t>(count); }, 2,
      1000,
      "Cut the rows into N parts that are drawn by --seed, and say under test how well each is predicted by "
      "a fit to the others; the result is the fit to all")
      ->excludes(top)
      ->excludes(share);
}

void check_tests(const TestOptions& options) {
  if (options.share != 0 && !(options.share > 0 && options.share < 1))
    throw UsageError("--test-share must be between 0 and 1, got " + shortest_text(options.share));
}

std::vector<Split> read_splits(const Data& data, const TestOptions& options, std::uint64_t seed,
                               const std::string& table) {
  std::vector<Split> splits;
  if (options.top > 0) {
    const Holdout held = hold_out(data, options.top, 1);
    splits.push_back({all_but(held, data.processes.rank()), held.total - options.top, options.top});
  } else if (options.share > 0 || options.folds > 0) {
    std::vector<double> ends{options.share, 1};
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
    const std::string what = options.top > 0     ? fmt::format("--test-top {}", options.top)
                             : options.share > 0 ? "--test-share " + shortest_text(options.share)
                                                 : fmt::format("--folds {}", options.folds);
    if (split.fitted <= 0 || split.tested == 0)
      throw DataError(fmt::format("{}: has {} rows, {} leaves none of them to {}", table,
                                  split.fitted + split.tested, what, split.fitted <= 0 ? "fit" : "test"));
  }
  return splits;
}

Data Fitter::data(const BatchSource& source) const {
  return {source, *session_.processes, [](const Progress&) { return !interrupted(); }};
}

RegressionFit Fitter::fit(const BatchSource& source) {
  const double before = static_cast<double>(done_++) * options_.starts,
               total = static_cast<double>(fits_) * options_.starts;
  const std::string which = fits_ > 1 ? fmt::format("fit {} of {}, ", done_, fits_) : "";
  options_.minimize.callback = [=, this, start = 0,
                                last = std::numeric_limits<int>::max()](const MinimizeStep& step) mutable {
    if (step.iteration <= last) ++start;
    last = step.iteration;
    const int starts = options_.starts;
    meter_.update(
        before + std::min(start, starts + 1) - 1, total,
        which + (start <= starts ? fmt::format("start {} of {}, iteration {}", start, starts, step.iteration)
                                 : fmt::format("path of penalties, iteration {}", step.iteration)));
    return true;
  };
  return fit_regression(data(source), options_);
}

void Test::add(const RegressionFit& fit, const LeastSquares& squares, const Data& tested, index_t count) {
  model.merge(score_predictions(fit, tested));
  line.merge(score_predictions(as_regression(squares), tested));
  rows += count;
}

Test cross_validate(Fitter& fitter, const BatchSource& part, const std::vector<Split>& folds,
                    const NoiseOptions& noise) {
  Test test;
  for (std::size_t k = 0; k < folds.size(); ++k) {
    const FilteredSource fitted(part, folds[k].fits), tested(part, others(folds[k].fits));
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

std::vector<AlphaScore> compare_alphas(Fitter& fitter, const BatchSource& source,
                                       const std::vector<Split>& folds) {
  const double given = fitter.options().alpha;
  std::vector<double> tried, whole;  // those whose fits converged in all folds
  std::vector<std::vector<RegressionFit>> fits(folds.size());
  for (const double alpha : kAlphas) {
    if (fitter.options().noise_loss == NoiseLoss::likelihood && alpha > 1) continue;
    tried.push_back(alpha);
    fitter.set_alpha(alpha);
    std::vector<RegressionFit> of_alpha;
    for (const Split& fold : folds) of_alpha.push_back(fitter.fit(FilteredSource(source, fold.fits)));
    if (std::ranges::any_of(of_alpha,
                            [](const auto& fit) { return fit.status != MinimizeStatus::converged; }))
      continue;
    whole.push_back(alpha);
    for (std::size_t k = 0; k < folds.size(); ++k) fits[k].push_back(std::move(of_alpha[k]));
  }
  fitter.set_alpha(given);
  if (whole.empty())
    throw ConvergenceError(
        "--alpha auto: no alpha has fits that converge in all folds; give one, a larger "
        "--scale-penalty, more --starts or --link log");
  Moments scores(static_cast<index_t>(whole.size()));
  for (std::size_t k = 0; k < folds.size(); ++k)
    scores.merge(ranked_scores(fits[k], fitter.data(FilteredSource(source, others(folds[k].fits)))));
  const std::vector<RankedDifference> differences = ranked_differences(scores);
  std::vector<AlphaScore> result;
  for (const double alpha : tried) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    const auto found = std::find(whole.begin(), whole.end(), alpha);
    result.push_back({alpha, found == whole.end()
                                 ? RankedDifference{kNone, kNone, kNone}
                                 : differences[static_cast<std::size_t>(found - whole.begin())]});
  }
  return result;
}

}  // namespace fenchel::cli
