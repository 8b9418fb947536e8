#include "fenchel/core/beta_gaussian_jet.hpp"

#include <algorithm>
#include <iterator>

#include "core/beta_gaussian/line_jets.hpp"
#include "core/random/draw_direction.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/core/variates.hpp"

namespace fenchel {

BetaGaussianFunction beta_gaussian_function(std::string_view name) {
  constexpr std::string_view kNames[] = {"log_density",  "cross_omega", "entropy",  "tsallis_entropy",
                                         "log_variance", "log_radius2", "log_draw", "cdf",
                                         "quantile",     "below_peak"};
  const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames))
    throw_invalid_argument("beta_gaussian", "function", "must be one of them", name);
  return static_cast<BetaGaussianFunction>(found - std::begin(kNames));
}

double beta_gaussian_value(BetaGaussianFunction function, index_t n, double argument, double log_det,
                           double alpha) {
  return detail::value_of(function, n, argument, log_det, alpha);
}

Jet beta_gaussian_jet(BetaGaussianFunction function, index_t n, double argument, double log_det, double alpha,
                      bool in_alpha) {
  return detail::jet_of(function, n, argument, log_det, alpha, in_alpha);
}

void draw_direction(std::uint64_t seed, std::span<double> out) {
  Philox rng(seed);
  detail::fill_direction(out.data(), std::ssize(out), [&] { return standard_normal(rng); });
}

}  // namespace fenchel
