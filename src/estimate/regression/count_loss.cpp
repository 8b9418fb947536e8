#include "estimate/regression/count_loss.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "core/compensated_sum.hpp"
#include "core/fenchel_young_term.hpp"
#include "fenchel/core/deformed.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/core/normalizer.hpp"
#include "fenchel/loss/integers.hpp"

namespace fenchel::detail {
namespace {

constexpr double kLargestMean = 0x1p52;
constexpr double kLogSmallest = -45;  // probabilities below e^kLogSmallest do not count
constexpr std::size_t kFirstWindow = 16, kGrowth = 4, kMostIntegers = std::size_t{1} << 20;

/// log t! - t log t + t for an integer t >= 1, to 1e-15: Stirling's series from 16 on.
double stirling_rest(double t, double log_t) {
  static const auto small = [] {
    std::array<double, 16> rest{};
    double log_factorial = 0;
    for (std::size_t k = 1; k < rest.size(); ++k) {
      const auto x = static_cast<double>(k);
      log_factorial += std::log(x);
      rest[k] = log_factorial - x * std::log(x) + x;
    }
    return rest;
  }();
  if (t < static_cast<double>(small.size())) return small[static_cast<std::size_t>(t)];
  const double r = 1 / t, r2 = r * r;
  return 0.5 * (log_t + std::log(2 * std::numbers::pi)) +
         r * (1.0 / 12 - r2 * (1.0 / 360 - r2 * (1.0 / 1260 - r2 * (1.0 / 1680 - r2 / 1188))));
}

/// exp(theta) - count theta + log count!: about the minimum no large terms cancel.
double poisson_loss(double theta, double count) {
  if (count == 0) return std::exp(theta);
  const double log_count = std::log(count), d = theta - log_count;
  return count * (std::expm1(d) - d) + stirling_rest(count, log_count);
}

/// One side of the mode: scores less the mode's of the integers taken so far, outwards, and of the next one.
class Flank {
 public:
  Flank(double theta, double mu, double mode, double step, std::vector<double>& taken)
      : theta_(theta), mu_(mu), at_(mode), step_(step), taken_(taken) {
    taken_.clear();
    look();
  }

  [[nodiscard]] double next() const noexcept { return next_; }
  double take() {
    const double taken = next_;
    taken_.push_back(taken);
    look();
    return taken;
  }

 private:
  void look() {
    const double from = step_ > 0 ? at_ + 1 : at_;  // the score rises by log(mu / from) from from - 1 to from
    if (from == 0) {
      next_ = -kInfinity;
      return;
    }
    const bool near = mu_ > from / 2 && mu_ < 2 * from;
    sum_.add(step_ * (near ? std::log1p((mu_ - from) / from) : theta_ - std::log(from)));
    next_ = sum_.total();
    at_ += step_;
  }

  double theta_, mu_, at_, step_, next_ = 0;
  CompensatedSum sum_;
  std::vector<double>& taken_;
};

/// Both sides of the mode, and what is between.
struct Window {
  Flank left, right;
  std::size_t size = 1;

