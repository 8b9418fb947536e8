#include <algorithm>
#include <cmath>

#include "backend/attention/space_saddle.hpp"
#include "backend/cpu/attention/space_node.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {
namespace {

constexpr index_t kG = kSpaceGroup;
/// SaddleStart, lane by lane, and then the saddle itself.
struct Search {
  alignas(64) double zeta[kG], linear[kG], near[kG];

  [[nodiscard]] FENCHEL_INLINE SaddleStart at(index_t k) const noexcept {
    return {zeta[k], linear[k], near[k]};
  }
};

FENCHEL_INLINE void start_search(double n, const SpaceGroup& group, Search& search) noexcept {
  alignas(64) double size2[kG], widest[kG];
  lanes([&](index_t k) FENCHEL_INLINE_LAMBDA { size2[k] = widest[k] = 0; });
  for (index_t a = 0; a < group.dimension; ++a) {
    const double *const v = group.v + a * kG, *const e2 = group.e2 + a * kG;
    lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
      size2[k] += e2[k];
      widest[k] = v[k] > widest[k] ? v[k] : widest[k];
    });
  }
  lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
    const SaddleStart start = saddle_start(n, size2[k], widest[k]);
    search.zeta[k] = start.zeta;
    search.linear[k] = start.linear;
    search.near[k] = start.near;
  });
}

/// Newton's iteration, until all lanes are there.
FENCHEL_INLINE bool climb(double n, const SpaceGroup& group, Search& search) noexcept {
  alignas(64) double f[kG], f1[kG];
  double *const zeta = search.zeta, *const near = search.near;
  for (int i = 0;; ++i) {
    lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
      f[k] = search.linear[k] - n / zeta[k];
      f1[k] = n / (zeta[k] * zeta[k]);
    });
    for (index_t a = 0; a < group.dimension; ++a) {
      const double *const v = group.v + a * kG, *const e2 = group.e2 + a * kG;
      lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
        const SaddleSlopes slopes = saddle_slopes(zeta[k], v[k], e2[k], near[k]);
        f[k] -= slopes.first;
        f1[k] += slopes.second;
      });
    }
    double largest = 0;
    for (index_t k = 0; k < kG; ++k) {
      const double step = -f[k] / f1[k];
      const double moved = zeta[k] + step;
      largest = std::max(largest, std::abs(step) / moved);
      zeta[k] = moved;
    }
    if (largest < kLastSaddleStep) return true;
    if (i == kMaxSaddleSteps || !(largest < 1e300)) return false;
  }
}

/// What the sums along the contour need, from the saddle and the coordinates there.
FENCHEL_INLINE void describe_saddle(const SpaceDensity& p, const SpaceGroup& group, const ContourRule& rule,
                                    const Search& search, Saddle& out) noexcept {
  const double n = p.n;
  const Rows8 work{group.work, group.dimension};
  alignas(64) double f1[kG], f2[kG];
  lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
    const double x = search.zeta[k] - 1, log_zeta = log1p_element(x);
    out.zeta[k] = search.zeta[k];
    out.start[k] = x - log_zeta;
    out.log_value[k] = saddle_log_value(p, search.at(k), log_zeta, out.start[k]);
    out.slope[k] = 0;
    f1[k] = n;
    f2[k] = 2 * n;
  });
  for (index_t a = 0; a < group.dimension; ++a) {
    const double *const v = group.v + a * kG, *const e2 = group.e2 + a * kG;
    double *const scaled = work(0, a), *const base = work(1, a), *const bend = work(2, a);
    lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
      const SaddleTerm term = saddle_term(search.zeta[k], v[k], e2[k], search.near[k]);
      scaled[k] = term.y;
      base[k] = 1 + term.y;
      bend[k] = term.e * term.share;
      out.log_value[k] += term.log_value;
      out.slope[k] += term.share / 2;
      f1[k] += term.second;
      f2[k] += term.third;
    });
  }
  lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
    const ContourScale scale = contour_scale(rule, f1[k], f2[k]);
    const double step = 1 / std::sqrt(scale.inverse_step2);
    out.width[k] = scale.width;
    out.step[k] = step;
    out.agreement[k] = rule.agreement + 8 * exp_element(gaussian_disagreement(step, scale.in_gaussian));
  });
}

FENCHEL_INLINE bool find_saddle(const SpaceDensity& p, const SpaceGroup& group, const ContourRule& rule,
                                Saddle& out) noexcept {
  Search search;
  start_search(p.n, group, search);
  if (!climb(p.n, group, search)) return false;
  describe_saddle(p, group, rule, search, out);
  return true;
}

