#include "fenchel/loss/line_batch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "backend/cpu/checks.hpp"
#include "core/for_each_row.hpp"
#include "fenchel/core/deformed_derivatives.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/core/quadrature.hpp"
#include "fenchel/distribution/line/beta_laplace.hpp"
#include "fenchel/distribution/line/capped_parabola.hpp"
#include "fenchel/distribution/line/capped_triangular.hpp"
#include "fenchel/distribution/line/dirac.hpp"
#include "fenchel/distribution/line/roughness.hpp"
#include "fenchel/distribution/line/smooth_parabola.hpp"
#include "fenchel/distribution/line/smooth_triangular.hpp"
#include "fenchel/distribution/line/truncated_gaussian.hpp"
#include "fenchel/loss/absolute.hpp"
#include "fenchel/loss/scaled_gaussian.hpp"
#include "fenchel/loss/sobolev.hpp"
#include "fenchel/loss/total_variation.hpp"

/// A member is about 0 here, and its law is that of s times one of scale 1, where s is a power of the scale;
/// for the smooth densities gamma / s^2 is the shape of that one (docs/math.md 6.3). So derivatives in the
/// shape and in x are all that is needed.
namespace fenchel {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// In x, shape and scale.
struct Slopes {
  double x = 0, shape = 0, scale = 0;
};

Slopes to_slopes(const AbsoluteGradient& g) noexcept { return {-g.mu, g.alpha, g.b}; }
Slopes to_slopes(const ScaledGaussianGradient& g) noexcept { return {-g.mu, g.kappa, g.sigma2}; }
Slopes to_slopes(const AbsoluteGammaGradient& g) noexcept { return {-g.mu, g.gamma, g.b}; }
Slopes to_slopes(const QuadraticGammaGradient& g) noexcept { return {-g.mu, g.gamma, g.sigma2}; }

/// -log p, and 0 at the edges: integrals do not see them.
template <class P>
double surprise(const P& p, double t) {
  const double density = pdf(p, t);
  return density == 0 ? 0 : -std::log(density);
}

class Laplace {
 public:
  static constexpr bool kShapeScales = false;
  Laplace(double alpha, double b) : p(alpha, 0, b) {
    if (std::isinf(alpha)) return;
    by_alpha_ = (1 - alpha * p.log_peak()) / alpha / alpha;
    spread_by_alpha_ = 1 / alpha - by_alpha_;
  }
  /// d log s / d scale.
  [[nodiscard]] double log_scale_rate() const { return 1 / p.alpha() / p.b(); }
  [[nodiscard]] double order() const { return p.alpha(); }

  /// The derivatives in the shape of the density, of the distribution function, and of numbers of the whole.
  [[nodiscard]] double density(double x) const {
    return std::isinf(p.alpha()) ? 0 : pdf(p, x) * (by_alpha_ + of_relative_log(x));
  }
  [[nodiscard]] double distribution(double x) const {
    if (std::isinf(p.alpha())) return 0;
    const double tail = x < 0 ? cdf(p, x) : survival(p, x), relative = log_pdf(p, x) - p.log_peak();
    const double moved = tail == 0 ? 0 : tail * (relative + p.alpha() * of_relative_log(x));
    return x < 0 ? moved : -moved;
  }
  [[nodiscard]] double half_width() const {
    if (!(p.alpha() > 1) || std::isinf(p.alpha())) return 0;
    return p.half_width() * (spread_by_alpha_ - 1 / (p.alpha() - 1));
  }
  [[nodiscard]] double variance() const {
    if (std::isinf(p.alpha())) return 0;
    const double am1 = p.alpha() - 1, value = fenchel::variance(p);
    if (std::isinf(value)) return kNaN;
    return value * (2 * spread_by_alpha_ - 2 / (1 + 2 * am1) - 3 / (1 + 3 * am1));
  }
  [[nodiscard]] double entropy() const {
    return std::isinf(p.alpha()) ? 0 : -1 / p.alpha() / p.alpha() - by_alpha_;
  }
  /// Of (1 - alpha log_{2-alpha} peak) / (alpha (2 alpha - 1)).
  [[nodiscard]] double tsallis_entropy() const {
    const double alpha = p.alpha(), am1 = alpha - 1, l = p.log_peak();
    if (std::isinf(alpha)) return 0;
    const double moved = deformed_log_alpha_derivative<1>(am1, l) + std::exp(am1 * l) * by_alpha_;
    const double value = fenchel::tsallis_entropy(p, alpha);
    return -(deformed_log_of_exp(am1, l) + alpha * moved + value * (4 * alpha - 1)) /
           (alpha * (2 * alpha - 1));
  }
  [[nodiscard]] Loss<AbsoluteGradient> loss(double x) const {
    return fenchel::cross_omega(Tsallis(p.alpha()), score(p), Line{}, Dirac{x});
  }
  template <class Q>
  [[nodiscard]] Loss<AbsoluteGradient> against(double mu, const Q& q) const {
    return fenchel_young(Tsallis(p.alpha()), AbsoluteScore(mu, p.b()), Line{}, q);
  }

