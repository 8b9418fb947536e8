#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <concepts>
#include <memory>
#include <string>
#include <variant>

#include "cli/commands/command.hpp"
#include "cli/commands/to_record.hpp"
#include "cli/families/expression.hpp"
#include "cli/families/family.hpp"
#include "cli/families/model.hpp"
#include "cli/program/progress.hpp"
#include "cli/tables/record.hpp"
#include "cli/tables/shared_input.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/domain/line.hpp"
#include "fenchel/estimate/statistics/mean_loss.hpp"
#include "fenchel/loss/absolute.hpp"
#include "fenchel/loss/function.hpp"
#include "fenchel/loss/location_scale.hpp"
#include "fenchel/loss/quadratic.hpp"
#include "fenchel/loss/scaled_gaussian.hpp"
#include "fenchel/loss/sobolev.hpp"
#include "fenchel/loss/sobolev_function.hpp"
#include "fenchel/loss/total_variation.hpp"
#include "fenchel/loss/total_variation_function.hpp"
#include "fenchel/score/function_score.hpp"

namespace fenchel::cli {
namespace {

struct Options {
  FamilyOptions family;
  InputOptions input;
};

/// The regularizer that a member is the prediction of.
template <class P>
auto regularizer_of(const P& p) {
  if constexpr (requires { p.alpha(); })
    return Tsallis(p.alpha());
  else if constexpr (std::same_as<P, CappedTriangular> || std::same_as<P, CappedParabola>)
    return TotalVariation(p.gamma());
  else if constexpr (std::same_as<P, SmoothTriangular> || std::same_as<P, SmoothParabola>)
    return Sobolev(p.gamma());
  else
    return Tsallis(2);
}

template <class Gradient>
Record gradient_record(const Gradient& g) {
  Record record = Record::object();
  if constexpr (requires { g.alpha; }) record["alpha"] = number(g.alpha);
  if constexpr (requires { g.gamma; }) record["gamma"] = number(g.gamma);
  if constexpr (requires { g.kappa; }) record["kappa"] = number(g.kappa);
  if constexpr (std::same_as<Gradient, MultivariateQuadraticGradient>) {
    record["mu"] = to_record(g.mu);
    record["Sigma"] = to_record(g.Sigma);
  } else if constexpr (requires { g.mu; }) {
    record["mu"] = number(g.mu);
  }
  if constexpr (requires { g.log_mu; }) record["log_mu"] = number(g.log_mu);
  if constexpr (requires { g.sigma2 + 1; }) record["sigma2"] = number(g.sigma2);
  if constexpr (requires { g.b; }) record["b"] = number(g.b);
  if constexpr (requires { g.sigma; }) record["sigma"] = number(g.sigma);
  return record;
}

template <class Gradient>
Record loss_record(const MeanLoss<Gradient>& loss) {
  return {{"weight", number(loss.weight)},
          {"loss", number(loss.value)},
          {"gradient", gradient_record(loss.gradient)}};
}

template <class P>
Record loss_of(const P& p, const FamilyOptions&, const Data& data) {
  return loss_record(mean_cross_omega(regularizer_of(p), score(p), domain(p), data));
}
/// A formula, which the density does not give back.
Record loss_of(const NumericDensity&, const FamilyOptions& o, const Data& data) {
  const FunctionScore f(Expression("--score", o.score));
  const Interval domain(o.interval[0], o.interval[1]);
  const auto with = [&](const auto& omega) { return loss_record(mean_cross_omega(omega, f, domain, data)); };
  if (o.regularizer == "total-variation") return with(TotalVariation(*o.gamma));
  if (o.regularizer == "sobolev") return with(Sobolev(*o.gamma));
  return with(Tsallis(*o.alpha));
}

Record loss_of(const IntegerTable&, const FamilyOptions& o, const Data&) {
  throw UsageError(fmt::format("{} with --domain {} has no loss of a table", o.family, o.domain));
}

Record loss_of(const MultivariateNumericDensity& p, const FamilyOptions& o, const Data&) {
  throw UsageError(fmt::format("{} in R^{} has no loss of a table", o.family, p.dimension()));
}

template <class P>
std::size_t columns_of(const P&) {
  return 1;
}
template <Multivariate P>
std::size_t columns_of(const P& p) {
  return static_cast<std::size_t>(p.dimension());
}

void run(const Session& session, const Options& options) {
  check_form(session);
  const FamilyOptions family = read_family(options.family);
  if (family.lower)
    throw UsageError(
        fmt::format("{} is the prediction of no score, and has no loss; beta-gaussian with --alpha inf is",
                    family.family));
  const AnyDistribution any = make_distribution(family);
  const SharedInput input(session, options.input);
  const auto columns = input.part().names();
  const std::size_t wanted = std::visit([](const auto& p) { return columns_of(p); }, any);
  if (columns.size() != wanted)
    throw UsageError(fmt::format("{} is of {} column{}, {} has '{}'; choose with --columns", family.family,
                                 wanted, wanted == 1 ? "" : "s", input.name(), fmt::join(columns, "', '")));
  Record record{{"family", family.family}, {"parameters", parameters_record(family)}};
  ProgressMeter meter(session, "loss");
  blame(wanted > 1 ? input.name() : fmt::format("{}: column '{}'", input.name(), columns[0]), [&] {
    const Data data{input.part(), *session.processes, meter.callback()};
    record.update(std::visit([&](const auto& p) { return loss_of(p, family, data); }, any));
  });
  meter.wipe();
  together(*session.processes, [&] { print(session, record); });
}

}  // namespace

Command add_loss(CLI::App& program, Session& session) {
  const auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand(
      "loss",
      "The Fenchel-Young loss of a density against the rows of a table, and its gradient in the parameters.");
  add_family_options(*app, options->family);
  add_input_options(*app, options->input, "--data");
  add_columns(*app, "--columns", options->input.columns,
              "Which columns; all but that of weights unless given");
  app->add_option("--weight", options->input.weight, "Column that says how many rows each stands for")
      ->option_text("COL");
  add_common_options(*app, session);
  app->footer(
      "The loss is that which fenchel fit minimises: the mean over the rows of Omega*(f) - f(t), without the "
      "entropy of the data, which does not depend on the parameters. For alpha = 1 it is the mean of the "
      "negative logarithm of the density. A gradient of 0 means that the moments of the density are those of "
      "the data. That of sparse-poisson is in log_mu, the logarithm of --mu.\n"
      "\n"
      "Examples:\n"
      "  fenchel loss parabola --mu 1 --sigma2 4 --data draws.csv\n"
      "  fenchel loss model.json --data later.csv\n"
      "  fenchel loss sparse-poisson --mu 3 --data visits.csv --columns visits --json\n"
      "  fenchel loss score --score \"cos(3*t)-t^2/2\" --data draws.csv --weight count");
  return {app, [&session, options] { run(session, *options); }, true};
}

}  // namespace fenchel::cli
