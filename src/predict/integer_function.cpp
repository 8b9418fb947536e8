#include "fenchel/predict/integer_function.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/compensated_sum.hpp"
#include "distribution/integers/heavy_prediction.hpp"
#include "fenchel/core/deformed.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/distribution/integers/integer_tail.hpp"

namespace fenchel::detail {
namespace {

constexpr double kLargestInteger = 0x1p62;
/// The most integers at which f is taken one by one.
constexpr index_t kMostValues = index_t{1} << 22;

bool is_open(index_t end) {
  return end == std::numeric_limits<index_t>::min() || end == std::numeric_limits<index_t>::max();
}

/// f / T, checked.
class Score {
 public:
  Score(std::function<double(double)> f, double temperature, IntegerRange range)
      : f_(std::move(f)),
        temperature_(temperature),
        lower_(is_open(range.first) ? -kInfinity : static_cast<double>(range.first)),
        upper_(is_open(range.last) ? kInfinity : static_cast<double>(range.last)) {}

  [[nodiscard]] bool contains(double t) const noexcept { return t >= lower_ && t <= upper_; }
  double operator()(double t) const {
    if (!contains(t)) return -kInfinity;
    const double value = f_(t);
    if (!(value < kInfinity))
      throw_domain_error("predict", "f(" + shortest(t) + ")", "must be a number below infinity", value);
    return value / temperature_;
  }

