#include "fenchel/core/beta_gaussian_tail.hpp"

#include "core/beta_gaussian/line_tail.hpp"

namespace fenchel {

double upper_tail(const BetaGaussianConstants& c, double x) { return detail::line_tail(c, x); }

double log_upper_tail(const BetaGaussianConstants& c, double x) { return detail::log_line_tail(c, x); }

double upper_tail_quantile(const BetaGaussianConstants& c, double u) {
  return detail::line_tail_quantile(c, u);
}

}  // namespace fenchel
