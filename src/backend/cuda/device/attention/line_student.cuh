#pragma once

#include "backend/cuda/device/attention/line_float.cuh"

/// E_p[psi] on the line in float arithmetic for Student's law, alpha <= 1 - kNearOne.
namespace fenchel::cuda::device {

/// The mixture of line_mixture.hpp. All densities have the same nodes, but for their size.
struct StudentLine {
  using Value = float;
  static constexpr int kMostRows = 16;
  static constexpr index_t kMostNodes = 160;

  double am1;
  double size2 = 1;                              ///< |radius2|, for sigma2 = 1
  index_t count = 0;                             ///< more than kMostNodes: this is no way to go
  float spread[kMostNodes], weight[kMostNodes];  ///< T over |radius2| sigma2

  explicit StudentLine(double alpha_minus_1) : am1(alpha_minus_1) {
    const BetaGaussianConstants c = beta_gaussian_constants(1, am1, 0);
    size2 = -c.radius2;
    // p is 1e-7 of its peak at this many sizes: there nothing is left of a function
    const double nu = -2 / am1 - 1, farthest = std::sqrt(size2) * std::exp(16 / (nu + 1));
    detail::StudentRule rule(c, 1, farthest, true);
    rule.step *= 1.2;  // errs by 3e-6
    rule.count = static_cast<index_t>(static_cast<double>(rule.count) / 1.2) + 1;
    count = rule.count;
    if (count > kMostNodes) return;
    double mass = 0;
    for (index_t i = 0; i < count; ++i) mass += rule.mass(rule.place(i));
    for (index_t i = 0; i < count; ++i) {
      const double x = rule.place(i);
      spread[i] = static_cast<float>(rule.spread(x) / size2);
      weight[i] = static_cast<float>(detail::kInverseRootTwoPi * rule.mass(x) / mass);
    }
  }

  struct alignas(16) Row {
    float mu, size2, factor;  ///< factor is NaN for a density that does not exist
    float sigma2_rate;
  };
  using Function = GaussianLine::Function;
  __device__ static Function function(double mean, double variance) {
    return GaussianLine::function(mean, variance);
  }
  template <Wanted>
  [[nodiscard]] __device__ Row row(double mu, double sigma2, double) const {
    const bool exists = is_positive(sigma2) && is_finite(mu);
    return {float(mu), float(size2 * std::exp(2 / (2 + am1) * std::log(sigma2))),
            exists ? 1.0f : std::numeric_limits<float>::quiet_NaN(), float(2 / ((2 + am1) * sigma2))};
  }

  template <Wanted kWanted>
  [[nodiscard]] __device__ LineTerms<float> terms(const Row& p, const Function& psi) const {
    constexpr float kHalfLog2E = 0.72134752f, kFarthest = 16;
    const float d = psi.mean - p.mu, factor = p.factor * psi.factor;
    float value = 0, slope = 0, stretch = 0;
#pragma unroll 4
    for (int i = 0; i < static_cast<int>(count); ++i) {
      const float own = spread[i] * p.size2, root = rsqrtf(fmaxf(own + psi.variance, 1e-37f));
      const float t = fmaxf(fminf(d * root, kFarthest), -kFarthest), t2 = t * t;
      const float r = weight[i] * root * exp2_approximately(-kHalfLog2E * t2);
      value += r;
      if constexpr (kWanted != Wanted::kValues) {
        const float turned = r * root;
        slope = fmaf(turned, t, slope);
        stretch = fmaf(turned * root * own, t2 - 1, stretch);
      }
    }
    return {factor * value, factor * slope, 0.5f * factor * p.sigma2_rate * stretch, 0, 0};
  }
};

}  // namespace fenchel::cuda::device
