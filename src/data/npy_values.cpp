#include "data/npy_values.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace fenchel::detail {
namespace {

template <class T, std::endian order>
T load(const char* from) {
  std::array<char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), from, sizeof(T));
  if constexpr (order != std::endian::native) std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<T>(bytes);
}

/// Whether double holds it.
template <bool masks, class T>
bool usable(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::isfinite(value) || (masks && value == -std::numeric_limits<T>::infinity());
  } else if constexpr (sizeof(T) == 8) {
    constexpr T kLargest = T{1} << 53;
    return value <= kLargest && (std::is_unsigned_v<T> || value >= T{0} - kLargest);
  } else {
    return true;
  }
}

template <class T, std::endian order, bool masks = false>
index_t read_values(const char* from, index_t step, index_t count, double* to, index_t to_step) {
  for (index_t k = 0; k < count; ++k) {
    const T value = load<T, order>(from + k * step);
    if (!usable<masks>(value)) return k;
    to[k * to_step] = static_cast<double>(value);
  }
  return count;
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

index_t first_not_finite(const double* values, index_t count, bool masks) noexcept {
  constexpr index_t kBlock = 16;
  constexpr std::uint64_t kExponent = 0x7ff0000000000000;
  index_t k = 0;
  for (; k + kBlock <= count; k += kBlock) {
    std::uint64_t largest = 0;
    for (index_t j = 0; j < kBlock; ++j) {
      const double x = values[k + j];
      const double excess = x - x;  // 0, or NaN where x is not finite
      largest |= std::bit_cast<std::uint64_t>(excess) & kExponent;
    }
    if (largest != 0) break;
  }
  while (k < count && (masks ? usable<true>(values[k]) : usable<false>(values[k]))) ++k;
  return k;
}

}  // namespace fenchel::detail
