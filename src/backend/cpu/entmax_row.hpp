#pragma once

#include <memory>

#include "fenchel/core/index.hpp"
#include "fenchel/core/normalizer.hpp"

namespace fenchel::detail {

/// Memory for one row, as long as the row and a little more; every thread has its own.
template <class Real>
struct EntmaxScratch {
  Real* tops;       ///< lane-wise maxima of the blocks
  double* exact;    ///< candidates less the maximum, for the whole powers and alpha > 2
  Real* values;     ///< the same for the other powers
  index_t* places;  ///< where the candidates stand
};

/// The scratch of all workers, left uninitialised: a row touches as much of it as it has candidates.
template <class Real>
class EntmaxScratches {
 public:
  EntmaxScratches(int workers, index_t cols)
      : padded_((cols / kPadding + 1) * kPadding),
        tops_(allocate<Real>(workers)),
        exact_(allocate<double>(workers)),
        values_(allocate<Real>(workers)),
        places_(allocate<index_t>(workers)) {}

  [[nodiscard]] EntmaxScratch<Real> of(int worker) const noexcept {
    const index_t offset = worker * padded_;
    return {tops_.get() + offset, exact_.get() + offset, values_.get() + offset, places_.get() + offset};
  }

 private:
  static constexpr index_t kPadding = 256;
  template <class T>
  std::unique_ptr<T[]> allocate(int workers) const {
    return std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(workers * padded_));
  }
  index_t padded_;
  std::unique_ptr<Real[]> tops_;
  std::unique_ptr<double[]> exact_;
  std::unique_ptr<Real[]> values_;
  std::unique_ptr<index_t[]> places_;
};

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
