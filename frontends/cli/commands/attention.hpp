#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "cli/program/session.hpp"
#include "cli/tables/input.hpp"
#include "fenchel/attention/gaussian_basis.hpp"
#include "fenchel/attention/value_function.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"

namespace CLI {
class App;
}

namespace fenchel::cli {

/// A signal in a table, and where to look at it.
struct AttentionOptions {
  InputOptions input;  ///< its weight is the column of weights
  std::optional<double> mu, sigma2, basis_sigma;
  double alpha = 2, ridge = 0.1;
  std::optional<index_t> basis;
};
void add_attention_options(CLI::App& app, AttentionOptions& options);

/// The signal as a function of time in [0, 1], and a density over it.
struct Attention {
  std::vector<std::string> channels;
  Eigen::MatrixXd values;   ///< a column for each frame
  Eigen::VectorXd weights;  ///< of the frames, with sum one; none where the density was given
  BetaGaussian density;
  ValueFunction<GaussianBasis> signal;
};
/// Throws UsageError for options that contradict each other, DataError for a table that is no signal.
[[nodiscard]] Attention read_attention(const Session& session, const AttentionOptions& options);

}  // namespace fenchel::cli
