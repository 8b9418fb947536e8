#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "fenchel/data/concatenated_source.hpp"
#include "fenchel/data/csv_source.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/data/npy_source.hpp"
#include "fenchel/data/rows_source.hpp"
#include "support/messages.hpp"
#include "support/read_all.hpp"
#include "support/temporary_folder.hpp"

namespace fenchel {
namespace {

using testing::Contents;
using testing::message_of;
using testing::read_all;
using testing::TemporaryFolder;
using Values = std::vector<std::vector<double>>;

constexpr std::size_t kRows = 20000;  // more than a page, and than the 64 KiB in which lines are looked for

std::string many_lines() {
  std::string text = "x,y\n";
  for (std::size_t k = 0; k < kRows; ++k) text += std::to_string(k) + "," + std::to_string(k % 7) + "\n";
  return text;
}

/// A .npy file of two columns: 0, 1, 2, ...
std::string many_numbers() {
  std::string text = "\x93NUMPY\x01";
  text += '\0';
  text += "v";
  text += '\0';
  text += "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(kRows) + ", 2), }";
  text.resize(128, ' ');
  for (std::size_t k = 0; k < 2 * kRows; ++k) {
    const auto value = static_cast<double>(k);
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return text;
}

TEST(FileBytes, ReadsWindowsOfAFile) {
  const TemporaryFolder folder;
  const std::string text = many_lines(), path = folder.write("data.csv", text);
  const Contents whole = read_all(CsvSource::in_memory(text, "data.csv"));
  ASSERT_EQ(whole.rows.size(), kRows);
  for (const index_t bytes : {100, 4096, 5000, 70000, 1 << 20})
    EXPECT_EQ(read_all(CsvSource(path, {.batch_bytes = bytes})), whole) << bytes;
  EXPECT_EQ(CsvSource(path, {.batch_bytes = 70000}).place(1, 0, 1).substr(0, path.size() + 1), path + ":");
}

TEST(FileBytes, IsReadByThreadsAtOnce) {
  const TemporaryFolder folder;
  const CsvSource source(folder.write("data.csv", many_lines()), {.batch_bytes = 4096});
  const Contents whole = read_all(source);
  Contents tables[2];
  std::thread first([&] { tables[0] = read_all(source); }), second([&] { tables[1] = read_all(source); });
  first.join();
  second.join();
  EXPECT_EQ(tables[0], whole);
  EXPECT_EQ(tables[1], whole);
}

TEST(FileBytes, KeepsRowsForTheBatch) {
  const TemporaryFolder folder;
  const std::string text = many_numbers(), path = folder.write("data.npy", text);
  Batch first, second;
  {
    const NpySource source(path, {.batch_bytes = 100000});
    EXPECT_EQ(source.batches(), 4);
    source.read(1, first);
    source.read(3, second);
    EXPECT_EQ(read_all(source), read_all(NpySource::in_memory(text, "data.npy")));
  }
  EXPECT_TRUE(first.storage.empty());
  EXPECT_EQ(first.rows[0][1], 12501);
  EXPECT_EQ(second.rows[second.rows.rows - 1][1], 2 * kRows - 1);
}

/// A file is checked in pieces while it is read.
TEST(FileBytes, NamesTheFirstValueThatIsNotFinite) {
  const TemporaryFolder folder;
  const std::string text = many_numbers();
  for (const std::size_t k : {std::size_t{0}, std::size_t{32767}, std::size_t{32768}, 2 * kRows - 1}) {
    std::string bad = text;
    bad[128 + 8 * k + 6] = '\xf0';
    bad[128 + 8 * k + 7] = '\x7f';
    const std::string path = folder.write("data.npy", bad);
    EXPECT_EQ(read_all(NpySource(path)).error, path + ": row " + std::to_string(k / 2) + ", column " +
                                                   std::to_string(k % 2) + ": must be finite");
  }
}

TEST(FileBytes, SaysWhatCannotBeRead) {
  const TemporaryFolder folder;
  const auto error_of = [](const std::string& path) {
    return message_of<DataError>([&] { CsvSource source(path); });
  };
  const std::string missing = folder.path("missing.csv"), pipe = folder.path("pipe"),
                    empty = folder.write("empty.csv", "");
  EXPECT_EQ(error_of(missing), missing + ": cannot be opened: No such file or directory");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(error_of(pipe), pipe + ": is not a regular file");
  EXPECT_EQ(error_of(folder.path("")), folder.path("") + ": is a directory");
  EXPECT_EQ(error_of(empty), empty + ": is empty");
  EXPECT_EQ(message_of<DataError>([&] { NpySource source(empty); }), empty + ": is not a .npy file");
}

TEST(FileBytes, NoticesAChange) {
  const TemporaryFolder folder;
  const std::string text = many_lines(), path = folder.write("data.csv", text);
  const CsvSource source(path, {.batch_bytes = 4096});
  Batch batch;
  source.read(3, batch);
  const auto time = std::filesystem::last_write_time(path);
  std::filesystem::resize_file(path, 5000);
  std::filesystem::last_write_time(path, time);
  EXPECT_EQ(message_of<DataError>([&] { source.read(3, batch); }), path + ": changed while it was read");
  const CsvSource again(folder.write("data.csv", text), {.batch_bytes = 4096});
  std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) + std::chrono::seconds(1));
  EXPECT_EQ(message_of<DataError>([&] { again.read(3, batch); }), path + ": changed while it was read");
}

