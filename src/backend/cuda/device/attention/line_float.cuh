#pragma once

#include "backend/attention/wanted.hpp"
#include "backend/cuda/device/approximate.cuh"
#include "backend/cuda/device/attention/line_pair.cuh"
#include "backend/cuda/device/reduce.cuh"
#include "core/quadrature/even_rule.hpp"

/// E_p[psi] on the line in float arithmetic, for alpha = 1 and the alphas with closed forms: the CPU's
/// quadrature in double would cost a GPU twenty times as much.
namespace fenchel::cuda::device {

/// Whether it holds in all lanes of a warp.
__device__ inline bool in_all_lanes(bool holds) { return __all_sync(kAllLanes, holds); }

__device__ inline bool is_positive(double x) { return x > 0 && x <= std::numeric_limits<double>::max(); }
__device__ inline bool is_finite(double x) {
  return x >= -std::numeric_limits<double>::max() && x <= std::numeric_limits<double>::max();
}

inline constexpr float kInverseRootTwoPiFloat = 0.39894228f;

/// alpha = 1: N(d; 0, sigma2 + sigma_j^2).
struct GaussianLine {
  using Value = float;
  static constexpr int kMostRows = 16;

  struct alignas(16) Row {
    float mu, sigma2, factor;  ///< factor is NaN for what does not exist
  };
  struct Function {
    float mean, variance, factor;
  };

