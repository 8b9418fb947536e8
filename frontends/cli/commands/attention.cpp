#include "cli/commands/attention.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "cli/program/progress.hpp"
#include "cli/tables/numbers.hpp"
#include "cli/tables/shared_input.hpp"
#include "fenchel/attention/match_weights.hpp"
#include "fenchel/attention/positions.hpp"
#include "fenchel/attention/ridge_regression.hpp"
#include "fenchel/data/data_error.hpp"

namespace fenchel::cli {
namespace {

constexpr index_t kFunctions = 64;  // unless --basis says it or there are fewer frames

/// A signal: a column for each frame, and the weights of the frames where they are asked for.
struct Signal {
  Eigen::MatrixXd values;
  Eigen::VectorXd weights;
};

void check(const AttentionOptions& options) {
  const bool given = options.mu && options.sigma2, weights = !options.input.weight.empty();
  if (options.mu.has_value() != options.sigma2.has_value() || given == weights)
    throw UsageError("the density needs either --mu and --sigma2 or --weight");
  if (options.basis_sigma && !(*options.basis_sigma > 0 && std::isfinite(*options.basis_sigma)))
    throw UsageError(fmt::format("--basis-sigma must be positive and finite, got {}", *options.basis_sigma));
  if (!(options.ridge >= 0 && std::isfinite(options.ridge)))
    throw UsageError(fmt::format("--ridge must be finite and not negative, got {}", options.ridge));
  const auto& columns = options.input.columns;
  if (weights && std::find(columns.begin(), columns.end(), options.input.weight) != columns.end())
    throw UsageError(
        fmt::format("--weight {} is among --columns; it cannot be a channel as well", options.input.weight));
}

Signal read_signal(const Session& session, const AttentionOptions& options, const BatchSource& source) {
  ProgressMeter meter(session, "reading");
  Batch batch;
  std::vector<double> values, weights;
  for (index_t number = 0; number < source.batches(); ++number) {
    source.read(number, batch);
    for (index_t i = 0; i < batch.rows.rows; ++i)
      values.insert(values.end(), batch.rows[i].begin(), batch.rows[i].end());
    const auto bad = std::find_if(batch.weights.begin(), batch.weights.end(), [](double w) { return w < 0; });
    if (bad != batch.weights.end())
      throw DataError(fmt::format("{}: a weight must not be negative, got {}",
                                  source.place(number, bad - batch.weights.begin(), kWeightColumn), *bad));
    weights.insert(weights.end(), batch.weights.begin(), batch.weights.end());
    meter.update(static_cast<double>(number + 1), static_cast<double>(source.batches()));
  }
  const std::string name = table_name(options.input);
  if (values.empty()) throw DataError(name + ": has no frames");
  const index_t channels = source.columns();
  Signal signal{Eigen::Map<Eigen::MatrixXd>(values.data(), channels, std::ssize(values) / channels),
                Eigen::Map<Eigen::VectorXd>(weights.data(), std::ssize(weights))};
  const double sum = signal.weights.sum();
  if (!weights.empty() && !(sum > 0 && std::isfinite(sum)))
    throw DataError(fmt::format("{}: the weights must have a positive and finite sum, got {}", name, sum));
  if (!weights.empty()) signal.weights /= sum;
  return signal;
}

}  // namespace

void add_attention_options(CLI::App& app, AttentionOptions& options) {
  add_input_options(app, options.input);
  add_columns(app, "--columns", options.input.columns,
              "The channels (all columns but the weights unless given)");
  add_number(app, "--mu", options.mu, "Where to look: the middle of the density; the signal lies in [0, 1]");
  add_number(app, "--sigma2", options.sigma2,
             "How widely: of the score -(t - mu)^2 / (2 sigma2); the variance at alpha = 1 alone");
  app.add_option("--weight", options.input.weight,
                 "Instead of --mu and --sigma2: a column of weights of the frames, whose mean and variance "
                 "(plus that of one frame) the density gets. They are divided by their sum")
      ->option_text("COLUMN");
  add_number(app, "--alpha", options.alpha,
             "1: a Gaussian, 2: a parabola with an end on both sides (2 unless given)");
  add_whole(
      app, "--basis", [&options](std::uint64_t count) { options.basis = static_cast<index_t>(count); }, 1,
      4096,
      "Gaussian functions that the signal is made of, evenly spaced in [0, 1] (64 unless given, "
      "or as many as frames if they are fewer)");
  add_number(app, "--basis-sigma", options.basis_sigma,
             "The standard deviation of these functions (1 / N unless given)");
  add_number(
      app, "--ridge", options.ridge,
      "Strength of the ridge regression that finds them: the larger, the smoother and the smaller (0.1 "
      "unless given)");
}

Attention read_attention(const Session& session, const AttentionOptions& options) {
  check(options);
  const Input input(session, options.input);
  Signal signal = read_signal(session, options, input.source());
  const index_t frames = signal.values.cols(),
                functions = options.basis.value_or(std::min(kFunctions, frames));
  BetaGaussian p = options.mu ? BetaGaussian(options.alpha, *options.mu, *options.sigma2)
                              : match_weights(options.alpha, signal.weights);
  const double sigma = options.basis_sigma.value_or(1 / static_cast<double>(functions));
  const auto psi = GaussianBasis::linearly_spaced(functions, 0, 1, {sigma});
  auto v = RidgeRegression(psi, positions(frames), options.ridge).fit(signal.values);
  return {{input.source().names().begin(), input.source().names().end()},
          std::move(signal.values),
          std::move(signal.weights),
          p,
          std::move(v)};
}

}  // namespace fenchel::cli
