#pragma once

/// `FenchelYoungMetric`, `geodesic` and `distance`: the geometry of the loss on the line.

#include <array>

#include "fenchel/core/config.hpp"

/// The geometry of the Fenchel-Young loss on beta-Gaussians of one alpha on the line [SCD22, Section 6;
/// docs/math.md 5.7, E18]: near the prediction the loss is half the squared length in the metric dmu^2 /
/// sigma^2 + C sigma^{2e-4} dsigma^2, e = 2 / (alpha + 1), C = 8 e^{z_1} / ((alpha + 1)(3 alpha - 1)) with z
/// of sigma = 1. sigma^2 is the score's sigma2.
namespace fenchel {

/// A member of the family, as a point of the half-plane sigma > 0.
struct HalfPlanePoint {
  double mu, sigma;

  friend bool operator==(const HalfPlanePoint&, const HalfPlanePoint&) = default;
};

class FENCHEL_EXPORT FenchelYoungMetric {
 public:
  /// Throws std::domain_error unless alpha is above 1/3 and finite.
  explicit FenchelYoungMetric(double alpha);

  [[nodiscard]] double alpha() const noexcept { return alpha_; }
  /// e - 1, which is 0 at alpha = 1.
  [[nodiscard]] double exponent_less_one() const noexcept { return -(alpha_ - 1) / (alpha_ + 1); }
  /// C: 2 at alpha = 1.
  [[nodiscard]] double constant() const noexcept { return constant_; }

  /// The diagonal of the metric in (mu, sigma); it does not depend on mu. NaN for sigma that is not positive.
  [[nodiscard]] std::array<double, 2> tensor(double sigma) const noexcept;
  /// Gaussian curvature: negative, and constant for alpha = 1 only (-1/2).
  [[nodiscard]] double curvature(double sigma) const noexcept;

  friend bool operator==(const FenchelYoungMetric&, const FenchelYoungMetric&) = default;

 private:
  double alpha_, constant_;
};

/// A shortest path. With x as parameter, sigma = sigma_max sech x and dmu = sqrt(C) sigma_max^e sech^{1+e} x
/// dx, of length sqrt(C) sigma^{e-1} dx: a half-ellipse for alpha = 1. Vertical lines have infinite
/// sigma_max.
class FENCHEL_EXPORT Geodesic {
 public:
  [[nodiscard]] const FenchelYoungMetric& metric() const noexcept { return metric_; }
  /// The largest sigma on the whole curve, of which this is a piece.
  [[nodiscard]] double sigma_max() const noexcept { return sigma_max_; }
  /// Clairaut's constant |dmu/ds| / sigma^2 in arc length s, 1 / sigma_max.
  [[nodiscard]] double clairaut() const noexcept { return 1 / sigma_max_; }
  [[nodiscard]] double length() const noexcept { return length_; }
  /// The point at the fraction s of the length, the ends at 0 and 1. Where the length is infinite, s is the
  /// fraction of the angle arcsin(sigma / sigma_max) from 0 to pi. Throws std::domain_error unless s is in
  /// [0, 1].
  [[nodiscard]] HalfPlanePoint at(double s) const;

 private:
  friend FENCHEL_EXPORT Geodesic geodesic(const FenchelYoungMetric&, HalfPlanePoint, HalfPlanePoint);
  friend FENCHEL_EXPORT Geodesic geodesic_of_diracs(const FenchelYoungMetric&, double, double);
  Geodesic(const FenchelYoungMetric& metric, HalfPlanePoint from, HalfPlanePoint to, double sigma_max,
           double begin, double end);
  [[nodiscard]] HalfPlanePoint point(double x) const;

  FenchelYoungMetric metric_;
  HalfPlanePoint from_, to_;
  double sigma_max_, begin_, end_, length_;
};

/// The one geodesic from one member to another. Throws std::domain_error unless both have finite mu and
/// positive, finite sigma; and where sigma_max would overflow, since it goes like width^{(alpha+1)/2}.
[[nodiscard]] FENCHEL_EXPORT Geodesic geodesic(const FenchelYoungMetric& metric, HalfPlanePoint from,
                                               HalfPlanePoint to);
/// The limit for sigma -> 0 at both ends, between two observations. Its length is infinite for alpha >= 1.
/// Throws std::domain_error unless they are finite and differ.
[[nodiscard]] FENCHEL_EXPORT Geodesic geodesic_of_diracs(const FenchelYoungMetric& metric, double a,
                                                         double b);

/// The length of the geodesic.
[[nodiscard]] FENCHEL_EXPORT double distance(const FenchelYoungMetric& metric, HalfPlanePoint a,
                                             HalfPlanePoint b);
/// The distance of two members with the same mu, in closed form; to sigma = 0 it is infinite for alpha >= 1.
/// Throws std::domain_error unless both sigma are finite, not negative, and one of them positive.
[[nodiscard]] FENCHEL_EXPORT double vertical_distance(const FenchelYoungMetric& metric, double sigma_a,
                                                      double sigma_b);

}  // namespace fenchel
