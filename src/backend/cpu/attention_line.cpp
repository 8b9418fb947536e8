#include "backend/cpu/attention_line.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/gauss_legendre.hpp"
#include "core/lane_math.hpp"

/// E_p[psi] on the line as an integral of positive terms (MATH.md 7.3, R1). With y = t - mu and half width a,
///   p psi = peak (1 - y^2/a^2)^s N(y; d, sigma_j^2) = C exp(-x^2/2) (1 - y^2/a^2)^s e^{c y^2/a^2},
/// y = m + omega x, where e^{-c y^2/a^2} has been taken into the Gaussian: c = 0, or s where s is large. x
/// runs over the support, cut to where the Gaussian has fallen by e^-drop from its largest value there, at
/// x0.
namespace fenchel::detail {
namespace {

constexpr index_t kBlock = LineFunctions::kBlock;
constexpr double kInverseRootTwoPi = 1 / (std::numbers::sqrt2 / std::numbers::inv_sqrtpi);

/// What a row needs to know of its density.
struct LineLaw {
  double mu, a, s;
  double precision;       ///< of the Gaussian that p gives away: 2 c / a^2
  double peak;            ///< p(mu)
  double inverse_a2;      ///< am1 / (2 e^z sigma2): negative for alpha < 1
  double pull;            ///< 2 s / a^2: -p'/p = pull y / (1 - q)
  double inverse_spread;  ///< a function is narrow when its width is below the spread of p
  double drop;
  double sigma2_rate;                                                ///< d/dsigma2 = E[y psi'] sigma2_rate
  double log_a_rate, log_shape_rate, log_peak_rate, log_power_rate;  ///< with alpha
};

/// The integrals over one block of functions, lane by lane.
struct Block {
  double d[kBlock];                                ///< centre of psi
  double m[kBlock], omega[kBlock];                 ///< of the Gaussian part
  double x0[kBlock], first[kBlock], size[kBlock];  ///< x = x0 + first + size * node
  double left[kBlock], right[kBlock];              ///< from the support's ends to those of the cut, over a
  double span[kBlock];                             ///< the length of the cut, over a
  double factor[kBlock];                           ///< of the sums
  /// d/dmu = E[psi'] = -int p' psi: a node's weight is path (d - y), or part y / (1 - q) for a function so
  /// narrow that its own slopes would cancel (MATH.md 7.3, R2). E[y psi'] has y times that weight, less
  /// `one`.
  double path[kBlock], part[kBlock], one[kBlock];
  double sum[kBlock], slope[kBlock], moment[kBlock], alpha[kBlock];
};

/// Beyond this many widths an exponent is -infinity, and so are the squares of longer distances.
constexpr double kFar = 1e100, kLargestSquared = 1e153;
FENCHEL_INLINE double bounded(double x, double bound) noexcept {
  const double below = x < bound ? x : bound;
  return below > -bound ? below : -bound;
}

/// Sets a block up; the largest fall of the Gaussian over an interval says how many nodes are needed. kGives:
/// whether p gives a Gaussian away.
template <bool kGives>
FENCHEL_INLINE double prepare(const LineLaw& law, const LineFunctions& psi, index_t begin,
                              Block& b) noexcept {
  const double *mean = psi.mean() + begin, *widths = psi.width() + begin;
  const double* inverse_widths = psi.inverse_width() + begin;
  const double inverse_a = 1 / law.a, root_precision = std::sqrt(law.precision);
  double fall[kBlock];
  for (index_t j = 0; j < kBlock; ++j) {
    const double d = bounded(mean[j] - law.mu, kLargestSquared), width = widths[j];
    // 1 / sqrt(1 + precision width^2), where the square may overflow.
    const double spreads = root_precision * width, unit_of = kGives && spreads > 1 ? 1 / spreads : 1;
    const double root = kGives ? std::sqrt(unit_of * unit_of + (spreads * unit_of) * (spreads * unit_of)) : 1;
    const double inverse_root = kGives ? unit_of / root : 1;
    const double omega = width * inverse_root, m = d * inverse_root * inverse_root;
    const double inverse_omega = kGives ? inverse_widths[j] / inverse_root : inverse_widths[j];
    const double whole = bounded(2 * law.a * inverse_omega, kFar);
    const double u = bounded((-law.a - m) * inverse_omega, kFar),
                 v = bounded((law.a - m) * inverse_omega, kFar);
    double x0 = u > 0 ? u : 0;
    x0 = v < 0 ? v : x0;
    const double below = v < 0 ? whole : x0 - u, above = u > 0 ? whole : v - x0, size = std::abs(x0);
    const double reach = 2 * law.drop / (std::sqrt(x0 * x0 + 2 * law.drop) + size);
    const double lower = below < reach ? below : reach, upper = above < reach ? above : reach;
    const double far = lower > upper ? lower : upper, unit = omega * inverse_a;
    fall[j] = far * (size + far / 2);
    b.d[j] = d;
    b.m[j] = m;
    b.omega[j] = omega;
    b.x0[j] = x0;
    b.first[j] = -lower;
    b.size[j] = lower + upper;
    b.left[j] = (below - lower) * unit;
    b.right[j] = (above - upper) * unit;
    b.span[j] = b.size[j] * unit;
    const double offset = kGives ? bounded(d * root_precision * inverse_root, kFar) : 0;
    const double exponent = -0.5 * (x0 * x0 + offset * offset);
    b.factor[j] = law.peak * kInverseRootTwoPi * inverse_root * b.size[j] * exp_element(exponent);
    const bool narrow = width * law.inverse_spread < 1 && (law.s >= 1 || (below > reach && above > reach));
    b.path[j] = narrow ? 0 : inverse_widths[j] * inverse_widths[j];
    b.part[j] = narrow ? law.pull : 0;
    b.one[j] = narrow ? 1 : 0;
    b.sum[j] = b.slope[j] = b.moment[j] = b.alpha[j] = 0;
    // Where nothing is left of a value, nothing may overflow beside it: the lane looks at mu alone.
    const bool gone = b.factor[j] == 0;
    b.d[j] = gone ? 0 : b.d[j];
    b.m[j] = gone ? 0 : b.m[j];
    b.x0[j] = gone ? 0 : b.x0[j];
    b.first[j] = gone ? 0 : b.first[j];
    b.size[j] = gone ? 0 : b.size[j];
    b.span[j] = gone ? 0 : b.span[j];
    b.left[j] = gone ? 1 : b.left[j];
    b.right[j] = gone ? 1 : b.right[j];
    fall[j] = gone ? 0 : fall[j];
  }
  return *std::max_element(fall, fall + kBlock);
}

/// exp(x) for x in [-700, 700].
FENCHEL_INLINE double exp_within(double x) noexcept {
  const ExpParts<double> parts = exp_parts(x, 0.0);
  return scale_normal(1 + parts.expm1, parts.rounded);
}
/// The same, and 1e-304 below.
FENCHEL_INLINE double exp_from_below(double x) noexcept { return exp_within(x > -700 ? x : -700); }

/// p psi at a node up to the block's factor, that over 1 - q with q = y^2/a^2, and d log p / dalpha at fixed
/// y / a (near alpha = 1 at fixed y).
struct Point {
  double value, escort, alpha_rate;
};

/// Whole s.
template <int kPower>
struct WholeShape {
  FENCHEL_INLINE static Point at(const LineLaw&, double exponent, double one_minus_q, double) noexcept {
    double escort = exp_within(exponent);
    for (int k = 1; k < kPower; ++k) escort *= one_minus_q;
    return {escort * one_minus_q, escort, 0};
  }
};

/// Any other s < 64, right up to the ends of the support.
struct EdgeShape {
  FENCHEL_INLINE static Point at(const LineLaw& law, double exponent, double one_minus_q,
                                 double y2) noexcept {
    const double log_power = log_element(one_minus_q);
    const double value = exp_from_below(exponent + law.s * log_power + 0.5 * law.precision * y2);
    return {value, value / one_minus_q, law.log_shape_rate - law.s * law.s * log_power};
  }
};

/// |s| >= 64: s (log(1 - q) + q) corrects the Gaussian. With G = s q, d log p / dalpha is
/// log_peak_rate + G dz / (1 - q) - G^2 (log(1 - q) + q / (1 - q)) / q^2.
struct NearShape {
  FENCHEL_INLINE static Point at(const LineLaw& law, double exponent, double, double y2) noexcept {
    constexpr double kLast = 1 - std::numeric_limits<double>::epsilon();
    const double raw = y2 * law.inverse_a2, q = raw < kLast ? raw : kLast;
    const double log_power = log1p_element(-q), gauss = 0.5 * law.precision * y2;
    constexpr double kSeries[] = {1. / 2, 2. / 3, 3. / 4,  4. / 5,   5. / 6,   6. / 7,
                                  7. / 8, 8. / 9, 9. / 10, 10. / 11, 11. / 12, 12. / 13};
    const double series = polynomial(q, kSeries), closed = (log_power + q / (1 - q)) / (q * q);
    const double curve = std::abs(q) < 0.05 ? series : closed;
    const double value = exp_from_below(exponent + law.s * (log_power + q));
    return {value, value / (1 - q),
            law.log_peak_rate + gauss * (law.log_power_rate / (1 - q) - gauss * curve)};
  }
};

/// Adds up the nodes of a rule.
template <class Shape, Wanted kWanted, index_t kSize>
FENCHEL_INLINE void integrate(const LineLaw& law, const UnitRule<kSize>& rule, Block& b) noexcept {
  for (index_t i = 0; i < kSize; ++i) {
    const double left = rule.left[i], right = rule.right[i], weight = rule.weight[i];
    for (index_t j = 0; j < kBlock; ++j) {
      const double step = b.first[j] + b.size[j] * left;
      const double exponent = -step * (b.x0[j] + 0.5 * step);
      const double one_minus_q = (b.left[j] + b.span[j] * left) * (b.right[j] + b.span[j] * right);
      const double y = b.m[j] + b.omega[j] * (b.x0[j] + step);
      const Point point = Shape::at(law, exponent, one_minus_q, y * y);
      const double term = weight * point.value;
      b.sum[j] += term;
      if constexpr (kWanted != Wanted::kValues) {
        const double pull = b.path[j] * (b.d[j] - y) * point.value + b.part[j] * y * point.escort;
        b.slope[j] += weight * pull;
        b.moment[j] += weight * (y * pull - b.one[j] * point.value);
      }
      if constexpr (kWanted == Wanted::kAlphaToo) b.alpha[j] += point.alpha_rate * term;
    }
  }
}

/// Rules of growing size: the smallest that is accurate for a fall of the Gaussian is taken.
struct Rules {
  UnitRule<8> smooth8 = gauss_legendre<8>();
  UnitRule<16> smooth16 = gauss_legendre<16>();
  UnitRule<20> smooth20 = gauss_legendre<20>();
  UnitRule<32> smooth32 = gauss_legendre<32>();
  UnitRule<48> smooth48 = gauss_legendre<48>();
  UnitRule<24> flat24 = flat_ended_rule<24>();
  UnitRule<48> flat48 = flat_ended_rule<48>();
  UnitRule<96> flat96 = flat_ended_rule<96>();
};

const Rules& rules() noexcept {
  static const Rules kRules;
  return kRules;
}

/// Whole s.
template <int kPower, Wanted kWanted>
FENCHEL_INLINE void integrate_whole(const LineLaw& law, bool single, double fall, const Rules& r,
                                    Block& b) noexcept {
  using Shape = WholeShape<kPower>;
  if (single && fall <= 0.5) {
    integrate<Shape, kWanted>(law, r.smooth8, b);
  } else if (fall <= (single ? 8 : 2)) {
    integrate<Shape, kWanted>(law, r.smooth16, b);
  } else if (single || fall <= 6) {
    integrate<Shape, kWanted>(law, r.smooth20, b);
  } else {
    integrate<Shape, kWanted>(law, r.smooth48, b);
  }
}

/// Any other s: below kSmoothPower the ends of the support are felt.
constexpr double kSmoothPower = 4;
template <Wanted kWanted>
FENCHEL_INLINE void integrate_edge(const LineLaw& law, bool single, double fall, const Rules& r,
                                   Block& b) noexcept {
  if (law.s >= kSmoothPower) {
    single ? integrate<EdgeShape, kWanted>(law, r.smooth32, b)
           : integrate<EdgeShape, kWanted>(law, r.smooth48, b);
  } else if (single && fall <= 4) {
    integrate<EdgeShape, kWanted>(law, r.flat24, b);
  } else if (single || fall <= 4) {
    integrate<EdgeShape, kWanted>(law, r.flat48, b);
  } else {
    integrate<EdgeShape, kWanted>(law, r.flat96, b);
  }
}

template <Wanted kWanted>
FENCHEL_INLINE void integrate_near(const LineLaw& law, bool single, const Rules& r, Block& b) noexcept {
  single ? integrate<NearShape, kWanted>(law, r.smooth32, b)
         : integrate<NearShape, kWanted>(law, r.smooth48, b);
}

enum class Kind { kParabola, kBiweight, kTriweight, kEdge, kNear };

[[nodiscard]] Kind kind_of(double am1, Wanted wanted) noexcept {
  if (am1 < kNearOne) return Kind::kNear;
  if (wanted == Wanted::kAlphaToo) return Kind::kEdge;
  if (am1 == 1) return Kind::kParabola;
  if (am1 == 0.5) return Kind::kBiweight;
  return am1 == 4.0 / 3 - 1 ? Kind::kTriweight : Kind::kEdge;
}

template <Wanted kWanted>
FENCHEL_INLINE void run_blocks(const LineLaw& law, Kind kind, const LineFunctions& psi, bool single,
                               const Rules& r, const RowBlocks& out) noexcept {
  for (index_t begin = 0; begin < psi.size(); begin += kBlock) {
    Block b;
    const double fall =
        law.precision > 0 ? prepare<true>(law, psi, begin, b) : prepare<false>(law, psi, begin, b);
    if constexpr (kWanted == Wanted::kAlphaToo) {
      kind == Kind::kNear ? integrate_near<kWanted>(law, single, r, b)
                          : integrate_edge<kWanted>(law, single, fall, r, b);
    } else {
      switch (kind) {
        case Kind::kParabola:
          integrate_whole<1, kWanted>(law, single, fall, r, b);
          break;
        case Kind::kBiweight:
          integrate_whole<2, kWanted>(law, single, fall, r, b);
          break;
        case Kind::kTriweight:
          integrate_whole<3, kWanted>(law, single, fall, r, b);
          break;
        case Kind::kEdge:
          integrate_edge<kWanted>(law, single, fall, r, b);
          break;
        case Kind::kNear:
          integrate_near<kWanted>(law, single, r, b);
          break;
      }
    }
    for (index_t j = 0; j < kBlock; ++j) out[0][begin + j] = b.factor[j] * b.sum[j];
    if constexpr (kWanted != Wanted::kValues) {
      double stretch[kBlock];
      for (index_t j = 0; j < kBlock; ++j) {
        stretch[j] = b.factor[j] * b.moment[j];
        out[1][begin + j] = b.factor[j] * b.slope[j];
        out[2][begin + j] = stretch[j] * law.sigma2_rate;
      }
      if constexpr (kWanted == Wanted::kAlphaToo) {
        for (index_t j = 0; j < kBlock; ++j) {
          out[3][begin + j] = b.factor[j] * b.alpha[j] + law.log_a_rate * stretch[j];
        }
      }
    }
  }
}

FENCHEL_CLONES void integrate_row(const LineLaw& law, Kind kind, const LineFunctions& psi, Wanted wanted,
                                  bool single, const Rules& r, RowBlocks out) noexcept {
  switch (wanted) {
    case Wanted::kValues:
      run_blocks<Wanted::kValues>(law, kind, psi, single, r, out);
      break;
    case Wanted::kGradient:
      run_blocks<Wanted::kGradient>(law, kind, psi, single, r, out);
      break;
    case Wanted::kAlphaToo:
      run_blocks<Wanted::kAlphaToo>(law, kind, psi, single, r, out);
      break;
  }
}

/// alpha = 1: p psi is a Gaussian in y, N(d; 0, v) with v = sigma2 + sigma_j^2 times one of mean m and
/// variance omega^2. d log p / dalpha = log_peak_rate + G dz - G^2 / 2, G = y^2 / (2 sigma2).
template <Wanted kWanted>
FENCHEL_INLINE void gaussian_blocks(const LineLaw& law, double sigma2, const LineFunctions& psi,
                                    const RowBlocks& out) noexcept {
  const double *mean = psi.mean(), *width = psi.width();
  for (index_t j = 0; j < psi.whole_size(); ++j) {
    const double variance = width[j] * width[j], inverse = 1 / (sigma2 + variance);
    const double d = mean[j] - law.mu, pull = d * inverse;
    const double r = kInverseRootTwoPi * std::sqrt(inverse) * exp_element(-0.5 * d * pull);
    out.data[j] = r;
    if constexpr (kWanted != Wanted::kValues) {
      out.data[out.pitch + j] = r * pull;
      out.data[2 * out.pitch + j] = 0.5 * r * (pull * pull - inverse);
    }
    if constexpr (kWanted == Wanted::kAlphaToo) {
      const double m2 = d * pull * sigma2 * inverse, omega2 = variance * inverse;  // over sigma2
      const double square = m2 + omega2, fourth = m2 * m2 + 6 * m2 * omega2 + 3 * omega2 * omega2;
      out.data[3 * out.pitch + j] =
          r * (law.log_peak_rate + 0.5 * square * law.log_power_rate - 0.125 * fourth);
    }
  }
}

FENCHEL_CLONES void gaussian_row(const LineLaw& law, double sigma2, const LineFunctions& psi, Wanted wanted,
                                 RowBlocks out) noexcept {
  switch (wanted) {
    case Wanted::kValues:
      gaussian_blocks<Wanted::kValues>(law, sigma2, psi, out);
      break;
    case Wanted::kGradient:
      gaussian_blocks<Wanted::kGradient>(law, sigma2, psi, out);
      break;
    case Wanted::kAlphaToo:
      gaussian_blocks<Wanted::kAlphaToo>(law, sigma2, psi, out);
      break;
  }
}

}  // namespace

LineFunctions::LineFunctions(const cpu::GaussianFunctions& psi)
    : size_(psi.mean.rows),
      whole_((size_ + kBlock - 1) / kBlock * kBlock),
      memory_(static_cast<std::size_t>(3 * whole_)) {
  for (index_t j = 0; j < whole_; ++j) {
    const index_t from = std::min(j, size_ - 1);
    const double width = std::sqrt(psi.covariance.row(from)[0]);
    double* const lane = memory_.data() + j;
    lane[0] = psi.mean.row(from)[0];
    lane[whole_] = width;
    lane[2 * whole_] = 1 / width;
  }
}

void attend_line_row(const DensityRow& p, const LineFunctions& psi, Wanted wanted, Accuracy accuracy,
                     RowBlocks out) noexcept {
  const BetaGaussianConstants& c = p.constants;
  if (c.am1 <= kNearStudent) return attend_student_row(p, psi, wanted, accuracy, out);
  const double sigma2 = p.scale[0], am1 = c.am1;
  const bool single = accuracy == Accuracy::kSingle;
  const Kind kind = kind_of(am1, wanted);

  LineLaw law{};
  law.mu = p.mu[0];
  law.peak = std::exp(c.log_peak);
  law.s = 1 / am1;
  law.sigma2_rate = 1 / ((2 + am1) * sigma2);
  if (wanted == Wanted::kAlphaToo) {
    const BetaGaussianAlphaDerivatives rates = alpha_derivatives(c);
    law.log_peak_rate = rates.log_peak;
    law.log_power_rate = rates.log_peak_power;
  }
  if (am1 == 0) return gaussian_row(law, sigma2, psi, wanted, out);
  law.a = am1 > 0 ? std::sqrt(c.radius2 * sigma2) : std::numeric_limits<double>::infinity();
  if (kind == Kind::kNear) {
    law.precision = 1 / (c.peak_power * sigma2);
    law.inverse_a2 = 0.5 * am1 * law.precision;
    law.pull = law.precision;
    law.drop = single ? 36 : 54;
  } else {
    law.pull = 2 * law.s / (law.a * law.a);
    law.precision = law.s >= kSmoothPower ? law.pull : 0;
    law.drop = kind != Kind::kEdge     ? (single ? 23 : 42)
               : law.s >= kSmoothPower ? (single ? 36 : 54)
                                       : (single ? 28 : 46);
    if (!std::isinf(am1)) {
      law.log_a_rate = (law.log_power_rate - law.s) / 2;
      law.log_shape_rate = law.log_peak_rate + law.log_a_rate;
    }
  }
  law.inverse_spread = std::sqrt(law.pull + (am1 > 0 ? 1 / (law.a * law.a) : 0));
  integrate_row(law, kind, psi, wanted, single, rules(), out);
}

}  // namespace fenchel::detail
