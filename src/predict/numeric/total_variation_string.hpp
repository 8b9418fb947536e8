#pragma once

#include <vector>

#include "predict/numeric/score_panels.hpp"

namespace fenchel::detail {

/// A piece of the prox x: constant, or the score itself.
struct ProxPiece {
  double lower, upper;
  bool flat;
  double mean;              ///< of x
  double first, last;       ///< x at the ends
  bool after_mask = false;  ///< x = -infinity before it
  bool before_mask = false;
};

/// The total variation prox of a score on a window: the taut string on cells that shrink to rounding where a
/// plateau ends [docs/math.md 6.1]. A mask is a neighbour below everything.
class ProxScore {
 public:
  ProxScore(const ScorePanels& score, double gamma, int cells_per_panel);

  [[nodiscard]] const std::vector<ProxPiece>& pieces() const noexcept { return pieces_; }
  [[nodiscard]] double threshold() const noexcept { return threshold_; }
  [[nodiscard]] double operator()(double t) const;
  /// The total variation of [x - threshold]_+.
  [[nodiscard]] double total_variation() const;
  /// Where x is above the threshold.
  [[nodiscard]] std::vector<Interval> support() const;

 private:
  void add_stretch(const Stretch& stretch, double gamma, int cells_per_panel);
  void solve_threshold();
  [[nodiscard]] double crossing(const ProxPiece& piece) const;

  ScorePanels score_;
  std::vector<ProxPiece> pieces_;
  double threshold_ = 0;
};

}  // namespace fenchel::detail
