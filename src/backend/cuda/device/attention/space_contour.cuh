#pragma once

#include <cuda_runtime.h>

#include "backend/attention/space_contour.hpp"
#include "backend/attention/space_saddle.hpp"
#include "backend/cuda/device/attention/space_pair.cuh"
#include "backend/cuda/device/attention/space_sums.cuh"

/// The contour of alpha > 1 for one pair a thread. The rule and the saddle are those of the CPU, which has
/// eight pairs in lanes; what is done at a node is not: everything is relative to its value at the saddle, so
/// that a float is wide enough, nodes follow from each other by the addition theorem of sinh, and two
/// coordinates share a square root.
namespace fenchel::cuda::device {

/// The minimum zeta0 of the exponent and what the rule needs there.
template <int kD>
struct Saddle {
  static constexpr int kMost = Dimension<kD>::kMost;
  double zeta;          ///< zeta0
  double slope;         ///< zeta0 times that of -log det / 2, with its sign changed
  double width, step;   ///< B, and of t
  double log_value;     ///< log of rho without the determinant and the sum
  double start;         ///< h0 = zeta0 - 1 - log(zeta0)
  double agreement;     ///< of a sum and the next
  double base[kMost];   ///< 1 + v zeta0
  double share[kMost];  ///< v zeta0 / (1 + v zeta0)
  double bend[kMost];   ///< e2 v zeta0^2 / (1 + v zeta0)^3

