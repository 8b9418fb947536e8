#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/commands/to_record.hpp"
#include "cli/program/interrupt.hpp"
#include "cli/tables/input.hpp"
#include "cli/tables/numbers.hpp"
#include "cli/tables/record.hpp"
#include "cli/tables/row_writer.hpp"
#include "cli/tables/shared_input.hpp"
#include "fenchel/core/checkpoint.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/estimate/density/bandwidth.hpp"
#include "fenchel/estimate/density/kernel_density.hpp"

namespace fenchel::cli {
namespace {

struct Options {
  InputOptions input;
  std::string kernel, bandwidth = "silverman", points;
  std::optional<double> alpha, lower, upper, grid;
  std::vector<std::string> at;
  bool scores = false;
};

constexpr std::array<std::pair<const char*, double>, 5> kKernels{{{"gaussian", 1},
                                                                  {"triweight", 4.0 / 3},
                                                                  {"biweight", 1.5},
                                                                  {"epanechnikov", 2},
                                                                  {"uniform", kInfinity}}};
constexpr std::array<std::pair<const char*, BandwidthRule>, 4> kRules{
    {{"silverman", BandwidthRule::silverman},
     {"sheather-jones", BandwidthRule::sheather_jones},
     {"likelihood", BandwidthRule::likelihood},
     {"least-squares", BandwidthRule::least_squares}}};

template <class Pairs>
std::vector<std::string> names_of(const Pairs& pairs) {
  std::vector<std::string> names;
  for (const auto& [name, value] : pairs) names.emplace_back(name);
  return names;
}

/// A table that is read whole.
struct Table {
  std::vector<std::string> names;
  std::vector<double> values, weights;

