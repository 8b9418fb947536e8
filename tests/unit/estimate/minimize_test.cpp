#include "fenchel/estimate/regression/minimize.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "fenchel/core/index.hpp"
#include "fenchel/core/infinity.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using Eigen::VectorXd;
using fenchel::testing::message_of;

double rosenbrock(const VectorXd& x, VectorXd& gradient) {
  const double a = 1 - x[0], b = x[1] - x[0] * x[0];
  gradient << -2 * a - 400 * x[0] * b, 200 * b;
  return a * a + 100 * b * b;
}

/// sum_i cosh(c_i (x_i - i)) and its derivatives: convex, with curvatures from 1 to 1e4.
SecondOrder stretched(const VectorXd& x) {
  SecondOrder f{0, VectorXd(x.size()), Eigen::MatrixXd::Zero(x.size(), x.size())};
  for (index_t i = 0; i < x.size(); ++i) {
    const auto centre = static_cast<double>(i);
    const double c = std::pow(10.0, 2 * centre / static_cast<double>(x.size() - 1)), u = c * (x[i] - centre);
    f.value += std::cosh(u);
    f.gradient[i] = c * std::sinh(u);
    f.hessian(i, i) = c * c * std::cosh(u);
  }
  return f;
}

TEST(Minimize, RosenbrockToTheLastDigits) {
  const Minimum found = minimize(rosenbrock, VectorXd{{-1.2, 1}}, {.tolerance = 1e-12});
  EXPECT_EQ(found.status, MinimizeStatus::converged);
  EXPECT_NEAR(found.x[0], 1, 1e-12);
  EXPECT_NEAR(found.x[1], 1, 1e-12);
  EXPECT_LE(found.residual, 1e-12);
  EXPECT_EQ(found.residual, found.gradient.cwiseAbs().maxCoeff());
  EXPECT_LT(found.iterations, 60);
  EXPECT_GE(found.evaluations, found.iterations);
}

