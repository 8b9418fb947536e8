#include "data/byte_source.hpp"

#include <algorithm>

#include "data/decompressed_bytes.hpp"
#include "data/decompressor.hpp"
#include "data/file_bytes.hpp"
#include "fenchel/data/data_error.hpp"

namespace fenchel::detail {
namespace {

std::unique_ptr<const ByteSource> decompressed(std::unique_ptr<const ByteSource> file) {
  std::unique_ptr<Decompressor> stream = make_decompressor(*file);
  if (stream == nullptr) return file;
  return std::make_unique<DecompressedBytes>(std::move(file), std::move(stream));
}

}  // namespace

void ByteSource::refuse(std::string_view complaint) const {
  throw DataError(name_ + ": " + std::string(complaint));
}

std::unique_ptr<const ByteSource> open_bytes(const std::string& path, std::string name) {
  return decompressed(std::make_unique<const FileBytes>(path, std::move(name)));
}

std::unique_ptr<const ByteSource> open_bytes(std::span<const char> memory, std::string name) {
  return decompressed(std::make_unique<const FileBytes>(memory, std::move(name)));
}

std::string beginning_of(const ByteSource& file, index_t most) {
  const std::unique_ptr<Decompressor> stream = make_decompressor(file);
  std::string text(static_cast<std::size_t>(most), '\0');
  if (stream == nullptr) {
    const FileWindow window = file.window(0, std::min(most, file.size()));
    return {window.bytes.begin(), window.bytes.end()};
  }
  text.resize(static_cast<std::size_t>(stream->read(text)));
  return text;
}

}  // namespace fenchel::detail
