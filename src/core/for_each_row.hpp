#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <vector>

#include "fenchel/core/index.hpp"
#include "fenchel/core/parallel.hpp"

namespace fenchel::detail {

/// work(i) for each row i, on several threads; work_per_row as for workers_for. Where rows throw, what the
/// first of them throws is thrown here.
template <class Work>
void for_each_row(index_t rows, index_t work_per_row, const Work& work) {
  const int workers = workers_for(rows, work_per_row);
  struct Error {
    index_t row;
    std::exception_ptr thrown;
  };
  std::vector<Error> errors(static_cast<std::size_t>(workers), Error{rows, nullptr});
  parallel_rows(rows, workers, [&](index_t begin, index_t end, int worker) noexcept {
    Error& first = errors[static_cast<std::size_t>(worker)];
    for (index_t i = begin; i < end && !first.thrown; ++i) {
      try {
        work(i);
      } catch (...) {
        first = {i, std::current_exception()};
      }
    }
  });
  const Error& first = *std::ranges::min_element(errors, {}, &Error::row);
  if (first.thrown) std::rethrow_exception(first.thrown);
}

}  // namespace fenchel::detail
