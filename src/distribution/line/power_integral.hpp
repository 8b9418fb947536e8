#pragma once

#include <functional>
#include <span>
#include <vector>

#include "distribution/line/panels.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/domain/interval.hpp"

namespace fenchel::detail {

/// Integrals of p^beta F over the support of a density p, relative to p(reference)^beta. Near an end of the
/// support p is taken for (d / delta)^s e^{q(d)}, d the distance and q a quartic through five points, so that
/// no power of a p that is known by its values alone is taken where those have lost their digits.
class PowerIntegral {
 public:
  /// `exponent` is s at the ends where p goes to 0, when it is known; else it is fitted.
  PowerIntegral(FunctionRef<double(double)> log_pdf, std::span<const Interval> support,
                std::span<const double> modes, double beta, double exponent = 0);

  /// beta log p(reference), the logarithm of the factor that the integrals lack.
  [[nodiscard]] double log_factor() const noexcept { return beta_ * reference_; }

  /// Throws std::domain_error where the integral does not exist or F is NaN, ConvergenceError when its
  /// relative error may exceed 1e-8.
  [[nodiscard]] double operator()(FunctionRef<double(double)> f) const;

  /// The means of phi under the escort distribution of order beta.
  [[nodiscard]] std::vector<double> means(std::span<const std::function<double(double)>> phi) const;

  /// `factor` times Hadamard's finite part, for ends of the known exponent, at which factor / (1 + beta s) is
  /// `share`: the limit where 1 + beta s = 0.
  [[nodiscard]] double finite_part(FunctionRef<double(double)> f, double factor, double share) const;

 private:
  static constexpr int kPoints = 5;
  struct End {
    double at, direction, delta, s, q[kPoints];
    bool zero;  // p goes to 0 like d^s with the known s
    [[nodiscard]] double log_smooth(double z) const;
  };
  [[nodiscard]] End make_end(double at, double direction, double room, double exponent) const;
  [[nodiscard]] double interior(FunctionRef<double(double)> f) const;
  [[nodiscard]] double smooth(const End& end, FunctionRef<double(double)> f, double z) const;

  FunctionRef<double(double)> log_pdf_;
  double beta_, reference_;
  std::vector<Interval> inside_;
  std::vector<Centre> centres_;
  std::vector<End> ends_;
};

}  // namespace fenchel::detail
