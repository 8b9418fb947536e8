#include "fenchel/distribution/line/capped_density.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "distribution/line/bounded_density.hpp"
#include "distribution/line/piece_sum.hpp"
#include "distribution/line/symmetric.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/deformed.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {
namespace {

constexpr double kInf = kInfinity;

/// x^{1/(k+1)}.
double root(int degree, double x) { return degree == 1 ? std::sqrt(x) : std::cbrt(x); }

/// log (a / b).
double log_share(int degree, double gamma) { return -std::log1p(0.5 / gamma) / (degree + 1); }

/// E|y / b|^n = 2 (1/2 + gamma) (1 - (a/b)^{n+k+1}) (k + 1) / ((n + 1) (n + k + 1)).
double moment_share(int degree, double gamma, int n) {
  const int power = n + degree + 1;
  const double rest = -std::expm1(power * log_share(degree, gamma));
  return (0.5 + gamma) * rest * 2 * (degree + 1) / (static_cast<double>(n + 1) * power);
}

double scale_of_half_width(int degree, double gamma, double half_width) {
  const double scale = half_width / (degree + 1) / (0.5 + gamma) * half_width;  // no power may overflow
  return degree == 1 ? scale : scale * half_width;
}

}  // namespace

CappedShape::CappedShape(std::string_view where, int degree, double gamma, std::string_view name,
                         double scale)
    : degree_(degree),
      scale_(checked_positive(where, name, scale)),
      gamma_(checked_nonnegative(where, "gamma", gamma)),
      total_(0.5 + gamma),
      half_width_(root(degree, degree + 1.0) * root(degree, total_) * root(degree, scale)),
      plateau_(root(degree, degree + 1.0) * root(degree, gamma) * root(degree, scale)),
      slope_share_(-std::expm1(log_share(degree, gamma))),
      plateau_share_(std::exp(log_share(degree, gamma))) {
  const double peak = density(0);
  if (!(peak > 0 && peak < kInfinity && threshold() > -kInfinity))
    throw_domain_error(where, name, "must keep peak and threshold in the range of doubles", scale);
}

double CappedShape::scale_of_variance(std::string_view where, int degree, double gamma, double variance) {
  checked_nonnegative(where, "gamma", gamma);
  checked_positive(where, "variance", variance);
  return scale_of_half_width(degree, gamma, std::sqrt(variance / moment_share(degree, gamma, 2)));
}

double CappedShape::b_of_mean_deviation(std::string_view where, double gamma, double deviation) {
  checked_nonnegative(where, "gamma", gamma);
  checked_positive(where, "deviation", deviation);
  return scale_of_half_width(1, gamma, deviation / moment_share(1, gamma, 1));
}

double CappedShape::threshold() const noexcept {
  return -((degree_ + 1) / static_cast<double>(degree_)) * total_ / half_width_;
}

double CappedShape::depth(double y) const noexcept {
  return std::min((half_width_ - std::abs(y)) / half_width_, slope_share_);
}

double CappedShape::height(double x) const noexcept {
  return degree_ == 1 ? 2 * (total_ * x) : 1.5 * (total_ * x) * (2 - x);
}

double CappedShape::tail(double x) const noexcept {
  return degree_ == 1 ? total_ * x * x : total_ * x * x * (3 - x) / 2;
}

double CappedShape::unit_moment(int n) const noexcept { return moment_share(degree_, gamma_, n); }

double CappedShape::density(double y) const noexcept {
  const double x = depth(y);
  return x < 0 ? 0 : height(x) / half_width_;
}

double CappedShape::derivative(double y) const noexcept {
  const double distance = std::abs(y);
  if (std::isnan(y)) return y;
  if (distance <= plateau_ || distance >= half_width_) return 0;
  return -std::copysign(degree_ == 1 ? 1 : distance, y) / scale_;
}

/// P(Y > |y|).
double CappedShape::near_tail(double y) const noexcept {
  const double distance = std::abs(y), x = depth(y);
  if (x < 0) return 0;
  if (!(distance < plateau_)) return tail(x);
  if (distance < plateau_ / 2) return 0.5 - height(slope_share_) * (distance / half_width_);
  return tail(slope_share_) + height(slope_share_) * ((plateau_ - distance) / half_width_);
}

