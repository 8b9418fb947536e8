#pragma once

/// `LinearScore`: theta . phi(t) with any callables phi.

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "fenchel/core/check.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel {

/// f(t) = sum_i theta_i phi_i(t): a linear family with any statistics phi [SCD22, Section 3.2].
class LinearScore {
 public:
  using Statistic = std::function<double(double)>;

  /// Throws std::invalid_argument unless there is one theta for each phi, std::domain_error unless theta is
  /// finite.
  LinearScore(std::vector<double> theta, std::vector<Statistic> phi)
      : theta_(std::move(theta)), phi_(std::move(phi)) {
    if (theta_.size() != phi_.size())
      throw_invalid_argument("linear_score", "theta", "must have one entry for each phi",
                             static_cast<index_t>(theta_.size()));
    for (std::size_t i = 0; i < theta_.size(); ++i)
      detail::checked_finite("linear_score", indexed("theta", static_cast<index_t>(i)), theta_[i]);
  }

  [[nodiscard]] std::span<const double> theta() const noexcept { return theta_; }
  [[nodiscard]] std::span<const Statistic> phi() const noexcept { return phi_; }
  /// df / dtheta: phi, whatever theta is.
  [[nodiscard]] std::span<const Statistic> gradient() const noexcept { return phi_; }
  [[nodiscard]] double operator()(double t) const {
    double sum = 0;
    for (std::size_t i = 0; i < theta_.size(); ++i) sum += theta_[i] * phi_[i](t);
    return sum;
  }

 private:
  std::vector<double> theta_;
  std::vector<Statistic> phi_;
};

}  // namespace fenchel
