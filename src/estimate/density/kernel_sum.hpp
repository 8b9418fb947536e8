#pragma once

#include <vector>

#include "estimate/density/kernel.hpp"
#include "estimate/density/leaf_sums.hpp"
#include "estimate/density/point_tree.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// Which sums the nodes of a tree need for a kernel of this alpha, and how many powers.
void keep_sums_for(PointTree& tree, double alpha);

/// What lies between a query and a node, in units of the tree's scale.
struct NodeDistance {
  double near, far;  ///< squares of the least and the largest distance to its box
};
[[nodiscard]] NodeDistance node_distance(const PointTree& tree, const PointTree::Node& node,
                                         const double* query, const double* inverse_scale) noexcept;

/// Sums of w_i profile(inverse |t - x_i|^2) over the points of a tree (docs/math.md 11.2). Boxes beyond the
/// support are skipped, boxes within it add up what their sums say, and points are summed between. For
/// kernels that do not end boxes are skipped whose points together are less than 2^-53 of the result. The
/// tree and the kernel must outlive it.
class KernelSum {
 public:
  KernelSum(const PointTree& tree, const RadialKernel& kernel);

  /// The sum at a query, without the point at `excluded`, a place in the tree; NaN for NaN.
  [[nodiscard]] double operator()(const double* query, index_t excluded = -1) const noexcept;
  /// Its logarithm, also where the sum underflows.
  [[nodiscard]] double log(const double* query, index_t excluded = -1) const noexcept;

  [[nodiscard]] const double* inverse_scale() const noexcept { return inverse_scale_.data(); }

 private:
  using Node = PointTree::Node;
  struct Query;
  [[nodiscard]] double node_sum(const Node& node, const double* query) const noexcept;
  [[nodiscard]] double taylor_sum(const Node& node, double delta) const noexcept;
  [[nodiscard]] LeafView view(const Node& node, const double* query) const noexcept;
  [[nodiscard]] bool bare(const Node& node, const Query& query) const noexcept;
  [[nodiscard]] double points_sum(const Node& leaf, const Query& query) const noexcept;
  template <class Visit>
  void visit_children(const Node& node, const double* query, const Visit& visit) const noexcept;
  void visit_polynomial(const Node& node, Query& query) const noexcept;
  void visit(const Node& node, double near, Query& query) const noexcept;
  void nearest(const Node& node, double near, const double* query, index_t excluded,
               double& best) const noexcept;
  void far_sum(const Node& node, double near, const double* query, index_t excluded, double least,
               double& sum) const noexcept;

  const PointTree& tree_;
  const RadialKernel& kernel_;
  std::vector<double> inverse_scale_;
  int degree_;  ///< s of a polynomial (1 - x)^s, else -1
  double unit_;
  TaylorRadius taylor_radius_;
};

}  // namespace fenchel::detail
