#include "fenchel/predict/total_variation_function.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "core/quadrature/gauss_kronrod.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/taut_string.hpp"
#include "fenchel/distribution/line/total_variation.hpp"
#include "predict/numeric/total_variation_string.hpp"

namespace fenchel::detail {
namespace {

constexpr int kFirstCells = 8, kMostCells = 64;  // in a panel

/// Whether neither the window nor what the string does at its ends matters (docs/math.md 6.1, WINDOW).
bool window_holds(const ScoreWindows& windows, const ScorePanels& panels, const ProxScore& x) {
  const ProxPiece &first = x.pieces().front(), &last = x.pieces().back();
  const auto below = [&](const ProxPiece& end, bool masked) { return masked || end.mean <= x.threshold(); };
  return windows.holds(panels.window(), x.threshold()) &&
         (!windows.free_below() || below(first, panels.stretches().front().masked_below)) &&
         (!windows.free_above() || below(last, panels.stretches().back().masked_above));
}

/// The largest difference of two predictions on a window, over the peak.
double disagreement(const ProxScore& p, const ProxScore& q, const Interval& window) {
  constexpr int kPoints = 1024;
  constexpr double kOffset = 0.381966;  // away from likely jumps
  double most = 0, peak = 0;
  for (int i = 0; i < kPoints; ++i) {
    const double t = std::lerp(window.lower(), window.upper(), (i + kOffset) / kPoints);
    const double at_p = std::max(0.0, p(t) - p.threshold()), at_q = std::max(0.0, q(t) - q.threshold());
    most = std::max(most, std::abs(at_p - at_q));
    peak = std::max(peak, at_p);
  }
  for (const ProxPiece& piece : p.pieces()) peak = std::max(peak, piece.mean - p.threshold());
  return most / peak;
}

TotalVariationPrediction make_prediction(const std::shared_ptr<const ProxScore>& x, double top) {
  std::vector<Interval> support = x->support(), plateaus;
  std::vector<double> cuts;
  for (const ProxPiece& piece : x->pieces()) {
    if (!piece.flat || !(piece.mean > x->threshold())) continue;
    cuts.insert(cuts.end(), {piece.lower, piece.upper});
    plateaus.emplace_back(piece.lower, piece.upper);
  }
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  NumericDensity density([x](double t) { return std::log(std::max(0.0, (*x)(t)-x->threshold())); },
                         std::move(support), std::move(cuts));
  return {std::move(density), top, x->threshold(), x->total_variation(), std::move(plateaus)};
}

}  // namespace

TotalVariationPrediction predict_numeric(const TotalVariation& omega, std::function<double(double)> f,
                                         const Interval& domain, double accuracy) {
  checked_positive("predict", "accuracy", accuracy);
  if (omega.gamma() == 0) {
    NumericPrediction p = predict_numeric(Tsallis(2, omega.temperature()), std::move(f), domain, accuracy);
    const double variation = total_variation_within(domain, p.density);
    return {std::move(p.density), p.top, p.offset - 1, variation, {}};
  }
  ScoreWindows windows(std::move(f), domain, omega.temperature(), std::max(accuracy, 1e-10));
  int doublings = 0, cells = kFirstCells;
  auto panels = std::make_unique<ScorePanels>(windows.panels(doublings));
  auto x = std::make_shared<const ProxScore>(*panels, omega.gamma(), cells);
  for (double off = 1; !(off <= accuracy);) {
    while (!window_holds(windows, *panels, *x)) {
      if (++doublings > kMostDoublings) throw_no_window(panels->window().width());
      panels = std::make_unique<ScorePanels>(windows.panels(doublings));
      x = std::make_shared<const ProxScore>(*panels, omega.gamma(), cells);
    }
    if ((cells *= 2) > kMostCells)
      throw ConvergenceError(error_message("predict", "the difference of two grids over the peak",
                                           "must reach " + shortest(accuracy), off));
    const auto finer = std::make_shared<const ProxScore>(*panels, omega.gamma(), cells);
    off = disagreement(*x, *finer, panels->window());
    x = finer;
  }
  TotalVariationPrediction p = make_prediction(x, windows.profile().top());
  check_mass(p.density, accuracy);
  return p;
}

TautString taut_string(const TotalVariation& omega, FunctionRef<double(double)> f, const Interval& domain,
                       index_t cells) {
  if (cells < 1) throw_invalid_argument("taut_string", "cells", "must be positive", cells);
  checked_positive("taut_string", "domain.width()", domain.width());
  const auto count = static_cast<std::size_t>(cells);
  const double gamma = omega.gamma();
  TautString drawn;
  std::vector<double> means, widths;
  double sum = 0;
  for (std::size_t i = 0; i <= count; ++i) {
    const double t = std::lerp(domain.lower(), domain.upper(), double(i) / double(count));
    if (i > 0) {
      const double width = t - drawn.t.back(), rise = gauss_kronrod(f, drawn.t.back(), t).value;
      checked_finite("taut_string", "f(" + shortest(t - width / 2) + ")", rise);
      means.push_back(rise / omega.temperature() / width);
      widths.push_back(width);
      sum += rise / omega.temperature();
    }
    const double tube = i == 0 || i == count ? 0 : gamma;
    drawn.t.push_back(t);
    drawn.lower.push_back(sum - tube);
    drawn.upper.push_back(sum + tube);
  }
  const std::vector<double> slopes = fenchel::taut_string(means, std::vector(count - 1, gamma), widths);
  drawn.string = {0};
  for (std::size_t i = 0, begin = 0; i < count; ++i) {
    drawn.string.push_back(drawn.string.back() + slopes[i] * widths[i]);
    if (i + 1 < count && slopes[i + 1] == slopes[i]) continue;
    if (i > begin) drawn.plateaus.emplace_back(drawn.t[begin], drawn.t[i + 1]);
    begin = i + 1;
  }
  return drawn;
}

}  // namespace fenchel::detail
