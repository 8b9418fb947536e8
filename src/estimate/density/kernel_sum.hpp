#pragma once

#include <cmath>
#include <vector>

#include "estimate/density/kernel.hpp"
#include "estimate/density/leaf_sums.hpp"
#include "estimate/density/point_tree.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {

/// Which sums the nodes of a tree need for a kernel of this alpha, and how many powers.
void keep_sums_for(PointTree& tree, double alpha);

/// What lies between a query and a node, in units of the tree's scale.
struct NodeDistance {
  double near, far;  ///< squares of the least and the largest distance to its box
};
[[nodiscard]] NodeDistance node_distance(const PointTree& tree, const PointTree::Node& node,
                                         const double* query, const double* inverse_scale) noexcept;

/// Sums of w_i profile(inverse |t - x_i|^2) over the points of a tree (docs/math.md 10.2). Boxes beyond the
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

  /// visit(place, share) for each point that counts, share its w profile over the largest profile of one of
  /// them where kernels do not end.
  template <class Visit>
  void for_each_near(const double* query, index_t excluded, const Visit& visit) const {
    double best = kInfinity;
    nearest(tree_.root(), 0, query, excluded, best);
    const double least = kernel_.ends() ? 0 : kernel_.log_profile(best * kernel_.inverse);
    if (best * kernel_.inverse < kInfinity && least > -kInfinity)
      visit_near(tree_.root(), 0, query, excluded, least, visit);
  }

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
  void visit_children(const Node& node, const double* query, const Visit& visit) const;
  void visit_polynomial(const Node& node, Query& query) const noexcept;
  void visit(const Node& node, double near, Query& query) const noexcept;
  void nearest(const Node& node, double near, const double* query, index_t excluded,
               double& best) const noexcept;
  template <class Visit>
  void visit_near(const Node& node, double near, const double* query, index_t excluded, double least,
                  const Visit& visit) const;

  const PointTree& tree_;
  const RadialKernel& kernel_;
  std::vector<double> inverse_scale_;
  int degree_;  ///< s of a polynomial (1 - x)^s, else -1
  double unit_;
  TaylorRadius taylor_radius_;
};

/// Shares below are not felt beside those of as many points as there can be.
inline constexpr double kSmallestShare = -80;

template <class Visit>
void KernelSum::visit_children(const Node& node, const double* query, const Visit& visit) const {
  const Node left = node.left(), right = node.right();
  const double to_left = node_distance(tree_, left, query, inverse_scale_.data()).near;
  const double to_right = node_distance(tree_, right, query, inverse_scale_.data()).near;
  if (to_left <= to_right) {
    visit(left, to_left);
    visit(right, to_right);
  } else {
    visit(right, to_right);
    visit(left, to_left);
  }
}

template <class Visit>
void KernelSum::visit_near(const Node& node, double near, const double* query, index_t excluded, double least,
                           const Visit& visit) const {
  if (!(kernel_.log_profile(near * kernel_.inverse) >= least + kSmallestShare)) return;
  if (!node.is_leaf()) {
    return visit_children(node, query, [&](const Node& child, double to) {
      visit_near(child, to, query, excluded, least, visit);
    });
  }
  double x[kLeafPoints];
  leaf_squares(kernel_.inverse, view(node, query), x);
  for (index_t i = 0; i < kLeafPoints; ++i) {
    const index_t place = node.first_leaf * kLeafPoints + i;
    const double share = tree_.leaf_weights(node)[i] * std::exp(kernel_.log_profile(x[i]) - least);
    if (place != excluded && share > 0) visit(place, share);
  }
}

}  // namespace fenchel::detail
