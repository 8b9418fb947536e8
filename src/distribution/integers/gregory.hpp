#pragma once

#include <array>
#include <cstddef>

namespace fenchel::detail {

/// Of the sum of g(0), g(1), ... less its integral from 0, sum_k G_{k+1} Delta^k g(0) with Gregory's
/// coefficients G_k: those of g(0), ..., g(8).
inline constexpr int kGregoryEnd = 9;
inline constexpr std::array<double, kGregoryEnd> kGregoryWeights = [] {
  constexpr std::array<double, kGregoryEnd> kGregory{1.0 / 2,       -1.0 / 12,          1.0 / 24,
                                                     -19.0 / 720,   3.0 / 160,          -863.0 / 60480,
                                                     275.0 / 24192, -33953.0 / 3628800, 8183.0 / 1036800};
  std::array<double, kGregoryEnd> weights{};
  for (int k = 0; k < kGregoryEnd; ++k) {
    double binomial = k % 2 == 0 ? 1 : -1;  // (-1)^{k-j} (k over j)
    for (int j = 0; j <= k; ++j) {
      weights[static_cast<std::size_t>(j)] += kGregory[static_cast<std::size_t>(k)] * binomial;
      binomial *= -static_cast<double>(k - j) / (j + 1);
    }
  }
  return weights;
}();

}  // namespace fenchel::detail
