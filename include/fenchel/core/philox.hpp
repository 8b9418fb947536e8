#pragma once

/// `Philox`: a counter-based random number generator.

#include <cstdint>

#include "fenchel/core/config.hpp"

namespace fenchel {

struct PhiloxCounter {
  std::uint32_t words[4];
  constexpr bool operator==(const PhiloxCounter&) const = default;
};

struct PhiloxKey {
  std::uint32_t words[2];
};

/// Philox4x32-10: under each key a bijection of counters that looks random, and passes BigCrush when the
/// counter only counts [J. Salmon, M. Moraes, R. Dror, D. Shaw, Parallel random numbers: as easy as 1, 2, 3,
/// SC 2011]. The same bits as Random123's philox4x32.
[[nodiscard]] FENCHEL_HD constexpr PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) noexcept {
  constexpr int kRounds = 10;
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;  // golden ratio, sqrt(3) - 1
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter.words[0],
                        product1 = kMultiplier1 * counter.words[2];
    counter = {{static_cast<std::uint32_t>(product1 >> 32) ^ counter.words[1] ^ key.words[0],
                static_cast<std::uint32_t>(product1),
                static_cast<std::uint32_t>(product0 >> 32) ^ counter.words[3] ^ key.words[1],
                static_cast<std::uint32_t>(product0)}};
    key = {{key.words[0] + kWeyl0, key.words[1] + kWeyl1}};
  }
  return counter;
}

/// A generator of 64 random bits a call, one of 2^64 seeds with 2^64 streams of 2^64 numbers each: give each
/// row or sample its own stream, and parallel work draws the same numbers on any number of threads.
/// Number n of (seed, stream) is words (0, 1), or (2, 3) when n is odd, the low word first, of
/// philox4x32({n / 2, stream}, {seed}), where a 64-bit integer is two words, the low one first.
class Philox {
 public:
  using result_type = std::uint64_t;

  FENCHEL_HD constexpr explicit Philox(std::uint64_t seed = 0, std::uint64_t stream = 0) noexcept
      : seed_(seed), stream_(stream) {}

  [[nodiscard]] FENCHEL_HD static constexpr result_type min() noexcept { return 0; }
  [[nodiscard]] FENCHEL_HD static constexpr result_type max() noexcept { return ~result_type{0}; }

  FENCHEL_HD constexpr result_type operator()() noexcept {
    if (position_++ % 2 == 1) return odd_;
    const PhiloxCounter block = block_of(position_ - 1);
    odd_ = join(block.words[2], block.words[3]);
    return join(block.words[0], block.words[1]);
  }

  /// Skips n numbers, in constant time.
  FENCHEL_HD constexpr void discard(std::uint64_t n) noexcept {
    position_ += n;
    if (position_ % 2 == 0) return;
    const PhiloxCounter block = block_of(position_);
    odd_ = join(block.words[2], block.words[3]);
  }

  /// Whether both give the same numbers from here on.
  FENCHEL_HD constexpr bool operator==(const Philox& other) const noexcept {
    return seed_ == other.seed_ && stream_ == other.stream_ && position_ == other.position_;
  }

 private:
  FENCHEL_HD static constexpr std::uint32_t low(std::uint64_t x) noexcept {
    return static_cast<std::uint32_t>(x);
  }
  FENCHEL_HD static constexpr std::uint32_t high(std::uint64_t x) noexcept {
    return static_cast<std::uint32_t>(x >> 32);
  }
  FENCHEL_HD static constexpr std::uint64_t join(std::uint32_t low_word, std::uint32_t high_word) noexcept {
    return static_cast<std::uint64_t>(high_word) << 32 | low_word;
  }
  [[nodiscard]] FENCHEL_HD constexpr PhiloxCounter block_of(std::uint64_t position) const noexcept {
    const std::uint64_t block = position / 2;
    return philox4x32({{low(block), high(block), low(stream_), high(stream_)}}, {{low(seed_), high(seed_)}});
  }

  std::uint64_t seed_;
  std::uint64_t stream_;
  std::uint64_t position_ = 0;
  std::uint64_t odd_ = 0;  // number position_, where position_ is odd
};

}  // namespace fenchel
