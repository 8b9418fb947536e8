#include <fmt/format.h>

#include <CLI/App.hpp>
#include <Eigen/Core>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/commands/to_record.hpp"
#include "cli/families/family.hpp"
#include "cli/families/model.hpp"
#include "cli/tables/format.hpp"
#include "cli/tables/numbers.hpp"
#include "cli/tables/record.hpp"
#include "cli/tables/row_writer.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/distribution/concept.hpp"
#include "fenchel/distribution/integers/integer_table.hpp"
#include "fenchel/domain/integers.hpp"
#include "fenchel/domain/interval.hpp"

namespace fenchel::cli {
namespace {

/// Between these all integers are doubles.
constexpr double kLargestInteger = 9007199254740992;  // 2^53

struct Options {
  FamilyOptions family;
  std::vector<std::string> at;
  std::vector<double> quantiles;
};

Record value(double x) { return number(x); }
Record value(index_t x) { return x; }

template <class Support>
void describe_support(const Support& support, Record& record) {
  record["support"] = to_record(support);
}
/// One in several pieces also has them one by one.
void describe_support(const std::vector<Interval>& support, Record& record) {
  record["support"] = to_record(Interval(support.front().lower(), support.back().upper()));
  record["pieces"] = Record::array();
  for (const Interval& piece : support) record["pieces"].push_back(to_record(piece));
}

/// Of order alpha, the regularizer that the family comes from: 2 where it takes none.
template <class P>
void describe_entropy(const P& p, const FamilyOptions& family, Record& record) {
  const double alpha = family.alpha.value_or(2);
  record["entropy"] = number(entropy(p));
  record["tsallis_entropy"] = {{"alpha", number(alpha)}, {"value", number(tsallis_entropy(p, alpha))}};
}

template <NumericDistribution P>
Record describe(const P& p, const Options& options) {
  Record record{{"family", options.family.family}, {"parameters", parameters_record(options.family)}};
  describe_support(support(p), record);
  record["mean"] = number(mean(p));
  record["variance"] = number(variance(p));
  record["standard_deviation"] = number(standard_deviation(p));
  record["skewness"] = number(skewness(p));
  record["kurtosis"] = number(kurtosis(p));
  record["mode"] = value(mode(p));
  record["median"] = value(median(p));
  describe_entropy(p, options.family, record);
  for (const double u : options.quantiles) record["quantiles"][shortest_text(u)] = value(quantile(p, u));
  return record;
}

Record describe(const MultivariateBetaGaussian& p, const Options& options) {
  Record record{{"family", options.family.family}};
  record["parameters"] = {
      {"alpha", number(p.alpha())}, {"mu", to_record(p.mu())}, {"Sigma", to_record(p.Sigma())}};
  record["dimension"] = p.dimension();
  record["support"] = to_record(support(p));
  record["mean"] = to_record(mean(p));
  record["covariance"] = to_record(covariance(p));
  record["kurtosis"] = number(kurtosis(p));
  record["mode"] = to_record(mode(p));
  describe_entropy(p, options.family, record);
  return record;
}

Record describe(const MultivariateNumericDensity& p, const Options& options) {
  Record record{{"family", options.family.family}, {"parameters", parameters_record(options.family)}};
  record["dimension"] = p.dimension();
  record["support"] = to_record(support(p));
  record["mean"] = to_record(mean(p));
  record["covariance"] = to_record(covariance(p));
  record["mode"] = to_record(mode(p));
  describe_entropy(p, options.family, record);
  return record;
}

std::vector<double> all_numbers(const std::vector<std::string>& texts) {
  std::vector<double> all;
  for (const std::string& text : texts)
    for (const double t : parse_numbers("--at", text)) all.push_back(t);
  return all;
}

template <LineDistribution P>
void write_values(const P& p, const Options& options, const Session& session) {
  const std::vector<double> points = all_numbers(options.at);
  RowWriter writer(session, {"t", "pdf", "log_pdf", "cdf", "survival"});
  for (const double t : points)
    writer.write(std::array{t, pdf(p, t), log_pdf(p, t), cdf(p, t), survival(p, t)});
  writer.finish();
}

template <TabulatedIntegers P>
void write_values(const P& p, const Options& options, const Session& session) {
  const std::vector<double> points = all_numbers(options.at);
  for (const double t : points)
    if (std::abs(t) > kLargestInteger || std::floor(t) != t)
      throw UsageError(fmt::format("--at: {} is on the integers, got {}", options.family.family, t));
  RowWriter writer(session, {"t", "pmf", "log_pmf", "cdf", "survival"});
  for (const double t : points) {
    const auto k = static_cast<index_t>(t);
    writer.write(std::array{t, pmf(p, k), log_pmf(p, k), cdf(p, k), survival(p, k)});
  }
  writer.finish();
}

template <Multivariate P>
void write_values(const P& p, const Options& options, const Session& session) {
  std::vector<std::string> columns;
  for (index_t i = 0; i < p.dimension(); ++i) columns.push_back(fmt::format("t{}", i + 1));
  columns.insert(columns.end(), {"pdf", "log_pdf"});
  std::vector<std::vector<double>> points;
  for (const std::string& text : options.at) {
    points.push_back(parse_numbers("--at", text));
    if (static_cast<index_t>(points.back().size()) != p.dimension())
      throw UsageError(fmt::format(
          "--at: expected a point with {} coordinates, got '{}'; repeat --at for more", p.dimension(), text));
  }
  RowWriter writer(session, columns);
  for (std::vector<double>& row : points) {
    const Eigen::VectorXd t = Eigen::Map<const Eigen::VectorXd>(row.data(), p.dimension());
    row.insert(row.end(), {pdf(p, t), log_pdf(p, t)});
    writer.write(row);
  }
  writer.finish();
}

void run(Options options, const Session& session) {
  options.family = read_family(options.family);
  for (const double u : options.quantiles)
    if (!(u >= 0 && u <= 1)) throw UsageError(fmt::format("--quantiles must be in [0, 1], got {}", u));
  const AnyDistribution any = make_distribution(options.family);
  std::visit(
      [&]<class P>(const P& p) {
        if constexpr (Multivariate<P>) {
          if (!options.quantiles.empty())
            throw UsageError(fmt::format("{} in R^{} has no quantiles; leave --quantiles out",
                                         options.family.family, p.dimension()));
        }
        if (options.quantiles.empty()) options.quantiles = {0.05, 0.25, 0.5, 0.75, 0.95};
        if (options.at.empty()) return print(session, describe(p, options));
        write_values(p, options, session);
      },
      any);
}

}  // namespace

Command add_density(CLI::App& program, Session& session) {
  CLI::App* app = program.add_subcommand(
      "density", "A distribution's support, moments, entropies and quantiles, or its values at points.");
  app->footer(
      "Examples:\n"
      "  fenchel density parabola --sigma2 4\n"
      "  fenchel density model.json --at -1,0,1\n"
      "  fenchel density beta-gaussian --alpha 4/3 --at -1,0,1\n"
      "  fenchel density sparse-poisson --mu 3.5 --at 0,1,2,3,4,5 --json\n"
      "  fenchel density multivariate-beta-gaussian --mu 0,1 --Sigma 1,0.5,0.5,2 --at 0,0 --at 1,1\n"
      "  fenchel density score --score \"cos(3*t)-t^2/2\" --alpha 2 --quantiles 0.1,0.9\n"
      "  fenchel density score --score \"cos(3*x)-(x^2+y^2)/2\" --at 0,0 --at 1,0.5\n"
      "  fenchel density score --score \"cos(3*t)-t^2/2\" --regularizer total-variation --gamma 0.2\n"
      "  fenchel density location-scale --score \"cosh(t)\" --sigma 2");
  const auto options = std::make_shared<Options>();
  add_family_options(*app, options->family);
  CLI::Option* at =
      app->add_option("--at", options->at,
                      "Points: a table of the density, its logarithm, the cdf and the survival "
                      "function there; in R^N the coordinates of one point, and --at again for more")
          ->option_text("X,X,...")
          ->allow_extra_args(false);
  add_numbers(*app, "--quantiles", options->quantiles,
              "Where to give quantiles (0.05,0.25,0.5,0.75,0.95 unless given)")
      ->option_text("U,U,...")
      ->excludes(at);
  add_common_options(*app, session);
  return {app, [options, &session] { run(*options, session); }};
}

}  // namespace fenchel::cli
