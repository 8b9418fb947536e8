#include "estimate/density/taylor_series.hpp"

#include <algorithm>
#include <cmath>

namespace fenchel::detail {
namespace {

/// (v + b y + c y^2)^s.
index_t polynomial(double v, double b, double c, index_t s, TaylorCoefficients& out) noexcept {
  out[0] = 1;
  for (index_t power = 0; power < s; ++power) {
    const index_t degree = 2 * power;
    for (index_t k = degree + 2; k >= 0; --k) {
      const auto at = [&](index_t i) {
        return i >= 0 && i <= degree ? out[static_cast<std::size_t>(i)] : 0.0;
      };
      out[static_cast<std::size_t>(k)] = v * at(k) + b * at(k - 1) + c * at(k - 2);
    }
  }
  return 2 * s + 1;
}

}  // namespace

index_t taylor_coefficients(const RadialKernel& kernel, double d, TaylorCoefficients& out) noexcept {
  const double a = kernel.inverse, e = kernel.exponent;
  if (kernel.degree() >= 0) return polynomial(1 - a * d * d, 2 * a * d, -a, kernel.degree(), out);
  const double unit = std::sqrt(a), u = d * unit;
  const bool gaussian = kernel.profile == KernelProfile::gaussian;
  const double room = gaussian ? 1 : (1 - u) * (1 + u), step = unit / room, step2 = step * unit;
  out[0] = gaussian ? std::exp(-u * u) : std::exp(e * std::log1p(-u * u));
  double before = 0;
  for (std::size_t i = 1; i < out.size(); ++i) {
    const auto k = static_cast<double>(i - 1);
    const double next = gaussian ? 2 * (u * step * out[i - 1] - step2 * before)
                                 : 2 * u * (e - k) * step * out[i - 1] + (k - 1 - 2 * e) * step2 * before;
    before = out[i - 1];
    out[i] = next / (k + 1);
  }
  return kTaylorTerms;
}

}  // namespace fenchel::detail
