#pragma once

#include "backend/cuda/device/attention/line_float.cuh"

/// E_p[psi] on the line in float arithmetic, for any alpha >= 1 + 1 / kCorrection.
namespace fenchel::cuda::device {

/// A rule for the unit interval, rounded.
template <index_t kSize>
struct FloatRule {
  float left[kSize], right[kSize], weight[kSize];
  FloatRule(const detail::UnitRule<kSize>& rule) {
    for (index_t i = 0; i < kSize; ++i) {
      left[i] = static_cast<float>(rule.left[i]);
      right[i] = static_cast<float>(rule.right[i]);
      weight[i] = static_cast<float>(rule.weight[i]);
    }
  }
};

/// From this s = 1 / (alpha - 1) on a density is a correction to a Gaussian, in line_near.cuh: 1 - q would
/// lose too many digits here.
inline constexpr double kCorrection = 48;

/// The integral of line_integral.hpp, cut earlier and with fewer nodes, for p = c / a (1 - x^2)^s on [-a, a].
/// It gives a Gaussian away, or is felt up to its ends, and then there is Gauss's rule for it where the
/// function is wide.
template <bool kGives>
struct PowerLine {
  using Value = float;
  static constexpr int kMostRows = 16;
  static constexpr double kFlat = 2.5;  ///< from this s on Gauss and Legendre's rule does not notice the ends
  static constexpr float kWide = 0.25f, kLog2E = 1.44269504f;
  static constexpr index_t kSmooth = kGives ? 20 : 24;

  double s, sigma2_exponent;         ///< a goes with the root of sigma2 to this power
  double log_a, log_peak;            ///< for sigma2 = 1
  float gap, drop;                   ///< of line_density.hpp
  detail::EvenRule<3, float> rule3;  ///< from w = 0.9 on
  detail::EvenRule<4, float> rule4;  ///< from w = 0.55 on
  detail::EvenRule<8, float> rule8;
  FloatRule<kSmooth> smooth = detail::gauss_legendre<kSmooth>();
  FloatRule<48> flat = detail::flat_ended_rule<48>();

  explicit PowerLine(double am1)
      : s(1 / am1),
        sigma2_exponent(std::isinf(am1) ? 0 : 2 / (2 + am1)),
        gap(am1 > 1 ? 1 : -1),
        drop(kGives ? 15.0f : static_cast<float>(15 + 2 * s)),
        rule3(detail::gauss_gegenbauer<3, float>(s)),
        rule4(detail::gauss_gegenbauer<4, float>(s)),
        rule8(detail::gauss_gegenbauer<8, float>(s)) {
    const BetaGaussianConstants c = beta_gaussian_constants(1, am1, 0);
    log_a = 0.5 * std::log(c.radius2);
    log_peak = c.log_peak;
  }

  struct alignas(16) Row {
    float mu, a, inverse_a, peak;     ///< inverse_a and peak are NaN for a density that does not exist
    float precision, root_precision;  ///< of the Gaussian that p can give away, 2 s / a^2
    float inverse_spread, sigma2_rate;
  };
  using Function = WholeLine<1>::Function;
  __device__ static Function function(double mean, double variance) {
    return WholeLine<1>::function(mean, variance);
  }

  template <Wanted>
  [[nodiscard]] __device__ Row row(double mu, double sigma2, double alpha) const {
    const bool exists = is_positive(sigma2) && is_finite(mu);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double log_size = 0.5 * sigma2_exponent * std::log(sigma2), a = std::exp(log_a + log_size);
    const double precision = 2 * s / (a * a);
    return {float(mu),
            float(a),
            float(exists ? 1 / a : nan),
            float(exists ? detail::kInverseRootTwoPi * std::exp(log_peak - log_size) : nan),
            float(precision),
            float(std::sqrt(precision)),
            float(std::sqrt(precision + 1 / (a * a))),
            float(1 / ((1 + alpha) * sigma2))};
  }

  template <Wanted kWanted>
  [[nodiscard]] __device__ LineTerms<float> terms(const Row& p, const Function& psi) const {
    const float d = psi.mean - p.mu;
    if constexpr (kGives) {
      return sum<kWanted>(smooth, p, psi, d, Cut(p, psi, fabsf(d), gap, drop));
    } else {
      const float w = psi.width * p.inverse_a;
      if (in_all_lanes(w >= 0.55f)) {
        return in_all_lanes(w >= 0.9f) ? wide<kWanted>(rule3, p, psi, d) : wide<kWanted>(rule4, p, psi, d);
      }
      if (w >= kWide) return wide<kWanted>(rule8, p, psi, d);
      const Cut cut(p, psi, fabsf(d), gap, drop);
      return s >= kFlat || (cut.left > 0 && cut.right > 0) ? sum<kWanted>(smooth, p, psi, d, cut)
                                                           : sum<kWanted>(flat, p, psi, d, cut);
    }
  }

