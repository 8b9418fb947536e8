#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plot/chart.hpp"
#include "report/page.hpp"
#include "report/recorded.hpp"

namespace fenchel::report {

/// Discrete softmax attention: what every other row is compared with.
inline constexpr std::string_view kBaseline = "discrete_1";

/// A mark, and the sentence that says where, when and by what the numbers were made. HTML.
[[nodiscard]] std::string stamp(const Recorded& recorded);

/// A text of the file as HTML, with Greek letters for alpha and sigma2.
[[nodiscard]] std::string shown(const std::string& text);

/// "0.6123 [0.6011, 0.6235]", whose brackets stay on one line.
[[nodiscard]] std::string with_interval(const Measured& value);
/// "+0.0123 [0.0051, 0.0195]"
[[nodiscard]] std::string with_interval(const RecordedDifference& difference);

/// The differences of the accuracy of a row as cells of a table: from the baseline, and from other rows by
/// label.
struct DifferenceCells {
  std::string baseline, others;
};
[[nodiscard]] DifferenceCells difference_cells(const Recorded& recorded, const RecordedRow& row);

/// The differences of those rows that `against` chooses by the row that they are compared with.
template <class Against>
[[nodiscard]] std::vector<RecordedDifference> differences_of(const Recorded& recorded,
                                                             const std::vector<RecordedRow>& rows,
                                                             Against against) {
  std::vector<RecordedDifference> found;
  for (const RecordedRow& row : rows) {
    for (const RecordedDifference& each : recorded.differences_of(row, "accuracy")) {
      if (against(recorded.row(each.data, each.against))) found.push_back(each);
    }
  }
  return found;
}

/// "better in 3 of 8 comparisons, worse in 1 and undecided in 4": those whose interval holds 0.
[[nodiscard]] std::string verdict(const std::vector<RecordedDifference>& differences);

/// Differences that are counted together.
struct Comparison {
  std::string data, what;  ///< HTML
  std::vector<RecordedDifference> differences;
};

/// How many of them have an interval above zero, below it, and around it.
[[nodiscard]] Table verdicts(const std::string& caption, const std::vector<Comparison>& comparisons);

/// The differences of the rows of a kind of data from the baseline, a row each; floors are left out.
[[nodiscard]] plot::Chart differences_chart(const Recorded& recorded, const std::string& data);

[[nodiscard]] std::vector<Picture> pictures(const Recorded& recorded);

}  // namespace fenchel::report
