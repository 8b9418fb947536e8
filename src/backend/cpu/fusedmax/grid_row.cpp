#include "backend/cpu/fusedmax/grid_row.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/compensated_sum.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {
namespace {

constexpr index_t kOutside = -1;

/// A larger gamma changes nothing but that sums overflow.
constexpr double kLargestGamma = 1e290;

/// Values that differ by less, in units of the largest number they are made of, are one plateau.
constexpr double kSplitTolerance = 64 * std::numeric_limits<double>::epsilon();

/// The proximal map x of gamma TV above the threshold tau by cuts [D. S. Hochbaum, J. ACM 48 (2001); A.
/// Chambolle, J. Darbon, IJCV 84 (2009)]: {x > level} is the set of largest sum (score - level) - gamma
/// perimeter, and x inside of it, or outside, does not change with the scores on the other side.
///
/// A flow of at most gamma runs along every edge; a pixel's balance is score - level less what flows out. The
/// pixels of a region are nodes[begin, end), their region is begin; edges between regions are saturated.
class GridSolver {
 public:
  GridSolver(const GridLayout& layout, double gamma, const GridScratch& memory) noexcept
      : stride_(layout.stride()), size_(layout.height * layout.width), gamma_(gamma), m_(memory) {
    std::fill_n(m_.right, layout.cells(), 0.0);
    std::fill_n(m_.down, layout.cells(), 0.0);
    std::fill_n(m_.region, layout.cells(), kOutside);
    for (index_t i = 0; i < size_; ++i) m_.nodes[i] = layout.at(i);
  }

  /// From scores, of which the largest is 0, to probabilities in `balance`; returns the threshold.
  [[nodiscard]] double solve() const noexcept {
    double level = bound_of_threshold();
    const index_t end = gamma_ == 0 ? size_ : upper_set(level);
    for (index_t k = 0; k < end; ++k) m_.score[m_.nodes[k]] -= level;
    if (gamma_ == 0) {
      for (index_t k = 0; k < end; ++k) m_.balance[m_.nodes[k]] = m_.score[m_.nodes[k]];
    } else {
      split(end);
    }
    return level + project(end);
  }

 private:
  /// The neighbour that arc 0 to 3 leads to: right, left, down, up.
  [[nodiscard]] index_t neighbour(index_t v, index_t arc) const noexcept {
    const index_t step = arc < 2 ? 1 : stride_;
    return arc % 2 == 0 ? v + step : v - step;
  }
  /// What flows along the arc: kept with its left or upper end, seen from there.
  [[nodiscard]] double flow(index_t v, index_t arc) const noexcept {
    const double* flows = arc < 2 ? m_.right : m_.down;
    return arc % 2 == 0 ? flows[v] : -flows[neighbour(v, arc)];
  }
  /// More flow along the arc, or for side = -1 against it, up to gamma exactly.
  void add_flow(index_t v, index_t arc, double amount, double side) const noexcept {
    const double had = side * flow(v, arc), has = side * (amount == gamma_ - had ? gamma_ : had + amount);
    double* flows = arc < 2 ? m_.right : m_.down;
    if (arc % 2 == 0) {
      flows[v] = has;
    } else {
      flows[neighbour(v, arc)] = -has;
    }
  }

  /// (sum_E score - gamma perimeter(E) - 1) / |E|, which is tau for E = {x > tau} and less for all other E:
  /// its maximum over the sets {score >= s}. Without gamma it is the threshold.
  [[nodiscard]] double bound_of_threshold() const noexcept {
    std::sort(m_.nodes, m_.nodes + size_, [&](index_t u, index_t v) { return m_.score[u] > m_.score[v]; });
    for (index_t k = 0; k < size_; ++k) m_.region[m_.nodes[k]] = 1;
    CompensatedSum sum;
    index_t perimeter = 0;
    double best = -kInfinity;
    for (index_t k = 0; k < size_ && m_.score[m_.nodes[k]] > -kInfinity; ++k) {
      const index_t v = m_.nodes[k];
      sum.add(m_.score[v]);
      m_.region[v] = 0;
      for (index_t arc = 0; arc < 4; ++arc) {
        const index_t other = m_.region[neighbour(v, arc)];
        if (other != kOutside) perimeter += other == 0 ? -1 : 1;
      }
      const double value =
          (sum.total() - gamma_ * static_cast<double>(perimeter) - 1) / static_cast<double>(k + 1);
      best = std::max(best, value);
    }
    for (index_t k = 0; k < size_; ++k) m_.region[m_.nodes[k]] = 0;
    return best;
  }

  /// Newton's iteration for tau from below: the bound that the set {x > level} gives is the next level. Sets
  /// shrink; the last one comes first among the nodes.
  index_t upper_set(double& level) const noexcept {
    std::sort(m_.nodes, m_.nodes + size_);
    index_t end = size_;
    while (cut(0, end, level)) {
      const index_t middle = partition(0, end);
      if (middle == end || middle == 0) break;
      mark(middle, end);
      end = middle;
      level = std::max(level, value(0, end) - 1 / static_cast<double>(end));
    }
    return end;
  }

