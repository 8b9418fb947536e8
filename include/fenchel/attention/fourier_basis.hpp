#pragma once

/// `FourierBasis`: a constant, cosines and sines of a given period.

#include <Eigen/Core>

#include "fenchel/attention/basis.hpp"
#include "fenchel/attention/line_function.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel {

/// Waves [SCD22, Section 8]: psi_0 = 1, psi_{2k-1}(t) = cos(2 pi k t / period), psi_{2k}(t) = sin(2 pi k t /
/// period), k = 1, ..., count.
class FENCHEL_EXPORT FourierBasis {
 public:
  /// Throws std::invalid_argument for a negative count, std::domain_error unless period is positive and
  /// finite, and so is each frequency.
  FourierBasis(index_t count, double period);

  [[nodiscard]] index_t size() const noexcept { return 2 * count_ + 1; }
  [[nodiscard]] index_t count() const noexcept { return count_; }
  [[nodiscard]] double period() const noexcept { return period_; }
  /// 2 pi k / period.
  [[nodiscard]] double frequency(index_t k) const noexcept;

 private:
  index_t count_;
  double period_;
};

[[nodiscard]] FENCHEL_EXPORT Eigen::VectorXd evaluate(const FourierBasis& psi, double t);
[[nodiscard]] FENCHEL_EXPORT LineFunction line_function(const FourierBasis& psi, index_t j);

static_assert(LineBasis<FourierBasis>);

}  // namespace fenchel
