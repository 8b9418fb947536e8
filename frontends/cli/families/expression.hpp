#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fenchel::cli {

/// A formula in t: numbers, t, pi, e, + - * / ^ (to the right first, before a minus sign), parentheses, abs
/// exp log sqrt sin cos tan sinh cosh tanh erf of one argument and min max of two.
class Expression {
 public:
  struct Unary;
  struct Binary;
  /// What to do with the topmost numbers of a stack: a function of them, else t or a number more.
  struct Step {
    const Unary* unary = nullptr;
    const Binary* binary = nullptr;
    bool is_t = false;
    double number = 0;
  };
  /// Parentheses, signs and powers within each other, at most.
  static constexpr std::size_t kMostDepth = 100;

  /// Throws UsageError that names the option and the position in the text.
  Expression(const std::string& option, const std::string& text);

  [[nodiscard]] double operator()(double t) const;
  /// By the rules of calculus; from the right at a corner of abs, min or max.
  [[nodiscard]] double derivative(double t) const;

 private:
  std::vector<Step> steps_;
};

}  // namespace fenchel::cli
