#include "plot/chart.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "fenchel/core/infinity.hpp"
#include "plot/svg.hpp"

namespace fenchel::plot {
namespace {

constexpr double kInf = kInfinity;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// The values of an attribute, in order.
std::vector<std::string> attributes(const std::string& xml, const std::string& name) {
  std::vector<std::string> out;
  const std::string key = " " + name + "=\"";
  for (std::size_t at = xml.find(key); at != std::string::npos; at = xml.find(key, at + 1)) {
    const std::size_t from = at + key.size();
    out.push_back(xml.substr(from, xml.find('"', from) - from));
  }
  return out;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t out = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++out;
  }
  return out;
}

/// The points of a path, the starts of its parts among them.
std::vector<Path> points(const std::string& data) {
  std::vector<Path> out;
  Point at{0, 0};
  char command = 'M';
  for (const char* c = data.c_str(); *c != '\0';) {
    if (std::isalpha(static_cast<unsigned char>(*c)) != 0) {
      command = *c++;
      if (command == 'M') {
        out.emplace_back();
      }
      continue;
    }
    char* end = nullptr;
    const auto next = [&] {
      const double v = std::strtod(c, &end);
      EXPECT_NE(c, end) << data;
      c = end;
      while (*c == ' ') ++c;
      return v;
    };
    const bool relative = std::islower(static_cast<unsigned char>(command)) != 0;
    const Point from = relative ? at : Point{0, 0};
    if (command != 'V' && command != 'v') {
      at.x = from.x + next();
    }
    if (command != 'H' && command != 'h') {
      at.y = from.y + next();
    }
    out.back().push_back(at);
  }
  return out;
}

/// What the strokes of this colour draw, in pixels.
std::vector<Path> strokes(const std::string& xml, int colour) {
  std::vector<Path> out;
  const std::string key = "<path class=\"s" + std::to_string(colour) + "\"";
  for (std::size_t at = xml.find(key); at != std::string::npos; at = xml.find(key, at + 1)) {
    for (const Path& path : points(attributes(xml.substr(at, xml.find("/>", at) - at), "d").at(0))) {
      out.push_back(path);
    }
  }
  return out;
}

/// Every tag closed in order, and no markup in text.
void expect_well_formed(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t at = xml.find('<'); at != std::string::npos; at = xml.find('<', at + 1)) {
    const std::size_t end = xml.find('>', at);
    ASSERT_NE(end, std::string::npos);
    const std::string tag = xml.substr(at + 1, end - at - 1);
    ASSERT_EQ(tag.find('<'), std::string::npos) << tag;
    ASSERT_EQ(count(tag, "\"") % 2, 0u) << tag;
    if (tag[0] == '/') {
      ASSERT_FALSE(open.empty());
      ASSERT_EQ(tag.substr(1), open.back());
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
  }
  EXPECT_TRUE(open.empty());
  for (std::size_t at = xml.find('&'); at != std::string::npos; at = xml.find('&', at + 1)) {
    const std::string entity = xml.substr(at, xml.find(';', at) + 1 - at);
    EXPECT_TRUE(entity == "&amp;" || entity == "&lt;" || entity == "&gt;" || entity == "&quot;") << entity;
  }
  for (const char c : xml) {
    EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n');
  }
}

/// Titles and labels have room from side to side.
void expect_uncut(const std::string& xml, double width) {
  for (std::size_t at = xml.find("<text "); at != std::string::npos; at = xml.find("<text ", at + 1)) {
    const std::size_t end = xml.find('>', at);
    const std::string tag = xml.substr(at, end - at),
                      content = xml.substr(end + 1, xml.find('<', end) - end - 1);
    if (tag.find("halo") != std::string::npos || content.find('&') != std::string::npos) {
      continue;
    }
    const double x = std::stod(attributes(tag, "x").at(0));
    const double length = text_width(content, tag.find("title") != std::string::npos ? 15 : 13);
    const bool middle = tag.find("middle") != std::string::npos,
               right = tag.find("\"end\"") != std::string::npos;
    const double left = x - (right ? length : middle ? length / 2 : 0);
    EXPECT_GE(left, 0) << content;
    EXPECT_LE(left + length, width) << content;
  }
}

/// Well-formed, and all of it inside the viewBox.
void expect_sound(const Chart& chart) {
  const std::string xml = chart.element();
  expect_well_formed(xml);
  EXPECT_EQ(xml, chart.element());
  EXPECT_EQ(xml.find("nan"), std::string::npos);
  EXPECT_EQ(xml.find("inf"), std::string::npos);
  EXPECT_EQ(attributes(xml, "viewBox").at(0), "0 0 " + number(chart.width()) + " " + number(chart.height()));
  const double width = chart.width(), height = chart.height();
  const auto inside = [&](double x, double y) {
    EXPECT_TRUE(x >= 0 && x <= width) << x;
    EXPECT_TRUE(y >= 0 && y <= height) << y;
  };
  expect_uncut(xml, width);
  for (const std::string& data : attributes(xml, "d")) {
    for (const Path& path : points(data)) {
      for (const Point& p : path) {
        inside(p.x, p.y);
      }
    }
  }
  for (const char* name : {"x", "cx"}) {
    for (const std::string& x : attributes(xml, name)) {
      inside(std::stod(x), 0);
    }
  }
  for (const char* name : {"y", "cy"}) {
    for (const std::string& y : attributes(xml, name)) {
      inside(0, std::stod(y));
    }
  }
}

/// One of every mark.
Chart everything() {
  Chart chart("Every mark", {"x", Range{-1, 1}}, {"y", Range{-1, 1}});
  const auto cone = [](double x, double y) { return std::max(0., 1 - std::hypot(x, y)); };
  chart.shade("support", {-kInf, .5});
  chart.heat(cone);
  chart.line("line", {{-2, -2}, {2, 2}}, {.colour = 2});
  chart.line("line", {{-2, 2}, {2, -2}}, {.colour = 2});
  chart.curve("curve", [](double x) { return 1 / x; }, {.dashed = true});
  chart.area("area", [](double x) { return 2 * x * x; });
  chart.polygon("polygon", {{-3, 0}, {0, .5}, {3, 0}, {0, -.5}});
  chart.band("band", {-2, 0, 2}, {-2, 0, 0}, {0, 1, 3});
  chart.stems("stems", {{-.5, .5}, {0, 0}, {.5, -.5}, {.7, 9}}, .1);
  chart.bars("bars", {{-1, 3}, {0, -.5}, {5, 1}}, .5);
  chart.markers("dots", {{0, 0}, {.5, .5}, {9, 9}});
  chart.markers("rings", {{0, 0}}, Marker::ring);
  chart.markers("crosses", {{.2, .2}}, Marker::cross, {.width = 7});
  chart.contours("contours", cone, {.2, .5});
  chart.vertical("vertical", .3);
  chart.horizontal("horizontal", -.3, {.colour = kInk, .width = 1});
  chart.text({0, 0}, "text");
  return chart;
}

TEST(Chart, DrawsEverythingInsideItself) {
  expect_sound(everything());
  Chart plane = everything();
  plane.equal_units();
  plane.size(700, 330);
  expect_sound(plane);
  Chart least = everything();
  least.size(1, kNan);
  expect_sound(least);
}

TEST(Chart, IsAnImageWithATitleAndNoIds) {
  const std::string xml = everything().element();
  EXPECT_EQ(xml.find("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" role=\"img\""), 0u);
  EXPECT_EQ(count(xml, "<title>Every mark</title>"), 1u);
  EXPECT_EQ(count(xml, " id="), 0u);
  EXPECT_EQ(count(xml, "#"), 0u);  // colours stand in the style sheet alone
}

TEST(Chart, LegendNamesEveryMarkOnce) {
  const std::string xml = everything().element();
  for (const char* name : {"support", "line", "curve", "area", "polygon", "band", "stems", "bars", "dots",
                           "rings", "crosses", "contours", "vertical", "horizontal", "text"}) {
    EXPECT_EQ(count(xml, std::string(">") + name + "</text>"), 1u) << name;
  }
}

TEST(Chart, LegendAndTitleMakeItHigherAndNotItsFrameLower) {
  const auto frame_height = [](const Chart& chart) {
    const std::string xml = chart.element();
    const std::size_t at = xml.find("class=\"axis\"");
    const Path axis = points(attributes(xml.substr(at), "d").at(0)).at(0);
    return axis.at(1).y - axis.at(0).y;
  };
  const Chart empty("Title", {"x"}, {"y"});
  EXPECT_EQ(empty.width(), 440);
  EXPECT_NEAR(empty.height(), 330, 5);
  Chart named("A title that goes on for so long that no single line of a chart of this width could hold it",
              {"x"}, {"y"});
  for (int i = 0; i < 12; ++i) {
    named.line("a name of some length " + std::to_string(i), {{0, 0}, {1, 1}});
  }
  EXPECT_GT(named.height(), empty.height() + 6 * 17);
  EXPECT_NEAR(frame_height(named), frame_height(empty), .02);
  expect_sound(named);
}

TEST(Chart, SurvivesAnyNumber) {
  for (const double v : {0., 1e-300, 1e300, -1e300, 1.7e308, kInf, -kInf, kNan, 5e-324}) {
    SCOPED_TRACE(v);
    Chart chart("Hostile", {"x"}, {"y"});
    chart.line("", {{0, v}, {v, 1}, {v, v}});
    chart.markers("", {{v, v}, {1, 1}});
    chart.stems("", {{v, v}}, v);
    chart.bars("", {{v, v}}, v);
    chart.band("", {0, v}, {v, 0}, {1, v});
    chart.shade("", {v, 1});
    chart.vertical("", v);
    chart.horizontal("", v);
    chart.text({v, v}, "here");
    expect_sound(chart);
    Chart given("Hostile", {"x", Range{0, v}}, {"y", Range{v, 0}});
    given.curve("", [&](double x) { return x * v; });
    given.area("", [&](double x) { return v - x; });
    given.contours("", [&](double x, double y) { return x + y; }, {v, 0});
    given.heat([&](double x, double) { return x * v; }, {}, 5);
    given.equal_units();
    expect_sound(given);
  }
}

TEST(Chart, LabelsAreNotCut) {
  for (const double x : {2e5, 999999., 1e12, 3e-7}) {
    for (const double y : {1., 1e-9, 123456.}) {
      Chart chart(
          "A word of great length: " + std::string(90, 'm'), {"long " + std::string(90, 'x'), Range{-x, x}},
          {"of many words that go on and on until there is no more room for another one", Range{-y, y}});
      chart.line(std::string(90, 'n'), {{-x, -y}, {x, y}});
      expect_sound(chart);
      chart.equal_units();
      expect_sound(chart);
      chart.size(240, 160);
      expect_sound(chart);
    }
  }
}

TEST(Chart, NamesStandInPlaceOfNumbersAndMakeItHigher) {
  Chart two("Rows", {"x"}, {"", {}, {"first", "second"}});
  two.line("", {{-1, 1}, {1, 1}});
  two.markers("", {{0, 2}});
  expect_sound(two);
  const std::string xml = two.element();
  EXPECT_EQ(count(xml, ">first</text>"), 1u);
  EXPECT_EQ(count(xml, ">second</text>"), 1u);
  EXPECT_EQ(count(xml, ">2</text>"), 0u);
  const Path axis = points(attributes(xml.substr(xml.find("class=\"axis\"")), "d").at(0)).at(0);
  const double top = axis.at(0).y, bottom = axis.at(1).y;
  EXPECT_NEAR(strokes(xml, 0).at(0).at(0).y, bottom - (bottom - top) / 4, .02);  // the first, from below

  Chart many("Rows", {"x"},
             {"", {}, std::vector<std::string>(20, std::string(12, 'm') + " " + std::string(12, 'm'))});
  expect_sound(many);
  EXPECT_EQ(count(many.element(), ">mmmmmmmmmmmm</text>"), 40u);
  EXPECT_GT(many.height(), 40 * 17);
}

TEST(Chart, WithoutMarksOrWithOnePointHasAxes) {
  const Chart empty("Nothing", {"x"}, {"y"});
  expect_sound(empty);
  EXPECT_EQ(count(empty.element(), ">0.2</text>"), 2u);
  Chart one("One", {""}, {""});
  one.markers("", {{30, 4}});
  expect_sound(one);
  EXPECT_EQ(count(one.element(), ">4</text>"), 1u);
  ASSERT_EQ(strokes(one.element(), 0).size(), 1u);
  expect_sound(Chart("", {""}, {""}));
}

TEST(Chart, ANumberThatIsNoneBreaksALine) {
  Chart chart("Broken", {"x"}, {"y"});
  chart.line("", {{0, 0}, {1, 1}, {2, kNan}, {3, 3}, {4, 0}, {5, 5}});
  const std::vector<Path> parts = strokes(chart.element(), 0);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].size(), 2u);
  EXPECT_EQ(parts[1].size(), 3u);
}

