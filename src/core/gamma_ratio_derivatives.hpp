#pragma once

#include <cmath>

#include "fenchel/core/config.hpp"
#include "fenchel/core/gamma_ratio.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// The first three derivatives in am1 of log_gamma_ratio(n, am1), each to kGammaRatioDerivativeError of
/// itself; 0 at am1 = infinity.
struct GammaRatioDerivatives {
  double first, second, third;
};
inline constexpr double kGammaRatioDerivativeError = 1e-12;

/// sum += sign times the derivatives of log1p(c am1).
FENCHEL_HD inline void add_log1p(GammaRatioDerivatives& sum, double sign, double c, double am1) noexcept {
  const double x = c / (1 + c * am1);
  sum.first += sign * x;
  sum.second -= sign * x * x;
  sum.third += sign * 2 * x * x * x;
}

/// The derivatives of D_1, in which log_half_step at its argument x is spelt out: with K steps up to x + K =
/// 1/w >= 17, w = sign am1 / (1 + c am1), its logarithms become log1p of multiples of am1.
FENCHEL_HD inline GammaRatioDerivatives log_gamma_ratio_derivatives_1(double am1) noexcept {
  // Two terms more than log_half_step takes: they are differentiated three times.
  constexpr double kSeries[8] = {-1. / 8,      1. / 192,      -1. / 640,       17. / 14336,
                                 -31. / 18432, 691. / 180224, -5461. / 425984, 929569. / 15728640};
  const bool sparse = am1 >= 0;
  const double sign = sparse ? 1 : -1, x = sparse ? 1 + 1 / am1 : -1 / am1 - 0.5;
  const double steps = std::fmax(0.0, std::ceil(kHalfStepSeries - x));
  const double c = sparse ? 1 + steps : 0.5 - steps;
  GammaRatioDerivatives sum{};
  for (double k = 0; k < steps; ++k) {
    add_log1p(sum, 1, sparse ? k + 1 : 0.5 - k, am1);
    add_log1p(sum, -1, sparse ? k + 1.5 : -k, am1);
  }
  add_log1p(sum, 0.5, c, am1);
  const double g = 1 / (1 + c * am1), w = sign * am1 * g;
  const double dw = sign * g * g, d2w = -2 * c * g * dw, d3w = -3 * c * g * d2w;
  double s1 = kSeries[0], s2 = 0, s3 = 0, power = 1, j = 3;  // of the series in w, power = w^{j-3}
  for (int k = 1; k < 8; ++k, power *= w * w, j += 2) {
    s1 += kSeries[k] * j * power * w * w;
    s2 += kSeries[k] * j * (j - 1) * power * w;
    s3 += kSeries[k] * j * (j - 1) * (j - 2) * power;
  }
  sum.first += s1 * dw;
  sum.second += s2 * dw * dw + s1 * d2w;
  sum.third += s3 * dw * dw * dw + 3 * s2 * dw * d2w + s1 * d3w;
  return sum;
}

[[nodiscard]] FENCHEL_HD inline GammaRatioDerivatives log_gamma_ratio_derivatives(index_t n,
                                                                                  double am1) noexcept {
  if (std::isinf(am1)) return {};
  GammaRatioDerivatives sum = n % 2 == 1 ? log_gamma_ratio_derivatives_1(am1) : GammaRatioDerivatives{};
  for (double k = n % 2 == 1 ? 1.5 : 1; 2 * k <= static_cast<double>(n); ++k) add_log1p(sum, 1, k, am1);
  return sum;
}

}  // namespace fenchel::detail
