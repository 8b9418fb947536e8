#include "backend/cpu/attention_hessian.hpp"

#include <algorithm>
#include <cmath>

#include "fenchel/core/beta_gaussian_radius.hpp"

namespace fenchel::detail {
namespace {

constexpr index_t kG = kSpaceGroup;

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

  explicit OrderOperator(Complex zeta) noexcept {
    constexpr int kTerms = 64;
    const Complex x{zeta.re - 1, zeta.im};
    Jet<4> eta{}, q{};
    const auto horner = [x](Jet<4>& sum, double next) {
      for (int k = 4; k > 0; --k) sum[k] = -1.0 * (x * sum[k] + sum[k - 1]);
      sum[0] = next - x * sum[0];
    };
    for (int k = kTerms; k >= 0; --k) {
      horner(eta, 1. / (k + 2));
      horner(q, 1. / (k + 3));
    }
    const Jet<4> z{{zeta, {1, 0}}};
    zeta_q = z * q;
    zeta2_eta = z * (z * eta);
  }
  [[nodiscard]] Jet<4> operator()(const Jet<4>& f) const noexcept {
    return derivative(zeta_q * f) + derivative(zeta2_eta * derivative(f));
  }
};

/// From this n on the operator is used: before, n^2 rounding errors are not many.
constexpr double kNearOrders = 300;

/// What d / dalpha and d^2 / dalpha^2 of the weights, at fixed zeta or under the integral, do to a node.
struct AlphaLaw {
  double n, constant, constant_slope, inverse_alpha, inverse_alpha2;

  AlphaLaw(const SpaceDensity& p, double am1, index_t dimension) noexcept
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

  [[nodiscard]] double operator()(const Jet<kOrder>& f) const noexcept {
    double sum = 0;
    for (int k = 0; k <= kOrder; ++k) sum += first[k].re * f[k].re - first[k].im * f[k].im;
    return sum;
  }
};

AlphaNode<0> alpha_node(const AlphaLaw& law, Complex zeta, Complex f) noexcept {
  const double x = zeta.re - 1, n = law.n;
  const double log_size = std::abs(x) > 0.5 ? std::log(std::hypot(zeta.re, zeta.im))
                                            : std::log1p(2 * x + x * x + zeta.im * zeta.im) / 2;
  const Complex h{x - log_size, zeta.im - std::atan2(zeta.im, zeta.re)};
  const Complex rate = law.constant - law.inverse_alpha2 * (n / 2 + (n * n) * h);
  const double shared = law.inverse_alpha2 * law.inverse_alpha * n * n;
  const Complex bend = law.constant_slope + shared * ((1 - law.inverse_alpha / 2) + (2 * n) * h);
  return {{rate}, f * (rate * rate + bend)};
}

AlphaNode<2> alpha_node(const AlphaLaw& law, Complex zeta, const Jet<4>& f) noexcept {
  const OrderOperator order(zeta);
  const auto rate = [&](const Jet<4>& g) { return law.constant * g + (-law.inverse_alpha2) * order(g); };
  const Complex twice = rate(rate(f))[0];
  const double fall = -law.inverse_alpha2;
  AlphaNode<2> node{};
  node.first[0] = law.constant + fall * order.zeta_q[1];
  node.first[1] = fall * (order.zeta_q[0] + order.zeta2_eta[1]);
  node.first[2] = (2 * fall) * order.zeta2_eta[0];
  node.second =
      twice + law.constant_slope * f[0] + (2 * law.inverse_alpha2 * law.inverse_alpha) * order(f)[0];
  return node;
}

}  // namespace

PairMemory::PairMemory(index_t d)
    : nodes_(std::make_unique_for_overwrite<SpaceNodes::Node[]>(
          static_cast<std::size_t>(kG * SpaceNodes::kMost))),
      row_(static_cast<std::size_t>(space_scratch(d))),
      matrices_(static_cast<std::size_t>(2 * d * d + d)),
      jets_(static_cast<std::size_t>(12 * d)) {}

PairRow::PairRow(const DensityRow& p, const cpu::GaussianFunctions& psi, PairMemory& memory) noexcept
    : SpaceRow(p, psi, memory.row_.data()), memory_(memory), nodes_{memory.nodes_.get(), {}} {}

