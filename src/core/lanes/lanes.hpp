#pragma once

#include <cstdint>
#include <cstring>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"

/// Functions marked so are compiled once per instruction set and chosen when the program starts.
#ifdef FENCHEL_USE_TARGET_CLONES
#define FENCHEL_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FENCHEL_CLONES
#endif
/// What a clone calls must be inlined into it, so that it is compiled for the clone's instruction set.
#define FENCHEL_INLINE FENCHEL_HD inline __attribute__((always_inline))
#define FENCHEL_INLINE_LAMBDA __attribute__((always_inline))

namespace fenchel::detail {

template <class Real>
struct LaneTypes;
template <>
struct LaneTypes<float> {
  typedef float Value __attribute__((vector_size(64)));
  typedef std::int32_t Int __attribute__((vector_size(64)));
};
template <>
struct LaneTypes<double> {
  typedef double Value __attribute__((vector_size(64)));
  typedef std::int64_t Int __attribute__((vector_size(64)));
};

/// 64 bytes of numbers that are computed on together, on every instruction set: 16 floats or 8 doubles. Sums
/// over lanes therefore have one fixed order. Comparisons give Int lanes of 0 and -1; `mask ? a : b` selects.
template <class Real>
using Lanes = typename LaneTypes<Real>::Value;
template <class Real>
using IntLanes = typename LaneTypes<Real>::Int;
template <class Real>
inline constexpr index_t kLanes = 64 / static_cast<index_t>(sizeof(Real));

template <class Real>
FENCHEL_INLINE Lanes<Real> load(const Real* from) noexcept {
  Lanes<Real> lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

/// The first `count` of a vector; the rest is `fill`.
template <class Real>
FENCHEL_INLINE Lanes<Real> load_some(const Real* from, index_t count, Real fill) noexcept {
  Lanes<Real> lanes = fill - Lanes<Real>{};
  std::memcpy(&lanes, from, static_cast<std::size_t>(count) * sizeof(Real));
  return lanes;
}

template <class Real>
FENCHEL_INLINE void store(Real* to, Lanes<Real> lanes) noexcept {
  std::memcpy(to, &lanes, sizeof lanes);
}

template <class Real>
FENCHEL_INLINE void store_some(Real* to, Lanes<Real> lanes, index_t count) noexcept {
  std::memcpy(to, &lanes, static_cast<std::size_t>(count) * sizeof(Real));
}

}  // namespace fenchel::detail
