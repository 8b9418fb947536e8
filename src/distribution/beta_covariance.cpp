#include "fenchel/distribution/beta_covariance.hpp"

#include <cmath>
#include <vector>

#include "distribution/line/power_integral.hpp"
#include "fenchel/core/check.hpp"

namespace fenchel::detail {
namespace {

/// x e^y, also where e^y alone is no number.
double times_exp(double x, double y) {
  return x == 0 ? 0 : std::copysign(std::exp(y + std::log(std::abs(x))), x);
}

}  // namespace

Eigen::MatrixXd beta_covariance(FunctionRef<double(double)> log_pdf, std::span<const Interval> support,
                                std::span<const double> modes, double beta, Callables phi, Callables psi) {
  checked_finite("beta_covariance", "beta", beta);
  const PowerIntegral integral(log_pdf, support, modes, beta);
  const std::vector<double> first = integral.means(phi), second = integral.means(psi);
  Eigen::MatrixXd result(static_cast<Eigen::Index>(first.size()), static_cast<Eigen::Index>(second.size()));
  for (std::size_t i = 0; i < first.size(); ++i) {
    for (std::size_t j = 0; j < second.size(); ++j) {
      result(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) =
          times_exp(integral([&](double t) { return (phi[i](t) - first[i]) * (psi[j](t) - second[j]); }),
                    integral.log_factor());
    }
  }
  return result;
}

std::vector<double> escort_means(FunctionRef<double(double)> log_pdf, std::span<const Interval> support,
                                 std::span<const double> modes, double beta, Callables psi) {
  return PowerIntegral(log_pdf, support, modes, beta).means(psi);
}

}  // namespace fenchel::detail
