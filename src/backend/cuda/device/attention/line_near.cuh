#pragma once

#include "backend/cuda/device/attention/line_float.cuh"

/// E_p[psi] on the line in float arithmetic for alpha near 1 on either side, where p is a correction to a
/// Gaussian: |alpha - 1| < kNearOne, or alpha - 1 up to 1 / kCorrection of line_power.cuh.
namespace fenchel::cuda::device {

/// p = peak e^{-G} e^{s (log(1 - q) + q)}, G = s q = y^2 / (2 e^z sigma2): the Gaussians of p and psi are one
/// of mean m and width omega times a factor, and the rest is integrated by Gauss and Hermite's rule. p is
/// nothing where q > 1/2.
struct NearLine {
  using Value = float;
  static constexpr int kMostRows = 16;
  static constexpr index_t kPairs = 4;

  double am1, log_peak, log_precision;  ///< for sigma2 = 1
  float q_of_g;                         ///< q = q_of_g G
  detail::EvenRule<kPairs, float> rule = detail::gauss_hermite<kPairs, float>();

  explicit NearLine(double alpha_minus_1) : am1(alpha_minus_1), q_of_g(static_cast<float>(am1)) {
    const BetaGaussianConstants c = beta_gaussian_constants(1, am1, 0);
    log_peak = c.log_peak;
    log_precision = -std::log(c.peak_power);
  }

  struct alignas(16) Row {
    float mu, root_precision, peak, sigma2_rate;  ///< peak is NaN for a density that does not exist
  };
  using Function = WholeLine<1>::Function;
  __device__ static Function function(double mean, double variance) {
    return WholeLine<1>::function(mean, variance);
  }
  template <Wanted>
  [[nodiscard]] __device__ Row row(double mu, double sigma2, double) const {
    const bool exists = is_positive(sigma2) && is_finite(mu);
    const double log_size = std::log(sigma2) / (2 + am1);
    return {float(mu), float(std::exp(0.5 * log_precision - log_size)),
            exists ? float(std::exp(log_peak - log_size)) : std::numeric_limits<float>::quiet_NaN(),
            float(1 / ((2 + am1) * sigma2))};
  }

  template <Wanted kWanted>
  [[nodiscard]] __device__ LineTerms<float> terms(const Row& p, const Function& psi) const {
    constexpr float kLog2E = 1.44269504f, kMost = 1e18f;
    const float d = psi.mean - p.mu, spreads = fminf(p.root_precision * psi.width, kMost);
    const float root = rsqrtf(fmaf(spreads, spreads, 1.0f)), away = d * p.root_precision;
    const float offset = fmaxf(fminf(away * root, kMost), -kMost);  // G = t^2 / 2 at t = centre + turn x
    const float centre = offset * root, turn = spreads * root;
    float value = 0, first = 0, second = 0, escort = 0, far_escort = 0;
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
#pragma unroll
      for (int side = -1; side <= 1; side += 2) {
        const float t = fmaf(turn, static_cast<float>(side) * rule.node[i], centre), g = 0.5f * t * t;
        const float q = fminf(fmaxf(q_of_g * g, -0.5f), 0.5f);
        const float term = rule.weight[i] * exp2_approximately(-kLog2E * g * q * log_series(q));
        value += term;
        if constexpr (kWanted != Wanted::kValues) {
          const float pulled = term * inverse_approximately(1 - q);
          first = fmaf(t, term, first);
          second = fmaf(t * t, term, second);
          escort = fmaf(t, pulled, escort);
          far_escort = fmaf(t * t, pulled, far_escort);
        }
      }
    }
    const float factor = psi.factor * p.peak * root * exp2_approximately(-0.5f * kLog2E * offset * offset);
    if (factor == 0) return {};  // where nothing is left, a sum may have overflowed
    if constexpr (kWanted == Wanted::kValues) return {factor * value};
    // y = t / root_precision: by the slopes of p where psi is narrow, and by its own where it is wide
    const float path = psi.inverse_width * psi.inverse_width, unit = inverse_approximately(p.root_precision);
    const bool narrow = spreads < 1;
    const float slope = narrow ? p.root_precision * escort : path * (d * value - unit * first);
    const float moment = narrow ? far_escort - value : path * unit * (d * first - unit * second);
    return {factor * value, factor * slope, factor * p.sigma2_rate * moment, 0, 0};
  }

 private:
  /// -(log(1 - q) + q) / q^2.
  [[nodiscard]] __device__ float log_series(float q) const {
    float sum = 1.0f / 7;
    if (q_of_g > 0.002f) {
      sum = 1.0f / 15;
#pragma unroll
      for (int k = 14; k >= 7; --k) sum = fmaf(sum, q, 1.0f / static_cast<float>(k));
    }
#pragma unroll
    for (int k = 6; k >= 2; --k) sum = fmaf(sum, q, 1.0f / static_cast<float>(k));
    return sum;
  }
};

}  // namespace fenchel::cuda::device
