#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace fenchel {
namespace {

TEST(Error, NamesPlaceParameterConstraintAndValue) {
  EXPECT_EQ(error_message("entmax", "alpha", "must be positive", -0.5),
            "fenchel::entmax: alpha must be positive, got -0.5");
  EXPECT_EQ(error_message("entmax", indexed("alpha", 17), "must be positive", 0.0),
            "fenchel::entmax: alpha[17] must be positive, got 0");
  EXPECT_EQ(error_message("entmax", "cols", "must be at least 1", index_t{0}),
            "fenchel::entmax: cols must be at least 1, got 0");
}

TEST(Error, PrintsTheShortestNumberThatReadsBack) {
  EXPECT_EQ(error_message("f", "x", "must be finite", 0.1), "fenchel::f: x must be finite, got 0.1");
  EXPECT_EQ(error_message("f", "x", "must be finite", std::numeric_limits<double>::quiet_NaN()),
            "fenchel::f: x must be finite, got nan");
  EXPECT_EQ(error_message("f", "x", "must be finite", -std::numeric_limits<double>::quiet_NaN()),
            "fenchel::f: x must be finite, got nan");
  EXPECT_EQ(error_message("f", "x", "must be finite", -kInfinity), "fenchel::f: x must be finite, got -inf");
}

TEST(Error, ThrowsTheStandardTypes) {
  EXPECT_THROW(throw_domain_error("f", "x", "must be positive", -1), std::domain_error);
  EXPECT_THROW(throw_invalid_argument("f", "rows", "must match", index_t{3}), std::invalid_argument);
}

}  // namespace
}  // namespace fenchel
