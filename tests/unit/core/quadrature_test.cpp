#include "fenchel/core/quadrature.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "support/grids.hpp"

namespace fenchel {
namespace {

using testing::kInf, testing::kNaN;

void expect_integral(FunctionRef<double(double)> f, double lower, double upper, double expected) {
  const Quadrature found = integrate(f, lower, upper, 1e-13);
  EXPECT_TRUE(found.converged) << found.error;
  EXPECT_NEAR(found.value, expected, 2e-13 * found.scale) << lower << " " << upper;
}

TEST(Quadrature, FindsKnownIntegrals) {
  expect_integral([](double t) { return std::cos(t); }, 0, 1, std::sin(1.0));
  expect_integral([](double t) { return std::exp(-t * t / 2); }, -kInf, kInf,
                  std::sqrt(2 * std::numbers::pi));
  expect_integral([](double t) { return 1 / (1 + t * t); }, -kInf, kInf, std::numbers::pi);
  expect_integral([](double t) { return std::exp(-t); }, 3, kInf, std::exp(-3.0));
  expect_integral([](double t) { return std::exp(t); }, -kInf, 2, std::exp(2.0));
}

TEST(Quadrature, ResolvesSingularEndsAndKinks) {
  expect_integral([](double t) { return 1 / std::sqrt(t); }, 0, 1, 2);
  expect_integral([](double t) { return std::pow(1 - t * t, 0.25); }, -1, 1, std::beta(0.5, 1.25));
  expect_integral([](double t) { return std::abs(t - 0.3); }, 0, 1, (0.09 + 0.49) / 2);
  expect_integral([](double t) { return t < 0.7 ? 1.0 : 0.0; }, 0, 1, 0.7);
}

TEST(Quadrature, IsNotDeceivedByARootInside) {
  for (const double edge :
       {0.3, 0.518, 0.7, 0.740740740740}) {  // int_0^edge (edge - t)^{1/4} = 4/5 edge^{5/4}
    const auto found =
        integrate([edge](double t) { return t < edge ? std::pow(edge - t, 0.25) : 0; }, 0, 1, 1e-10);
    EXPECT_TRUE(found.converged);
    EXPECT_NEAR(found.value, 0.8 * std::pow(edge, 1.25), 1e-9) << edge;
  }
}

TEST(Quadrature, TwoRulesAreNotDeceivedByAStep) {
  for (int i = 1; i < 2000; ++i) {
    const double edge = i / 2000.0;
    const auto found = integrate_twice([edge](double t) { return t < edge ? 1.0 : 0.0; }, 0, 1, 1e-10);
    EXPECT_TRUE(found.converged) << edge;
    EXPECT_NEAR(found.value, edge, 2e-10) << edge;
  }
}

TEST(Quadrature, SaysWhenItFails) {
  EXPECT_FALSE(integrate([](double t) { return 1 / t; }, 0, 1).converged);
  EXPECT_TRUE(std::isnan(integrate([](double) { return kNaN; }, 0, 1).value));
  EXPECT_EQ(integrate([](double) { return 1.0; }, 2, 2).value, 0);
}

}  // namespace
}  // namespace fenchel
