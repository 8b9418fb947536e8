#include <CLI/App.hpp>
#include <Eigen/Core>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands/attention.hpp"
#include "cli/commands/command.hpp"
#include "cli/tables/record.hpp"
#include "fenchel/attention/attend.hpp"

namespace fenchel::cli {
namespace {

Record by_channel(const Attention& attention, const Eigen::VectorXd& values) {
  Record record;
  for (index_t j = 0; j < values.size(); ++j)
    record[attention.channels[static_cast<std::size_t>(j)]] = number(values[j]);
  return record;
}

void attend_signal(const Session& session, const AttentionOptions& options) {
  check_form(session);
  const Attention attention = read_attention(session, options);
  const BetaGaussian& p = attention.density;
  const auto& v = attention.signal;
  Record record{{"frames", attention.values.cols()},
                {"basis", v.basis.size()},
                {"density",
                 {{"alpha", number(options.alpha)},
                  {"mu", p.mu()},
                  {"sigma2", p.sigma2()},
                  {"variance", number(variance(p))},
                  {"support", {number(support(p).lower()), number(support(p).upper())}}}},
                {"context", by_channel(attention, context(v, attend(p, v.basis)))}};
  if (attention.weights.size() > 0)
    record["discrete"] = by_channel(attention, attention.values * attention.weights);
  print(session, record);
}

}  // namespace

Command add_attend(CLI::App& program, Session& session) {
  CLI::App* app = program.add_subcommand(
      "attend",
      "Continuous attention: the mean of a signal under a density over time. Rows are frames in their order, "
      "at the centres of equal cells of [0, 1]; columns are channels.");
  const auto options = std::make_shared<AttentionOptions>();
  add_attention_options(*app, *options);
  add_common_options(*app, session);
  app->footer(
      "The signal becomes a function V(t) by ridge regression, and the context is its mean under the "
      "density. Outside of [0, 1] V falls to 0; rows that --missing drop leaves out leave no gap. With "
      "--weight the weighted average of the frames themselves stands "
      "beside it, as discrete.\n\n"
      "Examples:\n"
      "  fenchel attend signal.csv --mu 0.3 --sigma2 0.002\n"
      "  fenchel attend signal.csv --columns left,right --weight w --alpha 1.5\n"
      "  seq 100 | fenchel attend - --no-header --mu 1/2 --sigma2 0.001 --json");
  return {app, [&session, options] { attend_signal(session, *options); }};
}

}  // namespace fenchel::cli
