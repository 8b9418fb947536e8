#include "cli/families/family.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "cli/families/expression.hpp"
#include "cli/program/session.hpp"
#include "cli/program/usage.hpp"
#include "cli/tables/numbers.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/predict/function.hpp"
#include "fenchel/regularizer/tsallis.hpp"
#include "fenchel/score/function_score.hpp"
#include "fenchel/score/location_scale_score.hpp"

namespace fenchel::cli {
namespace {

constexpr std::string_view kFormula = "FORMULA";  // stands for a score that must be given

using Parameters = const FamilyOptions&;

struct Family {
  FamilyOptions defaults;  ///< its name, and what it takes
  AnyDistribution (*make)(Parameters);
  std::string_view general = {};  ///< the family that takes other alphas than this one's
};

AnyDistribution make_beta_gaussian(Parameters o) { return BetaGaussian(*o.alpha, o.mu[0], o.sigma2[0]); }
AnyDistribution make_beta_laplace(Parameters o) { return BetaLaplace(*o.alpha, o.mu[0], *o.b); }

/// sigma is squared before the library sees it.
double positive_sigma(Parameters o) {
  if (!(*o.sigma > 0)) throw UsageError(fmt::format("--sigma must be positive, got {}", *o.sigma));
  return *o.sigma;
}

/// f(t) = -|t - mu| / sigma.
template <class P>
AnyDistribution make_triangular(Parameters o) {
  return P(*o.gamma, o.mu[0], positive_sigma(o));
}
/// f(t) = -(t - mu)^2 / (2 sigma^2).
template <class P>
AnyDistribution make_parabola(Parameters o) {
  return P(*o.gamma, o.mu[0], positive_sigma(o) * *o.sigma);
}

AnyDistribution make_location_scale(Parameters o) {
  const Expression g("--score", o.score);
  return LocationScale(LocationScaleScore(
      g, [g](double u) { return g.derivative(u); }, o.mu[0], *o.sigma));
}

AnyDistribution make_score(Parameters o) {
  return predict(Tsallis(*o.alpha), FunctionScore(Expression("--score", o.score)),
                 Interval(o.interval[0], o.interval[1]));
}

AnyDistribution make_multivariate(Parameters o) {
  const auto dimension = static_cast<index_t>(o.mu.size());
  const Eigen::Map<const Eigen::VectorXd> mu(o.mu.data(), dimension);
  if (o.sigma2.size() == o.mu.size()) {
    return MultivariateBetaGaussian::diagonal(*o.alpha, mu,
                                              Eigen::Map<const Eigen::VectorXd>(o.sigma2.data(), dimension));
  }
  return MultivariateBetaGaussian(
      *o.alpha, mu, Eigen::Map<const Eigen::MatrixXd>(o.sigma2.data(), dimension, dimension).transpose());
}

const std::vector<Family>& families() {
  static const std::vector<Family> all{
      {{.family = "beta-gaussian", .alpha = 2, .mu = {0}, .sigma2 = {1}}, make_beta_gaussian},
      {{.family = "gaussian", .alpha = 1, .mu = {0}, .sigma2 = {1}}, make_beta_gaussian, "beta-gaussian"},
      {{.family = "student", .alpha = 0.5, .mu = {0}, .sigma2 = {1}}, make_beta_gaussian, "beta-gaussian"},
      {{.family = "triweight", .alpha = 4.0 / 3, .mu = {0}, .sigma2 = {1}},
       make_beta_gaussian,
       "beta-gaussian"},
      {{.family = "biweight", .alpha = 1.5, .mu = {0}, .sigma2 = {1}}, make_beta_gaussian, "beta-gaussian"},
      {{.family = "parabola", .alpha = 2, .mu = {0}, .sigma2 = {1}}, make_beta_gaussian, "beta-gaussian"},
      {{.family = "multivariate-beta-gaussian", .alpha = 2, .mu = {0, 0}, .sigma2 = {1, 1}},
       make_multivariate},
      {{.family = "beta-laplace", .alpha = 2, .b = 1, .mu = {0}}, make_beta_laplace},
      {{.family = "laplace", .alpha = 1, .b = 1, .mu = {0}}, make_beta_laplace, "beta-laplace"},
      {{.family = "triangular", .alpha = 2, .b = 1, .mu = {0}}, make_beta_laplace, "beta-laplace"},
      {{.family = "truncated-gaussian", .kappa = 2, .mu = {0}, .sigma2 = {1}},
       [](Parameters o) -> AnyDistribution { return TruncatedGaussian(*o.kappa, o.mu[0], o.sigma2[0]); }},
      {{.family = "location-scale", .sigma = 1, .mu = {0}, .score = std::string(kFormula)},
       make_location_scale},
      {{.family = "capped-triangular", .sigma = 1, .gamma = 1, .mu = {0}}, make_triangular<CappedTriangular>},
      {{.family = "capped-parabola", .sigma = 1, .gamma = 1, .mu = {0}}, make_parabola<CappedParabola>},
      {{.family = "smooth-triangular", .sigma = 1, .gamma = 1, .mu = {0}}, make_triangular<SmoothTriangular>},
      {{.family = "smooth-parabola", .sigma = 1, .gamma = 1, .mu = {0}}, make_parabola<SmoothParabola>},
      {{.family = "sparse-poisson", .alpha = 2, .mu = {1}},
       [](Parameters o) -> AnyDistribution { return SparsePoisson(*o.alpha, o.mu[0]); }},
      {{.family = "sparse-integer-gaussian", .alpha = 2, .mu = {0}, .sigma2 = {1}},
       [](Parameters o) -> AnyDistribution { return SparseIntegerGaussian(*o.alpha, o.mu[0], o.sigma2[0]); }},
      {{.family = "score", .alpha = 2, .score = std::string(kFormula), .interval = {-kInfinity, kInfinity}},
       make_score},
  };
  return all;
}

/// Calls f(name, member) for every parameter that there is.
template <class F>
void for_each_parameter(F f) {
  f("--alpha", &FamilyOptions::alpha);
  f("--kappa", &FamilyOptions::kappa);
  f("--mu", &FamilyOptions::mu);
  f("--sigma2", &FamilyOptions::sigma2);
  f("--b", &FamilyOptions::b);
  f("--sigma", &FamilyOptions::sigma);
  f("--gamma", &FamilyOptions::gamma);
  f("--score", &FamilyOptions::score);
  f("--interval", &FamilyOptions::interval);
}

/// student is beta-gaussian with any alpha below 1, the other named members have one alpha.
bool is_student(const Family& family) { return family.defaults.family == "student"; }
bool fixes_alpha(const Family& family) { return !family.general.empty() && !is_student(family); }

bool is_given(const std::optional<double>& value) { return value.has_value(); }
template <class List>
bool is_given(const List& values) {
  return !values.empty();
}

std::string text_of(const std::optional<double>& value) {
  return *value == 4.0 / 3 ? "4/3" : fmt::format("{}", *value);
}
std::string text_of(const std::string& text) { return text; }
std::string text_of(const std::vector<double>& values) { return fmt::format("{}", fmt::join(values, ",")); }

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const Family& family : families()) names.push_back(family.defaults.family);
  return names;
}

