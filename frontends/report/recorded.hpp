#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plot/mark.hpp"

namespace fenchel::report {

/// A value of a row, over the units of the experiment (folds), or over seeds where there is one unit.
struct Measured {
  double mean, deviation;
  std::optional<plot::Range> interval;  ///< of the mean, 95 %
};

/// A model, trained on a kind of data with every seed.
struct RecordedRow {
  std::string data, name, label, group;
  std::size_t units, seeds;
  std::vector<std::pair<std::string, Measured>> values;

  /// None where the row has no such value.
  [[nodiscard]] const Measured* value(std::string_view which) const;
};

/// The mean of paired differences between two rows of one kind of data.
struct RecordedDifference {
  std::string data, row, against, value;
  double difference;
  std::optional<plot::Range> interval;    ///< 95 %, over all pairs of unit and seed
  std::optional<plot::Range> over_units;  ///< 95 %, over units; none where there is one
};

struct RecordedFigure {
  std::string file, caption;  ///< plain text
};

/// Where and when rows were made, and by which sources.
struct Origin {
  std::vector<std::string> days, machines, commits;  ///< each once, in order
};

/// A file of experiments/results/. Every number in it is shown as it is: nothing is computed from the runs.
struct Recorded {
  std::string experiment;
  std::vector<RecordedRow> rows;
  std::vector<RecordedDifference> differences;
  std::vector<RecordedFigure> figures;
  Origin origin;

  /// The kinds of data, in order.
  [[nodiscard]] std::vector<std::string> data() const;
  /// In the order of the paper: discrete before continuous, with rising alpha, and then all others.
  [[nodiscard]] std::vector<RecordedRow> rows_of(std::string_view data) const;
  /// Throws std::out_of_range where there is no such row.
  [[nodiscard]] const RecordedRow& row(std::string_view data, std::string_view name) const;
  /// Between the row and each that it is compared with, in order.
  [[nodiscard]] std::vector<RecordedDifference> differences_of(const RecordedRow& row,
                                                               std::string_view value) const;
};

/// Of an embedded file, "audio.json".
[[nodiscard]] Recorded read_recorded(std::string_view file);

}  // namespace fenchel::report
