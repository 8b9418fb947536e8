#include "backend/cpu/entmax/jacobian_row.hpp"

#include <cmath>

#include "backend/cpu/row_lanes.hpp"
#include "core/lanes/lane_math.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {
namespace {

/// s = p^{2-alpha} of one number p that is not 0.
template <class Real>
struct SoftmaxWeight {
  FENCHEL_INLINE Real operator()(Real p) const noexcept { return p; }
};

template <class Real>
struct SparsemaxWeight {
  FENCHEL_INLINE Real operator()(Real p) const noexcept { return 1 + p * 0; }  // NaN stays
};

template <class Real>
struct RootWeight {
  FENCHEL_INLINE Real operator()(Real p) const noexcept { return std::sqrt(p); }
};

template <class Real>
struct PowerWeight {
  Real exponent;
  FENCHEL_INLINE Real operator()(Real p) const noexcept { return exp_element(exponent * log_element(p)); }
};

/// out = s (v - mean) where p is not 0, mean = <s, v> / sum(s), in two passes; s is kept.
template <class Real, class Weight>
FENCHEL_INLINE void product(const Real* p, index_t n, const Real* v, Weight weight, Real* s,
                            Real* out) noexcept {
  RunningSum<Real> total, moment;
  for_each_vector<Real>(n, [&](index_t i, index_t count) FENCHEL_INLINE_LAMBDA {
    const Lanes<Real> q = load_up_to(p + i, count, Real(0)), x = load_up_to(v + i, count, Real(0));
    Lanes<Real> w, wx;
    for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA {
      w[j] = q[j] != 0 ? weight(q[j]) : 0;
      wx[j] = q[j] != 0 ? w[j] * x[j] : 0;
    });
    total.add(w);
    moment.add(wx);
    store_up_to(s + i, w, count);
  });
  const auto mean = static_cast<Real>(moment.total() / total.total());
  for (index_t i = 0; i < n; ++i) out[i] = s[i] != 0 ? s[i] * (v[i] - mean) : Real(0);
}

/// alpha > 2: s grows without bound as p goes to 0, and the entry k with the largest s takes all of the mean.
/// Its own product is therefore what the others leave, -sum of them, and v is centred at v_k. s saturates at
/// the largest number.
template <class Real>
void product_beyond_two(const Real* p, index_t n, double alpha, const Real* v, Real* out) noexcept {
  index_t k = -1;
  for (index_t i = 0; i < n; ++i) {
    if (p[i] != 0 && (k < 0 || p[i] < p[k])) k = i;
  }
  if (k < 0) {
    std::fill_n(out, n, Real(0));
    return;
  }
  const double beta = 2 - alpha, log_smallest = std::log(double{p[k]}), centre = v[k];
  double total = 0, moment = 0;
  for (index_t i = 0; i < n; ++i) {
    if (p[i] == 0) continue;
    const double ratio = std::exp(beta * (std::log(double{p[i]}) - log_smallest));
    total += ratio;
    moment += ratio * (v[i] - centre);
  }
  constexpr double kLargest = std::numeric_limits<Real>::max();
  double others = 0;
  for (index_t i = 0; i < n; ++i) {
    double value = 0;
    if (p[i] != 0 && i != k) {
      const double s = std::min(kLargest, std::exp(beta * std::log(double{p[i]})));
      value = std::clamp(s * (v[i] - centre - moment / total), -kLargest, kLargest);
    }
    out[i] = static_cast<Real>(value);
    others += value;
  }
  out[k] = static_cast<Real>(std::clamp(-others, -kLargest, kLargest));
}

/// A product on a row whose nonzeros are few: they are gathered, and the rest of v is not even read.
/// multiply(p, n, v, out) is the product itself.
template <class Real, class Multiply>
FENCHEL_INLINE void sparse_product(const Real* p, index_t n, const Real* v,
                                   const JacobianScratch<Real>& scratch, Real* out,
                                   Multiply multiply) noexcept {
  const auto nonzero = [p](index_t i) FENCHEL_INLINE_LAMBDA { return p[i] != 0; };
  const index_t most = n / 4;
  index_t found = 0;
  for (index_t first = 0; first < n && found <= most; first += kPlaceBlock) {
    found = append_places(first, std::min(kPlaceBlock, n - first), nonzero, scratch.places, found);
  }
  if (found > most) return multiply(p, n, v, out);
  for (index_t k = 0; k < found; ++k) {
    scratch.p[k] = p[scratch.places[k]];
    scratch.v[k] = v[scratch.places[k]];
  }
  multiply(scratch.p, found, scratch.v, scratch.v);
  fill(out, n, Real(0));
  for (index_t k = 0; k < found; ++k) out[scratch.places[k]] = scratch.v[k];
}

template <class Real>
FENCHEL_INLINE void any_jacobian_row(const Real* p, index_t n, double alpha, const Real* v,
                                     const JacobianScratch<Real>& scratch, Real* out) noexcept {
  const auto weighted = [&](auto weight, bool cheap) FENCHEL_INLINE_LAMBDA {
    constexpr index_t kShortRow = 512;  // in which a cheap weight costs less than to look for the support
    if (cheap && n < kShortRow) return product(p, n, v, weight, scratch.s, out);
    sparse_product(p, n, v, scratch, out,
                   [&](const Real* q, index_t size, const Real* x, Real* product_out)
                       FENCHEL_INLINE_LAMBDA { product(q, size, x, weight, scratch.s, product_out); });
  };
  if (alpha == 1) return product(p, n, v, SoftmaxWeight<Real>{}, scratch.s, out);
  if (alpha == 2) return weighted(SparsemaxWeight<Real>{}, true);
  if (alpha == 1.5) return weighted(RootWeight<Real>{}, true);
  if (alpha < 2) return weighted(PowerWeight<Real>{static_cast<Real>(2 - alpha)}, false);
  if (alpha == double(kInfinity)) {
    for (index_t i = 0; i < n; ++i) out[i] = p[i] * 0;
    return;
  }
  sparse_product(p, n, v, scratch, out, [&](const Real* q, index_t size, const Real* x, Real* product_out) {
    product_beyond_two(q, size, alpha, x, product_out);
  });
}

}  // namespace

FENCHEL_CLONES void jacobian_row(const float* p, index_t n, double alpha, const float* v,
                                 const JacobianScratch<float>& scratch, float* out) noexcept {
  any_jacobian_row(p, n, alpha, v, scratch, out);
}

FENCHEL_CLONES void jacobian_row(const double* p, index_t n, double alpha, const double* v,
                                 const JacobianScratch<double>& scratch, double* out) noexcept {
  any_jacobian_row(p, n, alpha, v, scratch, out);
}

}  // namespace fenchel::detail
