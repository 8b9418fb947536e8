#include "fenchel/core/checkpoint.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "fenchel/core/index.hpp"
#include "fenchel/core/parallel.hpp"

namespace fenchel {
namespace {

struct Enough {};

class Check : public testing::TestWithParam<int> {
 protected:
  Check() { set_num_threads(GetParam()); }
  ~Check() override { set_num_threads(0); }
};
INSTANTIATE_TEST_SUITE_P(Threads, Check, testing::Values(1, 3));

constexpr index_t kEndless = 1'000'000'000'000'000;  // rows that would take days

TEST_P(Check, EndsALoopOverRowsBetweenTwoBlocks) {
  std::atomic<index_t> rows = 0;
  int calls = 0;
  const auto third_time = [&] {
    if (++calls == 3) throw Enough();
  };
  const ScopedCheck check(third_time);
  EXPECT_THROW(parallel_rows(kEndless, GetParam(),
                             [&](index_t begin, index_t end, int) noexcept {
                               for (index_t i = begin; i < end; ++i) rows.fetch_add(1);
                             }),
               Enough);
  EXPECT_EQ(calls, 3);
  EXPECT_GT(rows, 0);
}

TEST_P(Check, EndsARepeatedLoopOverFewRows) {
  const auto at_once = [] { throw Enough(); };
  const ScopedCheck check(at_once);
  EXPECT_THROW(for (;;) parallel_rows(3, GetParam(), [](index_t, index_t, int) noexcept {}), Enough);
}

TEST_P(Check, EveryRowIsVisitedOnce) {
  const auto nothing = [] {};
  const ScopedCheck check(nothing);
  for (const index_t rows : {0, 1, 2, 7, 1000, 100'000}) {
    std::vector<int> visits(static_cast<std::size_t>(rows));
    parallel_rows(rows, GetParam(), [&](index_t begin, index_t end, int worker) noexcept {
      EXPECT_TRUE(worker >= 0 && worker < GetParam());
      for (index_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
    });
    EXPECT_EQ(visits, std::vector<int>(visits.size(), 1));
  }
}

TEST_P(Check, IsNotCalledWithinABody) {
  std::atomic<int> within = 0;
  int calls = 0;
  const auto outside = [&] {
    EXPECT_EQ(within, 0);
    if (++calls == 2) throw Enough();
  };
  const ScopedCheck check(outside);
  const auto inner = [&] {
    parallel_rows(1000, 1, [](index_t, index_t, int) noexcept {});
    checkpoint();
  };
  EXPECT_THROW(parallel_rows(kEndless, GetParam(),
                             [&](index_t begin, index_t end, int) noexcept {
                               ++within;
                               for (index_t i = begin; i < end; ++i) inner();
                               --within;
                             }),
               Enough);
}

TEST(Checkpoint, CallsTheInnermostCheckAndThenTheOuterOneAgain) {
  checkpoint();
  const auto outer = [] { throw Enough(); };
  const ScopedCheck check(outer);
  {
    bool called = false;
    const auto inner = [&] { called = true; };
    const ScopedCheck nested(inner);
    while (!called) checkpoint();
  }
  EXPECT_THROW(for (;;) checkpoint(), Enough);
}

TEST(Checkpoint, IsOfOneThread) {
  const auto other = [] { throw Enough(); };
  const ScopedCheck check(other);
  bool called = false;
  std::thread([&] {
    const auto own = [&] { called = true; };
    const ScopedCheck mine(own);
    while (!called) checkpoint();
  }).join();
  EXPECT_TRUE(called);
}

}  // namespace
}  // namespace fenchel