  Table(const Session& session, const InputOptions& options) {
    const Input input(session, options);
    const BatchSource& source = input.source();
    names.assign(source.names().begin(), source.names().end());
    Batch batch;
    for (index_t number = 0; number < source.batches(); ++number) {
      check_interrupt();
      source.read(number, batch);
      for (index_t i = 0; i < batch.rows.rows; ++i)
        values.insert(values.end(), batch.rows[i].begin(), batch.rows[i].end());
      weights.insert(weights.end(), batch.weights.begin(), batch.weights.end());
    }
    if (values.empty()) throw DataError(table_name(options) + ": has no rows");
  }
  [[nodiscard]] Rows<const double> rows() const {
    const index_t columns = std::ssize(names);
    return {values.data(), std::ssize(values) / columns, columns};
  }
};

double alpha_of(const Options& options) {
  if (options.alpha && !options.kernel.empty())
    throw UsageError("--kernel is an --alpha with a name; give one of them");
  for (const auto& [name, alpha] : kKernels)
    if (options.kernel == name) return alpha;
  return options.alpha.value_or(2);
}

std::optional<BandwidthRule> rule_of(const Options& options) {
  for (const auto& [name, rule] : kRules)
    if (options.bandwidth == name) return rule;
  return std::nullopt;
}

SelectedDensity estimate(const Options& options, const Table& table) {
  const Interval domain(options.lower.value_or(-kInfinity), options.upper.value_or(kInfinity));
  const double alpha = alpha_of(options);
  if (const std::optional<BandwidthRule> rule = rule_of(options))
    return select_bandwidth(*rule, table.rows(), alpha, table.weights, domain);
  if (options.bandwidth.find_first_of("0123456789") == std::string::npos)
    throw UsageError(fmt::format("--bandwidth: expected a number or one of {}, got '{}'",
                                 fmt::join(names_of(kRules), ", "), options.bandwidth));
  const std::vector<double> given = parse_numbers("--bandwidth", options.bandwidth);
  const std::vector<double> all =
      given.size() == 1 ? std::vector<double>(table.names.size(), given[0]) : given;
  return {KernelDensity(table.rows(), alpha, all, table.weights, domain), false};
}

Record describe(const Options& options, const Table& table, const SelectedDensity& found) {
  const KernelDensity& p = found.density;
  Record record{{"rows", p.size()}, {"weight", number(p.weight())}, {"alpha", number(p.alpha())}};
  record["bandwidth"] = Record::object();
  for (index_t j = 0; j < p.dimension(); ++j)
    record["bandwidth"][table.names[static_cast<std::size_t>(j)]] = number(p.bandwidth(j));
  if (rule_of(options)) record["rule"] = options.bandwidth;
  if (found.at_end)
    record["warning"] = "the rule is best at the end of its search, as for data with many ties";
  record["radius"] = number(p.radius());
  for (index_t j = 0; j < p.dimension(); ++j)
    record["support"][table.names[static_cast<std::size_t>(j)]] = to_record(p.hull(j));
  if (options.scores) {
    record["likelihood_score"] = number(p.likelihood_score());
    record["least_squares_score"] = number(p.least_squares_score());
  }
  return record;
}

/// Points of the same number of columns as the data.
std::vector<double> wanted_points(const Session& session, const Options& options, const KernelDensity& p) {
  const index_t n = p.dimension();
  std::vector<double> points;
  if (!options.points.empty()) {
    InputOptions input = options.input;
    input.paths = {options.points};
    input.weight.clear();
    const Table table(session, input);
    if (std::ssize(table.names) != n)
      throw DataError(fmt::format("{}: expected {} columns, as many as the data have, got {}", options.points,
                                  n, table.names.size()));
    points = table.values;
  }
  for (const std::string& text : options.at) {
    const std::vector<double> numbers = parse_numbers("--at", text);
    if (n > 1 && std::ssize(numbers) != n)
      throw UsageError(
          fmt::format("--at: expected a point with {} coordinates, got '{}'; repeat --at for more", n, text));
    points.insert(points.end(), numbers.begin(), numbers.end());
  }
  if (options.grid) {
    if (n != 1) throw UsageError("--grid is for one column; give --points for more");
    constexpr double kMostPoints = 1e9;
    if (!(*options.grid >= 2 && *options.grid <= kMostPoints &&
          *options.grid == static_cast<double>(static_cast<index_t>(*options.grid))))
      throw UsageError(fmt::format("--grid must be a whole number from 2 to 1e9, got {}", *options.grid));
    // Gaussian kernels have no end: to where they are less than 4e-4 of their peak.
    constexpr double kGaussianReach = 4;
    const Interval hull = p.alpha() > 1 ? p.hull(0) : p.range(0);
    const double reach = p.alpha() > 1 ? 0 : kGaussianReach * p.bandwidth(0);
    const double low = std::max(hull.lower() - reach, p.domain().lower());
    const double high = std::min(hull.upper() + reach, p.domain().upper());
    for (double i = 0; i < *options.grid; ++i) points.push_back(low + (high - low) * i / (*options.grid - 1));
  }
  return points;
}

void write_values(const Session& session, const Table& table, const KernelDensity& p,
                  const std::vector<double>& points) {
  const auto n = static_cast<std::size_t>(p.dimension());
  const std::size_t count = points.size() / n;
  std::vector<std::string> columns = table.names;
  columns.insert(columns.end(), {"pdf", "log_pdf"});
  if (n == 1) columns.emplace_back("cdf");
  std::vector<double> density(count), logarithm(count), below(n == 1 ? count : 0);
  const Rows<const double> rows{points.data(), static_cast<index_t>(count), p.dimension()};
  p.pdf_rows(rows, density);
  p.log_pdf_rows(rows, logarithm);
  if (n == 1) p.cdf_rows(points, below);
  RowWriter writer(session, columns);
  std::vector<double> row;
  for (std::size_t i = 0; i < count; ++i) {
    check_interrupt();
    row.assign(points.begin() + static_cast<long>(i * n), points.begin() + static_cast<long>((i + 1) * n));
    row.insert(row.end(), {density[i], logarithm[i]});
    if (n == 1) row.push_back(below[i]);
    writer.write(row);
  }
  writer.finish();
}

void run(const Session& session, const Options& options) {
  const bool values = !options.points.empty() || !options.at.empty() || options.grid;
  if (!values) check_form(session);
  const Table table(session, options.input);
  const ScopedCheck check(check_interrupt);
  std::optional<SelectedDensity> found;
  blame(table_name(options.input), [&] { found = estimate(options, table); });
  if (values)
    write_values(session, table, found->density, wanted_points(session, options, found->density));
  else
    print(session, describe(options, table, *found));
}

}  // namespace

Command add_kde(CLI::App& program, Session& session) {
  const auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand(
      "kde", "Kernel density estimation: the density of the rows of a table, without a family.");
  add_input_options(*app, options->input);
  add_columns(*app, "--columns", options->input.columns,
              "Which columns; all but that of weights unless given");
  app->add_option("--weight", options->input.weight, "Column that says how many rows each stands for")
      ->option_text("COL");
  add_number(*app, "--alpha", options->alpha, "Of the kernel, from 1, the Gaussian, to inf (2 unless given)")
      ->option_text("X");
  add_choice(*app, "--kernel", options->kernel, names_of(kKernels),
             fmt::format("An alpha with a name: {}", fmt::join(names_of(kKernels), ", ")));
  app->add_option(
         "--bandwidth", options->bandwidth,
         fmt::format("Standard deviation of the kernel, a number, or one for each column with commas "
                     "between them; or how it is found: {} (silverman unless given)",
                     fmt::join(names_of(kRules), ", ")))
      ->option_text("X|RULE");
  add_number(*app, "--lower", options->lower, "The data are on a half-line that begins here")
      ->option_text("X");
  add_number(*app, "--upper", options->upper, "The data are on a half-line that ends here")->option_text("X");
  app->add_option("--at", options->at, "Points, a list of numbers with commas; in R^N one point each")
      ->option_text("T");
  app->add_option("--points", options->points, "A table of points, with the columns of the data")
      ->option_text("FILE");
  add_number(*app, "--grid", options->grid, "So many points over the support of one column")
      ->option_text("N");
  app->add_flag("--scores", options->scores,
                "How well each row is predicted by the others: takes the time of a sum at each row");
  add_common_options(*app, session);
  app->footer(
      "Without points it prints the bandwidth and the support. Of --scores, likelihood_score is the mean of "
      "the "
      "log-densities of the rows, each by all others, and least_squares_score an estimate of the squared "
      "error but "
      "for a constant. Kernels of alpha > 1 end, so that the density is 0 out of reach of the data. On a "
      "half-line kernels are reflected at its end, and the mass is one.\n"
      "\n"
      "Examples:\n"
      "  fenchel kde heights.csv\n"
      "  fenchel kde heights.csv --bandwidth sheather-jones --grid 200 > density.csv\n"
      "  fenchel kde incomes.csv --columns income --weight count --lower 0 --kernel biweight --at 1000,2000\n"
      "  fenchel kde places.csv --columns x,y --bandwidth least-squares --points new.csv --json");
  return {app, [&session, options] { run(session, *options); }};
}

}  // namespace fenchel::cli