 private:
  template <Wanted kWanted, index_t kPairs>
  __device__ static LineTerms<float> wide(const detail::EvenRule<kPairs, float>& rule, const Row& p,
                                          const Function& psi, float d) {
    const float delta = fminf(fabsf(d) * p.inverse_a, 1e18f), factor = psi.factor * p.inverse_a;
    const auto x = WholeLine<1>::template wide<kWanted>(rule, delta, psi.inverse_width * p.a);
    return {factor * x.value, copysignf(factor, d) * p.inverse_a * x.slope, factor * p.sigma2_rate * x.moment,
            0, 0};
  }

  /// The cut interval of line_integral.hpp, for a function to the right of the density.
  struct Cut {
    float x0, lower, size, left, right, span, start, omega, factor;
    bool narrow;
    __device__ Cut(const Row& p, const Function& psi, float d, float gap, float drop) {
      float root = 1, inverse_omega = psi.inverse_width, offset = 0;
      if constexpr (kGives) {
        const float spreads = fminf(p.root_precision * psi.width, 1e18f), k = fmaf(spreads, spreads, 1.0f);
        root = rsqrtf(k);
        inverse_omega = fmaxf(psi.inverse_width * (k * root), p.root_precision);
        offset = fminf(d * p.root_precision * root, 1e18f);
      }
      const float m = kGives ? d * root * root : d;
      omega = psi.width * root;
      const float v = (p.a - m) * inverse_omega, whole = 2 * p.a * inverse_omega;
      x0 = fmaxf(fminf(v, 0.0f), -1e18f);
      const float below = fminf((p.a + m) * inverse_omega, whole), above = fminf(fmaxf(v, 0.0f), whole);
      const float far2 = fmaf(x0, x0, 2 * drop);
      const float reach = 2 * drop * inverse_approximately(fmaf(far2, rsqrtf(far2), -x0));
      lower = fminf(below, reach);
      const float upper = fminf(above, reach), unit = omega * p.inverse_a;
      size = lower + upper;
      left = (below - lower) * unit;
      right = (above - upper) * unit;
      span = size * unit;
      start = fminf(m, p.a);
      narrow = fminf(fminf(below, above) - gap * reach, 1 - psi.width * p.inverse_spread) > 0;
      factor = psi.factor * p.peak * root * size *
               exp2_approximately(-0.5f * kLog2E * fmaf(x0, x0, offset * offset));
    }
  };

  template <Wanted kWanted, index_t kSize>
  __device__ LineTerms<float> sum(const FloatRule<kSize>& rule, const Row& p, const Function& psi, float d,
                                  const Cut& cut) const {
    const float power = static_cast<float>(s), half_precision = 0.5f * kLog2E * p.precision;
    const float path = cut.narrow ? 0.0f : psi.inverse_width * psi.inverse_width;
    const float part = cut.narrow ? p.precision : 0.0f, one = cut.narrow ? 1.0f : 0.0f;
    float value = 0, slope = 0, moment = 0;
#pragma unroll 4
    for (int i = 0; i < kSize; ++i) {
      const float step = fmaf(cut.size, rule.left[i], -cut.lower);
      const float y = fmaf(cut.omega, step, cut.start), x = y * p.inverse_a;
      // 1 - q: of the distances to the ends, or where these do not matter of q, which rounds less there
      const float edge =
          kGives ? fmaxf(fmaf(-x, x, 1.0f), 1e-7f)
                 : fmaf(cut.span, rule.left[i], cut.left) * fmaf(cut.span, rule.right[i], cut.right);
      float log2_value = fmaf(power, log2_approximately(edge), -kLog2E * step * fmaf(0.5f, step, cut.x0));
      if constexpr (kGives) log2_value = fmaf(half_precision * y, y, log2_value);
      const float term = rule.weight[i] * exp2_approximately(log2_value);
      value += term;
      if constexpr (kWanted != Wanted::kValues) {
        const float turn = term * fmaf(path, fabsf(d) - y, part * y * inverse_approximately(edge));
        slope += turn;
        moment += fmaf(y, turn, -one * term);
      }
    }
    // where nothing is left of a value a sum may have overflowed
    if (cut.factor == 0) value = slope = moment = 0;
    if constexpr (kWanted == Wanted::kValues) return {cut.factor * value};
    return {cut.factor * value, copysignf(cut.factor, d) * slope, cut.factor * p.sigma2_rate * moment, 0, 0};
  }
};

}  // namespace fenchel::cuda::device
