#include "backend/cpu/entmax/jacobian_row.hpp"

#include <cmath>

#include "backend/cpu/row_lanes.hpp"
#include "backend/entmax/deformed_power.hpp"
#include "core/compensated_sum.hpp"
#include "core/lanes/lane_math.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {
namespace {

/// s = p^{2-alpha} of one number p that is not 0; kKept where to keep it is cheaper than to compute it again.
template <class Real>
struct SoftmaxWeight {
  static constexpr bool kKept = false;
  FENCHEL_INLINE Real operator()(Real p) const noexcept { return p; }
};

template <class Real>
struct SparsemaxWeight {
  static constexpr bool kKept = false;
  FENCHEL_INLINE Real operator()(Real p) const noexcept { return 1 + p * 0; }  // NaN stays
};

template <class Real>
struct RootWeight {
  static constexpr bool kKept = true;
  FENCHEL_INLINE Real operator()(Real p) const noexcept { return std::sqrt(p); }
};

/// (1 - alpha) log p is small, -log(1 + (alpha - 1) (z - A)), and rounds less than (2 - alpha) log p does.
template <class Real>
struct PowerWeight {
  static constexpr bool kKept = true;
  Real exponent;  ///< 1 - alpha
  FENCHEL_INLINE Real operator()(Real p) const noexcept {
    if constexpr (sizeof(Real) == 4) {
      constexpr Real kLeast = std::numeric_limits<Real>::min();
      return p * power_of_base(p > kLeast ? p : kLeast, 0, exponent) + 0 * p;  // NaN stays
    } else {
      return p * exp_element(exponent * log_element(p));
    }
  }
};

/// In double and entry by entry, v centred at the entry k with the largest s, whose own product is -sum s (v
/// - v_k) / R, R = sum(s) / s_k, and needs no s_k. For alpha > 2, where s grows without bound as p goes to 0:
/// s and products saturate at the largest number. And for v so large that differences overflow.
template <class Real>
void careful_product(const Real* p, index_t n, double alpha, const Real* v, Real* out) noexcept {
  index_t k = -1;
  for (index_t i = 0; i < n; ++i) {
    if (p[i] != 0 && (k < 0 || (alpha > 2 ? p[i] < p[k] : p[i] > p[k]))) k = i;
  }
  if (k < 0) {
    std::fill_n(out, n, Real(0));
    return;
  }
  const double beta = 2 - alpha, log_of_k = std::log(double{p[k]});
  CompensatedSum total;  // R
  const auto mean_of = [&](double scale) {
    CompensatedSum moment;
    total = {};
    for (index_t i = 0; i < n; ++i) {
      if (p[i] == 0) continue;
      const double ratio = std::exp(beta * (std::log(double{p[i]}) - log_of_k));
      total.add(ratio);
      moment.add(ratio * (v[i] * scale - v[k] * scale));
    }
    return moment.total() / total.total();
  };
  double scale = 1, mean = mean_of(scale);
  if (!std::isfinite(mean)) {
    scale = 0x1p-64;
    mean = mean_of(scale);
  }
  constexpr double kLargest = std::numeric_limits<Real>::max(), kMost = std::numeric_limits<double>::max();
  const double centre = v[k] * scale, largest = kLargest * scale;
  double rough = 0 * p[k];  // NaN stays, and so does infinity
  CompensatedSum sum;
  for (index_t i = 0; i < n; ++i) {
    double value = 0;
    if (p[i] != 0 && i != k) {
      const double s = std::min(kLargest, std::exp(beta * std::log(double{p[i]})));
      const double centred = v[i] * scale - centre, own = std::clamp(s * centred, -kMost, kMost);
      value = std::clamp(s * (centred - mean), -largest, largest);
      rough += own;
      sum.add(own);
    }
    out[i] = static_cast<Real>(value / scale);
  }
  const double of_k = (std::isfinite(rough) ? sum.total() : rough) / -total.total();
  out[k] = static_cast<Real>(std::clamp(of_k, -largest, largest) / scale);
}

template <class Real, int kCount>
struct Part {
  typedef Real Lanes __attribute__((vector_size(kCount * sizeof(Real))));
};

/// The value at the lane where a vector of kCount is largest, by halves.
template <class Real, int kCount>
FENCHEL_INLINE Real at_largest_lane(typename Part<Real, kCount>::Lanes largest,
                                    typename Part<Real, kCount>::Lanes value) noexcept {
  if constexpr (kCount == 2) {
    return largest[1] > largest[0] ? value[1] : value[0];
  } else {
    using Half = typename Part<Real, kCount / 2>::Lanes;
    Half tops[2], values[2];
    std::memcpy(tops, &largest, sizeof largest);
    std::memcpy(values, &value, sizeof value);
    const auto later = tops[1] > tops[0];
    return at_largest_lane<Real, kCount / 2>(later ? tops[1] : tops[0], later ? values[1] : values[0]);
  }
}

/// v where p is largest.
template <class Real>
FENCHEL_INLINE Real value_at_largest(const Real* p, index_t n, const Real* v) noexcept {
  Lanes<Real> largest{}, value{};
  for_each_vector<Real>(n, [&](index_t i, index_t count) FENCHEL_INLINE_LAMBDA {
    const Lanes<Real> q = load_up_to(p + i, count, Real(0)), x = load_up_to(v + i, count, Real(0));
    Lanes<Real> next_largest, next_value;
    for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA {
      next_value[j] = q[j] > largest[j] ? x[j] : value[j];
      next_largest[j] = q[j] > largest[j] ? q[j] : largest[j];
    });
    largest = next_largest;
    value = next_value;
  });
  return at_largest_lane<Real, kLanes<Real>>(largest, value);
}

