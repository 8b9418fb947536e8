// What a user's first program needs: a header, a call into the library. The argument is the version to
// expect.
#include <cstdio>
#include <string>

#include "fenchel/core/parallel.hpp"
#include "fenchel/core/version.hpp"

int main(int count, char** arguments) {
  const auto [major, minor, patch] = fenchel::kVersion;
  const std::string version =
      std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
  std::printf("fenchel %s, threads: %d\n", version.c_str(), fenchel::num_threads());
  return count == 2 && version == arguments[1] && fenchel::num_threads() >= 1 ? 0 : 1;
}