  __device__ static Function function(double mean, double variance) {
    const bool exists = is_positive(variance) && is_finite(mean);
    return {float(mean), float(variance), exists ? 1.0f : std::numeric_limits<float>::quiet_NaN()};
  }
  template <Wanted>
  [[nodiscard]] __device__ Row row(double mu, double sigma2, double) const {
    const bool exists = is_positive(sigma2) && is_finite(mu);
    return {float(mu), float(sigma2),
            exists ? kInverseRootTwoPiFloat : std::numeric_limits<float>::quiet_NaN()};
  }
  template <Wanted kWanted>
  [[nodiscard]] __device__ LineTerms<float> terms(const Row& p, const Function& psi) const {
    constexpr float kHalfLog2E = 0.72134752f, kFarthest = 16;  // widths: exp underflows to 0
    const float root = rsqrtf(fmaxf(p.sigma2 + psi.variance, 1e-37f));
    const float t = fmaxf(fminf((psi.mean - p.mu) * root, kFarthest), -kFarthest);
    const float r = p.factor * psi.factor * (root * exp2_approximately(-kHalfLog2E * (t * t)));
    if constexpr (kWanted == Wanted::kValues) return {r};
    const float turned = r * root;
    return {r, turned * t, 0.5f * turned * root * (t * t - 1), 0, 0};
  }
};

/// log2 I_m(-z) for z in [0, 7], m = 2n - 1 and 2n, where I_m(v) = int_0^inf t^m/m! N(v - t; 0, 1) dt: near
/// to 2e-6 of I_m before rounding, and far, for z >= 2 (2.7 for n = 3), to 8e-5.
template <int kPower, bool kFar>
struct TailFits;
template <>
struct TailFits<1, false> {
  static constexpr int kTerms = 10;
  __device__ static constexpr float lower(int k) {
    constexpr float kFit[] = {-1.3257462f,      -1.80820355f,   -0.411491811f,    -0.0431164748f,
                              0.00309696698f,   0.00029104879f, -0.000116070121f, 1.53307979e-05f,
                              -1.01740743e-06f, 2.80926289e-08f};
    return kFit[k];
  }
  __device__ static constexpr float upper(int k) {
    constexpr float kFit[] = {-1.99999955f,     -2.30221681f,    -0.394178406f,    -0.0356724207f,
                              0.00129351215f,   0.000417903292f, -9.83139523e-05f, 1.06961469e-05f,
                              -6.22683052e-07f, 1.55479308e-08f};
    return kFit[k];
  }
};
template <>
struct TailFits<1, true> {
  static constexpr int kTerms = 6;
  __device__ static constexpr float lower(int k) {
    constexpr float kFit[] = {-1.36560789f,   -1.74414083f,   -0.451286588f,
                              -0.0318628637f, 0.00226631663f, -7.10478356e-05f};
    return kFit[k];
  }
  __device__ static constexpr float upper(int k) {
    constexpr float kFit[] = {-2.02108668f,   -2.27137702f,   -0.410045585f,
                              -0.0333385469f, 0.00220358069f, -6.54047992e-05f};
    return kFit[k];
  }
};
template <>
struct TailFits<2, false> {
  static constexpr int kTerms = 9;
  __device__ static constexpr float lower(int k) {
    constexpr float kFit[] = {-2.91070841f,    -2.71226897f,    -0.385266949f,
                              -0.0311657242f,  0.000840939145f, 0.000270784214f,
                              -4.6543691e-05f, 3.35199533e-06f, -9.68312725e-08f};
    return kFit[k];
  }
  __device__ static constexpr float upper(int k) {
    constexpr float kFit[] = {-3.99999923f,     -3.06962063f,    -0.380190766f,
                              -0.0276805517f,   0.000441629539f, 0.000245458982f,
                              -3.62973546e-05f, 2.38298498e-06f, -6.40151302e-08f};
    return kFit[k];
  }
};
template <>
struct TailFits<2, true> {
  static constexpr int kTerms = 6;
  __device__ static constexpr float lower(int k) {
    constexpr float kFit[] = {-2.91957807f,   -2.70158094f,   -0.388220199f,
                              -0.0325924491f, 0.00200261171f, -5.6138271e-05f};
    return kFit[k];
  }
  __device__ static constexpr float upper(int k) {
    constexpr float kFit[] = {-4.00147774f,   -3.07057522f,   -0.376103146f,
                              -0.0310536925f, 0.00177474788f, -4.68517192e-05f};
    return kFit[k];
  }
};
template <>
struct TailFits<3, false> {
  static constexpr int kTerms = 9;
  __device__ static constexpr float lower(int k) {
    constexpr float kFit[] = {-5.23263899f,    -3.39027131f,    -0.376832437f,
                              -0.0251383536f,  0.000248300038f, 0.000208938808f,
                              -2.7536157e-05f, 1.65293685e-06f, -4.09900435e-08f};
    return kFit[k];
  }
  __device__ static constexpr float upper(int k) {
    constexpr float kFit[] = {-6.58496297f,     -3.68352018f,    -0.374428527f,
                              -0.0232083088f,   0.00015844791f,  0.000172161704f,
                              -2.04159713e-05f, 1.10576606e-06f, -2.45918366e-08f};
    return kFit[k];
  }
};
template <>
struct TailFits<3, true> {
  static constexpr int kTerms = 5;
  __device__ static constexpr float lower(int k) {
    constexpr float kFit[] = {-5.30908772f, -3.30650201f, -0.409913993f, -0.0204457191f, 0.000622557193f};
    return kFit[k];
  }
  __device__ static constexpr float upper(int k) {
    constexpr float kFit[] = {-6.64476525f, -3.61957345f, -0.398516294f, -0.0203058221f, 0.000598887443f};
    return kFit[k];
  }
};

/// alpha = 1 + 1/n (docs/math.md 7.2). With delta = |mean - mu| / a and w = sigma_j / a, a row's value is c_n
/// / a M_n, M_k = int (1 - x^2)^k N(x; delta, w^2) dx over [-1, 1], and
///   d/dmu = -+ c_n / a^2 dM_n/ddelta,   E[y psi'] = c_n / a (2n M_{n-1} - (2n + 1) M_n).
/// A wide function is integrated by Gauss's rule for the density. Of a narrow one, M_k is that of the whole
/// line less what lies beyond the ends, by repeated integrals of N, I_m: both to kAttendFloatError.
template <int kPower>
struct WholeLine {
  static_assert(kPower >= 1 && kPower <= 3);
  using Value = float;
  static constexpr int kMostRows = 16;
  static constexpr float kWide = kPower == 3 ? 0.36f : 0.5f;  ///< below this w the ends are taken away

  detail::EvenRule<3, float> rule3 = detail::gauss_gegenbauer<3, float>(kPower);  ///< from w = 0.8 on
  detail::EvenRule<4, float> rule4 = detail::gauss_gegenbauer<4, float>(kPower);  ///< from w = 0.5 on
  detail::EvenRule<5, float> rule5 = detail::gauss_gegenbauer<5, float>(kPower);
  double log_half_width =
      0.5 * std::log(beta_gaussian_constants(1, 1.0 / kPower, 0).radius2);  ///< sigma2 = 1

  struct alignas(16) Row {
    float mu, a, inverse_a;  ///< NaN for a density that does not exist
    float sigma2_rate;       ///< d/dsigma2 = E[y psi'] sigma2_rate
  };
  struct Function {
    float mean, width, inverse_width, factor;  ///< factor is NaN for a function that does not exist
  };

