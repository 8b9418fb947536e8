#include "fenchel/loss/scaled_gaussian.hpp"

#include "distribution/line/bounded_density.hpp"

namespace fenchel {

double detail::mean_scale_derivative(const TruncatedGaussian& p) {
  const auto integrand = [&p](double t) { return pdf(p, t) * scale_derivative((t - p.mu()) / p.sigma()); };
  return bounded_integral(integrand, support(p), p.mu());
}

}  // namespace fenchel
