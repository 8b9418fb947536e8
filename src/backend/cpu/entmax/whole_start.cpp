#include "backend/cpu/entmax/whole_start.hpp"

namespace fenchel::detail {
namespace {

template <bool rises, class Real>
FENCHEL_INLINE double start_one(const Real* z, index_t n, Real top, index_t stride, double am1,
                                double c) noexcept {
  if (n < WholeNodes::kFewest) return c;
  const WholeNodes nodes(am1);
  const index_t vectors_a_visit = stride / kLanes<Real>;
  const auto share = static_cast<Real>(vectors_a_visit);
  for (int step = 0; step < kMostStartSteps; ++step) {
    const auto slope = static_cast<Real>(am1 * c);
    Lanes<Real> sums[WholeNodes::kCount] = {};
    for (index_t i = 0; i < n; i += stride) {
      const Lanes<Real> x = load_up_to(z + i, std::min(kLanes<Real>, n - i), -Real(kInfinity));
      add_whole_powers<rises, Real>(slope * (x - top), nodes,
                                    [&](int j, Lanes<Real> power)
                                        FENCHEL_INLINE_LAMBDA { sums[j] += power; });
    }
    Real totals[WholeNodes::kCount];
    for (int j = 0; j < WholeNodes::kCount; ++j) totals[j] = static_cast<Real>(sum_of<Real>(sums[j]));
    const auto next = start_step(static_cast<Real>(am1), nodes, static_cast<Real>(c), share, totals);
    c = double{next.c};
    if (next.last()) break;
  }
  return c;
}

template <bool rises, class Real>
FENCHEL_INLINE void start_many(const Real* columns, index_t count, index_t stride, double am1,
                               double* c) noexcept {
  const WholeNodes nodes(am1);
  const auto share = static_cast<Real>(stride), order = static_cast<Real>(am1);
  IntLanes<Real> going = ~IntLanes<Real>{};
  for (int step = 0; step < kMostStartSteps && any_of<Real>(going); ++step) {
    Lanes<Real> slope, sums[WholeNodes::kCount] = {};
    for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA { slope[j] = static_cast<Real>(am1 * c[j]); });
    for (index_t k = 0; k < count; k += stride) {
      add_whole_powers<rises, Real>(slope * load(columns + k * kLanes<Real>), nodes,
                                    [&](int j, Lanes<Real> power)
                                        FENCHEL_INLINE_LAMBDA { sums[j] += power; });
    }
    for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA {
      const Real four[] = {sums[0][j], sums[1][j], sums[2][j], sums[3][j]};
      const auto next = start_step(order, nodes, static_cast<Real>(c[j]), share, four);
      c[j] = going[j] != 0 ? double{next.c} : c[j];
      going[j] &= next.last() ? 0 : -1;
    });
  }
}

}  // namespace

FENCHEL_CLONES double start_row(const float* z, index_t n, float top, index_t stride, double am1,
                                double c) noexcept {
  return am1 < 0 ? start_one<true>(z, n, top, stride, am1, c) : start_one<false>(z, n, top, stride, am1, c);
}

FENCHEL_CLONES double start_row(const double* z, index_t n, double top, index_t stride, double am1,
                                double c) noexcept {
  return am1 < 0 ? start_one<true>(z, n, top, stride, am1, c) : start_one<false>(z, n, top, stride, am1, c);
}

FENCHEL_CLONES void start_lanes(const float* columns, index_t count, index_t stride, double am1,
                                double* c) noexcept {
  am1 < 0 ? start_many<true>(columns, count, stride, am1, c)
          : start_many<false>(columns, count, stride, am1, c);
}

FENCHEL_CLONES void start_lanes(const double* columns, index_t count, index_t stride, double am1,
                                double* c) noexcept {
  am1 < 0 ? start_many<true>(columns, count, stride, am1, c)
          : start_many<false>(columns, count, stride, am1, c);
}

}  // namespace fenchel::detail
