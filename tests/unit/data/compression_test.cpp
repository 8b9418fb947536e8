#include <gtest/gtest.h>
#include <sys/resource.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "data/decompressor.hpp"
#include "fenchel/data/csv_source.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/data/npy_source.hpp"
#include "support/messages.hpp"
#include "support/read_all.hpp"
#include "support/temporary_folder.hpp"

namespace fenchel {
namespace {

using testing::Contents;
using testing::message_of;
using testing::read_all;
using testing::TemporaryFolder;

std::string gzip(std::string_view text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string zstd(std::string_view text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  packed.resize(ZSTD_compress2(context, packed.data(), packed.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return packed;
}

const std::vector<std::string (*)(std::string_view)> kFormats = {gzip, zstd};

/// Lines of a table whose text is longer than `bytes`.
std::string table(std::size_t bytes) {
  std::string text = "x,y\n";
  for (std::size_t k = 0; text.size() < bytes; ++k)
    text += std::to_string(k) + "," + std::to_string(k * 7919 % 1000) + ".25\n";
  return text;
}

TEST(Compression, RowsAndPlacesAreThoseOfTheText) {
  const TemporaryFolder folder;
  const std::string text = table(3'000'000);
  const Contents whole = read_all(CsvSource::in_memory(text, "data.csv"));
  for (const auto format : kFormats) {
    const std::string packed = format(text);
    EXPECT_LT(packed.size(), text.size());
    const std::string path = folder.write("data.csv.packed", packed);
    for (const index_t bytes : {70'000, 1 << 20, 1 << 21}) {
      const CsvOptions options = {.batch_bytes = bytes};
      const CsvSource source(path, options), plain = CsvSource::in_memory(text, path, options);
      EXPECT_EQ(source.batches(), plain.batches());
      EXPECT_EQ(read_all(source), whole);
      EXPECT_EQ(read_all(source), whole);  // once more, from the beginning
      EXPECT_EQ(source.place(1, 5, 1), plain.place(1, 5, 1));
    }
    EXPECT_EQ(read_all(CsvSource::in_memory(packed, "data.csv")), whole);
    const std::string bad = format(text + "1,oops\n");
    EXPECT_EQ(read_all(CsvSource::in_memory(bad, "data.csv")).error,
              read_all(CsvSource::in_memory(text + "1,oops\n", "data.csv")).error);
  }
}

/// Batches are asked for in any order, and what is no longer there is decompressed again.
TEST(Compression, ThreadsReadInAnyOrder) {
  const std::string text = table(80'000'000), packed = zstd(text);
  const CsvSource source = CsvSource::in_memory(packed, "data.csv");
  const CsvSource plain = CsvSource::in_memory(text, "data.csv");
  const auto sum_of = [](const CsvSource& of, index_t i) {
    Batch batch;
    of.read(i, batch);
    double sum = 0;
    for (index_t r = 0; r < batch.rows.rows; ++r) sum += batch.rows[r][0];
    return sum;
  };
  std::vector<double> sums(static_cast<std::size_t>(source.batches()));
  const auto read_every_third = [&](index_t first) {
    for (index_t i = first; i < source.batches(); i += 3)
      sums[static_cast<std::size_t>(i)] = sum_of(source, i);
  };
  std::vector<std::thread> threads;
  for (const index_t first : {0, 1, 2}) threads.emplace_back(read_every_third, first);
  for (std::thread& thread : threads) thread.join();
  for (index_t i = 0; i < source.batches(); ++i)
    ASSERT_EQ(sums[static_cast<std::size_t>(i)], sum_of(plain, i)) << i;
  EXPECT_EQ(sum_of(source, 0), sum_of(plain, 0));
}

TEST(Compression, SeveralMembersAreOneText) {
  const std::string begin = "x,y\n1,2\n3", end = ",4\n5,6\n";
  const Contents whole = read_all(CsvSource::in_memory(begin + end, "data.csv"));
  for (const auto format : kFormats) {
    const std::string packed = format(begin) + format("") + format(end);
    EXPECT_EQ(read_all(CsvSource::in_memory(packed, "data.csv")), whole);
    const std::string empty = format("");
    EXPECT_EQ(message_of<DataError>([&] { (void)CsvSource::in_memory(empty, "data.csv"); }),
              "data.csv: is empty");
  }
}

TEST(Compression, DamageNamesTheFile) {
  const std::string text = table(100'000);
  const auto error_of = [](const std::string& packed) {
    return message_of<DataError>([&] { (void)CsvSource::in_memory(packed, "data.csv"); });
  };
  std::mt19937_64 random(5);
  for (const auto format : kFormats) {
    const std::string packed = format(text);
    for (const std::size_t length : {std::size_t{4}, std::size_t{20}, packed.size() / 2, packed.size() - 1})
      EXPECT_EQ(error_of(packed.substr(0, length)), "data.csv: is cut off: its compressed text does not end");
    EXPECT_TRUE(error_of(packed + "more").starts_with("data.csv: is damaged: "));
    EXPECT_TRUE(error_of(packed + format(text).substr(0, 30)).starts_with("data.csv: is cut off: "));
    std::string flipped = packed;
    flipped[packed.size() - 5] ^= 1;  // of the checksum
    EXPECT_TRUE(error_of(flipped).starts_with("data.csv: is damaged: ")) << error_of(flipped);
    for (int k = 0; k < 200; ++k) {
      flipped = packed;
      flipped[4 + random() % (packed.size() - 4)] ^= static_cast<char>(1 << random() % 8);
      try {
        EXPECT_EQ(read_all(CsvSource::in_memory(flipped, "data.csv")),
                  read_all(CsvSource::in_memory(text, "data.csv")));  // a bit of the header that says nothing
      } catch (const DataError& error) {
        EXPECT_TRUE(std::string_view(error.what()).starts_with("data.csv: is ")) << error.what();
      }
    }
  }
}

TEST(Compression, OtherFormatsAreNamed) {
  using namespace std::string_view_literals;
  const auto error_of = [](std::string_view text) {
    return message_of<DataError>([&] { (void)CsvSource::in_memory(text, "data"); });
  };
  EXPECT_EQ(error_of("\xfd\x37zXZ\0more"sv), "data: is compressed by xz; gzip and zstd can be read");
  EXPECT_EQ(error_of("BZh91AY"), "data: is compressed by bzip2; gzip and zstd can be read");
  EXPECT_EQ(error_of("PK\x03\x04more"), "data: is a ZIP archive, as spreadsheets are; save the table as CSV");
  for (const auto& [text, name] : {std::pair{"PAR1more"sv, "a Parquet"}, {"ARROW1\0\0"sv, "an Arrow"}})
    EXPECT_EQ(error_of(text), std::string("data: is ") + name +
                                  " file; read it in Python by pyarrow, whose tables fenchel.fit takes");
}

TEST(Compression, NpyIsKnownInside) {
  const TemporaryFolder folder;
  std::string npy = "\x93NUMPY\x01";
  npy.append({'\0', 'v', '\0'}).append("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }");
  npy.resize(128, ' ');
  for (const double value : {1., 2., 3., 4., 5., 6.})
    npy.append(reinterpret_cast<const char*>(&value), sizeof value);
  for (const auto format : kFormats) {
    const std::string packed = format(npy), path = folder.write("data.npy", packed);
    EXPECT_TRUE(NpySource::recognizes(path, "data"));
    EXPECT_TRUE(NpySource::recognizes(std::span<const char>(packed), "data"));
    EXPECT_FALSE(NpySource::recognizes(std::span<const char>(format("\x93NUMP")), "data"));
    EXPECT_EQ(read_all(NpySource(path)), read_all(NpySource::in_memory(npy, "data")));
  }
}

/// A gigabyte of text in a megabyte or less, whose lines are few or one.
TEST(Compression, ABombTakesNoMoreMemoryThanATable) {
  const auto peak = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;  // KiB
  };
  constexpr std::size_t kPart = std::size_t{1} << 26;
  std::string rows = "1\n";
  while (rows.size() < kPart) rows += rows;
  const std::string zeros(kPart, '0');
  for (const auto format : kFormats) {
    const std::string head = format("x\n"), part = format(rows), line = format(zeros);
    std::string many = head, one = head;
    for (int k = 0; k < 16; ++k) many += part, one += line;
    const long before = peak();
    const CsvSource source = CsvSource::in_memory(many, "data.csv");
    Batch batch;
    source.read(0, batch);
    source.read(source.batches() - 1, batch);
    EXPECT_EQ(message_of<DataError>([&] { CsvSource::in_memory(one, "data.csv").read(0, batch); }),
              "data.csv:2:1: a line must have at most 67108864 bytes");
    EXPECT_LT(peak() - before, 400'000);
  }
}

}  // namespace
}  // namespace fenchel
