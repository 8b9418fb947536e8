#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "fenchel/core/config.hpp"
#include "fenchel/core/double_double.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/estimate/statistics/processes.hpp"

/// The bytes of a statistic: four letters that say which, the version of its layout, the length of what
/// follows, little-endian numbers of eight bytes, and a checksum (FNV-1a) of all before it.
namespace fenchel::detail {

class FENCHEL_EXPORT ByteWriter {
 public:
  ByteWriter(std::string_view kind, std::uint32_t version);

  void put(std::uint64_t number);
  void put(index_t number) { put(static_cast<std::uint64_t>(number)); }
  void put(double number);
  void put(const DoubleDouble& number) {
    put(number.high);
    put(number.low);
  }
  [[nodiscard]] Bytes finish() &&;

 private:
  Bytes bytes_;
};

/// Throws std::invalid_argument, in the name of `where`, unless the bytes are whole, unchanged, and of this
/// kind and version. What they say is still to be checked by whoever reads it.
class FENCHEL_EXPORT ByteReader {
 public:
  ByteReader(std::string_view where, std::string_view kind, std::uint32_t version,
             std::span<const std::byte> bytes);

  [[nodiscard]] std::uint64_t number();
  [[nodiscard]] index_t index() { return static_cast<index_t>(number()); }
  [[nodiscard]] double real();
  /// Refuses parts that no DoubleDouble has.
  [[nodiscard]] DoubleDouble double_double() {
    const double high = real(), low = real();
    require(high + low == high || (high != high && low == 0), "must hold normalised sums");
    return DoubleDouble::from_parts(high, low);
  }
  /// How many numbers are left.
  [[nodiscard]] std::size_t left() const noexcept { return rest_.size() / 8; }
  /// Throws std::invalid_argument: the bytes say what no such statistic says.
  [[noreturn]] void refuse(std::string_view constraint, std::string_view got) const;
  /// Throws unless `condition`.
  void require(bool condition, std::string_view constraint) const {
    if (!condition) refuse(constraint, "other content");
  }

 private:
  std::string_view where_;
  std::span<const std::byte> rest_;
};

}  // namespace fenchel::detail
