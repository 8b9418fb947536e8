#include "fenchel/predict/absolute.hpp"

#include <cmath>

#include "fenchel/core/deformed.hpp"
#include "fenchel/core/error.hpp"

namespace fenchel {

BetaLaplace predict(const Tsallis& omega, const AbsoluteScore& f, Line) {
  if (!(omega.alpha() > 0.5))
    throw_domain_error("predict", "alpha", "must be above 1/2 for an AbsoluteScore on the line",
                       omega.alpha());
  return BetaLaplace(omega.alpha(), f.mu(), f.b() * omega.temperature());
}

double conjugate(const Tsallis& omega, const AbsoluteScore& f, Line domain) {
  const BetaLaplace p = predict(omega, f, domain);
  const double am1 = p.alpha() - 1, mean_score = -absolute_moment(p, 1) / p.b();
  if (std::isinf(am1)) return omega.temperature() * mean_score;
  const double normalizer = -deformed_log_of_exp(am1, p.log_peak());
  return omega.temperature() * (am1 * mean_score + normalizer) / p.alpha();
}

}  // namespace fenchel
