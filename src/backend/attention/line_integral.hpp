#pragma once

#include <algorithm>
#include <cmath>

#include "backend/attention/line_density.hpp"
#include "backend/attention/line_math.hpp"
#include "core/quadrature/gauss_legendre.hpp"

/// E_p[psi] on the line as an integral of positive terms (docs/math.md 7.3, R1). With y = t - mu and half
/// width a,
///   p psi = peak (1 - y^2/a^2)^s N(y; d, sigma_j^2) = C exp(-x^2/2) (1 - y^2/a^2)^s e^{c y^2/a^2},
/// y = m + omega x, where e^{-c y^2/a^2} has been taken into the Gaussian: c = 0, or s where s is large. x
/// runs over the support, cut to where the Gaussian has fallen by e^-drop from its largest value there, at
/// x0.
namespace fenchel::detail {

/// The integrals over one block of functions, lane by lane.
template <index_t kBlock>
struct LineBlock {
  double d[kBlock];                                ///< centre of psi
  double start[kBlock], omega[kBlock];             ///< y = start + omega (x - x0), exact at the ends
  double x0[kBlock], first[kBlock], size[kBlock];  ///< x = x0 + first + size * node
  double left[kBlock], right[kBlock];              ///< from the support's ends to those of the cut, over a
  double span[kBlock];                             ///< the length of the cut, over a
  double factor[kBlock];                           ///< of the sums
  /// d/dmu = E[psi'] = -int p' psi: a node's weight is path (d - y), or part y / (1 - q) for a function so
  /// narrow that its own slopes would cancel (docs/math.md 7.3, R2). E[y psi'] has y times that weight, less
  /// `one`; E[psi''] = int p psi'' or -int p' psi' has d - y times it, less 1 - `one`, over sigma_j^2.
  double path[kBlock], part[kBlock], one[kBlock];
  double sum[kBlock], slope[kBlock], moment[kBlock], alpha[kBlock], bend[kBlock];
};

/// Beyond this many widths an exponent is -infinity.
inline constexpr double kFar = 1e150;

/// Sets a block up; the largest fall of the Gaussian over an interval says how many nodes are needed. kGives:
/// whether p gives a Gaussian away.
template <bool kGives, Wanted kWanted, index_t kBlock>
FENCHEL_INLINE double prepare(const LineDensity& law, const double* mean, const double* widths,
                              const double* inverse_widths, LineBlock<kBlock>& b) noexcept {
  const double inverse_a = 1 / law.a, root_precision = std::sqrt(law.precision), spread = 1 / root_precision;
  double u[kBlock], v[kBlock], whole[kBlock], unit[kBlock], fall[kBlock], exponent[kBlock], room[kBlock];
  for (index_t j = 0; j < kBlock; ++j) {
    const double d = bounded(mean[j] - law.mu, kLargestSquared), width = widths[j];
    const double spreads = kGives ? bounded(root_precision * width, kLargestSquared) : 0;
    // omega of a function so wide that its square would overflow is that of p
    const double k = 1 + spreads * spreads, root = kGives ? 1 / std::sqrt(k) : 1;
    const double omega = kGives ? smaller(width * root, spread) : width;
    const double inverse_omega =
        kGives ? larger(inverse_widths[j] * (k * root), root_precision) : inverse_widths[j];
    const double inverse_root = kGives ? omega * inverse_widths[j] : 1, m = d * inverse_root * inverse_root;
    u[j] = bounded((-law.a - m) * inverse_omega, kFar);
    v[j] = bounded((law.a - m) * inverse_omega, kFar);
    whole[j] = smaller(2 * law.a * inverse_omega, kFar);
    unit[j] = omega * inverse_a;
    b.d[j] = d;
    b.start[j] = bounded(m, law.a);
    b.omega[j] = omega;
    const double offset = kGives ? bounded(d * root_precision * inverse_root, kFar) : 0;
    exponent[j] = offset * offset;
    b.factor[j] = law.peak * kInverseRootTwoPi * inverse_root;
  }
  // Loops apart from each other: of two comparisons of one number in a loop compilers make branches.
  for (index_t j = 0; j < kBlock; ++j) b.x0[j] = larger(u[j], 0) + smaller(v[j], 0);
  for (index_t j = 0; j < kBlock; ++j) {
    const double x0 = b.x0[j], size = std::abs(x0);
    // x0 - u and v - x0, where a is not lost beside a far m
    const double below = smaller(larger(-u[j], 0), whole[j]), above = smaller(larger(v[j], 0), whole[j]);
    const double reach = 2 * law.drop / (std::sqrt(x0 * x0 + 2 * law.drop) + size);
    const double lower = smaller(below, reach), upper = smaller(above, reach), far = larger(lower, upper);
    fall[j] = far * (size + far / 2);
    b.first[j] = -lower;
    b.size[j] = lower + upper;
    b.left[j] = (below - lower) * unit[j];
    b.right[j] = (above - upper) * unit[j];
    b.span[j] = b.size[j] * unit[j];
    b.factor[j] *= b.size[j];
    exponent[j] = -0.5 * (x0 * x0 + exponent[j]);
    room[j] = smaller(below, above) - law.gap * reach;
  }
  for (index_t j = 0; j < kBlock; ++j) {
    b.factor[j] *= exp_of<Accuracy::kDouble>(larger(exponent[j], -700));
  }
  for (index_t j = 0; j < kBlock; ++j) {
    b.factor[j] = exponent[j] > -700 ? b.factor[j] : 0;
    fall[j] = b.factor[j] > 0 ? fall[j] : 0;
  }
  std::fill(b.sum, b.sum + kBlock, 0.0);
  if constexpr (kWanted != Wanted::kValues) {
    for (index_t j = 0; j < kBlock; ++j) {
      const double slack = smaller(room[j], 1 - widths[j] * law.inverse_spread);
      const double narrow = slack > 0 ? 1.0 : 0.0;
      b.path[j] = (1 - narrow) * inverse_widths[j] * inverse_widths[j];
      b.part[j] = narrow * law.pull;
      b.one[j] = narrow;
      b.slope[j] = b.moment[j] = b.alpha[j] = b.bend[j] = 0;
    }
  }
  return *std::max_element(fall, fall + kBlock);
}

/// p psi at a node up to the block's factor, that over 1 - q with q = y^2/a^2, and d log p / dalpha at fixed
/// y / a (near alpha = 1 at fixed y).
struct Point {
  double value, escort, alpha_rate;
};

/// Whole s.
template <int kPower, Accuracy kAccuracy>
struct WholeShape {
  FENCHEL_INLINE static Point at(const LineDensity&, double exponent, double one_minus_q, double) noexcept {
    double escort = exp_of<kAccuracy>(exponent);
    for (int k = 1; k < kPower; ++k) escort *= one_minus_q;
    return {escort * one_minus_q, escort, 0};
  }
};

/// Any other s up to 1 / kNearOne, right up to the ends of the support.
template <Accuracy kAccuracy>
struct EdgeShape {
  FENCHEL_INLINE static Point at(const LineDensity& law, double exponent, double one_minus_q,
                                 double y2) noexcept {
    return with_log(law, exponent, one_minus_q, y2, log_of<kAccuracy>(one_minus_q));
  }
  FENCHEL_INLINE static Point with_log(const LineDensity& law, double exponent, double one_minus_q, double y2,
                                       double log_power) noexcept {
    const double sum = exponent + law.s * log_power + 0.5 * law.precision * y2;
    const double value = exp_of<kAccuracy>(larger(sum, -700));
    return {value, value / one_minus_q, law.log_shape_rate - law.s * law.s * log_power};
  }
};

/// From this s on nothing is left of p near the ends of its support, and log(1 - q) is that of q, whose
/// rounding errors s^2 does not enlarge.
inline constexpr double kFlatEnds = 32;
struct FlatShape {
  FENCHEL_INLINE static Point at(const LineDensity& law, double exponent, double one_minus_q,
                                 double y2) noexcept {
    const double log_power = log1p_element(-smaller(y2 * law.inverse_a2, 1 - 1e-15));
    return EdgeShape<Accuracy::kDouble>::with_log(law, exponent, one_minus_q, y2, log_power);
  }
};

/// Larger |s|: s (log(1 - q) + q) corrects the Gaussian, by its series in q, which is small wherever p is
/// above 1e-30 of its peak. With G = s q, d log p / dalpha is log_peak_rate + G dz / (1 - q) - G^2 (log(1 -
/// q)
/// + q / (1 - q)) / q^2.
template <Accuracy kAccuracy>
struct NearShape {
  FENCHEL_INLINE static Point at(const LineDensity& law, double exponent, double, double y2) noexcept {
    constexpr double kLog[] = {1. / 2,  1. / 3,  1. / 4,  1. / 5,  1. / 6,  1. / 7,  1. / 8,  1. / 9,
                               1. / 10, 1. / 11, 1. / 12, 1. / 13, 1. / 14, 1. / 15, 1. / 16, 1. / 17};
    constexpr double kSlope[] = {1. / 2,   2. / 3,   3. / 4,   4. / 5,   5. / 6,   6. / 7,
                                 7. / 8,   8. / 9,   9. / 10,  10. / 11, 11. / 12, 12. / 13,
                                 13. / 14, 14. / 15, 15. / 16, 16. / 17};
    const double q = bounded(y2 * law.inverse_a2, 0.5), gauss = 0.5 * law.precision * y2;
    const double sum = exponent - gauss * q * polynomial(q, kLog);
    const double value = exp_of<kAccuracy>(larger(sum, -700)), inverse = 1 / (1 - q);
    return {value, value * inverse,
            law.log_peak_rate + gauss * (law.log_power_rate * inverse - gauss * polynomial(q, kSlope))};
  }
};

/// Adds up the nodes of a rule.
template <class Shape, Wanted kWanted, index_t kSize, index_t kBlock>
FENCHEL_INLINE void integrate(const LineDensity& law, const UnitRule<kSize>& rule,
                              LineBlock<kBlock>& b) noexcept {
  for (index_t i = 0; i < kSize; ++i) {
    const double left = rule.left[i], right = rule.right[i], weight = rule.weight[i];
    for (index_t j = 0; j < kBlock; ++j) {
      const double step = b.first[j] + b.size[j] * left;
      const double exponent = -step * (b.x0[j] + 0.5 * step);
      const double one_minus_q = (b.left[j] + b.span[j] * left) * (b.right[j] + b.span[j] * right);
      const double y = b.start[j] + b.omega[j] * step;
      const Point point = Shape::at(law, exponent, one_minus_q, y * y);
      const double term = weight * point.value;
      b.sum[j] += term;
      if constexpr (kWanted != Wanted::kValues) {
        const double pull = b.path[j] * (b.d[j] - y) * point.value + b.part[j] * y * point.escort;
        b.slope[j] += weight * pull;
        b.moment[j] += weight * (y * pull - b.one[j] * point.value);
        if constexpr (basis_too(kWanted)) {
          b.bend[j] += weight * ((b.d[j] - y) * pull - (1 - b.one[j]) * point.value);
        }
      }
      if constexpr (alpha_too(kWanted)) b.alpha[j] += point.alpha_rate * term;
    }
  }
}

/// Rules of growing size: the smallest that is accurate for a fall of the Gaussian is taken.
struct LineRules {
  UnitRule<8> smooth8 = gauss_legendre<8>();
  UnitRule<12> smooth12 = gauss_legendre<12>();
  UnitRule<16> smooth16 = gauss_legendre<16>();
  UnitRule<20> smooth20 = gauss_legendre<20>();
  UnitRule<24> smooth24 = gauss_legendre<24>();
  UnitRule<32> smooth32 = gauss_legendre<32>();
  UnitRule<48> smooth48 = gauss_legendre<48>();
  UnitRule<24> flat24 = flat_ended_rule<24>();
  UnitRule<48> flat48 = flat_ended_rule<48>();
  UnitRule<96> flat96 = flat_ended_rule<96>();
};

/// Whole s: up to which fall a rule is taken. Largest errors of values and slopes at float accuracy: 8 nodes
/// 1e-8 up to 0.75 and 5e-7 up to 1; 12 nodes 3e-7 up to 6 and 2e-6 up to 8; 16 nodes 6e-7 up to 13 and 1e-5
/// up to 20; 20 nodes 1e-6 wherever the Gaussian is cut.
inline constexpr double kFallOf8 = 0.75, kFallOf12 = 6, kFallOf16 = 13;
/// In double 16 nodes are exact to rounding up to 4, and err by 3e-11 up to 6; 24 up to 12, and by 2e-11 up
/// to 20; 48 by 1e-11 at most, wherever the Gaussian is cut.
inline constexpr double kDoubleFallOf16 = 2, kDoubleFallOf24 = 8;

template <class Shape, Wanted kWanted, Accuracy kAccuracy, index_t kBlock>
FENCHEL_INLINE void integrate_whole(const LineDensity& law, double fall, const LineRules& r,
                                    LineBlock<kBlock>& b) noexcept {
  if constexpr (kAccuracy == Accuracy::kSingle) {
    if (fall <= kFallOf8) return integrate<Shape, kWanted>(law, r.smooth8, b);
    if (fall <= kFallOf12) return integrate<Shape, kWanted>(law, r.smooth12, b);
    if (fall <= kFallOf16) return integrate<Shape, kWanted>(law, r.smooth16, b);
    integrate<Shape, kWanted>(law, r.smooth20, b);
  } else {
    if (fall <= kDoubleFallOf16) return integrate<Shape, kWanted>(law, r.smooth16, b);
    if (fall <= kDoubleFallOf24) return integrate<Shape, kWanted>(law, r.smooth24, b);
    integrate<Shape, kWanted>(law, r.smooth48, b);
  }
}

/// Other s below kSmoothPower: half the nodes suffice up to this fall.
inline constexpr double kEdgeFallOfHalf = 4;

template <class Shape, Wanted kWanted, Accuracy kAccuracy, index_t kBlock>
FENCHEL_INLINE void integrate_edge(const LineDensity& law, double fall, const LineRules& r,
                                   LineBlock<kBlock>& b) noexcept {
  if constexpr (kAccuracy == Accuracy::kSingle) {
    if (law.s >= kSmoothPower) return integrate<Shape, kWanted>(law, r.smooth32, b);
    if (fall <= kEdgeFallOfHalf) return integrate<Shape, kWanted>(law, r.flat24, b);
    integrate<Shape, kWanted>(law, r.flat48, b);
  } else {
    if (law.s >= kSmoothPower) return integrate<Shape, kWanted>(law, r.smooth48, b);
    if (fall <= kEdgeFallOfHalf) return integrate<Shape, kWanted>(law, r.flat48, b);
    integrate<Shape, kWanted>(law, r.flat96, b);
  }
}

template <class Shape, Wanted kWanted, Accuracy kAccuracy, index_t kBlock>
FENCHEL_INLINE void integrate_near(const LineDensity& law, const LineRules& r,
                                   LineBlock<kBlock>& b) noexcept {
  if constexpr (kAccuracy == Accuracy::kSingle) {
    integrate<Shape, kWanted>(law, r.smooth24, b);
  } else {
    integrate<Shape, kWanted>(law, r.smooth48, b);
  }
}

/// The integrals of a block, whose Gaussian falls by at most `fall`.
template <Wanted kWanted, Accuracy kAccuracy, index_t kBlock>
FENCHEL_INLINE void integrate_block(const LineDensity& law, LineKind kind, double fall, const LineRules& r,
                                    LineBlock<kBlock>& b) noexcept {
  if (kind == LineKind::kNear) {
    integrate_near<NearShape<kAccuracy>, kWanted, kAccuracy>(law, r, b);
  } else if (alpha_too(kWanted) || kind == LineKind::kEdge) {
    if (kAccuracy == Accuracy::kDouble && law.s >= kFlatEnds) {
      integrate<FlatShape, kWanted>(law, r.smooth48, b);
    } else {
      integrate_edge<EdgeShape<kAccuracy>, kWanted, kAccuracy>(law, fall, r, b);
    }
  } else if constexpr (!alpha_too(kWanted)) {
    switch (kind) {
      case LineKind::kParabola:
        integrate_whole<WholeShape<1, kAccuracy>, kWanted, kAccuracy>(law, fall, r, b);
        break;
      case LineKind::kBiweight:
        integrate_whole<WholeShape<2, kAccuracy>, kWanted, kAccuracy>(law, fall, r, b);
        break;
      default:
        integrate_whole<WholeShape<3, kAccuracy>, kWanted, kAccuracy>(law, fall, r, b);
    }
  }
}

}  // namespace fenchel::detail
