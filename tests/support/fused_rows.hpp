#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "fenchel/core/normalizer.hpp"
#include "fenchel/core/rows.hpp"
#include "fenchel/core/taut_string.hpp"

/// Rows on which fusedmax is tried, and what it should give.
namespace fenchel::testing {

using Vector = std::vector<double>;

inline Rows<const double> row_of(const Vector& x) { return {x.data(), 1, static_cast<index_t>(x.size())}; }
inline Rows<double> out_of(Vector& x) { return {x.data(), 1, static_cast<index_t>(x.size())}; }

/// Random walks, white noise, ties, alternating, monotone and constant rows.
inline const std::vector<std::string> kRowKinds{"walk",        "noise",    "ties",
                                                "alternating", "monotone", "constant"};

inline Vector make_row(const std::string& kind, std::size_t n, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::normal_distribution<double> normal;
  Vector row(n);
  double walk = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double step = normal(rng);
    walk += step;
    row[i] = kind == "walk"          ? walk
             : kind == "noise"       ? step
             : kind == "ties"        ? std::round(step)
             : kind == "alternating" ? (i % 2 == 0 ? 1.0 : -1.0)
             : kind == "monotone"    ? 1e-2 * static_cast<double>(i)
                                     : 0.25;
  }
  return row;
}

/// argmin |p - x|^2 on the simplex.
inline Vector sparsemax_of(Vector x) {
  const double top = *std::max_element(x.begin(), x.end());
  for (double& value : x) value -= top;
  normalize(1, x);
  return x;
}

/// sparsemax of the taut string.
inline Vector fusedmax_of(const Vector& z, double gamma) {
  return sparsemax_of(taut_string(z, Vector(z.size() - 1, gamma)));
}

inline double largest_difference(const Vector& a, const Vector& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst;
}

}  // namespace fenchel::testing
