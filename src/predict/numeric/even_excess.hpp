#pragma once

#include <utility>

#include "fenchel/score/even_score.hpp"

namespace fenchel::detail {

/// The profile h / T of an even score, checked.
class EvenProfile {
 public:
  EvenProfile(EvenScore f, double temperature) : f_(std::move(f)), temperature_(temperature) {}

  /// Throws std::domain_error where h is NaN or +infinity.
  [[nodiscard]] double operator()(double x) const;
  [[nodiscard]] bool exact() const noexcept { return f_.has_antiderivative(); }
  /// int_x^y (h(t) - level) / T dt, x < y, by the antiderivative unless that would cancel.
  [[nodiscard]] double integral(double x, double y, double level) const;

 private:
  EvenScore f_;
  double temperature_;
};

/// Where an increasing excess reaches its target.
struct EvenEdge {
  double at;
  double level;  ///< h there, or between its limits at a jump, so that the excess is the target
};

/// The y > from with from (h(from) - h(y)) + int_from^y (h(t) - h(y)) dt = target: the mass above h(y) of a
/// score that is cut off at h(from). Throws std::domain_error where there is none; gamma is for its message.
[[nodiscard]] EvenEdge solve_excess(const EvenProfile& h, double from, double at_from, double target,
                                    double gamma);

/// No distribution exists: the excess int (h - h(inf)) is `got` and must be above `needed`.
[[noreturn]] void throw_small_excess(double needed, double got);

}  // namespace fenchel::detail