  /// Newton's iteration from below, as on the CPU.
  __device__ bool find(const detail::SpaceDensity& p, const SpacePair<kD>& pair, Dimension<kD> d,
                       const detail::ContourRule& rule) {
    const double n = p.n;
    double size2 = 0, widest = 0;
    FENCHEL_ROLLED(d)
    for (int a = 0; a < d; ++a) {
      size2 += pair.e2[a];
      widest = fmax(widest, pair.v[a]);
    }
    detail::SaddleStart at = detail::saddle_start(n, size2, widest);
    for (int i = 0;; ++i) {
      const double over = 1 / at.zeta;
      double f = at.linear - n * over, f1 = n * over * over;
      FENCHEL_ROLLED(d)
      for (int a = 0; a < d; ++a) {
        const auto slopes = detail::saddle_slopes(at.zeta, pair.v[a], pair.e2[a], at.near);
        f -= slopes.first;
        f1 += slopes.second;
      }
      const double change = -f / f1;
      at.zeta += change;
      if (fabs(change) < detail::kLastSaddleStep * at.zeta) break;
      if (i == detail::kMaxSaddleSteps || !(fabs(change) < 1e300 * at.zeta)) return false;
    }
    zeta = at.zeta;
    const double log_zeta = log1p(zeta - 1);
    start = zeta - 1 - log_zeta;
    log_value = detail::saddle_log_value(p, at, log_zeta, start);
    slope = 0;
    double f1 = n, f2 = 2 * n;
    FENCHEL_ROLLED(d)
    for (int a = 0; a < d; ++a) {
      const auto term = detail::saddle_term(zeta, pair.v[a], pair.e2[a], at.near);
      base[a] = 1 + term.y;
      share[a] = term.share;
      bend[a] = term.e * term.share * term.c;
      log_value += term.log_value;
      slope += term.share / 2;
      f1 += term.second;
      f2 += term.third;
    }
    const detail::ContourScale scale = detail::contour_scale(rule, f1, f2);
    width = scale.width;
    step = rsqrt(scale.inverse_step2);
    agreement = rule.agreement + 8 * exp(detail::gaussian_disagreement(step, scale.in_gaussian));
    return true;
  }
};

/// x - log(1 + x) for the x of order n, by its series where n is large and x small. A float loses more to
/// cancellation, and its series may be shorter.
template <class Number>
__device__ inline detail::BasicComplex<Number> log_gap(double n, detail::BasicComplex<Number> x) {
  constexpr double kMany = sizeof(Number) == 4 ? 30 : detail::kManySeries;
  if (n >= kMany) return detail::log_gap_series(x);
  const Number square = 2 * x.re + (x.re * x.re + x.im * x.im);
  return {x.re - Number(0.5) * log1p(square), x.im - atan2(x.im, 1 + x.re)};
}

/// exp(n (x - log(1 + x)) + e), for n = 1, 2, 3, 4 by powers.
template <class Number>
__device__ inline detail::BasicComplex<Number> contour_power(double n, detail::BasicComplex<Number> x,
                                                             detail::BasicComplex<Number> e) {
  const bool whole = n == 1 || n == 2 || n == 3 || n == 4;
  const auto order = static_cast<Number>(n);
  e = e + order * (whole ? x : log_gap(n, x));
  Number sine, cosine;
  sincos(e.im, &sine, &cosine);
  const Number grown = exp(e.re);
  const detail::BasicComplex<Number> value{grown * cosine, grown * sine};
  if (!whole) return value;
  const Number re = 1 + x.re, over = 1 / (re * re + x.im * x.im);
  const detail::BasicComplex<Number> inverse{re * over, -x.im * over}, square = inverse * inverse;
  return value * (n == 1 ? inverse : n == 2 ? square : n == 3 ? inverse * square : square * square);
}

/// Gives 1 / b, and divides f by the root of b in the upper half plane, where that of 1 + zeta v is and the
/// product of two such roots: the angle of 1 + zeta v is in [0, 3 pi / 4).
template <class Number>
__device__ inline detail::BasicComplex<Number> divide_by_root(detail::BasicComplex<Number>& f,
                                                              detail::BasicComplex<Number> b) {
  using Complex = detail::BasicComplex<Number>;
  const Number inverse_size = rsqrt(b.re * b.re + b.im * b.im), over = inverse_size * inverse_size;
  const Complex inverse{b.re * over, -b.im * over};
  const Number half = (inverse_size + fabs(inverse.re)) / 2, root = rsqrt(half);
  const Number large = half * root, small = inverse.im * root / 2;
  Complex value{-small, -large};
  if (b.re >= 0) value = b.im >= 0 ? Complex{large, small} : Complex{-large, -small};
  f = f * value;
  return inverse;
}

/// False where sums do not converge. `sums` are of Number and of weights that have yet to be multiplied by
/// `scale`; they have a `value`, clear(d) and add_contour(p, pair, saddle, d, x, f, inverse), where zeta =
/// zeta0 (1 + x), f is the weight and inverse (1 + zeta0 v) / (1 + zeta v).
template <int kD, class Number, class Sums>
__device__ bool integrate_contour(const detail::SpaceDensity& p, const SpacePair<kD>& pair, Dimension<kD> d,
                                  const detail::ContourRule& rule, Saddle<kD>& saddle, Sums& sums,
                                  double& scale) {
  using Complex = detail::BasicComplex<Number>;
  constexpr int kMost = Dimension<kD>::kMost;
  if (!saddle.find(p, pair, d, rule)) return false;
  sums.clear(d);
  Number share[kMost], bend[kMost];
  FENCHEL_ROLLED(d)
  for (int a = 0; a < d; ++a) {
    share[a] = static_cast<Number>(saddle.share[a]);
    bend[a] = static_cast<Number>(saddle.bend[a]);
  }
  const auto width = static_cast<Number>(saddle.width), slope = static_cast<Number>(saddle.slope);
  const auto tau = static_cast<Number>(detail::kContourSlope);
  const bool nothing = saddle.log_value < detail::kLogSmallest;
  Number smallest = 0;
  for (int refinements = -1;; ++refinements) {
    const Number coarse = sums.value;
    // multiples of 2h first, then the points between; t / 2 goes on by h
    const double first = sinh(saddle.step / 2);
    const auto leap_sinh = static_cast<Number>(2 * first * sqrt(1 + first * first));
    const auto leap_cosh = static_cast<Number>(1 + 2 * first * first);
    Number s = refinements < 0 ? Number(0) : static_cast<Number>(first);
    Number c = refinements < 0 ? Number(1) : static_cast<Number>(sqrt(1 + first * first));
    for (int i = refinements < 0 ? 0 : 1;; i += 2) {
      if (i > detail::kMaxContourNodes) return false;
      const Number s2 = 2 * s * s, sinh_t = 2 * s * c;
      const Complex x{-width * tau * s2, width * sinh_t}, x2 = x * x;
      Complex f{width * (1 + s2), width * tau * sinh_t}, e = slope * x, inverse[kMost];
      FENCHEL_ROLLED(d)
      for (int a = 0; a < d; a += 2) {
        const Complex b{1 + share[a] * x.re, share[a] * x.im};
        if (a + 1 == d) {
          inverse[a] = divide_by_root(f, b);
          e = e + bend[a] * (x2 * inverse[a]);
          break;
        }
        const Complex other{1 + share[a + 1] * x.re, share[a + 1] * x.im};
        const Complex both = divide_by_root(f, b * other);
        inverse[a] = other * both;
        inverse[a + 1] = b * both;
        e = e + bend[a] * (x2 * inverse[a]) + bend[a + 1] * (x2 * inverse[a + 1]);
      }
      f = f * contour_power(p.n, x, e);
      if (i == 0) f = Number(0.5) * f;
      sums.add_contour(p, pair, saddle, d, x, f, inverse);
      const Number size = fabs(f.re) + fabs(f.im);
      if (i == 0) smallest = static_cast<Number>(2 * rule.smallest) * size;
      if (nothing || !(size > smallest)) break;
      const Number next = s * leap_cosh + c * leap_sinh;
      c = c * leap_cosh + s * leap_sinh;
      s = next;
    }
    if (refinements < 0) continue;
    if (nothing || fabs(2 * coarse - sums.value) <= static_cast<Number>(saddle.agreement) * sums.value) break;
    if (refinements == detail::kMaxRefinements) return false;
    saddle.step /= 2;
  }
  scale = 2 * saddle.step * exp(saddle.log_value);
  FENCHEL_ROLLED(d)
  for (int a = 0; a < d; ++a) scale *= rsqrt(saddle.base[a]);
  return true;
}

/// Sums of what is relative to the saddle.
template <int kD, class Number, Wanted kWanted>
struct ContourSums : SpaceSums<kD, Number, kWanted> {
  using Complex = detail::BasicComplex<Number>;

