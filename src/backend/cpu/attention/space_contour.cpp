#include <algorithm>
#include <cmath>

#include "backend/attention/space_contour.hpp"
#include "backend/cpu/attention/space.hpp"
#include "backend/cpu/row_lanes.hpp"
#include "core/lanes/lane_math.hpp"
#include "core/lanes/lane_trigonometry.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {
namespace {

constexpr index_t kG = kSpaceGroup;
static_assert(kG == kLanes<double>);

struct Saddle {
  alignas(64) double agreement[kG];  ///< of a sum and the next
  alignas(64) double zeta[kG];       ///< zeta0
  alignas(64) double slope[kG];      ///< zeta0 times that of -log det / 2, with its sign changed
  alignas(64) double width[kG];      ///< B
  alignas(64) double step[kG];       ///< of t
  alignas(64) double log_value[kG];  ///< log of rho without the determinant and the sum
  alignas(64) double start[kG];      ///< h0 = zeta0 - 1 - log(zeta0)
};

/// Rows of `work`, D x 8 each: v zeta0, 1 + v zeta0, e2 v zeta0^2 / (1 + v zeta0)^2, then 1 / (1 + v zeta).
struct Rows8 {
  double* data;
  index_t dimension;
  FENCHEL_INLINE double* operator()(index_t table, index_t a) const noexcept {
    return data + (table * dimension + a) * kG;
  }
};

template <class Body>
FENCHEL_INLINE void lanes(Body body) noexcept {
  for_each_lane<double>(body);
}

/// Newton's iteration for the saddle from below, where it goes up and never past it: Phi' is concave. Where n
/// (1 - sum e2 / n) cancels, for narrow functions near the edge of the support, it is a product.
FENCHEL_INLINE bool find_saddle(const SpaceDensity& p, const SpaceGroup& group, const ContourRule& rule,
                                Saddle& out) noexcept {
  const index_t d = group.dimension;
  const double n = p.n;
  const Rows8 work{group.work, d};
  alignas(64) double zeta[kG], linear[kG], near[kG], size2[kG], widest[kG], f[kG], f1[kG], f2[kG];
  lanes([&](index_t k) FENCHEL_INLINE_LAMBDA { size2[k] = widest[k] = 0; });
  for (index_t a = 0; a < d; ++a) {
    const double *const v = group.v + a * kG, *const e2 = group.e2 + a * kG;
    lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
      size2[k] += e2[k];
      widest[k] = v[k] > widest[k] ? v[k] : widest[k];
    });
  }
  lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
    const double r2 = size2[k] / n, r = std::sqrt(r2), q = (1 - r) * (1 + r);
    near[k] = n < kManySeries && r < 2 ? 1.0 : 0.0;
    linear[k] = near[k] != 0 ? n * q : n;
    const double outside = (r - 1) / widest[k], inside = 2 / (q + std::sqrt(q * q + 8 * r2 * widest[k]));
    const double start = outside > inside ? outside : inside;
    zeta[k] = start > 1 ? start : 1.0;
  });
  for (int i = 0;; ++i) {
    lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
      f[k] = linear[k] - n / zeta[k];
      f1[k] = n / (zeta[k] * zeta[k]);
    });
    for (index_t a = 0; a < d; ++a) {
      const double *const v = group.v + a * kG, *const e2 = group.e2 + a * kG;
      lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
        const double y = zeta[k] * v[k], c = 1 / (1 + y), cv = c * v[k];
        f[k] -= 0.5 * cv + e2[k] * c * c * (near[k] != 0 ? -y * (2 + y) : 1.0);
        f1[k] += cv * cv / 2 + 2 * e2[k] * c * c * cv;
      });
    }
    double largest = 0;
    for (index_t k = 0; k < kG; ++k) {
      const double step = -f[k] / f1[k];
      const double moved = zeta[k] + step;
      largest = std::max(largest, std::abs(step) / moved);
      zeta[k] = moved;
    }
    if (largest < 1e-9) break;
    if (i == kMaxSaddleSteps || !(largest < 1e300)) return false;
  }
  lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
    const double x = zeta[k] - 1, log_zeta = log1p_element(x);
    out.start[k] = x - log_zeta;
    out.log_value[k] =
        p.log_factor + log_zeta + (near[k] != 0 ? linear[k] * zeta[k] - n - n * log_zeta : n * out.start[k]);
    out.slope[k] = 0;
    f1[k] = n;
    f2[k] = 2 * n;
  });
  for (index_t a = 0; a < d; ++a) {
    const double *const v = group.v + a * kG, *const e2 = group.e2 + a * kG;
    double *const scaled = work(0, a), *const base = work(1, a), *const bend = work(2, a);
    lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
      const double y = zeta[k] * v[k], c = 1 / (1 + y), yc = y * c, e = e2[k] * zeta[k] * c;
      scaled[k] = y;
      base[k] = 1 + y;
      bend[k] = e * yc;
      out.log_value[k] += near[k] != 0 ? e * y : -e;
      out.slope[k] += yc / 2;
      f1[k] += yc * yc / 2 + 2 * e * c * yc;
      f2[k] += yc * yc * yc + 6 * e * c * yc * yc;
    });
  }
  lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
    const double width = kContourSlope * 3 * f1[k] / f2[k], in_gaussian = width * std::sqrt(f1[k]);
    const double gaussian = in_gaussian / rule.gaussian_step, pole = width / rule.pole_step;
    const double most = 1 / rule.largest_step,
                 step = 1 / std::sqrt(most * most + gaussian * gaussian + pole * pole);
    const double per_step = 1 / (step * in_gaussian);
    out.zeta[k] = zeta[k];
    out.width[k] = width;
    out.step[k] = step;
    out.agreement[k] = rule.agreement + 8 * exp_element(-kHalfPi2 * per_step * per_step);
  });
  return true;
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

