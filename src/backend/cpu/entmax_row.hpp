#pragma once

#include <memory>

#include "fenchel/core/index.hpp"
#include "fenchel/core/normalizer.hpp"

namespace fenchel::detail {

/// Room for the numbers of one solve: scores less the maximum, E and E^{1-am1}.
template <class Value>
struct SolveScratch {
  Value *x, *e, *escort;
};

/// Memory for one row, as long as the row and a little more; every thread has its own.
template <class Real>
struct EntmaxScratch {
  Real* tops;                  ///< lane-wise maxima of the blocks
  index_t* places;             ///< where the candidates stand
  SolveScratch<double> exact;  ///< for the whole powers and alpha > 2
  SolveScratch<Real> general;  ///< for the other powers
};

/// The scratch of all workers, left uninitialised: a row touches as much of it as it has candidates.
template <class Real>
class EntmaxScratches {
 public:
  EntmaxScratches(int workers, index_t cols)
      : padded_((cols / kPadding + 1) * kPadding),
        places_(allocate<index_t>(workers)),
        exact_(allocate<double>(3 * workers)),
        general_(allocate<Real>(4 * workers)) {}

  [[nodiscard]] EntmaxScratch<Real> of(int worker) const noexcept {
    double* exact = exact_.get() + 3 * worker * padded_;
    Real* general = general_.get() + 4 * worker * padded_;
    return {general + 3 * padded_,
            places_.get() + worker * padded_,
            {exact, exact + padded_, exact + 2 * padded_},
            {general, general + padded_, general + 2 * padded_}};
  }

 private:
  static constexpr index_t kPadding = 256;
  template <class T>
  [[nodiscard]] std::unique_ptr<T[]> allocate(int rows) const {
    return std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(rows * padded_));
  }
  index_t padded_;
  std::unique_ptr<index_t[]> places_;
  std::unique_ptr<double[]> exact_;
  std::unique_ptr<Real[]> general_;
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
