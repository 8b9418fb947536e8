#include "backend/cpu/entmax/power_sum.hpp"

#include "backend/cpu/row_lanes.hpp"

namespace fenchel::detail {
namespace {

template <class Real>
FENCHEL_INLINE double any_power_sum(const Real* z, const Real* p, index_t n, double am1, double top,
                                    double offset) noexcept {
  Lanes<double> sums{};
  for_each_vector<Real>(n, [&](index_t i, index_t count) FENCHEL_INLINE_LAMBDA {
    const Lanes<Real> x = load_up_to(z + i, count, Real(0)), q = load_up_to(p + i, count, Real(0));
    double terms[kLanes<Real>];
    for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA {
      const double power = double{q[j]} * (1 + am1 * (double{x[j]} - top - offset));
      terms[j] = q[j] > 0 ? power : 0.0;
    });
    for (index_t k = 0; k < kLanes<Real>; k += kLanes<double>) sums += load(terms + k);
  });
  return sum_of_doubles(sums);
}

}  // namespace

FENCHEL_CLONES double power_sum(const float* z, const float* p, index_t n, double am1, double top,
                                double offset) noexcept {
  return any_power_sum(z, p, n, am1, top, offset);
}

FENCHEL_CLONES double power_sum(const double* z, const double* p, index_t n, double am1, double top,
                                double offset) noexcept {
  return any_power_sum(z, p, n, am1, top, offset);
}

}  // namespace fenchel::detail