double CappedShape::beyond(double y) const noexcept { return y < 0 ? 1 - near_tail(y) : near_tail(y); }
double CappedShape::log_beyond(double y) const noexcept {
  return y < 0 ? std::log1p(-near_tail(y)) : std::log(near_tail(y));
}

double CappedShape::tail_depth(double u) const noexcept {
  const double share = std::sqrt(u) / std::sqrt(total_);
  if (degree_ == 1) return share;
  // The root of x^2 (3 - x) = 2 share^2, from that of docs/math.md 6.1 without its cancellation.
  const double angle = std::asin(share / std::numbers::sqrt2) / 1.5, half_sine = std::sin(angle / 2);
  return 2 * half_sine * half_sine + std::numbers::sqrt3 * std::sin(angle);
}

double CappedShape::tail_distance(double u) const noexcept {
  const double edge = tail(slope_share_), peak = height(slope_share_);
  if (u < edge) return half_width_ - half_width_ * tail_depth(u);
  return u > 0.25 ? (0.5 - u) / peak * half_width_ : plateau_ - (u - edge) / peak * half_width_;
}

double CappedShape::absolute_moment(int n) const {
  if (n < 0) throw_domain_error("absolute_moment", "n", "must not be negative", n);
  return unit_moment(n) * std::pow(half_width_, n);
}

double CappedShape::mean_deviation(double y) const noexcept {
  const double distance = std::abs(y), x = depth(y), cube = total_ * x * x * x;
  if (x < 0) return distance;
  const double slope = degree_ == 1 ? cube / 3 : cube * (1 - x / 4) / 2;
  const double rest = std::max(0.0, (plateau_ - distance) / half_width_);
  const double tails = slope + rest * (tail(slope_share_) + height(slope_share_) * rest / 2);
  return distance + 2 * half_width_ * tails;
}

double CappedShape::mean_density() const noexcept {
  const double x = slope_share_, peak = height(x), rise = total_ * x;
  const double slope =
      degree_ == 1 ? 4. / 3 * rise * rise * x : 2.25 * rise * rise * x * (4. / 3 - x + x * x / 5);
  return 2 * (peak * peak * plateau_share_ + slope) / half_width_;
}

double CappedShape::tsallis_entropy(double order) const {
  constexpr double kNear = 0.5;  // an order this near to 1 takes the form that does not cancel there
  if (!(order > 0)) throw_domain_error("tsallis_entropy", "order", "must be positive", order);
  const double x = slope_share_, log_peak = std::log(density(0)), om1 = order - 1;
  if (std::isinf(order)) return log_peak > 0 ? -kInf : 0;
  const double flat = 2 * height(x) * plateau_share_, sides = 2 * height(x) * x;
  // log of the mean of (p / peak)^om1 under p, over om1
  double mean_log = log_peak;
  if (degree_ == 1) {
    mean_log += log_deformed_exp(om1, flat / 2) - log_deformed_exp(om1, 0.5);
  } else {
    const auto log_ratio = [x](double z) { return std::log(z) + std::log1p(x * (1 - z) / (2 - x)); };
    const auto integral = [](auto&& f) { return bounded_integral(f, Interval(0, 1), 0.5); };
    if (std::abs(om1) <= kNear) {
      const auto term = [&](double z) {
        const double l = log_ratio(z);
        return std::exp(l) * deformed_log_of_exp(om1, l);
      };
      mean_log += log_deformed_exp(om1, sides * integral(term));
    } else {
      const auto term = [&](double z) { return std::exp(order * log_ratio(z)); };
      mean_log += std::log(flat + sides * integral(term)) / om1;
    }
  }
  return 0.0 - deformed_log_of_exp(om1, mean_log) / order;
}

