#include "estimate/density/autoconvolution.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "estimate/density/kernel.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/core/quadrature.hpp"

namespace fenchel::detail {
namespace {

/// The peak of the kernel of radius 1.
double unit_peak(index_t n, double alpha) {
  const RadialKernel kernel = radial_kernel("kernel", n, alpha, 1);
  return kernel.peak * std::pow(kernel.inverse, -static_cast<double>(n) / 2);
}

/// The smooth factor at u, over peak^2.
double smooth_factor(index_t n, double e, double u) {
  const double room = 1 - u * u / 4, size = static_cast<double>(n);
  constexpr double kAccuracy = 1e-12;
  const auto at = [&](double y) {
    const double m = std::max(0.0, 1 - room * y * y - u * y);
    if (n == 1) return 2 * std::pow(m * (m + 2 * u * y), e);
    const auto across = [&](double x) {
      // x sqrt(m) is the distance from the axis; the 2 is for both halves of the lens.
      const double left = m * (1 - x * x);
      return 2 * std::pow(x, size - 2) * std::pow(left * (left + 2 * u * y), e);
    };
    return std::pow(m, (size - 1) / 2) * integrate(across, 0, 1, kAccuracy).value;
  };
  const double sphere =
      n == 1 ? 1 : 2 * std::pow(std::numbers::pi, (size - 1) / 2) / std::tgamma((size - 1) / 2);
  const double end = std::min(1 / (1 + u / 2), 12 / std::sqrt(std::max(e, 1.0)));
  return sphere * integrate(at, 0, end, kAccuracy).value;
}

double binomial(int n, int k) {
  double value = 1;
  for (int i = 1; i <= k; ++i) value = value * (n - k + i) / i;
  return value;
}

}  // namespace

Autoconvolution::Autoconvolution(index_t n, double alpha) {
  const double e = std::isinf(alpha) ? 0 : 1 / (alpha - 1), peak = unit_peak(n, alpha);
  power_ = 2 * e + static_cast<double>(n + 1) / 2;
  // Short pieces near 0, where a power of u may be hidden.
  ends_ = {0};
  for (int i = -10; i < 0; ++i) ends_.push_back(std::ldexp(1, i));
  for (int i = 2; i <= 8; ++i) ends_.push_back(0.25 * i);
  for (std::size_t i = 0; i + 1 < ends_.size(); ++i) {
    std::array<double, kNodes> values, piece{};
    const double middle = (ends_[i] + ends_[i + 1]) / 2, half = (ends_[i + 1] - ends_[i]) / 2;
    const auto angle = [](std::size_t k) {
      return std::numbers::pi * (static_cast<double>(k) + 0.5) / double(kNodes);
    };
    for (std::size_t k = 0; k < kNodes; ++k)
      values[k] = peak * peak * smooth_factor(n, e, middle + half * std::cos(angle(k)));
    for (std::size_t j = 0; j < kNodes; ++j) {
      for (std::size_t k = 0; k < kNodes; ++k)
        piece[j] += values[k] * std::cos(static_cast<double>(j) * angle(k));
      piece[j] *= (j == 0 ? 1.0 : 2.0) / double(kNodes);
    }
    pieces_.push_back(piece);
  }
}

double Autoconvolution::operator()(double u) const noexcept {
  if (!(u < 2)) return 0;
  const auto next = std::upper_bound(ends_.begin() + 1, ends_.end() - 1, u);
  const auto i = static_cast<std::size_t>(next - ends_.begin()) - 1;
  const double x = (2 * u - ends_[i] - ends_[i + 1]) / (ends_[i + 1] - ends_[i]);
  double now = 0, before = 0;  // Clenshaw's recurrence
  for (std::size_t j = kNodes - 1; j > 0; --j) {
    const double next_sum = 2 * x * now - before + pieces_[i][j];
    before = now;
    now = next_sum;
  }
  return std::exp(power_ * std::log1p(-u * u / 4)) * (x * now - before + pieces_[i][0]);
}

/// With a = 1 - u/2: peak^2 a^{2s+1} sum_k binomial(s, k) (-1)^k (2 - a)^{2 (s - k)} a^{2k} B(k + 1/2, s +
/// 1).
std::vector<double> autoconvolution_polynomial(int s) {
  const double peak = unit_peak(1, s == 0 ? kInfinity : 1 + 1.0 / s);
  std::vector<double> out(static_cast<std::size_t>(4 * s + 2), 0.0);
  for (int k = 0; k <= s; ++k) {
    const double beta = std::exp(std::lgamma(k + 0.5) + std::lgamma(s + 1.0) - std::lgamma(k + s + 1.5));
    const double factor = peak * peak * binomial(s, k) * (k % 2 == 0 ? 1 : -1) * beta;
    const int rest = 2 * (s - k);
    for (int j = 0; j <= rest; ++j) {
      const double term = binomial(rest, j) * std::ldexp(j % 2 == 0 ? 1.0 : -1.0, rest - j);
      out[static_cast<std::size_t>(2 * s + 1 + 2 * k + j)] += factor * term;
    }
  }
  return out;
}

}  // namespace fenchel::detail
