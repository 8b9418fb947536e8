#include "backend/cpu/fusedmax/row.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/cpu/row_lanes.hpp"
#include "core/compensated_sum.hpp"
#include "fenchel/core/infinity.hpp"

/// One row of fusedmax by level sets: E = {prox(z) > level} maximises sum_E (z - level) less the gammas of
/// the edges that leave E, and that maximum is the mass above level. So tau is the largest (sum_E z -
/// edges(E) - 1) / |E| over all E: Newton's steps lead up to it through sets each within the last, and only
/// on the last one, the support, prox(z) is needed (docs/fusedmax.md).
namespace fenchel::detail {
namespace {

/// gamma is the same for all edges: a column below the level next to the outside is outside, too.
struct ConstantGamma {
  static constexpr bool kConstant = true;
  double gamma;
  FENCHEL_INLINE double operator[](index_t) const noexcept { return gamma; }
};

struct AnyGammas {
  static constexpr bool kConstant = false;
  const EdgeGammas& gammas;
  FENCHEL_INLINE double operator[](index_t k) const noexcept { return gammas[k]; }
};

template <class Real>
constexpr index_t kSumBlock = 8 * kLanes<Real>;

template <class Real>
struct RowSums {
  Real top;
  bool valid;  ///< no NaN, no +inf, and a finite score
};

/// The maximum, and the sum of each block of columns, all less the pivot.
template <class Real>
FENCHEL_INLINE RowSums<Real> sum_blocks(const Real* z, index_t n, Real pivot, double* sums) noexcept {
  Lanes<Real> top = -Real(kInfinity) - Lanes<Real>{};
  IntLanes<Real> bad{};
  for (index_t first = 0, block = 0; first < n; first += kSumBlock<Real>, ++block) {
    Lanes<Real> sum{};
    for_each_vector<Real>(
        std::min(kSumBlock<Real>, n - first), [&](index_t i, index_t count) FENCHEL_INLINE_LAMBDA {
          const Lanes<Real> x = load_up_to(z + first + i, count, -Real(kInfinity));
          for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA {
            top[j] = x[j] > top[j] ? x[j] : top[j];
            bad[j] |= !(x[j] < Real(kInfinity));
          });
          sum += (count == kLanes<Real> ? x : load_some(z + first + i, count, pivot)) - pivot;
        });
    sums[block] = sum_of<Real>(sum);
  }
  const Real largest = largest_of<Real>(top);
  return {largest, !any_of<Real>(bad) && largest > -Real(kInfinity)};
}

/// The first i in [begin, end) with hit(z[i]), or end.
template <class Real, class Hit>
FENCHEL_INLINE index_t find_first(const Real* z, index_t begin, index_t end, Hit hit) noexcept {
  for (; begin + kLanes<Real> <= end; begin += kLanes<Real>) {
    const Lanes<Real> x = load(z + begin);
    IntLanes<Real> hits;
    for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA { hits[j] = hit(x[j]); });
    if (any_of<Real>(hits)) break;
  }
  while (begin < end && !hit(z[begin])) ++begin;
  return begin;
}

/// A set of columns, and the lower bound of tau, less top, that it gives.
struct Bound {
  Run run;
  double level;
};

/// The best bound of the largest score, blocks of columns, and twice, four times ... as many. A little is
/// taken off for rounding of the sums.
template <class Real, class Gammas>
FENCHEL_INLINE Bound best_bound(const Real* z, index_t n, Real top, Real pivot, const Gammas& gammas,
                                double* sums) noexcept {
  const auto edges = [&](index_t begin, index_t end) FENCHEL_INLINE_LAMBDA {
    return (begin > 0 ? gammas[begin - 1] : 0.0) + (end < n ? gammas[end - 1] : 0.0);
  };
  const index_t peak = find_first(z, 0, n, [top](Real x) FENCHEL_INLINE_LAMBDA { return x == top; });
  const index_t around = peak / kSumBlock<Real> * kSumBlock<Real>;
  Bound best{{around, std::min(around + kSumBlock<Real>, n)}, -1 - edges(peak, peak + 1)};
  const double above_pivot = double{top} - double{pivot};
  index_t blocks = (n + kSumBlock<Real> - 1) / kSumBlock<Real>;
  for (index_t length = kSumBlock<Real>;; length *= 2) {
    for (index_t k = 0; k < blocks; ++k) {
      const index_t begin = k * length, end = std::min(begin + length, n);
      const double level = (sums[k] - edges(begin, end) - 1) / static_cast<double>(end - begin) - above_pivot;
      if (level > best.level && level < 0) best = {{begin, end}, level};  // sums less the pivot may overflow
    }
    if (blocks == 1) break;
    for (index_t k = 0; k < blocks / 2; ++k) sums[k] = sums[2 * k] + sums[2 * k + 1];
    if (blocks % 2 != 0) sums[blocks / 2] = sums[blocks - 1];
    blocks = (blocks + 1) / 2;
  }
  constexpr double kRounding = 64 * double{std::numeric_limits<Real>::epsilon()};
  best.level -= kRounding * (std::abs(best.level) + std::abs(above_pivot));
  return best;
}

