#pragma once

#include <cmath>

#include "backend/attention/space_contour.hpp"
#include "backend/cpu/attention/space.hpp"
#include "backend/cpu/row_lanes.hpp"
#include "core/lanes/lane_math.hpp"
#include "core/lanes/lane_trigonometry.hpp"

/// Nodes of the contour of space_contour.hpp, eight at a time.
namespace fenchel::detail {

static_assert(kSpaceGroup == kLanes<double>);

/// What the nodes of a contour depend on.
struct Saddle {
  alignas(64) double agreement[kSpaceGroup];  ///< of a sum and the next
  alignas(64) double zeta[kSpaceGroup];       ///< zeta0
  alignas(64) double slope[kSpaceGroup];      ///< zeta0 times that of -log det / 2, with its sign changed
  alignas(64) double width[kSpaceGroup];      ///< B
  alignas(64) double step[kSpaceGroup];       ///< of t
  alignas(64) double log_value[kSpaceGroup];  ///< log of rho without the determinant and the sum
  alignas(64) double start[kSpaceGroup];      ///< h0 = zeta0 - 1 - log(zeta0)
};

/// Rows of `work`, D x 8 each: v zeta0, 1 + v zeta0, e2 v zeta0^2 / (1 + v zeta0)^2, then 1 / (1 + v zeta).
struct Rows8 {
  double* data;
  index_t dimension;
  FENCHEL_INLINE double* operator()(index_t table, index_t a) const noexcept {
    return data + (table * dimension + a) * kSpaceGroup;
  }
};

template <class Body>
FENCHEL_INLINE void lanes(Body body) noexcept {
  for_each_lane<double>(body);
}

/// x - log(1 + x), by its series where n is large and x small.
template <bool kMany>
FENCHEL_INLINE Complex log_gap(Complex x) noexcept {
  if constexpr (kMany) {
    return log_gap_series(x);
  } else {
    const double square = 2 * x.re + (x.re * x.re + x.im * x.im), re = 1 + x.re;
    const double modulus = std::sqrt(re * re + x.im * x.im);
    return {x.re - 0.5 * log1p_element(square), x.im - angle_element(re, x.im, modulus)};
  }
}

/// 1 / sqrt(b) for im >= 0, given |b| and 1 / b.
FENCHEL_INLINE Complex inverse_root(Complex b, double modulus, Complex inverse) noexcept {
  const double large = std::sqrt(0.5 * (modulus + std::abs(b.re))), small = 0.5 * b.im / large;
  const double re = b.re >= 0 ? large : small, im = b.re >= 0 ? small : large;
  return Complex{re, im} * inverse;
}

/// A node zeta = zeta0 (1 + x), the logarithm e of its weight relative to the saddle's, and what is a factor
/// of it, f; and f is all of the weight once it is weighed.
struct ContourNode {
  alignas(64) double x_re[kSpaceGroup], x_im[kSpaceGroup], e_re[kSpaceGroup], e_im[kSpaceGroup],
      f_re[kSpaceGroup], f_im[kSpaceGroup];

  [[nodiscard]] FENCHEL_INLINE Complex x(index_t k) const noexcept { return {x_re[k], x_im[k]}; }
  [[nodiscard]] FENCHEL_INLINE Complex f(index_t k) const noexcept { return {f_re[k], f_im[k]}; }
  [[nodiscard]] FENCHEL_INLINE Complex zeta(const Saddle& saddle, index_t k) const noexcept {
    return {saddle.zeta[k] * (1 + x_re[k]), saddle.zeta[k] * x_im[k]};
  }
};

/// The node at t = i step, without the coordinates.
template <bool kMany>
FENCHEL_INLINE void place(double n, const Saddle& saddle, int i, ContourNode& node) noexcept {
  lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
    const double half = 0.5 * i * saddle.step[k], h2 = half * half, grown = exp_element(half);
    // sinh(t / 2), by its series where the difference would cancel
    const double series =
        half * (1 + h2 * (1. / 6 + h2 * (1. / 120 + h2 * (1. / 5040 + h2 * (1. / 362880 + h2 / 39916800.)))));
    const double s = half < 0.5 ? series : 0.5 * (grown - 1 / grown), s2 = 2 * s * s;
    const double sinh = 2 * s * std::sqrt(1 + s * s), width = saddle.width[k];
    const Complex x{-width * kContourSlope * s2, width * sinh};
    const Complex e = saddle.slope[k] * x + n * log_gap<kMany>(x);
    node.x_re[k] = x.re;
    node.x_im[k] = x.im;
    node.e_re[k] = e.re;
    node.e_im[k] = e.im;
    node.f_re[k] = width * (1 + s2);
    node.f_im[k] = width * kContourSlope * sinh;
  });
}

/// The coordinates' part of e and f, and their 1 / (1 + v zeta) into `work`.
FENCHEL_INLINE void add_coordinates(const SpaceGroup& group, ContourNode& node) noexcept {
  const Rows8 work{group.work, group.dimension};
  for (index_t a = 0; a < group.dimension; ++a) {
    const double *const scaled = work(0, a), *const base = work(1, a), *const bend = work(2, a);
    double *const inverse_re = work(3, a), *const inverse_im = work(4, a);
    lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
      const Complex x = node.x(k), b{base[k] + scaled[k] * x.re, scaled[k] * x.im};
      const double square = b.re * b.re + b.im * b.im, modulus = std::sqrt(square), over = 1 / square;
      const Complex inverse{b.re * over, -b.im * over}, e = bend[k] * (x * x * inverse);
      const Complex f = node.f(k) * inverse_root(b, modulus, inverse);
      inverse_re[k] = inverse.re;
      inverse_im[k] = inverse.im;
      node.e_re[k] += e.re;
      node.e_im[k] += e.im;
      node.f_re[k] = f.re;
      node.f_im[k] = f.im;
    });
  }
}

/// Makes f the weight, `share` of it at the first node, which is on the axis; its size is returned.
FENCHEL_INLINE void weigh(double share, ContourNode& node, double* sum, double* size) noexcept {
  lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
    const SineCosine turn = sine_cosine_element(node.e_im[k]);
    const double grown = exp_element(node.e_re[k]) * share;
    const Complex f = Complex{grown * turn.cosine, grown * turn.sine} * node.f(k);
    node.f_re[k] = f.re;
    node.f_im[k] = f.im;
    sum[k] += f.re;
    size[k] = std::abs(f.re) + std::abs(f.im);
  });
}

}  // namespace fenchel::detail
