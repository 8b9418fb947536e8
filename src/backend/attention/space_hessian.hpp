#pragma once

#include <cmath>

#include "backend/attention/space_density.hpp"
#include "core/beta_gaussian/radius.hpp"
#include "core/complex.hpp"

/// Derivatives of r = E_p[psi] of second order in all parameters of a pair, for every D and alpha, by the
/// nodes of its mixture of Gaussians: r = sum_k w_k N(d; C_k), d = mean - mu, C_k = Sigma / (beta zeta_k) +
/// V.
namespace fenchel::detail {

/// The Taylor coefficients of a function of zeta at a node.
template <int kOrder>
struct Jet {
  Complex at[kOrder + 1];
  FENCHEL_INLINE Complex& operator[](int k) noexcept { return at[k]; }
  FENCHEL_INLINE Complex operator[](int k) const noexcept { return at[k]; }
};
template <int kOrder>
FENCHEL_INLINE Jet<kOrder> operator+(Jet<kOrder> x, const Jet<kOrder>& y) noexcept {
  for (int k = 0; k <= kOrder; ++k) x[k] = x[k] + y[k];
  return x;
}
template <int kOrder>
FENCHEL_INLINE Jet<kOrder> operator*(double a, Jet<kOrder> x) noexcept {
  for (int k = 0; k <= kOrder; ++k) x[k] = a * x[k];
  return x;
}
template <int kOrder>
FENCHEL_INLINE Jet<kOrder> operator*(const Jet<kOrder>& x, const Jet<kOrder>& y) noexcept {
  Jet<kOrder> product{};
  for (int k = 0; k <= kOrder; ++k) {
    for (int i = 0; i <= k; ++i) product[k] = product[k] + x[i] * y[k - i];
  }
  return product;
}
/// One coefficient fewer: the last is 0.
template <int kOrder>
FENCHEL_INLINE Jet<kOrder> derivative(const Jet<kOrder>& x) noexcept {
  Jet<kOrder> slope{};
  for (int k = 0; k < kOrder; ++k) slope[k] = (k + 1.0) * x[k + 1];
  return slope;
}

FENCHEL_INLINE Complex inverse(Complex x) noexcept {
  const double over = 1 / (x.re * x.re + x.im * x.im);
  return {x.re * over, -x.im * over};
}

/// 1 / (x + v e) as a series in e.
template <int kOrder>
FENCHEL_INLINE Jet<kOrder> inverse_jet(Complex x, double v) noexcept {
  Jet<kOrder> out{{inverse(x)}};
  for (int k = 0; k < kOrder; ++k) out[k + 1] = -v * (out[k] * out[0]);
  return out;
}

/// F -> (zeta q F)' + (zeta^2 eta F')', which is n / 2 + n^2 h under the integral of exp(n h) F, h = zeta - 1
/// - log zeta, by two integrations by parts, with no large n left. With x = zeta - 1, eta = h / x^2 and q =
/// (1/2 - eta) / x, by series that are exact to 1e-13 for |x| < 1/2.
struct OrderOperator {
  Jet<4> zeta_q, zeta2_eta;

  FENCHEL_HD explicit OrderOperator(Complex zeta) noexcept {
    constexpr int kTerms = 64;
    const Complex x{zeta.re - 1, zeta.im};
    Jet<4> eta{}, q{};
    for (int k = kTerms; k >= 0; --k) {
      horner(x, eta, 1. / (k + 2));
      horner(x, q, 1. / (k + 3));
    }
    const Jet<4> z{{zeta, {1, 0}}};
    zeta_q = z * q;
    zeta2_eta = z * (z * eta);
  }
  [[nodiscard]] FENCHEL_HD Jet<4> operator()(const Jet<4>& f) const noexcept {
    return derivative(zeta_q * f) + derivative(zeta2_eta * derivative(f));
  }

 private:
  FENCHEL_HD static void horner(Complex x, Jet<4>& sum, double next) noexcept {
    for (int k = 4; k > 0; --k) sum[k] = -1.0 * (x * sum[k] + sum[k - 1]);
    sum[0] = next - x * sum[0];
  }
};

/// From this n on the operator is used: before, n^2 rounding errors are not many.
inline constexpr double kNearOrders = 300;

/// What d / dalpha and d^2 / dalpha^2 of the weights, at fixed zeta or under the integral, do to a node.
struct AlphaLaw {
  double n, constant, constant_slope, inverse_alpha, inverse_alpha2;

