#include "fenchel/data/data_error.hpp"

#include "fenchel/core/error.hpp"

namespace fenchel {

BadEntry::BadEntry(std::string_view where, std::string_view what, std::string_view constraint, index_t row,
                   index_t column, double got)
    : std::domain_error(error_message(where, indexed(what, row), constraint, got)),
      row_(row),
      column_(column),
      complaint_(std::string(what) + " " + std::string(constraint) + ", got " + shortest(got)) {}

}  // namespace fenchel
