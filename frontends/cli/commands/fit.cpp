#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/commands/compare.hpp"
#include "cli/commands/fit_by.hpp"
#include "cli/families/family.hpp"
#include "cli/program/progress.hpp"
#include "cli/program/usage.hpp"
#include "cli/tables/model_file.hpp"
#include "cli/tables/numbers.hpp"
#include "cli/tables/shared_input.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::cli {
namespace {

struct Options {
  InputOptions input;
  std::string family;
  std::string alpha, gamma, kappa;  ///< a number, or "auto"
  FitQuestions questions;
  std::string by;
  bool compares = false;
  std::vector<std::string> compared;
  index_t folds = 10;
};

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const Family& family : families())
    if (family.fit.run != nullptr) names.push_back(family.defaults.family);
  return names;
}

const Family& find_family(const std::string& name) {
  for (const Family& family : families())
    if (family.defaults.family == name && family.fit.run != nullptr) return family;
  const std::string hint = did_you_mean(name, family_names());
  throw UsageError(
      fmt::format("--family: none is called '{}'{}", name,
                  hint.empty() ? fmt::format("; choose one of {}", fmt::join(family_names(), ", ")) : hint));
}

/// The parameter of its regularizer that the family takes: "alpha", "gamma", "kappa", or "" for a member with
/// a name and for uniform.
std::string shape_of(const Family& family) {
  if (fixes_alpha(family)) return "";
  return family.defaults.alpha   ? "alpha"
         : family.defaults.gamma ? "gamma"
         : family.defaults.kappa ? "kappa"
                                 : "";
}

/// The value of the option NAME, none for "auto". Throws UsageError where the family does not take it.
std::optional<double> read(const Family& family, const std::string& name, const std::string& text) {
  const std::string takes = shape_of(family);
  if (takes != name)
    throw UsageError(fmt::format("--{}: the family {} {}", name, family.defaults.family,
                                 takes.empty() ? "takes none" : "takes --" + takes));
  if (text != "auto") return parse_number("--" + name, text);
  if (!family.fit.estimates)
    throw UsageError(fmt::format("--{}: the family {} needs a number, it cannot be estimated", name,
                                 family.defaults.family));
  return std::nullopt;
}

FamilyOptions read_shape(const Family& family, const Options& options) {
  FamilyOptions shape = family.defaults;
  if (!options.alpha.empty()) shape.alpha = read(family, "alpha", options.alpha);
  if (!options.gamma.empty()) shape.gamma = read(family, "gamma", options.gamma);
  if (!options.kappa.empty()) shape.kappa = read(family, "kappa", options.kappa);
  return shape;
}

void check(const Family& family, const FamilyOptions& shape, std::size_t columns) {
  const std::optional<double>& value = shape.alpha ? shape.alpha : shape.gamma ? shape.gamma : shape.kappa;
  if (value) check_bound(shape_of(family), *value, family.fit.bound(static_cast<index_t>(columns)));
}

/// The families and what each takes, those that take the same on one line.
std::string family_table() {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const Family& family : families()) {
    if (family.fit.run == nullptr) continue;
    const std::string shape = shape_of(family),
                      takes = shape.empty()
                                  ? ""
                                  : fmt::format("--{} X{}", shape, family.fit.estimates ? "|auto" : "");
    const auto same =
        std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return line.first == takes; });
    if (same == lines.end())
      lines.emplace_back(takes, family.defaults.family);
    else
      same->second += ", " + family.defaults.family;
  }
  std::string table = "Families:\n";
  for (const auto& [takes, names] : lines)
    table += takes.empty() ? fmt::format("  {}\n", names) : fmt::format("  {}: {}\n", takes, names);
  return table;
}

/// The warnings of the record, for eyes.
void warn(const Session& session, const Record& record) {
  if (session.quiet || !session.speaks()) return;
  for (const Record& warning : record["warnings"])
    fmt::print(stderr, "fenchel fit: warning: {}\n", warning.get<std::string>());
}

/// What is one fit's alone.
void check_comparison(const Options& options) {
  const auto refuse = [](bool given, const char* option) {
    if (given) throw UsageError(fmt::format("--compare fits several families; leave {} out", option));
  };
  refuse(!options.family.empty(), "--family");
  refuse(!options.alpha.empty(), "--alpha");
  refuse(!options.gamma.empty(), "--gamma");
  refuse(!options.kappa.empty(), "--kappa");
  refuse(options.questions.level.has_value(), "--level");
  refuse(options.questions.bootstrap > 0, "--bootstrap");
  refuse(!options.by.empty(), "--by");
}

