#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/arrays/arrays.hpp"
#include "bindings/arrays/arrow_abi.hpp"
#include "bindings/bindings.hpp"
#include "fenchel/data/data_error.hpp"

namespace fenchel::python {
namespace {

using Table = Output<const double>;

template <class T>
T& from_capsule(const nb::object& capsule, const char* name) {
  auto* found = static_cast<T*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (!found) throw nb::python_error();
  if (!found->release) throw DataError(std::string(name) + " was read already");
  return *found;
}

bool bit(const void* bitmap, std::int64_t i) {
  return (static_cast<const unsigned char*>(bitmap)[i / 8] >> (i % 8)) & 1;
}

/// The first of `length` entries from `begin` on that is null, or -1.
std::int64_t first_null(const ArrowArray& array, std::int64_t begin, std::int64_t length) {
  if (array.null_count == 0 || array.n_buffers == 0 || !array.buffers[0]) return -1;
  for (std::int64_t i = 0; i < length; ++i) {
    if (!bit(array.buffers[0], begin + i)) return i;
  }
  return -1;
}

/// Writes entries to every stride-th place. Elements may be anywhere in memory.
template <class T>
void copy_numbers(const void* buffer, std::int64_t begin, std::int64_t length, double* to,
                  std::size_t stride) {
  const auto* from = static_cast<const char*>(buffer) + begin * static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t i = 0; i < length; ++i, from += sizeof(T), to += stride) {
    T value;
    std::memcpy(&value, from, sizeof(T));
    *to = static_cast<double>(value);
  }
}
void copy_bits(const void* buffer, std::int64_t begin, std::int64_t length, double* to, std::size_t stride) {
  for (std::int64_t i = 0; i < length; ++i, to += stride) *to = bit(buffer, begin + i) ? 1.0 : 0.0;
}

using Copy = void (*)(const void*, std::int64_t, std::int64_t, double*, std::size_t);

/// How a column of this type is read, or null where it holds no numbers.
Copy copy_of(const ArrowSchema& schema) {
  const std::string_view format = schema.format;
  if (schema.dictionary || format.size() != 1) return nullptr;
  switch (format[0]) {
    case 'b':
      return copy_bits;
    case 'c':
      return copy_numbers<std::int8_t>;
    case 'C':
      return copy_numbers<std::uint8_t>;
    case 's':
      return copy_numbers<std::int16_t>;
    case 'S':
      return copy_numbers<std::uint16_t>;
    case 'i':
      return copy_numbers<std::int32_t>;
    case 'I':
      return copy_numbers<std::uint32_t>;
    case 'l':
      return copy_numbers<std::int64_t>;
    case 'L':
      return copy_numbers<std::uint64_t>;
    case 'f':
      return copy_numbers<float>;
    case 'g':
      return copy_numbers<double>;
    default:
      return nullptr;
  }
}

/// What a message calls a type that holds no numbers.
std::string type_name(const ArrowSchema& schema) {
  const std::string_view format = schema.format;
  if (schema.dictionary) return "dictionary";
  if (format == "u" || format == "U" || format == "vu") return "string";
  if (format == "z" || format == "Z" || format == "vz") return "binary";
  if (format == "n") return "null";
  if (format == "e") return "float16";
  if (format.starts_with("d:")) return "decimal";
  if (format.starts_with("t")) return "date or time";
  if (format.starts_with("+")) return "nested";
  return "Arrow format " + std::string(format);
}

/// Batches of a table, or of one column, that somebody else makes, read one after the other.
class ArrowReader {
 public:
  /// Takes the stream from its capsule.
  explicit ArrowReader(const nb::object& stream)
      : stream_(from_capsule<ArrowArrayStream>(stream, "arrow_array_stream")) {
    require(stream_->get_schema && stream_->get_next, "the stream must have get_schema and get_next");
    int status = 0;
    {
      const nb::gil_scoped_release release;
      status = stream_.get()->get_schema(stream_.get(), schema_.get());
    }
    if (status != 0) fail("the schema", status);
    begin();
  }
  /// The same of a single batch.
  ArrowReader(const nb::object& schema, const nb::object& array)
      : schema_(from_capsule<ArrowSchema>(schema, "arrow_schema")),
        only_(from_capsule<ArrowArray>(array, "arrow_array")) {
    begin();
  }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const ArrowSchema* column : columns_) names.emplace_back(column->name ? column->name : "");
    return names;
  }

  /// Which columns are read, in this order.
  void select(std::vector<std::size_t> chosen) {
    for (const std::size_t j : chosen) {
      const ArrowSchema& column = *columns_.at(j);
      if (!copy_of(column))
        throw DataError("column " + label(j) + " must hold numbers, got " + type_name(column));
    }
    chosen_ = std::move(chosen);
  }

  /// The next batch, rows by chosen columns, or nothing at the end. One column of doubles is not copied.
  [[nodiscard]] std::optional<Table> next() {
    auto batch = std::make_unique<Owned<ArrowArray>>();
    if (stream_) {
      int status = 0;
      {
        const nb::gil_scoped_release release;
        status = stream_.get()->get_next(stream_.get(), batch->get());
      }
      if (status != 0) fail("batch " + std::to_string(batches_), status);
    } else {
      *batch = std::move(only_);
    }
    if (!*batch) return std::nullopt;
    ++batches_;
    const ArrowArray& array = **batch;
    check_shape(array);
    check_nulls(array);
    rows_ += array.length;
    const auto rows = static_cast<std::size_t>(array.length);
    if (rows > 0 && chosen_.size() == 1 && std::string_view(columns_[chosen_[0]]->format) == "g") {
      const auto* data = static_cast<const double*>(data_of(array, chosen_[0])) + begin_of(array, chosen_[0]);
      if (reinterpret_cast<std::uintptr_t>(data) % alignof(double) == 0) {
        return owned_array(data, {rows, 1}, std::move(batch));
      }
    }
    auto values = std::make_unique<std::vector<double>>(rows * chosen_.size());
    for (std::size_t k = 0; k < chosen_.size(); ++k) {
      const std::size_t j = chosen_[k];
      copy_of (*columns_[j])(data_of(array, j), begin_of(array, j), array.length, values->data() + k,
                             chosen_.size());
    }
    const double* data = values->data();
    return owned_array(data, {rows, chosen_.size()}, std::move(values));
  }

 private:
  /// What a producer gets wrong must not be read. The sizes of buffers are not told, so they are believed.
  static void require(bool holds, const std::string& what) {
    if (!holds) throw DataError("arrow: " + what);
  }

  void begin() {
    require(schema_ && schema_->format, "the schema must have a format");
    is_table_ = std::string_view(schema_->format) == "+s";
    if (is_table_) {
      require(schema_->n_children >= 0 && (schema_->children || schema_->n_children == 0),
              "the schema must have its children");
      columns_.assign(schema_->children, schema_->children + schema_->n_children);
    } else {
      columns_ = {schema_.get()};
    }
    for (const ArrowSchema* column : columns_)
      require(column && column->format, "a column must have a format");
  }

  /// That all entries of the chosen columns are there.
  void check_shape(const ArrowArray& array) const {
    constexpr std::int64_t kMost = std::int64_t{1} << 48;
    const auto fits = [](std::int64_t x) { return x >= 0 && x <= kMost; };
    const std::string at = "batch " + std::to_string(batches_ - 1) + " must have ";
    require(fits(array.length) && fits(array.offset), at + "a length and an offset");
    require(array.n_buffers == 0 || array.buffers, at + "its buffers");
    require(!is_table_ || chosen_.empty() ||
                (array.children && array.n_children == static_cast<std::int64_t>(columns_.size())),
            at + "the columns of the schema");
    for (const std::size_t j : chosen_) {
      require(!is_table_ || array.children[j], at + "column " + label(j));
      const ArrowArray& column = column_of(array, j);
      const std::int64_t rows = is_table_ ? array.offset + array.length : array.length;
      require(column.release && fits(column.offset) && column.length >= rows,
              at + std::to_string(rows) + " rows in column " + label(j));
      require(array.length == 0 || (column.n_buffers == 2 && column.buffers && column.buffers[1]),
              at + "numbers in column " + label(j));
    }
  }

  [[noreturn]] void fail(const std::string& what, int status) {
    const auto last_error = stream_.get()->get_last_error;
    const char* reason = last_error ? last_error(stream_.get()) : nullptr;
    throw DataError("arrow: " + what + " cannot be read: " + (reason ? reason : std::strerror(status)));
  }

  [[nodiscard]] std::string label(std::size_t j) const {
    const char* name = columns_[j]->name;
    return name && *name ? name : std::to_string(j);
  }

  /// A table's offset counts in its columns too.
  [[nodiscard]] const ArrowArray& column_of(const ArrowArray& array, std::size_t j) const {
    return is_table_ ? *array.children[j] : array;
  }
  [[nodiscard]] std::int64_t begin_of(const ArrowArray& array, std::size_t j) const {
    return is_table_ ? array.offset + array.children[j]->offset : array.offset;
  }
  [[nodiscard]] const void* data_of(const ArrowArray& array, std::size_t j) const {
    return column_of(array, j).buffers[1];
  }

  void check_nulls(const ArrowArray& array) const {
    if (is_table_) {
      if (const std::int64_t i = first_null(array, array.offset, array.length); i >= 0)
        throw DataError("row " + std::to_string(rows_ + i) + ": must not be null");
    }
    for (const std::size_t j : chosen_) {
      const std::int64_t i = first_null(column_of(array, j), begin_of(array, j), array.length);
      if (i >= 0)
        throw DataError("row " + std::to_string(rows_ + i) + ", column " + label(j) +
                        ": value must not be null");
    }
  }

  Owned<ArrowArrayStream> stream_;
  Owned<ArrowSchema> schema_;
  Owned<ArrowArray> only_;
  bool is_table_ = false;
  std::vector<const ArrowSchema*> columns_;
  std::vector<std::size_t> chosen_;
  std::int64_t rows_ = 0, batches_ = 0;
};

}  // namespace

void bind_arrow(nb::module_& m) {
  nb::class_<ArrowReader>(m, "ArrowReader")
      .def(nb::init<const nb::object&>(), nb::arg("stream"))
      .def(nb::init<const nb::object&, const nb::object&>(), nb::arg("schema"), nb::arg("array"))
      .def_prop_ro("names", &ArrowReader::names)
      .def("select", &ArrowReader::select, nb::arg("columns"))
      .def("next", &ArrowReader::next);
}

}  // namespace fenchel::python
