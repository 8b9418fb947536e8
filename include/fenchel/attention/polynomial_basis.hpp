#pragma once

/// `PolynomialBasis`: powers of t, centred and scaled.

#include <Eigen/Core>

#include "fenchel/attention/basis.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel {

/// psi_k(t) = ((t - centre) / width)^k, k = 0, ..., degree [SCD22, Section 8]. A centre and a width of the
/// place where t lies keep high degrees usable.
class FENCHEL_EXPORT PolynomialBasis {
 public:
  /// Throws std::invalid_argument for a negative degree, std::domain_error unless centre is finite and width
  /// positive and finite.
  explicit PolynomialBasis(index_t degree, double centre = 0, double width = 1);

  [[nodiscard]] index_t size() const noexcept { return degree_ + 1; }
  [[nodiscard]] index_t degree() const noexcept { return degree_; }
  [[nodiscard]] double centre() const noexcept { return centre_; }
  [[nodiscard]] double width() const noexcept { return width_; }

 private:
  index_t degree_;
  double centre_, width_;
};

[[nodiscard]] FENCHEL_EXPORT Eigen::VectorXd evaluate(const PolynomialBasis& psi, double t);

static_assert(LineBasis<PolynomialBasis>);

}  // namespace fenchel
