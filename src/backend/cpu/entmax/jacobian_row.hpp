#pragma once

#include "core/scratch.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// Memory for one row, as long as the row; every thread has its own.
template <class Real>
struct JacobianScratch {
  Real *s, *p, *v;  ///< the weights; p and v on the support
  index_t* places;  ///< where the support stands
};

template <class Real>
std::size_t jacobian_scratch_bytes(index_t cols) noexcept {
  return 3 * scratch_bytes<Real>(padded(cols)) + scratch_bytes<index_t>(padded(cols));
}

template <class Real>
JacobianScratch<Real> take_jacobian_scratch(WorkerScratch& memory, index_t cols) noexcept {
  const auto reals = [&] { return memory.take<Real>(padded(cols)); };
  return {reals(), reals(), reals(), memory.take<index_t>(padded(cols))};
}

/// out = J v for one row, J = diag(s) - s s^T / sum(s), s = p^{2-alpha} where p is not 0. out may be v.
/// Compiled for several instruction sets.
void jacobian_row(const float* p, index_t n, double alpha, const float* v,
                  const JacobianScratch<float>& scratch, float* out) noexcept;
void jacobian_row(const double* p, index_t n, double alpha, const double* v,
                  const JacobianScratch<double>& scratch, double* out) noexcept;

}  // namespace fenchel::detail
