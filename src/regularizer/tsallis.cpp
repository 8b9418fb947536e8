#include "fenchel/regularizer/tsallis.hpp"

#include <cmath>
#include <string>

#include "core/tsallis_term.hpp"
#include "fenchel/core/error.hpp"

namespace fenchel {
namespace {

double checked_alpha(const char* where, double alpha) {
  if (!(alpha > 0)) throw_domain_error(where, "alpha", "must be positive", alpha);
  return alpha;
}

double checked_temperature(const char* where, double temperature) {
  if (!(temperature > 0) || std::isinf(temperature)) {
    throw_domain_error(where, "temperature", "must be positive and finite", temperature);
  }
  return temperature;
}

/// sum_i w_i term(p_i).
template <class Term>
double weighted_sum(const char* where, std::span<const double> p, std::span<const double> weights,
                    Term term) {
  if (!weights.empty() && weights.size() != p.size()) {
    throw_invalid_argument(where, "weights.size()", "must be 0 or p.size() = " + std::to_string(p.size()),
                           static_cast<index_t>(weights.size()));
  }
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) sum += (weights.empty() ? 1.0 : weights[i]) * term(p[i]);
  return sum;
}

}  // namespace

Shannon::Shannon(double temperature) : temperature_(checked_temperature("shannon", temperature)) {}

Tsallis::Tsallis(double alpha, double temperature)
    : alpha_(checked_alpha("tsallis", alpha)), temperature_(checked_temperature("tsallis", temperature)) {}

double tsallis_negentropy(double alpha, std::span<const double> p, std::span<const double> weights) {
  const double am1 = checked_alpha("tsallis_negentropy", alpha) - 1;
  return weighted_sum("tsallis_negentropy", p, weights,
                      [am1](double x) { return detail::tsallis_term(am1, x); });
}

double tsallis_negentropy_alpha_gradient(double alpha, std::span<const double> p,
                                         std::span<const double> weights) {
  const double am1 = checked_alpha("tsallis_negentropy_alpha_gradient", alpha) - 1;
  return weighted_sum("tsallis_negentropy_alpha_gradient", p, weights,
                      [am1](double x) { return detail::tsallis_term_alpha_derivative(am1, x); });
}

}  // namespace fenchel
