#include "backend/cpu/target_row.hpp"

#include <limits>

#include "backend/cpu/row_lanes.hpp"

namespace fenchel::detail {
namespace {

template <class Real>
FENCHEL_INLINE double any_sum_of_targets(const Real* q, index_t n) noexcept {
  IntLanes<Real> bad{};
  Lanes<double> sums{};
  for_each_vector<Real>(n, [&](index_t i, index_t count) FENCHEL_INLINE_LAMBDA {
    const Lanes<Real> x = load_up_to(q + i, count, Real(0));
    for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA { bad[j] |= !(x[j] >= 0); });
    double parts[kLanes<Real>];
    for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA { parts[j] = double{x[j]}; });
    for (index_t k = 0; k < kLanes<Real>; k += kLanes<double>) sums += load(parts + k);
  });
  return any_of<Real>(bad) ? std::numeric_limits<double>::quiet_NaN() : sum_of_doubles(sums);
}

template <class Real>
FENCHEL_INLINE void any_subtract_targets(const Real* q, index_t n, Real* p) noexcept {
  for (index_t j = 0; j < n; ++j) p[j] -= q[j];
}

}  // namespace

FENCHEL_CLONES double sum_of_targets(const float* q, index_t n) noexcept { return any_sum_of_targets(q, n); }
FENCHEL_CLONES double sum_of_targets(const double* q, index_t n) noexcept { return any_sum_of_targets(q, n); }
FENCHEL_CLONES void subtract_targets(const float* q, index_t n, float* p) noexcept {
  any_subtract_targets(q, n, p);
}
FENCHEL_CLONES void subtract_targets(const double* q, index_t n, double* p) noexcept {
  any_subtract_targets(q, n, p);
}

}  // namespace fenchel::detail