  __device__ static Function function(double mean, double variance) {
    const bool exists = is_positive(variance) && is_finite(mean);
    const float factor = exists ? 1.0f : std::numeric_limits<float>::quiet_NaN();
    if (variance > 1e-30 && variance < 1e30) {
      const float width = sqrtf(float(variance));
      return {float(mean), width, 1 / width, factor};
    }
    const double width = std::sqrt(variance);
    return {float(mean), float(width), float(1 / width), factor};
  }
  template <Wanted>
  [[nodiscard]] __device__ Row row(double mu, double sigma2, double) const {
    constexpr double kExponent = kPower / (2.0 * kPower + 1);
    const double a = std::exp(log_half_width + kExponent * std::log(sigma2));
    const bool exists = is_positive(sigma2) && is_finite(mu);
    return {float(mu), float(a), exists ? float(1 / a) : std::numeric_limits<float>::quiet_NaN(),
            float(kPower / ((2.0 * kPower + 1) * sigma2))};
  }
  template <Wanted kWanted>
  [[nodiscard]] __device__ LineTerms<float> terms(const Row& p, const Function& psi) const {
    const float d = psi.mean - p.mu, w = psi.width * p.inverse_a, inverse_w = psi.inverse_width * p.a;
    const float delta = fminf(fabsf(d) * p.inverse_a, 1e18f);
    const Scaled x = scaled<kWanted>(delta, w, inverse_w);
    const float factor = psi.factor * p.inverse_a;
    if constexpr (kWanted == Wanted::kValues) return {factor * x.value};
    return {factor * x.value, copysignf(factor, d) * p.inverse_a * x.slope, factor * p.sigma2_rate * x.moment,
            0, 0};
  }

  /// Of a density with a = 1 and a function to the right: r, its derivative in mu, and E[y psi'].
  struct Scaled {
    float value, slope, moment;
  };

  /// All lanes of a warp go the same ways, and each takes the result of its own.
  template <Wanted kWanted>
  [[nodiscard]] __device__ Scaled scaled(float delta, float w, float inverse_w) const {
    const bool is_narrow = !(w >= kWide);
    Scaled ends{}, whole{};
    if (!in_all_lanes(!is_narrow)) ends = narrow<kWanted>(delta, w, inverse_w);
    if (!in_all_lanes(is_narrow)) {
      if (in_all_lanes(is_narrow || w >= 0.8f)) {
        whole = wide<kWanted>(rule3, delta, inverse_w);
      } else if (kPower < 3 || in_all_lanes(is_narrow || w >= 0.5f)) {
        whole = wide<kWanted>(rule4, delta, inverse_w);
      } else {
        whole = wide<kWanted>(rule5, delta, inverse_w);
      }
    }
    return is_narrow ? ends : whole;
  }

  template <Wanted kWanted, index_t kPairs>
  __device__ static Scaled wide(const detail::EvenRule<kPairs, float>& rule, float delta, float inverse_w) {
    constexpr float kRootHalfLog2E = 0.84932180f;
    const float k = kRootHalfLog2E * inverse_w, centre = k * delta;
    float sum = 0, first = 0, second = 0;
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      const float x = rule.node[i], weight = rule.weight[i];
      const float right = fmaf(-k, x, centre), left = fmaf(k, x, centre);
      const float at_right = exp2_approximately(-right * right), at_left = exp2_approximately(-left * left);
      const float both = weight * (at_right + at_left);
      sum += both;
      if constexpr (kWanted != Wanted::kValues) {
        first = fmaf(weight * x, at_right - at_left, first);
        second = fmaf(x * x, both, second);
      }
    }
    const float peak = kInverseRootTwoPiFloat * inverse_w;
    if constexpr (kWanted == Wanted::kValues) return {peak * sum, 0, 0};
    const float path = peak * inverse_w * inverse_w;
    return {peak * sum, path * (delta * sum - first), path * (delta * first - second)};
  }

