#include "fenchel/estimate/statistics/collect.hpp"

#include <algorithm>
#include <exception>

#include "fenchel/core/parallel.hpp"
#include "fenchel/data/data_error.hpp"

namespace fenchel::detail {
namespace {

constexpr index_t kBatchesPerWorker = 4;  // of a round: enough to even out, few enough to hold

void work_on(const BatchSource& source, index_t i, Batch& batch, index_t slot,
             FunctionRef<void(index_t, const Batch&)> work) {
  source.read(i, batch);
  try {
    work(slot, batch);
  } catch (const BadEntry& bad) {
    throw DataError(source.place(i, bad.row(), bad.column()) + ": " + bad.complaint());
  }
}

}  // namespace

void for_each_batch(const Data& data, FunctionRef<void(index_t)> begin,
                    FunctionRef<void(index_t, const Batch&)> work, FunctionRef<void(index_t)> end) {
  const index_t total = data.source.batches();
  const int workers = static_cast<int>(std::min<index_t>(num_threads(), total));
  std::vector<Batch> batches(static_cast<std::size_t>(workers));
  const index_t round = std::min<index_t>(total, workers * kBatchesPerWorker);
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(round));
  for (index_t first = 0; first < total; first += round) {
    const index_t slots = std::min(round, total - first);
    begin(slots);
    parallel_rows(slots, workers, [&](index_t from, index_t to, int worker) noexcept {
      for (index_t slot = from; slot < to; ++slot) {
        try {
          work_on(data.source, first + slot, batches[static_cast<std::size_t>(worker)], slot, work);
        } catch (...) {
          errors[static_cast<std::size_t>(slot)] = std::current_exception();
        }
      }
    });
    for (index_t slot = 0; slot < slots; ++slot) {
      if (errors[static_cast<std::size_t>(slot)])
        std::rethrow_exception(errors[static_cast<std::size_t>(slot)]);
      end(slot);
    }
    if (data.progress && !data.progress({first + slots, total}))
      throw Cancelled("fenchel::collect: cancelled");
  }
}

}  // namespace fenchel::detail
