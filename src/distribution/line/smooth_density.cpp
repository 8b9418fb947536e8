#include "fenchel/distribution/line/smooth_density.hpp"

#include <algorithm>
#include <cmath>

#include "distribution/line/bounded_density.hpp"
#include "distribution/line/smooth_forms.hpp"
#include "distribution/line/symmetric.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/error.hpp"

namespace fenchel::detail {
namespace {

/// The mass beyond the distance d from the edge.
double edge_tail(const SmoothForm& form, double d) noexcept {
  return d * edge_form(form, 1, d) / (2 * form.mass);
}

/// Half widths without gamma and for gamma so large that x is small; the larger one is below the root, by
/// less than a factor 2.
double least_half_width(double bend, double gamma, double scale) noexcept {
  return bend == 1
             ? std::max(std::cbrt(1.5) * std::cbrt(scale),
                        std::pow(22.5, 0.2) * std::pow(scale, 0.2) * std::pow(gamma, 0.2))
             : std::max(std::sqrt(scale), std::pow(12, 0.25) * std::pow(scale, 0.25) * std::pow(gamma, 0.25));
}

/// The half width with mass one.
double unit_mass_half_width(double bend, double gamma, double scale) {
  const double least = least_half_width(bend, gamma, scale), root = std::sqrt(gamma);
  const auto excess = [&](double ratio) {
    const double width = least * ratio, unit = 2 * width / scale * (bend == 1 ? width : 1);
    const SmoothForm form = smooth_form(bend, root / width);
    const double square = form.slope * form.slope;
    return ValueAndSlope{unit * width * form.mass - 1,
                         unit * least * (bend == 1 ? square : form.mass + square / 2)};
  };
  return least * increasing_root(excess, 0.5, 2, 1);  // 0.5: `least` is rounded
}

/// The scale at which E|y|^n = unit^n; half_width / unit is between `least`, that without gamma, and `most`,
/// that for large gamma.
double scale_of_moment(double bend, double gamma, int n, double unit, double least, double most) {
  const double root = std::sqrt(gamma);
  const auto excess = [&](double width) {  // in units; the slope is that at a fixed form
    const double power = n == 1 ? width : width * width;
    const double value = power * relative_moment(smooth_form(bend, root / unit / width), n);
    return ValueAndSlope{value - 1, n * value / width};
  };
  const double width = unit * increasing_root(excess, least, most, least);
  return 2 * smooth_form(bend, root / width).mass * width * width * (bend == 1 ? width : 1);
}

}  // namespace

SmoothShape::SmoothShape(std::string_view where, double bend, double gamma, std::string_view name,
                         double scale)
    : gamma_(checked_nonnegative(where, "gamma", gamma)),
      scale_(checked_positive(where, name, scale)),
      half_width_(unit_mass_half_width(bend, gamma, scale)),
      form_(smooth_form(bend, std::sqrt(gamma) / half_width_)) {}

double SmoothShape::scale_of_variance(std::string_view where, double bend, double gamma, double variance) {
  checked_nonnegative(where, "gamma", gamma);
  checked_positive(where, "variance", variance);
  const double least = std::sqrt(bend == 1 ? 5 : 6), most = std::sqrt(bend == 1 ? 7 : 7.5);
  return scale_of_moment(bend, gamma, 2, std::sqrt(variance), least, most);
}

double SmoothShape::b_of_mean_deviation(std::string_view where, double gamma, double deviation) {
  checked_nonnegative(where, "gamma", gamma);
  checked_positive(where, "deviation", deviation);
  return scale_of_moment(0, gamma, 1, deviation, 3, 10. / 3);
}

double SmoothShape::depth(double y) const noexcept {
  const double d = (half_width_ - std::abs(y)) / half_width_;
  return d < 0 ? 0 : d;
}

double SmoothShape::unit_moment(int n) const noexcept { return relative_moment(form_, n); }

double SmoothShape::density(double y) const noexcept {
  return edge_form(form_, 0, depth(y)) / (2 * form_.mass) / half_width_;
}

double SmoothShape::derivative(double y) const noexcept {
  const double fall = edge_slope(form_, depth(y)) / (2 * form_.mass) / half_width_ / half_width_;
  return y > 0 ? -fall : y < 0 ? fall : y;
}

double SmoothShape::beyond(double y) const noexcept {
  const double tail = edge_tail(form_, depth(y));
  return y < 0 ? 1 - tail : tail;
}
double SmoothShape::log_beyond(double y) const noexcept {
  const double tail = edge_tail(form_, depth(y));
  return y < 0 ? std::log1p(-tail) : std::log(tail);
}

double SmoothShape::tail_distance(double u) const {
  const auto excess = [&](double d) {  // no product may underflow
    return ValueAndSlope{d * (edge_form(form_, 1, d) / u) / (2 * form_.mass) - 1,
                         edge_form(form_, 0, d) / (2 * form_.mass) / u};
  };
  // below the root: F_1 <= d/2 and F_1 <= d^2 slope / (6 z)
  const double start = std::max(std::cbrt(12 * form_.mass * form_.inverse / form_.slope) * std::cbrt(u),
                                std::sqrt(4 * form_.mass) * std::sqrt(u));
  return half_width_ * (1 - increasing_root(excess, std::min(start, 1.), 1, start));
}

double SmoothShape::absolute_moment(int n) const {
  if (n < 0) throw_domain_error("absolute_moment", "n", "must not be negative", n);
  return unit_moment(n) * std::pow(half_width_, n);
}

double SmoothShape::mean_deviation(double y) const noexcept {
  const double d = depth(y);
  return std::abs(y) + half_width_ * d * d * edge_form(form_, 2, d) / (2 * form_.mass);
}

double SmoothShape::mean_density() const noexcept { return square_of_form(form_) / (2 * half_width_); }

double SmoothShape::roughness() const noexcept {
  return square_of_slope(form_) / (2 * half_width_) / half_width_ / half_width_;
}

double SmoothShape::tsallis_entropy(double order) const {
  if (order == 2) return (1 - mean_density()) / 2;
  return bounded_tsallis_entropy([this](double y) { return std::log(density(y)); },
                                 Interval(-half_width_, half_width_), 0, order);
}

double SmoothShape::quantile(double mu, double u) const {
  return symmetric_quantile(mu, {mu - half_width_, mu + half_width_}, u,
                            [this](double v) { return tail_distance(v); });
}
double SmoothShape::survival_quantile(double mu, double u) const {
  return symmetric_survival_quantile(mu, {mu - half_width_, mu + half_width_}, u,
                                     [this](double v) { return tail_distance(v); });
}

NumericDensity SmoothShape::escort(double mu, double order) const {
  const auto log_density = [shape = *this, mu](double t) { return std::log(shape.density(t - mu)); };
  return fenchel::escort(NumericDensity(log_density, {{mu - half_width_, mu + half_width_}}, {mu}), order);
}

}  // namespace fenchel::detail
