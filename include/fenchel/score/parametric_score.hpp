#pragma once

/// `ParametricScore`: f(t; theta) with its gradient in theta, any callables; theta need not enter linearly.

#include <concepts>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "fenchel/core/check.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/score/linear_score.hpp"

namespace fenchel {

/// f(t; theta), differentiable in theta [SCD22, Section 3.2]. The gradient is taken on trust: one that is not
/// the gradient of f gives gradients of losses that are not theirs.
class ParametricScore {
 public:
  using Function = std::function<double(double t, std::span<const double> theta)>;
  using Statistic = LinearScore::Statistic;

  /// `gradient` has df / dtheta_i at i. Throws std::invalid_argument unless there is one for each theta,
  /// std::domain_error unless theta is finite.
  ParametricScore(std::vector<double> theta, Function f, std::vector<Function> gradient)
      : theta_(std::make_shared<const std::vector<double>>(std::move(theta))),
        f_(std::move(f)),
        partial_(std::move(gradient)) {
    if (theta_->size() != partial_.size())
      throw_invalid_argument("parametric_score", "theta", "must have one entry for each entry of gradient",
                             static_cast<index_t>(theta_->size()));
    for (std::size_t i = 0; i < theta_->size(); ++i)
      detail::checked_finite("parametric_score", indexed("theta", static_cast<index_t>(i)), (*theta_)[i]);
    for (const Function& slope : partial_)
      gradient_.emplace_back([slope, at = theta_](double t) { return slope(t, *at); });
  }

  [[nodiscard]] std::span<const double> theta() const noexcept { return *theta_; }
  /// df / dtheta at this theta, as functions of t.
  [[nodiscard]] std::span<const Statistic> gradient() const noexcept { return gradient_; }
  [[nodiscard]] double operator()(double t) const { return f_(t, *theta_); }
  /// The same f at another theta.
  [[nodiscard]] ParametricScore at(std::vector<double> theta) const {
    return {std::move(theta), f_, partial_};
  }

 private:
  std::shared_ptr<const std::vector<double>> theta_;  // copies share it with the functions that they hold
  Function f_;
  std::vector<Function> partial_;
  std::vector<Statistic> gradient_;
};

/// A score of parameters theta that knows its gradient in them.
template <class Score>
concept DifferentiableScore = std::same_as<Score, LinearScore> || std::same_as<Score, ParametricScore>;

}  // namespace fenchel
