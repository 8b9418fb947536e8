#include "fenchel/data/part_source.hpp"

#include <stdexcept>

#include "fenchel/core/error.hpp"

namespace fenchel {

PartSource::PartSource(const BatchSource& whole, index_t part, index_t parts) : whole_(whole) {
  if (part < 0 || part >= parts)
    throw std::domain_error(
        error_message("part_source", "part", "must be in [0, " + shortest(parts) + ")", part));
  begin_ = whole.batches() * part / parts;
  end_ = whole.batches() * (part + 1) / parts;
}

}  // namespace fenchel
