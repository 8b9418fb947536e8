#include "data/decompressed_bytes.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "fenchel/core/checkpoint.hpp"
#include "fenchel/core/parallel.hpp"

namespace fenchel::detail {
namespace {

constexpr index_t kPiece = index_t{1} << 20;  // bytes, as many as there are in a batch

/// Pieces to keep: a pass over batches (for_each_batch) has each thread begin some of them ahead.
std::size_t pieces_to_keep() {
  constexpr int kLeast = 64, kPerThread = 4, kMore = 4;
  return static_cast<std::size_t>(std::max(kLeast, kPerThread * num_threads() + kMore));
}

}  // namespace

DecompressedBytes::DecompressedBytes(std::unique_ptr<const ByteSource> file,
                                     std::unique_ptr<Decompressor> stream)
    : ByteSource(file->name()), file_(std::move(file)), stream_(std::move(stream)) {
  for (index_t length = kPiece; length == kPiece; size_ += length) {
    length = decompress_next();
    checkpoint();
  }
}

/// Adds the next piece to the recent ones, and returns how long it is.
index_t DecompressedBytes::decompress_next() const {
  std::vector<char> text(static_cast<std::size_t>(kPiece));
  const index_t length = stream_->read(text);
  text.resize(static_cast<std::size_t>(length));
  text.shrink_to_fit();
  while (recent_.size() >= pieces_to_keep()) recent_.pop_front();
  recent_.push_back(std::make_shared<const std::vector<char>>(std::move(text)));
  ++next_;
  return length;
}

DecompressedBytes::Piece DecompressedBytes::piece(index_t k) const {
  const std::lock_guard lock(mutex_);
  if (k < next_ - std::ssize(recent_)) {
    stream_ = make_decompressor(*file_);
    recent_.clear();
    next_ = 0;
  }
  while (next_ <= k) static_cast<void>(decompress_next());
  return recent_[static_cast<std::size_t>(k - next_ + std::ssize(recent_))];
}

FileWindow DecompressedBytes::read(index_t begin, index_t end,
                                   FunctionRef<void(std::span<const char>)> seen) const {
  const auto part = [&](index_t from, index_t to) -> FileWindow {
    Piece text = piece(from / kPiece);
    const auto first = static_cast<std::size_t>(from % kPiece), count = static_cast<std::size_t>(to - from);
    return {std::span(*text).subspan(first, count), std::move(text)};
  };
  FileWindow window;
  if (begin / kPiece == (end - 1) / kPiece) {
    window = part(begin, end);
  } else {
    const std::shared_ptr<char[]> bytes(new char[static_cast<std::size_t>(end - begin)]);
    for (index_t at = begin; at != end;) {
      const FileWindow next = part(at, std::min(end, (at / kPiece + 1) * kPiece));
      std::memcpy(bytes.get() + (at - begin), next.bytes.data(), next.bytes.size());
      at += std::ssize(next.bytes);
    }
    window = {{bytes.get(), static_cast<std::size_t>(end - begin)}, bytes};
  }
  seen(window.bytes);
  return window;
}

}  // namespace fenchel::detail
