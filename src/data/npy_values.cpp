#include "data/npy_values.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/lanes/lane_math.hpp"
#include "core/lanes/lanes.hpp"

namespace fenchel::detail {
namespace {

template <class T, std::endian order>
T load_value(const char* from) {
  std::array<char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), from, sizeof(T));
  if constexpr (order != std::endian::native) std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<T>(bytes);
}

/// 0 if double holds it, and something else if not: without a branch, for loops of vectors.
template <bool masks, class T>
FENCHEL_INLINE std::uint64_t misfit(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = LaneBits<T>;
    const Bits excess = std::bit_cast<Bits>(value - value);  // of NaN where it is not finite
    return masks && value == -std::numeric_limits<T>::infinity() ? 0 : excess;
  } else if constexpr (sizeof(T) == 8) {
    constexpr T kLargest = T{1} << 53;
    return value > kLargest || (std::is_signed_v<T> && value < T{0} - kLargest);
  } else {
    return 0;
  }
}

/// Checked in blocks: a loop that may end at each value is no loop of vectors.
template <class T, std::endian order, bool masks>
FENCHEL_INLINE index_t read_strided(const char* from, index_t step, index_t count, double* to,
                                    index_t to_step) {
  constexpr index_t kBlock = 64;
  for (index_t begin = 0; begin < count; begin += kBlock) {
    const index_t end = std::min(begin + kBlock, count);
    std::uint64_t misfits = 0;
    for (index_t k = begin; k < end; ++k) {
      const T value = load_value<T, order>(from + k * step);
      misfits |= misfit<masks>(value);
      to[k * to_step] = static_cast<double>(value);
    }
    for (index_t k = begin; misfits != 0; ++k) {
      if (misfit<masks>(load_value<T, order>(from + k * step)) != 0) return k;
    }
  }
  return count;
}

template <class T, std::endian order, bool masks = false>
index_t read_values(const char* from, index_t step, index_t count, double* to, index_t to_step) {
  if (step == sizeof(T) && to_step == 1) return read_strided<T, order, masks>(from, sizeof(T), count, to, 1);
  return read_strided<T, order, masks>(from, step, count, to, to_step);
}

index_t read_booleans(const char* from, index_t step, index_t count, double* to, index_t to_step) {
  for (index_t k = 0; k < count; ++k) to[k * to_step] = from[k * step] != 0;
  return count;
}

template <class T, std::endian order>
NpyType floating(bool masks) {
  if (masks) return {sizeof(T), read_values<T, order, true>, "must be finite or -inf"};
  return {sizeof(T), read_values<T, order>, "must be finite"};
}

template <std::endian order>
NpyType numbers(std::string_view type, bool masks) {
  constexpr std::string_view kExact = "must be in [-2^53, 2^53]";
  if (type == "f8") return floating<double, order>(masks);
  if (type == "f4") return floating<float, order>(masks);
  if (type == "i8") return {8, read_values<std::int64_t, order>, kExact};
  if (type == "u8") return {8, read_values<std::uint64_t, order>, kExact};
  if (type == "i4") return {4, read_values<std::int32_t, order>};
  if (type == "u4") return {4, read_values<std::uint32_t, order>};
  if (type == "i2") return {2, read_values<std::int16_t, order>};
  if (type == "u2") return {2, read_values<std::uint16_t, order>};
  return {};
}

}  // namespace

NpyType npy_type(std::string_view type, bool masks) {
  if (type == "|i1") return {1, read_values<std::int8_t, std::endian::native>};
  if (type == "|u1") return {1, read_values<std::uint8_t, std::endian::native>};
  if (type == "|b1") return {1, read_booleans};
  if (type.starts_with('<')) return numbers<std::endian::little>(type.substr(1), masks);
  if (type.starts_with('>')) return numbers<std::endian::big>(type.substr(1), masks);
  return {};
}

FENCHEL_CLONES index_t first_not_finite(const double* values, index_t count, bool masks) noexcept {
  constexpr index_t kBlock = 8 * kLanes<double>;
  const auto fits = [&](double value) FENCHEL_INLINE_LAMBDA {
    return (masks ? misfit<true>(value) : misfit<false>(value)) == 0;
  };
  index_t k = 0;
  for (; k + kBlock <= count; k += kBlock) {
    IntLanes<double> excess{};
    for (index_t j = 0; j < kBlock; j += kLanes<double>) {
      const Lanes<double> x = load(values + k + j);
      excess |= std::bit_cast<IntLanes<double>>(x - x);
    }
    std::int64_t any = 0;
    for (index_t j = 0; j < kLanes<double>; ++j) any |= excess[j];
    if (any == 0) continue;
    for (index_t j = k; j < k + kBlock; ++j) {
      if (!fits(values[j])) return j;
    }
  }
  while (k < count && fits(values[k])) ++k;
  return k;
}

}  // namespace fenchel::detail
