#pragma once

#include <cmath>

#include "backend/weighted_entmax/node.hpp"
#include "core/team_code.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/infinity.hpp"

/// Derivatives of one row of entmax over weighted nodes (docs/math.md 2.9), written once for the CPU and the
/// GPU: Columns visits the columns (core/columns.hpp), nodes.w(j) and nodes.mass(j) are a column's weight and
/// probability. What is given by a function of j may be NaN where the mass is 0.
namespace fenchel::detail {

/// What numbers of a row are multiples of, by the root of its logarithm: it may be past the largest number.
struct NodeUnit {
  double root = 1;

  FENCHEL_HD static NodeUnit of_log(double log_unit) noexcept { return {saturated(std::exp(log_unit / 2))}; }
  [[nodiscard]] FENCHEL_HD double number(double x) const noexcept { return saturated(x * root * root); }
  [[nodiscard]] FENCHEL_HD double multiple(double x) const noexcept { return x / root / root; }
};

/// A product with the Jacobian is a sum for the column k of the largest s, and follows from it elsewhere:
/// with r = s / s_k, R = sum(r) and c = s (v - v_k),
///   (J v)_k = -sum(c) / R,   (J v)_j = c_j + r_j (J v)_k,
/// so that neither cancels where k has nearly all of s, and s_k is not needed. c is in units of the largest s
/// besides s_k, where that is large.
template <class Columns, class Nodes>
class NodeRow {
 public:
  FENCHEL_TEAM NodeRow(double am1, Columns& columns, const Nodes& nodes)
      : am1_(am1 > kLargestOrder && !std::isinf(am1) ? kLargestOrder : am1),
        columns_(columns),
        nodes_(nodes) {
    if (filled()) return;
    const auto key = [&](index_t j) { return am1_ > 1 ? at(j).log_s() : at(j).s(); };
    k_ = columns.first_largest(key);
    if (k_ < 0) return;
    largest_ = key(k_);
    const double next =
        -columns.template smallest<1>([&](index_t j) { return Totals<1>{{j == k_ ? kInfinity : -key(j)}}; })
             .of[0];
    constexpr double kLarge = 1e100;
    if (am1_ > 1 && next > 0) {
      log_unit_ = next;
    } else if (am1_ <= 1 && next > kLarge) {
      log_unit_ = std::log(next);
    }
    unit_ = NodeUnit::of_log(log_unit_);
    others_ = columns.template sum<1>([&](index_t j) { return Totals<1>{{j == k_ ? 0.0 : ratio(at(j), j)}}; })
                  .of[0];
  }

