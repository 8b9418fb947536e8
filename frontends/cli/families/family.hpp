#pragma once

#include <Eigen/Core>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/tables/record.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"
#include "fenchel/distribution/euclidean/multivariate_numeric_density.hpp"
#include "fenchel/distribution/integers/integer_table.hpp"
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
#include "fenchel/estimate/goodness/compare.hpp"
#include "fenchel/estimate/statistics/collect.hpp"

namespace CLI {
class App;
}

namespace fenchel::cli {

/// A distribution of any family that the command line knows: on the line, on the integers or in R^N.
using AnyDistribution =
    std::variant<BetaGaussian, BetaLaplace, TruncatedGaussian, LocationScale, CappedTriangular,
                 CappedParabola, SmoothTriangular, SmoothParabola, NumericDensity, IntegerTable,
                 SparsePoisson, SparseIntegerGaussian, MultivariateBetaGaussian, MultivariateNumericDensity>;

/// A distribution of points.
template <class P>
concept Multivariate = std::same_as<typename P::value_type, Eigen::VectorXd>;

/// A family by its name, and those of its parameters that were given.
struct FamilyOptions {
  std::string family;
  std::string regularizer{};  ///< of a score: tsallis, total-variation or sobolev
  std::string domain{};       ///< of a score: integers or naturals, the line where it is empty
  std::optional<double> alpha{}, gamma{}, kappa{};
  std::vector<double> mu{};  ///< one number, in R^N its N coordinates
  std::optional<double> sigma2{};
  std::vector<double> Sigma{};  ///< N numbers, a diagonal, or N x N by rows
  std::optional<double> b{}, sigma{}, lower{}, upper{};
  std::string score{};  ///< an expression in t, x and y or x, y and z, or g(u) of a location-scale family
  std::vector<double> interval{};  ///< two ends for each coordinate
};

/// Calls f(name, symbol, member) for every parameter that there is, in the order of all argument lists.
template <class F>
void for_each_parameter(F f) {
  f("regularizer", "regularizer", &FamilyOptions::regularizer);
  f("domain", "domain", &FamilyOptions::domain);
  f("alpha", "\u03b1", &FamilyOptions::alpha);
  f("gamma", "\u03b3", &FamilyOptions::gamma);
  f("kappa", "\u03ba", &FamilyOptions::kappa);
  f("mu", "\u03bc", &FamilyOptions::mu);
  f("sigma2", "\u03c3\u00b2", &FamilyOptions::sigma2);
  f("Sigma", "\u03a3", &FamilyOptions::Sigma);
  f("b", "b", &FamilyOptions::b);
  f("sigma", "\u03c3", &FamilyOptions::sigma);
  f("lower", "lower", &FamilyOptions::lower);
  f("upper", "upper", &FamilyOptions::upper);
  f("score", "score", &FamilyOptions::score);
  f("interval", "", &FamilyOptions::interval);
}
[[nodiscard]] inline bool is_given(const std::optional<double>& value) { return value.has_value(); }
template <class List>
[[nodiscard]] bool is_given(const List& values) {
  return !values.empty();
}

/// The values for which a fit exists: finite ones from `least` on, which is one of them or not.
struct Bound {
  double least;
  bool included;
  std::string text;  ///< "above 1/3"
};
/// Throws UsageError, "--alpha must be finite and above 1/3, got 0.2".
void check_bound(std::string_view name, double value, const Bound& bound);

/// What `fenchel fit` is asked for besides the fit.
struct FitQuestions {
  std::optional<double> level{};  ///< of confidence intervals
  index_t bootstrap = 0;          ///< replicates
  std::uint64_t seed = 0;
};

/// How a family is fitted.
struct FamilyFit {
  /// The result of `fenchel fit`, without the name of the family. A shape that is not there is estimated.
  Record (*run)(const FamilyOptions& shape, const Data& data, const FitQuestions& questions) = nullptr;
  /// The same for compare, under this name; of one column.
  Candidate (*candidate)(const std::string& name, const FamilyOptions& shape) = nullptr;
  /// The fits to groups of rows of a value and the number of a group; of families of moments and of counts.
  Record (*by)(const FamilyOptions& shape, const Data& data) = nullptr;
  Bound (*bound)(index_t columns) = nullptr;  ///< of the regularizer's parameter
  bool estimates = false;                     ///< that parameter too, where it is "auto"
  bool several = false;                       ///< columns
};

/// A family: what it takes with the defaults, how a member is made, and how it is fitted, if it is.
struct Family {
  FamilyOptions defaults;
  AnyDistribution (*make)(const FamilyOptions&);
  FamilyFit fit = {};
  std::string_view general = {};  ///< the family that takes other alphas than this one's
};
/// The one table of families.
[[nodiscard]] std::span<const Family> families();

/// student is beta-gaussian with any alpha below 1, the other named members have one alpha.
[[nodiscard]] bool is_student(const Family& family);
[[nodiscard]] bool fixes_alpha(const Family& family);

/// FAMILY and its parameters. The help lists the families with the parameters that each takes.
void add_family_options(CLI::App& app, FamilyOptions& options);

/// All parameters that the family takes, and no others: those that were not given have their defaults. Throws
/// UsageError as make_distribution does.
[[nodiscard]] FamilyOptions complete(FamilyOptions options);

/// Of a complete family, by their names.
[[nodiscard]] Record parameters_record(const FamilyOptions& family);

/// Throws UsageError for a family that is not known (naming the nearest) and for a parameter that the family
/// does not take or lacks; what the library says of a value stays as it is.
[[nodiscard]] AnyDistribution make_distribution(const FamilyOptions& options);

}  // namespace fenchel::cli
