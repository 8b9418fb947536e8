#include "fenchel/data/csv_source.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>

#include "data/csv_row.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/data/number.hpp"
#include "support/messages.hpp"
#include "support/read_all.hpp"

namespace fenchel {
namespace {

using testing::Contents;
using testing::message_of;
using testing::read_all;
using testing::read_memory;
using Values = std::vector<std::vector<double>>;

/// What a text holds; the same for batches of every size.
Contents table_of(std::string_view text, CsvOptions options = {}) {
  const Contents table = read_all(CsvSource::in_memory(text, "data.csv", options));
  for (const index_t bytes : {1, 2, 3, 5, 8, 13, 64}) {
    options.batch_bytes = bytes;
    EXPECT_EQ(read_all(CsvSource::in_memory(text, "data.csv", options)), table)
        << text << " in batches of " << bytes;
  }
  return table;
}

std::string error_of(std::string_view text, const CsvOptions& options = {}) {
  const std::string error =
      message_of<DataError>([&] { (void)CsvSource::in_memory(text, "data.csv", options).batches(); });
  return error == "(no error)" ? table_of(text, options).error : error;
}

std::string option_error(std::string_view text, const CsvOptions& options) {
  return message_of<std::invalid_argument>(
      [&] { (void)CsvSource::in_memory(text, "data.csv", options).batches(); });
}

TEST(CsvSource, ReadsLines) {
  const Values values = {{1, -2.5}, {3e2, 0.25}};
  for (const std::string_view text :
       {"x,y\n1,-2.5\n3e2,.25\n", "x,y\n1,-2.5\n3e2,.25", "x,y\r\n1,-2.5\r\n3e2,.25\r\n",
        "x,y\n1,-2.5\r\n3e2,.25\n\n\r\n", "\xEF\xBB\xBFx,y\n1,-2.5\n3e2,.25\n",
        "\"x\",\"y\"\n\"1\",\"-2.5\"\n 3e2 ,\t\".25\" \n"}) {
    const Contents table = table_of(text);
    EXPECT_EQ(table.rows, values) << text << table.error;
    EXPECT_TRUE(table.weights.empty());
    EXPECT_EQ(CsvSource::in_memory(text, "data.csv").names()[1], "y");
  }
  EXPECT_EQ(table_of("x\n"), Contents());
  EXPECT_EQ(CsvSource::in_memory(std::string_view("x"), "data.csv").batches(), 0);
  EXPECT_EQ(table_of("x\n7").rows, (Values{{7}}));
}

TEST(CsvSource, QuotesHoldSeparatorsAndQuotes) {
  const std::string_view text = "\"a \"\"b\"\"\",\"c,d\",e\n1,2,\"x,\"\"\"\n";
  const CsvSource source = CsvSource::in_memory(text, "data.csv");
  EXPECT_EQ(source.names()[0], "a \"b\"");
  EXPECT_EQ(source.names()[1], "c,d");
  EXPECT_EQ(table_of(text, {.columns = {"c,d", "a \"b\""}}).rows, (Values{{2, 1}}));
  EXPECT_EQ(error_of(text), "data.csv:2:3: expected a number, got 'x,\"'");
  EXPECT_EQ(error_of("x\n\"1\n2\"\n"), "data.csv:2:1: a quote must be closed on its line");
  EXPECT_EQ(error_of("x,\"y\n1,2\n"), "data.csv:1:2: a quote must be closed on its line");
  EXPECT_EQ(error_of("x,y\n\"1\"2,3\n"), "data.csv:2:1: expected ',' after a quoted field, got '2,3'");
}

TEST(CsvSource, SelectsColumnsInOrder) {
  const std::string_view text = "name;x;y;w\nann;1;2;0.5\nbob;3;4;2\n";
  const CsvOptions options = {.columns = {"y", "x"}, .weight = "w", .separator = ';'};
  const Contents table = table_of(text, options);
  EXPECT_EQ(table.rows, (Values{{2, 1}, {4, 3}}));
  EXPECT_EQ(table.weights, (std::vector<double>{0.5, 2}));
  EXPECT_EQ(table_of("x,w\n1,5\n", {.weight = "w"}).rows, (Values{{1}}));
  EXPECT_EQ(table_of("1\t2\n3\t4\n", {.columns = {"1"}, .separator = '\t', .header = false}).rows,
            (Values{{2}, {4}}));
  EXPECT_EQ(table_of("a\tb\n\t2\n", {.columns = {"b"}, .separator = '\t'}).rows, (Values{{2}}));
}

TEST(CsvSource, NamesColumnsThatAreNotThere) {
  EXPECT_EQ(error_of("x,y\n", {.columns = {"z"}}), "data.csv: has no column 'z'; its columns are 'x', 'y'");
  EXPECT_EQ(error_of("x,y\n", {.weight = "w"}), "data.csv: has no column 'w'; its columns are 'x', 'y'");
  EXPECT_EQ(error_of("w\n", {.weight = "w"}), "data.csv: has no column besides the weight");
  EXPECT_EQ(error_of("x,y, x\n"), "data.csv:1:3: column 'x' appears twice");
  EXPECT_EQ(
      error_of("0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20\n", {.columns = {"x"}}),
      "data.csv: has no column 'x'; its columns are '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '10', "
      "'11', '12', '13', '14', '15', '16', '17', '18', '19', ...");
}

TEST(CsvSource, RefusesOptionsThatMeanNothing) {
  EXPECT_EQ(option_error("x,y\n", {.columns = {"x", "x"}}),
            "fenchel::csv_source: columns and weight must be different, got 'x' twice");
  EXPECT_EQ(option_error("x,y\n", {.columns = {"x", "y"}, .weight = "y"}),
            "fenchel::csv_source: columns and weight must be different, got 'y' twice");
  EXPECT_EQ(option_error("x\n", {.separator = '.'}),
            "fenchel::csv_source: separator must be a tab or punctuation other than \" + - ., got '.'");
  EXPECT_EQ(option_error("x\n", {.separator = '\n'}),
            "fenchel::csv_source: separator must be a tab or punctuation other than \" + - ., got '\\x0a'");
  EXPECT_EQ(option_error("x\n", {.batch_bytes = 0}),
            "fenchel::csv_source: batch_bytes must be positive, got 0");
}

TEST(CsvSource, NamesLineAndField) {
  EXPECT_EQ(error_of("x,y\n1,2\n3,abc\n"), "data.csv:3:2: expected a number, got 'abc'");
  EXPECT_EQ(error_of("1,2\n3,4x\n", {.header = false}), "data.csv:2:2: expected a number, got '4x'");
  EXPECT_EQ(error_of("x\n+1\n"), "data.csv:2:1: expected a number, got '+1'");
  EXPECT_EQ(error_of("x\n0x10\n"), "data.csv:2:1: expected a number, got '0x10'");
  EXPECT_EQ(error_of("x\n1 2\n"), "data.csv:2:1: expected a number, got '1 2'");
  EXPECT_EQ(error_of("x\n1\r2\n"), "data.csv:2:1: expected a number, got '1\\x0d2'");
  EXPECT_EQ(error_of("x\n1e\n"), "data.csv:2:1: expected a number, got '1e'");
  EXPECT_EQ(error_of("x\n" + std::string(41, 'a')),
            "data.csv:2:1: expected a number, got '" + std::string(40, 'a') + "...'");
  EXPECT_EQ(error_of("x\n-inf\n"), "data.csv:2:1: must be finite, got '-inf'");
  EXPECT_EQ(error_of("x\n1e999\n"), "data.csv:2:1: must be in the range of double, got '1e999'");
  EXPECT_EQ(error_of("x,y\n1,2\n3\n"), "data.csv:3:2: expected 2 fields, got 1");
  EXPECT_EQ(error_of("x,y\n1,2,,\n"), "data.csv:2:3: expected 2 fields, got 4");
  EXPECT_EQ(error_of("x\n1\n\n2\n"), "data.csv:3:1: a line must not be blank");
  EXPECT_EQ(error_of("\nx\n1\n"), "data.csv:1:1: a line must not be blank");
  EXPECT_EQ(error_of(""), "data.csv: is empty");
  EXPECT_EQ(error_of("\xEF\xBB\xBF\n\r\n"), "data.csv: is empty");
}

/// Rounded to the nearest double, 0 of their sign, as std::strtod and IEEE 754 do.
TEST(CsvSource, NumbersTooSmallForADoubleAreZero) {
  using Texts = std::vector<std::string>;
  const std::string zeros(400, '0');
  for (const std::string& text :
       Texts{"1e-400", "0." + zeros + "1", "0." + zeros + "1e9", "1" + zeros + "e-999", "2e-324",
             "1E-99999999999999999999", "." + zeros + "9e-5"}) {
    const Values rows = table_of("x\n" + text + "\n\"-" + text + "\"\n").rows;
    ASSERT_EQ(rows, (Values{{0}, {0}})) << text;
    EXPECT_FALSE(std::signbit(rows[0][0])) << text;
    EXPECT_TRUE(std::signbit(rows[1][0])) << text;
  }
  EXPECT_EQ(table_of("x\n3e-324\n").rows, (Values{{5e-324}}));
  for (const std::string& text : Texts{"1e400", "1" + zeros, "1" + zeros + ".5e-9", "0.001e" + zeros + "999",
                                       "1e99999999999999999999", "-1e+400", "0." + zeros + "1e900"})
    EXPECT_EQ(error_of("x\n" + text + "\n"),
              "data.csv:2:1: must be in the range of double, got " + detail::shown(text));
}

TEST(CsvSource, AHeaderOfControlCharactersIsNone) {
  using namespace std::string_view_literals;
  const std::string rest = " must hold no control characters (lines end with LF or CRLF), got ";
  EXPECT_EQ(error_of("x,y\r1,2\r3,4\r"), "data.csv:1:2: a name" + rest + "'y\\x0d1'");
  EXPECT_EQ(error_of("\0\0\0"sv), "data.csv:1:1: a name" + rest + "'\\x00\\x00\\x00'");
  EXPECT_EQ(error_of("x\ty\n1\n"), "");
}

TEST(CsvSource, ManyColumnsTakeNoMoreThanTheirShare) {
  std::string text;
  for (int j = 0; j < 300'000; ++j) text += "c" + std::to_string(j) + (j < 299'999 ? "," : "\n");
  EXPECT_EQ(CsvSource::in_memory(text, "data.csv").columns(), 300'000);
}

/// As for .npy: a header of some megabytes would otherwise ask for all memory.
TEST(CsvSource, ColumnsAndLinesAreBounded) {
  std::string text = "0";
  for (int j = 1; j < 1 << 20; ++j) text += "," + std::to_string(j);
  const auto error = [](const std::string& table, index_t bytes = 1 << 20) {
    return read_memory<CsvSource>(table, CsvOptions{.batch_bytes = bytes}).error;
  };
  EXPECT_EQ(CsvSource::in_memory(text, "data").columns(), 1 << 20);
  EXPECT_EQ(error(text + ",more\n"), "data:1:1048577: a line must have at most 1048576 fields");
  EXPECT_EQ(error("x\n" + text + ",more\n"), "data:2:2: expected 1 fields, got 1048577");

  const std::string longest(1 << 26, 'x'), complaint = "a line must have at most 67108864 bytes";
  EXPECT_EQ(error(longest + "\n1\n"), "");
  EXPECT_EQ(error(longest + "x\n1\n"), "data:1:1: " + complaint);
  EXPECT_EQ(error("x\n1\n" + std::string(1 << 26, '0') + "\n"), "");
  for (const index_t bytes : {1 << 20, 1 << 27}) {
    EXPECT_EQ(error("x\n1\n" + longest + "x\n", bytes), "data:3:1: " + complaint);
    EXPECT_EQ(error("x\n1\n" + longest + longest, bytes), "data:3:1: " + complaint);
  }
}

TEST(CsvSource, MissingValuesAreRefusedOrLeftOut) {
  const std::string_view text = "x,y\n1,2\nNA,3\n4,nan\nNaN,\n5,null\n\"\", \n6,7\n";
  EXPECT_EQ(error_of(text), "data.csv:3:1: a value is missing");
  EXPECT_EQ(error_of("x,y\n1,\n"), "data.csv:2:2: a value is missing");
  EXPECT_EQ(table_of(text, {.skip_missing = true}).rows, (Values{{1, 2}, {6, 7}}));
  EXPECT_EQ(table_of(text, {.columns = {"y"}, .skip_missing = true}).rows, (Values{{2}, {3}, {7}}));
  EXPECT_EQ(table_of(text, {.columns = {"y"}, .weight = "x", .skip_missing = true}).weights,
            (std::vector<double>{1, 6}));
  EXPECT_EQ(error_of("x,y\nNA,b\n", {.skip_missing = true}), "data.csv:2:2: expected a number, got 'b'");
}

TEST(CsvSource, MasksAreMinusInfinity) {
  constexpr double kMask = -std::numeric_limits<double>::infinity();
  const std::string_view text = "x,y,w\n1,,1\n-inf,2,2\n\"\", ,3\n";
  EXPECT_EQ(error_of(text, {.weight = "w"}), "data.csv:2:2: a value is missing");
  const Contents table = table_of(text, {.weight = "w", .masks = true});
  EXPECT_EQ(table.rows, (Values{{1, kMask}, {kMask, 2}, {kMask, kMask}})) << table.error;
  EXPECT_EQ(table.weights, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(table_of(text, {.weight = "w", .skip_missing = true, .masks = true}).rows, (Values{{kMask, 2}}));
  EXPECT_EQ(error_of("x\nNA\n", {.masks = true}), "data.csv:2:1: a value is missing");
  EXPECT_EQ(error_of("x\nnan\n", {.masks = true}), "data.csv:2:1: a value is missing");
  EXPECT_EQ(error_of("x\ninf\n", {.masks = true}), "data.csv:2:1: must be finite or -inf, got 'inf'");
  EXPECT_EQ(error_of("x,w\n1,\n", {.weight = "w", .masks = true}), "data.csv:2:2: a value is missing");
  EXPECT_EQ(error_of("x,w\n1,-inf\n", {.weight = "w", .masks = true}),
            "data.csv:2:2: must be finite, got '-inf'");
}

TEST(CsvSource, KnowsThePlaceOfAnEntry) {
  const std::string_view text = "a,x,y,w\n,1,1,1\n,NA,2,2\n,3,3,3\n,4,4,4\n";
  for (const index_t bytes : {1, 7, 100}) {
    const CsvSource source = CsvSource::in_memory(
        text, "data.csv", {.columns = {"y", "x"}, .weight = "w", .skip_missing = true, .batch_bytes = bytes});
    Batch batch;
    for (index_t i = 0; i < source.batches(); ++i) {
      source.read(i, batch);
      for (index_t r = 0; r < batch.rows.rows; ++r) {
        const std::string line = "data.csv:" + std::to_string(static_cast<int>(batch.rows[r][0]) + 1);
        EXPECT_EQ(source.place(i, r, 0), line + ":3");
        EXPECT_EQ(source.place(i, r, 1), line + ":2");
        EXPECT_EQ(source.place(i, r, kWeightColumn), line + ":4");
      }
    }
  }
}

TEST(CsvSource, LinesMayBeLongerThanBatches) {
  std::string text = "x";
  for (int j = 1; j < 300; ++j) text += ",x" + std::to_string(j);
  std::vector<double> row(300);
  for (int line = 0; line < 3; ++line) {
    text += '\n';
    for (std::size_t j = 0; j < row.size(); ++j)
      text += (j == 0 ? "" : ",") + std::to_string(row[j] = static_cast<double>(j));
  }
  EXPECT_EQ(table_of(text).rows, (Values{row, row, row}));
}

/// What stands in a table by its definition: a line at a time, each field as a text of its own.
Contents defined_by(std::string_view text, bool skip_missing) {
  constexpr std::array<std::string_view, 6> kMissing = {"", "NA", "na", "NaN", "nan", "null"};
  Contents table;
  const auto fail = [&](index_t line, std::size_t field, const std::string& complaint) {
    return Contents{{}, {}, "data.csv:" + shortest(line) + ":" + std::to_string(field) + ": " + complaint};
  };
  for (index_t line = 1; !text.empty(); ++line) {
    const std::size_t stop = std::min(text.find('\n'), text.size());
    std::string_view content = text.substr(0, stop);
    if (content.ends_with('\r')) content.remove_suffix(1);
    text.remove_prefix(std::min(stop + 1, text.size()));
    if (line == 1) continue;
    const std::vector<std::string> fields = detail::csv_fields(content, ',');
    std::vector<double> row;
    bool complete = true;
    for (std::size_t j = 0; j < std::min(fields.size(), std::size_t{3}); ++j) {
      const bool missing = std::ranges::find(kMissing, fields[j]) != kMissing.end();
      const bool good = missing || read_number(fields[j], row.emplace_back()) == std::errc();
      if (!good) return fail(line, j + 1, "expected a number, got " + detail::shown(fields[j]));
      if (missing && !skip_missing) return fail(line, j + 1, "a value is missing");
      complete = complete && !missing;
    }
    if (fields.size() != 3)
      return fail(line, std::min(fields.size(), std::size_t{3}) + 1,
                  "expected 3 fields, got " + std::to_string(fields.size()));
    if (complete) table.rows.push_back(row);
  }
  return table;
}

/// Lines end, and fields of all kinds begin, at every place of the blocks in which they are looked for.
TEST(CsvSource, DrawnTablesAreWhatTheyAreByDefinition) {
  constexpr std::array<std::string_view, 22> kFields = {"1",
                                                        "23",
                                                        "-4.5",
                                                        "0.125",
                                                        "-12.345678",
                                                        "1234567890123456",
                                                        "-.5",
                                                        "6.",
                                                        "1.5e-3",
                                                        "2E+07",
                                                        "1e-400",
                                                        "\"7\"",
                                                        "  8",
                                                        "9\t ",
                                                        "\"-1.5\"",
                                                        "-0",
                                                        "0.1",
                                                        "1e5",
                                                        "98765",
                                                        "0.12345678901234567",
                                                        "-1.7976931348623157e+308",
                                                        "31415926.535897932"};
  constexpr std::array<std::string_view, 11> kOthers = {"",   "NA",  "\"\"", "1,2",        "\"1,2\"", "x",
                                                        "+1", "1 2", "-",    "\"1\"\"2\"", "1.2.3"};
  std::mt19937_64 random(7);
  int errors = 0;
  for (int k = 0; k < 1500; ++k) {
    std::string text = "x,y,z\n";
    const std::uint64_t lines = 1 + random() % 12, others = k % 2 == 0 ? 0 : 5 * lines;
    for (std::uint64_t line = 0; line < lines; ++line) {
      for (int j = 0; j < 3; ++j) {
        const bool other = others > 0 && random() % others == 0;
        text += other ? kOthers[random() % kOthers.size()] : kFields[random() % kFields.size()];
        text += j < 2 ? "," : random() % 4 == 0 ? "\r\n" : "\n";
      }
    }
    for (const bool skip : {false, true}) {
      const Contents table = table_of(text, {.skip_missing = skip});
      EXPECT_EQ(table, defined_by(text, skip)) << text;
      errors += !table.error.empty();
    }
  }
  EXPECT_GT(errors, 400);
}

}  // namespace
}  // namespace fenchel
