#include "distribution/line/power_integral.hpp"

#include <algorithm>
#include <cmath>

#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {
namespace {

constexpr double kEndShare = 3e-3;   // of the distance from an end to the next mode
constexpr double kUnderflow = -746;  // exp of it is 0

double checked(FunctionRef<double(double)> f, double t) {
  const double value = f(t);
  if (std::isnan(value))
    throw_domain_error("beta_covariance", "the value at " + shortest(t), "must be a number", value);
  return value;
}

}  // namespace

/// q at d = z delta: the quartic through its values at z = 1/5, ..., 1.
double PowerIntegral::End::log_smooth(double z) const {
  double sum = 0;
  for (int i = 0; i < kPoints; ++i) {
    double factor = q[i];
    for (int j = 0; j < kPoints; ++j)
      if (j != i) factor *= (kPoints * z - (j + 1)) / (i - j);
    sum += factor;
  }
  return sum;
}

PowerIntegral::End PowerIntegral::make_end(double at, double direction, double room, double exponent) const {
  End end{at, direction, kEndShare * room, 0, {}, false};
  for (int k = 1; k <= kPoints; ++k) end.q[k - 1] = log_pdf_(at + direction * end.delta * k / kPoints);
  if (beta_ > 0 && beta_ * (*std::max_element(end.q, end.q + kPoints) - reference_) < kUnderflow) {
    end.s = kInfinity;  // differences of such logarithms may be roundings alone
    return end;
  }
  const double fourth_difference = end.q[4] - 4 * end.q[3] + 6 * end.q[2] - 4 * end.q[1] + end.q[0];
  const double fitted = fourth_difference / std::log(3645.0 / 4096);  // what it is of log d
  end.zero = exponent > 0 && fitted > exponent / 2;
  end.s = end.zero ? exponent : fitted;
  for (int k = 1; k <= kPoints; ++k) end.q[k - 1] -= end.s * std::log(k / static_cast<double>(kPoints));
  return end;
}

PowerIntegral::PowerIntegral(FunctionRef<double(double)> log_pdf, std::span<const Interval> support,
                             std::span<const double> modes, double beta, double exponent)
    : log_pdf_(log_pdf), beta_(beta), reference_(-kInfinity) {
  std::vector<double> inner;  // modes at an end, moved inside
  for (const Interval& piece : support) {
    double lower = piece.lower(), upper = piece.upper();
    std::vector<double> here;
    for (const double t : modes)
      if (piece.contains(t)) here.push_back(t);
    for (const double t : here) reference_ = std::max(reference_, log_pdf(t));
    const auto room = [&](double end, double next, double direction) {
      if (next != end) return std::abs(next - end);
      const Centre c = make_centre(log_pdf_, end, piece);
      return direction > 0 ? c.right : c.left;
    };
    if (!std::isinf(lower)) {
      const double next = here.empty() ? upper : here.front();
      ends_.push_back(make_end(lower, 1, std::isinf(next) ? 1 : room(lower, next, 1), exponent));
    }
    if (!std::isinf(upper)) {
      const double next = here.empty() ? lower : here.back();
      ends_.push_back(make_end(upper, -1, std::isinf(next) ? 1 : room(upper, next, -1), exponent));
      upper -= ends_.back().delta;
    }
    if (!std::isinf(lower))
      lower += (std::isinf(piece.upper()) ? ends_.back() : ends_[ends_.size() - 2]).delta;
    if (!(lower < upper)) continue;
    inside_.emplace_back(lower, upper);
    for (const double t : here) {
      const double moved = std::clamp(t, lower, upper);
      if (inner.empty() || inner.back() != moved) inner.push_back(moved);
    }
  }
  if (std::isinf(reference_)) reference_ = 0;
  const auto weight = [&](double t) { return beta_ == 0 ? 0 : beta_ * (log_pdf_(t) - reference_); };
  centres_ = make_centres(weight, inside_, inner);
}

double PowerIntegral::interior(FunctionRef<double(double)> f) const {
  constexpr double kAccuracy = 1e-11, kDemanded = 1e-8;
  const PanelSum sum = integrate_panels(
      [&](double t) {
        const double l = log_pdf_(t);
        const double weight = beta_ == 0 ? 1 : std::exp(beta_ * (l - reference_));
        return weight == 0 ? 0 : weight * checked(f, t);
      },
      inside_, centres_, kAccuracy);
  if (!sum.finite)
    throw_domain_error("beta_covariance", "the integral with p^beta", "must be finite", kInfinity);
  if (!(sum.error <= kDemanded * sum.scale))
    throw ConvergenceError(error_message("beta_covariance", "the estimated relative error",
                                         "must reach " + shortest(kDemanded), sum.error / sum.scale));
  return sum.value;
}

double PowerIntegral::smooth(const End& end, FunctionRef<double(double)> f, double z) const {
  const double weight = beta_ == 0 ? 1 : std::exp(beta_ * (end.log_smooth(z) - reference_));
  return weight == 0 ? 0 : weight * checked(f, end.at + end.direction * z * end.delta);
}

double PowerIntegral::operator()(FunctionRef<double(double)> f) const {
  double sum = interior(f);
  for (const End& end : ends_) {
    if (!std::isfinite(end.s)) {  // p underflows
      if (beta_ < 0) throw_domain_error("beta_covariance", "p^beta", "must be integrable, beta", beta_);
      continue;
    }
    const double epsilon = beta_ == 0 ? 1 : 1 + beta_ * end.s;
    if (!(epsilon > 0))
      throw_domain_error("beta_covariance", "beta",
                         "must be above " + shortest(-1 / end.s) + " for p^beta to be integrable", beta_);
    sum += end.delta / epsilon *
           gauss_kronrod([&](double x) { return smooth(end, f, std::pow(x, 1 / epsilon)); }, 0, 1).value;
  }
  return sum;
}

std::vector<double> PowerIntegral::means(std::span<const std::function<double(double)>> phi) const {
  const double mass = (*this)([](double) { return 1.0; });
  std::vector<double> result;
  for (const auto& statistic : phi) result.push_back((*this)(statistic) / mass);
  return result;
}

double PowerIntegral::finite_part(FunctionRef<double(double)> f, double factor, double share) const {
  double sum = factor == 0 ? 0 : factor * interior(f);
  for (const End& end : ends_) {
    if (!std::isfinite(end.s)) continue;
    if (!end.zero) {
      sum += factor * end.delta * gauss_kronrod([&](double z) { return smooth(end, f, z); }, 0, 1).value;
      continue;
    }
    // int_0^1 z^{epsilon-1} G(z) dz = G(0) / epsilon + int_0^1 z^epsilon (G(z) - G(0)) / z dz.
    const double epsilon = 1 + beta_ * end.s, edge = smooth(end, f, 0);
    const auto slope = [&](double x) {
      const double z = std::max(std::pow(x, 1 / (1 + epsilon)), 1e-5);  // below it the difference is noise
      return (smooth(end, f, z) - edge) / z;
    };
    sum += end.delta * (share * edge + factor / (1 + epsilon) * gauss_kronrod(slope, 0, 1).value);
  }
  return sum;
}

}  // namespace fenchel::detail
