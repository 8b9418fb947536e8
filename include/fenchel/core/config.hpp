#pragma once

/// The macros that mark what is exported and what runs on both CPU and GPU.

/// Marks what the shared library exports; everything else is hidden.
#if defined(FENCHEL_STATIC) || !defined(__GNUC__)
#define FENCHEL_EXPORT
#else
#define FENCHEL_EXPORT __attribute__((visibility("default")))
#endif

/// Marks the scalar formulas that host and device code share.
#if defined(__CUDACC__)
#define FENCHEL_HD __host__ __device__
#else
#define FENCHEL_HD
#endif
