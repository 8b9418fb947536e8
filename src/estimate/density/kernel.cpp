#include "estimate/density/kernel.hpp"

#include <algorithm>
#include <cmath>

#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {
namespace {

KernelProfile profile_of(double alpha) {
  if (alpha == 1) return KernelProfile::gaussian;
  if (std::isinf(alpha)) return KernelProfile::uniform;
  if (alpha == 2) return KernelProfile::parabola;
  if (alpha == 1.5) return KernelProfile::biweight;
  if (alpha == 4.0 / 3) return KernelProfile::triweight;
  return KernelProfile::power;
}

}  // namespace

double RadialKernel::log_profile(double x) const noexcept {
  if (profile == KernelProfile::gaussian) return -x;
  if (!(x < 1)) return -kInfinity;
  return profile == KernelProfile::uniform ? 0 : exponent * std::log1p(-x);
}

double RadialKernel::value(double x) const noexcept { return peak * std::exp(log_profile(x)); }

UnitKernel unit_kernel(index_t n, double alpha) {
  const BetaGaussianConstants constants = beta_gaussian_constants(n, alpha - 1, 0);
  return {constants, std::sqrt(constants.variance_factor)};
}

RadialKernel radial_kernel(std::string_view where, index_t n, double alpha, double bandwidth) {
  if (!(alpha >= 1)) throw_domain_error(where, "alpha", "must be at least 1", alpha);
  const auto size = static_cast<double>(n);
  const UnitKernel unit = unit_kernel(n, alpha);
  const double peak = std::exp(unit.constants.log_peak) * std::pow(unit.deviation / bandwidth, size);
  const double exponent = alpha == 1 ? kInfinity : std::isinf(alpha) ? 0 : 1 / (alpha - 1);
  const double square = alpha == 1 ? 2 : size + 2 + 2 * exponent;
  return {profile_of(alpha), exponent, peak, 1 / square / bandwidth / bandwidth};
}

double roughness(index_t n, double alpha) {
  const UnitKernel unit = unit_kernel(n, alpha);
  // Omega_2(p) = (int p^2 - 1) / 2.
  return (1 + 2 * tsallis_negentropy(unit.constants, 2)) * std::pow(unit.deviation, static_cast<double>(n));
}

TaylorRadius::TaylorRadius(const RadialKernel& kernel) {
  const bool gaussian = kernel.profile == KernelProfile::gaussian;
  constexpr double kFar = 27;  // where e^{-x} underflows
  const double unit = gaussian ? 1 : std::max(1.0, std::sqrt(kernel.exponent));
  const double end = gaussian ? kFar : std::min(unit, kFar);
  ends_ = !gaussian;
  step_ = kCells / end * unit;
  // By Cauchy's estimate on a circle of radius s the terms from r^P on are less than (r / s)^P / (1 - r / s)
  // times the largest value on it, which is at most value(delta) e^growth.
  const auto largest = [&](double delta) {
    const double room = gaussian ? kFar : 1 - delta;
    double best = 0;
    for (int i = 1; i <= 60; ++i) {
      const double s = room * std::exp(-0.15 * (i - 1)) * 0.95, step = 2 * delta * s + s * s;
      const double growth = gaussian   ? step
                            : room > 0 ? kernel.exponent * std::log1p(step / (1 - delta * delta))
                                       : 0;
      constexpr double kBits = 37.5;  // 53 log 2, and a share for 1 / (1 - r / s)
      best = std::max(best, s * std::exp(-(kBits + growth) / double(kTaylorTerms)));
    }
    return gaussian ? best : best / room;
  };
  constexpr double kLast = 1 - 1e-9;
  const auto at = [&](int i) {
    const double delta = i / step_;
    return largest(gaussian ? delta : std::min(delta, kLast));
  };
  double before = at(0);
  for (int i = 0; i < kCells; ++i) {
    const double after = at(i + 1);
    shares_[static_cast<std::size_t>(i)] = 0.99 * std::min(before, after);
    before = after;
  }
}

}  // namespace fenchel::detail
