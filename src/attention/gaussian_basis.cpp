#include "fenchel/attention/gaussian_basis.hpp"

#include <string>
#include <utility>

#include "attention/gaussian_function.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/error.hpp"

namespace fenchel {

GaussianBasis::GaussianBasis(std::vector<double> mu, std::vector<double> sigma)
    : mu_(std::move(mu)), sigma_(std::move(sigma)) {
  constexpr auto kWhere = "gaussian_basis";
  if (mu_.empty()) throw_invalid_argument(kWhere, "mu", "must not be empty", index_t{0});
  if (sigma_.size() != mu_.size()) {
    throw_invalid_argument(kWhere, "sigma.size()", "must equal mu.size() = " + std::to_string(mu_.size()),
                           static_cast<index_t>(sigma_.size()));
  }
  for (std::size_t j = 0; j < mu_.size(); ++j) {
    const auto place = static_cast<index_t>(j);
    detail::checked_finite(kWhere, indexed("mu", place), mu_[j]);
    detail::checked_positive(kWhere, indexed("sigma", place), sigma_[j]);
    variances_.push_back(detail::checked_positive(kWhere, indexed("sigma^2", place), sigma_[j] * sigma_[j]));
  }
}

GaussianBasis GaussianBasis::linearly_spaced(index_t count, double lower, double upper,
                                             std::span<const double> sigma) {
  constexpr auto kWhere = "gaussian_basis::linearly_spaced";
  if (sigma.empty()) throw_invalid_argument(kWhere, "sigma", "must not be empty", index_t{0});
  const auto kinds = static_cast<index_t>(sigma.size());
  if (count < 1 || count % kinds != 0) {
    throw_invalid_argument(kWhere, "count",
                           "must be a positive multiple of the number of sigma, " + std::to_string(kinds),
                           count);
  }
  detail::checked_finite(kWhere, "lower", lower);
  detail::checked_finite(kWhere, "upper", upper);
  const index_t each = count / kinds;
  std::vector<double> mu, all;
  for (const double deviation : sigma) {
    for (index_t j = 0; j < each; ++j) {
      const double share = each == 1 ? 0.5 : static_cast<double>(j) / static_cast<double>(each - 1);
      mu.push_back(lower + share * (upper - lower));
      all.push_back(deviation);
    }
  }
  return {std::move(mu), std::move(all)};
}

GaussianBasis GaussianBasis::moved(double by) const {
  std::vector<double> mu = mu_;
  for (double& m : mu) m += by;
  return {std::move(mu), sigma_};
}

cpu::GaussianFunctions GaussianBasis::functions() const noexcept {
  return {{mu_.data(), size(), 1}, {variances_.data(), size(), 1}};
}

Eigen::VectorXd evaluate(const GaussianBasis& psi, double t) {
  Eigen::VectorXd value(psi.size());
  for (index_t j = 0; j < psi.size(); ++j) {
    const auto place = static_cast<std::size_t>(j);
    value[j] = detail::gaussian_function(t, psi.mu()[place], psi.sigma()[place]);
  }
  return value;
}

}  // namespace fenchel
