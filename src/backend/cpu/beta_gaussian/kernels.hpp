#pragma once

#include <cstdint>

#include "core/beta_gaussian/closed_line.hpp"
#include "core/random/whitened_draw.hpp"
#include "fenchel/backend/cpu/beta_gaussian.hpp"

/// The loops behind the bulk functions of beta-Gaussians, compiled for each instruction set. They go by
/// blocks of kBlock points, coordinate by coordinate, so that every loop is a vector loop of fixed length.
namespace fenchel::detail {

inline constexpr index_t kBlock = 64;

/// p or log p at each row; `scratch` has room for N blocks of doubles.
void density_rows(const cpu::BetaGaussianParams& p, bool logarithm, Rows<const float> points, double* scratch,
                  float* out) noexcept;
void density_rows(const cpu::BetaGaussianParams& p, bool logarithm, Rows<const double> points,
                  double* scratch, double* out) noexcept;

void cdf_loop(const ClosedLine& law, const float* t, index_t n, float* out) noexcept;
void cdf_loop(const ClosedLine& law, const double* t, index_t n, double* out) noexcept;
void quantile_loop(const ClosedLine& law, const float* u, index_t n, float* out) noexcept;
void quantile_loop(const ClosedLine& law, const double* u, index_t n, double* out) noexcept;

/// kBlock points (x, y) of the plane; pair k from block `block` of stream first_stream + k of Philox(seed).
void polar_pairs(const PolarLaw& law, std::uint64_t seed, std::uint64_t block, std::uint64_t first_stream,
                 double* x, double* y) noexcept;

/// out = mu + factor z for up to kBlock rows; z is coordinate by coordinate. `sum` has room for a block.
void affine_rows(const cpu::BetaGaussianParams& p, const double* z, double* sum, Rows<float> out) noexcept;
void affine_rows(const cpu::BetaGaussianParams& p, const double* z, double* sum, Rows<double> out) noexcept;

}  // namespace fenchel::detail