  BetaLaplace p;

 private:
  /// Of log(p(x) / peak) = log exp_{2-alpha}(-|x| / spread).
  [[nodiscard]] double of_relative_log(double x) const {
    const double u = -std::abs(x) / p.spread(), am1 = p.alpha() - 1;
    if (!(1 + am1 * u > 0)) return 0;
    return log_deformed_exp_alpha_derivative(am1, u) - u * spread_by_alpha_ / (1 + am1 * u);
  }
  double by_alpha_ = 0, spread_by_alpha_ = 0;  // of log peak and of log spread
};

/// p = kappa N - tau, and mass 1: kappa dp/dkappa = p - the uniform density on the support.
class Gaussian {
 public:
  static constexpr bool kShapeScales = false;
  Gaussian(double kappa, double sigma2) : p(kappa, 0, sigma2) {}
  [[nodiscard]] double log_scale_rate() const { return 0.5 / p.sigma2(); }
  [[nodiscard]] static double order() { return 2; }

  [[nodiscard]] double density(double x) const {
    return std::abs(x) < p.half_width() ? (pdf(p, x) - 0.5 / p.half_width()) / p.kappa() : 0;
  }
  [[nodiscard]] double distribution(double x) const {
    const double y = std::abs(x);
    if (!(y < p.half_width())) return 0;
    const double moved = (survival(p, y) - 0.5 * (1 - y / p.half_width())) / p.kappa();
    return x < 0 ? moved : -moved;
  }
  [[nodiscard]] double half_width() const { return -p.sigma() / (2 * p.kappa() * p.z() * p.z() * p.level()); }
  [[nodiscard]] double variance() const {
    return (fenchel::variance(p) - p.half_width() * p.half_width() / 3) / p.kappa();
  }
  [[nodiscard]] double entropy() const {
    // The mean of log p under the uniform density on the support, from the edge, where p vanishes.
    const auto at_depth = [this](double d) { return surprise(p, p.half_width() * (1 - d)); };
    return (fenchel::entropy(p) - integrate(at_depth, 0, 1, 1e-10).value) / p.kappa();
  }
  [[nodiscard]] double tsallis_entropy() const {
    return (0.5 / p.half_width() - mean_density(p)) / p.kappa();
  }
  [[nodiscard]] Loss<ScaledGaussianGradient> loss(double x) const {
    return fenchel::cross_omega(Tsallis(2), score(p), Line{}, Dirac{x});
  }
  template <class Q>
  [[nodiscard]] Loss<ScaledGaussianGradient> against(double mu, const Q& q) const {
    return fenchel_young(Tsallis(2), ScaledGaussianScore(p.kappa(), mu, p.sigma2()), Line{}, q);
  }

  TruncatedGaussian p;
};

/// dp/dgamma is twice the uniform density on the support less twice that on the plateau.
template <class P>
class Capped {
 public:
  static constexpr bool kShapeScales = false;
  Capped(double gamma, double scale) : p(gamma, 0, scale) {}
  [[nodiscard]] double log_scale_rate() const { return 1 / ((1. + p.shape().degree()) * p.shape().scale()); }
  [[nodiscard]] static double order() { return 2; }