  __device__ void add_contour(const detail::SpaceDensity& p, const SpacePair<kD>& pair,
                              const Saddle<kD>& saddle, Dimension<kD> d, Complex x, Complex f,
                              const Complex* inverse) {
    const Complex zeta{1 + x.re, x.im};
    this->add(d, zeta, f, inverse);
    if constexpr (alpha_too(kWanted)) {
      // g = d log G / dzeta and its derivative
      Complex g{0, 0}, g1{0, 0};
      const Complex at = saddle.zeta * zeta;
      FENCHEL_ROLLED(d)
      for (int a = 0; a < d; ++a) {
        const auto slopes =
            detail::space_log_slopes(pair.v[a], pair.e2[a], (1 / saddle.base[a]) * inverse[a]);
        g = g + slopes.g;
        g1 = g1 + slopes.g1;
      }
      const Complex order = p.n >= detail::kManyOrders
                                ? detail::order_bracket(Complex{at.re - 1, at.im}, g, g1)
                                : detail::contour_order(p.n, saddle.zeta, saddle.start, x, log_gap(p.n, x));
      this->alpha += real_product(f, detail::node_alpha_rate(p, at, g, order));
    }
  }

  __device__ void finish(const detail::SpaceDensity& p, const Saddle<kD>& saddle, double scale,
                         Dimension<kD> d, SpaceSums<kD, double, kWanted>& total) const {
    total.value = scale * this->value;
    if constexpr (slopes_too(kWanted)) {
      for (int a = 0, k = 0; a < d; ++a) {
        const double by = scale / saddle.base[a], zeta_by = saddle.zeta * by;
        total.first[a] = by * this->first[a];
        total.second[a] = zeta_by * this->second[a];
        FENCHEL_ROLLED(d)
        for (int b = 0; b <= a; ++b, ++k) {
          const double to = zeta_by / saddle.base[b];
          total.cross[k] = to * this->cross[k];
          if constexpr (basis_too(kWanted)) total.basis[k] = saddle.zeta * to * this->basis[k];
        }
      }
    }
    if constexpr (alpha_too(kWanted))
      total.alpha = scale * this->alpha + detail::contour_alpha_rate(p) * total.value;
  }
};

}  // namespace fenchel::cuda::device
