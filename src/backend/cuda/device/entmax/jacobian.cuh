#pragma once

#include <cmath>
#include <limits>

#include "backend/cuda/device/product_rows.cuh"
#include "backend/cuda/device/sums.cuh"
#include "backend/cuda/device/team.cuh"

/// J v of entmax on one row, J = diag(s) - s s^T / sum(s), s = p^{2-alpha} where p is not 0, with the same
/// steps as on the CPU (src/backend/cpu/entmax/jacobian_row.cpp).
namespace fenchel::cuda::device {

/// Far from the loops that call it, which are unrolled.
static __device__ __noinline__ double power(double p, double exponent) { return exp(exponent * log(p)); }
/// The hardware's logarithm errs by 2^-22, no more than the rounding of its product with the exponent does
/// for small p.
__device__ inline float power(float p, float exponent) { return exp2f(exponent * __log2f(p)); }

__device__ inline double root(double p) { return sqrt(p); }
/// The hardware's root errs by 2^-23.
__device__ inline float root(float p) {
  float result;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(result) : "f"(p));
  return result;
}

/// Calls body(weight), weight(p) = s of a number p that is not 0, for alpha <= 2.
template <class Real, class Body>
__device__ inline void with_weight(double alpha, Body body) {
  if (alpha == 1) {
    body([](Real p) { return p; });
  } else if (alpha == 2) {
    body([](Real p) { return 1 + p * 0; });  // NaN stays
  } else if (alpha == 1.5) {
    body([](Real p) { return root(p); });
  } else {
    // The smaller exponent rounds less.
    const bool near_one = alpha < 1.5;
    body([near_one, exponent = static_cast<Real>(near_one ? 1 - alpha : 2 - alpha)](Real p) {
      const Real s = power(p, exponent);
      return near_one ? p * s : s;
    });
  }
}

/// Sums of some columns under s, of v less its value where s is largest; in double.
struct CentredSums {
  double largest, centre, total, moment;

  [[nodiscard]] __device__ CentredSums shuffled(int distance) const {
    return {__shfl_xor_sync(kAllLanes, largest, distance), __shfl_xor_sync(kAllLanes, centre, distance),
            __shfl_xor_sync(kAllLanes, total, distance), __shfl_xor_sync(kAllLanes, moment, distance)};
  }
};
struct Joined {
  __device__ CentredSums operator()(const CentredSums& x, const CentredSums& y) const {
    const bool second = y.largest > x.largest;
    const double moved = second ? x.total * (x.centre - y.centre) : y.total * (y.centre - x.centre);
    return {second ? y.largest : x.largest, second ? y.centre : x.centre, x.total + y.total,
            x.moment + y.moment + moved};
  }
};

/// out = s (v - mean) where p is not 0, mean = <s, v> / sum(s); written where wanted. observe(p, out) sees
/// every column. An entry with nearly all of the weight has a v close to the mean: v is centred where s is
/// largest, so that no digit of the difference is lost. The centre moves as larger ones are found: of the
/// equals, threads may take different ones.
template <class Team, class Row, class Observe>
__device__ inline void weighted_product(Team& team, Row& row, double alpha, bool wanted, Observe observe) {
  using Real = typename Row::Real;
  using Sum = typename Row::Sum;
  constexpr bool kKept = Row::kKeepsChanges;  // s takes the place of p
  CentredSums sums{};
  with_weight<Real>(alpha, [&](auto weight) {
    Real largest = 0, centre = 0;
    Sum total = 0, moment = 0;
    row.each([&](Real& p, Real v, index_t) {
      const Real s = p != 0 ? weight(p) : Real(0);
      const bool larger = s > largest;
      moment += larger ? total * static_cast<Sum>(centre - v) : 0;
      centre = larger ? v : centre;
      largest = larger ? s : largest;
      total += s;
      moment += p != 0 ? static_cast<Sum>(s) * (v - centre) : 0;
      if constexpr (kKept) p = s;
    });
    sums = {double(largest), double(centre), double(total), double(moment)};
  });
  sums = team.reduce(sums, Joined());
  if (!wanted) return;
  // The mean as a sum: v - centre may be much larger than v - mean, and its rounding, too.
  const double mean = sums.moment / sums.total;
  const Real high = static_cast<Real>(sums.centre + mean),
             low = static_cast<Real>((sums.centre - double{high}) + mean);
  const auto write = [&](auto weight) {
    row.write([&](Real p, Real v, index_t) {
      const Real s = p != 0 ? weight(p) : p;
      const Real x = s != 0 ? s * (v - high - low) : Real(0);
      observe(p, x);
      return x;
    });
  };
  if constexpr (kKept) {
    write([](Real s) { return s; });
  } else {
    with_weight<Real>(alpha, write);
  }
}