  [[nodiscard]] FENCHEL_TEAM Node at(index_t j) const { return {am1_, nodes_.w(j), nodes_.mass(j)}; }
  /// At most kLargestOrder, or infinite.
  [[nodiscard]] FENCHEL_TEAM double am1() const { return am1_; }
  [[nodiscard]] FENCHEL_TEAM bool filled() const { return std::isinf(am1_); }
  [[nodiscard]] FENCHEL_TEAM index_t k() const { return k_; }
  [[nodiscard]] FENCHEL_TEAM Node largest() const { return at(k_ < 0 ? 0 : k_); }
  [[nodiscard]] FENCHEL_TEAM const NodeUnit& unit() const { return unit_; }
  [[nodiscard]] FENCHEL_TEAM double log_unit() const { return log_unit_; }
  /// R, and R - 1 without its rounding.
  [[nodiscard]] FENCHEL_TEAM double ratios() const { return 1 + others_; }
  [[nodiscard]] FENCHEL_TEAM double other_ratios() const { return others_; }
  [[nodiscard]] FENCHEL_TEAM double ratio(const Node& node, index_t j) const {
    if (node.off()) return 0;
    if (j == k_) return 1 + 0 * node.p;  // NaN stays
    return am1_ > 1 ? std::exp(node.log_s() - largest_) : node.s() / largest_;
  }
  /// s of a column other than k, in its unit.
  [[nodiscard]] FENCHEL_TEAM double scaled_s(const Node& node) const {
    if (node.off()) return 0;
    return am1_ > 1 ? std::exp(node.log_s() - log_unit_) : unit_.multiple(node.s());
  }
  /// s (D - D_k), n = 1, or s (D' - D'_k), n = 2, which is no multiple of the unit.
  template <int n>
  [[nodiscard]] FENCHEL_TEAM double alpha_product(const Node& node, index_t j) const {
    const Node k = largest();
    if (am1_ > 1) return node.template alpha_product<n>() - ratio(node, j) * k.template alpha_product<n>();
    return node.s() * (node.template alpha_direction<n>() - k.template alpha_direction<n>());
  }
  /// The product at k, of c(node, j).
  template <class C>
  [[nodiscard]] FENCHEL_TEAM double product_at_k(const C& c) const {
    return -columns_
                .template sum<1>([&](index_t j) {
                  const Node node = at(j);
                  return Totals<1>{{j == k_ || node.off() ? 0.0 : c(node, j)}};
                })
                .of[0] /
           ratios();
  }
  /// The product in any column of the support, from that at k.
  template <class C>
  [[nodiscard]] FENCHEL_TEAM double product(const C& c, double of_k, const Node& node, index_t j) const {
    return j == k_ ? of_k : c(node, j) + ratio(node, j) * of_k;
  }
  /// The mean of v under s, less v_k.
  template <class V>
  [[nodiscard]] FENCHEL_TEAM double mean_beyond_k(const V& v) const {
    const double centre = k_ < 0 ? 0.0 : v(k_);
    return columns_
               .template sum<1>([&](index_t j) {
                 const Node node = at(j);
                 return Totals<1>{{j == k_ || node.off() ? 0.0 : ratio(node, j) * (v(j) - centre)}};
               })
               .of[0] /
           ratios();
  }

  /// At infinite alpha, what the nodes of the level lose for each unit of weight where others gain: nodes
  /// that are full or below the level keep their density. 0 where no density lies between 0 and 1.
  template <class V>
  [[nodiscard]] FENCHEL_TEAM double level_loss(const V& gain) {
    const Totals<2> sums = columns_.template sum<2>([&](index_t j) {
      const Node node = at(j);
      return Totals<2>{{node.s(), node.off() ? 0.0 : gain(node, j)}};
    });
    level_weight_ = sums.of[0];
    return level_weight_ == 0 ? 0.0 : sums.of[1] / level_weight_;
  }
  /// The mean over the level.
  template <class V>
  [[nodiscard]] FENCHEL_TEAM double level_mean(const V& v) {
    return level_loss([&](const Node& node, index_t j) { return node.s() == 0 ? 0.0 : node.s() * v(j); });
  }
  /// Whether a node moves with the weights at infinite alpha, after a loss or a mean.
  [[nodiscard]] FENCHEL_TEAM bool moves(const Node& node) const { return level_weight_ != 0 && !node.off(); }

 private:
  static constexpr double kLargestOrder = 1e100;  ///< far beyond it powers of am1 log p overflow
  double am1_;
  Columns& columns_;
  const Nodes& nodes_;
  index_t k_ = -1;
  double largest_ = 0;  ///< s_k, or its logarithm for alpha > 2
  double log_unit_ = 0, others_ = 0, level_weight_ = 0;
  NodeUnit unit_;
};

/// g - mean of it under s: g is a number for each column of a cotangent.
template <class Row, class Cotangent>
struct CentredCotangent {
  const Row& row;
  const Cotangent& g;
  double centre = row.k() < 0 ? 0.0 : g(row.k()), mean = row.mean_beyond_k(g);

