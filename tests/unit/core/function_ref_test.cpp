#include "fenchel/core/function_ref.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace fenchel {
namespace {

double twice(double x) { return 2 * x; }
double call(FunctionRef<double(double)> f) { return f(21); }

TEST(FunctionRef, CallsWhatIsCallable) {
  double offset = 1;
  EXPECT_EQ(call([&](double x) { return x + offset; }), 22);
  EXPECT_EQ(call(std::function<double(double)>(twice)), 42);
  EXPECT_EQ(call(twice), 42);
  EXPECT_EQ(call(&twice), 42);
  EXPECT_EQ(call(static_cast<double (*)(double)>(std::sqrt)), std::sqrt(21.0));
}

}  // namespace
}  // namespace fenchel
