#pragma once

/// `Box`: the points of R^N between a lower and an upper corner.

#include <Eigen/Core>
#include <cmath>
#include <utility>

#include "fenchel/core/error.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/domain/euclidean.hpp"

namespace fenchel {

/// The points of R^N between two corners, any coordinate of which may be infinite, with volume as its
/// measure.
class Box {
 public:
  /// Throws std::invalid_argument unless both corners have the same positive dimension, std::domain_error
  /// unless every coordinate of the lower one is below that of the upper one.
  Box(Eigen::VectorXd lower, Eigen::VectorXd upper) : lower_(std::move(lower)), upper_(std::move(upper)) {
    if (lower_.size() < 1 || lower_.size() != upper_.size())
      throw_invalid_argument("box", "upper", "must have as many coordinates as lower, at least one",
                             static_cast<index_t>(upper_.size()));
    for (Eigen::Index i = 0; i < lower_.size(); ++i) {
      if (std::isnan(lower_[i]))
        throw_domain_error("box", indexed("lower", static_cast<index_t>(i)), "must be a number", lower_[i]);
      if (!(lower_[i] < upper_[i]))
        throw_domain_error("box", indexed("upper", static_cast<index_t>(i)), "must be above lower",
                           upper_[i]);
    }
  }
  /// All of R^N.
  explicit Box(const Euclidean& whole)
      : Box(Eigen::VectorXd::Constant(whole.dimension(), -HUGE_VAL),
            Eigen::VectorXd::Constant(whole.dimension(), HUGE_VAL)) {}

  [[nodiscard]] const Eigen::VectorXd& lower() const noexcept { return lower_; }
  [[nodiscard]] const Eigen::VectorXd& upper() const noexcept { return upper_; }
  [[nodiscard]] index_t dimension() const noexcept { return static_cast<index_t>(lower_.size()); }
  [[nodiscard]] bool contains(const Eigen::Ref<const Eigen::VectorXd>& t) const {
    return (t.array() >= lower_.array()).all() && (t.array() <= upper_.array()).all();
  }

  friend bool operator==(const Box& a, const Box& b) { return a.lower_ == b.lower_ && a.upper_ == b.upper_; }

 private:
  Eigen::VectorXd lower_, upper_;
};

}  // namespace fenchel
