#include "estimate/density/pair_sums.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "estimate/density/kernel_sum.hpp"
#include "estimate/density/leaf_sums.hpp"

namespace fenchel::detail {

AutoconvolutionSum::AutoconvolutionSum(const PointTree& tree, const Autoconvolution& table, int degree)
    : tree_(tree), table_(table) {
  if (tree.dimension() == 1 && degree >= 0) polynomial_ = autoconvolution_polynomial(degree);
  for (const double unit : tree.scale()) inverse_scale_.push_back(1 / unit);
}

struct AutoconvolutionSum::Query {
  const double* at;
  double unit;
  double sum = 0;
};

/// About a = 1 - |delta| unit / 2 the polynomial is shifted by Horner's rule.
double AutoconvolutionSum::node_sum(const Node& node, const Query& query, double delta) const noexcept {
  constexpr std::size_t kMost = 14;
  double c[kMost];
  const std::size_t size = polynomial_.size();
  std::copy(polynomial_.begin(), polynomial_.end(), c);
  const double a = 1 - std::abs(delta) * query.unit / 2;
  for (std::size_t i = 0; i + 1 < size; ++i)
    for (std::size_t j = size - 1; j > i; --j) c[j - 1] += a * c[j];
  const double step = std::copysign(query.unit / 2, delta);
  const double* const m = tree_.sums(node);
  double power = 1, sum = 0;
  for (std::size_t k = 0; k < size; ++k, power *= step) sum += c[k] * power * m[k];
  return sum;
}

void AutoconvolutionSum::visit(const Node& node, Query& query) const noexcept {
  const NodeDistance distance = node_distance(tree_, node, query.at, inverse_scale_.data());
  const double end = 2 / query.unit;
  if (!(distance.near < end * end)) return;
  if (!polynomial_.empty() && distance.near > 0 && distance.far <= end * end) {
    query.sum += node_sum(node, query, (query.at[0] - *tree_.centre(node)) * inverse_scale_[0]);
  } else if (node.is_leaf()) {
    const LeafView leaf{tree_.leaf_coordinates(node), tree_.stride(),   tree_.leaf_weights(node), query.at,
                        inverse_scale_.data(),        tree_.dimension()};
    double x[kLeafPoints];
    leaf_squares(query.unit * query.unit, leaf, x);
    for (index_t i = 0; i < kLeafPoints; ++i)
      if (x[i] < 4) query.sum += leaf.weights[i] * table_(std::sqrt(x[i]));
  } else {
    visit(node.left(), query);
    visit(node.right(), query);
  }
}

double AutoconvolutionSum::operator()(const double* query, double unit) const noexcept {
  Query state{query, unit};
  visit(tree_.root(), state);
  return state.sum;
}

NormalDerivativeSum::NormalDerivativeSum(const PointTree& tree, int order)
    : tree_(tree), order_(order), taylor_radius_(radial_kernel("kernel", 1, 1, 1)) {}

void NormalDerivativeSum::visit(const Node& node, double t, double unit, double& sum) const noexcept {
  // He_6 phi beyond is less than 1e-17 of its value at 0.
  constexpr double kReach = 10.5;
  const double delta = (t - *tree_.centre(node)) * unit;
  const double half = *tree_.half_sides(node) * tree_.scale()[0] * unit;
  if (std::abs(delta) - half > kReach) return;
  const auto normal = [](double x) {
    return std::exp(-x * x / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  };
  // The series of a derivative leaves more than that of the density, which half of the radius makes up for.
  constexpr double kShare = 0.5;
  if (half <= kShare * std::numbers::sqrt2 * taylor_radius_(std::abs(delta) / std::numbers::sqrt2)) {
    const double* const m = tree_.sums(node);
    double before = 0, now = normal(delta), power = 1;
    for (int k = 0; k < order_ + kTaylorTerms; ++k) {
      if (k >= order_) {
        sum += now * power * m[k - order_];
        power *= tree_.scale()[0] * unit / (k - order_ + 1);
      }
      const double next = delta * now - k * before;
      before = now;
      now = next;
    }
  } else if (node.is_leaf()) {
    const double* const x = tree_.leaf_coordinates(node);
    const double* const w = tree_.leaf_weights(node);
    for (index_t i = 0; i < kLeafPoints; ++i) {
      if (!(w[i] > 0)) continue;
      const double z = (t - x[i]) * unit;
      double before = 0, now = normal(z);
      for (int k = 0; k < order_; ++k) {
        const double next = z * now - k * before;
        before = now;
        now = next;
      }
      sum += w[i] * now;
    }
  } else {
    visit(node.left(), t, unit, sum);
    visit(node.right(), t, unit, sum);
  }
}

double NormalDerivativeSum::operator()(double t, double g) const noexcept {
  double sum = 0;
  visit(tree_.root(), t, 1 / g, sum);
  return sum;
}

}  // namespace fenchel::detail
