#include "estimate/density/line_cdf.hpp"

#include <algorithm>
#include <cmath>

#include "estimate/density/taylor_series.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {
namespace {

/// e^{-x} beyond is less than half an ulp of 1.
constexpr double kReach = 37;

}  // namespace

LineCdf::LineCdf(const PointTree& tree, const RadialKernel& kernel, double alpha)
    : tree_(tree), kernel_(kernel), inverse_scale_(1 / tree.scale()[0]), unit_(std::sqrt(kernel.inverse)) {
  const UnitKernel unit = unit_kernel(1, alpha);
  const bool gaussian = kernel.profile == KernelProfile::gaussian;
  const double sigma = gaussian ? std::sqrt(0.5) / unit_ : 1 / (unit_ * std::sqrt(unit.constants.radius2));
  closed_ = closed_form(unit.constants, 0, sigma);
  if (closed_.s == ClosedLine::kNone) general_ = general_line(unit.constants, 0, sigma);
  const double rate = gaussian ? 1 : kernel.exponent;
  reach_ = gaussian ? std::sqrt(kReach) : std::min(1.0, std::sqrt(kReach / rate));
  if (kernel.degree() < 0) taylor_radius_ = TaylorRadius(kernel);
}

double LineCdf::kernel_cdf(double d) const noexcept {
  switch (closed_.s) {
    case ClosedLine::kNone:
      return cdf(general_, d);
    case ClosedLine::kGaussian:
      return cdf_element<ClosedLine::kGaussian>(d / closed_.width);
    case 0:
      return cdf_element<0>(d / closed_.width);
    case 1:
      return cdf_element<1>(d / closed_.width);
    case 2:
      return cdf_element<2>(d / closed_.width);
    default:
      return cdf_element<3>(d / closed_.width);
  }
}

/// F(d - y) = F(d) less the integral of the series up to y.
double LineCdf::node_sum(const Node& node, double delta) const noexcept {
  TaylorCoefficients series;
  const index_t terms = std::min(taylor_coefficients(kernel_, delta, series), tree_.powers() - 1);
  const double* const m = tree_.sums(node);
  double sum = 0;
  for (index_t k = 0; k < terms; ++k)
    sum += series[static_cast<std::size_t>(k)] * m[k + 1] / static_cast<double>(k + 1);
  return m[0] * kernel_cdf(delta) - kernel_.peak * sum;
}

void LineCdf::visit(const Node& node, double t, double& sum) const noexcept {
  const double delta = (t - *tree_.centre(node)) * inverse_scale_, half = *tree_.half_sides(node);
  if ((delta - half) * unit_ >= reach_) {
    sum += tree_.node_weight(node);
    return;
  }
  if ((delta + half) * unit_ <= -reach_) return;
  const bool series = kernel_.degree() >= 0 ? (std::abs(delta) + half) * unit_ <= 1
                                            : half * unit_ <= taylor_radius_(std::abs(delta) * unit_);
  if (series) {
    sum += node_sum(node, delta);
  } else if (node.is_leaf()) {
    const double* const x = tree_.leaf_coordinates(node);
    const double* const w = tree_.leaf_weights(node);
    for (index_t i = 0; i < kLeafPoints; ++i)
      if (w[i] > 0) sum += w[i] * kernel_cdf((t - x[i]) * inverse_scale_);
  } else {
    visit(node.left(), t, sum);
    visit(node.right(), t, sum);
  }
}

double LineCdf::operator()(double t) const noexcept {
  if (std::isnan(t)) return t;
  if (std::isinf(t)) return t > 0 ? tree_.weight() : 0;
  double sum = 0;
  visit(tree_.root(), t, sum);
  return std::clamp(sum, 0.0, tree_.weight());
}

}  // namespace fenchel::detail