bool PairRow::integrate(index_t first, index_t lanes) noexcept {
  if (!factorise()) return false;
  last_ = nullptr;
  for (index_t lane = 0; lane < kG; ++lane) load(first + std::min(lane, lanes - 1), lane);
  return SpaceRow::integrate(Wanted::kValues, Accuracy::kDouble, &nodes_);
}

/// U^T L^-1 x, where Sigma is 1 and V diagonal.
void PairRow::turn_in(index_t lane, double* x) noexcept {
  const double* const turn = at_.turns + lane * d_ * d_;
  solve_lower(at_.factor, d_, x);
  std::copy_n(x, d_, at_.vector);
  for (index_t a = 0; a < d_; ++a) {
    x[a] = 0;
    for (index_t i = 0; i < d_; ++i) x[a] += turn[i * d_ + a] * at_.vector[i];
  }
}

/// L^-T U x.
void PairRow::turn_out(index_t lane, double* x) noexcept {
  const double* const turn = at_.turns + lane * d_ * d_;
  std::copy_n(x, d_, at_.vector);
  for (index_t i = 0; i < d_; ++i) {
    x[i] = 0;
    for (index_t a = 0; a < d_; ++a) x[i] += turn[i * d_ + a] * at_.vector[a];
  }
  solve_upper(at_.factor, d_, x);
}

/// U^T L^-1 x L^-T U or L^-T U x U^T L^-1, for a symmetric x.
void PairRow::turn_matrix(Turn turn, index_t lane, double* x) noexcept {
  for (int side = 0; side < 2; ++side) {
    for (index_t i = 0; i < d_; ++i) (this->*turn)(lane, x + i * d_);
    for (index_t i = 0; i < d_; ++i) {
      for (index_t k = 0; k < i; ++k) std::swap(x[i * d_ + k], x[k * d_ + i]);
    }
  }
}

/// With A = C^-1 and u = A d: dN = N (-u . dd + Tr((u u^T - A) dC) / 2).
void PairRow::gradient(index_t lane, double* distance, double* covariance) noexcept {
  std::fill_n(distance, d_, 0.0);
  std::fill_n(covariance, d_ * d_, 0.0);
  if (vanishes_[lane]) return;
  Complex* const u = memory_.jets_.data();
  for (index_t i = 0; i < nodes_.size[lane]; ++i) {
    const auto [zeta, f] = nodes_.at(lane, i);
    for (index_t a = 0; a < d_; ++a) {
      const Complex precision = shared_.beta * (zeta * inverse(1 + at_.v[a * kG + lane] * zeta));
      u[a] = SpaceRow::distance(a, lane) * precision;
      const Complex fu = f * u[a];
      distance[a] -= fu.re;
      for (index_t b = 0; b <= a; ++b) covariance[a * d_ + b] += (fu * u[b]).re / 2;
      covariance[a * d_ + a] -= (f * precision).re / 2;
    }
  }
  for (index_t a = 0; a < d_; ++a) {
    for (index_t b = 0; b < a; ++b) covariance[b * d_ + a] = covariance[a * d_ + b];
  }
  turn_out(lane, distance);
  turn_matrix(&PairRow::turn_out, lane, covariance);
}

