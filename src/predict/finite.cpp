#include "fenchel/predict/finite.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/distribution/escort.hpp"

namespace fenchel {

void detail::check_weights(const VectorScore& f, const Finite& domain) {
  const auto weights = domain.weights();
  if (!weights.empty() && weights.size() != f.size()) {
    throw_invalid_argument("predict", "domain.weights().size()",
                           "must be 0 or f.size() = " + std::to_string(f.size()),
                           static_cast<index_t>(weights.size()));
  }
}

FiniteDensity predict_density(const Tsallis& omega, const VectorScore& f, const Finite& domain) {
  detail::check_weights(f, domain);
  double top = -kInfinity;
  for (std::size_t i = 0; i < f.size(); ++i) {
    if (domain.weight(i) > 0) top = std::max(top, f.values()[i]);
  }
  if (top == -kInfinity)
    throw_domain_error("predict", "the largest score of positive weight", "must be finite", top);

  const double temperature = omega.temperature(), am1 = omega.alpha() - 1;
  std::vector<double> density(f.size());
  for (std::size_t i = 0; i < f.size(); ++i) {
    density[i] = domain.weight(i) > 0 ? (f.values()[i] - top) / temperature : -kInfinity;
  }
  const Normalization found = normalize(am1, density, domain.weights());
  return {std::move(density), top, temperature * found.offset, temperature * found.threshold};
}

SparseCategorical predict(const Tsallis& omega, const VectorScore& f, const Finite& domain) {
  std::vector<double> probabilities = predict_density(omega, f, domain).density;
  for (std::size_t i = 0; i < f.size(); ++i) probabilities[i] *= domain.weight(i);
  return SparseCategorical(probabilities);
}

double conjugate(const Tsallis& omega, const VectorScore& f, const Finite& domain) {
  const FiniteDensity p = predict_density(omega, f, domain);
  double mean = 0;  // of f - top
  for (std::size_t i = 0; i < f.size(); ++i) {
    if (p.density[i] > 0) mean += domain.weight(i) * p.density[i] * (f.values()[i] - p.top);
  }
  const double share = 1 / omega.alpha();
  return p.top + ((1 - share) * mean + share * p.normalizer_offset);
}

double normalizer(const Tsallis& omega, const VectorScore& f, const Finite& domain) {
  const FiniteDensity p = predict_density(omega, f, domain);
  return p.top + p.normalizer_offset;
}

std::vector<double> normalizer_gradient(const Tsallis& omega, const VectorScore& f, const Finite& domain) {
  const std::vector<double> density = predict_density(omega, f, domain).density;
  std::vector<double> gradient = escort(density, 2 - omega.alpha(), domain.weights());
  for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] *= domain.weight(i);
  return gradient;
}

void normalizer_hessian(const Tsallis& omega, const VectorScore& f, const Finite& domain,
                        Rows<double> hessian) {
  const auto size = static_cast<index_t>(f.size());
  if (hessian.rows != size || hessian.cols != size) {
    throw_invalid_argument("normalizer_hessian", "hessian",
                           "must have as many rows and columns as f, " + std::to_string(size),
                           hessian.rows != size ? hessian.rows : hessian.cols);
  }
  const double beta = 2 - omega.alpha();
  const std::vector<double> density = predict_density(omega, f, domain).density;
  const std::vector<double> share = escort(density, beta, domain.weights());  // p^beta / Z
  // h_i = w_i beta p_i^{2 beta - 1} / (Z T), so that the Hessian is sum_i h_i (e_i - e)(e_i - e)^T.
  std::vector<double> h(f.size());
  double total = 0;
  for (std::size_t i = 0; i < f.size(); ++i) {
    if (density[i] > 0) {
      h[i] = domain.weight(i) * beta * share[i] * std::exp((beta - 1) * std::log(density[i])) /
             omega.temperature();
    }
    total += h[i];
  }
  for (index_t i = 0; i < size; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const double e_i = domain.weight(row) * share[row];
    for (std::size_t j = 0; j < f.size(); ++j) {
      const double e_j = domain.weight(j) * share[j];
      hessian[i][j] = (row == j ? h[j] : 0.0) - h[row] * e_j - e_i * h[j] + total * e_i * e_j;
    }
  }
}

}  // namespace fenchel
