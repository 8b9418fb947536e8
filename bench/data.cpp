/// Reading tables, against a plain read of the same file into a buffer: CSV and .npy files of 64 MB (or so
/// many as the first argument says), made in the temporary folder and removed. The ratio is that of the
/// times. The error is the largest difference from the numbers that std::from_chars finds in what was
/// written: 0.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "fenchel/core/philox.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/data/csv_source.hpp"
#include "fenchel/data/npy_source.hpp"
#include "support/contest.hpp"
#include "support/temporary_file.hpp"

namespace {

using namespace fenchel;

constexpr double kMegabyte = 1e6;

std::string text_of(double x, std::chars_format format, int digits) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, x, format, digits).ptr};
}

std::string shortest_text(double x) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, x).ptr};
}

void write(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  if (!file.write(bytes.data(), std::ssize(bytes)).flush()) throw std::runtime_error("cannot write " + path);
}

void plain_read(const std::string& path) {
  static std::vector<char> buffer(std::size_t{1} << 20);
  const int file = open(path.c_str(), O_RDONLY);
  while (read(file, buffer.data(), buffer.size()) > 0) continue;
  close(file);
}

void read_batches(const BatchSource& source) {
  Batch batch;
  for (index_t i = 0; i < source.batches(); ++i) source.read(i, batch);
}

/// The largest difference of the values of a source from what it should hold.
double error_of(const BatchSource& source, const std::vector<double>& expected) {
  double largest = 0;
  std::size_t at = 0;
  Batch batch;
  for (index_t i = 0; i < source.batches(); ++i) {
    source.read(i, batch);
    for (index_t r = 0; r < batch.rows.rows; ++r) {
      for (const double x : batch.rows[r]) largest = std::max(largest, std::abs(x - expected.at(at++)));
    }
  }
  return at == expected.size() ? largest : std::nan("");
}

template <class Source>
void contest(const std::string& title, const std::string& path, const std::vector<double>& expected,
             const std::function<Source()>& source) {
  const auto size = static_cast<double>(std::filesystem::file_size(path));
  bench::Contest contest(title + ", " + shortest_text(std::round(size / kMegabyte)) + " MB", "/ read",
                         {"ms", 1e-3, "GB/s", size * 1e-9});
  contest.add(
      "plain read", [&] { plain_read(path); }, [] { return 0.0; });
  contest.add(
      "fenchel", [&] { read_batches(source()); }, [&] { return error_of(source(), expected); });
  contest.print();
}

/// Fields of a CSV file, with what stands around the number.
struct Shape {
  std::string title;
  index_t columns;
  std::function<std::string(Philox&, index_t)> number;  ///< of a column
  std::string before = {}, after = {};
  std::vector<std::string> selected = {};
};

void run_csv(const Shape& shape, double bytes) {
  const bench::TemporaryFile file(".csv");
  Philox rng(2022);
  std::string text;
  std::vector<double> expected;
  for (index_t j = 0; j < shape.columns; ++j) text += (j == 0 ? "" : ",") + std::to_string(j);
  text += '\n';
  while (static_cast<double>(text.size()) < bytes) {
    for (index_t j = 0; j < shape.columns; ++j) {
      const std::string number = shape.number(rng, j);
      text += (j == 0 ? "" : ",") + shape.before + number + shape.after;
      if (!shape.selected.empty() &&
          std::ranges::find(shape.selected, std::to_string(j)) == shape.selected.end())
        continue;
      double value = 0;
      std::from_chars(number.data(), number.data() + number.size(), value);
      expected.push_back(value);
    }
    text += '\n';
  }
  write(file.path, text);
  contest<CsvSource>("CSV, " + shape.title, file.path, expected,
                     [&] { return CsvSource(file.path, {.columns = shape.selected}); });
}

/// `type` and its values, of which each is `size` bytes.
template <class Value>
void run_npy(const std::string& title, const std::string& type, const NpyOptions& options, bool fortran,
             double bytes) {
  constexpr index_t kColumns = 4;
  const bench::TemporaryFile file(".npy");
  Philox rng(2022);
  const auto rows = static_cast<index_t>(bytes) / (kColumns * static_cast<index_t>(sizeof(Value)));
  std::vector<Value> values(static_cast<std::size_t>(rows * kColumns));
  for (Value& x : values) x = static_cast<Value>(1000 * uniform01(rng));
  std::string text = "{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False") +
                     ", 'shape': (" + std::to_string(rows) + ", " + std::to_string(kColumns) + "), }";
  text.resize(117, ' ');
  text = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + text + '\n';
  text.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value));
  write(file.path, text);
  std::vector<double> expected;
  for (index_t i = 0; i < rows; ++i) {
    for (index_t j = 0; j < kColumns; ++j) {
      if (options.columns.empty() || std::ranges::find(options.columns, j) != options.columns.end())
        expected.push_back(
            static_cast<double>(values[static_cast<std::size_t>(fortran ? j * rows + i : i * kColumns + j)]));
    }
  }
  contest<NpySource>(".npy, " + title, file.path, expected, [&] { return NpySource(file.path, options); });
}

}  // namespace

int main(int argc, char** argv) {
  const double bytes = kMegabyte * (argc > 1 ? std::atof(argv[1]) : 64);
  const auto count = [](Philox& rng, index_t j) {
    return std::to_string(static_cast<int>((j == 0 ? 1000 : 10) * uniform01(rng)));
  };
  const auto decimals = [](Philox& rng, index_t) {
    return text_of(200 * uniform01(rng) - 100, std::chars_format::fixed, 3);
  };
  const auto measured = [](Philox& rng, index_t j) {
    return text_of(10 * static_cast<double>(j) + 2 * uniform01(rng) - 1, std::chars_format::general, 8);
  };
  const auto doubles = [](Philox& rng, index_t) { return shortest_text(2 * uniform01(rng) - 1); };
  const auto scientific = [](Philox& rng, index_t) {
    return text_of(std::exp(40 * uniform01(rng) - 20), std::chars_format::scientific, 7);
  };
  run_csv({"2 columns of counts", 2, count}, bytes);
  run_csv({"10 columns, 3 decimals", 10, decimals}, bytes);
  run_csv({"4 columns, 8 digits", 4, measured}, bytes);
  run_csv({"4 columns, 17 digits", 4, doubles}, bytes);
  run_csv({"4 columns, 8 digits and a power of ten", 4, scientific}, bytes);
  run_csv({"2 of 10 columns, 3 decimals", 10, decimals, "", "", {"3", "7"}}, bytes);
  run_csv({"4 columns, 8 digits in quotes", 4, measured, "\"", "\""}, bytes);
  run_csv({"4 columns, 8 digits behind blanks", 4, measured, " "}, bytes);
  run_npy<double>("doubles", "<f8", {}, false, bytes);
  run_npy<double>("doubles in Fortran order", "<f8", {}, true, bytes);
  run_npy<double>("2 of 4 columns of doubles", "<f8", {.columns = {1, 3}}, false, bytes);
  run_npy<float>("floats", "<f4", {}, false, bytes);
  run_npy<std::int64_t>("integers of 8 bytes", "<i8", {}, false, bytes);
}
