#include <limits>

#include "backend/cpu/beta_gaussian/kernels.hpp"
#include "core/beta_gaussian/closed_line.hpp"

#ifdef __clang__
#define FENCHEL_IN_PLACE _Pragma("clang loop vectorize(assume_safety)")
#else
#define FENCHEL_IN_PLACE _Pragma("GCC ivdep")
#endif

namespace fenchel::detail {
namespace {

template <int s, class Real>
FENCHEL_INLINE void cdf_of(const ClosedLine& law, const Real* t, index_t n, Real* out) noexcept {
  const double mu = law.mu, inverse = 1 / law.width;
  FENCHEL_IN_PLACE
  for (index_t i = 0; i < n; ++i) {
    out[i] = static_cast<Real>(cdf_element<s>((static_cast<double>(t[i]) - mu) * inverse));
  }
}

template <int s, class Real>
FENCHEL_INLINE void quantile_of(const ClosedLine& law, const Real* u, index_t n, Real* out) noexcept {
  const double mu = law.mu, width = law.width;
  FENCHEL_IN_PLACE
  for (index_t i = 0; i < n; ++i) {
    const double x = u[i];
    const double t = mu + width * quantile_element<s>(x);
    out[i] = static_cast<Real>(x >= 0 && x <= 1 ? t : std::numeric_limits<double>::quiet_NaN());
  }
}

template <class Real>
FENCHEL_INLINE void any_cdf_loop(const ClosedLine& law, const Real* t, index_t n, Real* out) noexcept {
  if (law.s == ClosedLine::kGaussian) return cdf_of<ClosedLine::kGaussian>(law, t, n, out);
  if (law.s == 0) return cdf_of<0>(law, t, n, out);
  if (law.s == 1) return cdf_of<1>(law, t, n, out);
  if (law.s == 2) return cdf_of<2>(law, t, n, out);
  cdf_of<3>(law, t, n, out);
}

template <class Real>
FENCHEL_INLINE void any_quantile_loop(const ClosedLine& law, const Real* u, index_t n, Real* out) noexcept {
  if (law.s == ClosedLine::kGaussian) return quantile_of<ClosedLine::kGaussian>(law, u, n, out);
  if (law.s == 0) return quantile_of<0>(law, u, n, out);
  if (law.s == 1) return quantile_of<1>(law, u, n, out);
  if (law.s == 2) return quantile_of<2>(law, u, n, out);
  quantile_of<3>(law, u, n, out);
}

}  // namespace

FENCHEL_CLONES void cdf_loop(const ClosedLine& law, const float* t, index_t n, float* out) noexcept {
  any_cdf_loop(law, t, n, out);
}
FENCHEL_CLONES void cdf_loop(const ClosedLine& law, const double* t, index_t n, double* out) noexcept {
  any_cdf_loop(law, t, n, out);
}
FENCHEL_CLONES void quantile_loop(const ClosedLine& law, const float* u, index_t n, float* out) noexcept {
  any_quantile_loop(law, u, n, out);
}
FENCHEL_CLONES void quantile_loop(const ClosedLine& law, const double* u, index_t n, double* out) noexcept {
  any_quantile_loop(law, u, n, out);
}

}  // namespace fenchel::detail
