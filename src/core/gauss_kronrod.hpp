#pragma once

#include <algorithm>
#include <cmath>

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

/// 15-point Gauss-Kronrod with the error estimate of QUADPACK.
template <class F>
Panel gauss_kronrod(F&& f, double lower, double upper) {
  const double half = (upper - lower) / 2, middle = lower + half;
  double left[7], right[7];
  const double centre = f(middle);
  double kronrod = kKronrod[7] * centre, gauss = kGauss[3] * centre, scale = kKronrod[7] * std::abs(centre);
  for (int i = 0; i < 7; ++i) {
    left[i] = f(middle - half * kKronrodNode[i]);
    right[i] = f(middle + half * kKronrodNode[i]);
    kronrod += kKronrod[i] * (left[i] + right[i]);
    scale += kKronrod[i] * (std::abs(left[i]) + std::abs(right[i]));
    if (i % 2 == 1) gauss += kGauss[i / 2] * (left[i] + right[i]);
  }
  double spread = kKronrod[7] * std::abs(centre - kronrod / 2);
  for (int i = 0; i < 7; ++i)
    spread += kKronrod[i] * (std::abs(left[i] - kronrod / 2) + std::abs(right[i] - kronrod / 2));
  double error = std::abs(kronrod - gauss);
  if (spread > 0 && error > 0) error = spread * std::min(1.0, std::pow(200 * error / spread, 1.5));
  return {lower, upper, half * kronrod, half * error, half * scale};
}

}  // namespace fenchel::detail
