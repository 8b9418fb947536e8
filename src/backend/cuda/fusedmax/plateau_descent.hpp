#pragma once

#include <cstdint>

#include "fenchel/core/config.hpp"
#include "fenchel/core/infinity.hpp"

/// fusedmax of a row by many threads, each of which owns some neighbouring columns: what one of them does
/// between the scans over all of them.
///
/// The row is cut into components, intervals of columns whose neighbours are known to be higher or lower. The
/// mean of a component, with gamma for each higher neighbour and less gamma for each lower one, is the height
/// of all its columns unless {x > mean} is a proper part of it: then that set cuts it into components
/// [D. S. Hochbaum, J. ACM 48 (2001)]. All are cut at once, until none is. A set {x > level} follows from the
/// gain of the columns so far with the last one above, less that with it below, which goes from column to
/// column by y -> clamp(y, -gamma, gamma) + x - level (fusedmax of the CPU): such maps compose to maps of the
/// same shape, so that threads scan them. Below a lower bound of tau nothing needs to be cut.
namespace fenchel::detail {

/// y -> min(max(y + shift, low), high).
struct ClampedShift {
  double shift, low, high;

  [[nodiscard]] FENCHEL_HD double operator()(double y) const noexcept {
    const double moved = y + shift;  // NaN where infinity loses infinity: then high is right
    return !(moved < high) ? high : moved < low ? low : moved;
  }
};
FENCHEL_HD constexpr ClampedShift no_shift() noexcept { return {0, -kInfinity, kInfinity}; }

struct Compose {
  FENCHEL_HD ClampedShift operator()(const ClampedShift& first, const ClampedShift& then) const noexcept {
    return {first.shift + then.shift, then(first.low), then(first.high)};
  }
};

/// Where a column lies about the level of its component, once that is decided: with the last column of a
/// component all are.
enum class Side : std::uint8_t { kUndecided, kBelow, kAbove };

/// Of neighbours, the decision for the columns before them.
struct FirstDecided {
  FENCHEL_HD int operator()(int left, int right) const noexcept { return left != 0 ? left : right; }
};

/// The ends of components, at their first and last column. What lies beyond is higher (1), lower (-1), or no
/// column at all (0).
class Edges {
 public:
  FENCHEL_HD void begin(int beyond) noexcept {
    bits_ |= static_cast<std::uint8_t>(kBegin | (beyond + 1) << 2);
  }
  FENCHEL_HD void end(int beyond) noexcept { bits_ |= static_cast<std::uint8_t>(kEnd | (beyond + 1) << 4); }
  [[nodiscard]] FENCHEL_HD bool begins() const noexcept { return (bits_ & kBegin) != 0; }
  [[nodiscard]] FENCHEL_HD bool ends() const noexcept { return (bits_ & kEnd) != 0; }
  [[nodiscard]] FENCHEL_HD int left() const noexcept { return (bits_ >> 2 & 3) - 1; }
  [[nodiscard]] FENCHEL_HD int right() const noexcept { return (bits_ >> 4 & 3) - 1; }

