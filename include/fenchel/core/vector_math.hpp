#pragma once

/// exp, log, log1p, erf, erfc and pow over arrays, with stated errors.

#include <span>

#include "fenchel/core/config.hpp"

/// Elementary functions over arrays: y[i] = f(x[i]), by branch-free vector loops for the machine's own
/// instruction set. y may be x; any other overlap is not allowed. Zeros, infinities, NaN and subnormal
/// numbers are treated as <cmath> treats them, except that errno and the floating-point flags are left alone.
/// An element's result does not depend on its place. Throws std::invalid_argument when the sizes differ.
namespace fenchel {

/// The largest error in units in the last place of the result, float and double, with and without fused
/// multiply-add: what the tests have found against long double over the whole range, rounded up.
inline constexpr double kExpUlp = 1.0;
inline constexpr double kLogUlp = 1.0;
inline constexpr double kLog1pUlp = 1.05;
inline constexpr double kErfUlp = 1.5;
inline constexpr double kErfcUlp = 2.9;
inline constexpr double kPowUlp = 1.4;
inline constexpr double kPowFloatUlp = 0.55;

FENCHEL_EXPORT void vector_exp(std::span<const float> x, std::span<float> y);
FENCHEL_EXPORT void vector_exp(std::span<const double> x, std::span<double> y);

FENCHEL_EXPORT void vector_log(std::span<const float> x, std::span<float> y);
FENCHEL_EXPORT void vector_log(std::span<const double> x, std::span<double> y);

FENCHEL_EXPORT void vector_log1p(std::span<const float> x, std::span<float> y);
FENCHEL_EXPORT void vector_log1p(std::span<const double> x, std::span<double> y);

FENCHEL_EXPORT void vector_erf(std::span<const float> x, std::span<float> y);
FENCHEL_EXPORT void vector_erf(std::span<const double> x, std::span<double> y);

FENCHEL_EXPORT void vector_erfc(std::span<const float> x, std::span<float> y);
FENCHEL_EXPORT void vector_erfc(std::span<const double> x, std::span<double> y);

/// y[i] = x[i]^exponent.
FENCHEL_EXPORT void vector_pow(std::span<const float> x, float exponent, std::span<float> y);
FENCHEL_EXPORT void vector_pow(std::span<const double> x, double exponent, std::span<double> y);

}  // namespace fenchel
