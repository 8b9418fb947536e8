#pragma once

#include <memory>

#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// Memory for one row, as long as the row; every thread has its own.
template <class Real>
struct JacobianScratch {
  Real *s, *p, *v;  ///< the weights; p and v on the support
  index_t* places;  ///< where the support stands
};

/// The scratch of all workers, left uninitialised.
template <class Real>
class JacobianScratches {
 public:
  JacobianScratches(int workers, index_t cols)
      : padded_(cols + kPadding),
        values_(std::make_unique_for_overwrite<Real[]>(static_cast<std::size_t>(3 * workers * padded_))),
        places_(std::make_unique_for_overwrite<index_t[]>(static_cast<std::size_t>(workers * padded_))) {}

  [[nodiscard]] JacobianScratch<Real> of(int worker) const noexcept {
    Real* values = values_.get() + 3 * worker * padded_;
    return {values, values + padded_, values + 2 * padded_, places_.get() + worker * padded_};
  }

 private:
  static constexpr index_t kPadding = 256;
  index_t padded_;
  std::unique_ptr<Real[]> values_;
  std::unique_ptr<index_t[]> places_;
};

/// out = J v for one row, J = diag(s) - s s^T / sum(s), s = p^{2-alpha} where p is not 0. out may be v.
/// Compiled for several instruction sets.
void jacobian_row(const float* p, index_t n, double alpha, const float* v,
                  const JacobianScratch<float>& scratch, float* out) noexcept;
void jacobian_row(const double* p, index_t n, double alpha, const double* v,
                  const JacobianScratch<double>& scratch, double* out) noexcept;

}  // namespace fenchel::detail
