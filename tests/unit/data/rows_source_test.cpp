#include "fenchel/data/rows_source.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fenchel/data/part_source.hpp"
#include "support/messages.hpp"
#include "support/read_all.hpp"

namespace fenchel {
namespace {

using testing::message_of;
using testing::read_all;

const std::vector<double> kTable{1, 2, 3, 4, 5, 6};

TEST(RowsSource, IsReadWhereItLies) {
  const std::vector<double> weights{0.5, 2, 1};
  const RowsSource source({kTable.data(), 3, 2}, weights, {"x", "y"});
  Batch batch;
  source.read(0, batch);
  EXPECT_EQ(batch.rows.row(0), kTable.data());
  EXPECT_EQ(batch.weights.data(), weights.data());
  EXPECT_EQ(source.place(0, 2, 1), "row 2, column y");
  EXPECT_EQ(source.place(0, 2, kWeightColumn), "row 2");
  EXPECT_EQ(RowsSource({kTable.data(), 3, 2}).names()[1], "1");
}

TEST(RowsSource, NeedsAWeightForEachRowAndANameForEachColumn) {
  const auto message = [](const std::vector<double>& weights, const std::vector<std::string>& names) {
    return message_of<std::invalid_argument>([&] { RowsSource({kTable.data(), 3, 2}, weights, names); });
  };
  EXPECT_EQ(message({1, 2}, {}), "fenchel::rows_source: weights must have one entry for each row, got 2");
  EXPECT_EQ(message({}, {"x"}), "fenchel::rows_source: names must have one entry for each column, got 1");
}

TEST(PartSource, PartsAreConsecutiveAndAllOfTheSource) {
  const std::vector<double> values(10 * RowsSource::kRowsPerBatch - 7, 3.0);
  const RowsSource whole({values.data(), static_cast<index_t>(values.size()), 1});
  for (const index_t parts : {1, 3, 10, 16}) {
    std::size_t rows = 0;
    index_t batches = 0;
    for (index_t part = 0; part < parts; ++part) {
      const PartSource mine(whole, part, parts);
      if (mine.batches() > 0) {
        EXPECT_EQ(mine.place(0, 1, 0), whole.place(batches, 1, 0)) << parts;
      }
      rows += read_all(mine).rows.size();
      batches += mine.batches();
    }
    EXPECT_EQ(rows, values.size()) << parts;
    EXPECT_EQ(batches, whole.batches()) << parts;
  }
}

TEST(PartSource, NeedsAPartThatThereIs) {
  const RowsSource whole({kTable.data(), 3, 2});
  const auto message = [&](index_t part, index_t parts) {
    return message_of<std::domain_error>([&] { PartSource(whole, part, parts); });
  };
  EXPECT_EQ(message(2, 2), "fenchel::part_source: part must be in [0, 2), got 2");
  EXPECT_EQ(message(-1, 2), "fenchel::part_source: part must be in [0, 2), got -1");
  EXPECT_EQ(message(0, 0), "fenchel::part_source: part must be in [0, 0), got 0");
}

}  // namespace
}  // namespace fenchel
