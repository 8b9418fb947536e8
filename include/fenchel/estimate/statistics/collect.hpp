#pragma once

/// `collect`: the statistics of a source, with progress and a way to cancel.

#include <functional>
#include <stdexcept>
#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/data/batch_source.hpp"
#include "fenchel/estimate/statistics/processes.hpp"
#include "fenchel/estimate/statistics/statistics.hpp"

namespace fenchel {

/// How far this process is in one pass over its data.
struct Progress {
  index_t done, total;  ///< batches
};
/// False cancels.
using ProgressCallback = std::function<bool(const Progress&)>;

/// A ProgressCallback said no.
class FENCHEL_EXPORT Cancelled : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a fit runs on: a source, all of which is this process's part; who else has parts; whom to tell.
struct Data {
  const BatchSource& source;
  Processes& processes = Processes::alone();
  ProgressCallback progress = {};
};

namespace detail {

/// Reads all batches, in rounds that are worked on in parallel: begin(n) makes n slots, work(slot, batch)
/// fills one, end(slot) is called in the order of the batches.
FENCHEL_EXPORT void for_each_batch(const Data& data, FunctionRef<void(index_t)> begin,
                                   FunctionRef<void(index_t, const Batch&)> work,
                                   FunctionRef<void(index_t)> end);

}  // namespace detail

/// The statistics of all rows in all processes, starting from an empty one. Batches are merged in their
/// order, so the result does not depend on the number of threads; every process gets the same bits. Throws
/// DataError where a batch cannot be read or holds an entry that cannot be used, and Cancelled.
template <Statistics S>
[[nodiscard]] S collect(const Data& data, const S& empty) {
  Processes::Share mine;
  try {
    S total = empty;
    std::vector<S> round;
    detail::for_each_batch(
        data, [&](index_t slots) { round.assign(static_cast<std::size_t>(slots), empty); },
        [&](index_t slot, const Batch& batch) {
          round[static_cast<std::size_t>(slot)].update(batch.rows, batch.row_weights());
        },
        [&](index_t slot) { total.merge(round[static_cast<std::size_t>(slot)]); });
    mine.bytes = total.to_bytes();
  } catch (...) {
    mine.error = std::current_exception();
  }
  S result = empty;
  result.merge_bytes(data.processes.exchange(mine, [&empty](std::span<const Bytes> shares) {
    S total = empty;
    for (const Bytes& share : shares) total.merge_bytes(share);
    return total.to_bytes();
  }));
  return result;
}

}  // namespace fenchel
