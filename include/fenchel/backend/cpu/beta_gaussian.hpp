#pragma once

/// Densities, distribution functions, quantiles and draws of one beta-Gaussian at many points.

#include <cstdint>
#include <limits>
#include <span>

#include "fenchel/core/beta_gaussian.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/rows.hpp"

/// Densities, distribution functions and draws of one beta-Gaussian in bulk, in float and double [SCD22,
/// Section 6; docs/math.md 4, 5]. All arithmetic is in double, and a float result is rounded once. A row's
/// result depends on that row alone. A batch without rows is allowed. Throw std::invalid_argument for shapes
/// that do not fit or a null view, std::domain_error for constants without a distribution.
namespace fenchel::cpu {

/// N(mu, Sigma) deformed by alpha, on mu + image of Sigma where Sigma = F F^T has rank r. The views are of
/// memory that the caller owns.
struct BetaGaussianParams {
  BetaGaussianConstants constants;  ///< of dimension r and the log det of Sigma on its image
  std::span<const double> mu;       ///< N numbers
  Rows<const double> whitening;     ///< W, r x N: q = |W (t - mu)|^2
  Rows<const double> factor;        ///< F, N x r, with W F = 1
};

/// log_pdf_rows errs by at most kLogPdfError (|log_peak| + |log p - log_peak| + Q / (2 p^am1)), where Q =
/// sum_i (sum_j |W_ij (t - mu)_j|)^2 bounds q: the last term is what rounding of q does to the exact log p.
/// pdf_rows errs by as much and kLogPdfError, relative to p. In float one more rounding comes on top.
inline constexpr double kLogPdfError = 3 * std::numeric_limits<double>::epsilon();

/// log p and p at each row of `points`, N columns: -inf and 0 off the support, NaN for a row with NaN. A
/// point off the image of a singular Sigma is projected onto it. `out` must not overlap `points`.
FENCHEL_EXPORT void log_pdf_rows(const BetaGaussianParams& p, Rows<const float> points, std::span<float> out);
FENCHEL_EXPORT void log_pdf_rows(const BetaGaussianParams& p, Rows<const double> points,
                                 std::span<double> out);
FENCHEL_EXPORT void pdf_rows(const BetaGaussianParams& p, Rows<const float> points, std::span<float> out);
FENCHEL_EXPORT void pdf_rows(const BetaGaussianParams& p, Rows<const double> points, std::span<double> out);

/// cdf_rows errs by at most kCdfError, quantile_rows by kQuantileError (|mu| + |t - mu| + h), h the half
/// width of the support for alpha > 1, else 0; by 100 times that for alpha < 1 and u < 1e-16, where rounding
/// of the degrees of freedom is felt. In float one more rounding comes on top.
inline constexpr double kCdfError = 1e-15;
inline constexpr double kQuantileError = 2e-15;

/// P(X <= t) and the t with P(X <= t) = u, for N = 1; NaN for u outside of [0, 1]. alpha = 1, 4/3, 3/2, 2 and
/// infinity are vector loops; other alpha take an incomplete beta function for each element. `out` may be the
/// input.
FENCHEL_EXPORT void cdf_rows(const BetaGaussianParams& p, std::span<const float> t, std::span<float> out);
FENCHEL_EXPORT void cdf_rows(const BetaGaussianParams& p, std::span<const double> t, std::span<double> out);
FENCHEL_EXPORT void quantile_rows(const BetaGaussianParams& p, std::span<const float> u,
                                  std::span<float> out);
FENCHEL_EXPORT void quantile_rows(const BetaGaussianParams& p, std::span<const double> u,
                                  std::span<double> out);

/// One draw a row: row k from stream first_stream + k of Philox(seed). The same numbers for the same `p` with
/// every compiler and instruction set and on any number of threads. For r <= 2 a draw is a deformed
/// Box-Muller pair, r = 1 its first half; for r > 2 pairs of normal variates over one gamma variate.
FENCHEL_EXPORT void sample_rows(const BetaGaussianParams& p, std::uint64_t seed, std::uint64_t first_stream,
                                Rows<float> out);
FENCHEL_EXPORT void sample_rows(const BetaGaussianParams& p, std::uint64_t seed, std::uint64_t first_stream,
                                Rows<double> out);

}  // namespace fenchel::cpu
