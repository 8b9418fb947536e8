#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/commands/holdout.hpp"
#include "cli/commands/regression.hpp"
#include "cli/program/progress.hpp"
#include "cli/program/session.hpp"
#include "fenchel/estimate/regression/least_squares.hpp"
#include "fenchel/estimate/regression/prediction_score.hpp"

namespace CLI {
class App;
}

namespace fenchel::cli {

/// Which rows test a regression: at most one of the three.
struct TestOptions {
  index_t top = 0, folds = 0;
  double share = 0;
};
void add_test_options(CLI::App& app, TestOptions& options);
/// Throws UsageError for a share that is none.
void check_tests(const TestOptions& options);

/// Rows to fit, and the others, which test.
struct Split {
  Keeps fits;
  index_t fitted, tested;
};
/// Those that the options ask for, one for each fold; none without a test. Throws DataError, which names the
/// table, where a part has no rows.
[[nodiscard]] std::vector<Split> read_splits(const Data& data, const TestOptions& options, std::uint64_t seed,
                                             const std::string& table);

/// Fits rows of one table, one time after the other, and shows how far that is.
class Fitter {
 public:
  /// So many fits will be asked for.
  Fitter(const Session& session, RegressionOptions options, std::size_t fits)
      : session_(session), options_(std::move(options)), fits_(fits), meter_(session, "regress") {}

  [[nodiscard]] Data data(const BatchSource& source) const;
  [[nodiscard]] ProgressMeter& meter() noexcept { return meter_; }
  void set_alpha(double alpha) noexcept { options_.alpha = alpha; }
  [[nodiscard]] const RegressionOptions& options() const noexcept { return options_; }
  [[nodiscard]] RegressionFit fit(const BatchSource& source);

 private:
  const Session& session_;
  RegressionOptions options_;
  std::size_t fits_, done_ = 0;
  ProgressMeter meter_;
};

/// How well the rows of a test, or of all folds together, are predicted by fits to the others.
struct Test {
  PredictionScore model, line;  ///< of the regression and of least squares
  index_t rows = 0;

  void add(const RegressionFit& fit, const LeastSquares& squares, const Data& tested, index_t count);
};
/// Throws ConvergenceError, which names the fold, where a fit does not converge.
[[nodiscard]] Test cross_validate(Fitter& fitter, const BatchSource& part, const std::vector<Split>& folds,
                                  const NoiseOptions& noise);

/// The values that --alpha auto compares: Student's t, Gaussian, and bounded up to a semicircle.
inline constexpr double kAlphas[]{0.5, 0.7, 1, 4. / 3, 1.5, 2, 3};
inline constexpr index_t kAlphaFolds = 5;

/// One of these alphas, and how well the folds are predicted with it; NaN where a fit did not converge.
struct AlphaScore {
  double alpha;
  RankedDifference score;
};
/// In ascending order: that with the difference 0 has the least mean ranked score. Throws ConvergenceError
/// where none converged in all folds.
[[nodiscard]] std::vector<AlphaScore> compare_alphas(Fitter& fitter, const BatchSource& source,
                                                     const std::vector<Split>& folds);

}  // namespace fenchel::cli
