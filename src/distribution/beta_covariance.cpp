#include "fenchel/distribution/beta_covariance.hpp"

#include <cmath>

#include "distribution/power_integral.hpp"
#include "fenchel/core/check.hpp"

namespace fenchel::detail {
namespace {

Eigen::VectorXd means(const PowerIntegral& integral, Statistics phi) {
  const double mass = integral([](double) { return 1.0; });
  Eigen::VectorXd result(static_cast<Eigen::Index>(phi.size()));
  for (std::size_t i = 0; i < phi.size(); ++i) result[static_cast<Eigen::Index>(i)] = integral(phi[i]) / mass;
  return result;
}

}  // namespace

Eigen::VectorXd escort_means(FunctionRef<double(double)> log_pdf, std::span<const Interval> support,
                             std::span<const double> modes, double beta, Statistics phi) {
  return means(PowerIntegral(log_pdf, support, modes, beta), phi);
}

Eigen::MatrixXd beta_covariance(FunctionRef<double(double)> log_pdf, std::span<const Interval> support,
                                std::span<const double> modes, double beta, Statistics phi, Statistics psi) {
  checked_finite("beta_covariance", "beta", beta);
  const PowerIntegral integral(log_pdf, support, modes, beta);
  const Eigen::VectorXd first = means(integral, phi), second = means(integral, psi);
  Eigen::MatrixXd result(first.size(), second.size());
  for (Eigen::Index i = 0; i < first.size(); ++i) {
    for (Eigen::Index j = 0; j < second.size(); ++j) {
      result(i, j) = std::exp(integral.log_factor()) * integral([&](double t) {
                       return (phi[static_cast<std::size_t>(i)](t) - first[i]) *
                              (psi[static_cast<std::size_t>(j)](t) - second[j]);
                     });
    }
  }
  return result;
}

}  // namespace fenchel::detail