  [[nodiscard]] double density(double x) const {
    const double y = std::abs(x);
    if (!(y < p.half_width())) return 0;
    return 1 / p.half_width() - (y < p.plateau() ? 1 / p.plateau() : 0);
  }
  [[nodiscard]] double distribution(double x) const {
    const double y = std::abs(x);
    const double moved = beyond(y, p.half_width()) - beyond(y, p.plateau());
    return x < 0 ? moved : -moved;
  }
  [[nodiscard]] double half_width() const {
    const double width = p.half_width();
    return p.shape().scale() / (p.shape().degree() == 1 ? width : width * width);
  }
  [[nodiscard]] double variance() const {
    return 2 * (p.half_width() - p.plateau()) * (p.half_width() + p.plateau()) / 3;
  }
  [[nodiscard]] double entropy() const {
    return p.shape().expectation_gradient([this](double t) { return surprise(p, t); }, 0, 1e-10, {}).gamma;
  }
  [[nodiscard]] double tsallis_entropy() const { return 2 * pdf(p, 0) - 1 / p.half_width(); }
  [[nodiscard]] auto loss(double x) const {
    return fenchel::cross_omega(TotalVariation(p.gamma()), score(p), Line{}, Dirac{x});
  }
  template <class Q>
  [[nodiscard]] auto against(double mu, const Q& q) const {
    using Score = decltype(score(p));
    return fenchel_young(TotalVariation(p.gamma()), Score(mu, p.shape().scale()), Line{}, q);
  }

  P p;

 private:
  /// 2 P(Y > y) of a uniform Y on +- width, for y >= 0.
  [[nodiscard]] static double beyond(double y, double width) {
    return y < width ? 1 - y / width : y == 0 ? 1.0 : 0.0;
  }
};

template <class P>
class Smooth {
 public:
  static constexpr bool kShapeScales = true;
  Smooth(double gamma, double scale) : p(gamma, 0, scale) {}
  [[nodiscard]] double log_scale_rate() const {
    return 1 / ((2 + p.shape().form().bend) * p.shape().scale());
  }
  [[nodiscard]] static double order() { return 2; }

  [[nodiscard]] double density(double x) const { return p.shape().gamma_derivative(x); }
  [[nodiscard]] double distribution(double x) const { return -p.shape().beyond_gamma_derivative(x); }
  [[nodiscard]] double half_width() const { return p.shape().half_width_gamma_derivative(); }
  [[nodiscard]] double variance() const {
    return of_expectation([](double t) { return t * t; });
  }
  [[nodiscard]] double entropy() const {
    return of_expectation([this](double t) { return surprise(p, t); });
  }
  [[nodiscard]] double tsallis_entropy() const {
    return of_expectation([this](double t) { return -pdf(p, t); });
  }
  [[nodiscard]] auto loss(double x) const {
    return fenchel::cross_omega(Sobolev(p.gamma()), score(p), Line{}, Dirac{x});
  }
  template <class Q>
  [[nodiscard]] auto against(double mu, const Q& q) const {
    using Score = decltype(score(p));
    return fenchel_young(Sobolev(p.gamma()), Score(mu, p.shape().scale()), Line{}, q);
  }

  P p;