TEST(Chart, LinesAreCutAtTheFrame) {
  Chart chart("Cut", {"x", Range{0, 1}}, {"y", Range{0, 1}});
  chart.line("", {{-1, .5}, {2, .5}});
  chart.line("", {{-1, 0}, {0, 3}});
  const std::string xml = chart.element();
  ASSERT_EQ(strokes(xml, 0).size(), 1u);
  const std::size_t at = xml.find("class=\"axis\"");
  const Path axis = points(attributes(xml.substr(at), "d").at(0)).at(0);
  EXPECT_EQ(strokes(xml, 0)[0].front().x, axis[1].x);
  EXPECT_EQ(strokes(xml, 0)[0].back().x, axis[2].x);
  EXPECT_TRUE(strokes(xml, 1).empty());
}

TEST(Chart, AJumpIsAVerticalEdgeAndAKinkIsSharp) {
  Chart chart("Edges", {"x", Range{0, 1}}, {"y"});
  chart.curve("", [](double x) { return x > .30001 && x < .71234 ? 1. : 0.; });
  chart.curve("", [](double x) { return std::max(0., .5 - std::abs(x - .43217)); });
  const Path uniform = strokes(chart.element(), 0).at(0);
  ASSERT_EQ(uniform.size(), 6u);
  EXPECT_NEAR(uniform[1].x, uniform[2].x, .0101);
  EXPECT_NEAR(uniform[3].x, uniform[4].x, .0101);
  EXPECT_EQ(uniform[2].y, uniform[3].y);
  EXPECT_LE(strokes(chart.element(), 1).at(0).size(), 5u);
}

