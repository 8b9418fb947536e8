#pragma once

/// `match_weights` and its derivatives over the rows of a batch.

#include <optional>
#include <span>
#include <type_traits>

#include "fenchel/backend/cpu/attention.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/rows.hpp"

/// From the weights of each row over positions to a density, in float and double [SCD22, Section 9.1;
/// docs/math.md 5.6]: the beta-Gaussian at alpha with the mean of the weights and with their covariance plus
/// `floor` times the identity. All arithmetic is in double.
///
/// Throw std::invalid_argument for shapes that do not fit, a null view or a length outside of [1, cols],
/// std::domain_error for a weight that is negative or not finite, a sum that is not 1, alpha that is infinite
/// or not above D / (D + 2), a singular covariance, and Sigma that overflows (large alpha); the first such
/// row is named, and others may have been written.
namespace fenchel::cpu {

/// How far from 1 the weights of a row may add up to. They are divided by their sum, so that derivatives are
/// those along weights of sum 1, and of mean 0 under them.
template <class Real>
inline constexpr double kWeightSumError = sizeof(Real) == 4 ? 1e-4 : 1e-9;

using WeightPositions = WeightPositionViews<Rows>;

/// mu, B x D, and Sigma, B x D^2, of `density`. The floor keeps a density from shrinking to a point, and is
/// added, not a bound, so that derivatives exist everywhere. Unless it is said it is the variance of one cell
/// of the unit cube, L^{-2/D} / 12: then the cells of a sequence are uniform inside, and equal weights have
/// variance 1/12 at every length. It may be 0 where the covariance is not singular.
template <class Real>
FENCHEL_EXPORT void match_weights(PerRow alpha, std::type_identity_t<Rows<const Real>> weights,
                                  const WeightPositions& positions, std::optional<double> floor,
                                  const DensityTangents<Real>& density);

/// From a gradient in mu, Sigma and alpha that in the weights, and in alpha: the cotangent's own and what
/// alpha does to Sigma. An empty alpha is 0 or not wanted.
template <class Real>
FENCHEL_EXPORT void match_weights_vjp(PerRow alpha, std::type_identity_t<Rows<const Real>> weights,
                                      const WeightPositions& positions, std::optional<double> floor,
                                      const DensityTangents<const std::type_identity_t<Real>>& cotangent,
                                      Rows<Real> gradient,
                                      std::span<std::type_identity_t<Real>> alpha_gradient = {});

/// How mu and Sigma move when the weights move along a direction, and alpha along its own unless that
/// is empty.
template <class Real>
FENCHEL_EXPORT void match_weights_jvp(PerRow alpha, std::type_identity_t<Rows<const Real>> weights,
                                      const WeightPositions& positions, std::optional<double> floor,
                                      std::type_identity_t<Rows<const Real>> direction,
                                      std::span<const std::type_identity_t<Real>> alpha_direction,
                                      const DensityTangents<Real>& tangent);

/// The Hessian of the sum of cotangent times mu and Sigma in the weights and alpha, times a direction.
template <class Real>
FENCHEL_EXPORT void match_weights_vjp_vjp(PerRow alpha, std::type_identity_t<Rows<const Real>> weights,
                                          const WeightPositions& positions, std::optional<double> floor,
                                          const DensityTangents<const std::type_identity_t<Real>>& cotangent,
                                          std::type_identity_t<Rows<const Real>> direction,
                                          std::span<const std::type_identity_t<Real>> alpha_direction,
                                          Rows<Real> product,
                                          std::span<std::type_identity_t<Real>> alpha_product = {});

extern template void match_weights(PerRow, Rows<const float>, const WeightPositions&, std::optional<double>,
                                   const DensityTangents<float>&);
extern template void match_weights_vjp(PerRow, Rows<const float>, const WeightPositions&,
                                       std::optional<double>, const DensityTangents<const float>&,
                                       Rows<float>, std::span<float>);
extern template void match_weights_jvp(PerRow, Rows<const float>, const WeightPositions&,
                                       std::optional<double>, Rows<const float>, std::span<const float>,
                                       const DensityTangents<float>&);
extern template void match_weights_vjp_vjp(PerRow, Rows<const float>, const WeightPositions&,
                                           std::optional<double>, const DensityTangents<const float>&,
                                           Rows<const float>, std::span<const float>, Rows<float>,
                                           std::span<float>);
extern template void match_weights(PerRow, Rows<const double>, const WeightPositions&, std::optional<double>,
                                   const DensityTangents<double>&);
extern template void match_weights_vjp(PerRow, Rows<const double>, const WeightPositions&,
                                       std::optional<double>, const DensityTangents<const double>&,
                                       Rows<double>, std::span<double>);
extern template void match_weights_jvp(PerRow, Rows<const double>, const WeightPositions&,
                                       std::optional<double>, Rows<const double>, std::span<const double>,
                                       const DensityTangents<double>&);
extern template void match_weights_vjp_vjp(PerRow, Rows<const double>, const WeightPositions&,
                                           std::optional<double>, const DensityTangents<const double>&,
                                           Rows<const double>, std::span<const double>, Rows<double>,
                                           std::span<double>);

}  // namespace fenchel::cpu
