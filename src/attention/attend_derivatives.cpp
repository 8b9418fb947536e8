#include "fenchel/attention/attend_derivatives.hpp"

#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "attention/characteristic_function.hpp"
#include "attention/polynomial_sum.hpp"
#include "backend/cpu/attention/checks.hpp"
#include "backend/cpu/attention/row.hpp"
#include "fenchel/core/beta_gaussian.hpp"
#include "fenchel/core/error.hpp"

namespace fenchel::detail {
namespace {

/// Above it derivatives of means of functions in sigma2 may be below the smallest double, and in b above its
/// root.
constexpr double kWidestSigma2 = 1e200;

void check_width(std::string_view name, double scale, double widest) {
  if (!(scale <= widest))
    throw_domain_error("attend_jacobian", name, "must be at most " + shortest(widest), scale);
}

Eigen::MatrixXd checked_jacobian(Eigen::MatrixXd result, std::string_view name, double value) {
  if (!result.allFinite())
    throw_domain_error("attend_jacobian", name, "must keep derivatives in the range of doubles", value);
  return result;
}

}  // namespace

Eigen::MatrixXd attend_gradient(const BetaGaussian& p, const GaussianBasis& psi) {
  const LineFunctions functions(psi.functions());
  Eigen::MatrixXd row(functions.whole_size(), block_count(1, Wanted::kAlphaToo));
  const double mu = p.mu(), sigma2 = p.sigma2();
  check_precision("attend_jacobian", "sigma2", sigma2);
  Eigen::VectorXd sorted(functions.sorted_size(block_count(1, Wanted::kAlphaToo)));
  attend_line_row({p.constants(), &mu, &sigma2}, functions, Wanted::kAlphaToo, Accuracy::kDouble,
                  sorted.data(), {row.data(), row.rows()});
  return row.topRightCorner(psi.size(), 3);
}

Eigen::MatrixXd attend_gradient(const BetaGaussian& p, const PolynomialBasis& psi) {
  const BetaGaussianConstants& c = p.constants();
  const bool uniform = std::isinf(c.am1);
  const double power_rate = uniform ? 0 : alpha_derivatives(c).log_peak_power;
  std::vector<double> moments, in_sigma2, in_alpha;
  double log_rate = 0;  // d log central_moment / dalpha
  for (int k = 0; k <= psi.degree(); ++k) {
    const double moment = central_moment(p, k);
    if (k % 2 == 0 && k > 0 && !uniform) log_rate += power_rate - 0.5 * (k + 1) / (1 + 0.5 * (k + 1) * c.am1);
    moments.push_back(moment);
    in_sigma2.push_back(moment == 0 || uniform ? 0 : moment * k / ((p.alpha() + 1) * p.sigma2()));
    in_alpha.push_back(moment == 0 || uniform ? 0 : moment * log_rate);
  }
  const Eigen::VectorXd values = polynomial_sum(psi, p.mu(), moments);
  Eigen::MatrixXd result(psi.size(), 3);
  result(0, 0) = 0;
  for (index_t k = 1; k < psi.size(); ++k)
    result(k, 0) = static_cast<double>(k) / psi.width() * values[k - 1];
  result.col(1) = polynomial_sum(psi, p.mu(), in_sigma2);
  result.col(2) = polynomial_sum(psi, p.mu(), in_alpha);
  return result;
}

Eigen::MatrixXd attend_gradient(const BetaGaussian& p, const FourierBasis& psi) {
  const bool uniform = std::isinf(p.alpha());
  const Eigen::VectorXd waves = evaluate(psi, p.mu());
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(psi.size(), 3);
  for (index_t k = 1; k <= psi.count(); ++k) {
    const double frequency = psi.frequency(k), cosine = waves[2 * k - 1], sine = waves[2 * k];
    CharacteristicFunction f = characteristic_function(p, frequency);
    if (std::isnan(f.alpha)) {
      const auto centred = [&](double t) { return std::cos(frequency * (t - p.mu())); };
      f.alpha = expectation_gradient(p, centred, kAttendAccuracy, {}).alpha;
    }
    const double in_sigma2 = uniform ? 0 : f.log_scale / ((p.alpha() + 1) * p.sigma2());
    result.row(2 * k - 1) << -frequency * sine * f.value, cosine * in_sigma2, cosine * f.alpha;
    result.row(2 * k) << frequency * cosine * f.value, sine * in_sigma2, sine * f.alpha;
  }
  return result;
}

Eigen::MatrixXd canonical_jacobian(const Eigen::MatrixXd& gradient, double mu, double sigma2) {
  check_width("sigma2", sigma2, kWidestSigma2);
  Eigen::MatrixXd result(gradient.rows(), 2);
  result.col(0) = sigma2 * gradient.col(0);
  result.col(1) = 2 * (sigma2 * (mu * gradient.col(0) + sigma2 * gradient.col(1)));
  const bool far = std::abs(mu) > sigma2;
  return checked_jacobian(std::move(result), far ? "mu" : "sigma2", far ? mu : sigma2);
}

Eigen::MatrixXd canonical_jacobian(const Eigen::MatrixXd& gradient, double b) {
  check_width("b", b, std::sqrt(kWidestSigma2));
  return checked_jacobian(b * (b * gradient.col(1)), "b", b);
}

}  // namespace fenchel::detail
