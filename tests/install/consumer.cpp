// What a user's first program needs: the whole of fenchel in one header, and a call into the library. The
// argument is the version to expect.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "fenchel/fenchel.hpp"

int main(int count, char** arguments) {
  const auto [major, minor, patch] = fenchel::kVersion;
  const std::string version =
      std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
  std::vector<double> scores{2, 1.5, -1}, p(3);
  fenchel::cpu::entmax({scores.data(), 1, 3}, 2.0, fenchel::Rows<double>(p.data(), 1, 3));
  const bool sparse = std::abs(p[0] - 0.75) < 1e-15 && std::abs(p[1] - 0.25) < 1e-15 && p[2] == 0;
  const auto predicted = predict(fenchel::Tsallis(2), fenchel::VectorScore(scores), fenchel::Finite());
  const bool agrees = std::abs(pmf(predicted, 0) - 0.75) < 1e-15;
  std::printf("fenchel %s, threads: %d, sparsemax: %g %g %g\n", version.c_str(), fenchel::num_threads(), p[0],
              p[1], p[2]);
  return count == 2 && version == arguments[1] && sparse && agrees ? 0 : 1;
}
