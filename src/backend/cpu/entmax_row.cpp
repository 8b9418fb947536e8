#include "backend/cpu/entmax_row.hpp"

#include <cmath>
#include <type_traits>

#include "backend/cpu/deformed_power.hpp"

/// One row of entmax: find the maximum; keep the few scores that can be in the support (z > max - 1/am1);
/// solve on those; write zeros and the kept. Where a large part of the row can be in the support, work on the
/// row itself.
namespace fenchel::detail {
namespace {

constexpr index_t kBlockVectors = 8;
template <class Real>
constexpr index_t kBlock = kBlockVectors* kLanes<Real>;

template <class Real>
struct RowTop {
  Real top;
  bool valid;  ///< no NaN, no +inf, and a finite score
};

template <class Real>
FENCHEL_INLINE RowTop<Real> find_top(const Real* z, index_t n, Real* tops) noexcept {
  const Lanes<Real> lowest = broadcast(-kInfinity<Real>);
  IntLanes<Real> below_infinity = lowest < kInfinity<Real>;
  Lanes<Real> top = lowest;
  for (index_t first = 0; first < n; first += kBlock<Real>, tops += kLanes<Real>) {
    Lanes<Real> block_top = lowest;
    const index_t size = std::min(kBlock<Real>, n - first);
    for_each_vector<Real>(size, [&](index_t i, index_t count) FENCHEL_INLINE_LAMBDA {
      const Lanes<Real> x = load_up_to(z + first + i, count, -kInfinity<Real>);
      block_top = x > block_top ? x : block_top;
      below_infinity &= x < kInfinity<Real>;
    });
    store(tops, block_top);
    top = block_top > top ? block_top : top;
  }
  const Real result = largest<Real>(top);
  return {result, !any<Real>(~below_infinity) && result > -kInfinity<Real>};
}

/// Collects z - top for z > top - width, in order, with their places; gives up past `most` and returns -1.
template <class Real, class Value>
FENCHEL_INLINE index_t collect(const Real* z, index_t n, const Real* tops, Real top, double width,
                               index_t most, Value* values, index_t* places) noexcept {
  const Real cut = std::nextafter(static_cast<Real>(top - width), -kInfinity<Real>);
  index_t found = 0;
  for (index_t first = 0; first < n; first += kBlock<Real>, tops += kLanes<Real>) {
    if (!any<Real>(load(tops) > cut)) continue;
    const index_t end = std::min(n, first + kBlock<Real>);
    for (index_t i = first; i < end; ++i) {
      values[found] = static_cast<Value>(z[i]) - static_cast<Value>(top);
      places[found] = i;
      found += z[i] > cut;
    }
    if (found > most) return -1;
  }
  return found;
}

struct PowerSums {
  double value, escort;
};

/// Sums of E and E^{1-am1} over x - top, with y = slope (x - top).
template <class Real, class Power>
FENCHEL_INLINE PowerSums power_sums(const Real* x, index_t n, Real top, Real slope, Power power) noexcept {
  RunningSum<Real> value, escort;
  for_each_vector<Real>(n, [&](index_t i, index_t count) FENCHEL_INLINE_LAMBDA {
    const auto pair = power(slope * (load_up_to(x + i, count, -kInfinity<Real>) - top));
    value.add(pair.value);
    escort.add(pair.escort);
  });
  return {value.total(), escort.total()};
}

/// Newton's steps for log P from P = 1, where the mass is at least one, until the step is so short that the
/// next one would be below rounding. Between two steps the mass is convex, so they go one way; kMostSteps
/// guards the rest.
template <class Real, class Power>
FENCHEL_INLINE double solve_log_peak(double am1, const Real* x, index_t n, Real top, Power power) noexcept {
  constexpr int kMostSteps = 100;
  double log_peak = 0;
  for (int step = 0; step < kMostSteps; ++step) {
    const auto slope = static_cast<Real>(am1 * std::exp(-am1 * log_peak));
    const PowerSums sums = power_sums(x, n, top, slope, power);
    const double next = next_log_peak(am1, log_peak, sums.value, sums.escort);
    const double change = std::abs(next - log_peak);
    log_peak = next;
    if (change <= Power::kLastStep) break;
  }
  return log_peak;
}

/// p = E / sum E, from x - top into p; returns sum E, which is 1 / P.
template <class Real, class Power>
FENCHEL_INLINE double write_probabilities(const Real* x, index_t n, Real top, Real slope, Power power,
                                          Real* p) noexcept {
  RunningSum<Real> sum;
  for_each_vector<Real>(n, [&](index_t i, index_t count) FENCHEL_INLINE_LAMBDA {
    const Lanes<Real> e = power(slope * (load_up_to(x + i, count, -kInfinity<Real>) - top)).value;
    sum.add(e);
    store_up_to(p + i, e, count);
  });
  const double total = sum.total();
  const auto scale = static_cast<Real>(1 / total);
  for_each_vector<Real>(n, [&](index_t i, index_t count) FENCHEL_INLINE_LAMBDA {
    store_up_to(p + i, load_up_to(p + i, count, Real(0)) * scale, count);
  });
  return total;
}

template <class Real, class Power>
FENCHEL_INLINE Normalization solve_and_write(double am1, const Real* x, index_t n, Real top, Power power,
                                             Real* p) noexcept {
  const double log_peak = am1 == 0 ? 0.0 : solve_log_peak(am1, x, n, top, power);
  const auto slope = am1 == 0 ? Real(1) : static_cast<Real>(am1 * std::exp(-am1 * log_peak));
  const double total = write_probabilities(x, n, top, slope, power, p);
  return normalization_from_peak(am1, -std::log(total));
}

template <class Real>
FENCHEL_INLINE void fill(Real* p, index_t n, Real value) noexcept {
  for_each_vector<Real>(n, [&](index_t i, index_t count)
                               FENCHEL_INLINE_LAMBDA { store_up_to(p + i, broadcast(value), count); });
}

template <class Real, class Value>
FENCHEL_INLINE void scatter(const Value* values, const index_t* places, index_t found, Real* p,
                            index_t n) noexcept {
  fill(p, n, Real(0));
  for (index_t k = 0; k < found; ++k) p[places[k]] = static_cast<Real>(values[k]);
}

/// Candidates in Value, then the solve; the whole row where there are many. Value is double for the whole
/// powers, which need no exp or log and so cost nothing more.
template <class Real, class Value, class CandidatePower, class RowPower>
FENCHEL_INLINE Normalization entmax_up_to_two(double am1, const Real* z, index_t n, Real top, Value* values,
                                              const EntmaxScratch<Real>& scratch,
                                              CandidatePower candidate_power, RowPower row_power,
                                              Real* p) noexcept {
  const index_t found =
      am1 > 0 ? collect(z, n, scratch.tops, top, 1 / am1, n / 4 + kLanes<Real>, values, scratch.places) : -1;
  if (found < 0) return solve_and_write(am1, z, n, top, row_power, p);
  const Normalization result = solve_and_write(am1, values, found, Value(0), candidate_power, values);
  scatter(values, scratch.places, found, p, n);
  return result;
}

template <class Real>
FENCHEL_INLINE Normalization entmax_beyond_two(double am1, const Real* z, index_t n, Real top,
                                               const EntmaxScratch<Real>& scratch, Real* p) noexcept {
  const index_t found = collect(z, n, scratch.tops, top, 1 / am1, n, scratch.exact, scratch.places);
  const Normalization result = normalize(am1, {scratch.exact, static_cast<std::size_t>(found)});
  scatter(scratch.exact, scratch.places, found, p, n);
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
  if (alpha == 1) return solve_and_write(0.0, z, n, top, ExponentialPower<Real>{}, p);
  if (alpha == 2) return whole(std::integral_constant<int, 1>{});
  if (alpha == 1.5) return whole(std::integral_constant<int, 2>{});
  if (alpha == 4.0 / 3) return whole(std::integral_constant<int, 3>{});
  if (alpha == 1.25) return whole(std::integral_constant<int, 4>{});
  if (alpha > 2) return entmax_beyond_two(am1, z, n, top, scratch, p);
  const GeneralPower<Real> power{static_cast<Real>(1 / am1)};
  return entmax_up_to_two(am1, z, n, top, scratch.values, scratch, power, power, p);
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