/// Along a direction dA = -A dC A and du = A (dd - dC u), with dC = (dSigma + e Sigma) / (beta zeta) + dV, e
/// = -dlog beta. `direction` is in the coordinates of the function, its scale dSigma + e Sigma. `moments`
/// becomes the gradient in that scale.
template <int kOrder>
void PairRow::add_nodes(index_t lane, bool alpha_too, const PairTangents& direction, PairTangents& product,
                        double* moments) noexcept {
  const index_t d = d_;
  const double beta = shared_.beta, along = direction.alpha;
  const AlphaLaw law(shared_, p_.constants.am1, d);
  auto* const precision = reinterpret_cast<Jet<kOrder>*>(memory_.jets_.data());
  Jet<kOrder>*const u = precision + d, *const moved = u + d, *const du = moved + d;
  for (index_t i = 0; i < nodes_.size[lane]; ++i) {
    const auto [zeta, weight] = nodes_.at(lane, i);
    constexpr int kLong = 2 * kOrder;
    Jet<kLong> slope{}, whole{{weight}};  // of log G and G
    const Jet<kOrder> spread = (1 / beta) * inverse_jet<kOrder>(zeta, 1);
    for (index_t a = 0; a < d; ++a) {
      const double v = at_.v[a * kG + lane], e2 = at_.e2[a * kG + lane];
      const Jet<kLong> c = inverse_jet<kLong>(1 + v * zeta, v);
      if constexpr (kOrder > 0) slope = slope + (-0.5 * v) * c + (-e2) * (c * c);
      for (int k = 0; k <= kOrder; ++k) {
        precision[a][k] = beta * (zeta * c[k]);
        if (k > 0) precision[a][k] = precision[a][k] + beta * c[k - 1];
      }
      u[a] = distance(a, lane) * precision[a];
    }
    for (int k = 0; k < kLong; ++k) {
      for (int j = 0; j <= k; ++j) whole[k + 1] = whole[k + 1] + (1. / (k + 1)) * (slope[j] * whole[k - j]);
    }
    Jet<kOrder> f{};
    std::copy_n(whole.at, kOrder + 1, f.at);
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
}

/// beta^-1 = tau(Sigma, alpha), d log tau = -c Tr(Sigma^-1 dSigma) - log_beta_slope dalpha: with S = tau
/// Sigma and g = dr / dS, dr / dSigma = tau g - c Tr(g S) Sigma^-1, and dr / dalpha has -log_beta_slope Tr(g
/// S).
void PairRow::hessian(index_t lane, bool alpha_too, PairTangents& direction, PairTangents& product) noexcept {
  const index_t d = d_;
  std::fill_n(product.distance, d, 0.0);
  std::fill_n(product.scale, d * d, 0.0);
  std::fill_n(product.covariance, d * d, 0.0);
  product.alpha = 0;
  if (vanishes_[lane]) return;
  turn_in(lane, direction.distance);
  turn_matrix(&PairRow::turn_in, lane, direction.scale);
  turn_matrix(&PairRow::turn_in, lane, direction.covariance);
  const double am1 = p_.constants.am1, size = static_cast<double>(d), width = 2 + size * am1;
  const double c = determinant_exponent(p_.constants), c_slope = 2 / (width * width);
  const double along = alpha_too ? direction.alpha : 0;
  double trace = 0;
  for (index_t a = 0; a < d; ++a) trace += direction.scale[a * d + a];
  const double growth = -c * trace - shared_.log_beta_slope * along;
  for (index_t a = 0; a < d; ++a) direction.scale[a * d + a] += growth;

  double* const moments = memory_.matrices_.data();
  std::fill_n(moments, d * d, 0.0);
  if (alpha_too && std::abs(shared_.n) >= kNearOrders) {
    add_nodes<2>(lane, alpha_too, direction, product, moments);
  } else {
    add_nodes<0>(lane, alpha_too, direction, product, moments);
  }
  double total = 0, change = 0;  // Tr(g S) and how it moves
  for (index_t a = 0; a < d; ++a) {
    for (index_t b = 0; b <= a; ++b) {
      const double both = a == b ? 1 : 2;
      change += both * moments[a * d + b] * direction.scale[a * d + b];
    }
    total += moments[a * d + a];
    change += product.scale[a * d + a];
  }
  product.alpha +=
      -shared_.log_beta_slope * change - total * (shared_.log_beta_curve * along + c_slope * trace);
  for (index_t a = 0; a < d; ++a) {
    for (index_t b = 0; b <= a; ++b) {
      double& out = product.scale[a * d + b];
      const double scale = direction.scale[a * d + b] - (a == b ? growth : 0);
      out += growth * moments[a * d + b] + c * total * scale;
      if (a == b) out -= c_slope * along * total + c * change;
      product.scale[b * d + a] = out;
      product.covariance[b * d + a] = product.covariance[a * d + b];
    }
  }
  turn_out(lane, product.distance);
  turn_matrix(&PairRow::turn_out, lane, product.scale);
  turn_matrix(&PairRow::turn_out, lane, product.covariance);
}

}  // namespace fenchel::detail
