#include "fenchel/core/parallel.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <stdexcept>
#include <vector>

namespace fenchel {
namespace {

class Threads : public testing::Test {
 protected:
  ~Threads() override { set_num_threads(0); }
};

std::vector<double> roots(index_t rows) {
  std::vector<double> out(static_cast<std::size_t>(rows));
  parallel_rows(rows, workers_for(rows, 20'000), [&](index_t begin, index_t end, int) noexcept {
    for (index_t i = begin; i < end; ++i) out[static_cast<std::size_t>(i)] += std::sqrt(double(i));
  });
  return out;
}

TEST_F(Threads, EveryRowIsVisitedOnceWhateverTheThreadCount) {
  for (const int threads : {1, 2, 3, 8}) {
    set_num_threads(threads);
    for (const index_t rows : {0, 1, 2, 7, 1000}) {
      const auto out = roots(rows);
      for (index_t i = 0; i < rows; ++i) ASSERT_EQ(out[static_cast<std::size_t>(i)], std::sqrt(double(i)));
    }
  }
}

TEST_F(Threads, WorkersAreNumberedWithinTheirCount) {
  set_num_threads(4);
  const int workers = workers_for(100, 20'000);
  EXPECT_EQ(workers, num_threads());
  std::vector<index_t> rows_of_worker(static_cast<std::size_t>(workers));
  parallel_rows(100, workers, [&](index_t begin, index_t end, int worker) noexcept {
    rows_of_worker[static_cast<std::size_t>(worker)] += end - begin;
  });
  index_t total = 0;
  for (const index_t rows : rows_of_worker) total += rows;
  EXPECT_EQ(total, 100);
}

TEST_F(Threads, SmallWorkStaysOnTheCallersThread) {
  set_num_threads(8);
  EXPECT_EQ(workers_for(10, 100), 1);
  EXPECT_EQ(workers_for(1, 1'000'000'000), 1);
}

class CountingPool : public ThreadPool {
 public:
  [[nodiscard]] int num_threads() const noexcept override { return 5; }
  void run(int count, FunctionRef<void(int)> task) override {
    for (int k = count - 1; k >= 0; --k) task(k);
    tasks += count;
  }
  int tasks = 0;
};

TEST_F(Threads, APoolIsUsedWhileItsScopeLasts) {
  const auto expected = roots(1000);
  CountingPool pool, inner;
  {
    const ScopedThreadPool scope(pool);
    EXPECT_EQ(num_threads(), 5);
    EXPECT_EQ(roots(1000), expected);
    EXPECT_EQ(pool.tasks, 5);
    {
      const ScopedThreadPool nested(inner);
      EXPECT_EQ(roots(1000), expected);
    }
    EXPECT_EQ(inner.tasks, 5);
    EXPECT_EQ(roots(3), std::vector<double>(expected.begin(), expected.begin() + 3));
    EXPECT_EQ(pool.tasks, 8);
  }
  roots(1000);
  EXPECT_EQ(pool.tasks, 8);
}

TEST_F(Threads, AForkedChildOfAThreadedParentFinishes) {
  set_num_threads(2);
  const auto expected = roots(1000);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);
    _exit(roots(1000) == expected && num_threads() == 1 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(Threads, ANegativeCountIsRefused) { EXPECT_THROW(set_num_threads(-1), std::domain_error); }

}  // namespace
}  // namespace fenchel