  [[nodiscard]] FENCHEL_TEAM double h(index_t j) const { return j == row.k() ? -mean : g(j) - centre - mean; }
  /// s (g - g_k).
  FENCHEL_TEAM double operator()(const Node& node, index_t j) const {
    return row.scaled_s(node) * (g(j) - centre);
  }
};

/// s (v - v_k) of what a direction (dz, dw, dalpha) does to the scores, v = dz - dalpha D + pull dw.
template <class Row, class Direction>
struct ScoreShift {
  const Row& row;
  const Direction& direction;
  Node k = row.largest();
  double dz_k = row.k() < 0 ? 0.0 : direction.score(row.k()), dp_k = row.k() < 0 ? 0.0 : pushed(k, row.k());

  FENCHEL_TEAM double operator()(const Node& node, index_t j) const {
    double own = pushed(node, j) - row.ratio(node, j) * dp_k;
    if (direction.alpha != 0) own -= direction.alpha * row.template alpha_product<1>(node, j);
    return row.scaled_s(node) * (direction.score(j) - dz_k) + row.unit().multiple(own);
  }

 private:
  /// s pull dw.
  [[nodiscard]] FENCHEL_TEAM double pushed(const Node& node, index_t j) const {
    const double dw = direction.weight(j);
    return dw == 0 ? 0.0 : bounded(node.p * dw);
  }
};

/// The gradient of <g, P>; write(j, in_scores, in_weights) for each column. Returns that in alpha.
template <class Columns, class Nodes, class Cotangent, class Write>
FENCHEL_TEAM double weighted_vjp(double am1, bool in_alpha, Columns& columns, const Nodes& nodes,
                                 const Cotangent& g, const Write& write) {
  NodeRow<Columns, Nodes> row(am1, columns, nodes);
  if (row.filled()) {
    const double mean = row.level_mean(g);
    columns.each([&](index_t j) {
      const Node node = row.at(j);
      write(j, 0 * node.mass, row.moves(node) ? node.p * (g(j) - mean) : 0 * node.mass);
    });
    return 0;
  }
  const CentredCotangent<NodeRow<Columns, Nodes>, Cotangent> centred{row, g};
  const double of_k = row.product_at_k(centred);
  return columns
      .template sum<1>([&](index_t j) {
        const Node node = row.at(j);
        if (node.off()) {
          write(j, 0.0, 0.0);
          return Totals<1>{};
        }
        const double h = centred.h(j), y = j == row.k() ? of_k : row.scaled_s(node) * h;
        write(j, row.unit().number(y), saturated(node.p * h));
        const bool counts = in_alpha && j != row.k();
        return Totals<1>{{counts ? -h * row.template alpha_product<1>(node, j) : 0.0}};
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
      write(j, row.moves(node) ? gain(node, j) - node.s() * loss : 0 * node.mass);
    });
    return;
  }
  const ScoreShift<NodeRow<Columns, Nodes>, Direction> shift{row, direction};
  const double of_k = row.product_at_k(shift);
  columns.each([&](index_t j) {
    const Node node = row.at(j);
    write(j, node.off() ? 0.0 : row.unit().number(row.product(shift, of_k, node, j)));
  });
}

