#include "fenchel/distribution/sparse_poisson.hpp"

#include <gtest/gtest.h>

namespace fenchel {
namespace {

TEST(SparsePoisson, Row62OfTheGoldenValues) {
  const SparsePoisson p(2, 3);
  EXPECT_NEAR(threshold(p), 1.0807906016362877, 1.1e-13);
  const double expected[] = {0.017821687031821945, 0.42328679513998633, 0.42328679513998633,
                             0.1356047226882054};
  for (index_t t = 1; t <= 4; ++t) EXPECT_NEAR(pmf(p, t), expected[t - 1], 1e-13 * expected[t - 1]) << t;
  EXPECT_NEAR(mean(p), 2.6766745534845752, 2.6e-13);
  EXPECT_EQ(support(p), (IntegerRange{1, 4}));
}

}  // namespace
}  // namespace fenchel
