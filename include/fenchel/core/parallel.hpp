#pragma once

/// `parallel_rows`, `set_num_threads` and `ThreadPool`: loops over rows on several threads.

#include <memory>
#include <type_traits>

#include "fenchel/core/config.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel {

/// Threads that belong to another library, such as a framework, for use instead of those of OpenMP.
class ThreadPool {
 public:
  virtual ~ThreadPool() = default;
  [[nodiscard]] virtual int num_threads() const noexcept = 0;
  /// Calls task(0), ..., task(count - 1), each once, on any threads, and returns when all are done.
  virtual void run(int count, FunctionRef<void(int)> task) = 0;
};

/// While one lives, parallel_rows of the thread that made it runs on that pool. They may be nested.
class FENCHEL_EXPORT ScopedThreadPool {
 public:
  explicit ScopedThreadPool(ThreadPool& pool) noexcept;
  ScopedThreadPool(const ScopedThreadPool&) = delete;
  ScopedThreadPool& operator=(const ScopedThreadPool&) = delete;
  ~ScopedThreadPool();

 private:
  ThreadPool* outer_;
};

/// How many threads parallel_rows may use: the pool's where there is one, what set_num_threads said, else
/// what OpenMP says; 1 without OpenMP, inside another parallel region, and in a process forked from one that
/// has used threads.
[[nodiscard]] FENCHEL_EXPORT int num_threads() noexcept;

/// Limits the threads of this process; 0 goes back to OpenMP's default. Throws std::domain_error when
/// negative.
FENCHEL_EXPORT void set_num_threads(int count);

namespace detail {

using RowRange = void (*)(const void* body, index_t begin, index_t end, int worker);
FENCHEL_EXPORT void run_row_ranges(index_t rows, int workers, RowRange range, const void* body);

}  // namespace detail

/// How many workers parallel_rows will use for that many rows of that much work (in units of about a
/// nanosecond): a thread must have some 20 microseconds to do, or starting it costs more than it brings.
[[nodiscard]] FENCHEL_EXPORT int workers_for(index_t rows, index_t work_per_row) noexcept;

/// Calls body(begin, end, worker) over contiguous ranges that cover [0, rows), worker in [0, workers);
/// several ranges for a worker where the caller's thread has a ScopedCheck, which is asked between them and
/// may throw. A row's result must depend on that row alone, so that it does not depend on the number of
/// threads. body must not throw.
template <class Body>
void parallel_rows(index_t rows, int workers, const Body& body) {
  static_assert(std::is_nothrow_invocable_v<const Body&, index_t, index_t, int>,
                "an exception cannot leave a parallel region: declare the body noexcept");
  detail::run_row_ranges(
      rows, workers,
      [](const void* erased, index_t begin, index_t end, int worker) {
        (*static_cast<const Body*>(erased))(begin, end, worker);
      },
      std::addressof(body));
}

}  // namespace fenchel