  /// Regions into plateaus: a region is cut at its mean until no part of it lies higher than the rest.
  void split(index_t size) const noexcept {
    double largest = gamma_;
    for (index_t k = 0; k < size; ++k) largest = std::max(largest, std::abs(m_.score[m_.nodes[k]]));
    const double tolerance = kSplitTolerance * largest;
    index_t pending = 0;
    m_.ends[pending++] = size;
    for (index_t begin = 0; pending > 0;) {
      const index_t end = m_.ends[pending - 1];
      const double mean = value(begin, end);
      if (cut(begin, end, mean)) {
        const index_t middle = partition(begin, end);
        if (middle > begin && middle < end) {
          mark(middle, end);
          if (value(begin, middle) - value(middle, end) > tolerance) {
            m_.ends[pending++] = middle;
            continue;
          }
        }
      }
      for (index_t k = begin; k < end; ++k) m_.balance[m_.nodes[k]] = mean;
      begin = end;
      --pending;
    }
    weld(size, tolerance);
  }

  /// A plateau at the very level of a cut may have come apart: its pieces get the value of the first.
  void weld(index_t size, double tolerance) const noexcept {
    constexpr index_t kOpen = 0, kDone = 1;
    for (index_t k = 0; k < size_; ++k) m_.label[m_.nodes[k]] = k < size ? kOpen : kDone;
    for (index_t k = 0; k < size; ++k) {
      const index_t first = m_.nodes[k];
      if (m_.label[first] == kDone) continue;
      m_.label[first] = kDone;
      m_.order[0] = first;
      for (index_t i = 0, found = 1; i < found; ++i) {
        for (index_t arc = 0; arc < 4; ++arc) {
          const index_t u = neighbour(m_.order[i], arc);
          if (m_.region[u] == kOutside || m_.label[u] == kDone) continue;
          if (std::abs(m_.balance[u] - m_.balance[first]) > tolerance) continue;
          m_.label[u] = kDone;
          m_.balance[u] = m_.balance[first];
          m_.order[found++] = u;
        }
      }
    }
  }

  /// Sparsemax of the values: less the threshold, which is returned, and at least 0.
  [[nodiscard]] double project(index_t end) const noexcept {
    double top = -kInfinity;
    for (index_t k = 0; k < end; ++k) top = std::max(top, m_.balance[m_.nodes[k]]);
    double threshold = -1;  // less the top
    for (index_t last = end + 1;;) {
      CompensatedSum sum;
      index_t count = 0;
      for (index_t k = 0; k < end; ++k) {
        const double x = m_.balance[m_.nodes[k]] - top;
        if (x <= threshold) continue;
        sum.add(x);
        ++count;
      }
      if (count >= last) break;
      last = count;
      threshold = std::max(threshold, (sum.total() - 1) / static_cast<double>(count));
    }
    for (index_t k = 0; k < end; ++k) {
      double& x = m_.balance[m_.nodes[k]];
      x = std::max(0.0, x - top - threshold);
    }
    for (index_t k = end; k < size_; ++k) m_.balance[m_.nodes[k]] = 0;
    return top + threshold;
  }

  /// The mean of x over a region.
  [[nodiscard]] double value(index_t begin, index_t end) const noexcept {
    CompensatedSum sum;
    index_t outflow = 0;
    for (index_t k = begin; k < end; ++k) {
      const index_t v = m_.nodes[k];
      sum.add(m_.score[v]);
      for (index_t arc = 0; arc < 4; ++arc) {
        const index_t other = m_.region[neighbour(v, arc)];
        if (other != begin && other != kOutside) outflow += flow(v, arc) > 0 ? 1 : -1;
      }
    }
    return (sum.total() - gamma_ * static_cast<double>(outflow)) / static_cast<double>(end - begin);
  }

  void mark(index_t begin, index_t end) const noexcept {
    for (index_t k = begin; k < end; ++k) m_.region[m_.nodes[k]] = begin;
  }

  /// Brings the nodes without label to the front, in their order; returns how many they are, past begin.
  [[nodiscard]] index_t partition(index_t begin, index_t end) const noexcept {
    index_t uppers = begin, lowers = 0;
    for (index_t k = begin; k < end; ++k) {
      const index_t v = m_.nodes[k];
      if (m_.label[v] < 0) {
        m_.nodes[uppers++] = v;
      } else {
        m_.order[lowers++] = v;
      }
    }
    std::copy_n(m_.order, lowers, m_.nodes + uppers);
    return uppers;
  }

