#include "fenchel/distribution/smooth_parabola.hpp"

#include <cmath>

#include "distribution/bounded_density.hpp"
#include "distribution/smooth_forms.hpp"
#include "distribution/symmetric.hpp"
#include "fenchel/core/check.hpp"

namespace fenchel {
namespace {

constexpr auto kWhere = "smooth_parabola";
constexpr double kBend = 1;

detail::SmoothDensity density(const SmoothParabola& p) noexcept { return {p.shape(), p.half_width()}; }

}  // namespace

SmoothParabola::SmoothParabola(double gamma, double mu, double sigma2)
    : gamma_(detail::checked_nonnegative(kWhere, "gamma", gamma)),
      mu_(detail::checked_finite(kWhere, "mu", mu)),
      sigma2_(detail::checked_positive(kWhere, "sigma2", sigma2)),
      half_width_(detail::smooth_half_width(kBend, gamma, sigma2)),
      shape_(detail::smooth_shape(kBend, std::sqrt(gamma) / half_width_)) {}

SmoothParabola SmoothParabola::from_variance(double gamma, double mu, double variance) {
  detail::checked_nonnegative("smooth_parabola::from_variance", "gamma", gamma);
  detail::checked_positive("smooth_parabola::from_variance", "variance", variance);
  return {gamma, mu, detail::smooth_scale_of_variance(kBend, gamma, variance)};
}

double SmoothParabola::threshold() const noexcept {
  return -half_width_ / sigma2_ * half_width_ * (0.5 - shape_.inverse * shape_.slope);
}

Interval support(const SmoothParabola& p) noexcept {
  return {p.mu() - p.half_width(), p.mu() + p.half_width()};
}

double pdf(const SmoothParabola& p, double t) noexcept {
  return detail::smooth_pdf(density(p), std::abs(t - p.mu()));
}
double log_pdf(const SmoothParabola& p, double t) noexcept { return std::log(pdf(p, t)); }
double pdf_derivative(const SmoothParabola& p, double t) noexcept {
  const double y = t - p.mu(), fall = detail::smooth_fall(density(p), std::abs(y));
  return y > 0 ? -fall : y < 0 ? fall : y;
}

double survival(const SmoothParabola& p, double t) noexcept {
  return detail::smooth_survival(density(p), t - p.mu());
}
double log_survival(const SmoothParabola& p, double t) noexcept {
  return detail::smooth_log_survival(density(p), t - p.mu());
}
double cdf(const SmoothParabola& p, double t) noexcept {
  return detail::smooth_survival(density(p), p.mu() - t);
}
double log_cdf(const SmoothParabola& p, double t) noexcept {
  return detail::smooth_log_survival(density(p), p.mu() - t);
}

double quantile(const SmoothParabola& p, double u) {
  return detail::symmetric_quantile(p, u, [&p](double v) { return smooth_tail_distance(density(p), v); });
}
double survival_quantile(const SmoothParabola& p, double u) {
  return detail::symmetric_survival_quantile(p, u,
                                             [&p](double v) { return smooth_tail_distance(density(p), v); });
}

double mean_deviation(const SmoothParabola& p, double t) noexcept {
  return detail::smooth_mean_deviation(density(p), t - p.mu());
}
double variance(const SmoothParabola& p) noexcept {
  return detail::relative_moment(p.shape(), 2) * p.half_width() * p.half_width();
}
double kurtosis(const SmoothParabola& p) noexcept { return detail::smooth_kurtosis(p.shape()); }
double central_moment(const SmoothParabola& p, int n) { return detail::smooth_central_moment(density(p), n); }

double mean_density(const SmoothParabola& p) noexcept { return detail::smooth_mean_density(density(p)); }
double roughness(const SmoothParabola& p) noexcept { return detail::smooth_roughness(density(p)); }
double entropy(const SmoothParabola& p) { return tsallis_entropy(p, 1); }
double tsallis_entropy(const SmoothParabola& p, double order) {
  if (order == 2) return (1 - mean_density(p)) / 2;
  const SmoothParabola centred(p.gamma(), 0, p.sigma2());  // about a large mu doubles are too coarse
  return detail::bounded_tsallis_entropy([&](double t) { return log_pdf(centred, t); }, support(centred), 0,
                                         order);
}

NumericDensity escort(const SmoothParabola& p, double order) {
  return escort(NumericDensity([p](double t) { return log_pdf(p, t); }, {support(p)}, {p.mu()}), order);
}

QuadraticGammaGradient detail::expectation_gradient(const SmoothParabola& p,
                                                    FunctionRef<double(double)> psi) {
  const SmoothGradient gradient = smooth_expectation_gradient(density(p), p.mu(), psi);
  return {gradient.mu, gradient.log_scale / p.sigma2(), gradient.gamma};
}

}  // namespace fenchel