const Family& find_family(const std::string& name) {
  for (const Family& family : families())
    if (family.defaults.family == name) return family;
  const std::string hint = did_you_mean(name, family_names());
  throw UsageError(fmt::format("unknown family '{}'{}", name, hint.empty() ? "; --help lists them" : hint));
}

void check_alpha(const Family& family, double alpha) {
  if (family.general.empty()) return;
  if (is_student(family) ? alpha < 1 : alpha == *family.defaults.alpha) return;
  throw UsageError(fmt::format("{} has alpha {}, got --alpha {}; {} takes any", family.defaults.family,
                               is_student(family) ? "below 1" : text_of(family.defaults.alpha), alpha,
                               family.general));
}

/// As many numbers as the dimension asks for.
void check_sizes(FamilyOptions& options, const FamilyOptions& given) {
  const std::size_t dimension = options.mu.size();
  if (options.family != "multivariate-beta-gaussian") {
    for (const auto& [name, values] :
         {std::pair("--mu", &options.mu), std::pair("--sigma2", &options.sigma2)})
      if (values->size() > 1)
        throw UsageError(
            fmt::format("{}: {} takes one number, got {}", name, options.family, values->size()));
    if (!options.interval.empty() && options.interval.size() != 2)
      throw UsageError(
          fmt::format("--interval: expected two ends such as -1,1, got {} numbers", options.interval.size()));
    return;
  }
  if (given.mu.empty()) {
    options.mu.assign(options.sigma2.size(), 0);
  } else if (given.sigma2.empty()) {
    options.sigma2.assign(dimension, 1);
  } else if (options.sigma2.size() != dimension && options.sigma2.size() != dimension * dimension) {
    throw UsageError(
        fmt::format("--sigma2: for {} coordinates expected {} variances or {} numbers by rows, got {}",
                    dimension, dimension, dimension * dimension, options.sigma2.size()));
  }
}

