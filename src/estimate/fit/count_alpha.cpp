#include "estimate/fit/count_alpha.hpp"

#include <limits>
#include <stdexcept>

#include <Eigen/LU>

#include "fenchel/core/deformed_derivatives.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/distribution/integers/integer_tail.hpp"

namespace fenchel::detail {
namespace {

/// log p at an integer, and between integers where sums over a tail ask for it.
double log_p_at(const IntegerTable& p, double t) {
  for (const IntegerTail& tail : p.tails()) {
    const double distance = tail.step * (t - static_cast<double>(tail.centre));
    if (distance >= tail.first) return tail.at(distance).log_p();
  }
  return p.log_pmf(static_cast<index_t>(t));
}

}  // namespace

double most_likely_alpha(std::string_view where, double least, const CountHistogram& counts,
                         const std::function<double(double)>& log_likelihood) {
  const auto value = [&](double x) {  // of alpha = least + e^x
    try {
      return log_likelihood(least + std::exp(x));
    } catch (const std::domain_error&) {
      return -kInfinity;
    } catch (const ConvergenceError&) {
      return -kInfinity;
    }
  };
  constexpr double kFirst = -3.5, kLast = 3, kStep = 0.5, kGolden = 0.6180339887498949, kWidth = 1e-6;
  double best = -kInfinity, at = kFirst;
  for (double x = kFirst; x <= kLast; x += kStep) {
    const double now = value(x);
    if (now > best) best = now, at = x;
  }
  if (counts.values().size() == 1) at = kLast;  // certain for every large alpha
  if (best == -kInfinity || at == kFirst || at == kLast)
    throw_domain_error(where, "the alpha of the largest likelihood",
                       at == kLast ? "must be smaller: the counts vary too little to estimate it"
                                   : "must be larger: the counts vary too much to estimate it",
                       least + std::exp(at));
  double low = at - kStep, high = at + kStep;
  double left = high - kGolden * (high - low), right = low + kGolden * (high - low);
  double of_left = value(left), of_right = value(right);
  while (high - low > kWidth) {
    if (of_left >= of_right) {
      high = right, right = left, of_right = of_left;
      left = high - kGolden * (high - low), of_left = value(left);
    } else {
      low = left, left = right, of_left = of_right;
      right = low + kGolden * (high - low), of_right = value(right);
    }
  }
  return least + std::exp((low + high) / 2);
}

Eigen::MatrixXd alpha_covariance(const IntegerTable& p, double am1,
                                 const std::function<Eigen::VectorXd(double)>& phi) try {
  const auto mean = [&](const std::function<double(double)>& f) { return p.expectation(f, 1e-8); };
  const auto means = [&](Eigen::Index rows, Eigen::Index columns, const auto& f) {
    Eigen::MatrixXd result(rows, columns);
    for (Eigen::Index i = 0; i < rows; ++i)
      for (Eigen::Index j = 0; j < columns; ++j)
        result(i, j) = mean([&](double t) -> double { return f(t)(i, j); });
    return result;
  };
  // Under the escort of order 2 - alpha: dp/p = p^{1-alpha} (dtheta . (phi - E phi) - dalpha (D - E D)),
  // docs/math.md 2.6.
  const auto weight = [&](double t) { return std::exp(-am1 * log_p_at(p, t)); };
  const auto slope = [&](double t) { return deformed_log_alpha_derivative<1>(am1, log_p_at(p, t)); };
  const Eigen::Index size = phi(0).size();
  const double mass = mean(weight), slope_mean = mean([&](double t) { return weight(t) * slope(t); }) / mass;
  const Eigen::VectorXd escort_mean =
      means(size, 1, [&](double t) -> Eigen::MatrixXd { return weight(t) * phi(t); }) / mass;
  const Eigen::VectorXd phi_mean = means(size, 1, [&](double t) -> Eigen::MatrixXd { return phi(t); });
  const auto scores = [&](double t) {
    Eigen::VectorXd s(size + 1);
    s[0] = weight(t) * (slope_mean - slope(t));
    s.tail(size) = weight(t) * (phi(t) - escort_mean);
    return s;
  };
  // d theta / d alpha along the fits, which keep E phi.
  const Eigen::MatrixXd moved = means(size, size + 1, [&](double t) -> Eigen::MatrixXd {
    return (phi(t) - phi_mean) * scores(t).transpose();
  });
  const Eigen::VectorXd along = -moved.rightCols(size).partialPivLu().solve(moved.col(0));
  const auto equations = [&](double t) {
    Eigen::VectorXd psi(size + 1);
    const Eigen::VectorXd s = scores(t);
    psi[0] = s[0] + along.dot(s.tail(size));
    psi.tail(size) = phi(t) - phi_mean;
    return psi;
  };
  const auto products = [&](const auto& left, const auto& right) {
    return means(size + 1, size + 1,
                 [&](double t) -> Eigen::MatrixXd { return left(t) * right(t).transpose(); });
  };
  const Eigen::MatrixXd inverse = products(equations, scores).inverse();
  return inverse * products(equations, equations) * inverse.transpose();
} catch (const ConvergenceError&) {
  const Eigen::Index size = phi(0).size() + 1;
  return Eigen::MatrixXd::Constant(size, size, std::numeric_limits<double>::quiet_NaN());
}

}  // namespace fenchel::detail
