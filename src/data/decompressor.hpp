#pragma once

#include <memory>
#include <span>

#include "data/byte_source.hpp"

namespace fenchel::detail {

/// A compressed file from its beginning on.
class Decompressor {
 public:
  virtual ~Decompressor() = default;
  /// Fills `text` with what comes next, and returns how much there was: less than all of it at the end alone.
  /// Throws DataError where the file is cut off or damaged.
  [[nodiscard]] virtual index_t read(std::span<char> text) = 0;
};

/// What reads a file that begins as gzip or zstd does; null for another one. Throws DataError for a format,
/// by its first bytes, that cannot be read.
[[nodiscard]] std::unique_ptr<Decompressor> make_decompressor(const ByteSource& file);

}  // namespace fenchel::detail
