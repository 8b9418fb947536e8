#pragma once

#include "core/scratch.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/normalizer.hpp"

namespace fenchel::detail {

/// Room for the numbers of one solve: scores less the maximum, E and what else its finish needs.
template <class Value>
struct SolveScratch {
  Value *x, *e, *kept;
};

/// Memory for one row, as long as the row and a little more; every thread has its own.
template <class Real>
struct EntmaxScratch {
  Real* tops;                  ///< lane-wise maxima of the blocks
  index_t* places;             ///< where the candidates stand
  SolveScratch<double> exact;  ///< for the whole powers and alpha > 2
  SolveScratch<Real> general;  ///< for the other powers
};

/// A row touches as much of it as it has candidates.
template <class Real>
std::size_t entmax_scratch_bytes(index_t cols) noexcept {
  const index_t size = padded(cols);
  return scratch_bytes<index_t>(size) + 3 * scratch_bytes<double>(size) + 4 * scratch_bytes<Real>(size);
}

template <class Real>
EntmaxScratch<Real> take_entmax_scratch(WorkerScratch& memory, index_t cols) noexcept {
  const auto reals = [&] { return memory.take<Real>(padded(cols)); };
  const auto doubles = [&] { return memory.take<double>(padded(cols)); };
  return {reals(),
          memory.take<index_t>(padded(cols)),
          {doubles(), doubles(), doubles()},
          {reals(), reals(), reals()}};
}

/// What a row's map leaves behind; top is the largest score. All NaN for a row that has no prediction.
struct EntmaxRow {
  double top;
  Normalization normalization;
};

/// entmax of one row, p may be z; compiled for several instruction sets.
EntmaxRow entmax_row(const float* z, index_t n, double alpha, const EntmaxScratch<float>& scratch,
                     float* p) noexcept;
EntmaxRow entmax_row(const double* z, index_t n, double alpha, const EntmaxScratch<double>& scratch,
                     double* p) noexcept;

}  // namespace fenchel::detail