void record(SpaceNodes& nodes, const Saddle& saddle, const double* x_re, const double* x_im,
            const double* f_re, const double* f_im) noexcept {
  for (index_t k = 0; k < kG; ++k) {
    nodes.at(k, nodes.size[k]++) = {{saddle.zeta[k] * (1 + x_re[k]), saddle.zeta[k] * x_im[k]},
                                    {f_re[k], f_im[k]}};
  }
}

/// Adds the node at t = i step to the sums; the size of its term relative to the first is returned.
template <bool kMany>
FENCHEL_INLINE void add_node(const SpaceDensity& p, const SpaceGroup& group, Wanted wanted,
                             const Saddle& saddle, int i, double* size) noexcept {
  const index_t d = group.dimension;
  const Rows8 work{group.work, d};
  const double n = p.n;
  alignas(64) double x_re[kG], x_im[kG], e_re[kG], e_im[kG], f_re[kG], f_im[kG], g_re[kG], g_im[kG];
  lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
    const double half = 0.5 * i * saddle.step[k], h2 = half * half, grown = exp_element(half);
    // sinh(t / 2), by its series where the difference would cancel
    const double series =
        half * (1 + h2 * (1. / 6 + h2 * (1. / 120 + h2 * (1. / 5040 + h2 * (1. / 362880 + h2 / 39916800.)))));
    const double s = half < 0.5 ? series : 0.5 * (grown - 1 / grown), s2 = 2 * s * s;
    const double sinh = 2 * s * std::sqrt(1 + s * s), width = saddle.width[k];
    const Complex x{-width * kContourSlope * s2, width * sinh};
    const Complex e = saddle.slope[k] * x + n * log_gap<kMany>(x);
    x_re[k] = x.re;
    x_im[k] = x.im;
    e_re[k] = e.re;
    e_im[k] = e.im;
    f_re[k] = width * (1 + s2);
    f_im[k] = width * kContourSlope * sinh;
  });
  for (index_t a = 0; a < d; ++a) {
    const double *const scaled = work(0, a), *const base = work(1, a), *const bend = work(2, a);
    double *const inverse_re = work(3, a), *const inverse_im = work(4, a);
    lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
      const Complex x{x_re[k], x_im[k]}, b{base[k] + scaled[k] * x.re, scaled[k] * x.im};
      const double square = b.re * b.re + b.im * b.im, modulus = std::sqrt(square), over = 1 / square;
      const Complex inverse{b.re * over, -b.im * over}, e = bend[k] * (x * x * inverse);
      const Complex f = Complex{f_re[k], f_im[k]} * inverse_root(b, modulus, inverse);
      inverse_re[k] = inverse.re;
      inverse_im[k] = inverse.im;
      e_re[k] += e.re;
      e_im[k] += e.im;
      f_re[k] = f.re;
      f_im[k] = f.im;
    });
  }
  double* sum = group.sums;
  const double half = i == 0 ? 0.5 : 1;
  lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
    const SineCosine turn = sine_cosine_element(e_im[k]);
    const double grown = exp_element(e_re[k]) * half;
    const Complex f = Complex{grown * turn.cosine, grown * turn.sine} * Complex{f_re[k], f_im[k]};
    f_re[k] = f.re;
    f_im[k] = f.im;
    sum[k] += f.re;
    size[k] = std::abs(f.re) + std::abs(f.im);
  });
  if (group.nodes != nullptr) record(*group.nodes, saddle, x_re, x_im, f_re, f_im);
  if (wanted == Wanted::kValues) return;
  double *const first = sum + kG, *const second = first + d * kG, *cross = second + d * kG;
  for (index_t a = 0; a < d; ++a) {
    const double *const a_re = work(3, a), *const a_im = work(4, a);
    double *const to_first = first + a * kG, *const to_second = second + a * kG;
    lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
      const Complex zeta{saddle.zeta[k] * (1 + x_re[k]), saddle.zeta[k] * x_im[k]};
      const Complex g = Complex{f_re[k], f_im[k]} * Complex{a_re[k], a_im[k]}, zg = zeta * g;
      to_first[k] += g.re;
      to_second[k] += zg.re;
      g_re[k] = zg.re;
      g_im[k] = zg.im;
    });
    for (index_t b = 0; b <= a; ++b, cross += kG) {
      const double *const b_re = work(3, b), *const b_im = work(4, b);
      double* const to = cross;
      lanes([&](index_t k) FENCHEL_INLINE_LAMBDA { to[k] += g_re[k] * b_re[k] - g_im[k] * b_im[k]; });
    }
  }
  if (wanted != Wanted::kAlphaToo) return;
  // g = d log G / d zeta in (g_re, g_im), its derivative in (e_re, e_im)
  lanes([&](index_t k) FENCHEL_INLINE_LAMBDA { g_re[k] = g_im[k] = e_re[k] = e_im[k] = 0; });
  for (index_t a = 0; a < d; ++a) {
    const double *const v = group.v + a * kG, *const e2 = group.e2 + a * kG;
    const double *const a_re = work(3, a), *const a_im = work(4, a);
    lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
      const Complex c{a_re[k], a_im[k]}, cv = v[k] * c, c2 = c * c;
      const Complex g = -0.5 * cv - e2[k] * c2, g1 = 0.5 * (cv * cv) + 2 * e2[k] * (c2 * cv);
      g_re[k] += g.re;
      g_im[k] += g.im;
      e_re[k] += g1.re;
      e_im[k] += g1.im;
    });
  }
  double* const to_alpha = cross;
  const auto add = [&](auto order_of) FENCHEL_INLINE_LAMBDA {
    lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
      const Complex x{x_re[k], x_im[k]}, zeta{saddle.zeta[k] * (1 + x.re), saddle.zeta[k] * x.im};
      const Complex g{g_re[k], g_im[k]}, order = order_of(k, x, zeta, g);
      const Complex term = p.log_beta_slope * (zeta * g) - p.inverse_alpha2 * order;
      to_alpha[k] += f_re[k] * term.re - f_im[k] * term.im;
    });
  };
  if (n >= kManyOrders) {
    add([&](index_t k, Complex, Complex zeta, Complex g) FENCHEL_INLINE_LAMBDA {
      return order_bracket(Complex{zeta.re - 1, zeta.im}, g, Complex{e_re[k], e_im[k]});
    });
  } else {
    add([&](index_t k, Complex x, Complex, Complex) FENCHEL_INLINE_LAMBDA {
      return (n * n) * (saddle.start[k] + ((saddle.zeta[k] - 1) * x + log_gap<kMany>(x)));
    });
  }
}

