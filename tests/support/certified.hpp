#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "support/reference.hpp"

/// The prediction of long rows in long double, at the price of a few passes where reference.hpp takes ninety:
/// Newton's iteration from a guess, accepted only where the residual proves that the root is there (the mass
/// is monotone in the unknown, and convex or concave, so that residual / slope bounds the error).
namespace fenchel::testing {

struct Certified {
  ExtendedVector p;
  Extended edge;  ///< score at which the density reaches 0, less the largest score; -inf for alpha <= 1
  bool proved;    ///< the mass is 1 to kCertifiedResidual
};

inline constexpr Extended kCertifiedResidual = 1e-17L;

namespace detail {

/// Kahan's sum: a row of a hundred thousand would otherwise lose the digits that the proof needs.
class ExtendedSum {
 public:
  void operator+=(Extended x) {
    const Extended term = x - lost_, next = sum_ + term;
    lost_ = (next - sum_) - term;
    sum_ = next;
  }
  operator Extended() const { return sum_; }

 private:
  Extended sum_ = 0, lost_ = 0;
};

struct MassAndSlope {
  ExtendedSum mass, slope;
};

/// alpha < 2, in l = log P of the largest density: log p = l + log1p(eps c d) / eps, c = e^{-eps l}.
template <class Real>
MassAndSlope fill_from_peak(Extended eps, Extended l, const std::vector<Real>& z, Extended top,
                            ExtendedVector& p) {
  const Extended slope = eps * std::exp(-eps * l);
  MassAndSlope sums;
  for (std::size_t i = 0; i < z.size(); ++i) {
    const Extended d = z[i] - top, base = 1 + slope * d;
    p[i] = eps == 0 ? std::exp(l + d) : base > 0 ? std::exp(l + std::log1p(slope * d) / eps) : 0.0L;
    sums.mass += p[i];
    if (p[i] > 0) sums.slope += p[i] / base;
  }
  return sums;
}

/// alpha >= 2, in the smallest density q of the support, at the score `pivot`: p^eps = q^eps + eps (z -
/// pivot).
template <class Real>
MassAndSlope fill_from_smallest(Extended eps, Extended q, const std::vector<Real>& z, Extended pivot,
                                ExtendedVector& p) {
  const Extended least = power(q, eps);
  MassAndSlope sums;
  for (std::size_t i = 0; i < z.size(); ++i) {
    p[i] = z[i] < pivot    ? 0.0L
           : z[i] == pivot ? q
                           : power(least + eps * (static_cast<Extended>(z[i]) - pivot), 1 / eps);
    sums.mass += p[i];
    if (p[i] > 0) sums.slope += power(q / p[i], eps - 1);
  }
  return sums;
}

/// The smallest score of the support: the last of the sorted ones above which there is less than all mass.
template <class Real>
Extended smallest_in_support(Extended eps, const std::vector<Real>& z) {
  std::vector<Real> sorted = z;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  const auto inside = [&](Real t) {
    Extended mass = 0;
    for (std::size_t i = 0; i < sorted.size() && sorted[i] > t && mass < 1; ++i)
      mass += power(eps * (static_cast<Extended>(sorted[i]) - t), 1 / eps);
    return mass < 1;
  };
  return *(std::partition_point(sorted.begin(), sorted.end(), inside) - 1);
}

}  // namespace detail

/// `guess` is what the library found; it saves passes and cannot change what is accepted.
template <class Real>
Certified certified_entmax(double alpha, const std::vector<Real>& z, const std::vector<Real>& guess) {
  constexpr int kMostSteps = 100;
  const Extended eps = static_cast<Extended>(alpha) - 1;
  const Extended top = *std::max_element(z.begin(), z.end());
  Certified result{ExtendedVector(z.size()), 0, false};
  if (eps < 1) {
    const Extended guessed = *std::max_element(guess.begin(), guess.end());
    const Extended least = 1 / (3 * static_cast<Extended>(z.size()));
    Extended peak = guessed > least && guessed <= 1 ? guessed : 1.0L;
    for (int step = 0; step < kMostSteps && !result.proved; ++step) {
      const auto sums = detail::fill_from_peak(eps, std::log(peak), z, top, result.p);
      const Extended mass = sums.mass, slope = sums.slope;
      result.proved = std::fabs(mass - 1) <= kCertifiedResidual * std::max(1.0L, slope);
      if (!result.proved) peak = std::clamp(peak - (mass - 1) * peak / slope, least, 1.0L);
    }
    result.edge = eps > 0 ? -std::pow(peak, eps) / eps : -std::numeric_limits<Extended>::infinity();
  } else {
    const Extended pivot = detail::smallest_in_support(eps, z);
    const auto count = std::count_if(z.begin(), z.end(), [&](Real x) { return x >= pivot; });
    Extended q = 1 / static_cast<Extended>(count);
    for (int step = 0; step < kMostSteps && !result.proved; ++step) {
      const auto sums = detail::fill_from_smallest(eps, q, z, pivot, result.p);
      const Extended mass = sums.mass, slope = sums.slope;
      result.proved = std::fabs(mass - 1) <= kCertifiedResidual || q == 0;
      if (!result.proved) q = std::max(0.0L, q - (mass - 1) / slope);
    }
    result.edge = pivot - top - power(q, eps) / eps;
  }
  return result;
}

}  // namespace fenchel::testing
