#pragma once

#include <vector>

#include "distribution/euclidean/level_region.hpp"
#include "fenchel/domain/interval.hpp"

namespace fenchel::detail {

using Pieces = std::vector<Interval>;

/// Where lines through a region meet it, found by a scan: nodes along each axis, with a search for a maximum
/// that may rise above the level between them, and for a minimum that may fall below it, both by the bound
/// that concave and convex functions obey. Many lines are looked at in one call of g.
class LevelPieces {
 public:
  explicit LevelPieces(const LevelRegion& region);

  /// For each column of `prefixes`, `axis` coordinates: the pieces of that axis on which the rest of the
  /// space meets the region in a way that does not change, as far as its pieces can tell. Along the last axis
  /// they are the pieces of the line. Unless `locate`, the ends along other axes are rough.
  [[nodiscard]] std::vector<Pieces> along(Eigen::Index axis, const Eigen::MatrixXd& prefixes,
                                          bool locate = true);

  /// Between these coordinates were all pieces so far, but for a node.
  [[nodiscard]] Eigen::VectorXd least() const { return least_ - spacing_; }
  [[nodiscard]] Eigen::VectorXd most() const { return most_ + spacing_; }
  /// Whether a piece has reached an end of the box so far.
  [[nodiscard]] bool touches_lower(Eigen::Index axis) const { return touched_[0][index(axis)]; }
  [[nodiscard]] bool touches_upper(Eigen::Index axis) const { return touched_[1][index(axis)]; }
  /// Whether one goes on beyond an end of the box that is none of the domain.
  [[nodiscard]] bool is_cut() const;

 private:
  static std::size_t index(Eigen::Index i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] std::vector<Pieces> along_lines(const Eigen::MatrixXd& prefixes);
  [[nodiscard]] std::vector<Pieces> along_planes(Eigen::Index axis, const Eigen::MatrixXd& prefixes,
                                                 bool locate);
  [[nodiscard]] double range(Eigen::Index axis) const { return region_.upper[axis] - region_.lower[axis]; }
  void note_ends(Eigen::Index axis, const std::vector<Pieces>& found);

  const LevelRegion& region_;
  Eigen::VectorXd least_, most_, spacing_;
  std::vector<std::vector<double>> nodes_;  // along each axis
  std::vector<bool> touched_[2];
};

/// The columns of `prefixes`, each followed by each of `values` in turn.
[[nodiscard]] Eigen::MatrixXd extended(const Eigen::MatrixXd& prefixes, const std::vector<double>& values);

}  // namespace fenchel::detail
