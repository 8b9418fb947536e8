#include "predict/numeric/profile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {
namespace {

constexpr double kEnd = 0x1p200;    // how far an infinite range is scanned
constexpr double kDepth = 1e40;     // below the top, in temperatures, where the scan stops
constexpr int kStepsPerOctave = 8;  // of the geometric scans
constexpr int kEvenSteps = 2048, kMostSteps = 1 << 15;
constexpr int kPointsPerTurn = 4;
constexpr std::size_t kMostCentres = 64;  // of geometric scans
constexpr std::size_t kMostMaxima = 300;  // on an infinite range, where no scan would find them all

bool is_near(const std::vector<double>& sorted, double t, double distance) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), t - distance);
  return at != sorted.end() && *at <= t + distance;
}

}  // namespace

Profile::Profile(std::function<double(double)> f, const Interval& range, double temperature)
    : f_(std::move(f)), range_(range), temperature_(temperature), top_(-kInfinity) {
  const bool bounded = !std::isinf(range.lower()) && !std::isinf(range.upper());
  if (!std::isinf(range.lower())) add(range.lower());
  if (!std::isinf(range.upper())) add(range.upper());
  if (bounded) {
    add_finely(range);
  } else {
    add_geometrically(0);
    if (!std::isinf(range.lower())) add_geometrically(range.lower());
    if (!std::isinf(range.upper())) add_geometrically(range.upper());
  }
  if (top_ == -kInfinity) throw_domain_error("predict", "the largest f found", "must be finite", top_);
  find_turns();
  const auto rising = [&](double end, double inner) {
    return std::isinf(end) && std::abs(inner) >= kEnd / 2 && argmax_ == inner;
  };
  if (rising(range.lower(), points_.begin()->first) || rising(range.upper(), points_.rbegin()->first)) {
    throw_domain_error("predict", "f(" + shortest(argmax_) + ")",
                       "must be less than f nearer to 0: no distribution exists where f does not fall", top_);
  }
}

double Profile::checked(double t) const {
  const double value = f_(t);
  if (!(value < kInfinity))
    throw_domain_error("predict", "f(" + shortest(t) + ")", "must be a number below infinity", value);
  return value;
}

double Profile::operator()(double t) const {
  const double value = checked(t);
  return value >= top_ ? 0 : (value - top_) / temperature_;
}

double Profile::add(double t) {
  const auto [at, added] = points_.try_emplace(t, 0);
  if (!added) return at->second;
  at->second = checked(t);
  if (at->second > top_) {
    top_ = at->second;
    argmax_ = t;
  }
  return at->second;
}

/// Points one to each of equal cells, not at equal distances, by which waves of that length would be missed.
void Profile::add_finely(const Interval& where) {
  constexpr double kGolden = 0.618033988749894848205;
  add(where.lower());
  add(where.upper());
  for (int count = kEvenSteps;; count *= 2) {
    for (int i = 0; i < count; ++i) {
      const double place = kGolden * i;
      add(std::lerp(where.lower(), where.upper(), (i + place - std::floor(place)) / count));
    }
    list_turns();
    const auto inside = [&](const std::vector<double>& turns) {
      return std::upper_bound(turns.begin(), turns.end(), where.upper()) -
             std::lower_bound(turns.begin(), turns.end(), where.lower());
    };
    const index_t turns = inside(maxima_) + inside(minima_);
    if (kPointsPerTurn * turns <= count) return;
    if (count == kMostSteps)
      throw ConvergenceError(
          error_message("predict", "the number of turning points of f",
                        "must be at most " + shortest(index_t{kMostSteps / kPointsPerTurn}), turns));
  }
}

void Profile::add_geometrically(double centre) {
  if (range_.contains(centre)) add(centre);
  constexpr double kNormal =
      std::numeric_limits<double>::min();  // a smaller step times a factor may be itself
  const double ulp = std::abs(std::nextafter(centre, kInfinity) - centre);
  const double least = centre == 0 ? 0x1p-60 : std::max(4 * ulp, kNormal);
  const double factor = std::exp2(1.0 / kStepsPerOctave);
  for (const double direction : {-1.0, 1.0}) {
    for (double step = least; step <= kEnd; step *= factor) {
      const double t = centre + direction * step;
      if (!range_.contains(t)) {
        if (direction < 0 ? t < range_.lower() : t > range_.upper()) break;
        continue;
      }
      const double value = add(t);
      if (value > -kInfinity && (value - top_) / temperature_ < -kDepth) break;
    }
  }
}

void Profile::find_mask_edges() {
  std::vector<std::pair<double, double>> changes;
  for (auto next = std::next(points_.begin()); next != points_.end(); ++next) {
    const auto here = std::prev(next);
    if (std::isinf(here->second) != std::isinf(next->second)) changes.emplace_back(here->first, next->first);
  }
  for (auto [lower, upper] : changes) {
    const bool masked_below = std::isinf(points_.at(lower));
    for (double middle; middle = lower + (upper - lower) / 2, middle > lower && middle < upper;)
      (std::isinf(add(middle)) == masked_below ? lower : upper) = middle;
  }
}

