#pragma once

#include <array>
#include <string_view>

#include "fenchel/core/beta_gaussian.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// The profiles with loops of their own: (1 - x)^s for x < 1, (1 - x)^exponent, e^{-x}.
enum class KernelProfile { uniform, parabola, biweight, triweight, power, gaussian };

/// The beta-Gaussian on R^n of covariance bandwidth^2 I as a radial function peak profile(inverse q), q =
/// |t|^2: its radius is bandwidth sqrt(n + 2 + 2 / (alpha - 1)) (docs/math.md 10.1).
struct RadialKernel {
  KernelProfile profile;
  double exponent;  ///< 1 / (alpha - 1); infinite for the Gaussian
  double peak;
  double inverse;  ///< 1 / radius^2; for the Gaussian 1 / (2 bandwidth^2)

  /// s where the kernel is (1 - x)^s with s = 0, 1, 2, 3, else -1.
  [[nodiscard]] int degree() const noexcept {
    return profile <= KernelProfile::triweight ? static_cast<int>(profile) : -1;
  }
  /// Whether the support ends where the kernel is not small.
  [[nodiscard]] bool ends() const noexcept { return exponent <= 30; }
  /// The logarithm of profile(x).
  [[nodiscard]] double log_profile(double x) const noexcept;
  [[nodiscard]] double value(double x) const noexcept;
};

/// Throws std::domain_error unless alpha >= 1.
[[nodiscard]] RadialKernel radial_kernel(std::string_view where, index_t n, double alpha, double bandwidth);
/// The same, of covariance the identity, as constants of a beta-Gaussian.
struct UnitKernel {
  BetaGaussianConstants constants;  ///< of Sigma = I
  double deviation;                 ///< of a coordinate then
};
[[nodiscard]] UnitKernel unit_kernel(index_t n, double alpha);
/// The integral of the square of the kernel of bandwidth 1.
[[nodiscard]] double roughness(index_t n, double alpha);

/// How many terms of its Taylor series stand for a kernel on the line that is no polynomial.
inline constexpr index_t kTaylorTerms = 28;

/// On the line, with lengths in units in which x is a square: how far from their centre, at a distance
/// `delta` from the query, points may lie for kTaylorTerms terms to leave less than 2^-53 of the kernel at
/// the centre (docs/math.md 10.2).
class TaylorRadius {
 public:
  TaylorRadius() = default;
  explicit TaylorRadius(const RadialKernel& kernel);
  [[nodiscard]] double operator()(double delta) const noexcept {
    const double place = delta * step_;
    if (!(place < kCells)) return 0;
    return (ends_ ? 1 - delta : 1) * shares_[static_cast<std::size_t>(place)];
  }

 private:
  static constexpr int kCells = 128;
  bool ends_ = true;
  double step_ = 0;
  std::array<double, kCells> shares_{};
};

}  // namespace fenchel::detail
