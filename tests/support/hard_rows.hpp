#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

/// Rows made to hurt a solver that looks for the threshold. They are written for sparsemax, whose threshold
/// lies at most 1 below the maximum, and scaled by 1/am1 for the other maps.
namespace fenchel::testing {

/// Newton's iteration on sparsemax (Michelot's algorithm) drops one group of these a step: each group lies
/// just below the threshold of the groups above it, by a gap that grows as fast as the next one needs.
/// `growth` is the size of a group against all above it: the product of both growths is limited by the length
/// and by rounding.
template <class Real>
std::vector<Real> slowly_shrinking_row(double am1, std::size_t longest, double growth, double first_gap) {
  constexpr std::size_t kMaxima = 4;
  std::vector<Real> z(kMaxima);
  long double sum = 0, gap = first_gap;
  for (;;) {
    const long double threshold = (sum - 1) / static_cast<long double>(z.size()), score = threshold - gap;
    const auto count =
        std::max<std::size_t>(1, static_cast<std::size_t>(growth * static_cast<double>(z.size())));
    if (score < -0.999L || z.size() + count > longest) return z;
    z.insert(z.end(), count, static_cast<Real>(score / am1));
    sum += static_cast<long double>(count) * score;
    gap *= 1.05L * (1 + 1 / growth);
  }
}

/// -1 + r^k: the scores come to the threshold of the largest alone, faster or slower.
template <class Real>
std::vector<Real> geometric_row(double am1, std::size_t n, double ratio) {
  std::vector<Real> z(n);
  for (std::size_t k = 0; k < n; ++k)
    z[k] = static_cast<Real>((std::pow(ratio, static_cast<double>(k)) - 1) / am1);
  return z;
}

/// One maximum, and all others equal, `gap` above the threshold of the maximum alone.
template <class Real>
std::vector<Real> almost_one_hot_row(double am1, std::size_t n, double gap) {
  std::vector<Real> z(n, 0);
  z[n / 3] = static_cast<Real>((1 - gap) / am1);
  return z;
}

/// One maximum, and a crowd that straddles the threshold that it makes: scores at -1 + gap + spread u^shape,
/// u uniform on (0, 1). The crowd is that share of the row; the rest lies far below.
template <class Real>
std::vector<Real> crowded_row(double am1, std::size_t n, double gap, double spread, double shape,
                              double share = 1) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> uniform;
  std::vector<Real> z(n);
  for (Real& x : z) {
    const double place = gap + spread * std::pow(uniform(random), shape);
    x = static_cast<Real>((uniform(random) < share ? place - 1 : -3) / am1);
  }
  z[n / 2] = 0;
  return z;
}

}  // namespace fenchel::testing
