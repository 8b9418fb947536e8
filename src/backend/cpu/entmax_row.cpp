#include "backend/cpu/entmax_row.hpp"

#include <cmath>
#include <type_traits>

#include "backend/cpu/deformed_power.hpp"
#include "backend/cpu/row_lanes.hpp"

/// One row of entmax: find the maximum; keep the few scores that can be in the support (z > max - 1/am1);
/// solve on those; write zeros and the kept. Where a large part of the row can be in the support, work on the
/// row itself.
namespace fenchel::detail {
namespace {

template <class Real>
constexpr index_t kBlock = 8 * kLanes<Real>;
static_assert(kBlock<float> <= kPlaceBlock);

template <class Real>
struct RowTop {
  Real top;
  bool valid;  ///< no NaN, no +inf, and a finite score
};

/// The maximum, and for each block its maxima by lane.
template <class Real>
FENCHEL_INLINE RowTop<Real> find_top(const Real* z, index_t n, Real* tops) noexcept {
  Lanes<Real> top = -kInfinity<Real> - Lanes<Real>{};
  IntLanes<Real> bad{};
  for (index_t first = 0; first < n; first += kBlock<Real>, tops += kLanes<Real>) {
    Lanes<Real> block_top = -kInfinity<Real> - Lanes<Real>{};
    for_each_vector<Real>(std::min(kBlock<Real>, n - first),
                          [&](index_t i, index_t count) FENCHEL_INLINE_LAMBDA {
                            const Lanes<Real> x = load_up_to(z + first + i, count, -kInfinity<Real>);
                            for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA {
                              block_top[j] = x[j] > block_top[j] ? x[j] : block_top[j];
                              bad[j] |= !(x[j] < kInfinity<Real>);
                            });
                          });
    store(tops, block_top);
    for_each_lane<Real>(
        [&](index_t j) FENCHEL_INLINE_LAMBDA { top[j] = block_top[j] > top[j] ? block_top[j] : top[j]; });
  }
  auto any_bad = bad[0];
  for (index_t j = 0; j < kLanes<Real>; ++j) any_bad |= bad[j];
  const Real largest = largest_of<Real>(top);
  return {largest, any_bad == 0 && largest > -kInfinity<Real>};
}

/// The places of z > top - width, ascending; gives up past `most` and returns -1.
template <class Real>
FENCHEL_INLINE index_t find_candidates(const Real* z, index_t n, const Real* tops, Real top, double width,
                                       index_t most, index_t* places) noexcept {
  const Real cut = std::nextafter(static_cast<Real>(top - width), -kInfinity<Real>);
  index_t found = 0;
  for (index_t first = 0; first < n; first += kBlock<Real>, tops += kLanes<Real>) {
    int reaches = 0;
    for (index_t j = 0; j < kLanes<Real>; ++j) reaches |= tops[j] > cut;
    if (reaches == 0) continue;
    const auto above = [cut](Real x) FENCHEL_INLINE_LAMBDA { return x > cut; };
    found = append_places(z, first, std::min(kBlock<Real>, n - first), above, places, found);
    if (found > most) return -1;
  }
  return found;
}

struct PowerSums {
  double value, escort;
};

/// E and E^{1-am1} of the vectors at a stride of the row, with y = slope (x - top); kept if there is room.
/// Their sums.
template <class Real, class Power>
FENCHEL_INLINE PowerSums evaluate(const Real* x, index_t n, index_t stride, Real top, Real slope,
                                  const Power& power, const SolveScratch<Real>* keep) noexcept {
  RunningSum<Real> value_sum, escort_sum;
  for (index_t i = 0; i < n; i += stride) {
    const index_t count = std::min(kLanes<Real>, n - i);
    const Lanes<Real> score = load_up_to(x + i, count, -kInfinity<Real>);
    Lanes<Real> value, escort;
    for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA {
      const EscortPair<Real> pair = power(slope * (score[j] - top));
      value[j] = pair.value;
      escort[j] = pair.escort;
    });
    value_sum.add(value);
    escort_sum.add(escort);
    if (keep != nullptr) {
      store(keep->e + i, value);
      store(keep->escort + i, escort);
    }
  }
  return {value_sum.total(), escort_sum.total()};
}

/// c = P^{-am1} for a row whose largest score is `top`. Newton's step is that of next_log_peak
/// (fenchel/core/normalizer.hpp) in terms of c: with S = sum E, r = c S^{-am1} and ratio = S / sum E^{1-am1},
/// c' = c / (1 + ratio (r - 1)).
struct Root {
  double c;
  double step;  ///< of log P, not yet taken
  bool found;
};

