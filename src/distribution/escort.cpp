#include "fenchel/distribution/escort.hpp"

#include <cmath>
#include <string>

#include "core/compensated_sum.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/distribution/sparse_categorical.hpp"

namespace fenchel {
namespace {

void require_size(std::string_view where, std::string_view name, index_t got, index_t expected) {
  if (got == expected) return;
  throw_invalid_argument(where, name, "must equal " + std::to_string(expected), got);
}

struct EscortMass {
  std::vector<double> mass;  ///< w p^beta, relative to the largest p^beta
  double total;
  double log_largest;  ///< log of the largest p^beta
};

/// Powers relative to the largest one, so that none overflows for beta far from 1.
EscortMass escort_mass(std::string_view where, double beta, std::span<const double> p,
                       std::span<const double> weights) {
  if (!std::isfinite(beta)) throw_domain_error(where, "beta", "must be finite", beta);
  if (!weights.empty()) {
    require_size(where, "weights.size()", static_cast<index_t>(weights.size()),
                 static_cast<index_t>(p.size()));
  }
  double largest = -kInfinity;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (!(p[i] >= 0)) {
      throw_domain_error(where, indexed("p", static_cast<index_t>(i)), "must not be negative", p[i]);
    }
    if (p[i] > 0) largest = std::max(largest, beta * std::log(p[i]));
  }
  EscortMass result{std::vector<double>(p.size()), 0, largest};
  detail::CompensatedSum total;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p[i] == 0) continue;
    result.mass[i] = (weights.empty() ? 1.0 : weights[i]) * std::exp(beta * std::log(p[i]) - largest);
    total.add(result.mass[i]);
  }
  result.total = total.total();
  return result;
}

/// The mean of each column under the escort distribution.
std::vector<double> escort_mean(const EscortMass& escort, Rows<const double> phi) {
  std::vector<double> mean(static_cast<std::size_t>(phi.cols));
  for (index_t i = 0; i < phi.rows; ++i) {
    const double share = escort.mass[static_cast<std::size_t>(i)] / escort.total;
    if (share == 0) continue;
    for (std::size_t m = 0; m < mean.size(); ++m) mean[m] += share * phi[i][m];
  }
  return mean;
}

}  // namespace

std::vector<double> escort(std::span<const double> p, double beta, std::span<const double> weights) {
  EscortMass result = escort_mass("escort", beta, p, weights);
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p[i] > 0) result.mass[i] = std::exp(beta * std::log(p[i]) - result.log_largest) / result.total;
  }
  return result.mass;
}

SparseCategorical escort(const SparseCategorical& p, double beta) {
  std::vector<double> dense(static_cast<std::size_t>(p.size()));
  const std::vector<double> values = escort(p.probabilities(), beta);
  for (std::size_t k = 0; k < values.size(); ++k) dense[static_cast<std::size_t>(p.support()[k])] = values[k];
  return SparseCategorical(dense);
}

void beta_covariance(std::span<const double> p, double beta, Rows<const double> phi, Rows<const double> psi,
                     Rows<double> out, std::span<const double> weights) {
  constexpr auto kWhere = "beta_covariance";
  require_size(kWhere, "phi.rows", phi.rows, static_cast<index_t>(p.size()));
  require_size(kWhere, "psi.rows", psi.rows, static_cast<index_t>(p.size()));
  require_size(kWhere, "out.rows", out.rows, phi.cols);
  require_size(kWhere, "out.cols", out.cols, psi.cols);
  const EscortMass escort = escort_mass(kWhere, beta, p, weights);
  const std::vector<double> phi_mean = escort_mean(escort, phi), psi_mean = escort_mean(escort, psi);
  for (index_t m = 0; m < out.rows; ++m) {
    for (double& entry : out[m]) entry = 0;
  }
  const double scale = std::exp(escort.log_largest);
  for (index_t i = 0; i < phi.rows; ++i) {
    const double mass = scale * escort.mass[static_cast<std::size_t>(i)];
    if (mass == 0) continue;
    for (std::size_t m = 0; m < phi_mean.size(); ++m) {
      const double left = mass * (phi[i][m] - phi_mean[m]);
      const auto row = out[static_cast<index_t>(m)];
      for (std::size_t k = 0; k < psi_mean.size(); ++k) row[k] += left * (psi[i][k] - psi_mean[k]);
    }
  }
}

}  // namespace fenchel
