#include "fenchel/data/npy_source.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "fenchel/data/data_error.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"
#include "support/read_all.hpp"

namespace fenchel {
namespace {

using testing::Contents;
using testing::kInf;
using testing::kNaN;
using testing::message_of;
using testing::read_all;
using Values = std::vector<std::vector<double>>;

/// A file as NumPy writes it: the values begin at a multiple of 64.
std::string npy_text(std::string header, const std::string& values, char version = 1) {
  const std::size_t fixed = version == 1 ? 10 : 12;
  while ((fixed + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string text = "\x93NUMPY";
  text += {version, 0, static_cast<char>(header.size() % 256), static_cast<char>(header.size() / 256)};
  if (version > 1) text += {0, 0};
  return text + header + values;
}

std::string header_of(const std::string& type, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }";
}

template <class T>
std::string bytes_of(std::initializer_list<T> values, bool swap = false) {
  std::string bytes;
  for (const T value : values) {
    std::string one(sizeof(T), ' ');
    std::memcpy(one.data(), &value, sizeof(T));
    if (swap) std::reverse(one.begin(), one.end());
    bytes += one;
  }
  return bytes;
}

/// What a file holds; the same for batches of every size.
Contents table_of(const std::string& text, NpyOptions options = {}) {
  const Contents table = read_all(NpySource::in_memory(text, "data.npy", options));
  for (const index_t bytes : {1, 16, 40}) {
    options.batch_bytes = bytes;
    EXPECT_EQ(read_all(NpySource::in_memory(text, "data.npy", options)), table) << "in batches of " << bytes;
  }
  return table;
}

std::string error_of(const std::string& text, const NpyOptions& options = {}) {
  const std::string error =
      message_of<DataError>([&] { (void)NpySource::in_memory(text, "data.npy", options).batches(); });
  return error == "(no error)" ? table_of(text, options).error : error;
}

std::string option_error(const NpyOptions& options) {
  const std::string text = npy_text(header_of("<f8", "(1, 2)"), bytes_of({1.0, 2.0}));
  return message_of<std::invalid_argument>(
      [&] { (void)NpySource::in_memory(text, "data.npy", options).batches(); });
}

const Values kTwoByThree = {{1, 2, 3}, {4, 5, 6}};

TEST(NpySource, ReadsVersionsAndOrders) {
  const std::string rows = bytes_of({1.0, 2.0, 3.0, 4.0, 5.0, 6.0}),
                    columns = bytes_of({1.0, 4.0, 2.0, 5.0, 3.0, 6.0});
  for (const char version : {char{1}, char{2}, char{3}})
    EXPECT_EQ(table_of(npy_text(header_of("<f8", "(2, 3)"), rows, version)).rows, kTwoByThree);
  EXPECT_EQ(table_of(npy_text(header_of("<f8", "(2, 3)", true), columns)).rows, kTwoByThree);
  EXPECT_EQ(table_of(npy_text(header_of("<f8", "(3,)"), bytes_of({1.0, 2.0, 3.0}))).rows,
            (Values{{1}, {2}, {3}}));
  EXPECT_EQ(table_of(npy_text("{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"<f8\"}", rows)).rows,
            kTwoByThree);
  const std::string empty = npy_text(header_of("<f8", "(0, 3)"), "");
  EXPECT_EQ(NpySource::in_memory(empty, "data.npy").batches(), 0);
  EXPECT_EQ(NpySource::in_memory(empty, "data.npy").names()[2], "2");
}

TEST(NpySource, UsesDoublesWhereTheyLie) {
  alignas(double) char memory[256] = {};
  const std::string text = npy_text(header_of("<f8", "(2, 3)"), bytes_of({1.0, 2.0, 3.0, 4.0, 5.0, 6.0}));
  for (const std::size_t shift : {0, 1}) {  // off by one byte they must be copied
    std::memcpy(memory + shift, text.data(), text.size());
    const NpySource source = NpySource::in_memory({memory + shift, text.size()}, "data.npy");
    Batch batch;
    source.read(0, batch);
    EXPECT_EQ(batch.storage.empty(), shift == 0);
    EXPECT_EQ(read_all(source).rows, kTwoByThree);
  }
}

template <class T>
void expect_type(const std::string& name) {
  for (const bool swap : {false, true}) {
    const std::string type = sizeof(T) == 1 ? "|" + name : (swap ? ">" : "<") + name;
    EXPECT_EQ(table_of(npy_text(header_of(type, "(2, 3)"), bytes_of<T>({1, 2, 3, 4, 5, 6}, swap))).rows,
              kTwoByThree)
        << type;
    EXPECT_EQ(table_of(npy_text(header_of(type, "(2, 3)", true), bytes_of<T>({1, 4, 2, 5, 3, 6}, swap))).rows,
              kTwoByThree)
        << type;
  }
}

TEST(NpySource, ReadsTypes) {
  expect_type<double>("f8");
  expect_type<float>("f4");
  expect_type<std::int8_t>("i1");
  expect_type<std::uint8_t>("u1");
  expect_type<std::int16_t>("i2");
  expect_type<std::uint16_t>("u2");
  expect_type<std::int32_t>("i4");
  expect_type<std::uint32_t>("u4");
  expect_type<std::int64_t>("i8");
  expect_type<std::uint64_t>("u8");
  EXPECT_EQ(table_of(npy_text(header_of("|b1", "(2,)"), bytes_of<char>({0, 1}))).rows, (Values{{0}, {1}}));
  EXPECT_EQ(table_of(npy_text(header_of("|i1", "(2,)"), bytes_of<std::int8_t>({-128, 127}))).rows,
            (Values{{-128}, {127}}));
}

TEST(NpySource, SelectsColumns) {
  const std::string text = npy_text(header_of("<f8", "(2, 3)"), bytes_of({1.0, 2.0, 3.0, 4.0, 5.0, 6.0}));
  const NpyOptions options = {.columns = {2, 0}, .weight = 1};
  EXPECT_EQ(table_of(text, options).rows, (Values{{3, 1}, {6, 4}}));
  EXPECT_EQ(table_of(text, options).weights, (std::vector<double>{2, 5}));
  EXPECT_EQ(table_of(text, {.weight = 0}).rows, (Values{{2, 3}, {5, 6}}));
  const NpySource source =
      NpySource::in_memory(text, "data.npy", {.columns = {2, 0}, .weight = 1, .batch_bytes = 1});
  EXPECT_EQ(source.names()[0], "2");
  EXPECT_EQ(source.place(1, 0, 0), "data.npy: row 1, column 2");
  EXPECT_EQ(source.place(1, 0, kWeightColumn), "data.npy: row 1, column 1");
  EXPECT_EQ(option_error({.columns = {0, 2}}),
            "fenchel::npy_source: columns and weight must be in [0, 2), got 2");
  EXPECT_EQ(option_error({.weight = -1}),
            "fenchel::npy_source: columns and weight must be in [0, 2), got -1");
  EXPECT_EQ(option_error({.columns = {1}, .weight = 1}),
            "fenchel::npy_source: columns and weight must be different, got 1 twice");
  EXPECT_EQ(option_error({.batch_bytes = 0}), "fenchel::npy_source: batch_bytes must be positive, got 0");
}

TEST(NpySource, NamesTheFirstBadValue) {
  const std::string header = header_of("<f8", "(2, 3)");
  EXPECT_EQ(error_of(npy_text(header, bytes_of({1.0, 2.0, 3.0, 4.0, kNaN, kInf}))),
            "data.npy: row 1, column 1: must be finite");
  EXPECT_EQ(error_of(npy_text(header_of("<f8", "(2, 3)", true), bytes_of({1.0, kInf, 2.0, 3.0, -kInf, 4.0}))),
            "data.npy: row 0, column 2: must be finite");
  EXPECT_EQ(error_of(npy_text(header_of("<f8", "(2, 3)", true), bytes_of({kInf, 1.0, 2.0, 3.0, 4.0, -kInf}))),
            "data.npy: row 0, column 0: must be finite");
  EXPECT_EQ(error_of(npy_text(header, bytes_of({1.0, 2.0, 3.0, 4.0, 5.0, kInf})), {.columns = {0}}), "");
  for (const std::size_t row : {5, 31, 66}) {  // they are looked at in blocks
    std::string many;
    for (std::size_t k = 0; k < 67; ++k) many += bytes_of({k == row ? -kInf : 1.0});
    EXPECT_EQ(error_of(npy_text(header_of("<f8", "(67,)"), many)),
              "data.npy: row " + std::to_string(row) + ", column 0: must be finite");
  }
  constexpr std::int64_t kLargest = std::int64_t{1} << 53;
  EXPECT_EQ(error_of(npy_text(header_of("<i8", "(3,)"), bytes_of({kLargest, -kLargest, -kLargest - 1}))),
            "data.npy: row 2, column 0: must be in [-2^53, 2^53]");
  EXPECT_EQ(error_of(npy_text(header_of("<u8", "(1,)"), bytes_of({~std::uint64_t{0}}))),
            "data.npy: row 0, column 0: must be in [-2^53, 2^53]");
}

TEST(NpySource, MasksAreMinusInfinity) {
  const Values masked = {{1, -kInf, 3}, {-kInf, 5, 6}};
  for (const bool fortran : {false, true}) {
    const std::string values =
        fortran ? bytes_of({1.0, -kInf, -kInf, 5.0, 3.0, 6.0}) : bytes_of({1.0, -kInf, 3.0, -kInf, 5.0, 6.0});
    EXPECT_EQ(table_of(npy_text(header_of("<f8", "(2, 3)", fortran), values), {.masks = true}).rows, masked);
  }
  EXPECT_EQ(
      table_of(npy_text(header_of("<f4", "(1, 2)"), bytes_of({1.f, -std::numeric_limits<float>::infinity()})),
               {.masks = true})
          .rows,
      (Values{{1, -kInf}}));
  for (const double bad : {kInf, kNaN}) {
    std::string many;
    for (std::size_t k = 0; k < 67; ++k) many += bytes_of({k == 40 ? bad : k % 5 == 0 ? -kInf : 1.0});
    EXPECT_EQ(error_of(npy_text(header_of("<f8", "(67,)"), many), {.masks = true}),
              "data.npy: row 40, column 0: must be finite or -inf");
  }
}

TEST(NpySource, RefusesOtherContent) {
  const auto error_of_header = [](const std::string& header) {
    return error_of(npy_text(header, std::string(48, '\0')));
  };
  EXPECT_EQ(error_of(""), "data.npy: is not a .npy file");
  EXPECT_EQ(error_of("x,y\n1,2\n"), "data.npy: is not a .npy file");
  EXPECT_EQ(error_of("\x93NUMPY"), "data.npy: has a malformed .npy header");
  EXPECT_EQ(error_of(npy_text(header_of("<f8", "(1,)"), "12345678", 4)),
            "data.npy: must be of version 1.0, 2.0 or 3.0 of the .npy format, got 4.0");
  EXPECT_EQ(error_of(npy_text(header_of("<f8", "(1,)"), "").substr(0, 60)),
            "data.npy: has a malformed .npy header");
  EXPECT_EQ(error_of_header(header_of("<f2", "(2, 3)")),
            "data.npy: must hold doubles, floats, integers or booleans, got the type '<f2'");
  EXPECT_EQ(error_of_header("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (6,), }"),
            "data.npy: must hold plain numbers, got a structured type");
  EXPECT_EQ(error_of_header(header_of("<f8", "()")),
            "data.npy: must hold an array of one or two dimensions, got 0");
  EXPECT_EQ(error_of_header(header_of("<f8", "(1, 2, 3)")),
            "data.npy: must hold an array of one or two dimensions, got 3");
  EXPECT_EQ(error_of_header(header_of("<f8", "(3, 0)")),
            "data.npy: must have between 1 and 1048576 columns, got 0");
  for (const char* const rows : {"(3, 3)", "(1, 3)"})
    EXPECT_EQ(
        error_of_header(header_of("<f8", rows)),
        std::string("data.npy: must have ") + rows[1] + " rows of 24 bytes behind its header, got 48 bytes");
  EXPECT_EQ(error_of(npy_text(header_of("<f8", "(6,)"), std::string(49, ' '))),
            "data.npy: must have 6 rows of 8 bytes behind its header, got 49 bytes");
  EXPECT_EQ(error_of_header(header_of("<f8", "(9223372036854775807, 3)")),
            "data.npy: must have 9223372036854775807 rows of 24 bytes behind its header, got 48 bytes");
  for (const char* const header :
       {"", "{", "{}", "{'descr': '<f8', 'fortran_order': False}", "{'descr': '<f8', 'shape': (6,)}",
        "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (6,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (6), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (6,)} x",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-6,), }",
        "{'descr': '<f8', 'fortran_order': 0, 'shape': (6,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775808,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (6,), 'x': True}", "{'descr: <f8}"})
    EXPECT_EQ(error_of_header(header), "data.npy: has a malformed .npy header") << header;
}

/// Values are checked many at a time.
TEST(NpySource, NamesTheFirstOfManyValuesThatAreNotFinite) {
  constexpr index_t kRows = 400, kColumns = 3, kValues = kRows * kColumns;
  std::mt19937_64 random(5);
  const auto expect_named = [&](const auto zero, const std::string& type, bool fortran) {
    using Value = std::remove_const_t<decltype(zero)>;
    std::vector<Value> values(static_cast<std::size_t>(kValues), Value(1.5));
    for (int k = 0; k < 200; ++k) {
      std::vector<Value> bad = values;
      const std::uint64_t masked = random() % kValues;
      bad[masked] = static_cast<Value>(-kInf);
      std::size_t first = kValues;
      for (int j = 0; j < 2; ++j) {
        const std::uint64_t row = random() % kRows, column = random() % kColumns;
        bad[fortran ? column * kRows + row : row * kColumns + column] = static_cast<Value>(kNaN);
        first = std::min<std::size_t>(first, row * kColumns + column);
      }
      const std::string bytes(reinterpret_cast<const char*>(bad.data()), bad.size() * sizeof(Value));
      const std::string text = npy_text(header_of(type, "(400, 3)", fortran), bytes);
      EXPECT_EQ(read_all(NpySource::in_memory(text, "data.npy", {.masks = true})).error,
                "data.npy: row " + std::to_string(first / kColumns) + ", column " +
                    std::to_string(first % kColumns) + ": must be finite or -inf");
      EXPECT_NE(read_all(NpySource::in_memory(text, "data.npy")).error, "");
    }
  };
  for (const bool fortran : {false, true}) {
    expect_named(0.0, "<f8", fortran);
    expect_named(0.0F, "<f4", fortran);
  }
}

}  // namespace
}  // namespace fenchel
