#pragma once

#include <cstddef>
#include <vector>

#include "core/compensated_sum.hpp"
#include "estimate/density/autoconvolution.hpp"
#include "estimate/density/kernel.hpp"
#include "estimate/density/point_tree.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/core/parallel.hpp"

namespace fenchel::detail {

/// The sum of w_i value(coordinates, place) over the points of a tree, added in their order.
template <class Value>
[[nodiscard]] double sum_over_points(const PointTree& tree, const Value& value) {
  constexpr index_t kCost = 1000;
  std::vector<double> values(static_cast<std::size_t>(tree.size()));
  const index_t n = tree.dimension();
  const int workers = workers_for(tree.size(), kCost);
  std::vector<double> points(static_cast<std::size_t>(workers * n));
  parallel_rows(tree.size(), workers, [&](index_t begin, index_t end, int worker) noexcept {
    double* const point = points.data() + worker * n;
    for (index_t place = begin; place < end; ++place) {
      for (index_t j = 0; j < n; ++j) point[j] = tree.coordinate(place, j);
      values[static_cast<std::size_t>(place)] = tree.point_weight(place) * value(point, place);
    }
  });
  CompensatedSum sum;
  bool infinite = false;
  for (const double x : values) {
    infinite = infinite || x == -kInfinity;
    sum.add(x);
  }
  return infinite ? -kInfinity : sum.total();
}

/// The sums over the points of a tree of w_i (K * K)(t - x_i), K the kernel of alpha > 1 whose radius is
/// 1 / unit in units of the tree's scale (docs/math.md 10.4). On the line with alpha = 1 + 1/s boxes beside
/// the query add a polynomial's Taylor series; otherwise points are summed.
class AutoconvolutionSum {
 public:
  AutoconvolutionSum(const PointTree& tree, const Autoconvolution& table, int degree);
  [[nodiscard]] double operator()(const double* query, double unit) const noexcept;

 private:
  using Node = PointTree::Node;
  struct Query;
  void visit(const Node& node, Query& query) const noexcept;
  [[nodiscard]] double node_sum(const Node& node, const Query& query, double delta) const noexcept;

  const PointTree& tree_;
  const Autoconvolution& table_;
  std::vector<double> polynomial_, inverse_scale_;
};

/// The sums over the points of a tree on the line of w_i He_order(x) phi(x), x = (t - x_i) / g, phi the
/// standard normal density: its derivative of this order but for the sign.
class NormalDerivativeSum {
 public:
  explicit NormalDerivativeSum(const PointTree& tree, int order);
  [[nodiscard]] double operator()(double t, double g) const noexcept;

 private:
  using Node = PointTree::Node;
  void visit(const Node& node, double t, double unit, double& sum) const noexcept;

  const PointTree& tree_;
  int order_;
  TaylorRadius taylor_radius_;
};

}  // namespace fenchel::detail
