#include "fenchel/core/vector_math.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>

#include "core/lanes/lane_erf.hpp"
#include "core/lanes/lane_math.hpp"
#include "core/lanes/lane_pow.hpp"
#include "fenchel/core/error.hpp"

/// x[i] is read before y[i] is written and no other overlap is allowed, so the loop needs no check for
/// aliases.
#ifdef __clang__
#define FENCHEL_IN_PLACE _Pragma("clang loop vectorize(assume_safety)")
#else
#define FENCHEL_IN_PLACE _Pragma("GCC ivdep")
#endif

/// One function of one type: its loop, compiled for each instruction set, and its entry. The compiler makes
/// the tail of the loop; going by lanes instead would send each vector through memory where it has fewer than
/// 64 bytes.
#define FENCHEL_VECTOR_FUNCTION(name, Real)                                              \
  namespace {                                                                            \
  FENCHEL_CLONES void name##_loop(std::span<const Real> x, std::span<Real> y) noexcept { \
    const auto from = x.data();                                                          \
    const auto to = y.data();                                                            \
    const index_t n = std::ssize(x);                                                     \
    FENCHEL_IN_PLACE                                                                     \
    for (index_t i = 0; i < n; ++i) to[i] = detail::name##_element(from[i]);             \
  }                                                                                      \
  }                                                                                      \
  void vector_##name(std::span<const Real> x, std::span<Real> y) {                       \
    check_sizes("vector_" #name, x.size(), y.size());                                    \
    name##_loop(x, y);                                                                   \
  }

namespace fenchel {
namespace {

void check_sizes(std::string_view where, std::size_t x, std::size_t y) {
  if (x == y) return;
  throw_invalid_argument(where, "y.size()", "must equal x.size() = " + std::to_string(x),
                         static_cast<index_t>(y));
}

}  // namespace

FENCHEL_VECTOR_FUNCTION(exp, float)
FENCHEL_VECTOR_FUNCTION(exp, double)
FENCHEL_VECTOR_FUNCTION(log, float)
FENCHEL_VECTOR_FUNCTION(log, double)
FENCHEL_VECTOR_FUNCTION(log1p, float)
FENCHEL_VECTOR_FUNCTION(log1p, double)
FENCHEL_VECTOR_FUNCTION(erf, float)
FENCHEL_VECTOR_FUNCTION(erf, double)
FENCHEL_VECTOR_FUNCTION(erfc, float)
FENCHEL_VECTOR_FUNCTION(erfc, double)

namespace {

FENCHEL_CLONES void pow_loop(const float* x, detail::PowExponent<float> exponent, float* y,
                             index_t n) noexcept {
  FENCHEL_IN_PLACE
  for (index_t i = 0; i < n; ++i) y[i] = detail::pow_element(x[i], exponent);
}

FENCHEL_CLONES void pow_loop(const double* x, detail::PowExponent<double> exponent, double* y,
                             index_t n) noexcept {
  FENCHEL_IN_PLACE
  for (index_t i = 0; i < n; ++i) y[i] = detail::pow_element(x[i], exponent);
}

/// The exponents for which x = NaN or x = 1 is an exception stay out of the loop.
template <class Real>
void pow_any(std::span<const Real> x, Real exponent, std::span<Real> y) {
  check_sizes("vector_pow", x.size(), y.size());
  if (exponent == 0) {
    std::ranges::fill(y, Real(1));
  } else if (std::isnan(exponent)) {
    std::ranges::transform(x, y.begin(), [=](Real t) { return t == 1 ? Real(1) : exponent; });
  } else {
    pow_loop(x.data(), detail::PowExponent<Real>(exponent), y.data(), std::ssize(x));
  }
}

}  // namespace

void vector_pow(std::span<const float> x, float exponent, std::span<float> y) { pow_any(x, exponent, y); }
void vector_pow(std::span<const double> x, double exponent, std::span<double> y) { pow_any(x, exponent, y); }

}  // namespace fenchel