TEST(Minimize, RoundingDoesNotStopIt) {
  std::minstd_rand noise;
  const auto f = [&noise](const VectorXd& x,
                          VectorXd& gradient) {  // curvatures from 1 to 1e4, 3 ulp of noise
    constexpr double kUlp = std::numeric_limits<double>::epsilon();
    double value = 1e8 * (1 + 3 * kUlp * static_cast<double>(noise()) / static_cast<double>(noise.max()));
    for (index_t i = 0; i < x.size(); ++i) {
      const auto centre = static_cast<double>(i);
      const double c = std::pow(10.0, 2 * centre / static_cast<double>(x.size() - 1));
      const double u = std::abs(c * (x[i] - centre)), sign = x[i] < centre ? -1 : 1;
      value += u + std::log1p(std::exp(-2 * u)) + u * u / 2;
      gradient[i] = c * sign * (std::tanh(u) + u);
    }
    return value;
  };
  const Minimum found = minimize(f, VectorXd::Constant(10, 1.5));
  EXPECT_EQ(found.status, MinimizeStatus::converged);
  EXPECT_LE((found.x - VectorXd::LinSpaced(10, 0, 9)).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(Minimize, InfinityAndNaNAreWalls) {
  for (const double wall : {kInfinity, std::numeric_limits<double>::quiet_NaN()}) {
    const auto f = [wall](const VectorXd& x, VectorXd& gradient) {  // x - log x, with its minimum at 1
      gradient[0] = 1 - 1 / x[0];
      return x[0] > 0 ? x[0] - std::log(x[0]) : wall;
    };
    for (const double start : {1e-3, 0.5, 30.0}) {
      const Minimum found = minimize(f, VectorXd::Constant(1, start));
      EXPECT_EQ(found.status, MinimizeStatus::converged) << start;
      EXPECT_NEAR(found.x[0], 1, 1e-8) << start;
    }
  }
}

TEST(Minimize, SaysWhyItStopped) {
  const VectorXd start{{-1.2, 1}};
  EXPECT_EQ(minimize(rosenbrock, start, {.max_iterations = 3}).status, MinimizeStatus::iteration_limit);
  EXPECT_EQ(minimize(rosenbrock, start, {.max_iterations = 3}).iterations, 3);
  EXPECT_EQ(minimize(rosenbrock, VectorXd::Ones(2)).status, MinimizeStatus::converged);
  EXPECT_EQ(minimize(rosenbrock, VectorXd::Ones(2)).evaluations, 1);

  std::vector<MinimizeStep> steps;
  const Minimum cancelled = minimize(rosenbrock, start, {.callback = [&](const MinimizeStep& step) {
                                       steps.push_back(step);
                                       return step.iteration < 5;
                                     }});
  EXPECT_EQ(cancelled.status, MinimizeStatus::cancelled);
  ASSERT_EQ(steps.size(), 6U);
  EXPECT_EQ(steps.back().value, cancelled.value);
  for (std::size_t k = 1; k < steps.size(); ++k) EXPECT_LT(steps[k].value, steps[k - 1].value);

  const auto nowhere = [](const VectorXd&, VectorXd& gradient) {
    gradient.setZero();
    return std::numeric_limits<double>::quiet_NaN();
  };
  EXPECT_EQ(minimize(nowhere, start).status, MinimizeStatus::not_finite);
  const auto wrong_gradient = [](const VectorXd& x, VectorXd& gradient) {
    gradient = -x;
    return x.squaredNorm();
  };
  const Minimum stalled = minimize(wrong_gradient, start);
  EXPECT_EQ(stalled.status, MinimizeStatus::stalled);
  EXPECT_EQ(stalled.x, start);
  EXPECT_EQ(to_string(stalled.status), "stalled");
}

TEST(Minimize, DoesNotDependOnTheUnitOfTheValue) {
  MinimizeOptions options;
  options.tolerance = 0;
  for (const double unit : {1e-300, 1e-200, 1e-20, 1., 1e25, 1e200, 1e300}) {
    const auto bowl = [unit](const Eigen::VectorXd& x, Eigen::VectorXd& gradient) {
      const Eigen::ArrayXd off = x.array() - 0.3;
      gradient = unit * off.sinh();
      return unit * off.cosh().sum();
    };
    const Minimum found = minimize(bowl, Eigen::Vector2d(1, -1), options);
    EXPECT_NEAR((found.x.array() - 0.3).abs().maxCoeff(), 0, 1e-7) << unit;
    const auto kink = [unit](const Eigen::VectorXd& x, Eigen::VectorXd& gradient) {
      gradient[0] = x[0] > 0.3 ? unit : -unit;
      return unit * std::abs(x[0] - 0.3);
    };
    const Minimum best = minimize(kink, Eigen::VectorXd::Ones(1), options);
    EXPECT_EQ(best.status, MinimizeStatus::stalled) << unit;
    EXPECT_LE(best.value, 0.7 * unit) << unit;
  }
}

TEST(Minimize, WhatTheFunctionThrowsIsPassedOn) {
  const auto throws = [](const VectorXd& x, VectorXd& gradient) -> double {
    if (x[0] > 0) throw std::runtime_error("the file is gone");
    gradient.setConstant(-1);
    return -x[0];
  };
  EXPECT_EQ(message_of<std::runtime_error>(
                [&] { static_cast<void>(minimize(throws, VectorXd::Constant(1, -0.5))); }),
            "the file is gone");
  EXPECT_EQ(message_of<std::domain_error>(
                [&] { static_cast<void>(minimize(rosenbrock, VectorXd::Ones(2), {.tolerance = -1})); }),
            "fenchel::minimize: tolerance must be finite and not negative, got -1");
}

TEST(MinimizeConvex, AgreesWithTheQuasiNewtonMethod) {
  const VectorXd start = VectorXd::Constant(4, 1.5);
  const Minimum newton = minimize_convex(stretched, start, {.tolerance = 1e-11});
  EXPECT_EQ(newton.status, MinimizeStatus::converged);
  EXPECT_LT(newton.iterations, 200);
  const auto first_order = [](const VectorXd& x, VectorXd& gradient) {
    const SecondOrder f = stretched(x);
    gradient = f.gradient;
    return f.value;
  };
  const Minimum quasi = minimize(first_order, newton.x.array() + 0.01);
  EXPECT_EQ(quasi.status, MinimizeStatus::converged);
  for (index_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(newton.x[i], static_cast<double>(i), 1e-12);
    EXPECT_NEAR(quasi.x[i], static_cast<double>(i), 1e-8);
  }
}

TEST(MinimizeConvex, AFlatDirectionDoesNotStopIt) {
  const auto f = [](const VectorXd& x) {  // log cosh of the sum: no curvature along (1, -1), little far away
    const double u = x[0] + x[1] - 3, t = std::tanh(u);
    return SecondOrder{std::abs(u) + std::log1p(std::exp(-2 * std::abs(u))) - std::log(2),
                       VectorXd::Constant(2, t), Eigen::MatrixXd::Constant(2, 2, (1 - t) * (1 + t))};
  };
  for (const double start : {0.0, 2.0, -9.0}) {
    const Minimum found = minimize_convex(f, VectorXd{{start, 1}});
    EXPECT_EQ(found.status, MinimizeStatus::converged) << start;
    EXPECT_NEAR(found.x.sum(), 3, 1e-8) << start;
  }
}

}  // namespace
}  // namespace fenchel
