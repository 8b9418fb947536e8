#include "fenchel/core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "core/current_check.hpp"
#include "fenchel/core/error.hpp"

#ifdef _OPENMP
#include <omp.h>
#include <pthread.h>
#endif

namespace fenchel {
namespace {

std::atomic<int> thread_limit{0};
thread_local ThreadPool* current_pool = nullptr;

#ifdef _OPENMP
// libgomp's pool does not survive fork: a child that enters a parallel region after its parent did hangs.
// The child therefore goes on with one thread.
std::atomic<bool> forked_after_threads{false};
std::atomic<bool> has_used_threads{false};

void watch_for_fork() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] {
    if (has_used_threads.load(std::memory_order_relaxed)) forked_after_threads = true;
  });
  static_cast<void>(registered);
}
#endif

/// body over [first, last), cut into one range for each worker.
void run_block(index_t first, index_t last, int workers, detail::RowRange range, const void* body) {
  if (first >= last) return;
  const index_t rows = last - first;
  const auto run_worker = [=](int worker) {
    const index_t begin = first + rows * worker / workers, end = first + rows * (worker + 1) / workers;
    if (begin < end) range(body, begin, end, worker);
  };
  if (workers > 1 && current_pool != nullptr) {
    current_pool->run(workers, run_worker);
    return;
  }
#ifdef _OPENMP
  if (workers > 1) {
    watch_for_fork();
    has_used_threads = true;
#pragma omp parallel for schedule(static, 1) num_threads(workers)
    for (int worker = 0; worker < workers; ++worker) run_worker(worker);
    return;
  }
#endif
  for (int worker = 0; worker < workers; ++worker) run_worker(worker);
}

}  // namespace

ScopedThreadPool::ScopedThreadPool(ThreadPool& pool) noexcept : outer_(current_pool) { current_pool = &pool; }
ScopedThreadPool::~ScopedThreadPool() { current_pool = outer_; }

int num_threads() noexcept {
  if (current_pool != nullptr) return std::max(1, current_pool->num_threads());
#ifdef _OPENMP
  if (omp_in_parallel() || forked_after_threads.load(std::memory_order_relaxed)) return 1;
  const int limit = thread_limit.load(std::memory_order_relaxed);
  return limit > 0 ? limit : std::max(1, omp_get_max_threads());
#else
  return 1;
#endif
}

void set_num_threads(int count) {
  if (count < 0) throw_domain_error("set_num_threads", "count", "must not be negative", count);
  thread_limit = count;
}

int workers_for(index_t rows, index_t work_per_row) noexcept {
  constexpr index_t kWorkPerWorker = 20'000;
  const index_t per_worker = std::max<index_t>(1, kWorkPerWorker / std::max<index_t>(1, work_per_row));
  const index_t busy = rows / per_worker;
  return busy <= 1 ? 1 : static_cast<int>(std::min<index_t>(busy, num_threads()));
}

void detail::run_row_ranges(index_t rows, int workers, RowRange range, const void* body) {
  if (current_check == nullptr) return run_block(0, rows, workers, range, body);
  using Clock = std::chrono::steady_clock;
  constexpr double kMostGrowth = 32;  // rows may cost more than those before them
  index_t block = workers;
  for (index_t begin = 0; begin < rows;) {
    checkpoint();
    const WithoutCheck unchecked;
    if (block >= rows - begin) return run_block(begin, rows, workers, range, body);
    const Clock::time_point started = Clock::now();
    run_block(begin, begin + block, workers, range, body);
    const std::chrono::duration<double> elapsed = Clock::now() - started;
    begin += block;
    const double growth = std::min(kMostGrowth, ScopedCheck::kInterval / elapsed);
    block = std::max<index_t>(workers, static_cast<index_t>(growth * static_cast<double>(block)));
  }
}

}  // namespace fenchel