/// The Hessian of <g, P> times a direction; write(j, in_scores, in_weights) for each column. Returns that in
/// alpha. With y = J g, h = g - mean, X = how P moves, and dz, dw, dalpha the direction,
///   b = h (am1 dw / w - (am1 - 1) X / P - l dalpha),    in_scores = s (b - mean of b under s),
///   in_weights = h (X - p dw) / w - p (mean of b),
///   in_alpha = -<in_scores, D> - sum (h l (X - p dw) + y D' dalpha).
/// Past alpha = 2 b is in units of that of s over the smallest P.
template <class Columns, class Nodes, class Cotangent, class Direction, class Write>
FENCHEL_TEAM double weighted_vjp_vjp(double am1, bool in_alpha, Columns& columns, const Nodes& nodes,
                                     const Cotangent& g, const Direction& direction, const Write& write) {
  NodeRow<Columns, Nodes> row(am1, columns, nodes);
  if (row.filled()) {
    const double mean = row.level_mean(g);
    const double loss =
        row.level_loss([&](const Node& node, index_t j) { return node.p * direction.weight(j); });
    const double bend = row.level_loss([&](const Node& node, index_t j) {
      return node.s() == 0 ? 0.0 : direction.weight(j) * (g(j) - mean);
    });
    columns.each([&](index_t j) {
      const Node node = row.at(j);
      const double moved = node.s() == 0 ? 0.0 : -loss * (g(j) - mean);
      write(j, 0 * node.mass, row.moves(node) ? moved - node.p * bend : 0 * node.mass);
    });
    return 0;
  }
  const CentredCotangent<NodeRow<Columns, Nodes>, Cotangent> centred{row, g};
  const ScoreShift<NodeRow<Columns, Nodes>, Direction> shift{row, direction};
  const double y_k = row.product_at_k(centred), x_k = row.product_at_k(shift);
  am1 = row.am1();
  const double least = am1 <= 1 ? 1.0
                                : columns
                                      .template smallest<1>([&](index_t j) {
                                        const Node node = row.at(j);
                                        return Totals<1>{{node.off() ? kInfinity : node.mass}};
                                      })
                                      .of[0];
  const double log_bend = row.log_unit() - std::log(least);
  const NodeUnit of_bend = NodeUnit::of_log(log_bend), of_score = NodeUnit::of_log(log_bend + row.log_unit());
  const auto bend = [&](const Node& node, double x, index_t j) {  // b / h
    double own = bounded(am1 * direction.weight(j) / node.w);
    if (direction.alpha != 0) own -= node.l() * direction.alpha;
    return of_bend.multiple(own) - bounded((am1 - 1) * x / (node.mass / least));
  };
  // Of s b at k and elsewhere, and of b under s.
  const Totals<3> sums = columns.template sum<3>([&](index_t j) {
    const Node node = row.at(j);
    if (node.off()) return Totals<3>{};
    const double own = bend(node, row.product(shift, x_k, node, j), j), h = centred.h(j);
    const double mean = bounded(row.ratio(node, j) * h * own);
    if (j == row.k()) return Totals<3>{{bounded(y_k * own), 0, mean}};
    return Totals<3>{{0, bounded(row.scaled_s(node) * h * own), mean}};
  });
  const double others = sums.of[1], shared = (sums.of[0] + others) / row.ratios(),
               mean = sums.of[2] / row.ratios();
  const Totals<3> in_alphas = columns.template sum<3>([&](index_t j) {
    const Node node = row.at(j);
    if (node.off()) {
      write(j, 0.0, 0.0);
      return Totals<3>{};
    }
    const bool is_k = j == row.k();
    const double x = row.product(shift, x_k, node, j), h = centred.h(j), b = bounded(h * bend(node, x, j));
    const double in_scores =
        is_k ? row.other_ratios() * shared - others : row.scaled_s(node) * b - row.ratio(node, j) * shared;
    const double moved = row.unit().number(x) - saturated(node.p * direction.weight(j));  // w dp
    write(j, of_score.number(in_scores),
          saturated(h * moved / node.w) - saturated(node.p * of_bend.number(mean)));
    if (!in_alpha) return Totals<3>{};
    const double along = is_k ? 0.0 : bounded(-(b - mean) * row.template alpha_product<1>(node, j));
    const double own =
        is_k || direction.alpha == 0 ? 0.0 : h * direction.alpha * row.template alpha_product<2>(node, j);
    return Totals<3>{{along, -h * node.l() * x, h * node.l() * node.p * direction.weight(j) - own}};
  });
  return of_bend.number(in_alphas.of[0]) + row.unit().number(in_alphas.of[1]) + saturated(in_alphas.of[2]);
}

}  // namespace fenchel::detail
