#include "fenchel/loss/finite.hpp"

#include <string>

#include "core/fenchel_young_term.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/distribution/escort.hpp"

namespace fenchel {
namespace {

/// T times the loss at temperature one of f / T: a sum over atoms, term(am1, q, p, u) weighted by the
/// measure.
template <class Term>
LossAndGradient sum_of_terms(const char* where, const Tsallis& omega, const VectorScore& f,
                             const Finite& domain, const SparseCategorical& q, Term term) {
  if (q.size() != static_cast<index_t>(f.size())) {
    throw_invalid_argument(where, "q.size()", "must equal f.size() = " + std::to_string(f.size()), q.size());
  }
  const FiniteDensity p = predict_density(omega, f, domain);
  LossAndGradient result{0, std::vector<double>(f.size())};
  std::size_t next = 0;  // in the support of q
  for (std::size_t i = 0; i < f.size(); ++i) {
    const bool charged = next < q.support().size() && q.support()[next] == static_cast<index_t>(i);
    const double target = charged ? q.probabilities()[next++] : 0.0, weight = domain.weight(i);
    const double u = (f.values()[i] - p.top - p.normalizer_offset) / omega.temperature();
    if (weight > 0) {
      result.value += weight * term(omega.alpha() - 1, target / weight, p.density[i], u);
    } else if (charged) {
      result.value = kInfinity;
    }
    result.gradient[i] = weight * p.density[i] - target;
  }
  result.value *= omega.temperature();
  return result;
}

}  // namespace

LossAndGradient fenchel_young(const Tsallis& omega, const VectorScore& f, const Finite& domain,
                              const SparseCategorical& q) {
  return sum_of_terms("fenchel_young", omega, f, domain, q, detail::fenchel_young_term);
}

LossAndGradient fenchel_young(const Tsallis& omega, const VectorScore& f, const Finite& domain,
                              index_t atom) {
  if (atom < 0 || atom >= static_cast<index_t>(f.size())) {
    throw_domain_error("fenchel_young", "atom", "must be in [0, " + std::to_string(f.size()) + ")",
                       static_cast<double>(atom));
  }
  std::vector<double> certain(f.size());
  certain[static_cast<std::size_t>(atom)] = 1;
  return fenchel_young(omega, f, domain, SparseCategorical(certain));
}

LossAndGradient cross_omega(const Tsallis& omega, const VectorScore& f, const Finite& domain,
                            const SparseCategorical& q) {
  return sum_of_terms("cross_omega", omega, f, domain, q, detail::cross_omega_term);
}

void fenchel_young_hessian(const Tsallis& omega, const VectorScore& f, const Finite& domain,
                           Rows<double> hessian) {
  const auto size = static_cast<index_t>(f.size());
  std::vector<double> atoms(f.size() * f.size());  // row i is the indicator of atom i
  for (std::size_t i = 0; i < f.size(); ++i) atoms[i * f.size() + i] = 1;
  const Rows<const double> indicator(atoms.data(), size, size);
  const std::vector<double> density = predict_density(omega, f, domain).density;
  beta_covariance(density, 2 - omega.alpha(), indicator, indicator, hessian, domain.weights());
  for (index_t i = 0; i < size; ++i) {
    for (double& entry : hessian[i]) entry /= omega.temperature();
  }
}

}  // namespace fenchel
