#include "fenchel/data/npy_source.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <utility>

#include "data/byte_source.hpp"
#include "data/column_names.hpp"
#include "data/file_bytes.hpp"
#include "data/npy_header.hpp"
#include "data/npy_values.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/data/data_error.hpp"

namespace fenchel {
namespace detail {

struct NpyTable {
  std::unique_ptr<const ByteSource> file;
  NpyHeader header;
  NpyType type;
  std::vector<index_t> columns;  ///< the values, then the weight
  bool weighted;
  bool whole;  ///< all columns in their order, and no weight
  bool masks;
  index_t batch_rows;

  [[nodiscard]] std::string place(index_t row, index_t column) const {
    return file->name() + ": row " + shortest(row) + ", column " + shortest(column);
  }
  [[nodiscard]] bool in_rows() const { return !header.fortran_order || header.columns == 1; }
  [[nodiscard]] FileWindow window(
      index_t first_value, index_t values,
      FunctionRef<void(std::span<const char>)> seen = [](auto) {}) const {
    const index_t begin = header.begin + first_value * type.size;
    return file->window(begin, begin + values * type.size, seen);
  }
  /// Reads rows into the storage of a batch, and behind them the weights.
  void copy(index_t first, index_t rows, Batch& batch) const;
  [[noreturn]] void refuse(index_t row, index_t column) const {
    throw DataError(place(row, column) + ": " + std::string(type.constraint));
  }
};

void NpyTable::copy(index_t first, index_t rows, Batch& batch) const {
  const auto width = static_cast<index_t>(columns.size()), values = width - weighted;
  batch.storage.resize(std::max(batch.storage.size(), static_cast<std::size_t>(rows * width)));
  double *const storage = batch.storage.data(), *const weights = storage + rows * values;
  const FileWindow lines = in_rows() ? window(first * header.columns, rows * header.columns) : FileWindow{};
  if (in_rows() && whole) {
    const index_t good = type.read(lines.bytes.data(), type.size, rows * width, storage, 1);
    if (good != rows * width) refuse(first + good / width, good % width);
    batch.rows = {storage, rows, width};
    batch.weights = {};
    return;
  }
  index_t bad_row = rows, bad_column = 0;
  for (index_t j = 0; j < width; ++j) {
    const index_t column = columns[static_cast<std::size_t>(j)];
    const FileWindow line = in_rows() ? FileWindow{} : window(column * header.rows + first, rows);
    const char* const from = in_rows() ? lines.bytes.data() + column * type.size : line.bytes.data();
    const index_t step = in_rows() ? header.columns * type.size : type.size;
    const index_t good = j == values ? type.read(from, step, rows, weights, 1)
                                     : type.read(from, step, rows, storage + j, values);
    if (good < bad_row) {
      bad_row = good;
      bad_column = column;
    }
  }
  if (bad_row != rows) refuse(first + bad_row, bad_column);
  batch.rows = {storage, rows, values};
  batch.weights =
      weighted ? std::span<const double>(weights, static_cast<std::size_t>(rows)) : std::span<const double>();
  batch.owner.reset();
}

}  // namespace detail

namespace {

constexpr const char* kNativeDouble = std::endian::native == std::endian::little ? "<f8" : ">f8";

/// Throws DataError unless the file holds the array that its header tells of, and nothing else.
void check_size(const detail::ByteSource& file, const detail::NpyHeader& header, index_t value_size) {
  if (value_size == 0)
    file.refuse("must hold doubles, floats, integers or booleans, got the type '" + header.type + "'");
  if (header.columns < 1 || header.columns > detail::kMaxColumns)
    file.refuse("must have between 1 and " + shortest(detail::kMaxColumns) + " columns, got " +
                shortest(header.columns));
  const index_t row_size = header.columns * value_size, bytes = file.size() - header.begin;
  if (header.rows != bytes / row_size || bytes % row_size != 0)
    file.refuse("must have " + shortest(header.rows) + " rows of " + shortest(row_size) +
                " bytes behind its header, got " + shortest(bytes) + " bytes");
}

/// The columns to read, the weight last.
std::vector<index_t> selected(const NpyOptions& options, index_t count) {
  std::vector<index_t> columns = options.columns;
  if (columns.empty()) {
    for (index_t j = 0; j < count; ++j) {
      if (j != options.weight) columns.push_back(j);
    }
  }
  if (columns.empty()) throw_invalid_argument("npy_source", "columns", "must be more than the weight", count);
  if (options.weight) columns.push_back(*options.weight);
  std::vector<index_t> sorted = columns;
  std::sort(sorted.begin(), sorted.end());
  for (const index_t end : {sorted.front(), sorted.back()}) {
    if (end < 0 || end >= count)
      throw_invalid_argument("npy_source", "columns and weight", "must be in [0, " + shortest(count) + ")",
                             end);
  }
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    throw_invalid_argument("npy_source", "columns and weight", "must be different",
                           shortest(*twice) + " twice");
  return columns;
}

bool begins_as_npy(const detail::ByteSource& file) {
  return detail::beginning_of(file, std::ssize(detail::kNpyMagic)) == detail::kNpyMagic;
}

bool is_aligned(const void* address) { return std::bit_cast<std::uintptr_t>(address) % alignof(double) == 0; }

}  // namespace

NpySource::NpySource(std::string path, const NpyOptions& options)
    : NpySource(detail::open_bytes(path, options.name.empty() ? path : options.name), options) {}

NpySource NpySource::in_memory(std::span<const char> bytes, std::string name, const NpyOptions& options) {
  return {detail::open_bytes(bytes, std::move(name)), options};
}

NpySource::~NpySource() = default;

bool NpySource::recognizes(const std::string& path, std::string name) {
  return begins_as_npy(detail::FileBytes(path, std::move(name)));
}

bool NpySource::recognizes(std::span<const char> bytes, std::string name) {
  return begins_as_npy(detail::FileBytes(bytes, std::move(name)));
}

NpySource::NpySource(std::unique_ptr<const detail::ByteSource> file, const NpyOptions& options) {
  if (options.batch_bytes < 1)
    throw_invalid_argument("npy_source", "batch_bytes", "must be positive", options.batch_bytes);
  const detail::NpyHeader header = detail::read_npy_header(*file);
  const detail::NpyType type = detail::npy_type(header.type, options.masks);
  check_size(*file, header, type.size);
  std::vector<index_t> columns = selected(options, header.columns);
  std::vector<index_t> all(static_cast<std::size_t>(header.columns));
  std::iota(all.begin(), all.end(), index_t{0});
  const bool weighted = options.weight.has_value(), whole = !weighted && columns == all;
  const index_t batch_rows = std::clamp<index_t>(options.batch_bytes / (header.columns * type.size), 1,
                                                 std::max<index_t>(1, header.rows));
  const auto count = static_cast<std::ptrdiff_t>(columns.size()) - weighted;
  std::transform(columns.begin(), columns.begin() + count, std::back_inserter(names_),
                 [](index_t column) { return shortest(column); });
  table_ = std::make_unique<const detail::NpyTable>(detail::NpyTable{
      std::move(file), header, type, std::move(columns), weighted, whole, options.masks, batch_rows});
}

index_t NpySource::batches() const noexcept {
  return table_->header.rows / table_->batch_rows + (table_->header.rows % table_->batch_rows != 0);
}

void NpySource::read(index_t i, Batch& batch) const {
  const detail::NpyTable& table = *table_;
  const index_t columns = table.header.columns;
  const index_t first = i * table.batch_rows, rows = std::min(table.batch_rows, table.header.rows - first);
  batch.rows = {};
  batch.owner.reset();  // so that the next bytes may lie where these did, which are in the cache
  if (table.in_rows() && table.whole && table.header.type == kNativeDouble) {
    index_t checked = 0;
    bool good = true;
    const index_t count = rows * columns;
    // What was just read is in the cache.
    detail::FileWindow window = table.window(first * columns, count, [&](std::span<const char> bytes) {
      if (!is_aligned(bytes.data())) return;
      const auto* const values = reinterpret_cast<const double*>(bytes.data());
      const index_t here = std::ssize(bytes) / static_cast<index_t>(sizeof(double));
      if (good) checked += detail::first_not_finite(values + checked, here - checked, table.masks);
      good = checked == here;
    });
    if (is_aligned(window.bytes.data())) {
      const auto* const values = reinterpret_cast<const double*>(window.bytes.data());
      if (!good) table.refuse(first + checked / columns, checked % columns);
      batch.rows = {values, rows, columns};
      batch.weights = {};
      batch.owner = std::move(window.owner);
      return;
    }
  }
  table.copy(first, rows, batch);
}

std::string NpySource::place(index_t batch, index_t row, index_t column) const {
  const std::vector<index_t>& columns = table_->columns;
  return table_->place(batch * table_->batch_rows + row,
                       column == kWeightColumn ? columns.back() : columns[static_cast<std::size_t>(column)]);
}

}  // namespace fenchel