void record(SpaceNodes& nodes, const Saddle& saddle, const ContourNode& node) noexcept {
  for (index_t k = 0; k < kG; ++k) nodes.at(k, nodes.size[k]++) = {node.zeta(saddle, k), node.f(k)};
}

/// The sums of a gradient in mu and Sigma; where those of alpha begin is returned.
FENCHEL_INLINE double* add_slopes(const SpaceGroup& group, const Saddle& saddle,
                                  const ContourNode& node) noexcept {
  const index_t d = group.dimension;
  const Rows8 work{group.work, d};
  alignas(64) double g_re[kG], g_im[kG];
  double *const first = group.sums + kG, *const second = first + d * kG, *cross = second + d * kG;
  for (index_t a = 0; a < d; ++a) {
    const double *const a_re = work(3, a), *const a_im = work(4, a);
    double *const to_first = first + a * kG, *const to_second = second + a * kG;
    lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
      const Complex g = node.f(k) * Complex{a_re[k], a_im[k]}, zg = node.zeta(saddle, k) * g;
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
  return cross;
}

template <bool kMany>
FENCHEL_INLINE void add_alpha_rate(const SpaceDensity& shared, const SpaceGroup& group, const Saddle& saddle,
                                   const ContourNode& node, double* to_alpha) noexcept {
  const SpaceDensity p = shared;  // which no store can change: else the loops are not vectorised
  const Rows8 work{group.work, group.dimension};
  alignas(64) double g_re[kG], g_im[kG], g1_re[kG], g1_im[kG];
  lanes([&](index_t k) FENCHEL_INLINE_LAMBDA { g_re[k] = g_im[k] = g1_re[k] = g1_im[k] = 0; });
  for (index_t a = 0; a < group.dimension; ++a) {
    const double *const v = group.v + a * kG, *const e2 = group.e2 + a * kG;
    const double *const a_re = work(3, a), *const a_im = work(4, a);
    lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
      const SpaceLogSlopes<Complex> slopes = space_log_slopes(v[k], e2[k], Complex{a_re[k], a_im[k]});
      g_re[k] += slopes.g.re;
      g_im[k] += slopes.g.im;
      g1_re[k] += slopes.g1.re;
      g1_im[k] += slopes.g1.im;
    });
  }
  const auto add = [&](auto order_of) FENCHEL_INLINE_LAMBDA {
    lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
      const Complex zeta = node.zeta(saddle, k), g{g_re[k], g_im[k]};
      to_alpha[k] += real_product(node.f(k), node_alpha_rate(p, zeta, g, order_of(k, zeta, g)));
    });
  };
  if (p.n >= kManyOrders) {
    add([&](index_t k, Complex zeta, Complex g) FENCHEL_INLINE_LAMBDA {
      return order_bracket(Complex{zeta.re - 1, zeta.im}, g, Complex{g1_re[k], g1_im[k]});
    });
  } else {
    add([&](index_t k, Complex, Complex) FENCHEL_INLINE_LAMBDA {
      const Complex x = node.x(k);
      return contour_order(p.n, saddle.zeta[k], saddle.start[k], x, log_gap<kMany>(x));
    });
  }
}

/// Adds the node at t = i step to the sums; the size of its term is returned.
template <bool kMany>
FENCHEL_INLINE void add_node(const SpaceDensity& p, const SpaceGroup& group, Wanted wanted,
                             const Saddle& saddle, int i, double* size) noexcept {
  ContourNode node;
  place<kMany>(p.n, saddle, i, node);
  add_coordinates(group, node);
  weigh(i == 0 ? 0.5 : 1, node, group.sums, size);
  if (group.nodes != nullptr) record(*group.nodes, saddle, node);
  if (wanted == Wanted::kValues) return;
  double* const to_alpha = add_slopes(group, saddle, node);
  if (wanted == Wanted::kAlphaToo) add_alpha_rate<kMany>(p, group, saddle, node, to_alpha);
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
  const double shared = contour_alpha_rate(p);
  double* const to_alpha = group.sums + (rows - 1) * kG;
  lanes([&](index_t k) FENCHEL_INLINE_LAMBDA { to_alpha[k] += shared * group.sums[k]; });
  return true;
}

}  // namespace

FENCHEL_CLONES bool integrate_contour(const SpaceDensity& p, const SpaceGroup& group, Wanted wanted,
                                      Accuracy accuracy) noexcept {
  const ContourRule rule = contour_rule(p.n, accuracy, wanted);
  return p.n < kManySeries ? integrate<false>(p, group, wanted, rule)
                           : integrate<true>(p, group, wanted, rule);
}

}  // namespace fenchel::detail
