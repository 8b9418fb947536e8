#pragma once

#include <algorithm>
#include <cmath>

#include "backend/weighted_entmax/derivatives.hpp"
#include "core/fenchel_young_term.hpp"
#include "core/tsallis_term.hpp"

/// The losses of one row of entmax over weighted nodes and their second derivatives (docs/math.md 2.9),
/// written once for the CPU and the GPU, as backend/weighted_entmax/derivatives.hpp.
namespace fenchel::detail {

/// One node against its target: probability q of the target, `mass` of the prediction, u = z - A.
struct LossNode {
  double am1, w, q, mass, u;
  bool cross;  ///< without Omega(q)

  /// A node of weight 0 is not there, and no target may charge it.
  [[nodiscard]] FENCHEL_HD bool absent() const noexcept { return w == 0; }
  [[nodiscard]] FENCHEL_HD double p() const noexcept { return mass == 0 ? 0.0 : mass / w; }
  [[nodiscard]] FENCHEL_HD double r() const noexcept { return q == 0 ? 0.0 : q / w; }

  [[nodiscard]] FENCHEL_HD double loss() const noexcept {
    if (absent() || u == -kInfinity) return q > 0 ? kInfinity : 0.0;
    if (std::isinf(am1)) return filled_loss();
    return w * (cross ? cross_omega_term(am1, r(), p(), u) : fenchel_young_term(am1, r(), p(), u));
  }
  [[nodiscard]] FENCHEL_HD double in_weight() const noexcept {
    if (absent() || u == -kInfinity) return 0;
    if (std::isinf(am1)) return u > 0 ? u : 0.0;
    return weight_slope(am1, p()) - (cross ? 0.0 : weight_slope(am1, r()));
  }
  [[nodiscard]] FENCHEL_HD double in_alpha() const noexcept {
    if (absent()) return 0;
    const double own = tsallis_term_alpha_derivative(am1, p());
    return w * ((cross ? 0.0 : tsallis_term_alpha_derivative(am1, r())) - own);
  }

 private:
  /// Infinite alpha: Omega is 0 where no density exceeds one, and infinite elsewhere.
  [[nodiscard]] FENCHEL_HD double filled_loss() const noexcept {
    if (!cross && q > w && q > mass) return kInfinity;
    const double term = (mass - q) * u;
    return term > 0 || cross ? term : 0.0;
  }
};

/// The Hessian of a row's loss times a direction; q(j) is the target, write(j, in_scores, in_weights) for
/// each column. Returns that in alpha. With X how P moves along the direction, r = q / w, and k(p) the
/// derivative of p^alpha / alpha in alpha,
///   in_scores = X,   in_weights = pull X - (p^alpha - r^alpha) dw / w + (k(p) - k(r)) dalpha,
///   in_alpha = (Omega''(q) - Omega''(P)) dalpha - <D, X> + sum dw (k(p) - k(r)).
template <class Columns, class Nodes, class Target, class Direction, class Write>
FENCHEL_TEAM double weighted_curvature(double am1, bool cross, Columns& columns, const Nodes& nodes,
                                       const Target& q, const Direction& direction, const Write& write) {
  NodeRow<Columns, Nodes> row(am1, columns, nodes);
  if (row.filled()) {
    const CentredNodes scores = row.centred([&](const Node&, index_t j) { return direction.score(j); });
    const auto gain = [&](const Node& node, index_t j) { return node.p * direction.weight(j); };
    const double loss = row.level_loss(gain);
    columns.each([&](index_t j) {
      const Node node = row.at(j);
      const bool moves = row.total() != 0 && !node.off();
      write(j, moves ? gain(node, j) - node.s() * loss : 0 * node.mass,
            moves ? node.p * scores.less_mean(direction.score(j)) : 0 * node.mass);
    });
    return 0;
  }
  const ScoreShift<Direction> shift{direction};
  const CentredNodes tangent = row.centred(shift);
  return columns
      .template sum<1>([&](index_t j) {
        const Node node = row.at(j);
        if (node.w == 0) {
          write(j, 0.0, 0.0);
          return Totals<1>{};
        }
        const double d_weight = direction.weight(j), target = q(j),
                     r = target == 0 || cross ? 0.0 : target / node.w;
        const double x = node.off() ? 0.0 : tangent.product(node, shift(node, j), j);
        const double slope = weight_slope(am1, node.p) - weight_slope(am1, r);
        const double mixed =
            weight_slope_alpha_derivative(am1, node.p) - weight_slope_alpha_derivative(am1, r);
        double in_weight = node.pull() * x + mixed * direction.alpha;
        if (d_weight != 0) in_weight -= (1 + am1) * slope * d_weight / node.w;
        double in_alpha = mixed * d_weight - x * node.alpha_direction();
        if (direction.alpha != 0) {
          in_alpha += direction.alpha * node.w *
                      (tsallis_term_alpha_curvature(am1, r) - tsallis_term_alpha_curvature(am1, node.p));
        }
        write(j, x, in_weight);
        return Totals<1>{{in_alpha}};
      })
      .of[0];
}

}  // namespace fenchel::detail
