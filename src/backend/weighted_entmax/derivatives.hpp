#pragma once

#include <cmath>

#include "backend/weighted_entmax/node.hpp"
#include "core/team_code.hpp"
#include "fenchel/core/index.hpp"

/// Derivatives of one row of entmax over weighted nodes (docs/math.md 2.9), written once for the CPU and the
/// GPU: Columns visits the columns (core/columns.hpp), nodes.w(j) and nodes.mass(j) are a column's weight and
/// probability. What is given by a function of j may be NaN where the mass is 0.
namespace fenchel::detail {

/// A number v_j for each column less its mean under s: the Jacobian's product s (v - mean). The column with
/// the largest s may take nearly all of the mean: v is centred there, and its own product is what the others
/// leave (src/backend/cpu/entmax/jacobian_row.cpp).
struct CentredNodes {
  index_t largest;      ///< that column, -1 at infinite alpha
  double centre, mean;  ///< mean of v - centre
  double left;          ///< product of the column `largest`

  [[nodiscard]] FENCHEL_HD double less_mean(double v) const noexcept { return v - centre - mean; }
  [[nodiscard]] FENCHEL_HD double product(const Node& node, double v, index_t j) const noexcept {
    if (node.off()) return 0;
    return j == largest ? left : node.s() * less_mean(v);
  }
};

template <class Columns, class Nodes>
class NodeRow {
 public:
  FENCHEL_TEAM NodeRow(double am1, Columns& columns, const Nodes& nodes)
      : am1_(am1), columns_(columns), nodes_(nodes) {
    if (filled()) return;
    largest_ = columns.first_largest([&](index_t j) { return am1_ > 1 ? at(j).log_s() : at(j).s(); });
    if (largest_ >= 0 && am1 > 1) log_scale_ = at(largest_).log_s();
  }

  [[nodiscard]] FENCHEL_TEAM Node at(index_t j) const { return {am1_, nodes_.w(j), nodes_.mass(j)}; }
  [[nodiscard]] FENCHEL_TEAM bool filled() const { return std::isinf(am1_); }
  /// s, divided by its largest for alpha > 2.
  [[nodiscard]] FENCHEL_TEAM double scaled_s(const Node& node) const {
    return am1_ <= 1 || filled() || node.off() ? node.s() : std::exp(node.log_s() - log_scale_);
  }
  /// The sum of scaled_s, and the inverse of the sum of s, known after the first mean.
  [[nodiscard]] FENCHEL_TEAM double total() const { return total_; }
  [[nodiscard]] FENCHEL_TEAM double inverse_total() const { return std::exp(-log_scale_) / total_; }

  /// At infinite alpha, what the nodes of the level lose for each unit of weight where others gain v: nodes
  /// that are full or below the level keep their density. 0 where no density lies between 0 and 1.
  template <class V>
  [[nodiscard]] FENCHEL_TEAM double level_loss(const V& gain) {
    const Totals<2> sums = columns_.template sum<2>([&](index_t j) {
      const Node node = at(j);
      return Totals<2>{{node.s(), node.off() ? 0.0 : gain(node, j)}};
    });
    total_ = sums.of[0];
    return total_ == 0 ? 0.0 : sums.of[1] / total_;
  }

  template <class V>
  [[nodiscard]] FENCHEL_TEAM CentredNodes centred(const V& v) {
    const double centre = largest_ < 0 ? 0.0 : v(at(largest_), largest_);
    const Totals<2> sums = columns_.template sum<2>([&](index_t j) {
      const Node node = at(j);
      const double s = scaled_s(node);
      return Totals<2>{{s, s == 0 ? 0.0 : s * (v(node, j) - centre)}};
    });
    total_ = sums.of[0];
    CentredNodes found{largest_, centre, sums.of[1] / sums.of[0], 0};
    if (largest_ >= 0) {
      found.left =
          -columns_
               .template sum<1>([&](index_t j) {
                 const Node node = at(j);
                 return Totals<1>{{j == largest_ || node.off() ? 0.0 : found.product(node, v(node, j), j)}};
               })
               .of[0];
    }
    return found;
  }

 private:
  double am1_;
  Columns& columns_;
  const Nodes& nodes_;
  index_t largest_ = -1;
  double log_scale_ = 0, total_ = 0;
};

/// What a direction (dz, dw, dalpha) does to the scores: dz - dalpha D + pull dw.
template <class Direction>
struct ScoreShift {
  const Direction& direction;

