#include <cmath>

#include "distribution/line/smooth_forms.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/distribution/line/smooth_density.hpp"

/// Derivatives of tau and Omega* in the scale s and in gamma (docs/math.md 6.2). Lengths in units of lambda
/// make s lambda^{k+1} and gamma lambda^2 of s and gamma, k = 1 + bend, and divide tau and Omega* - 1/2 by
/// lambda: by Euler's relation the derivatives in gamma give all others, without cancellation.
namespace fenchel::detail {
namespace {

constexpr double kNarrow = 3;  // below this x the closed forms cancel, from it on those by logarithms
constexpr double kFlat = 40;   // from this x on exp(-x) is nothing

/// dtau/dgamma = -Q / (2 s half_width^{2 - k}), a mean of p'': Q(x), and x dQ/dx.
struct GammaSlope {
  double value, rate;
};

/// d log s / d log x at fixed gamma.
double width_rate(const SmoothForm& form) noexcept {
  const double square = form.slope * form.slope / form.mass;
  return form.bend == 1 ? square : 1 + square / 2;
}

/// Q from tau = -gamma^{k/2} W(x) / (k s): Q = x^{2-k} (W - (k + 1)/k dW/dlog s).
GammaSlope narrow_slope(const SmoothForm& form) noexcept {
  const double x = 1 / form.inverse, slope = form.slope, rate = width_rate(form);
  if (form.bend == 1) {
    const double l1 = 1 - slope * slope - 2 * slope / x, l2 = 2 * (slope / x - l1 - x * slope * l1) / x;
    const double w = x * (x - 2 * slope), w1 = 2 * x * (x - slope - x * l1);
    const double w2 = 2 * x * (2 * x - slope - 3 * x * l1 - x * x * l2);
    const double rate1 = rate * (2 * x * l1 / slope - rate + 3);
    return {w - 1.5 * w1 / rate, w1 - 1.5 * (w2 - w1 * rate1 / rate) / rate};
  }
  const double s1 = (1 - slope) * (1 + slope) / 2, w = x - slope, w1 = x - x * s1;
  const double w2 = w1 + x * x * slope * s1;
  const double rate1 = (rate - 1) * (2 * x * s1 / slope - rate + 2);
  const double value = x * (w - 2 * w1 / rate);
  return {value, value + x * (w1 - 2 * (w2 - w1 * rate1 / rate) / rate)};
}

/// What is left of the exponentials for x >= kNarrow; z = 0 is no special case.
struct WideTerms {
  double z, tanh, sech2, flat;  ///< flat = 1 - z tanh x
  double x_sech, x2_sech;       ///< times x, x^2
  double echo, echo_rate;       ///< 2 x / sinh 2x and x times its derivative

