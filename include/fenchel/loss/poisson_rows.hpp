#pragma once

/// `sparse_poisson_rows`: many sparse Poissons with their moments, entropies, losses and derivatives.

#include "fenchel/core/config.hpp"
#include "fenchel/core/rows.hpp"

/// Sparse Poisson distributions in bulk, with derivatives [SCD22, Section 5; docs/math.md 3].
namespace fenchel {

/// What is asked of SparsePoisson(alpha, mu), at a number x or of the distribution as a whole.
enum class PoissonStatistic {
  log_pmf,   ///< -inf where x is no integer of the support
  pmf,       ///< 0 there
  cdf,       ///< P(X <= x)
  quantile,  ///< the smallest integer with cdf >= x; NaN for x outside of [0, 1], +inf where there is none
  loss,      ///< the Fenchel-Young loss of the count x
  mean,
  variance,
  mode,
  entropy,  ///< Tsallis entropy of an order; Shannon's for order 1
};

/// Results, of the shape of `at`. Derivatives are 0 off the support and for what is an integer, and NaN where
/// the value is infinite.
struct PoissonRows {
  Rows<double> value;
  Rows<double> d_mu, d_alpha;
  Rows<double> d2_mu{}, d_mu_alpha{}, d2_alpha{};  ///< second ones: all three, or none if d2_mu has no data
};

/// The statistic of SparsePoisson(alpha[i], mu[i]) at each number of row i of `at`, which is not read for the
/// distribution as a whole. A NaN among alpha, mu or `at` gives NaN. Throws std::domain_error for what is no
/// parameter of a SparsePoisson, an order that is not positive and, for the loss, an x that is no natural
/// number; std::invalid_argument for shapes that do not fit.
FENCHEL_EXPORT void sparse_poisson_rows(PoissonStatistic statistic, PerRow alpha, PerRow mu,
                                        Rows<const double> at, const PoissonRows& out, double order = 1);

}  // namespace fenchel
