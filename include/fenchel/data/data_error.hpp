#pragma once

/// `DataError`: data that cannot be read or used, with the place of the fault.

#include <stdexcept>
#include <string>
#include <string_view>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel {

/// Data that cannot be read or used: "data.csv:17:3: expected a number, got 'abc'".
class FENCHEL_EXPORT DataError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An entry of a batch that cannot be used. Its message is that of a batch in memory ("fenchel::moments:
/// weight[17] must be finite and not negative, got -1"); who knows where the batch came from makes a
/// DataError of it.
class FENCHEL_EXPORT BadEntry : public std::domain_error {
 public:
  /// `what` is the name of the quantity, `constraint` as in "must be finite".
  BadEntry(std::string_view where, std::string_view what, std::string_view constraint, index_t row,
           index_t column, double got);

  [[nodiscard]] index_t row() const noexcept { return row_; }
  [[nodiscard]] index_t column() const noexcept { return column_; }  ///< kWeightColumn for the weight
  /// "weight must be finite and not negative, got -1": without the place.
  [[nodiscard]] const std::string& complaint() const noexcept { return complaint_; }

 private:
  index_t row_, column_;
  std::string complaint_;
};

}  // namespace fenchel