 private:
  /// Beyond an end of the support at a distance of z widths, with x = 1 + w t or -1 - w t there, and with x =
  /// 1 - w t for a negative w: w^-k int (t (2 + w t))^k N over t > 0 for k = n and n - 1, and -1/w times the
  /// derivative in z of the first.
  struct Tail {
    float power, escort, slope;
  };
  template <Wanted kWanted, bool kFar>
  __device__ static Tail tail(float z, float w) {
    using Fits = TailFits<kPower, kFar>;
    float low = Fits::lower(Fits::kTerms - 1), high = Fits::upper(Fits::kTerms - 1);
#pragma unroll
    for (int k = Fits::kTerms - 2; k >= 0; --k) {
      low = fmaf(low, z, Fits::lower(k));
      high = fmaf(high, z, Fits::upper(k));
    }
    float integral[2 * kPower + 1];  // I_m(-z): m I_m + z I_{m-1} = I_{m-2}, in which nothing cancels
    integral[2 * kPower] = exp2_approximately(high);
    integral[2 * kPower - 1] = exp2_approximately(low);
#pragma unroll
    for (int m = 2 * kPower; m >= (kWanted == Wanted::kValues ? kPower + 2 : kPower + 1); --m) {
      integral[m - 2] = fmaf(float(m), integral[m], z * integral[m - 1]);
    }
    const float* const at = integral + kPower;
    if constexpr (kWanted == Wanted::kValues) return {sum_powers<kPower>(at, w), 0, 0};
    return {sum_powers<kPower>(at, w), sum_powers<kPower - 1>(at - 1, w), sum_powers<kPower>(at - 1, w)};
  }
  /// sum_i binom(k, i) 2^{k-i} w^i (k + i)! I_{k+i}, at[i] = I_{k+i}.
  template <int kK>
  __device__ static float sum_powers(const float* at, float w) {
    if constexpr (kK == 0) return at[0];
    if constexpr (kK == 1) return 2 * fmaf(w, at[1], at[0]);
    if constexpr (kK == 2) return 8 * fmaf(3 * w, fmaf(w, at[2], at[1]), at[0]);
    if constexpr (kK == 3) {
      return 48 * fmaf(w, fmaf(15 * w, fmaf(w, at[3], at[2]), 6 * at[1]), at[0]);
    }
  }
  /// int (1 - x^2)^k N(x; delta, w^2) dx over the line, q = 1 - delta^2, v = w^2.
  template <int kK>
  __device__ static float whole(float q, float v) {
    if constexpr (kK == 0) return 1;
    if constexpr (kK == 1) return q - v;
    if constexpr (kK == 2) return fmaf(q, q, v * (4 - 6 * q + 3 * v));
    if constexpr (kK == 3) {
      return fmaf(q * q, q, v * (q * (12 - 15 * q) + v * (45 * q - 36 - 15 * v)));
    }
  }
  /// -1 / (2 k delta) times its derivative in delta.
  template <int kK>
  __device__ static float whole_slope(float q, float v) {
    if constexpr (kK == 1) return 1;
    if constexpr (kK == 2) return q - 3 * v;
    if constexpr (kK == 3) return fmaf(q, q, v * (4 - 10 * q + 15 * v));
  }

  template <Wanted kWanted>
  __device__ static Scaled narrow(float delta, float w, float inverse_w) {
    constexpr float kFarthest = 7, kSign = kPower % 2 == 1 ? 1 : -1;  // of (x^2 - 1)^n beyond an end
    constexpr float kNorm = kPower == 1 ? 0.75f : kPower == 2 ? 0.9375f : 1.09375f;
    const bool outside = delta > 1;
    const float q = (1 - delta) * (1 + delta), v = w * w;
    const float power = kPower == 1 ? w : kPower == 2 ? v : w * v, escort = power * inverse_w;
    const Tail near = tail<kWanted, false>(fminf(fabsf(1 - delta) * inverse_w, kFarthest), outside ? -w : w);
    float value = (outside ? power : kSign * power) * near.power, slope = 0, other = 0;
    value += outside ? 0.0f : whole<kPower>(q, v);
    if constexpr (kWanted != Wanted::kValues) {
      slope = (outside ? escort : -kSign * escort) * near.slope;
      other = (outside ? escort : -kSign * escort) * near.escort;
      slope += outside ? 0.0f : 2 * kPower * delta * whole_slope<kPower>(q, v);
      other += outside ? 0.0f : whole<kPower - 1>(q, v);
    }
    const float z = (1 + delta) * inverse_w;
    if (!in_all_lanes(z >= (kWanted == Wanted::kValues ? 4.4f : 5.5f))) {  // less than 1e-6 is left
      const Tail far = tail<kWanted, true>(fminf(z, kFarthest), w);
      value = fmaf(kSign * power, far.power, value);
      if constexpr (kWanted != Wanted::kValues) {
        slope = fmaf(kSign * escort, far.slope, slope);
        other = fmaf(-kSign * escort, far.escort, other);
      }
    }
    value = kNorm * fmaxf(value, 0.0f);
    if constexpr (kWanted == Wanted::kValues) return {value, 0, 0};
    return {value, kNorm * slope, 2 * kPower * kNorm * other - (2 * kPower + 1) * value};
  }
};

}  // namespace fenchel::cuda::device
