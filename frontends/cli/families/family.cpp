#include "cli/families/family.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <cmath>
#include <cstddef>
#include <string_view>

#include "cli/families/expression.hpp"
#include "cli/program/session.hpp"
#include "cli/program/usage.hpp"
#include "cli/tables/numbers.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::cli {
namespace {

std::string text_of(const std::optional<double>& value) {
  return *value == 4.0 / 3 ? "4/3" : fmt::format("{}", *value);
}
std::string text_of(const std::string& text) { return text; }
std::string text_of(const std::vector<double>& values) { return fmt::format("{}", fmt::join(values, ",")); }

Record value(const std::optional<double>& x) { return number(*x); }
Record value(const std::string& text) { return text; }
/// One number of a list that may be longer in R^N is a number.
Record value(const std::vector<double>& list) {
  Record numbers = Record::array();
  for (const double x : list) numbers.push_back(number(x));
  return numbers.size() == 1 ? numbers[0] : numbers;
}

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const Family& family : families())
    if (names.empty() || names.back() != family.defaults.family) names.push_back(family.defaults.family);
  return names;
}

/// A family with several regularizers and domains has a line for each, the default first.
const Family& find_family(const std::string& name, const std::string& regularizer,
                          const std::string& domain) {
  const auto find = [&](const std::string& on) -> const Family* {
    for (const Family& family : families())
      if (family.defaults.family == name && family.defaults.domain == on &&
          (regularizer.empty() || family.defaults.regularizer.empty() ||
           family.defaults.regularizer == regularizer))
        return &family;
    return nullptr;
  };
  if (const Family* found = find(domain)) return *found;
  if (const Family* found = find("")) return *found;
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

/// Two ends for each coordinate of the score; in several dimensions it has Tsallis' entropy alone.
void check_interval(FamilyOptions& options, const FamilyOptions& given) {
  const auto dimension =
      static_cast<std::size_t>(Expression("--score", options.score, kMostDimensions).dimension());
  if (dimension > 1 && options.regularizer != "tsallis")
    throw UsageError(fmt::format("--score: with --regularizer {} a formula is in t, got one in {}",
                                 options.regularizer, dimension == 2 ? "x and y" : "x, y and z"));
  if (given.interval.empty()) {
    options.interval.clear();
    for (std::size_t i = 0; i < dimension; ++i)
      options.interval.insert(options.interval.end(), {-kInfinity, kInfinity});
  } else if (options.interval.size() != 2 * dimension) {
    throw UsageError(fmt::format("--interval: expected {}, got {} numbers",
                                 dimension == 1   ? "two ends such as -1,1"
                                 : dimension == 2 ? "two ends for each of x and y such as -1,1,0,2"
                                                  : "two ends for each of x, y and z such as -1,1,0,2,-1,1",
                                 options.interval.size()));
  }
}

/// As many numbers as the dimension asks for.
void check_sizes(FamilyOptions& options, const FamilyOptions& given) {
  const std::size_t dimension = options.mu.size();
  if (options.Sigma.empty()) {
    if (dimension > 1)
      throw UsageError(fmt::format("--mu: {} takes one number, got {}", options.family, dimension));
    if (!options.interval.empty()) check_interval(options, given);
    return;
  }
  if (given.mu.empty()) {
    options.mu.assign(options.Sigma.size(), 0);
  } else if (given.Sigma.empty()) {
    options.Sigma.assign(dimension, 1);
  } else if (options.Sigma.size() != dimension && options.Sigma.size() != dimension * dimension) {
    throw UsageError(
        fmt::format("--Sigma: for {} coordinates expected {} numbers of a diagonal or {} by rows, got {}",
                    dimension, dimension, dimension * dimension, options.Sigma.size()));
  }
}

/// A line for each family: its name, what it takes, and the defaults.
std::string family_table() {
  std::string table =
      "A model that fenchel fit -o wrote, a file with a dot or a slash in its name, or one of these "
      "distributions, with their parameters and the defaults:";
  for (const Family& family : families()) {
    table += fmt::format("\n  {:<26}", family.defaults.family);
    for_each_parameter([&](std::string_view name, std::string_view, auto member) {
      const auto& value = family.defaults.*member;
      if (!is_given(value)) return;
      const bool fixed = name == "alpha" && fixes_alpha(family);
      table +=
          fixed ? fmt::format(" (alpha {})", text_of(value)) : fmt::format(" --{} {}", name, text_of(value));
    });
  }
  return table;
}

}  // namespace

