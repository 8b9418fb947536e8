#pragma once

#include "fenchel/core/config.hpp"

namespace fenchel::detail {

/// What the two predictions of Sobolev share. In units of the half width, at the distance d from the edge, p
/// is F_0(d) / (2 half_width mass), where F solves z^2 F'' = F - d + bend d^2/2 + z slope, F(0) = F'(0) = 0
/// (MATH.md 6.2 seen from the edge, derived).
struct SmoothShape {
  double bend;     ///< 1 for a quadratic score, 0 for an absolute one
  double inverse;  ///< z = sqrt(gamma) / half_width = 1 / x
  double slope;    ///< coth x - z, or tanh(x / 2): z F''(0)
  double level;    ///< coth x, or tanh(x / 2)
  double echo;     ///< the factor of z exp(-(1 - d) / z) in F_0
  double mass;     ///< int_0^1 F_0
};

}  // namespace fenchel::detail
