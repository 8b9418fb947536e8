#pragma once

/// Densities, distribution functions, quantiles and draws of one beta-Gaussian at many points, on a GPU.

#include <cstdint>

#include "fenchel/backend/cuda/views.hpp"
#include "fenchel/core/beta_gaussian.hpp"
#include "fenchel/core/config.hpp"

/// One beta-Gaussian in bulk (backend/cpu/beta_gaussian.hpp) on a GPU, for Real = float and double, with the
/// errors that are stated there. Arithmetic is in double, a float result is rounded once; densities in float
/// take their logarithm and exponential in float, of double arguments. Draws are the same numbers, bit for
/// bit, as on the CPU. Throw std::invalid_argument for shapes that do not fit or a null view,
/// std::domain_error for constants without a distribution.
namespace fenchel::cuda {

/// mu + image of Sigma = F F^T of rank r, with pointers to the memory of the GPU: mu has N numbers, the
/// whitening W is r x N, the factor F is N x r.
struct BetaGaussianParams {
  BetaGaussianConstants constants;
  index_t size = 1;  ///< N
  const double* mu = nullptr;
  const double* whitening = nullptr;
  const double* factor = nullptr;
};

/// In float log p errs by kFloatLogError |log p - log_peak| on top of rounding, and p by that and
/// kFloatLogError, relative.
inline constexpr double kFloatLogError = 0x1p-23;

/// At each row of `points`, N columns. `out` must not overlap `points`.
template <class Real>
FENCHEL_EXPORT void log_pdf_rows(const BetaGaussianParams& p, Input<Real> points, Real* out, Stream stream);
template <class Real>
FENCHEL_EXPORT void pdf_rows(const BetaGaussianParams& p, Input<Real> points, Real* out, Stream stream);

/// For N = 1, at `count` numbers. `out` may be the input.
template <class Real>
FENCHEL_EXPORT void cdf_rows(const BetaGaussianParams& p, const Real* t, index_t count, Real* out,
                             Stream stream);
template <class Real>
FENCHEL_EXPORT void quantile_rows(const BetaGaussianParams& p, const Real* u, index_t count, Real* out,
                                  Stream stream);

/// One draw a row: row k from stream first_stream + k of Philox(seed). The rank is at most what
/// fits the shared memory of a block, a double each: 29056 on an H100, 20864 on an A100.
template <class Real>
FENCHEL_EXPORT void sample_rows(const BetaGaussianParams& p, std::uint64_t seed, std::uint64_t first_stream,
                                DeviceRows<Real> out, Stream stream);

}  // namespace fenchel::cuda