/// sign (z - top - level) of eight columns.
template <class Real>
FENCHEL_INLINE Lanes<double> signed_heights(const Real* z, double sign, Real top, double level) noexcept {
  typedef Real Eight __attribute__((vector_size(8 * sizeof(Real))));
  Eight eight;
  std::memcpy(&eight, z, sizeof eight);
  return sign * ((__builtin_convertvector(eight, Lanes<double>) - double{top}) - level);
}

/// Where a scan may go on, one column at a time, with the d that it carries there.
struct Checkpoint {
  index_t at;
  double carry;
};

/// Passes over columns that stay outside (sign = 1), or inside (-1), eight at a time, after one that is. With
/// the sum S of sign (z - level) over eight columns, and P over those where it is positive, sign d is at most
/// carry + P within them and max(carry + S, -gamma + P) after; where carry + S is below -gamma, d does not
/// depend on what was carried. Stops before eight in which d may reach gamma, at `stop`.
template <class Real>
FENCHEL_INLINE Checkpoint pass_over(const Real* z, index_t begin, index_t end, double sign, Real top,
                                    double level, Real edge, double gamma, index_t& stop) noexcept {
  constexpr index_t kEight = kLanes<double>;
  const auto leaves = [sign, edge](Real x) FENCHEL_INLINE_LAMBDA { return sign > 0 ? x > edge : x <= edge; };
  const double reach = gamma * (1 - 1e-12);
  Checkpoint last{begin, -gamma};
  double carry = -gamma;
  index_t i = begin;
  for (bool quiet = true;;) {
    if (quiet) {
      i = find_first(z, i, end, leaves);
      last = {i, -gamma};
    }
    if (i + kEight > end) break;
    const Lanes<double> heights = signed_heights(z + i, sign, top, level);
    Lanes<double> gains;
    for_each_lane<double>([&](index_t j)
                              FENCHEL_INLINE_LAMBDA { gains[j] = heights[j] > 0 ? heights[j] : 0; });
    const double sum = sum_of_doubles(heights), gain = sum_of_doubles(gains);
    if (carry + gain >= reach) break;
    if (carry + sum <= -gamma) last = {i, carry};
    carry = std::max(carry + sum, gain - gamma);
    quiet = carry == -gamma;
    i += kEight;
  }
  stop = i;
  return {last.at, sign * last.carry};
}

/// The runs of {x > level} within `within`, where that is a level set of a lower level, or the row. The best
/// gain of the columns so far with the last one inside, less that with it outside, is d; the edge limits what
/// it can carry on, and where it does, the last columns are decided: all since the last decision alike.
template <class Real, class Gammas>
FENCHEL_INLINE index_t level_runs(const Real* z, index_t n, Run within, Real top, double level,
                                  const Gammas& gammas, Run* found) noexcept {
  // Scores on either side of these are so of top + level, whichever way that was rounded.
  const auto height = static_cast<Real>(double{top} + level);
  const Real below = std::nextafter(height, -Real(kInfinity)),
             above = std::nextafter(height, Real(kInfinity));
  const index_t last_edge = std::min(within.end, n - 1);
  index_t count = 0, undecided = within.begin, run_begin = within.begin, scanned = within.begin;
  bool inside = false;
  double carry = within.begin > 0 ? -gammas[within.begin - 1] : 0.0;
  for (index_t i = within.begin; i < within.end; ++i) {
    const double limit = i + 1 < n ? gammas[i] : 0.0;
    const double d = carry + ((double{z[i]} - double{top}) - level);
    carry = d;
    if (d > limit) {
      if (!inside) run_begin = undecided;
      inside = true;
    } else if (d <= -limit) {
      if (inside) found[count++] = {run_begin, undecided};
      inside = false;
    } else {
      continue;
    }
    carry = inside ? limit : -limit;
    if constexpr (Gammas::kConstant) {
      if (i >= scanned && i + 1 < last_edge) {
        const Checkpoint next = pass_over(z, i + 1, last_edge, inside ? -1.0 : 1.0, top, level,
                                          inside ? above : below, limit, scanned);
        i = next.at - 1;
        carry = next.carry;
        scanned += kLanes<double>;  // one of these may decide otherwise
      }
    }
    undecided = i + 1;
  }
  if (inside) found[count++] = {run_begin, undecided};
  return count;
}

