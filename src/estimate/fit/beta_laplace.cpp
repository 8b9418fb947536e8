#include "fenchel/estimate/fit/beta_laplace.hpp"

#include <cmath>

#include "estimate/fit/location_fit.hpp"
#include "fenchel/core/error.hpp"

namespace fenchel {
namespace {

constexpr auto kWhere = "fit_beta_laplace";

void check_alpha(double alpha) {
  if (!(alpha > 0.5) || std::isinf(alpha))
    throw_domain_error(kWhere, "alpha", "must be finite and above 1/2", alpha);
}

}  // namespace

Fit<BetaLaplace> fit_beta_laplace(double alpha, const AbsoluteMoments& moments) {
  check_alpha(alpha);
  detail::check_deviation(kWhere, moments);
  const auto p = BetaLaplace::from_mean_deviation(alpha, moments.centre(), moments.moment(0));
  // b is proportional to spread^alpha.
  return detail::deviation_fit(p, alpha, tsallis_entropy(p, alpha), moments.weight());
}

Fit<BetaLaplace> fit_beta_laplace(double alpha, const Data& data) {
  check_alpha(alpha);
  return fit_beta_laplace(alpha, detail::deviation_of(data));
}

}  // namespace fenchel