/// out = s (v - mean) where p is not 0, mean = <s, v> / sum(s), in three passes. An entry with nearly all of
/// the weight has a v close to the mean: v is centred where p and therefore s is largest, so that no digit of
/// the difference is lost. False, and nothing is written, where that overflows.
template <class Real, class Weight>
FENCHEL_INLINE bool product(const Real* p, index_t n, const Real* v, Weight weight, Real* s,
                            Real* out) noexcept {
  const Real centre = value_at_largest(p, n, v);
  RunningSum<Real> total, moment;
  for_each_vector<Real>(n, [&](index_t i, index_t count) FENCHEL_INLINE_LAMBDA {
    const Lanes<Real> q = load_up_to(p + i, count, Real(0)), x = load_up_to(v + i, count, Real(0));
    Lanes<Real> w, wx;
    for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA {
      w[j] = q[j] != 0 ? weight(q[j]) : 0;
      wx[j] = q[j] != 0 ? w[j] * (x[j] - centre) : 0;
    });
    total.add(w);
    moment.add(wx);
    if constexpr (Weight::kKept) store_up_to(s + i, w, count);
  });
  const auto mean = static_cast<Real>(moment.total() / total.total());
  if (!std::isfinite(mean)) return false;
  for (index_t i = 0; i < n; ++i) {
    const Real own = Weight::kKept ? s[i] : p[i] != 0 ? weight(p[i]) : Real(0);
    out[i] = own != 0 ? own * (v[i] - centre - mean) : Real(0);
  }
  return true;
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
  // Below some length it costs less to compute the weights than to look for the support.
  const auto weighted = [&](auto weight, index_t short_row) FENCHEL_INLINE_LAMBDA {
    const auto multiply = [&](const Real* q, index_t size, const Real* x, Real* to) FENCHEL_INLINE_LAMBDA {
      if (!product(q, size, x, weight, scratch.s, to)) careful_product(q, size, alpha, x, to);
    };
    if (n < short_row) return multiply(p, n, v, out);
    sparse_product(p, n, v, scratch, out, multiply);
  };
  if (alpha == 1) return weighted(SoftmaxWeight<Real>{}, n + 1);
  if (alpha == 2) return weighted(SparsemaxWeight<Real>{}, 512);
  if (alpha == 1.5) return weighted(RootWeight<Real>{}, 512);
  if (alpha < 2)
    return weighted(PowerWeight<Real>{static_cast<Real>(1 - alpha)}, sizeof(Real) == 4 ? 512 : 0);
  if (alpha == double(kInfinity)) {
    for (index_t i = 0; i < n; ++i) out[i] = p[i] * 0;
    return;
  }
  sparse_product(p, n, v, scratch, out, [&](const Real* q, index_t size, const Real* x, Real* to) {
    careful_product(q, size, alpha, x, to);
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