TEST(Chart, SmoothCurvesTakeFewBytes) {
  Chart chart("Small", {"x", Range{-4, 4}}, {"y"});
  const std::size_t before = chart.element().size();
  chart.curve("", [](double x) { return std::exp(-x * x / 2); });
  EXPECT_LT(chart.element().size() - before, 2000u);
  EXPECT_GT(strokes(chart.element(), 0).at(0).size(), 30u);
}

TEST(Chart, StemsHaveARingExactlyWhereTheyAreZero) {
  Chart chart("Stems", {"k"}, {"p"});
  chart.stems("", {{0, .5}, {1, 0}, {2, 1e-300}, {3, -0.}});
  EXPECT_EQ(count(chart.element(), "<circle"), 2u);
}

TEST(Chart, HeatLeavesZerosOut) {
  Chart chart("Heat", {"x", Range{0, 4}}, {"y", Range{0, 1}});
  chart.heat([](double x, double) { return x < 1 ? 0 : x < 3 ? .5 : 1; }, {}, 4);
  const std::string xml = chart.element();
  EXPECT_EQ(count(xml, "class=\"f0\""), 2u);
  EXPECT_EQ(attributes(xml, "fill-opacity"), (std::vector<std::string>{"0.47", "0.9"}));
}

TEST(Chart, EqualUnitsAreEqual) {
  Chart chart("Plane", {"x", Range{0, 4}}, {"y", Range{0, 1}});
  chart.equal_units();
  chart.line("", {{0, 0}, {1, 1}});
  const Path line = strokes(chart.element(), 0).at(0);
  EXPECT_NEAR(line[1].x - line[0].x, line[0].y - line[1].y, .02);
  EXPECT_LT(chart.height(), Chart("Plane", {"x"}, {"y"}).height());  // no empty room below
}