template <bool kMany>
FENCHEL_INLINE bool integrate(const SpaceDensity& p, const SpaceGroup& group, Wanted wanted,
                              const ContourRule& rule) noexcept {
  const index_t d = group.dimension, rows = space_sums(d, wanted);
  Saddle saddle;
  if (!find_saddle(p, group, rule, saddle)) return false;
  alignas(64) double coarse[kG], size[kG], smallest[kG] = {};
  std::fill(group.sums, group.sums + rows * kG, 0.0);
  if (group.nodes != nullptr) std::fill(group.nodes->size, group.nodes->size + kG, 0);
  for (int refinements = -1;; ++refinements) {
    std::copy(group.sums, group.sums + kG, coarse);
    // multiples of 2h first, then the points between
    for (int i = refinements < 0 ? 0 : 1;; i += 2) {
      if (i > kMaxContourNodes || (group.nodes != nullptr && group.nodes->size[0] == SpaceNodes::kMost))
        return false;
      add_node<kMany>(p, group, wanted, saddle, i, size);
      if (i == 0) {
        for (index_t k = 0; k < kG; ++k)
          smallest[k] = saddle.log_value[k] < kLogSmallest ? double(kInfinity) : 2 * rule.smallest * size[k];
      }
      bool done = true;
      for (index_t k = 0; k < kG; ++k) done = done && !(size[k] > smallest[k]);
      if (done) break;
    }
    if (refinements < 0) continue;
    bool agreed = true;
    for (index_t k = 0; k < kG; ++k) {
      const double gap = std::abs(2 * coarse[k] - group.sums[k]);
      agreed = agreed && (gap <= saddle.agreement[k] * group.sums[k] || smallest[k] == double(kInfinity));
    }
    if (agreed) break;
    if (refinements == kMaxRefinements) return false;
    for (double& step : saddle.step) step /= 2;
  }
  alignas(64) double scale[kG];
  lanes([&](index_t k)
            FENCHEL_INLINE_LAMBDA { scale[k] = 2 * saddle.step[k] * exp_element(saddle.log_value[k]); });
  for (index_t row = 0; row < rows; ++row) {
    double* const sum = group.sums + row * kG;
    lanes([&](index_t k) FENCHEL_INLINE_LAMBDA { sum[k] *= scale[k]; });
  }
  for (index_t k = 0; group.nodes != nullptr && k < kG; ++k) {
    for (index_t i = 0; i < group.nodes->size[k]; ++i) {
      SpaceNodes::Node& node = group.nodes->at(k, i);
      node.weight = scale[k] * node.weight;
    }
  }
  if (wanted != Wanted::kAlphaToo) return true;
  const double orders = p.n < kManyOrders ? p.n / 2 : 0.0;
  const double shared = p.log_peak_slope - p.inverse_alpha2 * (orders + p.stirling_slope);
  double* const to_alpha = group.sums + (rows - 1) * kG;
  lanes([&](index_t k) FENCHEL_INLINE_LAMBDA { to_alpha[k] += shared * group.sums[k]; });
  return true;
}

}  // namespace

FENCHEL_CLONES bool integrate_contour(const SpaceDensity& p, const SpaceGroup& group, Wanted wanted,
                                      Accuracy accuracy) noexcept {
  // before kManyOrders, d rho / d alpha multiplies errors by n
  const bool amplified = wanted == Wanted::kAlphaToo && p.n > 50;
  const ContourRule& rule = accuracy == Accuracy::kDouble || amplified ? kDoubleRule : kSingleRule;
  return p.n < kManySeries ? integrate<false>(p, group, wanted, rule)
                           : integrate<true>(p, group, wanted, rule);
}

}  // namespace fenchel::detail
