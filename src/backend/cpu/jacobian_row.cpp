#include "backend/cpu/jacobian_row.hpp"

#include <cmath>

#include "backend/cpu/row_lanes.hpp"
#include "core/lane_math.hpp"

namespace fenchel::detail {
namespace {

/// s = p^{2-alpha}, for p not 0.
template <class Real>
struct SoftmaxWeight {
  FENCHEL_INLINE Lanes<Real> operator()(Lanes<Real> p) const noexcept { return p; }
};

template <class Real>
struct SparsemaxWeight {
  FENCHEL_INLINE Lanes<Real> operator()(Lanes<Real> p) const noexcept { return 1 + p * 0; }  // NaN stays
};

template <class Real>
struct RootWeight {
  FENCHEL_INLINE Lanes<Real> operator()(Lanes<Real> p) const noexcept {
    for (index_t j = 0; j < kLanes<Real>; ++j) p[j] = std::sqrt(p[j]);
    return p;
  }
};

template <class Real>
struct PowerWeight {
  Real exponent;
  FENCHEL_INLINE Lanes<Real> operator()(Lanes<Real> p) const noexcept {
    return exp_lanes<Real>(exponent * log_lanes<Real>(p));
  }
};

template <class Real>
constexpr index_t kBlock = 8 * kLanes<Real>;

template <class Real>
FENCHEL_INLINE bool is_zero(const Real* p, index_t n) noexcept {
  IntLanes<Real> not_zero{};
  for_each_vector<Real>(n, [&](index_t i, index_t count)
                               FENCHEL_INLINE_LAMBDA { not_zero |= load_up_to(p + i, count, Real(0)) != 0; });
  return !any<Real>(not_zero);
}

/// Two passes over the blocks that are not zero: s and the sums of s and s v, then s (v - mean).
template <class Real, class Weight>
FENCHEL_INLINE void product(const Real* p, index_t n, const Real* v, Weight weight, Real* s,
                            Real* out) noexcept {
  RunningSum<Real> total, moment;
  for (index_t first = 0; first < n; first += kBlock<Real>) {
    const index_t size = std::min(kBlock<Real>, n - first);
    s[first] = Real(-1);  // no weight is negative: a block of zeros
    if (is_zero(p + first, size)) continue;
    for_each_vector<Real>(size, [&](index_t i, index_t count) FENCHEL_INLINE_LAMBDA {
      const Lanes<Real> q = load_up_to(p + first + i, count, Real(0));
      const Lanes<Real> w = q != 0 ? weight(q) : Lanes<Real>{};
      store_up_to(s + first + i, w, count);
      total.add(w);
      moment.add(w != 0 ? w * load_up_to(v + first + i, count, Real(0)) : Lanes<Real>{});
    });
  }
  const auto mean = static_cast<Real>(moment.total() / total.total());
  for (index_t first = 0; first < n; first += kBlock<Real>) {
    const index_t size = std::min(kBlock<Real>, n - first);
    const bool zero = s[first] < 0;
    for_each_vector<Real>(size, [&](index_t i, index_t count) FENCHEL_INLINE_LAMBDA {
      const index_t at = first + i;
      Lanes<Real> result{};
      if (!zero) {
        const Lanes<Real> w = load_up_to(s + at, count, Real(0));
        result = w != 0 ? w * (load_up_to(v + at, count, Real(0)) - mean) : result;
      }
      store_up_to(out + at, result, count);
    });
  }
}

/// alpha > 2: s grows without bound as p goes to 0, and the entry k with the largest s takes all of the mean.
/// Its own product is therefore what the others leave, -sum of them, and v is centred at v_k. s saturates at
/// the largest number.
template <class Real>
void product_beyond_two(const Real* p, index_t n, double alpha, const Real* v, Real* s, Real* out) noexcept {
  index_t k = -1;
  for (index_t i = 0; i < n; ++i) {
    if (p[i] != 0 && (k < 0 || p[i] < p[k])) k = i;
  }
  if (k < 0) {
    std::fill_n(out, n, Real(0));
    return;
  }
  double total = 0, moment = 0;
  const double centre = v[k];
  for (index_t i = 0; i < n; ++i) {
    const double ratio = p[i] == 0 ? 0.0 : std::exp((2 - alpha) * std::log(double{p[i]} / p[k]));
    s[i] = static_cast<Real>(ratio);
    total += ratio;
    moment += ratio == 0 ? 0.0 : ratio * (v[i] - centre);
  }
  const double largest = std::numeric_limits<Real>::max();
  const double scale = std::min(largest, std::exp((2 - alpha) * std::log(double{p[k]})));
  double others = 0;
  for (index_t i = 0; i < n; ++i) {
    const double value = s[i] == 0 ? 0.0 : scale * s[i] * (v[i] - centre - moment / total);
    out[i] = static_cast<Real>(std::clamp(value, -largest, largest));
    others += i == k ? 0.0 : value;
  }
  out[k] = static_cast<Real>(std::clamp(-others, -largest, largest));
}

template <class Real>
FENCHEL_INLINE void any_jacobian_row(const Real* p, index_t n, double alpha, const Real* v, Real* s,
                                     Real* out) noexcept {
  if (alpha == 1) return product(p, n, v, SoftmaxWeight<Real>{}, s, out);
  if (alpha == 2) return product(p, n, v, SparsemaxWeight<Real>{}, s, out);
  if (alpha == 1.5) return product(p, n, v, RootWeight<Real>{}, s, out);
  if (alpha == kInfinity<double>) {
    for (index_t i = 0; i < n; ++i) out[i] = p[i] * 0;
    return;
  }
  if (alpha > 2) return product_beyond_two(p, n, alpha, v, s, out);
  product(p, n, v, PowerWeight<Real>{static_cast<Real>(2 - alpha)}, s, out);
}

}  // namespace

FENCHEL_CLONES void jacobian_row(const float* p, index_t n, double alpha, const float* v, float* scratch,
                                 float* out) noexcept {
  any_jacobian_row(p, n, alpha, v, scratch, out);
}

FENCHEL_CLONES void jacobian_row(const double* p, index_t n, double alpha, const double* v, double* scratch,
                                 double* out) noexcept {
  any_jacobian_row(p, n, alpha, v, scratch, out);
}

}  // namespace fenchel::detail
