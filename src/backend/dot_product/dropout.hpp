#pragma once

#include <cstdint>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/philox.hpp"

namespace fenchel::detail {

/// What dropout multiplies a weight by, 0 or 1 / (1 - dropout), for CPU and GPU. `row` is that of the query
/// in the record of attention. It is 0 where the uniform of (seed, row, key), 32 bits of Philox, is below
/// dropout.
FENCHEL_HD inline double dropout_factor(std::int64_t seed, index_t row, index_t key,
                                        double dropout) noexcept {
  const auto low = [](auto x) { return static_cast<std::uint32_t>(x); };
  const auto high = [](auto x) { return static_cast<std::uint32_t>(static_cast<std::uint64_t>(x) >> 32); };
  const PhiloxCounter bits =
      philox4x32({{low(key), high(key), low(row), high(row)}}, {{low(seed), high(seed)}});
  return bits.words[0] * 0x1p-32 < dropout ? 0.0 : 1 / (1 - dropout);
}

}  // namespace fenchel::detail
