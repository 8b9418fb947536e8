#pragma once

#include "core/beta_gaussian/closed_line.hpp"
#include "core/beta_gaussian/general_line.hpp"
#include "estimate/density/kernel.hpp"
#include "estimate/density/point_tree.hpp"

namespace fenchel::detail {

/// Sums of w_i F(t - x_i) over the points of a tree on the line, F the distribution function of the kernel
/// (docs/math.md 10.2): boxes left of the support add their weight, boxes within it a Taylor series. The tree
/// and the kernel must outlive it.
class LineCdf {
 public:
  LineCdf(const PointTree& tree, const RadialKernel& kernel, double alpha);
  [[nodiscard]] double operator()(double t) const noexcept;

 private:
  using Node = PointTree::Node;
  void visit(const Node& node, double t, double& sum) const noexcept;
  [[nodiscard]] double kernel_cdf(double d) const noexcept;
  [[nodiscard]] double node_sum(const Node& node, double delta) const noexcept;

  const PointTree& tree_;
  const RadialKernel& kernel_;
  double inverse_scale_, unit_, reach_;
  ClosedLine closed_;
  GeneralLine general_;
  TaylorRadius taylor_radius_;
};

}  // namespace fenchel::detail
