#include "distribution/integers/heavy_prediction.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "core/compensated_sum.hpp"
#include "distribution/integers/flank.hpp"
#include "fenchel/core/deformed.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/core/normalizer.hpp"
#include "fenchel/distribution/integers/integer_tail.hpp"

namespace fenchel::detail {
namespace {

/// Below it 1 - am1 f(t) is (1 - alpha) times the depth of the score, to every digit.
constexpr double kDeep = -1e300;

IntegerTail tail_of(double am1, const IntegerScore& score, double offset, int step, double first) {
  const index_t end = step > 0 ? score.range.last : score.range.first;
  constexpr auto kLast = std::numeric_limits<index_t>::max();
  const bool open = end == kLast || end == std::numeric_limits<index_t>::min();
  const double last = open ? kInfinity : step * (static_cast<double>(end) - static_cast<double>(score.mode));
  return {score.mode,
          step,
          first,
          last,
          {score.growth, score.log_growth, -am1},
          [am1, offset, step, score](double distance, double log_distance) {
            const double relative = score.relative(step * distance);
            if (relative > kDeep) return LogPower{log_deformed_exp(am1, relative - offset), 0};
            return LogPower{(std::log(-am1) + score.log_depth(log_distance)) / am1, score.growth / am1};
          }};
}

/// The scores of a window and of the nodes of its tails, with weights; what is too deep for a double has a
/// probability that does not depend on A.
struct Measure {
  std::vector<double> window;
  std::vector<std::pair<double, double>> nodes{};  ///< weight, score
  double deep = 0;

  void clear_nodes() {
    nodes.clear();
    deep = 0;
  }

  void add(const IntegerTail& tail, const std::function<double(double)>& scores) {
    for (const TailNode& node : tail_nodes(tail, tail.first, 1, 0).nodes) {
      const double relative = scores(tail.step * node.distance);
      if (relative > kDeep) {
        nodes.emplace_back(node.times({0, 0}), relative);
      } else {
        deep += node.times(node.p);
      }
    }
  }

  /// The logarithm of the largest probability, from above: Newton's iteration as in core/normalizer.cpp.
  [[nodiscard]] double log_peak(double am1, double from) const {
    constexpr int kMostSteps = 100;
    for (int step = 0; step < kMostSteps; ++step) {
      const double slope = am1 * std::exp(-am1 * from), peak = std::exp(from);
      CompensatedSum mass, escort;
      const auto add = [&](double weight, double score) {
        const double log_ratio = am1 == 0 ? score : std::log1p(slope * score) / am1;
        const double term = weight * peak * std::exp(log_ratio);
        mass.add(term);
        escort.add(term / (1 + slope * score));
      };
      for (const double score : window) add(1, score);
      for (const auto& [weight, score] : nodes) add(weight, score);
      mass.add(deep);
      const double next =
          from + log_deformed_exp(
                     am1, mass.total() / escort.total() * -deformed_log_of_exp(-am1, std::log(mass.total())));
      const double change = std::abs(next - from);
      from = next;
      if (change <= 4e-16 * std::max(1.0, std::abs(next))) break;
    }
    return from;
  }
};

/// The score where the log probability is IntegerTable::kLogSmallest.
double least_score(double am1, double offset) {
  return offset + deformed_log_of_exp(am1, IntegerTable::kLogSmallest);
}

/// Whether a window may end before the next integer of this side: what follows has no mass, or little and
/// smooth.
bool may_end(double am1, const IntegerScore& score, const Flank& flank, double offset, int step) {
  constexpr double kLittle = 1e-3, kLong = 4096;
  if (flank.next() < least_score(am1, offset)) return true;
  const auto distance = static_cast<double>(flank.taken().size() + 1);
  const double p = deformed_exp(am1, flank.next() - offset);
  if (p * distance > kLittle && distance < kLong) return false;
  const IntegerTail tail = tail_of(am1, score, 0, step, distance);  // p falls fastest for A = f(mode)
  return is_smooth(tail, distance);
}

}  // namespace

Normalization normalize_with_tails(double am1, std::vector<double>& window,
                                   const std::function<double(double)>& relative,
                                   std::vector<IntegerTail>& tails,
                                   const std::function<IntegerTail(int, double)>& tail_of) {
  constexpr int kMostPasses = 6;
  Measure measure{std::move(window)};
  const double part = measure.log_peak(am1, 0);  // without tails: with them it is smaller
  double log_peak = part;
  for (int pass = 0; pass < kMostPasses; ++pass) {  // the nodes depend on A, and hardly
    measure.clear_nodes();
    for (IntegerTail& tail : tails) {
      tail = tail_of(tail.step, normalization_from_peak(am1, log_peak).offset);
      measure.add(tail, relative);
    }
    const double before = std::exchange(log_peak, measure.log_peak(am1, part));
    if (std::abs(log_peak - before) <= 1e-15 * std::max(1.0, std::abs(log_peak))) break;
  }
  const Normalization found = normalization_from_peak(am1, log_peak);
  for (double& value : measure.window) value = deformed_exp(am1, value - found.offset);
  window = std::move(measure.window);
  return found;
}

IntegerPrediction predict_heavy(double am1, const IntegerScore& score) {
  constexpr std::size_t kFirstReach = 64;
  std::array<Flank, 2> flanks{Flank(score, -1), Flank(score, 1)};
  const auto step_of = [&flanks](const Flank& flank) { return &flank == flanks.data() ? -1 : 1; };
  const auto offset_of = [am1](double log_peak) { return normalization_from_peak(am1, log_peak).offset; };
  Measure measure{{0}};
  double part = 0;  // log P on the window: on more integers it is smaller
  for (bool done = false; !done;) {
    done = true;
    const double offset = offset_of(part), least = least_score(am1, offset);
    for (Flank& flank : flanks) {
      if (may_end(am1, score, flank, offset, step_of(flank))) continue;
      const std::size_t reach = std::max(kFirstReach, 2 * flank.taken().size());
      while (flank.taken().size() < reach && flank.next() >= least) flank.take();
      done = false;
    }
    measure.window = window_of(flanks[0], flanks[1]);
    if (!done) part = measure.log_peak(am1, part);
  }
  std::vector<IntegerTail> tails;
  for (const Flank& flank : flanks) {
    if (flank.next() == -kInfinity) continue;  // the range ends
    tails.push_back(tail_of(am1, score, 0, step_of(flank), static_cast<double>(flank.taken().size() + 1)));
  }
  std::vector<double> window = std::move(measure.window);
  const Normalization found =
      normalize_with_tails(am1, window, score.relative, tails, [&](int step, double offset) {
        return tail_of(am1, score, offset, step,
                       static_cast<double>(flanks[step > 0 ? 1 : 0].taken().size() + 1));
      });
  const index_t first = score.mode - static_cast<index_t>(flanks[0].taken().size());
  const IntegerTable::LogPmf log_pmf = [am1, offset = found.offset, score](index_t t) {
    return log_deformed_exp(am1, score.at(t) - offset);
  };
  return {am1,
          found,
          score.mode,
          score.relative,
          score.growth,
          score.log_growth,
          IntegerTable(first, std::move(window), score.range, log_pmf, std::move(tails))};
}

}  // namespace fenchel::detail