template <class Real, class Power>
FENCHEL_INLINE Root solve(double am1, const Real* x, index_t n, index_t stride, Real top, const Power& power,
                          double c, double last_step, const SolveScratch<Real>* keep) noexcept {
  constexpr int kMostSteps = 50;
  const double share = static_cast<double>(stride / kLanes<Real>);
  for (int k = 0; k < kMostSteps; ++k) {
    const PowerSums sums = evaluate(x, n, stride, top, static_cast<Real>(am1 * c), power, keep);
    const double change = sums.value / sums.escort * (c * power.inverse_root(share * sums.value) - 1);
    const double rounding = 4 * std::numeric_limits<double>::epsilon();
    if (std::abs(change) <= std::max(last_step * std::abs(am1), rounding)) return {c, change / am1, true};
    c = change > -1 ? c / (1 + change) : 1.0;
    c = am1 > 0 ? std::max(c, 1.0) : std::min(c, 1.0);  // P <= 1
  }
  return {c, 0, false};
}

/// p = E / sum E after the last step, taken linearly: d E / d log P = E^{1-am1} - E. Returns log P.
template <class Real>
FENCHEL_INLINE double finish(const SolveScratch<Real>& solved, index_t n, double step, Real* p) noexcept {
  RunningSum<Real> sum;
  const auto weight = static_cast<Real>(step);
  for_each_vector<Real>(n, [&](index_t i, index_t count) FENCHEL_INLINE_LAMBDA {
    const Lanes<Real> e = load(solved.e + i), moved = e + weight * (load(solved.escort + i) - e);
    Lanes<Real> value;
    for_each_lane<Real>([&](index_t j)
                            FENCHEL_INLINE_LAMBDA { value[j] = e[j] > 0 && moved[j] > 0 ? moved[j] : 0; });
    sum.add(value);
    store_up_to(p + i, value, count);
  });
  const double total = sum.total();
  const auto scale = static_cast<Real>(1 / total);
  for (index_t i = 0; i < n; ++i) p[i] *= scale;
  return -std::log(total);
}

/// The row without a shortcut, for the rare one on which Newton's iteration is slow.
template <class Real>
Normalization solve_slowly(double am1, const Real* x, index_t n, Real top, double* scratch,
                           Real* p) noexcept {
  for (index_t i = 0; i < n; ++i) scratch[i] = double{x[i]} - double{top};
  const Normalization result = normalize(am1, {scratch, static_cast<std::size_t>(n)});
  for (index_t i = 0; i < n; ++i) p[i] = static_cast<Real>(scratch[i]);
  return result;
}

/// A long row is solved on every eighth vector first, which costs little and starts Newton's iteration near
/// its end.
template <class Real, class Power>
FENCHEL_INLINE Normalization solve_and_write(double am1, const Real* x, index_t n, Real top,
                                             const Power& power, const SolveScratch<Real>& scratch,
                                             double* slow_scratch, Real* p) noexcept {
  constexpr index_t kSampleStride = 8 * kLanes<Real>, kLongRow = 8 * kSampleStride;
  double c = 1;
  constexpr const SolveScratch<Real>* kKeepNothing = nullptr;
  if (n >= kLongRow) c = solve(am1, x, n, kSampleStride, top, power, c, 1e-3, kKeepNothing).c;
  const Root root = solve(am1, x, n, kLanes<Real>, top, power, c, power.last_step(), &scratch);
  if (!root.found) return solve_slowly(am1, x, n, top, slow_scratch, p);
  return normalization_from_peak(am1, finish(scratch, n, root.step, p));
}

template <class Real>
FENCHEL_INLINE Normalization softmax(const Real* z, index_t n, Real top, Real* p) noexcept {
  RunningSum<Real> sum;
  for_each_vector<Real>(n, [&](index_t i, index_t count) FENCHEL_INLINE_LAMBDA {
    const Lanes<Real> e = exp_lanes<Real>(load_up_to(z + i, count, -kInfinity<Real>) - top);
    sum.add(e);
    store_up_to(p + i, e, count);
  });
  const double total = sum.total();
  const auto scale = static_cast<Real>(1 / total);
  for (index_t i = 0; i < n; ++i) p[i] *= scale;
  return normalization_from_peak(0, -std::log(total));
}

