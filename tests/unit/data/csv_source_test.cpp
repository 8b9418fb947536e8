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

TEST(CsvSource, BlankLinesAndCommentsAreLeftOut) {
  const Values values = {{1, 2}, {3, 4}};
  EXPECT_EQ(table_of("\n \t\nx,y\n\n1,2\n\r\n  \n3,4\n \n").rows, values);
  const CsvOptions comments = {.comment = '#'};
  EXPECT_EQ(table_of("# a, b, \"c\n#\nx,y\n1,2\n #3,3\n3,4\n#", comments).rows, values);
  EXPECT_EQ(table_of("name,x,y\n#a,0,0\nb,1,2\n#,9\nc,3,4\n", {.columns = {"x", "y"}, .comment = '#'}).rows,
            values);
  EXPECT_EQ(error_of("x\n# one\n\n1 # two\n", comments), "data.csv:4:1: expected a number, got '1 # two'");
  EXPECT_EQ(error_of("x\n#1\n"), "data.csv:2:1: expected a number, got '#1'");
  EXPECT_EQ(error_of("# one\n\n#", comments), "data.csv: is empty");
  EXPECT_EQ(table_of("x\n#\n", comments), Contents());
  EXPECT_EQ(table_of("a\tb\n \t2\n", {.columns = {"b"}}).rows, (Values{{2}}));  // the fields are blank, the line is not
}

TEST(CsvSource, SeparatorsAreRecognized) {
  const auto separator_of = [](std::string_view text, CsvOptions options = {}) {
    return CsvSource::in_memory(text, "data.csv", std::move(options)).separator();
  };
  for (const auto& [text, separator] :
       {std::pair{"x,y\n", ','}, {"x\ty\n", '\t'}, {"x;y\n", ';'}, {"x\n1;2\n", ','}, {"a;b\tc,d\n", ','},
        {"a;b\tc\n", '\t'}, {"\"a,b\"\t\"c;d\"\n", '\t'}, {"\"a\"\"b,c\";d\n", ';'}, {"x y\n", ','}})
    EXPECT_EQ(separator_of(text), separator) << text;
  EXPECT_EQ(separator_of("a,b;c\td\n", {.decimal = ','}), ';');
  EXPECT_EQ(separator_of("a,b\td\n", {.decimal = ','}), '\t');
  EXPECT_EQ(separator_of("x\n", {.decimal = ','}), ';');
  EXPECT_EQ(separator_of("# a,b\nx;y\n", {.comment = '#'}), ';');
  EXPECT_EQ(table_of("x\ty\n1\t2\n").rows, (Values{{1, 2}}));
}

TEST(CsvSource, ReadsDecimalCommas) {
  const CsvOptions comma = {.decimal = ','};
  const Values values = {{1.5, -2}, {-0.25, 1234567.0625}, {1e-3, 0.1234567890123456789}};
  const std::string_view text = "x;y\n1,5;-2\n\"-,25\"; 1234567,0625 \n1,0e-03;0,1234567890123456789\n";
  EXPECT_EQ(table_of(text, comma).rows, values) << table_of(text, comma).error;
  EXPECT_EQ(error_of("x;y\n1;2.5\n", comma), "data.csv:2:2: expected a number, got '2.5'");
  EXPECT_EQ(error_of("x\n1.234,5\n", comma), "data.csv:2:1: expected a number, got '1.234,5'");
  EXPECT_EQ(error_of("x\n1,2,5\n", comma), "data.csv:2:1: expected a number, got '1,2,5'");
  EXPECT_EQ(error_of("x;y\n1;2,5\n"), "data.csv:2:2: expected a number, got '2,5'");
}

TEST(CsvSource, RunsOfBlanksAreOneSeparator) {
  const CsvOptions blanks = {.separator = ' '};
  const Values values = {{1, 2.5}, {-3, 4}};
  EXPECT_EQ(table_of("x y\n1 2.5\n-3 4\n", blanks).rows, values);
  EXPECT_EQ(table_of("   x    y  \n 1   2.5 \r\n\n   -3 \"4\"  \n", blanks).rows, values);
  EXPECT_EQ(table_of("\"a b\"  x\n \"c d\"  1", {.columns = {"x"}, .separator = ' '}).rows, (Values{{1}}));
  EXPECT_EQ(error_of("x y\n 1  2  3 \n", blanks), "data.csv:2:3: expected 2 fields, got 3");
  EXPECT_EQ(error_of("x y\n 1 \n", blanks), "data.csv:2:2: expected 2 fields, got 1");
  EXPECT_EQ(error_of("x y\n1 NA\n", blanks), "data.csv:2:2: a value is missing, in 1 of 1 rows");
}

