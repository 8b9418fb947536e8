#include "estimate/density/point_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fenchel/core/checkpoint.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/core/parallel.hpp"

namespace fenchel::detail {
namespace {

/// How many numbers a node keeps: w, w y, w |y|^2; w y y^T, w |y|^2 y, w |y|^4; w y y y, w |y|^2 y y^T, ...
index_t sum_count(NodeSums sums, index_t n, index_t powers) {
  const index_t first = n + 2, second = n * n + n + 1, third = n * n * n + n * n + n + 1;
  switch (sums) {
    case NodeSums::none:
      return 0;
    case NodeSums::powers:
      return powers;
    case NodeSums::paraboloid:
      return first;
    case NodeSums::biweight:
      return first + second;
    case NodeSums::triweight:
      return first + second + third;
  }
  return 0;
}

}  // namespace

PointTree::PointTree(std::string_view where, Rows<const double> points, std::span<const double> weights,
                     std::span<const double> scale)
    : dimension_(points.cols), scale_(scale.begin(), scale.end()) {
  if (points.rows == 0 || points.cols == 0)
    throw_invalid_argument(where, "points", "must not be empty", points.rows);
  if (!weights.empty() && std::ssize(weights) != points.rows)
    throw_invalid_argument(where, "weights", "must be one for each point", std::ssize(weights));
  double total = 0;
  for (index_t i = 0; i < points.rows; ++i) {
    checkpoint_at(i);
    for (const double x : points[i])
      if (!std::isfinite(x)) throw_domain_error(where, indexed("points", i), "must be finite", x);
    const double w = weights.empty() ? 1 : weights[at(i)];
    if (!(w >= 0)) throw_domain_error(where, indexed("weights", i), "must not be negative", w);
    total += w;
    if (w > 0) rows_.push_back(i);
  }
  if (!(total > 0 && total < kInfinity))
    throw_domain_error(where, "the sum of the weights", "must be positive and finite", total);
  size_ = std::ssize(rows_);
  leaves_ = (size_ + kLeafPoints - 1) / kLeafPoints;
  boxes_.resize(at(2 * (2 * leaves_ - 1) * dimension_));
  node_weights_.resize(at(2 * leaves_ - 1));
  cut(points, root());

  coordinates_.assign(at(dimension_ * stride()), kInfinity);
  weights_.assign(at(stride()), 0);
  for (index_t place = 0; place < size_; ++place) {
    checkpoint_at(place);
    for (index_t j = 0; j < dimension_; ++j)
      coordinates_[at(j * stride() + place)] = points.row(row(place))[j];
    weights_[at(place)] = weights.empty() ? 1 : weights[at(row(place))];
  }
  enclose(root());
}

/// Leaves hold rows with a full number of points each but the last. Ties are cut by the number of the row, so
/// that the tree depends on the data alone. On the line the points are sorted.
void PointTree::cut(Rows<const double> points, const Node& node) {
  checkpoint();
  const auto begin = rows_.begin() + node.first_leaf * kLeafPoints;
  const auto end = rows_.begin() + std::min(node.last_leaf * kLeafPoints, size_);
  const auto before = [&](index_t j) {
    return [&points, j](index_t a, index_t b) {
      const double x = points.row(a)[j], y = points.row(b)[j];
      return x < y || (x == y && a < b);
    };
  };
  if (dimension_ == 1) return std::sort(begin, end, before(0));
  if (node.is_leaf()) return;
  index_t longest = 0;
  double length = -1;
  for (index_t j = 0; j < dimension_; ++j) {
    double low = kInfinity, high = -kInfinity;
    for (auto i = begin; i != end; ++i) {
      low = std::min(low, points.row(*i)[j]);
      high = std::max(high, points.row(*i)[j]);
    }
    if ((high - low) / scale_[at(j)] > length) {
      length = (high - low) / scale_[at(j)];
      longest = j;
    }
  }
  std::nth_element(begin, rows_.begin() + node.middle() * kLeafPoints, end, before(longest));
  cut(points, node.left());
  cut(points, node.right());
}

void PointTree::enclose(const Node& node) {
  if (!node.is_leaf()) {
    enclose(node.left());
    enclose(node.right());
  }
  const index_t begin = node.first_leaf * kLeafPoints, end = std::min(node.last_leaf * kLeafPoints, size_);
  double* const centre = boxes_.data() + 2 * node.index * dimension_;
  for (index_t j = 0; j < dimension_; ++j) {
    double low = kInfinity, high = -kInfinity;
    if (node.is_leaf()) {
      for (index_t i = begin; i < end; ++i) {
        low = std::min(low, coordinate(i, j));
        high = std::max(high, coordinate(i, j));
      }
    } else {
      for (const Node& child : {node.left(), node.right()}) {
        const double middle = this->centre(child)[j], half = half_sides(child)[j] * scale_[at(j)];
        low = std::min(low, middle - half);
        high = std::max(high, middle + half);
      }
    }
    // Rounded up, so that no point is outside.
    centre[j] = low / 2 + high / 2;
    const double half = std::max(high - centre[j], centre[j] - low) / scale_[at(j)];
    centre[dimension_ + j] = half * (1 + 4 * std::numeric_limits<double>::epsilon());
  }
  double total = 0;
  if (node.is_leaf()) {
    for (index_t i = begin; i < end; ++i) total += point_weight(i);
  } else {
    total = node_weight(node.left()) + node_weight(node.right());
  }
  node_weights_[at(node.index)] = total;
}

void PointTree::keep_sums(NodeSums sums, index_t powers) {
  kind_ = sums;
  sums_per_node_ = sum_count(sums, dimension_, powers);
  if (sums_per_node_ > kMostSums) return keep_sums(NodeSums::none);
  sums_.assign(at((2 * leaves_ - 1) * sums_per_node_), 0);
  if (sums_per_node_ == 0) return;
  // The nodes by their numbers: those of a level have points enough for all threads.
  std::vector<Node> level{root()}, next;
  while (!level.empty()) {
    parallel_rows(std::ssize(level), workers_for(size_, 2 * sums_per_node_),
                  [&](index_t begin, index_t end, int) noexcept {
                    for (index_t i = begin; i < end; ++i) add_up(level[at(i)]);
                  });
    next.clear();
    for (const Node& node : level) {
      if (node.is_leaf()) continue;
      next.push_back(node.left());
      next.push_back(node.right());
    }
    level.swap(next);
  }
}

void PointTree::add_up(const Node& node) {
  const index_t begin = node.first_leaf * kLeafPoints, end = std::min(node.last_leaf * kLeafPoints, size_);
  const index_t n = dimension_;
  double* const out = sums_.data() + node.index * sums_per_node_;
  if (kind_ == NodeSums::powers) {
    const double middle = *centre(node), unit = scale_[0];
    for (index_t i = begin; i < end; ++i) {
      const double y = (coordinate(i, 0) - middle) / unit;
      double power = point_weight(i);
      for (index_t k = 0; k < sums_per_node_; ++k, power *= y) out[k] += power;
    }
    return;
  }
  double y[kMostSums];
  for (index_t i = begin; i < end; ++i) {
    double norm = 0;
    for (index_t j = 0; j < n; ++j) {
      y[j] = (coordinate(i, j) - centre(node)[j]) / scale_[at(j)];
      norm += y[j] * y[j];
    }
    double* to = out;
    // w |y|^(2 b) times the products of no, one, two or three coordinates.
    const auto add = [&](double factor, int coordinates) {
      if (coordinates == 0) {
        *to++ += factor;
      } else if (coordinates == 1) {
        for (index_t a = 0; a < n; ++a) *to++ += factor * y[a];
      } else if (coordinates == 2) {
        for (index_t a = 0; a < n; ++a)
          for (index_t b = 0; b < n; ++b) *to++ += factor * y[a] * y[b];
      } else {
        for (index_t a = 0; a < n; ++a)
          for (index_t b = 0; b < n; ++b)
            for (index_t c = 0; c < n; ++c) *to++ += factor * y[a] * y[b] * y[c];
      }
    };
    const double w = point_weight(i);
    const int degree = kind_ == NodeSums::paraboloid ? 1 : kind_ == NodeSums::biweight ? 2 : 3;
    add(w, 0);
    for (int s = 1; s <= degree; ++s) {
      double factor = w;
      for (int coordinates = s; coordinates >= 0; --coordinates, factor *= norm) add(factor, coordinates);
    }
  }
}

}  // namespace fenchel::detail
