#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "fenchel/data/npy_source.hpp"
#include "support/read_all.hpp"

using fenchel::NpyOptions;
using fenchel::NpySource;
using fenchel::testing::Contents;
using fenchel::testing::read_memory;

/// The first byte says how to read the rest. Neither batches nor where the bytes lie change what is read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  NpyOptions options;
  if ((data[0] & 1) != 0) options.columns = {1, 0};
  if ((data[0] & 2) != 0) options.weight = 2;
  const std::span bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Contents whole = read_memory<NpySource>(bytes, options);
  const std::vector<char> aligned(bytes.begin(), bytes.end());
  if (read_memory<NpySource>(aligned, options) != whole) std::abort();
  options.batch_bytes = 1;
  if (read_memory<NpySource>(bytes, options) != whole) std::abort();
  return 0;
}