struct LevelSet {
  Run* runs;
  index_t run_count;
  double size, threshold;
};

/// {x > tau} and tau less top, where the columns outside of `within` are kept out and `bound` is a lower
/// bound.
template <class Real, class Gammas>
FENCHEL_INLINE LevelSet climb(const Real* z, index_t n, Real top, Run within, double bound,
                              const Gammas& gammas, const FusedScratch& scratch) noexcept {
  LevelSet last{scratch.runs, 1, 0, bound};
  Run* runs = scratch.subruns;
  last.runs[0] = within;
  for (;;) {
    index_t count = 0;
    for (index_t k = 0; k < last.run_count; ++k) {
      count += level_runs(z, n, last.runs[k], top, last.threshold, gammas, runs + count);
    }
    double size = 0, sum = -1;
    for (index_t k = 0; k < count; ++k) {
      size += static_cast<double>(runs[k].end - runs[k].begin);
      sum += sum_in_double(z + runs[k].begin, runs[k].end - runs[k].begin, double{top});
      if (runs[k].begin > 0) sum -= gammas[runs[k].begin - 1];
      if (runs[k].end < n) sum -= gammas[runs[k].end - 1];
    }
    if (size == last.size || size == 0) return last;
    std::swap(runs, last.runs);
    last = {last.runs, count, size, sum / size};
  }
}

/// A long row is climbed on the columns of the best bound first, which brings the bound so near to tau that
/// little of the row reaches above it.
template <class Real, class Gammas>
FENCHEL_INLINE LevelSet find_support(const Real* z, index_t n, Real top, Real pivot, const Gammas& gammas,
                                     const FusedScratch& scratch) noexcept {
  const auto [part, bound] = best_bound(z, n, top, pivot, gammas, scratch.sums);
  const double level =
      part.end - part.begin <= n / 4 ? climb(z, n, top, part, bound, gammas, scratch).threshold : bound;
  constexpr double kRounding = 1e-13;
  return climb(z, n, top, {0, n}, level - kRounding * (1 - level), gammas, scratch);
}

/// x of a run on its own: the mean if the sums stay in the tube, else the taut string.
template <class Gammas, class Block>
FENCHEL_INLINE void prox_of_run(double* x, index_t size, index_t first, const Gammas& gammas,
                                const StringScratch& scratch, const Block& block) noexcept {
  double sum = 0, excess = 0;
  for (index_t i = 0; i < size; ++i) sum += x[i];
  const double mean = sum / static_cast<double>(size);
  index_t k = 0;
  for (; k + 1 < size; ++k) {
    excess += x[k] - mean;
    if (!(std::abs(excess) <= gammas[first + k])) break;
  }
  if (k + 1 == size) return block(0, size, mean);
  taut_string(
      size, [x](index_t i) FENCHEL_INLINE_LAMBDA { return x[i]; },
      [](index_t) FENCHEL_INLINE_LAMBDA { return 1.0; },
      [&](index_t i) FENCHEL_INLINE_LAMBDA { return gammas[first + i]; }, scratch, block);
}

