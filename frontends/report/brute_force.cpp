#include "report/brute_force.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fenchel/core/quadrature.hpp"

namespace fenchel::report {
namespace {

double prediction(double alpha, double excess) {
  return excess > 0 ? std::pow((alpha - 1) * excess, 1 / (alpha - 1)) : 0;
}

}  // namespace

double root(const Function& f, double lower, double upper) {
  const bool rising = f(upper) > 0;
  while (true) {
    const double middle = lower + (upper - lower) / 2;
    if (middle <= lower || middle >= upper) return middle;
    ((f(middle) > 0) == rising ? upper : lower) = middle;
  }
}

double slope(const Function& f, double x, double step) { return (f(x + step) - f(x - step)) / (2 * step); }

double curvature(const Function& f, double x, double step) {
  return (f(x + step) - 2 * f(x) + f(x - step)) / (step * step);
}

LinePrediction::LinePrediction(double alpha, Function f, double mode, double reach)
    : alpha_(alpha), f_(std::move(f)), mode_(mode), reach_(reach) {
  const double top = f_(mode), bottom = std::max(f_(mode - reach), f_(mode + reach));
  cut(root(
      [this](double tau) {
        cut(tau);
        return 1 - expectation([](double) { return 1; });
      },
      bottom, top));
}

void LinePrediction::cut(double tau) {
  tau_ = tau;
  const auto excess = [this](double t) { return f_(t) - tau_; };
  lower_ = root(excess, mode_ - reach_, mode_);
  upper_ = root(excess, mode_, mode_ + reach_);
}

double LinePrediction::pdf(double t) const { return prediction(alpha_, f_(t) - tau_); }

double LinePrediction::integral(const Function& g) const {
  return integrate(g, lower_, mode_).value + integrate(g, mode_, upper_).value;
}

double LinePrediction::expectation(const Function& g) const {
  return integral([&](double t) { return g(t) * pdf(t); });
}

double LinePrediction::negentropy() const {
  return (integral([this](double t) { return std::pow(pdf(t), alpha_); }) - 1) / (alpha_ * (alpha_ - 1));
}

double LinePrediction::conjugate() const { return expectation(f_) - negentropy(); }

FinitePrediction finite_prediction(double alpha, const std::vector<double>& f) {
  const double top = *std::max_element(f.begin(), f.end());
  const auto mass = [&](double tau) {
    double sum = 0;
    for (const double score : f) sum += prediction(alpha, score - tau);
    return sum;
  };
  const double tau = root([&](double x) { return 1 - mass(x); }, top - 1 / (alpha - 1), top);
  FinitePrediction result{{}, tau};
  for (const double score : f) result.p.push_back(prediction(alpha, score - tau));
  return result;
}

}  // namespace fenchel::report