void run(const Session& session, const Options& options) {
  check_form(session);
  if (options.compares) {
    check_comparison(options);
    return run_compare(session, options.input, options.compared, options.folds);
  }
  FitQuestions questions = options.questions;
  questions.seed = session.seed;
  if (questions.level && !(*questions.level > 0 && *questions.level < 1))
    throw UsageError(fmt::format("--level must be above 0 and below 1, got {}", *questions.level));
  const bool chosen = !options.family.empty();
  const Family* family = &find_family(chosen ? options.family : "beta-gaussian");
  FamilyOptions shape = read_shape(*family, options);
  if (family->defaults.family == "beta-gaussian" && shape.alpha && *shape.alpha == kInfinity) {
    family = &find_family("uniform");
    shape = family->defaults;
  }
  if (!family->fit.several) check(*family, shape, 1);
  if (!options.by.empty()) {
    if (questions.level || questions.bootstrap > 0)
      throw UsageError("--by has no confidence intervals; leave --level and --bootstrap out");
    return run_fit_by(session, options.input, options.by, *family, shape);
  }

  const SharedInput input(session, options.input);
  const auto columns = input.part().names();
  if (!chosen && columns.size() > 1) family = &find_family("multivariate-beta-gaussian");
  if (!family->fit.several && columns.size() > 1)
    throw UsageError(fmt::format("the family {} is of one column, {} has '{}'; choose with --columns",
                                 family->defaults.family, input.name(), fmt::join(columns, "', '")));
  check(*family, shape, columns.size());

  Record record = {{"family", family->defaults.family}};
  ProgressMeter meter(session, "fit");
  blame(family->fit.several ? input.name() : fmt::format("{}: column '{}'", input.name(), columns[0]), [&] {
    Record result = family->fit.run(shape, {input.part(), *session.processes, meter.callback()}, questions);
    if (fixes_alpha(*family)) result["parameters"].erase("alpha");
    record.update(result);
  });
  meter.wipe();
  warn(session, record);
  together(*session.processes, [&] { print_model(session, kDistributionModel, record); });
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
  app->add_option(
         "--alpha", options->alpha,
         "Such as 4/3; auto estimates it, by the kurtosis for beta-Gaussians, by likelihood for counts (2 "
         "unless given); inf is --family uniform")
      ->option_text("X|auto");
  app->add_option("--gamma", options->gamma, "Of capped and smooth densities (1 unless given)")
      ->option_text("X");
  app->add_option("--kappa", options->kappa, "Of truncated-gaussian; auto estimates it (2 unless given)")
      ->option_text("X|auto");
  add_number(*app, "--level", options->questions.level,
             "Of confidence intervals: estimate -+ standard errors, or between quantiles of --bootstrap")
      ->option_text("X");
  add_whole(
      *app, "--bootstrap",
      [options](std::uint64_t count) { options->questions.bootstrap = static_cast<index_t>(count); }, 1,
      10'000'000,
      "Draw from the fit N times and fit again: p-values of the distances and confidence intervals (at 0.95 "
      "unless --level is given)");
  app->add_option("--by", options->by,
                  "Column of numbers: a fit to each group of rows that have the same one, in one pass for "
                  "the fits and one for how good they are")
      ->option_text("COL");
  app->add_option_function<std::string>(
         "--compare",
         [options](const std::string& names) {
           options->compares = true;
           std::istringstream rest(names);
           for (std::string name; std::getline(rest, name, ',');) options->compared.push_back(name);
         },
         fmt::format("Compare families by scores on rows that were held out, instead of one fit: {} unless "
                     "some are named; what can be estimated of a family is",
                     fmt::join(kUsualFamilies, ", ")))
      ->expected(0, 1)
      ->option_text("[FAMILY,...]");
  add_whole(
      *app, "--folds", [options](std::uint64_t count) { options->folds = static_cast<index_t>(count); }, 2,
      1 << 20, "Of --compare: parts of the rows, each scored by fits to the others (10 unless given)");
  add_seed_option(*app, session);
  add_common_options(*app, session);
  app->footer(family_table() +
              "\n"
              "uniform has the mean and the variance of the data, as the other families have, so that values "
              "may lie "
              "outside of it. A row of weight w counts as w rows. Parameters have the names of the options "
              "of fenchel density and "
              "fenchel plot density. These, fenchel sample and fenchel loss also take the file that -o "
              "FILE.json writes, in place of a family.\n"
              "\n"
              "outside is the weight of the rows outside of the support, where the log-likelihood is -inf. "
              "crps, the mean "
              "continuous ranked probability score, compares families and alphas; the loss does not. "
              "Warnings say where a fit "
              "is not to be trusted.\n"
              "\n"
              "Examples:\n"
              "  fenchel fit draws.csv --alpha auto -o model.json\n"
              "  fenchel fit draws.csv --family gaussian --bootstrap 999 --seed 1\n"
              "  fenchel fit draws.csv --columns height --by year\n"
              "  fenchel fit draws.csv --compare\n"
              "  fenchel fit visits.csv --compare sparse-poisson,sparse-integer-gaussian --folds 5\n"
              "  fenchel fit draws.csv --columns height --weight count --family triangular --json\n"
              "  fenchel fit visits.csv --columns visits --family sparse-poisson --alpha 3/2\n"
              "  mpirun -n 4 fenchel fit large.npy --family multivariate-beta-gaussian");
  return {app, [&session, options] { run(session, *options); }, true};
}

}  // namespace fenchel::cli
