#include "laws/crowd.hpp"

/// A crowd at the threshold that is a small part of its row, and so among the few candidates.
namespace fenchel::testing {
namespace {

TEST(SmallCrowd, IsExactInFloat) {
  for (const Crowd& c :
       {Crowd{1.9, 19952, 9.9e-6, 2.9e-6, 0.154, 0.24}, Crowd{1.99, 19952, 7.8e-7, 3.0e-6, 1.405, 0.2176},
        Crowd{1.999, 19952, 6.2e-8, 2.3e-6, 1.482, 0.24}}) {
    expect_exact_crowd<float>(c);
  }
}

/// The same fault on ten scores, 2^-26 below alpha = 2.
TEST(SmallCrowd, AFewScoresAreExactInFloat) {
  const double alpha = 2 - 0x1p-26;
  const std::vector<float> z{0,
                             -0.99999905F,
                             -0.99999905F,
                             -0.99999958F,
                             -0.99999976F,
                             -0.99999976F,
                             -0.99999982F,
                             -0.99999982F,
                             -0.99999988F,
                             -0.99999994F};
  const auto p = entmax_row(alpha, z);
  const auto exact = certified_entmax(alpha, z, p);
  ASSERT_TRUE(exact.proved);
  for (std::size_t i = 0; i < z.size(); ++i) {
    EXPECT_NEAR(p[i], static_cast<double>(exact.p[i]),
                probability_bound<float>(alpha, exact.p[i], -1, exact.edge))
        << i;
  }
}

}  // namespace
}  // namespace fenchel::testing
