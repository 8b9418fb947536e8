#pragma once

#include <algorithm>
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

// What the polynomial through the 15 nodes is at 1, by the values at each node and at its mirror image.
inline constexpr double kAtEnd[8] = {1.453983731103312418,  -0.706673993404573769, 0.420047199720882905,
                                     -0.291418695919990601, 0.221175970224892715,  -0.174570351562241320,
                                     0.139783431782908377,  -0.112929172918981484};
inline constexpr double kAtOtherEnd[7] = {0.006238528645340283,  -0.018451577046963430, 0.030438309530367933,
                                          -0.043250815978173977, 0.057719118618911435,  -0.073778979644262451,
                                          0.091687296848570966};

/// The same for an f of at most `bound`, looked at beside the ends as well, 2^-40 of the width away: the
/// error also counts a step between an end and the node next to it, which neither rule sees.
template <class F>
Panel gauss_kronrod_to_the_ends(F&& f, double lower, double upper, double bound) {
  constexpr double kRounding = 64 * std::numeric_limits<double>::epsilon(), kBeside = 0x1p-40;
  double seen[15];
  int count = 0;
  Panel panel = gauss_kronrod([&](double t) { return seen[count++] = f(t); }, lower, upper);
  double at_lower = kAtEnd[7] * seen[0], at_upper = at_lower;
  for (int i = 0; i < 7; ++i) {
    const double left = seen[2 * i + 1], right = seen[2 * i + 2];
    at_lower += kAtEnd[i] * left + kAtOtherEnd[i] * right;
    at_upper += kAtEnd[i] * right + kAtOtherEnd[i] * left;
  }
  const double width = upper - lower, gap = (1 - kKronrodNode[0]) * width / 2;
  const auto step = [&](double t, double continued) {
    const double value = std::min(f(t), bound), difference = std::abs(value - continued);
    return difference <= kRounding * std::max(value, panel.scale / width) ? 0 : gap * difference;
  };
  panel.error += step(lower + kBeside * width, at_lower) + step(upper - kBeside * width, at_upper);
  return panel;
}

}  // namespace fenchel::detail
