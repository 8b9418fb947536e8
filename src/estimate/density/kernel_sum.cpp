#include "estimate/density/kernel_sum.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "estimate/density/taylor_series.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {
namespace {

/// The sums of w z^k, z = a (2 d.y - |y|^2), over a node of the line or of R^n.
using Contractions = std::array<double, 4>;

Contractions contract_line(const double* m, double d, double a, int degree) noexcept {
  Contractions z{m[0], 0, 0, 0};
  if (degree >= 1) z[1] = a * (2 * d * m[1] - m[2]);
  if (degree >= 2) z[2] = a * a * (4 * d * (d * m[2] - m[3]) + m[4]);
  if (degree >= 3) z[3] = a * a * a * (d * (d * (8 * d * m[3] - 12 * m[4]) + 6 * m[5]) - m[6]);
  return z;
}

double dot(const double* m, const double* d, index_t n) noexcept {
  double sum = 0;
  for (index_t i = 0; i < n; ++i) sum += m[i] * d[i];
  return sum;
}

double form(const double* m, const double* d, index_t n) noexcept {
  double sum = 0;
  for (index_t i = 0; i < n; ++i) sum += d[i] * dot(m + i * n, d, n);
  return sum;
}

double cubic(const double* m, const double* d, index_t n) noexcept {
  double sum = 0;
  for (index_t i = 0; i < n; ++i) sum += d[i] * form(m + i * n * n, d, n);
  return sum;
}

Contractions contract(const double* m, const double* d, index_t n, double a, int degree) noexcept {
  Contractions z{m[0], 0, 0, 0};
  if (degree >= 1) z[1] = a * (2 * dot(m + 1, d, n) - m[1 + n]);
  if (degree >= 2) {
    const double* const second = m + n + 2;
    const double* const after = second + n * n;
    z[2] = a * a * (4 * (form(second, d, n) - dot(after, d, n)) + after[n]);
  }
  if (degree >= 3) {
    const double* const third = m + (n + 2) + (n * n + n + 1);
    const double* const second = third + n * n * n;
    const double* const after = second + n * n;
    z[3] = a * a * a * (8 * cubic(third, d, n) - 12 * form(second, d, n) + 6 * dot(after, d, n) - after[n]);
  }
  return z;
}

/// The logarithm of 2^53: boxes that add less than this share are skipped.
constexpr double kNegligible = 36.74;

}  // namespace

void keep_sums_for(PointTree& tree, double alpha) {
  const int degree = radial_kernel("kernel", tree.dimension(), alpha, 1).degree();
  if (tree.dimension() == 1) {
    // The convolution of the kernel with itself has degree 4 s + 1.
    tree.keep_sums(NodeSums::powers, degree < 0 ? kTaylorTerms : 4 * degree + 2);
  } else {
    constexpr NodeSums kSums[] = {NodeSums::none, NodeSums::none, NodeSums::paraboloid, NodeSums::biweight,
                                  NodeSums::triweight};
    tree.keep_sums(kSums[degree + 1]);
  }
}

NodeDistance node_distance(const PointTree& tree, const PointTree::Node& node, const double* query,
                           const double* inverse_scale) noexcept {
  const double* const centre = tree.centre(node);
  const double* const half = tree.half_sides(node);
  double near = 0, far = 0;
  for (index_t j = 0; j < tree.dimension(); ++j) {
    const double distance = std::abs(query[j] - centre[j]) * inverse_scale[j];
    const double least = std::max(0.0, distance - half[j]), most = distance + half[j];
    near += least * least;
    far += most * most;
  }
  return {near, far};
}

struct KernelSum::Query {
  const double* at;
  index_t excluded;
  double sum = 0;
  double limit = kInfinity;  ///< exponent * x from which on boxes are skipped
};

KernelSum::KernelSum(const PointTree& tree, const RadialKernel& kernel)
    : tree_(tree), kernel_(kernel), degree_(kernel.degree()), unit_(std::sqrt(kernel.inverse)) {
  for (const double unit : tree.scale()) inverse_scale_.push_back(1 / unit);
  if (tree.dimension() == 1 && degree_ < 0) taylor_radius_ = TaylorRadius(kernel);
}

LeafView KernelSum::view(const Node& node, const double* query) const noexcept {
  return {tree_.leaf_coordinates(node), tree_.stride(),   tree_.leaf_weights(node), query,
          inverse_scale_.data(),        tree_.dimension()};
}