template <class Real, class Value>
FENCHEL_INLINE void gather(const Real* z, Real top, const index_t* places, index_t found, Value* x) noexcept {
  for (index_t k = 0; k < found; ++k) x[k] = static_cast<Value>(z[places[k]]) - static_cast<Value>(top);
}

template <class Real, class Value>
FENCHEL_INLINE void scatter(const Value* x, const index_t* places, index_t found, Real* p,
                            index_t n) noexcept {
  fill(p, n, Real(0));
  for (index_t k = 0; k < found; ++k) p[places[k]] = static_cast<Real>(x[k]);
}

/// Candidates in Value, then the solve; the whole row where there are many. Value is double for the whole
/// powers, which need no exp or log and so cost nothing more.
template <class Real, class Value, class CandidatePower, class RowPower>
FENCHEL_INLINE Normalization entmax_up_to_two(double am1, const Real* z, index_t n, Real top,
                                              const SolveScratch<Value>& candidates,
                                              const EntmaxScratch<Real>& scratch,
                                              const CandidatePower& candidate_power,
                                              const RowPower& row_power, Real* p) noexcept {
  const index_t most = n / 4 + kLanes<Real>;
  const index_t found =
      am1 > 0 ? find_candidates(z, n, scratch.tops, top, 1 / am1, most, scratch.places) : -1;
  if (found < 0) return solve_and_write(am1, z, n, top, row_power, scratch.general, scratch.exact.x, p);
  gather(z, top, scratch.places, found, candidates.x);
  const Normalization result = solve_and_write(am1, candidates.x, found, Value(0), candidate_power,
                                               candidates, scratch.exact.e, candidates.x);
  scatter(candidates.x, scratch.places, found, p, n);
  return result;
}

template <class Real>
FENCHEL_INLINE Normalization entmax_beyond_two(double am1, const Real* z, index_t n, Real top,
                                               const EntmaxScratch<Real>& scratch, Real* p) noexcept {
  const index_t found = find_candidates(z, n, scratch.tops, top, 1 / am1, n, scratch.places);
  gather(z, top, scratch.places, found, scratch.exact.x);
  const Normalization result = normalize(am1, {scratch.exact.x, static_cast<std::size_t>(found)});
  scatter(scratch.exact.x, scratch.places, found, p, n);
  return result;
}

/// alpha names the exact powers: 4/3 rounded to double is meant to be 4/3.
template <class Real>
FENCHEL_INLINE Normalization entmax_valid_row(double alpha, const Real* z, index_t n, Real top,
                                              const EntmaxScratch<Real>& scratch, Real* p) noexcept {
  const double am1 = alpha - 1;
  const auto whole = [&]<int q>(std::integral_constant<int, q>) FENCHEL_INLINE_LAMBDA {
    return entmax_up_to_two(am1, z, n, top, scratch.exact, scratch, WholePower<double, q>{},
                            WholePower<Real, q>{}, p);
  };
  if (alpha == 1) return softmax(z, n, top, p);
  if (alpha == 2) return whole(std::integral_constant<int, 1>{});
  if (alpha == 1.5) return whole(std::integral_constant<int, 2>{});
  if (alpha == 4.0 / 3) return whole(std::integral_constant<int, 3>{});
  if (alpha == 1.25) return whole(std::integral_constant<int, 4>{});
  if (alpha > 2) return entmax_beyond_two(am1, z, n, top, scratch, p);
  const GeneralPower<Real> power{am1};
  return entmax_up_to_two(am1, z, n, top, scratch.general, scratch, power, power, p);
}

template <class Real>
FENCHEL_INLINE EntmaxRow entmax_any_row(const Real* z, index_t n, double alpha,
                                        const EntmaxScratch<Real>& scratch, Real* p) noexcept {
  const auto [top, valid] = find_top(z, n, scratch.tops);
  if (valid) return {top, entmax_valid_row(alpha, z, n, top, scratch, p)};
  fill(p, n, std::numeric_limits<Real>::quiet_NaN());
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  return {kNaN, {kNaN, kNaN, kNaN}};
}

}  // namespace

FENCHEL_CLONES EntmaxRow entmax_row(const float* z, index_t n, double alpha,
                                    const EntmaxScratch<float>& scratch, float* p) noexcept {
  return entmax_any_row(z, n, alpha, scratch, p);
}

FENCHEL_CLONES EntmaxRow entmax_row(const double* z, index_t n, double alpha,
                                    const EntmaxScratch<double>& scratch, double* p) noexcept {
  return entmax_any_row(z, n, alpha, scratch, p);
}

}  // namespace fenchel::detail
