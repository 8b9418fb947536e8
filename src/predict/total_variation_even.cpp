#include <algorithm>
#include <cmath>

#include "fenchel/predict/total_variation_function.hpp"
#include "predict/numeric/even_excess.hpp"

namespace fenchel::detail {

TotalVariationPrediction predict_even(const TotalVariation& omega, const EvenScore& f) {
  const EvenProfile h(f, omega.temperature());
  const double gamma = omega.gamma(), mu = f.mu();
  const EvenEdge cap = gamma == 0 ? EvenEdge{0, h(0)} : solve_excess(h, 0, h(0), gamma, gamma);
  const double a = cap.at, v = cap.level;
  const auto [b, tau] = solve_excess(h, a, v, 0.5, gamma);
  const auto log_density = [h, a, v, threshold = tau, mu](double t) {
    const double y = std::abs(t - mu);
    return std::log(std::max(0.0, (y <= a ? v : std::min(v, h(y))) - threshold));
  };
  std::vector<double> cuts = {mu};
  std::vector<Interval> plateaus;
  if (a > 0) {
    cuts.insert(cuts.end(), {mu - a, mu + a});
    plateaus.emplace_back(mu - a, mu + a);
  }
  return {NumericDensity(log_density, {{mu - b, mu + b}}, std::move(cuts)), 0, tau, 2 * (v - tau),
          std::move(plateaus)};
}

double conjugate(const TotalVariation& omega, const TotalVariationPrediction& p) {
  return p.top + omega.temperature() * (1 + p.threshold - tsallis_entropy(p.density, 2));
}

}  // namespace fenchel::detail