 private:
  std::function<double(double)> f_;
  double temperature_, lower_, upper_;
};

/// Values of f at all integers near 0, at 8 in each octave, and at the tops between them.
std::map<double, double> scan(const Score& f, IntegerRange range) {
  constexpr double kEach = 64;
  constexpr int kMostSteps = 1000;
  std::map<double, double> found;
  const auto look = [&](double t) {
    if (f.contains(t)) found.emplace(t, f(t));
  };
  for (double t = 0; t <= kEach; ++t) {
    look(t);
    look(-t);
  }
  for (double octave = kEach; octave < kLargestInteger; octave *= 2) {
    for (int i = 1; i <= 8; ++i) {
      look(octave * (1 + i / 8.0));
      look(-octave * (1 + i / 8.0));
    }
  }
  for (const index_t end : {range.first, range.last}) {
    if (!is_open(end)) look(static_cast<double>(end));
  }
  // Climb from every point that is no lower than its neighbours.
  std::vector<std::pair<double, double>> starts;
  for (auto at = found.begin(); at != found.end(); ++at) {
    const auto next = std::next(at);
    const double left = at == found.begin() ? -kInfinity : std::prev(at)->second;
    const double right = next == found.end() ? -kInfinity : next->second;
    const double gap = next == found.end() ? 1 : next->first - at->first;
    if (at->second > -kInfinity && at->second >= left && at->second >= right && gap > 1)
      starts.emplace_back(at->first, gap);
  }
  for (auto [t, gap] : starts) {
    double value = found[t];
    int steps = 0;
    for (double step = std::floor(gap / 2); step >= 1 && ++steps < kMostSteps; step = std::floor(step / 2)) {
      for (const double other : {t - step, t + step}) {
        const double there = f(other);
        if (there > value) {
          value = there;
          t = other;
          step *= 2;
          break;
        }
      }
    }
    look(t);
  }
  return found;
}

constexpr double kLastLog = 690, kFirstFar = 1e9;  // the largest log k; and a distance that is far out

/// The slope in log k of the logarithm of a power of k, as far out as it is finite; infinite, with its sign,
/// where it is no power.
template <class F>
double slope_far_out(const F& f) {
  double y = kLastLog;
  while (y > std::log(kFirstFar) && !std::isfinite(f(y))) y /= 2;
  const double slope = (f(y) - f(0.95 * y)) / (0.05 * y);
  return std::isfinite(slope) ? slope : (f(y) < 0 ? -kInfinity : kInfinity);
}

/// The search for the integers that matter: a window about the largest maximum that grows until what is left
/// on each side has no mass or is a smooth tail.
class Search {
 public:
  Search(const Tsallis& omega, std::function<double(double)> f, IntegerRange range)
      : alpha_(omega.alpha()), am1_(alpha_ - 1), range_(range), f_(std::move(f), omega.temperature(), range) {
    points_ = scan(f_, range);
    const auto best = std::max_element(points_.begin(), points_.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (best == points_.end() || best->second == -kInfinity)
      throw_domain_error("predict", "the largest f found", "must be finite", -kInfinity);
    if (std::abs(best->first) >= kLargestInteger)
      throw_domain_error("predict", "f(" + shortest(best->first) + ")",
                         "must be below the largest f: no distribution exists where f does not fall",
                         best->second);
    first_ = last_ = mode_ = static_cast<index_t>(best->first);
    top_ = best->second;
    values_ = {top_};
  }

  IntegerPrediction run() {
    constexpr index_t kFirstReach = 64, kFew = index_t{1} << 16;
    for (index_t reach = range_.size() <= kFew ? kFew : kFirstReach; reach <= kMostValues; reach *= 2) {
      if (am1_ > 0 && is_too_wide()) break;
      grow(reach);
      p_ = values_;
      for (double& value : p_) value -= top_;
      found_ = normalize(am1_, p_);
      tails_.clear();
      if (ends(-1) && ends(1)) return finish();
    }
    throw_domain_error("predict", "f",
                       "must fall " + std::string(am1_ > 0 ? "below its threshold" : "smoothly") +
                           " within " + std::to_string(kMostValues) + " integers of its maximum",
                       std::max(beyond(-1), beyond(1)));
  }

  [[nodiscard]] double top() const noexcept { return top_; }

 private:
  void grow(index_t reach) {
    std::vector<double> below, above;
    const index_t start = std::max(range_.first, std::min(mode_, first_ + reach) - reach);
    const index_t stop = std::min(range_.last, std::max(mode_, last_ - reach) + reach);
    for (index_t t = first_; t > start;) below.push_back(f_(static_cast<double>(--t)));
    for (index_t t = last_; t < stop;) above.push_back(f_(static_cast<double>(++t)));
    first_ -= static_cast<index_t>(below.size());
    last_ += static_cast<index_t>(above.size());
    values_.insert(values_.begin(), below.rbegin(), below.rend());
    values_.insert(values_.end(), above.begin(), above.end());
    const auto peak = std::max_element(values_.begin(), values_.end());
    mode_ = first_ + (peak - values_.begin());
    top_ = *peak;
  }

  /// A - f(mode) is at most log_alpha(n) on n integers: whether kMostValues cannot hold what is above.
  [[nodiscard]] bool is_too_wide() const {
    const double highest = top_ - deformed_log_of_exp(am1_, -std::log(static_cast<double>(kMostValues))) +
                           deformed_log_of_exp(am1_, IntegerTable::kLogSmallest);
    return std::any_of(points_.begin(), points_.end(), [&](const auto& point) {
      return std::abs(point.first - static_cast<double>(mode_)) > kMostValues && point.second >= highest;
    });
  }

  /// The largest value of the scan beyond the window on one side.
  [[nodiscard]] double beyond(int step) const {
    double largest = -kInfinity;
    for (const auto& [t, value] : points_) {
      if (step > 0 ? t > static_cast<double>(last_) : t < static_cast<double>(first_))
        largest = std::max(largest, value);
    }
    return largest;
  }

  /// Whether the window may end on this side.
  bool ends(int step) {
    if (step > 0 ? last_ == range_.last : first_ == range_.first) return true;
    const double edge = step > 0 ? values_.back() : values_.front();
    const double level = found_.offset + deformed_log_of_exp(am1_, IntegerTable::kLogSmallest);
    if (std::max(edge, beyond(step)) - top_ < level) return true;
    return am1_ <= 0 && is_tail(step);
  }

  /// Whether what follows is a tail, and then keeps it: it falls ever further, changes little from one
  /// integer to the next, and an integral gives the sum over as many integers as lie up to it.
  bool is_tail(int step) {
    constexpr double kAccuracy = 1e-12, kNothing = -1e4;
    if (!is_open(step > 0 ? range_.last : range_.first)) return false;
    const IntegerTail tail = tail_of(step, found_.offset);
    double before = kInfinity;
    for (double y = std::log(tail.first); y < tail.last_log_distance; y += kScanStep) {
      const double value = tail.at(std::exp(y)).log_p();
      if (!(value < before)) return false;
      if (value < kNothing) break;
      before = value;
    }
    if (!is_smooth(tail, tail.first)) return false;
    const auto sum = [&tail](double from) {
      const TailNodes nodes = tail_nodes(tail, from, 1, 0);
      return std::pair(nodes.sum(1, 0, [](const TailPoint&) { return 1.0; }), nodes.lost);
    };
    CompensatedSum direct;
    for (double k = tail.first; k < 2 * tail.first; ++k) direct.add(std::exp(tail.at(k).log_p()));
    const auto [whole, lost] = sum(tail.first);
    const double parts = direct.total() + sum(2 * tail.first).first;
    // It may be rough still, and smooth further out; what is lost at infinity is lost for every window.
    if (!(std::abs(whole - parts) <= kAccuracy)) return false;
    if (!(whole * lost <= kAccuracy) || !tail.decay.sums(1, 0))
      throw_domain_error("predict", "f", "must fall faster, so that the mass beyond 1e300 is below 1e-12",
                         whole * lost);
    if (am1_ < 0 && !tail.decay.sums(1 + am1_, 0))
      throw_domain_error("predict", "alpha",
                         "must be above " + shortest(std::round(1e4 / (1 - am1_ * tail.decay.growth)) / 1e4) +
                             " for a finite E_p[f] of a score that falls so",
                         alpha_);
    tails_.push_back(tail);
    return true;
  }

  [[nodiscard]] std::function<double(double)> relative() const {
    return [f = f_, top = top_, mode = static_cast<double>(mode_)](double x) { return f(mode + x) - top; };
  }

  [[nodiscard]] IntegerTail tail_of(int step, double offset) const {
    const auto log_p = [am1 = am1_, offset, step, f = relative()](double distance, double) {
      return LogPower{log_deformed_exp(am1, f(step * distance) - offset), 0};
    };
    const double fall = slope_far_out([&](double y) { return log_p(std::exp(y), y).rest; });
    const double first = static_cast<double>(step > 0 ? last_ - mode_ : mode_ - first_) + 1;
    return {mode_, step, first, kInfinity, {-fall, 0, 1}, log_p, kLastLog};
  }

  IntegerPrediction finish() {
    if (!tails_.empty()) {
      std::vector<double> window = values_;
      for (double& value : window) value -= top_;
      found_ = normalize_with_tails(am1_, window, relative(), tails_,
                                    [this](int step, double offset) { return tail_of(step, offset); });
      p_ = std::move(window);
    }
    const bool whole = am1_ > 0 || (first_ == range_.first && last_ == range_.last);
    const IntegerTable::LogPmf log_pmf = [am1 = am1_, offset = found_.offset, f = relative(),
                                          mode = static_cast<double>(mode_)](index_t t) {
      return log_deformed_exp(am1, f(static_cast<double>(t) - mode) - offset);
    };
    return {am1_,
            found_,
            mode_,
            relative(),
            growth(),
            0,
            whole ? IntegerTable(first_, p_) : IntegerTable(first_, p_, range_, log_pmf, tails_)};
  }

  /// f falls like x^growth: by which a loss knows whether E_q[f] exists.
  [[nodiscard]] double growth() const {
    const auto f = relative();
    double largest = 0;
    for (const double step : {-1.0, 1.0}) {
      if (f(step * kFirstFar) > -kInfinity)
        largest =
            std::max(largest, slope_far_out([&](double y) { return std::log(-f(step * std::exp(y))); }));
    }
    return largest;
  }

  static constexpr double kScanStep = 0.0866;  // 8 in each octave
  double alpha_, am1_;
  IntegerRange range_;
  Score f_;
  std::map<double, double> points_;
  index_t first_ = 0, last_ = 0, mode_ = 0;
  double top_ = 0;
  std::vector<double> values_, p_;
  Normalization found_{0, 0};
  std::vector<IntegerTail> tails_;
};

}  // namespace

IntegerFunctionPrediction predict_integer_function(const Tsallis& omega, std::function<double(double)> f,
                                                   IntegerRange range) {
  if (range.first > range.last)
    throw_domain_error("predict", "the last integer of the range", "must be at least the first",
                       static_cast<double>(range.last));
  Search search(omega, std::move(f), range);
  IntegerPrediction prediction = search.run();
  return {std::move(prediction), omega.temperature() * search.top(), omega.temperature()};
}

}  // namespace fenchel::detail
