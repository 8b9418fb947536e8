#include "plot/contour.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace fenchel::plot {
namespace {

constexpr Range kUnit{-1, 1};

bool closed(const Path& line) {
  return line.size() > 3 && line.front().x == line.back().x && line.front().y == line.back().y;
}

double length(const Path& line) {
  double sum = 0;
  for (std::size_t i = 1; i < line.size(); ++i) {
    sum += std::hypot(line[i].x - line[i - 1].x, line[i].y - line[i - 1].y);
  }
  return sum;
}

double signed_area(const Path& line) {
  double sum = 0;
  for (std::size_t i = 1; i < line.size(); ++i) {
    sum += (line[i - 1].x * line[i].y - line[i].x * line[i - 1].y) / 2;
  }
  return sum;
}

double cone(double x, double y) { return 1 - std::hypot(x, y); }

TEST(Contour, OfACircleIsOneClosedLineOnIt) {
  constexpr int kCells = 40;
  constexpr double kCell = 2. / kCells, kRadius = .7;
  const std::vector<Path> lines = contour_lines(cone, kUnit, kUnit, {1 - kRadius}, kCells);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(closed(lines[0]));
  for (const Point& p : lines[0]) {
    EXPECT_NEAR(std::hypot(p.x, p.y), kRadius, 2 * kContourAccuracy * kCell);
  }
  for (std::size_t i = 1; i < lines[0].size(); ++i) {
    const Point a = lines[0][i - 1], b = lines[0][i];
    EXPECT_NEAR(std::hypot((a.x + b.x) / 2, (a.y + b.y) / 2), kRadius, kCell * kCell);
  }
  EXPECT_NEAR(length(lines[0]), 2 * std::numbers::pi * kRadius, .01);
  EXPECT_GT(signed_area(lines[0]), 0);  // larger values on the left
}

TEST(Contour, ThatLeavesTheGridEndsAtItsSides) {
  const std::vector<Path> lines = contour_lines(cone, kUnit, kUnit, {-.2}, 30);
  ASSERT_EQ(lines.size(), 4u);
  for (const Path& line : lines) {
    EXPECT_FALSE(closed(line));
    for (const Point& end : {line.front(), line.back()}) {
      EXPECT_EQ(std::max(std::abs(end.x), std::abs(end.y)), 1);
    }
  }
}

TEST(Contour, AtALevelThatNodesTakeIsWhole) {
  const auto pyramid = [](double x, double y) { return 4 - std::abs(x) - std::abs(y); };
  const std::vector<Path> lines = contour_lines(pyramid, {-4, 4}, {-4, 4}, {2, 4}, 8);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(closed(lines[0]));
  EXPECT_NEAR(std::abs(signed_area(lines[0])), 8, 1e-2);
  EXPECT_TRUE(closed(lines[1]));  // the top alone
  EXPECT_NEAR(signed_area(lines[1]), 0, 1e-3);
}

TEST(Contour, LinesPastASaddleStayInTheirQuadrant) {
  for (const double level : {-.005, .005}) {
    const std::vector<Path> lines =
        contour_lines([](double x, double y) { return x * y; }, {-1, 1.1}, {-1, 1.1}, {level}, 7);
    ASSERT_EQ(lines.size(), 2u);
    for (const Path& line : lines) {
      EXPECT_GT(length(line), 1.5);
      for (const Point& p : line) {
        EXPECT_GT(p.x * line.front().x, 0);
        EXPECT_GT(p.y * line.front().y, 0);
      }
    }
  }
}

TEST(Contour, OfAJumpIsFoundInsideItsCell) {
  const auto step = [](double x, double) { return x < .123 ? 0. : 1.; };
  const std::vector<Path> lines = contour_lines(step, kUnit, kUnit, {.5}, 10);
  ASSERT_EQ(lines.size(), 1u);
  for (const Point& p : lines[0]) {
    EXPECT_NEAR(p.x, .123, .2 * kContourAccuracy);
  }
}

TEST(Contour, OfAConstantAndOfNothingIsEmpty) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(contour_lines([](double, double) { return 0.; }, kUnit, kUnit, {0, 1}).empty());
  EXPECT_TRUE(contour_lines([=](double, double) { return nan; }, kUnit, kUnit, {0}).empty());
  EXPECT_TRUE(contour_lines(cone, kUnit, kUnit, {}).empty());
}

TEST(Contour, StopsWhereAValueIsMissing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto half = [=](double x, double y) { return x < .05 ? nan : cone(x, y); };
  const std::vector<Path> lines = contour_lines(half, kUnit, kUnit, {.5}, 20);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_FALSE(closed(lines[0]));
  EXPECT_NEAR(length(lines[0]), std::acos(.1 / .5), .01);
}

}  // namespace
}  // namespace fenchel::plot
