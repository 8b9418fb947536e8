#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"
#include "fenchel/distribution/integers/sparse_integer_gaussian.hpp"
#include "fenchel/distribution/integers/sparse_poisson.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/line/beta_laplace.hpp"
#include "fenchel/distribution/line/capped_parabola.hpp"
#include "fenchel/distribution/line/capped_triangular.hpp"
#include "fenchel/distribution/line/location_scale.hpp"
#include "fenchel/distribution/line/numeric_density.hpp"
#include "fenchel/distribution/line/smooth_parabola.hpp"
#include "fenchel/distribution/line/smooth_triangular.hpp"
#include "fenchel/distribution/line/truncated_gaussian.hpp"

namespace CLI {
class App;
}

namespace fenchel::cli {

/// A distribution of any family that the command line knows: on the line, on the integers or in R^N.
using AnyDistribution =
    std::variant<BetaGaussian, BetaLaplace, TruncatedGaussian, LocationScale, CappedTriangular,
                 CappedParabola, SmoothTriangular, SmoothParabola, NumericDensity, SparsePoisson,
                 SparseIntegerGaussian, MultivariateBetaGaussian>;

/// A family by its name, and those of its parameters that were given.
struct FamilyOptions {
  std::string family;
  std::optional<double> alpha{}, b{}, sigma{}, kappa{}, gamma{};
  std::vector<double> mu{}, sigma2{};  ///< lists in R^N: sigma2 is N variances, or N x N by rows
  std::string score{};                 ///< an expression in t, or g(u) of a location-scale family
  std::vector<double> interval{};      ///< two ends
};

/// FAMILY and its parameters. The help lists the families with the parameters that each takes.
void add_family_options(CLI::App& app, FamilyOptions& options);

/// All parameters that the family takes, and no others: those that were not given have their defaults. Throws
/// UsageError as make_distribution does.
[[nodiscard]] FamilyOptions complete(FamilyOptions options);

/// Throws UsageError for a family that is not known (naming the nearest) and for a parameter that the family
/// does not take or lacks; what the library says of a value stays as it is.
[[nodiscard]] AnyDistribution make_distribution(const FamilyOptions& options);

}  // namespace fenchel::cli
