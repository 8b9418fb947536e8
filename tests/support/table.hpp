#pragma once

#include <vector>

#include "fenchel/data/rows_source.hpp"
#include "fenchel/estimate/statistics/collect.hpp"

namespace fenchel::testing {

/// Rows of numbers, and weights or none, as data to fit.
struct Table {
  index_t cols;
  std::vector<double> values = {};
  std::vector<double> weights = {};

  [[nodiscard]] index_t rows() const { return static_cast<index_t>(values.size()) / cols; }
  [[nodiscard]] double& at(index_t i, index_t k) { return values[static_cast<std::size_t>(i * cols + k)]; }
  [[nodiscard]] double at(index_t i, index_t k) const {
    return values[static_cast<std::size_t>(i * cols + k)];
  }
  void add(const std::vector<double>& row) { values.insert(values.end(), row.begin(), row.end()); }
  [[nodiscard]] RowsSource source() const { return RowsSource({values.data(), rows(), cols}, weights); }
};

/// fit(Data, options) of a table.
template <class Fit, class Options>
auto fit_table(Fit fit, const Table& table, const Options& options) {
  const RowsSource source = table.source();
  return fit(Data{source}, options);
}

}  // namespace fenchel::testing