  FENCHEL_TEAM double operator()(const Node& node, index_t j) const {
    double shift = direction.score(j);
    if (direction.alpha != 0) shift -= direction.alpha * node.alpha_direction();
    const double dw = direction.weight(j);
    return dw == 0 ? shift : shift + node.pull() * dw;
  }
};

/// The gradient of <g, P>; write(j, in_scores, in_weights) for each column. Returns that in alpha.
template <class Columns, class Nodes, class Cotangent, class Write>
FENCHEL_TEAM double weighted_vjp(double am1, bool in_alpha, Columns& columns, const Nodes& nodes,
                                 const Cotangent& g, const Write& write) {
  NodeRow<Columns, Nodes> row(am1, columns, nodes);
  const CentredNodes centred = row.centred([&](const Node&, index_t j) { return g(j); });
  return columns
      .template sum<1>([&](index_t j) {
        const Node node = row.at(j);
        if (node.off()) {
          write(j, 0.0, 0.0);
          return Totals<1>{};
        }
        if (row.filled()) {
          write(j, 0 * node.p, row.total() == 0 ? 0.0 : node.p * centred.less_mean(g(j)));
          return Totals<1>{};
        }
        const double y = centred.product(node, g(j), j);
        const double in_weight = j == centred.largest ? y * node.pull() : node.p * centred.less_mean(g(j));
        write(j, y, in_weight);
        return Totals<1>{{in_alpha ? -y * node.alpha_direction() : 0.0}};
      })
      .of[0];
}

/// How P moves along a direction; write(j, tangent) for each column.
template <class Columns, class Nodes, class Direction, class Write>
FENCHEL_TEAM void weighted_jvp(double am1, Columns& columns, const Nodes& nodes, const Direction& direction,
                               const Write& write) {
  NodeRow<Columns, Nodes> row(am1, columns, nodes);
  if (row.filled()) {
    const auto gain = [&](const Node& node, index_t j) { return node.p * direction.weight(j); };
    const double loss = row.level_loss(gain);
    columns.each([&](index_t j) {
      const Node node = row.at(j);
      const bool moves = row.total() != 0 && !node.off();
      write(j, moves ? gain(node, j) - node.s() * loss : 0 * node.mass);
    });
    return;
  }
  const ScoreShift<Direction> shift{direction};
  const CentredNodes centred = row.centred(shift);
  columns.each([&](index_t j) {
    const Node node = row.at(j);
    write(j, node.off() ? 0.0 : centred.product(node, shift(node, j), j));
  });
}

/// The Hessian of <g, P> times a direction; write(j, in_scores, in_weights) for each column. Returns that in
/// alpha. With y = J g, h = g - mean, X = how P moves, and dz, dw, dalpha the direction,
///   e = y (am1 dw / w - (am1 - 1) X / P - l dalpha),    in_scores = e - s sum(e) / Z,
///   in_weights = h (X - p dw) / w - p sum(e) / Z,
///   in_alpha = -<in_scores, D> - sum (h l (X - p dw) + y D' dalpha).
template <class Columns, class Nodes, class Cotangent, class Direction, class Write>
FENCHEL_TEAM double weighted_vjp_vjp(double am1, bool in_alpha, Columns& columns, const Nodes& nodes,
                                     const Cotangent& g, const Direction& direction, const Write& write) {
  NodeRow<Columns, Nodes> row(am1, columns, nodes);
  const CentredNodes cotangent = row.centred([&](const Node&, index_t j) { return g(j); });
  if (row.filled()) {
    const double loss =
        row.level_loss([&](const Node& node, index_t j) { return node.p * direction.weight(j); });
    const double bend = row.level_loss([&](const Node& node, index_t j) {
      return node.s() == 0 ? 0.0 : direction.weight(j) * cotangent.less_mean(g(j));
    });
    columns.each([&](index_t j) {
      const Node node = row.at(j);
      const double moved = node.s() == 0 ? 0.0 : -loss * cotangent.less_mean(g(j));
      write(j, 0 * node.mass, row.total() != 0 && !node.off() ? moved - node.p * bend : 0 * node.mass);
    });
    return 0;
  }
  const ScoreShift<Direction> shift{direction};
  const CentredNodes tangent = row.centred(shift);
  const auto bend = [&](const Node& node, double y, double x, index_t j) {
    const double alpha_part = direction.alpha == 0 ? 0.0 : node.l() * direction.alpha;
    return y * (am1 * direction.weight(j) / node.w - (am1 - 1) * x / node.mass - alpha_part);
  };
  const index_t largest = cotangent.largest;
  const Totals<3> sums = columns.template sum<3>([&](index_t j) {
    const Node node = row.at(j);
    if (node.off()) return Totals<3>{};
    const double y = cotangent.product(node, g(j), j), x = tangent.product(node, shift(node, j), j);
    const double own = bend(node, y, x, j);
    return j == largest ? Totals<3>{{own, 0, 0}} : Totals<3>{{0, own, row.scaled_s(node)}};
  });
  const double others = sums.of[1], bends = sums.of[0] + others,
               left = sums.of[2] * (bends / row.total()) - others;
  return columns
      .template sum<1>([&](index_t j) {
        const Node node = row.at(j);
        if (node.off()) {
          write(j, 0.0, 0.0);
          return Totals<1>{};
        }
        const double y = cotangent.product(node, g(j), j), x = tangent.product(node, shift(node, j), j);
        const double h = j == largest ? y / node.s() : cotangent.less_mean(g(j));
        const double moved = x - node.p * direction.weight(j);  // w dp
        const double in_scores =
            j == largest ? left : bend(node, y, x, j) - row.scaled_s(node) * (bends / row.total());
        write(j, in_scores, h * moved / node.w - node.p * (bends * row.inverse_total()));
        if (!in_alpha) return Totals<1>{};
        const double own = direction.alpha == 0 ? 0.0 : y * direction.alpha * node.alpha_curvature();
        return Totals<1>{{-in_scores * node.alpha_direction() - h * node.l() * moved - own}};
      })
      .of[0];
}

}  // namespace fenchel::detail