  FENCHEL_HD AlphaLaw(const SpaceDensity& p, double am1, index_t dimension) noexcept
      : n(p.n), inverse_alpha(1 / (1 + am1)), inverse_alpha2(p.inverse_alpha2) {
    const double half = static_cast<double>(dimension) / 2;
    constant = p.log_peak_slope - half * p.log_beta_slope - p.inverse_alpha2 * p.stirling_slope;
    constant_slope = p.log_peak_curve - half * p.log_beta_curve + p.stirling_curve;
  }
};

/// sum_k first[k] F_k is d / dalpha of the node's F; `second` is d^2 / dalpha^2 of its f.
template <int kOrder>
struct AlphaNode {
  Complex first[kOrder + 1], second;

  [[nodiscard]] FENCHEL_HD double operator()(const Jet<kOrder>& f) const noexcept {
    double sum = 0;
    for (int k = 0; k <= kOrder; ++k) sum += first[k].re * f[k].re - first[k].im * f[k].im;
    return sum;
  }
};

FENCHEL_HD inline AlphaNode<0> alpha_node(const AlphaLaw& law, Complex zeta, Complex f) noexcept {
  const double x = zeta.re - 1, n = law.n;
  const double log_size = std::abs(x) > 0.5 ? std::log(std::hypot(zeta.re, zeta.im))
                                            : std::log1p(2 * x + x * x + zeta.im * zeta.im) / 2;
  const Complex h{x - log_size, zeta.im - std::atan2(zeta.im, zeta.re)};
  const Complex rate = law.constant - law.inverse_alpha2 * (n / 2 + (n * n) * h);
  const double shared = law.inverse_alpha2 * law.inverse_alpha * n * n;
  const Complex bend = law.constant_slope + shared * ((1 - law.inverse_alpha / 2) + (2 * n) * h);
  return {{rate}, f * (rate * rate + bend)};
}

FENCHEL_HD inline AlphaNode<2> alpha_node(const AlphaLaw& law, Complex zeta, const Jet<4>& f) noexcept {
  const OrderOperator order(zeta);
  const double fall = -law.inverse_alpha2;
  const Jet<4> once = law.constant * f + fall * order(f);
  const Complex twice = (law.constant * once + fall * order(once))[0];
  AlphaNode<2> node{};
  node.first[0] = law.constant + fall * order.zeta_q[1];
  node.first[1] = fall * (order.zeta_q[0] + order.zeta2_eta[1]);
  node.first[2] = (2 * fall) * order.zeta2_eta[0];
  node.second =
      twice + law.constant_slope * f[0] + (2 * law.inverse_alpha2 * law.inverse_alpha) * order(f)[0];
  return node;
}

/// A direction or a product: of d, Sigma, V (D x D) and alpha.
struct PairTangents {
  double *distance, *scale, *covariance;
  double alpha;
};

/// A pair in the coordinates of its integral; its numbers are `stride` apart.
struct PairView {
  index_t dimension;
  const double *distance, *v, *e2;
  index_t stride;
};

/// Along a direction dA = -A dC A and du = A (dd - dC u), with dC = (dSigma + e Sigma) / (beta zeta) + dV, e
/// = -dlog beta. `direction` is in the coordinates of the function, its scale dSigma + e Sigma. `moments`
/// becomes the gradient in that scale. Adds one node; `jets` has room for 4 D.
template <int kOrder>
FENCHEL_HD inline void add_hessian_node(const AlphaLaw& law, double beta, const PairView& pair,
                                        bool alpha_too, Complex zeta, Complex weight,
                                        const PairTangents& direction, PairTangents& product, double* moments,
                                        Jet<kOrder>* jets) noexcept {
  const index_t d = pair.dimension;
  const double along = direction.alpha;
  Jet<kOrder>*const precision = jets, *const u = precision + d, *const moved = u + d, *const du = moved + d;
  constexpr int kLong = 2 * kOrder;
  Jet<kLong> slope{}, whole{{weight}};  // of log G and G
  const Jet<kOrder> spread = (1 / beta) * inverse_jet<kOrder>(zeta, 1);
  for (index_t a = 0; a < d; ++a) {
    const double v = pair.v[a * pair.stride], e2 = pair.e2[a * pair.stride];
    const Jet<kLong> c = inverse_jet<kLong>(1 + v * zeta, v);
    if constexpr (kOrder > 0) slope = slope + (-0.5 * v) * c + (-e2) * (c * c);
    for (int k = 0; k <= kOrder; ++k) {
      precision[a][k] = beta * (zeta * c[k]);
      if (k > 0) precision[a][k] = precision[a][k] + beta * c[k - 1];
    }
    u[a] = pair.distance[a * pair.stride] * precision[a];
  }
  for (int k = 0; k < kLong; ++k) {
    for (int j = 0; j <= k; ++j) whole[k + 1] = whole[k + 1] + (1. / (k + 1)) * (slope[j] * whole[k - j]);
  }
  Jet<kOrder> f{};
  for (int k = 0; k <= kOrder; ++k) f[k] = whole[k];
  AlphaNode<kOrder> alpha{};
  if (alpha_too) {
    if constexpr (kOrder == 0) {
      alpha = alpha_node(law, zeta, weight);
    } else {
      alpha = alpha_node(law, zeta, whole);
    }
  }
  // the plain sum of a node's product, or with the change of its weight along alpha
  const auto sum = [&](const Jet<kOrder>& change, const Jet<kOrder>& value) {
    return change[0].re + (alpha_too ? along * alpha(value) : 0.0);
  };
  const auto entry = [&](index_t a, index_t b) {
    Jet<kOrder> change = direction.scale[a * d + b] * spread;
    change[0].re += direction.covariance[a * d + b];
    return change;
  };
  Jet<kOrder> rate{};  // d log N
  for (index_t a = 0; a < d; ++a) {
    moved[a] = {};
    for (index_t b = 0; b < d; ++b) moved[a] = moved[a] + entry(a, b) * u[b];
    rate = rate + (-direction.distance[a]) * u[a] + 0.5 * (u[a] * moved[a]) +
           (-0.5) * (precision[a] * entry(a, a));
    Jet<kOrder> gap = -1.0 * moved[a];
    gap[0].re += direction.distance[a];
    du[a] = precision[a] * gap;
  }
  const Jet<kOrder> f_rate = f * rate;
  if (alpha_too) product.alpha += alpha(f_rate) + along * alpha.second.re;
  for (index_t a = 0; a < d; ++a) {
    product.distance[a] -= sum(f_rate * u[a] + f * du[a], f * u[a]);
    for (index_t b = 0; b <= a; ++b) {
      Jet<kOrder> value = 0.5 * (u[a] * u[b]);
      if (a == b) value = value + (-0.5) * precision[a];
      const Jet<kOrder> change =
          0.5 * (du[a] * u[b] + u[a] * du[b] + precision[a] * (precision[b] * entry(a, b)));
      const Jet<kOrder> f_value = f * value, f_change = f_rate * value + f * change;
      const Jet<kOrder> s_value = spread * f_value;
      product.covariance[a * d + b] += sum(f_change, f_value);
      product.scale[a * d + b] += sum(spread * f_change, s_value);
      moments[a * d + b] += s_value[0].re;
    }
  }
}

/// beta^-1 = tau(Sigma, alpha), d log tau = -c Tr(Sigma^-1 dSigma) - log_beta_slope dalpha: with S = tau
/// Sigma and g = dr / dS, dr / dSigma = tau g - c Tr(g S) Sigma^-1, and dr / dalpha has -log_beta_slope Tr(g
/// S).
class HessianChain {
 public:
  /// Before the nodes: direction.scale becomes dSigma + e Sigma.
  FENCHEL_HD HessianChain(const SpaceDensity& p, const BetaGaussianConstants& constants, bool alpha_too,
                          PairTangents& direction) noexcept
      : p_(p), dimension_(constants.dimension), c_(determinant_exponent(constants)) {
    const double size = static_cast<double>(dimension_), width = 2 + size * constants.am1;
    c_slope_ = 2 / (width * width);
    along_ = alpha_too ? direction.alpha : 0;
    trace_ = 0;
    for (index_t a = 0; a < dimension_; ++a) trace_ += direction.scale[a * dimension_ + a];
    growth_ = -c_ * trace_ - p.log_beta_slope * along_;
    for (index_t a = 0; a < dimension_; ++a) direction.scale[a * dimension_ + a] += growth_;
  }

