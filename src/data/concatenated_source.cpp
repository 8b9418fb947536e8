#include "fenchel/data/concatenated_source.hpp"

#include <algorithm>
#include <utility>

#include "data/column_names.hpp"
#include "fenchel/core/error.hpp"

namespace fenchel {

ConcatenatedSource::ConcatenatedSource(std::vector<std::shared_ptr<const BatchSource>> sources)
    : sources_(std::move(sources)) {
  constexpr const char* kWhere = "concatenated_source";
  if (sources_.empty()) throw_invalid_argument(kWhere, "sources", "must not be empty", index_t{0});
  index_t end = 0;
  for (std::size_t s = 0; s < sources_.size(); ++s) {
    const std::string what = indexed("sources", static_cast<index_t>(s));
    if (sources_[s] == nullptr) throw_invalid_argument(kWhere, what, "must not be null", "null");
    if (!std::ranges::equal(sources_[s]->names(), names()))
      throw_invalid_argument(kWhere, what, "must have the columns " + detail::listed(names()),
                             detail::listed(sources_[s]->names()));
    ends_.push_back(end += sources_[s]->batches());
  }
}

ConcatenatedSource::Part ConcatenatedSource::part_of(index_t batch) const {
  const auto s =
      static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), batch) - ends_.begin());
  return {*sources_[s], batch - (s == 0 ? 0 : ends_[s - 1])};
}

void ConcatenatedSource::read(index_t i, Batch& batch) const {
  const Part part = part_of(i);
  part.source.read(part.batch, batch);
}

std::string ConcatenatedSource::place(index_t batch, index_t row, index_t column) const {
  const Part part = part_of(batch);
  return part.source.place(part.batch, row, column);
}

}  // namespace fenchel