/// The column whose p is the smallest one that is not 0, the first of them; none is -1.
struct SmallestColumn {
  double p;
  index_t column;

  [[nodiscard]] __device__ SmallestColumn shuffled(int distance) const {
    return {__shfl_xor_sync(kAllLanes, p, distance), __shfl_xor_sync(kAllLanes, column, distance)};
  }
};
struct Smaller {
  __device__ SmallestColumn operator()(const SmallestColumn& x, const SmallestColumn& y) const {
    if (y.column < 0 || x.column < 0) return x.column < 0 ? y : x;
    return y.p < x.p || (!(x.p < y.p) && y.column < x.column) ? y : x;  // of NaN, the first
  }
};

/// x, but no farther from 0 than the largest number; NaN stays.
__device__ inline double clamped(double x, double largest) {
  return x > largest ? largest : x < -largest ? -largest : x;
}

/// alpha > 2: s grows without bound as p goes to 0, and the entry k with the largest s takes all of the mean.
/// Its own product is therefore what the others leave, -sum of them, and v is centred at v_k. s saturates at
/// the largest number. In double.
template <class Team, class Row, class Observe>
__device__ inline void product_beyond_two(Team& team, const Row& row, double alpha, Observe observe) {
  using Real = typename Row::Real;
  SmallestColumn smallest{0, -1};
  row.each([&](Real p, Real, index_t j) {
    if (p != 0) smallest = Smaller()(smallest, {double(p), j});
  });
  smallest = team.reduce(smallest, Smaller());
  const double beta = 2 - alpha, log_smallest = log(smallest.p),
               centre = row.row().v(smallest.column < 0 ? 0 : smallest.column);
  Sums<2> sums{};
  row.each([&](Real p, Real v, index_t) {
    if (p == 0) return;
    const double ratio = exp(beta * (log(double(p)) - log_smallest));
    sums.of[0] += ratio;
    sums.of[1] += ratio * (v - centre);
  });
  sums = team.reduce(sums, PlusEach());
  const double mean = sums.of[1] / sums.of[0], largest = row.row().largest();
  const auto product = [&](Real p, Real v, index_t j) {
    if (p == 0 || j == smallest.column) return 0.0;
    return clamped(fmin(largest, exp(beta * log(double(p)))) * (v - centre - mean), largest);
  };
  double others = 0;
  row.each([&](Real p, Real v, index_t j) { others += product(p, v, j); });
  others = team.reduce(others, Plus());
  row.write([&](Real p, Real v, index_t j) {
    const double own = 0 * double(p) - others;  // NaN stays
    const auto x = static_cast<Real>(j == smallest.column ? clamped(own, largest) : product(p, v, j));
    observe(p, x);
    return x;
  });
}

/// Writes a row without products: alpha does not exist, or it is infinite and p stands still.
template <class Row, class Observe>
__device__ inline bool constant_product(const Row& row, double alpha, Observe observe) {
  using Real = typename Row::Real;
  if (alpha > 0 && alpha <= std::numeric_limits<double>::max()) return false;
  const Real factor = alpha > 0 ? Real(0) : std::numeric_limits<Real>::quiet_NaN();
  row.write([&](Real p, Real, index_t) {
    const Real x = p * factor;  // NaN stays
    observe(p, x);
    return x;
  });
  return true;
}

/// J v for every alpha.
template <class Team, class Row, class Observe>
__device__ inline void jacobian_product(Team& team, Row& row, double alpha, Observe observe) {
  if (constant_product(row, alpha, observe)) return;
  if (alpha > 2) return product_beyond_two(team, row, alpha, observe);
  weighted_product(team, row, alpha, true, observe);
}

}  // namespace fenchel::cuda::device