 private:
  static constexpr int kBegin = 1, kEnd = 2;
  std::uint8_t bits_ = 0;
};

/// The columns of a row that may be in the support, one after the other.
struct PlateauColumns {
  double* x;     ///< score less the largest
  double* mean;  ///< of the component, at its first column
  int* column;   ///< which of the row it is
  Edges* edges;  ///< of components
  Side* side;    ///< of the level of its component
};
inline constexpr std::size_t kPlateauColumnBytes =
    2 * sizeof(double) + sizeof(int) + sizeof(Edges) + sizeof(Side);

/// The columns [begin, end) of a thread.
struct Span {
  int begin, end;
};

/// The mean of the last component that begins among some columns.
struct LastMean {
  double mean;
  int known;
};
struct LatterMean {
  FENCHEL_HD LastMean operator()(const LastMean& first, const LastMean& then) const noexcept {
    return then.known != 0 ? then : first;
  }
};

/// The columns that belong to a component which begins before them.
struct OpenSum {
  double sum;
  int count;
  int edge;    ///< beyond its end, where that is among the columns
  int closed;  ///< whether no column after these belongs to it
};
struct JoinOpen {
  FENCHEL_HD OpenSum operator()(const OpenSum& left, const OpenSum& right) const noexcept {
    if (left.closed != 0) return left;
    return {left.sum + right.sum, left.count + right.count, right.edge, right.closed};
  }
};

/// What components above a threshold add up to, and how often components were cut.
struct Above {
  double sum;
  int count, cuts;
};
struct AddAbove {
  FENCHEL_HD Above operator()(const Above& x, const Above& y) const noexcept {
    return {x.sum + y.sum, x.count + y.count, x.cuts + y.cuts};
  }
};

/// A lower bound of tau by a set of columns E: (sum_E x - gamma edges(E) - 1) / |E|, here for intervals.
struct IntervalBound {
  double sum, best;
  int count;
};
struct BestInterval {
  double gamma;
  FENCHEL_HD IntervalBound operator()(const IntervalBound& x, const IntervalBound& y) const noexcept {
    const double best = x.best > y.best ? x.best : y.best;
    return bounded({x.sum + y.sum, best, x.count + y.count}, 2 * gamma);
  }
  FENCHEL_HD static IntervalBound bounded(IntervalBound x, double edges) noexcept {
    const double own = (x.sum - edges - 1) / (x.count > 0 ? x.count : 1);
    if (x.count > 0 && own > x.best) x.best = own;
    return x;
  }
};

/// What a thread knows of the component that begins among its columns and ends after them.
struct OpenHead {
  int at;  ///< its first column, or -1
  OpenSum part;
};

struct CutColumns {
  OpenSum before;  ///< of the component that begins before the columns
  OpenHead last;
  Above above;
};

/// One thread's view of the descent. `open_mean` is that of the component its first column lies in, unless it
/// begins there.
class PlateauThread {
 public:
  FENCHEL_HD PlateauThread(const PlateauColumns& columns, Span own, double gamma) noexcept
      : at_(columns), own_(own), gamma_(gamma) {}

  /// How the gain goes through the columns.
  [[nodiscard]] FENCHEL_HD ClampedShift gains(double open_mean, double bound) const noexcept {
    ClampedShift all = no_shift();
    double level = larger(open_mean, bound);
    for (int i = own_.begin; i < own_.end; ++i) {
      const Edges edges = at_.edges[i];
      if (edges.begins()) level = larger(at_.mean[i], bound);
      const double height = at_.x[i] - level;
      if (edges.begins()) {
        const double start = gamma_ * edges.left() + height;
        all = {0, start, start};
      } else {
        all = {all.shift + height, clamped(all.low) + height, clamped(all.high) + height};
      }
    }
    return all;
  }

  /// Decides columns from the gain before them; returns the first decision, 0 if there is none.
  FENCHEL_HD int decide(double gain, double open_mean, double bound) const noexcept {
    Side first = Side::kUndecided;
    double level = larger(open_mean, bound);
    for (int i = own_.begin; i < own_.end; ++i) {
      const Edges edges = at_.edges[i];
      if (edges.begins()) level = larger(at_.mean[i], bound);
      gain = (edges.begins() ? gamma_ * edges.left() : clamped(gain)) + (at_.x[i] - level);
      Side side = gain > gamma_ ? Side::kAbove : gain <= -gamma_ ? Side::kBelow : Side::kUndecided;
      if (edges.ends()) side = gain + gamma_ * edges.right() > 0 ? Side::kAbove : Side::kBelow;
      at_.side[i] = side;
      if (first == Side::kUndecided) first = side;
    }
    return static_cast<int>(first);
  }