/// Golden section for the largest sign * f between the neighbours of t.
void Profile::polish(double t, double sign) {
  const auto at = points_.find(t);
  double lower = at == points_.begin() ? t : std::prev(at)->first;
  double upper = std::next(at) == points_.end() ? t : std::next(at)->first;
  if (std::isinf(at->second)) return;
  constexpr double kGolden = 0.381966011250105151795;
  double best = t, best_value = sign * at->second;
  for (int iteration = 0; iteration < 200; ++iteration) {
    const bool right = upper - best > best - lower;
    const double other = best + kGolden * (right ? upper - best : lower - best);
    if (other <= lower || other >= upper || other == best) break;
    const double value = sign * add(other);
    if (value > best_value) {
      (right ? lower : upper) = best;
      best = other;
      best_value = value;
    } else {
      (right ? upper : lower) = other;
    }
  }
}

/// Turning points with a hysteresis above the noise of f.
void Profile::list_turns() {
  maxima_.clear();
  minima_.clear();
  double high = -kInfinity, high_at = 0, low = kInfinity, low_at = 0;
  bool rising = true;
  for (const auto& [t, value] : points_) {
    const double noise = 1e-11 * temperature_ + 64 * std::numeric_limits<double>::epsilon() *
                                                    (std::isinf(value) ? 0 : std::abs(value));
    if (rising) {
      if (value > high) {
        high = value;
        high_at = t;
      } else if (value < high - noise) {
        maxima_.push_back(high_at);
        rising = false;
        low = value;
        low_at = t;
      }
    } else if (value < low) {
      low = value;
      low_at = t;
    } else if (value > low + noise || (std::isinf(low) && !std::isinf(value))) {
      minima_.push_back(low_at);
      rising = true;
      high = value;
      high_at = t;
    }
  }
  if (rising && high > -kInfinity) maxima_.push_back(high_at);
}

/// Polishes each turning point, and scans about each maximum.
void Profile::find_turns() {
  constexpr int kRounds = 6;
  for (int round = 0; round < kRounds; ++round) {
    find_mask_edges();
    list_turns();
    if (std::isinf(range_.width()) && maxima_.size() > kMostMaxima)
      throw ConvergenceError(error_message("predict", "the number of maxima of f on an infinite domain",
                                           "must be at most " + shortest(static_cast<index_t>(kMostMaxima)),
                                           static_cast<index_t>(maxima_.size())));

    bool found = false;
    const auto search = [&](double t, double sign) {
      const auto at = points_.find(t);
      const double lower = at == points_.begin() ? t : std::prev(at)->first;
      const double upper = std::next(at) == points_.end() ? t : std::next(at)->first;
      if (is_near(searched_, t, std::max(t - lower, upper - t) + 1e-7 * std::abs(t))) return;
      polish(t, sign);
      searched_.insert(std::upper_bound(searched_.begin(), searched_.end(), t), t);
      found = true;
    };
    const std::vector<double> highs = maxima_, lows = minima_;
    for (const double t : highs) search(t, 1);
    for (const double t : lows) search(t, -1);
    if (!found) return;
    if (highs.size() <= kMostCentres)
      for (const double t : highs) add_geometrically(t);
  }
}

std::vector<Interval> Profile::level_set(double height) const {
  const auto inside = [&](double f) {
    return f > -kInfinity && (std::isinf(height) || (f - top_) / temperature_ >= -height);
  };
  const auto edge = [&](double in, double out) {  // the first point outside; at a mask the last inside
    for (double middle; middle = in + (out - in) / 2, middle != in && middle != out;)
      (inside(checked(middle)) ? in : out) = middle;
    const bool at_end = out == range_.lower() || out == range_.upper();
    return std::isinf(checked(out)) && !at_end ? in : out;
  };
  std::vector<Interval> pieces;
  double start = range_.lower();
  bool in = inside(points_.begin()->second);
  for (auto next = std::next(points_.begin()); next != points_.end(); ++next) {
    const auto here = std::prev(next);
    if (inside(next->second) == in) continue;
    if (in) {
      pieces.emplace_back(start, edge(here->first, next->first));
    } else {
      start = edge(next->first, here->first);
    }
    in = !in;
  }
  if (in) pieces.emplace_back(start, range_.upper());
  return pieces;
}

bool Profile::has_changed(FunctionRef<void()> look) {
  const std::size_t before = maxima_.size() + minima_.size();
  const double old_top = top_;
  look();
  find_turns();
  const double rounding = 4 * std::numeric_limits<double>::epsilon() * std::abs(old_top);
  return maxima_.size() + minima_.size() != before || top_ > old_top + rounding;
}

bool Profile::look_closer(const Interval& where) {
  return has_changed([&] { add_finely(where); });
}

bool Profile::look_at(std::span<const double> where) {
  return has_changed([&] {
    for (const double t : where) add(t);
  });
}

}  // namespace fenchel::detail
