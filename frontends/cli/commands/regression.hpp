#pragma once

#include <optional>
#include <string>

#include "fenchel/estimate/regression/regression.hpp"

namespace CLI {
class App;
}

namespace fenchel::cli {

/// How a regression sees the noise: --alpha, --link, the penalties and the loss.
struct NoiseOptions {
  double alpha = RegressionOptions().alpha;
  bool any_alpha = false;  ///< --alpha auto
  std::string link = "log";
  double penalty = RegressionOptions().penalty;
  std::optional<double> scale_penalty = {};
  std::string noise_loss = "auto";
};
/// --alpha may be auto where the command compares.
void add_noise_options(CLI::App& app, NoiseOptions& options, bool compares = false);
/// Throws UsageError for options that no data could have.
[[nodiscard]] RegressionOptions regression_options(const NoiseOptions& options);
/// Throws ConvergenceError, which says what to do, unless the fit converged.
void check_converged(const RegressionFit& fit, const NoiseOptions& options);

/// What a model of a regression holds.
struct RegressionModel {
  std::string y;      ///< the name of the column that it predicts
  RegressionFit fit;  ///< as far as predictions need it, with the names of the features
};
/// Reads what fenchel regress wrote. Throws DataError, which names the file and the key.
[[nodiscard]] RegressionModel read_regression(const std::string& path);

}  // namespace fenchel::cli