  explicit WideTerms(double inverse) noexcept : z(inverse) {
    const double x = 1 / z, decay = std::exp(-x), square = decay * decay;
    const bool none = decay == 0;
    const double sech = 2 * decay / (1 + square);
    tanh = (1 - square) / (1 + square), sech2 = sech * sech, flat = 1 - z * tanh;
    x_sech = none ? 0 : x * sech, x2_sech = none ? 0 : x * x * sech;
    echo = none ? 0 : 4 * x * square / (1 - square * square);
    echo_rate = none ? 0 : echo * (1 - 2 * x * (1 + square * square) / (1 - square * square));
  }
};

GammaSlope wide_slope(const SmoothForm& form) noexcept {
  const WideTerms w(form.inverse);
  const double flat1 = w.z * w.tanh - w.sech2;
  double top = 1 - 2 * w.z * w.tanh + w.echo, top1 = 2 * flat1 + w.echo_rate;
  if (form.bend == 0) {
    const double slope = form.slope, half = w.tanh - w.x_sech;
    top = slope * half;
    // x (1 - slope^2) / 2 = slope x / sinh x
    top1 = slope * (w.x_sech / w.tanh * half + w.x_sech * (std::sqrt(w.sech2) - 1) + w.x2_sech * w.tanh);
  }
  const double value = top / w.flat;
  return {value, (top1 - value * flat1) / w.flat};
}

GammaSlope gamma_slope(const SmoothForm& form) noexcept {
  return form.inverse > 1 / kNarrow ? narrow_slope(form) : wide_slope(form);
}

/// d^2 Omega* / dgamma^2 times gamma s half_width^{2 - k} for wide x, the leading terms of roughness and
/// dtau/dgamma taken out.
double wide_curvature(const SmoothForm& form) noexcept {
  const WideTerms w(form.inverse);
  const double z = w.z;
  if (form.bend == 1) {
    const double coth = 1 / w.tanh, mass = z * z - coth * z;  // 1/3 of both left out
    const double square = 2 * z * z - 1.5 * coth * z - w.sech2 * coth * coth / 2;
    const double gap = (z * w.tanh - w.echo) / 3 + square * w.flat - mass * (1 - 2 * z * w.tanh + w.echo);
    return -0.75 * gap / ((1. / 3 + mass) * w.flat);
  }
  const double s = form.slope, decay = std::exp(-1 / z), miss = 2 * decay / (1 + decay);  // 1 - s
  const double rest = miss + s * 2 * decay * decay / (1 + decay * decay);                 // 1 - s tanh
  const double gap = (miss * (1 + s) / 2 - 3 * s * z) * w.flat - z * w.tanh + rest + s * w.x_sech +
                     2 * s * s * z * (w.tanh - w.x_sech);
  return -gap / (2 * (1 - 2 * s * z) * w.flat);
}

}  // namespace

double SmoothShape::threshold() const noexcept {
  const double w = 1 - (1 + form_.bend) * form_.inverse * form_.slope;
  return -half_width_ / scale_ * w * (form_.bend == 1 ? half_width_ / 2 : 1);
}

ShapeDerivatives SmoothShape::threshold_derivatives() const noexcept {
  const double k = 1 + form_.bend, rate = width_rate(form_);
  const GammaSlope slope = gamma_slope(form_);
  const double unit = -0.5 / scale_ / (form_.bend == 1 ? 1 : half_width_);
  const double gamma = unit * slope.value;
  const double scale = -(threshold() + 2 * gamma_ * gamma) / (k + 1) / scale_;
  const double scale_gamma = unit * (slope.value * (-1 - (2 - k) / rate) + slope.rate / rate) / scale_;
  const double scale_scale = -(2 * gamma_ * scale_gamma + (k + 2) * scale) / (k + 1) / scale_;
  const double z = form_.inverse;
  if (form_.bend == 0 && z < 1 / kFlat) {  // what is left without exponentials
    const double inner = half_width_ * (1 - z), square = -unit / (2 * inner) / inner / (1 - z);
    return {scale, gamma, scale_scale, scale_gamma, square};
  }
  if (gamma_ == 0) return {scale, gamma, scale_scale, scale_gamma, kInfinity};
  // of half_width^{k-2} at fixed scale: 1/2 - (k + 1) / (2 rate), 0 unless k = 1
  const double widening = form_.bend == 1 ? 0 : 0.5 - 1 / rate;
  const double gamma_gamma = unit * (-slope.value * widening - (k + 1) / 2 * slope.rate / rate) / gamma_;
  return {scale, gamma, scale_scale, scale_gamma, gamma_gamma};
}

ShapeDerivatives SmoothShape::conjugate_derivatives() const noexcept {
  const int k = form_.bend == 1 ? 2 : 1;
  const double width = form_.bend == 1 ? 1 : half_width_, rough = roughness();
  const double tau_gamma = -0.5 / scale_ / width * gamma_slope(form_).value;
  const double moment = unit_moment(k) * half_width_ * (k == 2 ? half_width_ / 2 : 1);
  const double scale = moment / scale_ / scale_, scale_gamma = (tau_gamma + rough) / scale_;
  const double scale_scale = -(2 * gamma_ * scale_gamma + (k + 2) * scale) / (k + 1) / scale_;
  double gamma_gamma = kInfinity;
  if (form_.inverse > 1 / kNarrow)
    gamma_gamma = -((k - 0.5) * rough + (k + 1) * tau_gamma) / 2 / gamma_;
  else if (gamma_ > 0)
    gamma_gamma = wide_curvature(form_) / scale_ / width / gamma_;
  return {scale, -rough / 2, scale_scale, scale_gamma, gamma_gamma};
}

}  // namespace fenchel::detail
