#pragma once

#include <cstdint>

#include "backend/cuda/device/entmax/powers.cuh"
#include "core/smallest_density.hpp"

namespace fenchel::cuda::device {

/// alpha > 2, in double. As on the CPU (src/core/normalizer.cpp) the smallest score of the support is found
/// first, then its density by the same iteration. A score t is in the support where the mass above t is less
/// than one, so the support's edge is found among all numbers of the type by bisection of their bits: 30
/// turns in float.
template <class Real>
class BeyondTwo {
 public:
  static constexpr bool kNormalized = false, kCheap = false;

  __device__ explicit BeyondTwo(double am1) : am1_(am1), density_{am1, 1} {}

  /// For the rows of the team's block that are `mine`; the others go along.
  template <class Row, class Team>
  __device__ void solve(const Row& row, Team& team, bool mine) {
    const bool wanted = mine && !isinf(am1_);
    if (team.any(wanted)) {
      find_smallest(row, team, wanted);
      find_density(row, team, wanted);
    }
  }
  [[nodiscard]] __device__ Real powered(Real e) const {
    return isinf(am1_) ? e * 0 : static_cast<Real>(power_of(double{e}, 1 + am1_));
  }
  [[nodiscard]] __device__ Real value(Real d) const {
    if (isinf(am1_)) return d == 0 ? Real(1) : Real(0);
    if (d < smallest_) return 0;
    return static_cast<Real>(d == smallest_ ? density_.q : exp(log_density(double{d})));
  }

 private:
  using Bits = std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>;

  [[nodiscard]] __device__ static Real from_bits(Bits bits) {
    Real x;
    memcpy(&x, &bits, sizeof x);
    return x;
  }
  [[nodiscard]] __device__ __noinline__ double log_density(double d) const {
    return density_.log_density(d - double{smallest_});
  }

  template <class Row, class Team>
  __device__ void find_smallest(const Row& row, Team& team, bool wanted) {
    const auto width = static_cast<Real>(1 / am1_);  // at -1 / am1 the maximum alone has mass one
    Bits inside = 0, outside;
    memcpy(&outside, &width, sizeof width);
    outside += 1;
    while (team.any(wanted && outside - inside > 1)) {
      const Bits middle = inside + (outside - inside) / 2;
      const double t = -double{from_bits(middle)};
      double mass = 0;
      row.for_each([&](Real d, index_t) {
        if (double{d} > t) mass += power_of(am1_ * (double{d} - t), 1 / am1_);
      });
      mass = team.reduce(mass, Plus());
      if (outside - inside > 1) (mass < 1 ? inside : outside) = middle;
    }
    const Real edge = -from_bits(inside);
    Real depth = 0;
    row.for_each([&](Real d, index_t) { depth = d >= edge ? max(depth, -d) : depth; });
    smallest_ = -team.reduce(depth, Larger());
  }

  template <class Row, class Team>
  __device__ void find_density(const Row& row, Team& team, bool wanted) {
    double size = 0;
    row.for_each([&](Real d, index_t) { size += d >= smallest_ ? 1.0 : 0.0; });
    density_ = {am1_, 1 / team.reduce(size, Plus())};
    constexpr double kRounding = 1e-15;  // of sums that are not compensated, as the CPU's are
    bool done = !wanted;
    for (int step = 0; step < kMostSteps && team.any(!done); ++step) {
      CarefulSums<TwoPowerSums<double>> careful;  // the mass, and its slope in q
      row.for_each([&](Real d, index_t) {
        if (d < smallest_) return;
        const double log_p = d == smallest_ ? density_.log_q : log_density(double{d});
        careful.add({d == smallest_ ? density_.q : exp(log_p), density_.slope(log_p)});
      });
      const TwoPowerSums<double> sums = team.reduce(careful.sums(), Plus());
      if (!done) done = density_.advance(sums.value - 1, sums.escort, kRounding);
    }
  }

  double am1_;
  detail::SmallestDensity density_;
  Real smallest_ = 0;
};

}  // namespace fenchel::cuda::device