/// tau of sparsemax(x), x within rounding of a support: by Newton's steps that leave columns out, if any.
FENCHEL_INLINE double support_threshold(const double* x, index_t size, double lowest) noexcept {
  RunningSum<double> all;
  for_each_vector<double>(
      size, [&](index_t i, index_t count) FENCHEL_INLINE_LAMBDA { all.add(load_up_to(x + i, count, 0.0)); });
  double tau = (all.total() - 1) / static_cast<double>(size);
  if (lowest > tau) return tau;
  for (index_t last = size;;) {
    CompensatedSum sum;
    index_t count = 0;
    for (index_t i = 0; i < size; ++i) {
      if (!(x[i] > tau)) continue;
      sum.add(x[i]);
      ++count;
    }
    if (count >= last) return tau;  // rounding may lower tau again
    tau = (sum.total() - 1) / static_cast<double>(count);
    last = count;
  }
}

/// p = x - tau on the runs of the support, x relative to the row outside of them. Rounding of the scores,
/// which every column shares, is left behind with the highest x: p has mass 1 however large they are.
template <class Real, class Gammas>
FENCHEL_INLINE double write_support(const Real* z, index_t n, Real top, const Gammas& gammas,
                                    const LevelSet& support, const FusedScratch& scratch, Real* p) noexcept {
  double *x = scratch.x, highest = -double(kInfinity), lowest = double(kInfinity);
  for (index_t k = 0; k < support.run_count; ++k) {
    const Run run = support.runs[k];
    const index_t size = run.end - run.begin;
    for (index_t i = 0; i < size; ++i) x[i] = double{z[run.begin + i]} - double{top};
    if (run.begin > 0) x[0] -= gammas[run.begin - 1];
    if (run.end < n) x[size - 1] -= gammas[run.end - 1];
    prox_of_run(x, size, run.begin, gammas, scratch.string,
                [&](index_t begin, index_t end, double value) FENCHEL_INLINE_LAMBDA {
                  highest = std::max(highest, value);
                  lowest = std::min(lowest, value);
                  std::fill(x + begin, x + end, value);
                });
    x += size;
  }
  const index_t size = x - scratch.x;
  x = scratch.x;
  const double tau = std::clamp(support.threshold - highest, -1.0, 0.0);
  for (index_t i = 0; i < size; ++i) x[i] = (x[i] - highest) - tau;
  const double rest = support_threshold(x, size, (lowest - highest) - tau);
  fill(p, n, Real(0));
  for (index_t k = 0; k < support.run_count; ++k) {
    const Run run = support.runs[k];
    for (index_t i = run.begin; i < run.end; ++i, ++x) p[i] = static_cast<Real>(std::max(*x - rest, 0.0));
  }
  return highest + (tau + rest);
}

template <class Real, class Gammas>
FENCHEL_INLINE double valid_row(const Real* z, index_t n, Real top, Real pivot, const Gammas& gammas,
                                const FusedScratch& scratch, Real* p) noexcept {
  const LevelSet support = find_support(z, n, top, pivot, gammas, scratch);
  return write_support(z, n, top, gammas, support, scratch, p);
}

template <class Real>
FENCHEL_INLINE MappedRow any_row(const Real* z, index_t n, const EdgeGammas& gammas,
                                 const FusedScratch& scratch, Real* p) noexcept {
  // So small that no difference from it overflows.
  constexpr Real kLargest = std::numeric_limits<Real>::max() * std::numeric_limits<Real>::epsilon() / 4;
  const Real pivot = std::abs(z[0]) < kLargest ? z[0] : Real(0);
  const auto [top, valid] = sum_blocks(z, n, pivot, scratch.sums);
  if (!valid) {
    fill(p, n, std::numeric_limits<Real>::quiet_NaN());
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    return {kNaN, kNaN};
  }
  if (gammas.constant()) return {top, valid_row(z, n, top, pivot, ConstantGamma{gammas[0]}, scratch, p)};
  return {top, valid_row(z, n, top, pivot, AnyGammas{gammas}, scratch, p)};
}

}  // namespace

FENCHEL_CLONES MappedRow fusedmax_row(const float* z, index_t n, const EdgeGammas& gammas,
                                      const FusedScratch& scratch, float* p) noexcept {
  return any_row(z, n, gammas, scratch, p);
}

FENCHEL_CLONES MappedRow fusedmax_row(const double* z, index_t n, const EdgeGammas& gammas,
                                      const FusedScratch& scratch, double* p) noexcept {
  return any_row(z, n, gammas, scratch, p);
}

}  // namespace fenchel::detail