 private:
  template <class Psi>
  [[nodiscard]] double of_expectation(const Psi& psi) const {
    return p.shape().expectation_gradient(psi, 0, 1e-10, {}).gamma;
  }
};

/// gamma, where it is that of a smooth density, else 0.
template <class Member>
double shape_gamma(const Member& m) {
  if constexpr (Member::kShapeScales) return m.p.gamma();
  return 0;
}

/// A number of the whole, and its derivatives: `growth` is that in log s at a fixed shape of scale 1.
template <class Member>
Slopes whole(const Member& m, double shape_slope, double growth) {
  // At gamma = 0 the width has an infinite slope, and moves with s alone.
  const double through = Member::kShapeScales && shape_gamma(m) > 0 ? 2 * shape_gamma(m) * shape_slope : 0;
  return {0, shape_slope, m.log_scale_rate() * (growth - through)};
}

/// The derivatives of the distribution function at x; that in x is the density.
template <class Member>
Slopes distribution_slopes(const Member& m, double x) {
  const double density = pdf(m.p, x), by_shape = m.distribution(x);
  const double growth = density == 0 ? 0 : -x * density;
  return {density, by_shape, m.log_scale_rate() * (growth - 2 * shape_gamma(m) * by_shape)};
}

template <class Member>
double value_of(const Member& m, LineStatistic statistic, double x) {
  switch (statistic) {
    case LineStatistic::log_pdf:
      return log_pdf(m.p, x);
    case LineStatistic::cdf:
      return cdf(m.p, x);
    case LineStatistic::quantile:
      return x >= 0 && x <= 1 ? quantile(m.p, x) : kNaN;
    case LineStatistic::cross_omega:
      return m.loss(x).value;
    case LineStatistic::half_width:
      return m.p.half_width();
    case LineStatistic::variance:
      return variance(m.p);
    case LineStatistic::entropy:
      return entropy(m.p);
    case LineStatistic::tsallis_entropy:
      return tsallis_entropy(m.p, m.order());
  }
  return kNaN;
}

template <class Member>
Slopes log_pdf_slopes(const Member& m, double x) {
  const double density = pdf(m.p, x);
  if (density == 0) return {};
  const double slope = pdf_derivative(m.p, x), by_shape = m.density(x);
  const double growth = -(density + x * slope) - 2 * shape_gamma(m) * by_shape;
  return {slope / density, by_shape / density, m.log_scale_rate() * growth / density};
}

template <class Member>
Slopes quantile_slopes(const Member& m, double u) {
  if (!(u >= 0 && u <= 1)) return {kNaN, kNaN, kNaN};
  const double x = quantile(m.p, u);
  const Slopes s = std::isinf(x) ? Slopes{} : distribution_slopes(m, x);
  if (s.x > 0 && u > 0 && u < 1) return {1 / s.x, -s.shape / s.x, -s.scale / s.x};
  if (std::isinf(x)) return {kInfinity, 0, 0};
  const Slopes edge = whole(m, m.half_width(), m.p.half_width());
  const double side = x < 0 ? -1 : 1;
  return {s.x > 0 ? 1 / s.x : kInfinity, side * edge.shape, side * edge.scale};
}

template <class Member>
Slopes slopes_of(const Member& m, LineStatistic statistic, double x) {
  switch (statistic) {
    case LineStatistic::log_pdf:
      return log_pdf_slopes(m, x);
    case LineStatistic::cdf:
      return distribution_slopes(m, x);
    case LineStatistic::quantile:
      return quantile_slopes(m, x);
    case LineStatistic::cross_omega:
      return to_slopes(m.loss(x).gradient);
    case LineStatistic::half_width:
      if (std::isinf(m.p.half_width())) return {};
      return whole(m, m.half_width(), m.p.half_width());
    case LineStatistic::variance:
      return whole(m, m.variance(), 2 * variance(m.p));
    case LineStatistic::entropy:
      return whole(m, m.entropy(), 1);
    case LineStatistic::tsallis_entropy: {
      const double q = m.order(), value = tsallis_entropy(m.p, q);
      return whole(m, m.tsallis_entropy(), std::isinf(q) ? 0 : (1 - q * (q - 1) * value) / q);
    }
  }
  return {kNaN, kNaN, kNaN};
}

/// Calls body(member) with the member of the family.
template <class Body>
void with_member(LineFamily family, double shape, double scale, const Body& body) {
  switch (family) {
    case LineFamily::beta_laplace:
      return body(Laplace(shape, scale));
    case LineFamily::truncated_gaussian:
      return body(Gaussian(shape, scale));
    case LineFamily::capped_triangular:
      return body(Capped<CappedTriangular>(shape, scale));
    case LineFamily::capped_parabola:
      return body(Capped<CappedParabola>(shape, scale));
    case LineFamily::smooth_triangular:
      return body(Smooth<SmoothTriangular>(shape, scale));
    case LineFamily::smooth_parabola:
      return body(Smooth<SmoothParabola>(shape, scale));
  }
}

constexpr std::array kFamilies = {"beta_laplace",    "truncated_gaussian", "capped_triangular",
                                  "capped_parabola", "smooth_triangular",  "smooth_parabola"};
constexpr std::array kStatistics = {"log_pdf",    "cdf",      "quantile", "cross_omega",
                                    "half_width", "variance", "entropy",  "tsallis_entropy"};

template <class Enum, class Names>
Enum by_name(std::string_view where, std::string_view what, const Names& names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) throw_invalid_argument(where, what, "must be one of them", std::string(name));
  return static_cast<Enum>(found - names.begin());
}

