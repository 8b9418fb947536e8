#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/rows.hpp"

namespace fenchel::detail {

/// Points of a leaf. The last leaf is filled up with points at infinity that weigh nothing.
inline constexpr index_t kLeafPoints = 32;
/// A node with more sums would take longer than its points, and more memory.
inline constexpr index_t kMostSums = 64;

/// Which sums over its points a node of the tree keeps.
enum class NodeSums {
  none,        ///< the weight alone
  powers,      ///< on the line: sum w y^k
  paraboloid,  ///< in R^N: of w |y|^2a y..y, what (c + 2 d.y - |y|^2)^s needs for s = 1
  biweight,    ///< for s = 2
  triweight,   ///< for s = 3
};

/// Weighted points of R^N in a balanced tree of boxes, each cut in the middle across its longest side [J.
/// Bentley, Comm. ACM 18 (1975)]. Lengths are in units of `scale`, one for each coordinate. y is the distance
/// of a point from the centre of its node in these units. Sums over a node are about its own centre, so that
/// they cancel no more where the data are far from 0.
class PointTree {
 public:
  /// A node is all that its range of leaves needs: children follow their parent, the left one first.
  struct Node {
    index_t index, first_leaf, last_leaf;  ///< last_leaf is one past the end
    [[nodiscard]] bool is_leaf() const noexcept { return last_leaf - first_leaf == 1; }
    [[nodiscard]] Node left() const noexcept { return {index + 1, first_leaf, middle()}; }
    [[nodiscard]] Node right() const noexcept {
      return {index + 2 * (middle() - first_leaf), middle(), last_leaf};
    }
    [[nodiscard]] index_t middle() const noexcept { return (first_leaf + last_leaf) / 2; }
  };

  /// Rows of weight 0 are left out. Throws std::domain_error for a coordinate that is not finite, a weight
  /// that is negative or not finite, and weights without a sum; std::invalid_argument for no points.
  PointTree(std::string_view where, Rows<const double> points, std::span<const double> weights,
            std::span<const double> scale);
  /// Keeps these sums, with this number of powers; none where they would be too many.
  void keep_sums(NodeSums sums, index_t powers = 0);

  [[nodiscard]] index_t dimension() const noexcept { return dimension_; }
  /// How many points have weight.
  [[nodiscard]] index_t size() const noexcept { return size_; }
  [[nodiscard]] double weight() const noexcept { return node_weight(root()); }
  [[nodiscard]] std::span<const double> scale() const noexcept { return scale_; }
  [[nodiscard]] Node root() const noexcept { return {0, 0, leaves_}; }

  /// Coordinate j of the point at a place in the tree, and its weight and its row.
  [[nodiscard]] double coordinate(index_t place, index_t j) const noexcept {
    return coordinates_[at(j * stride() + place)];
  }
  [[nodiscard]] double point_weight(index_t place) const noexcept { return weights_[at(place)]; }
  [[nodiscard]] index_t row(index_t place) const noexcept { return rows_[at(place)]; }
  /// The coordinates of a leaf; those of the next coordinate are stride() later.
  [[nodiscard]] const double* leaf_coordinates(const Node& node) const noexcept {
    return coordinates_.data() + node.first_leaf * kLeafPoints;
  }
  [[nodiscard]] const double* leaf_weights(const Node& node) const noexcept {
    return weights_.data() + node.first_leaf * kLeafPoints;
  }
  [[nodiscard]] index_t stride() const noexcept { return leaves_ * kLeafPoints; }

  [[nodiscard]] const double* centre(const Node& node) const noexcept {
    return boxes_.data() + 2 * node.index * dimension_;
  }
  /// Half of the sides of the box, in units of scale.
  [[nodiscard]] const double* half_sides(const Node& node) const noexcept {
    return centre(node) + dimension_;
  }
  [[nodiscard]] double node_weight(const Node& node) const noexcept { return node_weights_[at(node.index)]; }
  [[nodiscard]] const double* sums(const Node& node) const noexcept {
    return sums_.data() + node.index * sums_per_node_;
  }
  [[nodiscard]] NodeSums kind() const noexcept { return kind_; }
  [[nodiscard]] index_t powers() const noexcept { return sums_per_node_; }

 private:
  [[nodiscard]] static std::size_t at(index_t i) noexcept { return static_cast<std::size_t>(i); }
  void cut(Rows<const double> points, const Node& node);
  void enclose(const Node& node);
  void add_up(const Node& node);

  index_t dimension_, size_ = 0, leaves_ = 0, sums_per_node_ = 0;
  NodeSums kind_ = NodeSums::none;
  std::vector<double> scale_, coordinates_, weights_, boxes_, node_weights_, sums_;
  std::vector<index_t> rows_;
};

}  // namespace fenchel::detail
