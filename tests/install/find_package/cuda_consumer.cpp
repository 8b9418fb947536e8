#include <stdexcept>
#include <string>

#include "fenchel/backend/cuda/entmax.hpp"

/// What is refused before a GPU is asked for.
int main() {
  float row[2] = {0, 1};
  const fenchel::cuda::DeviceRows<float> rows(row, 1, 2);
  try {
    fenchel::cuda::entmax(rows, -1.0, rows, nullptr);
  } catch (const std::domain_error& error) {
    return std::string(error.what()).find("alpha must be positive, got -1") == std::string::npos;
  }
  return 1;
}