double CappedShape::expectation(FunctionRef<double(double)> f, double mu, double accuracy,
                                std::span<const double> cuts) const {
  // f may be a function of the density: t is rounded, and may lie on the edge.
  const auto inside = [&](double t) { return density(t - mu) == 0 ? 0 : f(t); };
  const double x = slope_share_, level = height(x) * plateau_share_;
  for (const index_t first_panels : {detail::kFirstPanels, detail::kFinestPanels}) {
    PieceSum mean(inside, mu, accuracy, cuts, first_panels);
    for (const double side : {-1.0, 1.0}) {
      mean.add(side * half_width_, -side * x * half_width_, [&](double z) { return x * height(x * z); });
      if (plateau_ > 0) mean.add(0, side * plateau_, [&](double) { return level; });
    }
    if (const double found = mean.value(); mean.scale() > 0) return found;
  }
  return 0;
}

/// dp/dmu = -p', dp/dgamma = 2 U - 2 U_plateau, U the uniform densities (docs/math.md 6.1), and from its JVP
/// dp/dlog s = U - p + gamma dp/dgamma, where U - p = (peak - p) - U int (peak - p): nothing cancels where p
/// is nearly uniform.
CappedShape::Gradient CappedShape::expectation_gradient(FunctionRef<double(double)> psi, double mu,
                                                        double accuracy, std::span<const double> cuts) const {
  PieceSum left(psi, mu, accuracy, cuts), right = left, slopes = left, plateau = left, missing = left;
  const double x = slope_share_, width = x * half_width_, peak = height(x);
  for (const double side : {-1.0, 1.0}) {
    const double edge = side * half_width_, inward = -side * width;
    (side < 0 ? left : right).add(edge, inward, [&](double z) {
      return degree_ == 1 ? 1 : half_width_ - width * z;
    });
    slopes.add(edge, inward, [](double) { return 0.5; });
    missing.add(edge, inward, [&](double z) { return x * (peak - height(x * z)); });
    plateau.add(0, side * plateau_, [](double) { return 0.5; });
  }
  const double mean = x * slopes.value() + plateau_share_ * plateau.value();
  const double missing_mass = 2 * (x * peak - tail(x));
  const double in_gamma = 2 * x * (slopes.value() - plateau.value());
  return {(right.value() - left.value()) * (width / scale_),
          (missing.value() - missing_mass * mean + gamma_ * in_gamma) / scale_, in_gamma};
}

/// Both go like s^{-1/(k + 1)} at fixed gamma; dOmega*/dgamma = -TV, dOmega*/ds = E|y|^k / (k s^2).
ShapeDerivatives CappedShape::homogeneous(double in_scale, double in_gamma,
                                          double gamma_gamma) const noexcept {
  const double k = degree_;
  return {in_scale, in_gamma, -(k + 2) / (k + 1) * in_scale / scale_, -in_gamma / (k + 1) / scale_,
          gamma_gamma};
}
ShapeDerivatives CappedShape::threshold_derivatives() const noexcept {
  const double rate = degree_ + 1;
  return homogeneous(-threshold() / rate / scale_, -1 / half_width_, 1 / (rate * total_ * half_width_));
}
ShapeDerivatives CappedShape::conjugate_derivatives() const noexcept {
  const double moment = unit_moment(degree_) * (degree_ == 1 ? 1 : half_width_ / 2) * half_width_;
  return homogeneous(moment / scale_ / scale_, -2 * density(0), 2 * slope_share_ / plateau_);
}

double CappedShape::quantile(double mu, double u) const {
  return symmetric_quantile(mu, {mu - half_width_, mu + half_width_}, u,
                            [this](double v) { return tail_distance(v); });
}
double CappedShape::survival_quantile(double mu, double u) const {
  return symmetric_survival_quantile(mu, {mu - half_width_, mu + half_width_}, u,
                                     [this](double v) { return tail_distance(v); });
}

NumericDensity CappedShape::escort(double mu, double order) const {
  std::vector<double> modes = {mu};
  if (plateau_ > 0) modes = {mu - plateau_, mu, mu + plateau_};
  const auto log_density = [shape = *this, mu](double t) { return std::log(shape.density(t - mu)); };
  return fenchel::escort(NumericDensity(log_density, {{mu - half_width_, mu + half_width_}}, modes), order);
}

}  // namespace fenchel::detail