  [[nodiscard]] double next() const noexcept { return std::max(left.next(), right.next()); }
  double take() {
    ++size;
    return (left.next() > right.next() ? left : right).take();
  }
};

/// tau of alpha = 2, less the score of the mode: an integer is in the support while its score is above that
/// of the integers before it (docs/math.md 3).
double sparsemax_threshold(Window& window) {
  CompensatedSum sum;
  sum.add(-1);
  const auto tau = [&] { return sum.total() / static_cast<double>(window.size); };
  while (window.next() > tau() && window.size < kMostIntegers) sum.add(window.take());
  return tau();
}

/// Below alpha = 1 the sums have tails: those of loss/integers.hpp. +infinity where mu is out of range.
CountLoss::Value heavy_loss(double alpha, double theta, double count) try {
  const auto loss =
      cross_omega(Tsallis(alpha), PoissonScore(std::exp(theta)), Naturals(), static_cast<index_t>(count));
  return {loss.value, loss.gradient.log_mu};
} catch (const std::domain_error&) {
  return {kInfinity, kInfinity};
}

Spread heavy_spread(double alpha, double theta) try {
  const PoissonScore f(std::exp(theta));
  return {fenchel_young_hessian(Tsallis(alpha), f, Naturals()), variance(SparsePoisson(alpha, f.mu()))};
} catch (const std::domain_error&) {
  return {kInfinity, kInfinity};
}

}  // namespace

bool CountLoss::predict(double theta) {
  const double mu = std::exp(theta);
  if (!(mu <= kLargestMean)) return false;
  mode_ = std::max(0.0, std::ceil(mu) - 1);
  Window window{Flank(theta, mu, mode_, -1, left_), Flank(theta, mu, mode_, 1, right_)};
  const auto fill = [this] {
    p_.assign(left_.rbegin(), left_.rend());
    p_.push_back(0);
    p_.insert(p_.end(), right_.begin(), right_.end());
  };
  if (am1_ == 1) {
    const double tau = sparsemax_threshold(window);
    fill();
    for (double& p : p_) p -= tau;
    offset_ = tau + 1;
    return window.next() <= tau;
  }
  // A on part of the integers is at most A on all of them, so that nothing that counts is left out.
  const double lowest = deformed_log_of_exp(am1_, kLogSmallest);
  // On n integers the mode has at least 1 / n, so that A is at most -log_alpha(1 / n) above it: where even
  // the farthest integer would count, none need be taken to know that they are too many.
  constexpr auto kMost = static_cast<double>(kMostIntegers);
  const double most = -deformed_log_of_exp(am1_, -std::log(kMost));
  if (poisson_loss(theta, mode_) - poisson_loss(theta, mode_ + kMost) >= most + lowest) return false;
  offset_ = 0;
  for (std::size_t wanted = kFirstWindow; wanted <= kMostIntegers; wanted *= kGrowth) {
    while (window.size < wanted && window.next() >= offset_ + lowest) window.take();
    fill();
    offset_ = normalize(am1_, p_).offset;
    if (!(window.next() >= offset_ + lowest)) return true;
  }
  return false;
}

CountLoss::Value CountLoss::operator()(double theta, double count) {
  if (am1_ == 0) return {poisson_loss(theta, count), std::exp(theta) - count};
  if (am1_ < 0) return heavy_loss(1 + am1_, theta, count);
  if (!predict(theta)) return {kInfinity, kInfinity};
  const double distance = count - mode_;
  const auto score_of_count = [&] {
    const std::vector<double>& side = distance < 0 ? left_ : right_;
    if (distance == 0) return 0.0;
    return std::abs(distance) <= static_cast<double>(side.size())
               ? side[static_cast<std::size_t>(std::abs(distance)) - 1]
               : poisson_loss(theta, mode_) - poisson_loss(theta, count);
  };
  CompensatedSum value, mean;  // of the distance from the mode
  value.add(cross_omega_term(am1_, 1, 0, score_of_count() - offset_));
  const std::size_t centre = left_.size();
  value.add(cross_omega_term(am1_, 0, p_[centre], -offset_));
  for (std::size_t k = 1; k <= left_.size(); ++k) {
    value.add(cross_omega_term(am1_, 0, p_[centre - k], left_[k - 1] - offset_));
    mean.add(-static_cast<double>(k) * p_[centre - k]);
  }
  for (std::size_t k = 1; k <= right_.size(); ++k) {
    value.add(cross_omega_term(am1_, 0, p_[centre + k], right_[k - 1] - offset_));
    mean.add(static_cast<double>(k) * p_[centre + k]);
  }
  return {std::max(0.0, value.total()), mean.total() - distance};
}

Spread CountLoss::spread(double theta) {
  if (am1_ == 0) return {std::exp(theta), std::exp(theta)};
  if (am1_ < 0) return heavy_spread(1 + am1_, theta);
  if (!predict(theta)) return {kInfinity, kInfinity};
  const auto variance_of_order = [this](double order) {
    CompensatedSum mass, first, second;
    const auto sum_powers = [&](double centre) {
      mass = first = second = {};
      for (std::size_t i = 0; i < p_.size(); ++i) {
        const double w = p_[i] > 0 ? std::exp(order * std::log(p_[i])) : 0.0;
        const double x = static_cast<double>(i) - centre;
        mass.add(w);
        first.add(w * x);
        second.add(w * x * x);
      }
    };
    sum_powers(static_cast<double>(left_.size()));
    sum_powers(static_cast<double>(left_.size()) + first.total() / mass.total());
    return second.total();
  };
  return {variance_of_order(1 - am1_), variance_of_order(1)};
}

}  // namespace fenchel::detail
