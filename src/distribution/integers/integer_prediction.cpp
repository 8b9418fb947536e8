#include "fenchel/distribution/integers/integer_prediction.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "distribution/integers/flank.hpp"
#include "distribution/integers/heavy_prediction.hpp"
#include "fenchel/core/checkpoint.hpp"
#include "fenchel/core/deformed.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {
namespace {

/// The last integer of the support towards `end`, given the last one with a probability in the window: they
/// differ only where what follows is too small for the window and not 0.
index_t support_end(const IntegerTable::LogPmf& log_pmf, index_t last, index_t end) {
  if (last == end) return end;
  const index_t next = last + (end > last ? 1 : -1);
  const auto charged = [&log_pmf](index_t t) { return log_pmf(t) > -kInfinity; };
  constexpr double kNearSmallest = IntegerTable::kLogSmallest + 10;
  return log_pmf(next) < kNearSmallest && charged(next) ? farthest(next, end, charged) : last;
}

}  // namespace

index_t farthest(index_t from, index_t end, const std::function<bool(index_t)>& holds) {
  const bool up = end > from;
  const auto origin = static_cast<std::uint64_t>(from);
  const std::uint64_t most =
      up ? static_cast<std::uint64_t>(end) - origin : origin - static_cast<std::uint64_t>(end);
  const auto at = [&](std::uint64_t distance) {
    return static_cast<index_t>(up ? origin + distance : origin - distance);
  };
  std::uint64_t inside = 0, outside = 1;
  while (outside <= most && holds(at(outside))) {
    inside = outside;
    if (inside > most / 2) {
      if (holds(end)) return end;
      outside = most;
      break;
    }
    outside *= 2;
  }
  while (outside - inside > 1) {
    const std::uint64_t middle = inside + (outside - inside) / 2;
    (holds(at(middle)) ? inside : outside) = middle;
  }
  return at(inside);
}

IntegerPrediction predict_integers(double am1, const IntegerScore& score, std::string_view where,
                                   std::string_view parameter, double got) {
  if (am1 < 0) return predict_heavy(am1, score);
  constexpr index_t kFirstWindow = 16, kGrowth = 8, kMost = IntegerTable::kMostIntegers;
  const auto level = [am1](double offset) {  // the score where the log probability is kLogSmallest
    return offset + deformed_log_of_exp(am1, IntegerTable::kLogSmallest);
  };
  const auto refuse = [&] {
    throw_domain_error(
        where, parameter,
        "must leave at most " + std::to_string(kMost) + " integers with a probability above 1e-304", got);
  };
  // A - f(mode) is at most log_alpha(n) on n integers: a window of kMost that reaches this far is too small.
  // That is level(log_alpha(kMost)), without the difference of numbers that are almost 1 / am1.
  const double log_most = std::log(static_cast<double>(kMost));
  const double highest =
      std::exp(-am1 * log_most) * deformed_log_of_exp(am1, IntegerTable::kLogSmallest + log_most);
  constexpr auto kFar = static_cast<double>(kMost);
  if (score.relative(kFar) >= highest || score.relative(-kFar) >= highest) refuse();

  Flank left(score, -1), right(score, 1);
  std::vector<double> p;
  Normalization found{0, 0};
  // A on part of the integers is at most A on all of them, so that nothing that counts lies below the level.
  for (index_t wanted = kFirstWindow;; wanted = std::min(kGrowth * wanted, kMost)) {
    auto size = static_cast<index_t>(1 + left.taken().size() + right.taken().size());
    for (; size < wanted && std::max(left.next(), right.next()) >= level(found.offset); ++size) {
      checkpoint_at(size);
      (left.next() > right.next() ? left : right).take();
    }
    p = window_of(left, right);
    checkpoint();
    found = normalize(am1, p);
    checkpoint();
    if (!(std::max(left.next(), right.next()) >= level(found.offset))) break;
    if (size == kMost) refuse();
  }
  const double smallest = std::exp(IntegerTable::kLogSmallest);
  const auto counts = [smallest](double probability) { return probability >= smallest; };
  const auto begin = std::find_if(p.begin(), p.end(), counts);
  const auto end = std::find_if(p.rbegin(), p.rend(), counts).base();
  const index_t first = score.mode - static_cast<index_t>(left.taken().size()) + (begin - p.begin());
  const index_t last = first + (end - begin) - 1;

  std::vector<double> kept(begin, end);
  const IntegerTable::LogPmf log_pmf = [am1, offset = found.offset, score](index_t t) {
    return log_deformed_exp(am1, score.at(t) - offset);
  };
  const IntegerRange range = score.range;
  const IntegerRange support = am1 == 0 ? range
                                        : IntegerRange{support_end(log_pmf, first, range.first),
                                                       support_end(log_pmf, last, range.last)};
  const bool whole = support == IntegerRange{first, last};
  return {am1,
          found,
          score.mode,
          score.relative,
          score.growth,
          score.log_growth,
          whole ? IntegerTable(first, kept)
                : IntegerTable(first, std::move(kept), support, log_pmf, score.growth > 0)};
}

}  // namespace fenchel::detail
