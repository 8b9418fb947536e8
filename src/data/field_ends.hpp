#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fenchel::detail {

/// The separators and line feeds of a text, one after the other. They are looked for in 64 characters
/// together, so that a field need not wait for the one before it to be read.
class FieldEnds {
 public:
  FieldEnds(const char* begin, const char* end, char separator) noexcept : end_(end), separator_(separator) {
    restart(begin);
  }

  /// The next one, or the end of the text.
  [[nodiscard]] const char* next() noexcept {
    while (found_ == 0) {
      if (end_ - block_ <= kBlock) return end_;
      restart(block_ + kBlock);
    }
    const char* const first = block_ + std::countr_zero(found_);
    found_ &= found_ - 1;
    return first;
  }

  /// Goes on at p.
  void restart(const char* p) noexcept {
    block_ = p;
    if (end_ - p >= kBlock) {
      found_ = found_in(p);
    } else {
      std::array<char, kBlock> rest{};
      if (p != end_) std::memcpy(rest.data(), p, static_cast<std::size_t>(end_ - p));
      found_ = found_in(rest.data());
    }
  }

 private:
  static constexpr std::ptrdiff_t kBlock = 64;
  typedef signed char Characters __attribute__((vector_size(16)));

  /// A bit for each of 64 characters.
  [[nodiscard]] std::uint64_t found_in(const char* p) const noexcept {
    std::uint64_t found = 0;
    for (int k = 0; k < kBlock; k += 16) found |= found_in_16(p + k) << k;
    return found;
  }
  [[nodiscard]] std::uint64_t found_in_16(const char* p) const noexcept {
    constexpr Characters kBits = {1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128};
    constexpr std::uint64_t kSum = 0x0101010101010101;  // times eight bytes has their sum in its highest one
    Characters characters;
    std::memcpy(&characters, p, sizeof characters);
    const Characters bits = ((characters == separator_) | (characters == '\n')) & kBits;
    std::array<std::uint64_t, 2> halves;
    std::memcpy(halves.data(), &bits, sizeof bits);
    return halves[0] * kSum >> 56 | halves[1] * kSum >> 56 << 8;
  }

  const char *block_, *end_;
  signed char separator_;
  std::uint64_t found_ = 0;
};

}  // namespace fenchel::detail
