#pragma once

#include <cmath>

#include "fenchel/core/check.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/core/quadrature.hpp"

namespace fenchel::detail {

/// A sum of integrals of a function of its user, over pieces that weigh it.
class PieceSum {
 public:
  PieceSum(FunctionRef<double(double)> f, double mu, double accuracy)
      : f_(f), mu_(mu), accuracy_(checked_positive("expectation", "accuracy", accuracy)) {}

  /// Adds int_0^1 f(mu + start + z length) weight(z) dz.
  void add(double start, double length, FunctionRef<double(double)> weight) {
    const auto integrand = [&](double z) {
      const double t = mu_ + (start + z * length), value = f_(t);
      if (std::isnan(value))
        throw_domain_error("expectation", "f(" + shortest(t) + ")", "must be a number", value);
      return value * weight(z);
    };
    const Quadrature part = integrate(integrand, 0, 1, accuracy_);
    sum_ += part.value;
    error_ += part.error;
    scale_ += part.scale;
  }

  /// Throws ConvergenceError when it is not known to the accuracy.
  [[nodiscard]] double value() const {
    if (!(error_ <= accuracy_ * scale_))
      throw ConvergenceError(error_message("expectation", "the estimated relative error",
                                           "must reach the accuracy", error_ / scale_));
    return sum_;
  }

 private:
  FunctionRef<double(double)> f_;
  double mu_, accuracy_, sum_ = 0, error_ = 0, scale_ = 0;
};

}  // namespace fenchel::detail
