#include "cli/commands/regression.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <vector>

#include "cli/families/family.hpp"
#include "cli/program/session.hpp"
#include "cli/tables/format.hpp"
#include "cli/tables/model_file.hpp"
#include "cli/tables/numbers.hpp"
#include "fenchel/core/error.hpp"

namespace fenchel::cli {
namespace {

/// Above which the noise has a variance.
constexpr double kLeastAlpha = 1. / 3;

Eigen::VectorXd coefficients_of(const ModelPart& line, const std::vector<std::string>& names) {
  const ModelPart coefficients = line.part("coefficients");
  Eigen::VectorXd values(static_cast<index_t>(names.size()));
  index_t k = 0;
  for (const std::string& name : names) values[k++] = coefficients.finite(name);
  if (coefficients.keys().size() != names.size())
    line.fail("coefficients", "of the same columns for the mean and the scale");
  return values;
}

}  // namespace

void add_noise_options(CLI::App& app, NoiseOptions& options, bool compares) {
  const std::string help =
      "Of the noise, above 1/3: below 1 Student's t, 1 Gaussian, 2 parabola (2 unless given)";
  if (!compares) {
    add_number(app, "--alpha", options.alpha, help);
  } else {
    app.add_option_function<std::string>(
           "--alpha",
           [&options](const std::string& text) {
             options.any_alpha = text == "auto";
             if (!options.any_alpha) options.alpha = parse_number("--alpha", text);
           },
           help + "; auto compares some by folds")
        ->option_text("X|auto");
  }
  add_choice(app, "--link", options.link, {"linear", "log"},
             "linear: sigma is linear in x; log: its logarithm is (log unless given)");
  add_number(app, "--penalty", options.penalty,
             "Half of it times the sum of squares of the coefficients, of standardised columns, is added to "
             "the loss (0 unless given)");
  add_number(
      app, "--scale-penalty", options.scale_penalty,
      "The same for the coefficients of sigma alone, besides (unless given 0 for one column of x or a linear "
      "sigma, else 10 for each column over the number of rows)");
  add_choice(
      app, "--noise-loss", options.noise_loss, {"auto", "cross_omega", "likelihood"},
      "What is minimised: the cross-Omega loss, or -log p(y), for --alpha up to 1 (auto, unless given: "
      "likelihood below 1, cross_omega from 1 on)");
}

RegressionOptions regression_options(const NoiseOptions& options) {
  check_bound("alpha", options.alpha, {kLeastAlpha, false, "above 1/3, where the noise has a variance"});
  check_bound("penalty", options.penalty, {0, true, "not negative"});
  if (options.scale_penalty) check_bound("scale-penalty", *options.scale_penalty, {0, true, "not negative"});
  if (options.noise_loss == "likelihood" && !options.any_alpha && options.alpha > 1)
    throw UsageError("--noise-loss likelihood needs --alpha up to 1, got " + shortest_text(options.alpha));
  return {.alpha = options.alpha,
          .link = options.link == "linear" ? ScaleLink::linear : ScaleLink::log,
          .penalty = options.penalty,
          .scale_penalty = options.scale_penalty,
          .noise_loss = options.noise_loss == "auto"          ? NoiseLoss::automatic
                        : options.noise_loss == "cross_omega" ? NoiseLoss::cross_omega
                                                              : NoiseLoss::likelihood};
}

void check_converged(const RegressionFit& fit, const NoiseOptions& options) {
  if (fit.status == MinimizeStatus::converged) return;
  if (fit.scale_penalty > fit.wanted_scale_penalty)
    throw ConvergenceError(
        fmt::format("no start converged for --scale-penalty {0}, the minimum for {1} was found. Give "
                    "--scale-penalty {1} or more, a smaller --alpha{2}",
                    short_text(fit.wanted_scale_penalty), short_text(fit.scale_penalty),
                    options.link == "linear" ? ", or --link log" : ""));
  throw ConvergenceError(
      fmt::format("no start converged (the first: {}); a larger --scale-penalty, a smaller --alpha, more "
                  "--starts or --link log may help",
                  to_string(fit.status)));
}

RegressionModel read_regression(const std::string& path) {
  const ModelPart model = open_model(path, kRegressionModel);
  const ModelPart mean = model.part("mean"), scale = model.part("scale");
  RegressionModel result{model.text("y"), {}};
  RegressionFit& fit = result.fit;
  fit.alpha = model.finite("alpha");
  if (!(fit.alpha > kLeastAlpha)) model.fail("alpha", "above 1/3");
  const std::string link = scale.text("link");
  if (link != "linear" && link != "log") scale.fail("link", R"("linear" or "log")");
  fit.link = link == "linear" ? ScaleLink::linear : ScaleLink::log;
  fit.names = mean.part("coefficients").keys();
  fit.mean_intercept = mean.finite("intercept");
  fit.mean_coefficients = coefficients_of(mean, fit.names);
  fit.scale_intercept = scale.finite("intercept");
  fit.scale_coefficients = coefficients_of(scale, fit.names);
  return result;
}

}  // namespace fenchel::cli
