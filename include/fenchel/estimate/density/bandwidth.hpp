#pragma once

/// Bandwidths of kernel densities: Silverman's rule, Sheather and Jones, two cross-validations.

#include <span>
#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/core/rows.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/estimate/density/kernel_density.hpp"

namespace fenchel {

/// How a bandwidth is found. A row of weight w counts as w rows; W is the weight of all.
enum class BandwidthRule {
  silverman,       ///< the best one for normal data, without a search
  sheather_jones,  ///< by estimates of the curvature, on the line
  likelihood,      ///< maximises likelihood_score(): not robust, one far row widens all
  least_squares,   ///< minimises least_squares_score(): unbiased, variable, drawn to 0 by ties
};

/// A kernel density with the bandwidth that a rule found for it.
struct SelectedDensity {
  KernelDensity density;
  /// Of the cross-validations: the best bandwidth is the least or the largest that was tried, which ties and
  /// rounded data lead to.
  bool at_end;
};

/// Silverman's rule [B. Silverman, Density Estimation, 1986]: on the line 0.9 min(s, IQR / 1.34) W^{-1/5}
/// (3.31), in R^N s_j (4 / ((N + 2) W))^{1/(N + 4)} (4.14). For alpha > 1 the kernel's roughness replaces
/// the Gaussian's (docs/math.md 10.4). Throws std::domain_error where a column does not vary, W <= 1, and as
/// KernelDensity does.
[[nodiscard]] FENCHEL_EXPORT std::vector<double> silverman_bandwidth(Rows<const double> points, double alpha,
                                                                     std::span<const double> weights = {});

/// The bandwidth that solves the equation of S. Sheather and C. Jones, J. R. Stat. Soc. B 53 (1991), as R's
/// bw.SJ(method = "ste") does, with exact sums in place of binned ones. Throws std::domain_error as above,
/// and where the data are too few to estimate the curvature.
[[nodiscard]] FENCHEL_EXPORT double sheather_jones_bandwidth(std::span<const double> points, double alpha,
                                                             std::span<const double> weights = {});

/// The kernel density of a rule. The cross-validations search one factor of the bandwidths of Silverman's
/// rule, from 1/32 to 4, and on until the likelihood is finite: the best on a grid, then by sections.
[[nodiscard]] FENCHEL_EXPORT SelectedDensity select_bandwidth(
    BandwidthRule rule, Rows<const double> points, double alpha, std::span<const double> weights = {},
    const Interval& domain = Interval(-kInfinity, kInfinity));

}  // namespace fenchel
