#pragma once

/// `escort` and `beta_covariance` of probabilities on a finite measure.

#include <span>
#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/core/rows.hpp"

namespace fenchel {

/// The escort distribution of order beta [SCD22, Section 4.2]: p^beta / int p^beta on the support of p, 0 off
/// it for every beta (0^0 is 0). Densities with respect to a finite measure; no weights is the counting
/// measure. Their mass is one to a few roundings, however many they are. Throws std::domain_error for a beta
/// that is not finite or a negative p, std::invalid_argument when the sizes differ.
[[nodiscard]] FENCHEL_EXPORT std::vector<double> escort(std::span<const double> p, double beta,
                                                        std::span<const double> weights = {});

/// The generalized covariance cov_{p,beta}(phi, psi) = int p^beta (phi - E phi)(psi - E psi)^T, E under the
/// escort distribution of order beta [SCD22, Section 4.2; docs/math.md 2, E19]. Row i of phi and psi belongs
/// to atom i; out is phi.cols x psi.cols. At beta = 1 it is the covariance; at beta = 2 - alpha it is the
/// Jacobian of E_p[psi] and the Hessian of the Fenchel-Young loss. Throws as escort does.
FENCHEL_EXPORT void beta_covariance(std::span<const double> p, double beta, Rows<const double> phi,
                                    Rows<const double> psi, Rows<double> out,
                                    std::span<const double> weights = {});

}  // namespace fenchel