TEST(Chart, ColoursFollowOneAnother) {
  Chart chart("Colours", {"x"}, {"y"});
  for (int i = 0; i < 8; ++i) {
    chart.line("", {{0, 0}, {1., i + 1.}}, i == 2 ? Style{.colour = kInk} : Style{});
  }
  EXPECT_EQ(strokes(chart.element(), 0).size(), 1u);
  EXPECT_EQ(strokes(chart.element(), 6).size(), 1u);
  EXPECT_EQ(strokes(chart.element(), kInk).size(), 1u);
}

TEST(Chart, SaysWhichRangeIsMissing) {
  Chart chart("No range", {"time"}, {"y"});
  try {
    chart.curve("", [](double x) { return x; });
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "fenchel::plot: curve needs the range of the axis \"time\"");
  }
  EXPECT_THROW(chart.band("", {1, 2}, {1}, {1, 2}), std::invalid_argument);
}

TEST(Chart, EscapesItsTexts) {
  Chart chart("<&\">\x02", {"<x>"}, {"&y;"});
  chart.line("</svg>", {{0, 0}, {1, 1}});
  chart.text({.5, .5}, "\xff<script>" + std::string(200, 'w'));
  expect_sound(chart);
  EXPECT_EQ(count(chart.element(), "</svg>"), 1u);
}

TEST(SvgFile, HoldsItsChartsInRowsWithAStyleSheet) {
  const Chart small("Small", {"x"}, {"y"});
  const std::string file = svg_file("All of <them>", {everything(), small, small}, 2);
  expect_well_formed(file);
  EXPECT_EQ(file, svg_file("All of <them>", {everything(), small, small}, 2));
  EXPECT_EQ(count(file, "<style>"), 1u);
  EXPECT_EQ(count(file, "class=\"chart\""), 3u);
  EXPECT_EQ(attributes(file, "width").at(0), "892");
  EXPECT_NE(file.find("translate(452 "), std::string::npos);
  expect_well_formed(svg_file("", {}, 0));
  EXPECT_NE(svg_file("", {small}).find("<title>Small</title>"), std::string::npos);
}

}  // namespace
}  // namespace fenchel::plot
