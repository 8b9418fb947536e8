#include "core/for_each_row.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "fenchel/core/checkpoint.hpp"

namespace fenchel {
namespace {

TEST(ForEachRow, ThrowsWhatTheFirstRowThrowsWhateverTheThreadsAndBlocks) {
  const auto nothing = [] {};
  for (const int threads : {1, 2, 5}) {
    set_num_threads(threads);
    const ScopedCheck check(nothing);
    for (const index_t first : {0, 1, 40, 99}) {
      try {
        detail::for_each_row(100, 1'000'000, [&](index_t i) {
          if (i >= first) throw std::domain_error(std::to_string(i));
        });
        ADD_FAILURE();
      } catch (const std::domain_error& error) {
        EXPECT_EQ(error.what(), std::to_string(first));
      }
    }
  }
  set_num_threads(0);
}

TEST(ForEachRow, WorksOnEveryRowOnce) {
  std::vector<int> visits(1000);
  detail::for_each_row(1000, 1'000'000, [&](index_t i) { ++visits[static_cast<std::size_t>(i)]; });
  EXPECT_EQ(visits, std::vector<int>(1000, 1));
  detail::for_each_row(0, 1, [](index_t) { throw std::domain_error(""); });
}

}  // namespace
}  // namespace fenchel
