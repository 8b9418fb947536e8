#pragma once

namespace fenchel::testing {

/// A test that also runs on an emulated processor takes one in so many of its cases there.
#ifdef FENCHEL_EMULATED
inline constexpr int kOneCaseIn = 100;
#else
inline constexpr int kOneCaseIn = 1;
#endif

}  // namespace fenchel::testing
