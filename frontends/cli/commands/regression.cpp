#include "cli/commands/regression.hpp"

#include <CLI/App.hpp>

#include "cli/families/family.hpp"
#include "cli/tables/numbers.hpp"

namespace fenchel::cli {

void add_noise_options(CLI::App& app, NoiseOptions& options) {
  add_number(app, "--alpha", options.alpha, "Of the noise: 1 Gaussian, 2 parabola (2 unless given)");
  add_choice(app, "--link", options.link, {"linear", "log"},
             "linear: sigma is linear in x; log: its logarithm is (log unless given)");
  add_number(app, "--penalty", options.penalty,
             "Half of it times the sum of squares of the coefficients, of standardised columns, is added to "
             "the loss (0 unless given)");
}

RegressionOptions regression_options(const NoiseOptions& options) {
  check_bound("alpha", options.alpha, {1, true, "at least 1"});
  check_bound("penalty", options.penalty, {0, true, "not negative"});
  return {.alpha = options.alpha,
          .link = options.link == "linear" ? ScaleLink::linear : ScaleLink::log,
          .penalty = options.penalty};
}

}  // namespace fenchel::cli