  /// An undecided column is on the side of the next one. `next` is that of the column after the last.
  [[nodiscard]] FENCHEL_HD int count_above(int next) const noexcept {
    auto side = static_cast<Side>(next);
    int count = 0;
    for (int i = own_.end - 1; i >= own_.begin; --i) {
      if (at_.side[i] != Side::kUndecided) side = at_.side[i];
      at_.side[i] = side;
      count += side == Side::kAbove ? 1 : 0;
    }
    return count;
  }

  /// Where the columns above go when only they are kept: `column` is that place, -1 for the others.
  FENCHEL_HD void number_above(int place) const noexcept {
    for (int i = own_.begin; i < own_.end; ++i) at_.column[i] = at_.side[i] == Side::kAbove ? place++ : -1;
  }

  /// Cuts components between columns of different sides and sums the new ones.
  [[nodiscard]] FENCHEL_HD CutColumns cut(int next, double bound) const noexcept {
    auto side = static_cast<Side>(next);
    CutColumns result{{0, 0, 0, 0}, {-1, {}}, {0, 0, 0}};
    OpenSum part{0, 0, 0, 0};
    for (int i = own_.end - 1; i >= own_.begin; --i) {
      Edges edges = at_.edges[i];
      const Side right = side;
      if (at_.side[i] != Side::kUndecided) side = at_.side[i];
      if (!edges.ends() && side != right) {
        edges.end(right == Side::kAbove ? 1 : -1);
        ++result.above.cuts;
      }
      if (edges.ends()) part = {0, 0, edges.right(), 1};
      part.sum += at_.x[i];
      ++part.count;
      if (!edges.begins() && at_.side[i - 1] != Side::kUndecided && at_.side[i - 1] != side) {
        edges.begin(at_.side[i - 1] == Side::kAbove ? 1 : -1);
      }
      at_.edges[i] = edges;
      if (!edges.begins()) continue;
      if (part.closed != 0) {
        close(i, part, bound, result.above);
      } else {
        result.last = {i, part};
      }
      part = {0, 0, 0, 1};
    }
    result.before = part;
    return result;
  }

  /// The mean of a component whose first column is one's own.
  FENCHEL_HD void close(int first, const OpenSum& whole, double bound, Above& above) const noexcept {
    const double sum = whole.sum + gamma_ * (at_.edges[first].left() + whole.edge);
    const double mean = sum / whole.count;
    at_.mean[first] = mean;
    if (!(mean > bound)) return;
    above.sum += sum;
    above.count += whole.count;
  }

  /// The mean of the last component that begins among the columns.
  [[nodiscard]] FENCHEL_HD LastMean last_mean() const noexcept {
    for (int i = own_.end - 1; i >= own_.begin; --i) {
      if (at_.edges[i].begins()) return {at_.mean[i], 1};
    }
    return {0, 0};
  }

  /// Replaces the scores by the heights of the columns; returns the largest.
  [[nodiscard]] FENCHEL_HD double flatten(double open_mean) const noexcept {
    double height = open_mean, highest = -kInfinity;
    for (int i = own_.begin; i < own_.end; ++i) {
      if (at_.edges[i].begins()) height = at_.mean[i];
      at_.x[i] = height;
      highest = larger(highest, height);
    }
    return highest;
  }

  [[nodiscard]] FENCHEL_HD Above above(double pivot, double threshold) const noexcept {
    Above result{0, 0, 0};
    for (int i = own_.begin; i < own_.end; ++i) {
      const double x = at_.x[i] - pivot;
      if (!(x > threshold)) continue;
      result.sum += x;
      ++result.count;
    }
    return result;
  }

 private:
  FENCHEL_HD static double larger(double x, double y) noexcept { return x > y ? x : y; }
  [[nodiscard]] FENCHEL_HD double clamped(double y) const noexcept {
    return y < -gamma_ ? -gamma_ : y > gamma_ ? gamma_ : y;
  }

  PlateauColumns at_;
  Span own_;
  double gamma_;
};

}  // namespace fenchel::detail