constexpr index_t kCost = 2000;  // nanoseconds of an element

bool is_at_a_number(LineStatistic statistic) noexcept { return statistic <= LineStatistic::cross_omega; }

void check_batch(std::string_view where, const LineBatch& batch, bool at_numbers, index_t size) {
  detail::check_count(where, "shape", static_cast<index_t>(batch.shape.size()), size);
  detail::check_count(where, "scale", static_cast<index_t>(batch.scale.size()), size);
  detail::check_count(where, "x", static_cast<index_t>(batch.x.size()), at_numbers ? size : 0);
}

void check_gradient(std::string_view where, Rows<double> gradient) {
  if (gradient.cols == 3) return;
  throw_invalid_argument(where, "gradient.cols", "must be 3, for x, shape and scale", gradient.cols);
}

/// The i-th numbers of a batch.
struct Element {
  Element(const LineBatch& batch, index_t i)
      : x(batch.x.empty() ? 0 : batch.x[static_cast<std::size_t>(i)]),
        shape(batch.shape[static_cast<std::size_t>(i)]),
        scale(batch.scale[static_cast<std::size_t>(i)]) {}
  [[nodiscard]] bool is_nan() const { return std::isnan(x) || std::isnan(shape) || std::isnan(scale); }

  double x, shape, scale;
};

}  // namespace

LineFamily line_family(std::string_view name) {
  return by_name<LineFamily>("line_family", "name", kFamilies, name);
}

LineStatistic line_statistic(std::string_view name) {
  return by_name<LineStatistic>("line_statistic", "name", kStatistics, name);
}

void line_batch(LineFamily family, LineStatistic statistic, const LineBatch& batch, std::span<double> value) {
  check_batch("line_batch", batch, is_at_a_number(statistic), static_cast<index_t>(value.size()));
  detail::for_each_row(static_cast<index_t>(value.size()), kCost, [&](index_t i) {
    const Element e(batch, i);
    double& out = value[static_cast<std::size_t>(i)];
    out = kNaN;
    if (e.is_nan()) return;
    with_member(family, e.shape, e.scale, [&](const auto& m) { out = value_of(m, statistic, e.x); });
  });
}

void line_batch_gradient(LineFamily family, LineStatistic statistic, const LineBatch& batch,
                         Rows<double> gradient) {
  constexpr auto kWhere = "line_batch_gradient";
  check_gradient(kWhere, gradient);
  check_batch(kWhere, batch, is_at_a_number(statistic), gradient.rows);
  detail::for_each_row(gradient.rows, kCost, [&](index_t i) {
    const Element e(batch, i);
    Slopes s{kNaN, kNaN, kNaN};
    if (!e.is_nan()) {
      with_member(family, e.shape, e.scale, [&](const auto& m) { s = slopes_of(m, statistic, e.x); });
    }
    std::ranges::copy(std::array{s.x, s.shape, s.scale}, gradient.row(i));
  });
}

void line_batch_fenchel_young(LineFamily family, const LineBatch& batch, const LineBatch& target,
                              std::span<double> value, Rows<double> gradient) {
  constexpr auto kWhere = "line_batch_fenchel_young";
  check_gradient(kWhere, gradient);
  const auto size = static_cast<index_t>(value.size());
  check_batch(kWhere, batch, true, size);
  check_batch(kWhere, target, true, size);
  detail::check_count(kWhere, "gradient", gradient.rows, size);
  detail::for_each_row(size, kCost, [&](index_t i) {
    const Element e(batch, i), q(target, i);
    double& out = value[static_cast<std::size_t>(i)];
    out = kNaN;
    Slopes s{kNaN, kNaN, kNaN};
    if (!e.is_nan() && !q.is_nan()) {
      with_member(family, e.shape, e.scale, [&]<class Member>(const Member& m) {
        const auto loss = m.against(e.x - q.x, Member(q.shape, q.scale).p);
        out = loss.value;
        s = to_slopes(loss.gradient);
        s.x = -s.x;
      });
    }
    std::ranges::copy(std::array{s.x, s.shape, s.scale}, gradient.row(i));
  });
}

}  // namespace fenchel
