#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/families/fit_family.hpp"
#include "cli/program/progress.hpp"
#include "cli/tables/numbers.hpp"
#include "cli/tables/shared_input.hpp"

namespace fenchel::cli {
namespace {

constexpr double kDefaultAlpha = 2, kDefaultGamma = 1;

struct Options {
  InputOptions input;
  std::string family;
  std::string alpha, gamma, kappa;  ///< a number, or "auto"
};

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const FitFamily& family : fit_families()) names.push_back(family.name);
  return names;
}

const FitFamily& find_family(const std::string& name) {
  for (const FitFamily& family : fit_families()) {
    if (family.name == name) return family;
  }
  throw UsageError(
      fmt::format("--family: none is called '{}'; choose one of {}", name, fmt::join(family_names(), ", ")));
}

/// The value of the option NAME, none for "auto". Throws UsageError where the family does not take it.
std::optional<double> read(const FitFamily& family, const std::string& name, const std::string& text) {
  if (family.takes != name)
    throw UsageError(fmt::format("--{}: the family {} {}", name, family.name,
                                 family.takes.empty() ? "takes none" : "takes --" + family.takes));
  if (text != "auto") return parse_number("--" + name, text);
  if (!family.can_estimate)
    throw UsageError(
        fmt::format("--{}: the family {} needs a number, it cannot be estimated", name, family.name));
  return std::nullopt;
}

Shape read_shape(const FitFamily& family, const Options& options) {
  Shape shape;
  if (family.takes == "alpha") shape.alpha = kDefaultAlpha;
  if (family.takes == "gamma") shape.gamma = kDefaultGamma;
  if (family.alpha) shape.alpha = family.alpha;
  if (!options.alpha.empty()) shape.alpha = read(family, "alpha", options.alpha);
  if (!options.gamma.empty()) shape.gamma = read(family, "gamma", options.gamma);
  if (!options.kappa.empty()) shape.kappa = read(family, "kappa", options.kappa);
  return shape;
}

void run(const Session& session, const Options& options) {
  check_form(session);
  const bool chosen = !options.family.empty();
  const FitFamily* family = &find_family(chosen ? options.family : "beta-gaussian");
  const Shape shape = read_shape(*family, options);
  const auto check = [&](std::size_t columns) {
    blame_option([&] { family->check(shape, static_cast<index_t>(columns)); });
  };
  if (!family->several) check(1);

  const SharedInput input(session, options.input);
  const auto columns = input.part().names();
  if (!chosen && columns.size() > 1) family = &find_family("multivariate-beta-gaussian");
  if (!family->several && columns.size() > 1)
    throw UsageError(fmt::format("the family {} is of one column, {} has '{}'; choose with --columns",
                                 family->name, input.name(), fmt::join(columns, "', '")));
  check(columns.size());

  Record record = {{"family", family->name}};
  ProgressMeter meter(session, "fit");
  blame(family->several ? input.name() : fmt::format("{}: column '{}'", input.name(), columns[0]), [&] {
    Record result = family->fit(shape, {input.part(), *session.processes, meter.callback()});
    if (family->alpha) result["parameters"].erase("alpha");
    record.update(result);
  });
  meter.wipe();
  together(*session.processes, [&] { print(session, record); });
}

}  // namespace

Command add_fit(CLI::App& program, Session& session) {
  const auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand(
      "fit", "Fits a family of distributions to the rows of a table: estimates, standard errors, support.");
  add_input_options(*app, options->input);
  app->add_option("--family", options->family,
                  "One of those below (beta-gaussian unless given, for several columns "
                  "multivariate-beta-gaussian)")
      ->type_name(fmt::format("{{{}}}", fmt::join(family_names(), ",")))
      ->option_text("NAME");
  add_columns(*app, "--columns", options->input.columns,
              "Which columns; all but that of weights unless given");
  app->add_option("--weight", options->input.weight, "Column that says how many rows each stands for")
      ->option_text("COL");
  app->add_option("--alpha", options->alpha,
                  "Such as 4/3; auto estimates it, from the kurtosis, for beta-Gaussians (2 unless given)")
      ->option_text("X|auto");
  app->add_option("--gamma", options->gamma, "Of capped and smooth densities (1 unless given)")
      ->option_text("X");
  app->add_option("--kappa", options->kappa, "Of truncated-gaussian (auto unless given)")
      ->option_text("X|auto");
  add_common_options(*app, session);
  app->footer(
      "Families:\n"
      "  gaussian, triweight, biweight, parabola, laplace, triangular\n"
      "  beta-gaussian, multivariate-beta-gaussian              --alpha X|auto\n"
      "  beta-laplace, sparse-poisson, sparse-integer-gaussian  --alpha X\n"
      "  capped-triangular, capped-parabola                     --gamma X\n"
      "  smooth-triangular, smooth-parabola                     --gamma X\n"
      "  truncated-gaussian                                     --kappa X|auto\n"
      "\n"
      "A row of weight w counts as w rows. Parameters have the names of the options of fenchel density and\n"
      "fenchel plot density, which show what was fitted.\n"
      "\n"
      "Examples:\n"
      "  fenchel fit draws.csv --alpha auto\n"
      "  fenchel fit draws.csv --columns height --weight count --family triangular --json\n"
      "  fenchel fit visits.csv --columns visits --family sparse-poisson --alpha 3/2\n"
      "  mpirun -n 4 fenchel fit large.npy --family multivariate-beta-gaussian");
  return {app, [&session, options] { run(session, *options); }, true};
}

}  // namespace fenchel::cli