/// Of a node within the support of a polynomial kernel.
double KernelSum::node_sum(const Node& node, const double* query) const noexcept {
  constexpr index_t kMost = kMostSums;
  if (degree_ == 0) return tree_.node_weight(node);
  const index_t n = tree_.dimension();
  const double* const centre = tree_.centre(node);
  double d[kMost], norm = 0;
  for (index_t j = 0; j < n; ++j) {
    d[j] = (query[j] - centre[j]) * inverse_scale_[static_cast<std::size_t>(j)];
    norm += d[j] * d[j];
  }
  const double a = kernel_.inverse, v = 1 - a * norm;
  const double* const m = tree_.sums(node);
  const Contractions z = n == 1 ? contract_line(m, d[0], a, degree_) : contract(m, d, n, a, degree_);
  if (degree_ == 1) return v * z[0] + z[1];
  if (degree_ == 2) return v * (v * z[0] + 2 * z[1]) + z[2];
  return v * (v * (v * z[0] + 3 * z[1]) + 3 * z[2]) + z[3];
}

double KernelSum::taylor_sum(const Node& node, double delta) const noexcept {
  TaylorCoefficients series;
  const index_t terms = taylor_coefficients(kernel_, delta, series);
  const double* const m = tree_.sums(node);
  double sum = 0;
  for (index_t k = 0; k < terms; ++k) sum += series[static_cast<std::size_t>(k)] * m[k];
  return sum;
}

bool KernelSum::bare(const Node& node, const Query& query) const noexcept {
  return query.excluded < node.first_leaf * kLeafPoints || query.excluded >= node.last_leaf * kLeafPoints;
}

double KernelSum::points_sum(const Node& leaf, const Query& query) const noexcept {
  return leaf_sum(kernel_, view(leaf, query.at),
                  bare(leaf, query) ? -1 : query.excluded - leaf.first_leaf * kLeafPoints);
}

void KernelSum::visit_polynomial(const Node& node, Query& query) const noexcept {
  const NodeDistance distance = node_distance(tree_, node, query.at, inverse_scale_.data());
  if (!(distance.near * kernel_.inverse < 1)) return;
  const bool whole = degree_ == 0 || tree_.kind() != NodeSums::none;
  if (whole && distance.far * kernel_.inverse <= 1 && bare(node, query)) {
    query.sum += node_sum(node, query.at);
  } else if (node.is_leaf()) {
    query.sum += points_sum(node, query);
  } else {
    visit_polynomial(node.left(), query);
    visit_polynomial(node.right(), query);
  }
}

void KernelSum::visit(const Node& node, double near, Query& query) const noexcept {
  const double x = near * kernel_.inverse;
  const bool power = kernel_.profile == KernelProfile::power;
  if (power && !(x < 1)) return;
  // The profile is at most e^{-exponent x}.
  if (!kernel_.ends() && x * (power ? kernel_.exponent : 1) > query.limit) return;
  if (node.is_leaf()) {
    query.sum += points_sum(node, query);
  } else {
    const double delta = (query.at[0] - *tree_.centre(node)) * inverse_scale_[0];
    const bool series = tree_.kind() == NodeSums::powers &&
                        *tree_.half_sides(node) * unit_ <= taylor_radius_(std::abs(delta) * unit_);
    if (!series || !bare(node, query)) {
      return visit_children(node, query.at, [&](const Node& child, double to) { visit(child, to, query); });
    }
    query.sum += taylor_sum(node, delta);
  }
  if (!kernel_.ends() && query.sum > 0) query.limit = std::log(tree_.weight() / query.sum) + kNegligible;
}

double KernelSum::operator()(const double* query, index_t excluded) const noexcept {
  for (index_t j = 0; j < tree_.dimension(); ++j) {
    if (std::isnan(query[j])) return query[j];
    if (std::isinf(query[j])) return 0;
  }
  Query state{query, excluded};
  if (degree_ >= 0)
    visit_polynomial(tree_.root(), state);
  else
    visit(tree_.root(), node_distance(tree_, tree_.root(), query, inverse_scale_.data()).near, state);
  // Rounding may leave less than nothing of a sum over a box that the support just reaches.
  return std::max(state.sum, 0.0);
}

void KernelSum::nearest(const Node& node, double near, const double* query, index_t excluded,
                        double& best) const noexcept {
  if (!(near < best)) return;
  if (node.is_leaf()) {
    double x[kLeafPoints];
    leaf_squares(1, view(node, query), x);
    const index_t begin = node.first_leaf * kLeafPoints;
    for (index_t i = 0; i < kLeafPoints; ++i)
      if (begin + i != excluded) best = std::min(best, x[i]);
    return;
  }
  visit_children(node, query,
                 [&](const Node& child, double to) { nearest(child, to, query, excluded, best); });
}

double KernelSum::log(const double* query, index_t excluded) const noexcept {
  constexpr double kSmall = 1e-280;
  const double sum = (*this)(query, excluded);
  if (kernel_.ends() || !(sum < kSmall * tree_.weight())) return std::log(sum);
  double best = kInfinity, far = 0;
  nearest(tree_.root(), 0, query, excluded, best);
  for_each_near(query, excluded, [&](index_t, double share) { far += share; });
  return far > 0 ? kernel_.log_profile(best * kernel_.inverse) + std::log(far) : -kInfinity;
}

}  // namespace fenchel::detail
