#pragma once

#include <string>
#include <vector>

namespace fenchel::report {

/// What a density is by sums or quadrature alone; moments are NaN on a set without numbers.
struct Integrals {
  double mass, mean, variance, omega;
};

/// A row of the paper's table of distributions: its printed forms, the library's, and integrals.
struct DistributionRow {
  std::string name, domain, score;  ///< HTML
  double alpha;
  std::string parameters, support;        ///< HTML
  double printed_normalizer, normalizer;  ///< A at alpha = 1, tau at alpha = 2
  double mean, variance;                  ///< the variance's trace on R^N
  double printed_omega, omega;            ///< Omega_alpha
  Integrals integrals;
};

[[nodiscard]] std::vector<DistributionRow> distribution_rows();

}  // namespace fenchel::report
