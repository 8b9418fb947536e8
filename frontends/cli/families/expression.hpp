#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "fenchel/core/index.hpp"

namespace fenchel::cli {

/// Of a score.
inline constexpr index_t kMostDimensions = 3;

/// A formula in t, or in x, y and z: numbers, pi, e, + - * / ^ (to the right first, before a minus sign),
/// parentheses, abs exp log sqrt sin cos tan sinh cosh tanh erf of one argument and min max of two.
class Expression {
 public:
  struct Unary;
  struct Binary;
  static constexpr index_t kNone = -1;
  /// What to do with the topmost numbers of a stack: a function of them, else a variable or a number more.
  struct Step {
    const Unary* unary = nullptr;
    const Binary* binary = nullptr;
    index_t coordinate = kNone;  ///< 0 for t and x
    double number = 0;
  };
  /// Parentheses, signs and powers within each other, at most.
  static constexpr std::size_t kMostDepth = 100;

  /// In t unless more dimensions may be. Throws UsageError that names the option and the position in the
  /// text.
  Expression(const std::string& option, const std::string& text, index_t most_dimensions = 1);

  /// 3 for a formula with z, 2 for one with x or y but no z, else 1.
  [[nodiscard]] index_t dimension() const noexcept { return dimension_; }
  /// At a point with that many coordinates.
  [[nodiscard]] double operator()(std::span<const double> t) const;
  [[nodiscard]] double operator()(double t) const;
  /// By the rules of calculus; from the right at a corner of abs, min or max.
  [[nodiscard]] double derivative(double t) const;

 private:
  std::vector<Step> steps_;
  index_t dimension_ = 1;
};

}  // namespace fenchel::cli
