#include "backend/cpu/attention/values.hpp"

#include "core/lanes/lanes.hpp"

namespace fenchel::detail {
namespace {

template <class Real>
FENCHEL_INLINE double any_dot(const double* x, const Real* y, index_t n) noexcept {
  constexpr index_t kParts = 16;
  double parts[kParts] = {};
  index_t i = 0;
  for (; i + kParts <= n; i += kParts) {
    for (index_t j = 0; j < kParts; ++j) parts[j] += x[i + j] * double{y[i + j]};
  }
  for (; i < n; ++i) parts[0] += x[i] * double{y[i]};
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum;
}

template <class Real>
FENCHEL_INLINE void any_add_multiple(double factor, const Real* x, index_t n, double* y) noexcept {
  for (index_t i = 0; i < n; ++i) y[i] += factor * double{x[i]};
}

template <class Real>
FENCHEL_INLINE void any_store(const double* x, index_t n, Real* y) noexcept {
  for (index_t i = 0; i < n; ++i) y[i] = static_cast<Real>(x[i]);
}

}  // namespace

FENCHEL_CLONES double dot(const double* x, const float* y, index_t n) noexcept { return any_dot(x, y, n); }
FENCHEL_CLONES double dot(const double* x, const double* y, index_t n) noexcept { return any_dot(x, y, n); }
FENCHEL_CLONES void add_multiple(double factor, const float* x, index_t n, double* y) noexcept {
  any_add_multiple(factor, x, n, y);
}
FENCHEL_CLONES void add_multiple(double factor, const double* x, index_t n, double* y) noexcept {
  any_add_multiple(factor, x, n, y);
}
FENCHEL_CLONES void store(const double* x, index_t n, float* y) noexcept { any_store(x, n, y); }
FENCHEL_CLONES void store(const double* x, index_t n, double* y) noexcept { any_store(x, n, y); }

}  // namespace fenchel::detail