/// A line for each family: its name, what it takes, and the defaults.
std::string family_table() {
  std::string table = "The distribution, with its parameters and their defaults:";
  for (const Family& family : families()) {
    table += fmt::format("\n  {:<26}", family.defaults.family);
    for_each_parameter([&](std::string_view name, auto member) {
      const auto& value = family.defaults.*member;
      if (!is_given(value)) return;
      const bool fixed = name == "--alpha" && fixes_alpha(family);
      table +=
          fixed ? fmt::format(" (alpha {})", text_of(value)) : fmt::format(" {} {}", name, text_of(value));
    });
  }
  return table;
}

}  // namespace

void add_family_options(CLI::App& app, FamilyOptions& options) {
  app.add_option("FAMILY", options.family, family_table())
      ->required()
      ->type_name(fmt::format("{{{}}}", fmt::join(family_names(), ",")))
      ->option_text("REQUIRED");
  add_number(app, "--alpha", options.alpha,
             "Of the Tsallis entropy: above 1 the support is bounded, inf gives a uniform distribution");
  add_number(app, "--kappa", options.kappa, "Factor of the Gaussian score, above 1");
  add_numbers(app, "--mu", options.mu, "Centre; in R^N its N coordinates");
  add_numbers(
      app, "--sigma2", options.sigma2,
      "Squared scale of the score, not the variance unless alpha is 1; in R^N N of them, or with --mu "
      "a matrix of N x N by rows");
  add_number(app, "--b", options.b, "Scale of the score -|t - mu| / b");
  add_number(app, "--sigma", options.sigma,
             "Scale: of the score -|t - mu| / sigma (triangular), -(t - mu)^2 / (2 sigma^2) (parabola) or "
             "-g'(|t - mu| / sigma) / sigma (location-scale)");
  add_number(app, "--gamma", options.gamma, "How much total variation (capped) or roughness (smooth) counts");
  app.add_option(
         "--score", options.score,
         "Formula in t: the score, or for location-scale the convex g (t^3/6 gives the parabola), such "
         "as \"cos(3*t)-t^2/2\". It may use + - * / ^ ( ) pi e abs exp log sqrt sin cos tan sinh cosh "
         "tanh erf min max")
      ->option_text("FORMULA");
  add_numbers(app, "--interval", options.interval, "Where the score is defined: two ends")
      ->option_text("A,B");
}

FamilyOptions complete(FamilyOptions options) {
  const Family& family = find_family(options.family);
  const FamilyOptions given = options;
  std::vector<std::string> taken;
  for_each_parameter([&](std::string_view name, auto member) {
    if (is_given(family.defaults.*member) && !(name == "--alpha" && fixes_alpha(family)))
      taken.emplace_back(name);
  });
  for_each_parameter([&](std::string_view name, auto member) {
    if (is_given(options.*member) && !is_given(family.defaults.*member))
      throw UsageError(
          fmt::format("{} does not take {}; it takes {}", options.family, name, fmt::join(taken, ", ")));
    if (!is_given(options.*member)) options.*member = family.defaults.*member;
  });
  if (options.score == kFormula)
    throw UsageError(fmt::format("{} needs --score, a formula in t", options.family));
  if (options.alpha) check_alpha(family, *options.alpha);
  check_sizes(options, given);
  return options;
}

AnyDistribution make_distribution(const FamilyOptions& options) {
  const FamilyOptions parameters = complete(options);
  return find_family(parameters.family).make(parameters);
}

}  // namespace fenchel::cli
