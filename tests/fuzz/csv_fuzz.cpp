#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "fenchel/data/csv_source.hpp"
#include "support/read_all.hpp"

namespace {

using fenchel::CsvOptions;
using fenchel::CsvSource;
using fenchel::index_t;
using fenchel::testing::Contents;
using fenchel::testing::read_memory;

/// The rows of a good table are where place says they are: no two have the same.
void check_places(std::span<const char> text, const CsvOptions& options) {
  const CsvSource source = CsvSource::in_memory(text, "data.csv", options);
  fenchel::Batch batch;
  std::string last;
  for (index_t i = 0; i < source.batches(); ++i) {
    source.read(i, batch);
    if (batch.rows.rows == 0) continue;
    const std::string place = source.place(i, batch.rows.rows - 1, 0);
    if (place == last) std::abort();
    last = place;
  }
}

}  // namespace

/// The first byte says how to read the rest, which may be compressed. Any split into batches gives the same
/// rows or the same error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  CsvOptions options;
  options.header = (data[0] & 1) == 0;
  options.skip_missing = (data[0] & 2) != 0;
  if ((data[0] & 4) != 0) options.separator = ';';
  if ((data[0] & 16) != 0) options.decimal = ',';
  if ((data[0] & 32) != 0) options.comment = '#';
  if ((data[0] & 64) != 0) options.separator = ' ';
  options.skip_text = (data[0] & 128) != 0;
  if ((data[0] & 8) != 0) {
    options.columns.emplace_back(1, options.header ? 'x' : '1');
    options.weight.push_back(options.header ? 'w' : '0');
  }
  const std::span text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Contents whole = read_memory<CsvSource>(text, options);
  for (const index_t bytes : {1, 7}) {
    options.batch_bytes = bytes;
    if (read_memory<CsvSource>(text, options) != whole) std::abort();
  }
  if (whole.error.empty()) check_places(text, options);
  return 0;
}
