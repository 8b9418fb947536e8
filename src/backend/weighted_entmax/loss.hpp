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
    const double target = cross ? 0.0 : r();
    return rise(weight_slope(am1, p()), weight_slope(am1, target), p(), target);
  }
  [[nodiscard]] FENCHEL_HD double in_alpha() const noexcept {
    if (absent()) return 0;
    const double target = cross ? 0.0 : r();
    return bounded(w * rise(tsallis_term_alpha_derivative(am1, target),
                            tsallis_term_alpha_derivative(am1, p()), target, p()));
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
    const auto gain = [&](const Node& node, index_t j) { return node.p * direction.weight(j); };
    const double loss = row.level_loss(gain);
    const double mean = row.level_mean([&](index_t j) { return direction.score(j); });
    columns.each([&](index_t j) {
      const Node node = row.at(j);
      write(j, row.moves(node) ? gain(node, j) - node.s() * loss : 0 * node.mass,
            row.moves(node) ? node.p * (direction.score(j) - mean) : 0 * node.mass);
    });
    return 0;
  }
  am1 = row.am1();
  const ScoreShift<NodeRow<Columns, Nodes>, Direction> shift{row, direction};
  const double x_k = row.product_at_k(shift), d_k = bounded(row.largest().template alpha_direction<1>());
  return columns
      .template sum<1>([&](index_t j) {
        const Node node = row.at(j);
        if (node.w == 0) {
          write(j, 0.0, 0.0);
          return Totals<1>{};
        }
        const double d_weight = direction.weight(j), target = q(j),
                     r = target == 0 || cross ? 0.0 : target / node.w;
        const double x = node.off() ? 0.0 : row.unit().number(row.product(shift, x_k, node, j));
        const double slope = rise(weight_slope(am1, node.p), weight_slope(am1, r), node.p, r);
        const double mixed = rise(weight_slope_alpha_derivative(am1, node.p),
                                  weight_slope_alpha_derivative(am1, r), node.p, r);
        double in_weight = saturated(node.pull() * x) + saturated(mixed * direction.alpha);
        if (d_weight != 0) in_weight -= saturated((1 + am1) * slope * d_weight / node.w);
        double in_alpha = bounded(mixed * d_weight);
        if (x != 0) in_alpha -= bounded(x * (bounded(node.template alpha_direction<1>()) - d_k));
        if (direction.alpha != 0) {
          in_alpha += bounded(direction.alpha * node.w *
                              rise(tsallis_term_alpha_curvature(am1, r),
                                   tsallis_term_alpha_curvature(am1, node.p), r, node.p));
        }
        write(j, x, in_weight);
        return Totals<1>{{in_alpha}};
      })
      .of[0];
}

}  // namespace fenchel::detail
