#include <fmt/format.h>

#include <CLI/App.hpp>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/families/family.hpp"
#include "cli/families/model.hpp"
#include "cli/program/interrupt.hpp"
#include "cli/program/progress.hpp"
#include "cli/tables/numbers.hpp"
#include "cli/tables/row_writer.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/parallel.hpp"
#include "fenchel/core/philox.hpp"

namespace fenchel::cli {
namespace {

/// Draws that are in memory at once.
constexpr index_t kChunk = 1 << 14;
/// Nanoseconds for a draw, when parallel_rows decides about threads.
constexpr index_t kDrawCost = 50;
constexpr double kMostDraws = 9007199254740992;  // 2^53

struct Options {
  FamilyOptions family;
  double count = 0;
};

/// Whether a draw calls a formula, and may throw.
template <class P>
constexpr bool kCallsFormula = std::same_as<P, LocationScale> || std::same_as<P, NumericDensity> ||
                               std::same_as<P, MultivariateNumericDensity>;

template <class P>
index_t columns_of(const P&) {
  return 1;
}
template <Multivariate P>
index_t columns_of(const P& p) {
  return p.dimension();
}

template <class P>
void draw(const P& p, Philox& rng, std::span<double> row) {
  row[0] = static_cast<double>(sample(p, rng));
}
template <Multivariate P>
void draw(const P& p, Philox& rng, std::span<double> row) {
  Eigen::Map<Eigen::VectorXd>(row.data(), p.dimension()) = sample(p, rng);
}

/// Draws begin, begin + 1, ..., number k from stream k of the seed, as the library's sample(p, count, seed)
/// takes them: however many there are in all, and on any number of threads, they are the same.
template <class P>
void fill(const P& p, std::uint64_t seed, index_t begin, index_t count, std::span<double> rows) {
  const auto columns = static_cast<std::size_t>(columns_of(p));
  const auto fill_range = [&](index_t from, index_t to) noexcept(!kCallsFormula<P>) {
    for (index_t k = from; k < to; ++k) {
      Philox rng(seed, static_cast<std::uint64_t>(begin + k));
      draw(p, rng, rows.subspan(static_cast<std::size_t>(k) * columns, columns));
    }
  };
  if constexpr (kCallsFormula<P>) {
    fill_range(0, count);
  } else {
    parallel_rows(count, workers_for(count, kDrawCost),
                  [&](index_t from, index_t to, int) noexcept { fill_range(from, to); });
  }
}

template <class P>
void write_draws(const P& p, index_t count, const Session& session) {
  const index_t dimension = columns_of(p), chunk = std::max<index_t>(kChunk / dimension, 1);
  std::vector<std::string> names{"t"};
  if constexpr (Multivariate<P>) {
    names.clear();
    for (index_t i = 0; i < dimension; ++i) names.push_back(fmt::format("t{}", i + 1));
  }
  const auto columns = static_cast<std::size_t>(dimension);
  std::vector<double> rows(static_cast<std::size_t>(std::min(chunk, count)) * columns);
  RowWriter writer(session, names);
  ProgressMeter meter(session, "drawing");
  for (index_t begin = 0; begin < count; begin += chunk) {
    if (writer.is_terminal()) {
      check_interrupt();
    } else {
      meter.update(static_cast<double>(begin), static_cast<double>(count));
    }
    const index_t size = std::min(chunk, count - begin);
    fill(p, session.seed, begin, size, rows);
    for (std::size_t k = 0; k < static_cast<std::size_t>(size); ++k)
      writer.write(std::span(rows).subspan(k * columns, columns));
  }
  writer.finish();
}

/// Without a seed it takes one from the system.
void run(const Options& options, Session& session, bool seeded) {
  if (!(options.count >= 0 && options.count <= kMostDraws && std::floor(options.count) == options.count))
    throw UsageError(fmt::format("-n: expected a whole number that is not negative, got {}", options.count));
  const AnyDistribution any = make_distribution(read_family(options.family));
  if (!seeded) {
    session.seed = std::random_device()();
    note(session, fmt::format("--seed {} draws the same again", session.seed));
  }
  std::visit([&](const auto& p) { write_draws(p, static_cast<index_t>(options.count), session); }, any);
}

}  // namespace

Command add_sample(CLI::App& program, Session& session) {
  CLI::App* app = program.add_subcommand("sample", "Draws from a distribution.");
  app->footer(
      "Examples:\n"
      "  fenchel sample biweight -n 1000 --seed 7 > draws.csv\n"
      "  fenchel sample sparse-poisson --mu 3.5 -n 10\n"
      "  fenchel sample model.json -n 1000\n"
      "  fenchel sample multivariate-beta-gaussian --mu 0,1 --Sigma 1,0.5,0.5,2 -n 1e6 -o draws.npy\n"
      "  fenchel sample score --score \"cos(3*t)-t^2/2\" -n 100 --json\n"
      "  fenchel sample score --score \"cos(3*x)-(x^2+y^2)/2\" -n 100");
  const auto options = std::make_shared<Options>();
  add_family_options(*app, options->family);
  add_number(*app, "-n,--count", options->count, "How many; more of them begin with the same ones")
      ->option_text("N")
      ->required();
  add_seed_option(*app, session);
  const CLI::Option* const seed = app->get_option("--seed")->description(
      "The same seed gives the same draws (unless given, another one each time, which is told)");
  add_common_options(*app, session);
  return {app, [options, &session, seed] { run(*options, session, seed->count() > 0); }};
}

}  // namespace fenchel::cli
