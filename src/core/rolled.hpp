#pragma once

#include <type_traits>

/// FENCHEL_ROLLED(n) stands before an inner loop over n dimensions: the compiler of a GPU does not unroll it
/// if the type of n says, by kKnown <= 0, that n is known no sooner than when the kernel runs. Left to
/// choose, it would unroll such loops by four, and take up to eight times as long to compile a kernel for any
/// dimension.
#if defined(__CUDA_ARCH__)
#pragma nv_diag_suppress 20168  // "the unroll value cannot be zero, ignoring pragma": this is how it is left
                                // to choose
#define FENCHEL_PRAGMA(text) _Pragma(#text)
#define FENCHEL_ROLLED(n) FENCHEL_PRAGMA(unroll fenchel::detail::kUnrolled<std::remove_cv_t<decltype(n)>>)
#else
#define FENCHEL_ROLLED(n)
#endif

namespace fenchel::detail {

template <class Size>
inline constexpr int kUnrolled = 0;
template <class Size>
requires(Size::kKnown <= 0) inline constexpr int kUnrolled<Size> = 1;

}  // namespace fenchel::detail
