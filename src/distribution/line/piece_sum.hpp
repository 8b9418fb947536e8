#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "fenchel/core/check.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/quadrature.hpp"
#include "fenchel/distribution/line/generic.hpp"

namespace fenchel::detail {

/// A sum of integrals of a function of its user, over pieces that weigh it; they are cut at `cuts` too.
class PieceSum {
 public:
  PieceSum(FunctionRef<double(double)> f, double mu, double accuracy, std::span<const double> cuts,
           index_t first_panels = kFirstPanels)
      : f_(f),
        mu_(mu),
        accuracy_(checked_positive("expectation", "accuracy", accuracy)),
        cuts_(cuts),
        first_panels_(first_panels) {}

  /// Adds int_0^1 f(mu + start + z length) weight(z) dz.
  void add(double start, double length, FunctionRef<double(double)> weight) {
    const auto integrand = [&](double z) {
      const double t = mu_ + (start + z * length), value = f_(t);
      if (std::isnan(value))
        throw_domain_error("expectation", "f(" + shortest(t) + ")", "must be a number", value);
      return value * weight(z);
    };
    std::vector<double> ends = {0, 1};
    for (const double cut : cuts_) {
      const double z = (cut - mu_ - start) / length;
      if (z > 0 && z < 1) ends.push_back(z);
    }
    std::sort(ends.begin(), ends.end());
    for (std::size_t i = 1; i < ends.size(); ++i) {
      const Quadrature part = integrate_twice(integrand, ends[i - 1], ends[i], accuracy_, first_panels_);
      sum_ += part.value;
      error_ += part.error;
      scale_ += part.scale;
    }
  }

  /// Throws ConvergenceError when it is not known to the accuracy.
  [[nodiscard]] double value() const {
    if (!(error_ <= accuracy_ * scale_))
      throw ConvergenceError(error_message("expectation", "the estimated relative error",
                                           "must reach the accuracy", error_ / scale_));
    return sum_;
  }
  /// The sum of the integrals of the absolute values.
  [[nodiscard]] double scale() const noexcept { return scale_; }

 private:
  FunctionRef<double(double)> f_;
  double mu_, accuracy_;
  std::span<const double> cuts_;
  index_t first_panels_;
  double sum_ = 0, error_ = 0, scale_ = 0;
};

}  // namespace fenchel::detail
