#include "estimate/statistics/byte_format.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "fenchel/core/error.hpp"

namespace fenchel::detail {
namespace {

constexpr std::size_t kHeaderSize = 16, kChecksumSize = 8;

std::uint64_t read_little_endian(std::span<const std::byte> bytes, std::size_t at,
                                 std::size_t size) noexcept {
  std::uint64_t number = 0;
  for (std::size_t k = size; k-- > 0;) number = number << 8 | std::to_integer<std::uint64_t>(bytes[at + k]);
  return number;
}

void write_little_endian(std::uint64_t number, std::size_t size, Bytes& bytes) {
  for (std::size_t k = 0; k < size; ++k) bytes.push_back(static_cast<std::byte>(number >> (8 * k) & 0xff));
}

std::uint64_t checksum(std::span<const std::byte> bytes) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::byte b : bytes) hash = (hash ^ std::to_integer<std::uint64_t>(b)) * 0x100000001b3;
  return hash;
}

}  // namespace

ByteWriter::ByteWriter(std::string_view kind, std::uint32_t version) {
  for (std::size_t k = 0; k < 4; ++k) bytes_.push_back(static_cast<std::byte>(kind[k]));
  write_little_endian(version, 4, bytes_);
  write_little_endian(0, 8, bytes_);
}

void ByteWriter::put(std::uint64_t number) { write_little_endian(number, 8, bytes_); }

void ByteWriter::put(double number) { put(std::bit_cast<std::uint64_t>(number)); }

Bytes ByteWriter::finish() && {
  Bytes length;
  write_little_endian(bytes_.size() - kHeaderSize, 8, length);
  std::copy(length.begin(), length.end(), bytes_.begin() + 8);
  put(checksum(bytes_));
  return std::move(bytes_);
}

ByteReader::ByteReader(std::string_view where, std::string_view kind, std::uint32_t version,
                       std::span<const std::byte> bytes)
    : where_(where) {
  if (bytes.size() < kHeaderSize + kChecksumSize)
    refuse("must be whole", shortest(static_cast<index_t>(bytes.size())) + " bytes");
  std::string found;
  for (std::size_t k = 0; k < 4; ++k) found += std::to_integer<char>(bytes[k]);
  if (found != kind) refuse("must be of kind '" + std::string(kind) + "'", "another kind");
  const std::uint64_t written = read_little_endian(bytes, 4, 4), length = read_little_endian(bytes, 8, 8);
  if (written != version)
    refuse("must be of version " + shortest(static_cast<index_t>(version)),
           shortest(static_cast<index_t>(written)));
  const std::size_t body = bytes.size() - kHeaderSize - kChecksumSize;
  if (length != body || body % 8 != 0)
    refuse("must have the length that they state", shortest(static_cast<index_t>(body)));
  if (checksum(bytes.first(kHeaderSize + body)) != read_little_endian(bytes, kHeaderSize + body, 8))
    refuse("must be unchanged", "another checksum");
  rest_ = bytes.subspan(kHeaderSize, body);
}

std::uint64_t ByteReader::number() {
  if (rest_.empty()) refuse("must hold all numbers", "fewer");
  const std::uint64_t number = read_little_endian(rest_, 0, 8);
  rest_ = rest_.subspan(8);
  return number;
}

double ByteReader::real() { return std::bit_cast<double>(number()); }

void ByteReader::refuse(std::string_view constraint, std::string_view got) const {
  throw_invalid_argument(where_, "bytes", constraint, got);
}

}  // namespace fenchel::detail
