#pragma once

/// `total_variation` of a density on the line.

#include <cmath>
#include <concepts>

#include "fenchel/core/config.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/line/beta_laplace.hpp"
#include "fenchel/distribution/line/capped_parabola.hpp"
#include "fenchel/distribution/line/capped_triangular.hpp"
#include "fenchel/distribution/line/dirac.hpp"
#include "fenchel/distribution/line/empirical.hpp"
#include "fenchel/distribution/line/location_scale.hpp"
#include "fenchel/distribution/line/numeric_density.hpp"
#include "fenchel/distribution/line/smooth_parabola.hpp"
#include "fenchel/distribution/line/smooth_triangular.hpp"
#include "fenchel/distribution/line/truncated_gaussian.hpp"
#include "fenchel/domain/interval.hpp"

/// total_variation(q) = int |q'| of a density on the line, jumps included [SCD22, Section 7]: what it climbs
/// and falls from 0 to 0.
namespace fenchel {

/// The families of densities that rise to mode(q) and fall beyond it.
template <class Q>
concept UnimodalDensity =
    std::same_as<Q, BetaGaussian> || std::same_as<Q, BetaLaplace> || std::same_as<Q, CappedParabola> ||
    std::same_as<Q, CappedTriangular> || std::same_as<Q, LocationScale> || std::same_as<Q, SmoothParabola> ||
    std::same_as<Q, SmoothTriangular> || std::same_as<Q, TruncatedGaussian>;

template <UnimodalDensity Q>
[[nodiscard]] double total_variation(const Q& q) {
  return 2 * pdf(q, mode(q));
}

/// From its values at the modes, at the minima between them and at the ends of its support, as if it had no
/// other turning points; the minima are exact to rounding, the modes as exact as they were given.
[[nodiscard]] FENCHEL_EXPORT double total_variation(const NumericDensity& q);

namespace detail {
/// Without the jumps at the ends of the domain, of which nobody pays.
template <class Q>
[[nodiscard]] double total_variation_within(const Interval& domain, const Q& q) {
  double sum = total_variation(q);
  if constexpr (requires { pdf(q, 0.0); }) {
    for (const double end : {domain.lower(), domain.upper()}) {
      if (!std::isinf(end)) sum -= pdf(q, end);
    }
  }
  return sum;
}
}  // namespace detail

/// Infinite: the limit of narrow densities.
[[nodiscard]] inline double total_variation(const Dirac&) noexcept { return kInfinity; }
[[nodiscard]] inline double total_variation(const Empirical&) noexcept { return kInfinity; }

}  // namespace fenchel