TEST(CsvSource, ColumnsOfTextAreLeftOut) {
  const auto kept = [](std::string_view text, CsvOptions options = {}) {
    options.skip_text = true;
    const CsvSource source = CsvSource::in_memory(text, "data.csv", std::move(options));
    std::string names;
    for (const std::string& name : source.names()) names += name;
    names += '|';
    for (const std::string& name : source.text_columns()) names += name;
    return names;
  };
  EXPECT_EQ(kept("d,n,x,t\n2024-01-05,ann,1,12:30\n2024-01-06,NA,NA,13:00\n"), "x|dnt");
  EXPECT_EQ(kept("a,b,c\n05.01.2024,,2\n06.01.2024,x,3\n"), "c|ab");
  EXPECT_EQ(kept("a,b\nx,1\n2,1\n"), "ab|");             // a number among text is a fault of the text
  EXPECT_EQ(kept("a,b\n,1\nNA,1\n"), "ab|");             // what is missing is no text
  EXPECT_EQ(kept("a;b;c\n1,5;+2;x\n"), "ab|c");           // numbers, but written in another way
  EXPECT_EQ(kept("a,b\nx,y\n"), "ab|");                   // then the first is at fault
  EXPECT_EQ(kept("a,w\nx,1\n", {.weight = "w"}), "a|");
  EXPECT_EQ(kept("a,b\nx,1\n", {.columns = {"a"}}), "a|");  // it was named
  EXPECT_EQ(kept("x,1\ny,2\n", {.header = false}), "1|0");
  std::string late = "a,b\n";
  for (int k = 0; k < 99; ++k) late += ",1\n";
  EXPECT_EQ(kept(late + "x,1\n"), "b|a");
  EXPECT_EQ(kept(late + ",1\nx,1\n"), "ab|");
  EXPECT_EQ(table_of("n,x\nann,1\nbob,2\n", {.skip_text = true}).rows, (Values{{1}, {2}}));
  EXPECT_EQ(error_of("n,x\nann,1\n"), "data.csv:2:1: expected a number, got 'ann'");
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
  const std::string separator = "fenchel::csv_source: separator must ", comment = "fenchel::csv_source: comment must ";
  for (const auto& [c, text] : {std::pair{'.', "."}, {'\n', "\\x0a"}, {'"', "\""}, {'7', "7"}}) {
    EXPECT_EQ(option_error("x\n", {.separator = c}),
              separator + "be a blank, a tab or punctuation other than \" + - ., got '" + text + "'");
    EXPECT_EQ(option_error("x\n", {.comment = c}),
              comment + "be punctuation other than \" + - ., got '" + text + "'");
  }
  EXPECT_EQ(option_error("x\n", {.separator = ',', .decimal = ','}),
            separator + "differ from the decimal, got ','");
  EXPECT_EQ(option_error("x\n", {.separator = ';', .comment = ';'}),
            comment + "differ from the separator and the decimal, got ';'");
  EXPECT_EQ(option_error("x\n", {.decimal = ';'}), "fenchel::csv_source: decimal must be . or ,, got ';'");
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
  EXPECT_EQ(error_of("x\ty\n1\n", {.separator = ','}), "");
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
  EXPECT_EQ(error_of(text), "data.csv:3:1: a value is missing, in 5 of 7 rows");
  EXPECT_EQ(error_of(text, {.columns = {"y"}}), "data.csv:4:2: a value is missing, in 4 of 7 rows");
  EXPECT_EQ(error_of("x,y\n1,\n"), "data.csv:2:2: a value is missing, in 1 of 1 rows");
  EXPECT_EQ(error_of("x,y\n1,\n\n2,b\n"), "data.csv:2:2: a value is missing");
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

constexpr const char* kComplaint = "a value is missing";

/// A table whose error does not say how many values are missing.
Contents uncounted(Contents table) {
  const std::size_t at = table.error.find(kComplaint);
  if (at != std::string::npos) table.error.resize(at + std::string_view(kComplaint).size());
  return table;
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
    const std::vector<std::string> fields = detail::csv_fields(content, {});
    std::vector<double> row;
    bool complete = true;
    for (std::size_t j = 0; j < std::min(fields.size(), std::size_t{3}); ++j) {
      const bool missing = std::ranges::find(kMissing, fields[j]) != kMissing.end();
      const bool good = missing || read_number(fields[j], row.emplace_back()) == std::errc();
      if (!good) return fail(line, j + 1, "expected a number, got " + detail::shown(fields[j]));
      if (missing && !skip_missing) return fail(line, j + 1, kComplaint);
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
      const Contents table = uncounted(table_of(text, {.skip_missing = skip}));
      EXPECT_EQ(table, defined_by(text, skip)) << text;
      errors += !table.error.empty();
    }
  }
  EXPECT_GT(errors, 400);
}

/// The same numbers between other marks are the same table: runs of blanks, a comma for the point, comments.
TEST(CsvSource, MarksChangeNoNumber) {
  constexpr std::array<std::string_view, 10> kNumbers = {"1",   "-4.5",     "-12.345678", "1234567890123456", "-.5",
                                                         "6.",  "1.5e-3",   "2E+07",      "0.12345678901234567",
                                                         "\"7\""};
  std::mt19937_64 random(11);
  const auto blanks = [&](std::uint64_t least) { return std::string(least + random() % 3, ' '); };
  for (int k = 0; k < 500; ++k) {
    std::string plain = "x,y,z\n", semicolons = "x;y;z\n", runs = " x y  z\n";
    for (std::uint64_t lines = 1 + random() % 12; lines > 0; --lines) {
      if (random() % 3 == 0) semicolons += "# 1;2\n", runs += "  \n";
      for (int j = 0; j < 3; ++j) {
        const std::string_view number = kNumbers[random() % kNumbers.size()];
        const bool last = j == 2, crlf = last && random() % 4 == 0;
        plain.append(number) += last ? "\n" : ",";
        std::string comma(number);
        std::replace(comma.begin(), comma.end(), '.', ',');
        semicolons.append(comma) += last ? crlf ? "\r\n" : "\n" : ";";
        runs += (j == 0 ? blanks(0) : blanks(1)).append(number);
        if (last) runs += (random() % 3 == 0 ? blanks(0) : "").append(crlf ? "\r\n" : "\n");
      }
    }
    const Contents table = table_of(plain);
    EXPECT_EQ(table.error, "");
    EXPECT_EQ(table_of(semicolons, {.decimal = ',', .comment = '#'}), table) << semicolons;
    EXPECT_EQ(table_of(runs, {.separator = ' '}), table) << runs;
  }
}

}  // namespace
}  // namespace fenchel