  /// A largest flow within a region, from positive balances to negative ones, in the phases of E. A. Dinic,
  /// Soviet Math. Dokl. 11 (1970). Returns whether some of it found no way; the pixels without label are then
  /// a set of largest sum (score - level) - gamma perimeter. A phase searches from the rarer sign, so that a
  /// few pixels serve all the others at once.
  [[nodiscard]] bool cut(index_t begin, index_t end, double level) const noexcept {
    for (index_t k = begin; k < end; ++k) {
      const index_t v = m_.nodes[k];
      m_.balance[v] =
          m_.score[v] - level - (m_.right[v] - m_.right[v - 1] + (m_.down[v] - m_.down[v - stride_]));
    }
    for (;;) {
      index_t positive = 0, negative = 0;
      for (index_t k = begin; k < end; ++k) {
        positive += m_.balance[m_.nodes[k]] > 0;
        negative += m_.balance[m_.nodes[k]] < 0;
      }
      if (positive == 0) return false;
      const double side = negative <= positive ? 1 : -1;
      if (!serve_roots(begin, end, side, std::max(positive, negative))) {
        if (side < 0) {  // labels say what the positive pixels reach
          for (index_t k = begin; k < end; ++k) m_.label[m_.nodes[k]] = -1 - m_.label[m_.nodes[k]];
        }
        return true;
      }
    }
  }

  /// One phase, of which side = -1 is the mirror image: labels are distances to the nearest root, a pixel of
  /// negative side * balance; roots then draw from the sources, where it is positive. Returns whether a
  /// source was found.
  [[nodiscard]] bool serve_roots(index_t begin, index_t end, double side, index_t sources) const noexcept {
    index_t found = 0, reached = 0;
    for (index_t k = begin; k < end; ++k) {
      const index_t v = m_.nodes[k];
      m_.arc[v] = 0;
      m_.label[v] = side * m_.balance[v] < 0 ? 0 : -1;
      if (m_.label[v] == 0) m_.order[found++] = v;
    }
    const index_t roots = found;
    for (index_t k = 0; k < found && reached < sources; ++k) {
      const index_t v = m_.order[k], next = m_.label[v] + 1;
      const auto visit = [&](index_t arc) {
        const index_t u = neighbour(v, arc);
        if (m_.region[u] != begin || m_.label[u] >= 0 || side * flow(v, arc) <= -gamma_) return;
        m_.label[u] = next;
        m_.order[found++] = u;
        reached += side * m_.balance[u] > 0;
      };
      visit(0);
      visit(1);
      visit(2);
      visit(3);
    }
    for (index_t k = 0; k < roots && reached > 0; ++k) serve(m_.order[k], begin, side);
    return reached > 0;
  }

  /// Draws what a root lacks along paths of rising labels, until it lacks nothing or all are blocked, depth
  /// first: `limit` is what the arc into path[depth] can bring, `left` what of it has not been found. A
  /// pixel's arcs before m_.arc are blocked for the rest of the phase.
  void serve(index_t root, index_t region, double side) const noexcept {
    index_t depth = 0;
    m_.path[0] = root;
    m_.left[0] = std::abs(m_.balance[root]);
    for (;;) {
      const index_t v = m_.path[depth];
      if (m_.left[depth] > 0 && m_.arc[v] < 4) {
        const index_t u = neighbour(v, m_.arc[v]);
        const double room = gamma_ + side * flow(v, m_.arc[v]);
        if (m_.region[u] != region || m_.label[u] != m_.label[v] + 1 || !(room > 0)) {
          ++m_.arc[v];
          continue;
        }
        const double limit = std::min(m_.left[depth], room);
        const double taken = std::clamp(side * m_.balance[u], 0.0, limit);
        m_.balance[u] -= side * taken;
        ++depth;
        m_.path[depth] = u;
        m_.limit[depth] = limit;
        m_.left[depth] = limit - taken;
      } else if (depth > 0) {
        const double amount = m_.limit[depth] - m_.left[depth];
        const bool blocked = m_.left[depth] > 0;
        const index_t parent = m_.path[--depth];
        add_flow(parent, m_.arc[parent], amount, -side);
        m_.left[depth] -= amount;
        if (blocked) ++m_.arc[parent];
      } else {
        break;
      }
    }
    m_.balance[root] = -side * m_.left[0];
  }

  index_t stride_, size_;
  double gamma_;
  const GridScratch& m_;
};

}  // namespace

template <class Real>
MappedRow fusedmax_grid_row(const Real* scores, const GridLayout& layout, double gamma,
                            const GridScratch& scratch, Real* p) noexcept {
  const index_t n = layout.height * layout.width;
  double top = -kInfinity;
  bool valid = true;
  for (index_t i = 0; i < n; ++i) {
    valid = valid && scores[i] < std::numeric_limits<Real>::infinity();
    top = std::max(top, double{scores[i]});
  }
  if (!valid || top == -kInfinity) {
    std::fill_n(p, n, std::numeric_limits<Real>::quiet_NaN());
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    return {kNaN, kNaN};
  }
  GridSolver solver(layout, std::min(gamma, kLargestGamma), scratch);
  for (index_t i = 0; i < n; ++i) scratch.score[layout.at(i)] = scores[i] - top;
  const double threshold = solver.solve();
  for (index_t i = 0; i < n; ++i) p[i] = static_cast<Real>(scratch.balance[layout.at(i)]);
  return {top, threshold};
}

template MappedRow fusedmax_grid_row(const float*, const GridLayout&, double, const GridScratch&,
                                     float*) noexcept;
template MappedRow fusedmax_grid_row(const double*, const GridLayout&, double, const GridScratch&,
                                     double*) noexcept;

}  // namespace fenchel::detail
