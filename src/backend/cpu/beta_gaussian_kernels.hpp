#pragma once

#include <cstdint>

#include "fenchel/backend/beta_gaussian.hpp"

/// The loops behind the bulk functions of beta-Gaussians, compiled for each instruction set. They go by
/// blocks of kBlock points, coordinate by coordinate, so that every loop is a vector loop of fixed length.
namespace fenchel::detail {

inline constexpr index_t kBlock = 64;

/// p or log p at each row; `scratch` has room for N blocks of doubles.
void density_rows(const cpu::BetaGaussianParams& p, bool logarithm, Rows<const float> points, double* scratch,
                  float* out) noexcept;
void density_rows(const cpu::BetaGaussianParams& p, bool logarithm, Rows<const double> points,
                  double* scratch, double* out) noexcept;

/// A law on the line with a closed form: the Gaussian, or for alpha = 1 + 1/s with s = 0, 1, 2, 3 the
/// distribution function I_v(1 + s, 1 + s), v = (1 + (t - mu) / width) / 2 (MATH.md 5.6).
struct LineLaw {
  static constexpr int kGaussian = -1;
  int s;
  double mu, width;  ///< sqrt(Sigma) for the Gaussian
};
void cdf_loop(const LineLaw& law, const float* t, index_t n, float* out) noexcept;
void cdf_loop(const LineLaw& law, const double* t, index_t n, double* out) noexcept;
void quantile_loop(const LineLaw& law, const float* u, index_t n, float* out) noexcept;
void quantile_loop(const LineLaw& law, const double* u, index_t n, double* out) noexcept;

/// kBlock points (x, y) of the plane with uniform direction and x^2 + y^2 = scale (1 - U^power), or -scale
/// log(U) for power = 0; pair k from block `block` of stream first_stream + k of Philox(seed).
struct PolarLaw {
  double scale, power;
};
void polar_pairs(const PolarLaw& law, std::uint64_t seed, std::uint64_t block, std::uint64_t first_stream,
                 double* x, double* y) noexcept;

/// out = mu + factor z for up to kBlock rows; z is coordinate by coordinate. `sum` has room for a block.
void affine_rows(const cpu::BetaGaussianParams& p, const double* z, double* sum, Rows<float> out) noexcept;
void affine_rows(const cpu::BetaGaussianParams& p, const double* z, double* sum, Rows<double> out) noexcept;

}  // namespace fenchel::detail