TEST(FileBytes, RowsOutliveAFileThatIsCut) {
  const TemporaryFolder folder;
  const std::string path = folder.write("data.npy", many_numbers());
  const NpySource source(path, {.batch_bytes = 100000});
  Batch batch;
  source.read(1, batch);
  std::filesystem::resize_file(path, 0);
  EXPECT_EQ(batch.rows[batch.rows.rows - 1][1], 24999);  // of a mapping it would be SIGBUS
  EXPECT_EQ(message_of<DataError>([&] { source.read(2, batch); }), path + ": changed while it was read");
}

/// Whoever cuts a file does so at any time: each end of the reading is an error that names the file.
TEST(FileBytes, IsCutWhileItIsRead) {
  const TemporaryFolder folder;
  const std::string text = many_lines(), path = folder.path("data.csv");
  for (int k = 0; k < 20; ++k) {
    const CsvSource source(folder.write("data.csv", text), {.batch_bytes = 4096});
    std::thread cutter([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(50 * k));
      std::filesystem::resize_file(path, 0);
    });
    Contents last;
    while (last.error.empty()) last = read_all(source);
    cutter.join();
    EXPECT_EQ(last.error, path + ": changed while it was read");
  }
}

TEST(ConcatenatedSource, IsOneTable) {
  const std::string one = "x,y\n1,2\n3,4\n", none = "x,y\n", two = "x,y\n5,6\n";
  std::vector<std::shared_ptr<const BatchSource>> sources;
  for (const std::string* text : {&one, &none, &two})
    sources.emplace_back(new CsvSource(CsvSource::in_memory(*text, "data.csv", {.batch_bytes = 4})));
  const ConcatenatedSource source(sources);
  EXPECT_EQ(source.batches(), 3);
  EXPECT_EQ(source.names()[1], "y");
  EXPECT_EQ(read_all(source).rows, (Values{{1, 2}, {3, 4}, {5, 6}}));
  EXPECT_EQ(source.place(1, 0, 1), "data.csv:3:2");
  EXPECT_EQ(source.place(2, 0, 0), "data.csv:2:1");
}

TEST(ConcatenatedSource, NeedsTheSameColumns) {
  const double values[] = {1, 2};
  const auto source = [&](std::vector<std::string> names) {
    return std::make_shared<const RowsSource>(
        Rows<const double>(values, 1, static_cast<index_t>(names.size())), std::span<const double>(), names);
  };
  const auto error_of = [](std::vector<std::shared_ptr<const BatchSource>> sources) {
    return message_of<std::invalid_argument>([&] { ConcatenatedSource concatenated(std::move(sources)); });
  };
  EXPECT_EQ(error_of({}), "fenchel::concatenated_source: sources must not be empty, got 0");
  EXPECT_EQ(error_of({source({"x"}), nullptr}),
            "fenchel::concatenated_source: sources[1] must not be null, got null");
  EXPECT_EQ(error_of({source({"x", "y"}), source({"x", "z"})}),
            "fenchel::concatenated_source: sources[1] must have the columns 'x', 'y', got 'x', 'z'");
  EXPECT_EQ(error_of({source({"x", "y"}), source({"x"})}),
            "fenchel::concatenated_source: sources[1] must have the columns 'x', 'y', got 'x'");
}

}  // namespace
}  // namespace fenchel