  /// After them.
  FENCHEL_HD void finish(const PairTangents& direction, const double* moments,
                         PairTangents& product) const noexcept {
    const index_t d = dimension_;
    double total = 0, change = 0;  // Tr(g S) and how it moves
    for (index_t a = 0; a < d; ++a) {
      for (index_t b = 0; b <= a; ++b) {
        const double both = a == b ? 1 : 2;
        change += both * moments[a * d + b] * direction.scale[a * d + b];
      }
      total += moments[a * d + a];
      change += product.scale[a * d + a];
    }
    product.alpha += -p_.log_beta_slope * change - total * (p_.log_beta_curve * along_ + c_slope_ * trace_);
    for (index_t a = 0; a < d; ++a) {
      for (index_t b = 0; b <= a; ++b) {
        double& out = product.scale[a * d + b];
        const double scale = direction.scale[a * d + b] - (a == b ? growth_ : 0);
        out += growth_ * moments[a * d + b] + c_ * total * scale;
        if (a == b) out -= c_slope_ * along_ * total + c_ * change;
        product.scale[b * d + a] = out;
        product.covariance[b * d + a] = product.covariance[a * d + b];
      }
    }
  }

 private:
  const SpaceDensity& p_;
  index_t dimension_;
  double c_, c_slope_, along_, trace_, growth_;
};

}  // namespace fenchel::detail
