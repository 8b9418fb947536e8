#include "data/decompressor.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <string>
#include <string_view>

#ifdef FENCHEL_HAS_ZLIB
#include <zlib.h>
#endif
#ifdef FENCHEL_HAS_ZSTD
#include <zstd.h>
#endif

namespace fenchel::detail {
namespace {

using namespace std::string_view_literals;

constexpr index_t kPiece = index_t{1} << 18;  // of the file, in bytes
constexpr std::string_view kGzip = "\x1f\x8b"sv, kZstd = "\x28\xb5\x2f\xfd"sv;

/// Formats whose rows stand in no text that could be read here.
struct Foreign {
  std::string_view magic, complaint;
};
constexpr std::array kForeign = {
    Foreign{"\xfd\x37zXZ\0"sv, "is compressed by xz; gzip and zstd can be read"},
    Foreign{"BZh"sv, "is compressed by bzip2; gzip and zstd can be read"},
    Foreign{"PK\x03\x04"sv, "is a ZIP archive, as spreadsheets are; save the table as CSV"},
    Foreign{"PAR1"sv, "is a Parquet file; read it in Python by pyarrow, whose tables fenchel.fit takes"},
    Foreign{"ARROW1"sv, "is an Arrow file; read it in Python by pyarrow, whose tables fenchel.fit takes"}};

constexpr const char* kCut = "is cut off: its compressed text does not end";

/// The bytes of a file, one piece after the other.
class Pieces {
 public:
  explicit Pieces(const ByteSource& file) : file_(file) {}

  [[nodiscard]] const ByteSource& file() const noexcept { return file_; }
  [[nodiscard]] bool at_end() const noexcept { return at_ == file_.size(); }
  /// The next one, which lasts until that after it is asked for; empty at the end.
  [[nodiscard]] std::span<const char> next() {
    const index_t end = std::min(file_.size(), at_ + kPiece);
    window_ = file_.window(at_, end);
    at_ = end;
    return window_.bytes;
  }
  [[noreturn]] void refuse_damage(std::string_view what) const {
    file_.refuse("is damaged: " + std::string(what));
  }

 private:
  const ByteSource& file_;
  index_t at_ = 0;
  FileWindow window_;
};

#ifdef FENCHEL_HAS_ZLIB
/// One or more members (RFC 1952), each of which says how long it is and has a checksum.
class Gzip final : public Decompressor {
 public:
  explicit Gzip(const ByteSource& file) : pieces_(file) {
    if (inflateInit2(&stream_, kGzipWindow) != Z_OK) throw std::bad_alloc();
  }
  ~Gzip() override { inflateEnd(&stream_); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  [[nodiscard]] index_t read(std::span<char> text) override {
    stream_.next_out = reinterpret_cast<Bytef*>(text.data());
    stream_.avail_out = static_cast<uInt>(text.size());
    while (stream_.avail_out > 0) {
      if (stream_.avail_in == 0 && !refill()) break;
      if (ended_) begin_member();
      const int status = inflate(&stream_, Z_NO_FLUSH);
      ended_ = status == Z_STREAM_END;
      if (status == Z_MEM_ERROR) throw std::bad_alloc();
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
        pieces_.refuse_damage(stream_.msg == nullptr ? "it is no gzip" : stream_.msg);
    }
    return std::ssize(text) - static_cast<index_t>(stream_.avail_out);
  }

 private:
  static constexpr int kGzipWindow = 15 + 16;  // as zlib says that there is a header of gzip

  /// False at the end of the file, which must be that of a member.
  [[nodiscard]] bool refill() {
    if (pieces_.at_end()) {
      if (!ended_) pieces_.file().refuse(kCut);
      return false;
    }
    const std::span<const char> piece = pieces_.next();
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    stream_.avail_in = static_cast<uInt>(piece.size());
    return true;
  }
  void begin_member() {
    inflateReset(&stream_);
    ended_ = false;
  }

  Pieces pieces_;
  z_stream stream_{};
  bool ended_ = false;
};
#endif

#ifdef FENCHEL_HAS_ZSTD
/// One or more frames (RFC 8878). A window of more than 128 MiB is refused, as by the program zstd.
class Zstd final : public Decompressor {
 public:
  explicit Zstd(const ByteSource& file) : pieces_(file), stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }
  ~Zstd() override { ZSTD_freeDStream(stream_); }
  Zstd(const Zstd&) = delete;
  Zstd& operator=(const Zstd&) = delete;

  [[nodiscard]] index_t read(std::span<char> text) override {
    ZSTD_outBuffer out{text.data(), text.size(), 0};
    while (out.pos < out.size) {
      if (in_.pos == in_.size && !held_back_) {
        if (pieces_.at_end()) {
          if (!ended_) pieces_.file().refuse(kCut);
          break;
        }
        const std::span<const char> piece = pieces_.next();
        in_ = {piece.data(), piece.size(), 0};
      }
      const std::size_t status = ZSTD_decompressStream(stream_, &out, &in_);
      if (ZSTD_isError(status) != 0) pieces_.refuse_damage(ZSTD_getErrorName(status));
      ended_ = status == 0;
      held_back_ = out.pos == out.size && !ended_;  // there may be more that needs no more of the file
    }
    return static_cast<index_t>(out.pos);
  }

 private:
  Pieces pieces_;
  ZSTD_DStream* stream_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool ended_ = false, held_back_ = false;
};
#endif

}  // namespace

std::unique_ptr<Decompressor> make_decompressor(const ByteSource& file) {
  constexpr index_t kLongest = 6;
  const FileWindow window = file.window(0, std::min(kLongest, file.size()));
  const std::string_view beginning(window.bytes.data(), window.bytes.size());
  for (const Foreign& format : kForeign)
    if (beginning.starts_with(format.magic)) file.refuse(format.complaint);
  if (beginning.starts_with(kGzip)) {
#ifdef FENCHEL_HAS_ZLIB
    return std::make_unique<Gzip>(file);
#else
    file.refuse("is compressed by gzip, and fenchel was built without zlib");
#endif
  }
  if (beginning.starts_with(kZstd)) {
#ifdef FENCHEL_HAS_ZSTD
    return std::make_unique<Zstd>(file);
#else
    file.refuse("is compressed by zstd, and fenchel was built without libzstd");
#endif
  }
  return nullptr;
}

}  // namespace fenchel::detail
