#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "data/byte_source.hpp"
#include "data/decompressor.hpp"

namespace fenchel::detail {

/// The text of a compressed file. It is decompressed once to find its size and whether it is whole. Pieces
/// are then decompressed in order, those that came last are kept for whoever needs them next, and what is
/// asked for before these begins anew: memory does not grow with the text, however small its file is.
class DecompressedBytes final : public ByteSource {
 public:
  DecompressedBytes(std::unique_ptr<const ByteSource> file, std::unique_ptr<Decompressor> stream);

  [[nodiscard]] index_t size() const noexcept override { return size_; }

 private:
  using Piece = std::shared_ptr<const std::vector<char>>;

  [[nodiscard]] FileWindow read(index_t begin, index_t end,
                                FunctionRef<void(std::span<const char>)> seen) const override;
  [[nodiscard]] Piece piece(index_t k) const;
  index_t decompress_next() const;

  std::unique_ptr<const ByteSource> file_;
  index_t size_ = 0;
  mutable std::mutex mutex_;  // of what follows
  mutable std::unique_ptr<Decompressor> stream_;
  mutable std::deque<Piece> recent_;
  mutable index_t next_ = 0;  // the piece behind the recent ones
};

}  // namespace fenchel::detail
