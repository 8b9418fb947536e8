#pragma once

/// The version of the library.

#define FENCHEL_VERSION_MAJOR 0
#define FENCHEL_VERSION_MINOR 1
#define FENCHEL_VERSION_PATCH 0

namespace fenchel {

struct Version {
  int major, minor, patch;
};

/// The version of the headers; CMake, pkg-config and the shared library take theirs from this file.
inline constexpr Version kVersion{FENCHEL_VERSION_MAJOR, FENCHEL_VERSION_MINOR, FENCHEL_VERSION_PATCH};

}  // namespace fenchel
