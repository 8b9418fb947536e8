#pragma once

#include <cmath>
#include <limits>

namespace fenchel::detail {

/// An integral over [lower, upper] with an estimate of its error, and the integral of the absolute value.
struct Panel {
  double lower, upper, value, error, scale;
};

inline bool smaller_error(const Panel& a, const Panel& b) { return a.error < b.error; }

// Kronrod's nodes on [0, 1] and both rules' weights; Gauss's nodes are every second one [R. Piessens et al.,
// QUADPACK (1983), QK15].
inline constexpr double kKronrodNode[8] = {
    0.991455371120812639206854697526329, 0.949107912342758524526189684047851,
    0.864864423359769072789712788640926, 0.741531185599394439863864773280788,
    0.586087235467691130294144691693013, 0.405845151377397166906606412076961,
    0.207784955007898467600689403773245, 0.000000000000000000000000000000000};
inline constexpr double kKronrod[8] = {
    0.022935322010529224963732008058970, 0.063092092629978553290700663189204,
    0.104790010322250183839876322541518, 0.140653259715525918745189590510238,
    0.169004726639267902826583426598550, 0.190350578064785409913256402421014,
    0.204432940075298892414161999234649, 0.209482141084727828012999174891714};
inline constexpr double kGauss[4] = {0.129484966168869693270611432679082, 0.279705391489276667901467771423780,
                                     0.381830050505118944950369775488975,
                                     0.417959183673469387755102040816327};

/// 15-point Gauss-Kronrod. The error is the difference of the two rules, 0 where that is rounding: far too
/// large for a smooth f, but right about a kink, where estimates that extrapolate (QUADPACK's) are not.
template <class F>
Panel gauss_kronrod(F&& f, double lower, double upper) {
  constexpr double kRounding = 8 * std::numeric_limits<double>::epsilon();
  const double half = (upper - lower) / 2, middle = lower + half, centre = f(middle);
  double kronrod = kKronrod[7] * centre, gauss = kGauss[3] * centre, scale = kKronrod[7] * std::abs(centre);
  for (int i = 0; i < 7; ++i) {
    const double left = f(middle - half * kKronrodNode[i]), right = f(middle + half * kKronrodNode[i]);
    kronrod += kKronrod[i] * (left + right);
    scale += kKronrod[i] * (std::abs(left) + std::abs(right));
    if (i % 2 == 1) gauss += kGauss[i / 2] * (left + right);
  }
  const double error = std::abs(kronrod - gauss);
  return {lower, upper, half * kronrod, error <= kRounding * scale ? 0 : half * error, half * scale};
}

}  // namespace fenchel::detail
