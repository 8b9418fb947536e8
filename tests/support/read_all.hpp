#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "fenchel/data/batch_source.hpp"
#include "fenchel/data/data_error.hpp"

namespace fenchel::testing {

/// What a source holds: rows and their weights, or the first error alone.
struct Contents {
  std::vector<std::vector<double>> rows;
  std::vector<double> weights;
  std::string error;

  bool operator==(const Contents&) const = default;
};

inline Contents read_all(const BatchSource& source) {
  Contents table;
  Batch batch;
  try {
    for (index_t i = 0; i < source.batches(); ++i) {
      source.read(i, batch);
      for (index_t r = 0; r < batch.rows.rows; ++r)
        table.rows.emplace_back(batch.rows[r].begin(), batch.rows[r].end());
      table.weights.insert(table.weights.end(), batch.weights.begin(), batch.weights.end());
    }
  } catch (const DataError& error) {
    table = {{}, {}, error.what()};
  }
  return table;
}

/// The same of a file in memory, which may be none: then that is the error.
template <class Source, class Options>
Contents read_memory(std::span<const char> bytes, const Options& options) {
  try {
    return read_all(Source::in_memory(bytes, "data", options));
  } catch (const DataError& error) {
    return {{}, {}, error.what()};
  } catch (const std::invalid_argument& error) {
    return {{}, {}, error.what()};
  }
}

}  // namespace fenchel::testing
