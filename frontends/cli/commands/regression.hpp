#pragma once

#include <string>

#include "fenchel/estimate/regression/regression.hpp"

namespace CLI {
class App;
}

namespace fenchel::cli {

/// How a regression sees the noise: --alpha, --link and --penalty.
struct NoiseOptions {
  double alpha = RegressionOptions().alpha;
  std::string link = "log";
  double penalty = RegressionOptions().penalty;
};
void add_noise_options(CLI::App& app, NoiseOptions& options);
/// Throws UsageError for options that no data could have.
[[nodiscard]] RegressionOptions regression_options(const NoiseOptions& options);

}  // namespace fenchel::cli