bool is_student(const Family& family) { return family.defaults.family == "student"; }
bool fixes_alpha(const Family& family) { return !family.general.empty() && !is_student(family); }

void check_bound(std::string_view name, double value, const Bound& bound) {
  if (std::isfinite(value) && (bound.included ? value >= bound.least : value > bound.least)) return;
  throw UsageError(fmt::format("--{} must be finite and {}, got {}", name, bound.text, value));
}

void add_family_options(CLI::App& app, FamilyOptions& options) {
  app.add_option("FAMILY", options.family, family_table())
      ->required()
      ->type_name(fmt::format("{{{}}}", fmt::join(family_names(), ",")))
      ->option_text("REQUIRED");
  add_choice(app, "--regularizer", options.regularizer, {"tsallis", "total-variation", "sobolev"},
             "Of a score: tsallis with --alpha (unless given), total-variation (the density has plateaus) or "
             "sobolev (it is smooth) with --gamma");
  add_choice(app, "--domain", options.domain, {"integers", "naturals"},
             "Of a score: where it lives, unless that is the line");
  add_number(app, "--alpha", options.alpha,
             "Of the Tsallis entropy: above 1 the support is bounded, inf gives a uniform distribution");
  add_number(app, "--gamma", options.gamma,
             "How much total variation (capped densities) or roughness (smooth ones) counts");
  add_number(app, "--kappa", options.kappa, "Factor of the Gaussian score, above 1");
  add_numbers(app, "--mu", options.mu, "Location; in R^N its N coordinates");
  add_number(app, "--sigma2", options.sigma2,
             "Squared scale of the score -(t - mu)^2 / (2 sigma2), not the variance unless alpha is 1");
  add_numbers(app, "--Sigma", options.Sigma,
              "The same in R^N: N numbers of a diagonal, or with --mu a matrix of N x N by rows");
  add_number(app, "--b", options.b, "Scale of the score -|t - mu| / b");
  add_number(app, "--sigma", options.sigma,
             "Scale of the score -g'(|t - mu| / sigma) / sigma of location-scale");
  add_number(app, "--lower", options.lower, "Where the uniform distribution begins");
  add_number(app, "--upper", options.upper, "Where it ends");
  app.add_option(
         "--score", options.score,
         "Formula in t: the score, or for location-scale the convex g (t^3/6 gives the parabola), such "
         "as \"cos(3*t)-t^2/2\". A score in x and y is in the plane, one in x, y and z in space. It may use "
         "+ - * / ^ ( ) pi e abs exp log sqrt sin cos tan sinh cosh "
         "tanh erf min max. Of a score a bump can be missed that is narrower than 1/1000 of the interval, on "
         "the line than a tenth of its distance from 0 and from other bumps, and among these than 1/1000 of "
         "their width")
      ->option_text("FORMULA");
  add_numbers(app, "--interval", options.interval,
              "Where the score is defined: two ends; in R^N two for each coordinate")
      ->option_text("A,B,...");
}

FamilyOptions complete(FamilyOptions options) {
  const Family& family = find_family(options.family, options.regularizer, options.domain);
  const FamilyOptions given = options;
  std::vector<std::string> taken;
  for_each_parameter([&](std::string_view name, std::string_view, auto member) {
    if (is_given(family.defaults.*member) && !(name == "alpha" && fixes_alpha(family)))
      taken.push_back(fmt::format("--{}", name));
  });
  for_each_parameter([&](std::string_view name, std::string_view, auto member) {
    if (is_given(options.*member) && !is_given(family.defaults.*member))
      throw UsageError(
          fmt::format("{}{} does not take --{}; it takes {}", options.family,
                      family.defaults.regularizer.empty() ? "" : " with --regularizer " + options.regularizer,
                      name, fmt::join(taken, ", ")));
    if (!is_given(options.*member)) options.*member = family.defaults.*member;
  });
  if (!options.score.empty() && given.score.empty())
    throw UsageError(fmt::format("{} needs --score, a formula in t", options.family));
  if (options.alpha) check_alpha(family, *options.alpha);
  check_sizes(options, given);
  return options;
}

Record parameters_record(const FamilyOptions& family) {
  Record record = Record::object();
  for_each_parameter([&](const char* name, const char*, auto member) {
    if (is_given(family.*member)) record[name] = value(family.*member);
  });
  return record;
}

AnyDistribution make_distribution(const FamilyOptions& options) {
  const FamilyOptions parameters = complete(options);
  return find_family(parameters.family, parameters.regularizer, parameters.domain).make(parameters);
}

}  // namespace fenchel::cli
