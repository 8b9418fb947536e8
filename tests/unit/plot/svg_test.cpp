#include "plot/svg.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "plot/theme.hpp"

namespace fenchel::plot {
namespace {

TEST(Text, IsEscaped) {
  EXPECT_EQ(escape("a<b>&\"c\""), "a&lt;b&gt;&amp;&quot;c&quot;");
  EXPECT_EQ(escape("\u03b1 \u2264 1"), "\u03b1 \u2264 1");
  EXPECT_EQ(escape("a\tb\nc"), "a b c");
  EXPECT_EQ(escape(std::string_view("\0\x01\x7f", 3)), "\ufffd\ufffd\ufffd");
  EXPECT_EQ(escape("caf\xe9"), "caf\ufffd");                                    // Latin-1
  EXPECT_EQ(escape("\xc0\x80\xed\xa0\x80"), "\ufffd\ufffd\ufffd\ufffd\ufffd");  // overlong, surrogate
  EXPECT_EQ(escape("\xef\xbf\xbf"), "\ufffd\ufffd\ufffd");                      // U+FFFF
}

TEST(Text, WrapsAtWordsAndCutsLongOnes) {
  EXPECT_EQ(wrap("one two three", 10, 45), (std::vector<std::string>{"one two", "three"}));
  EXPECT_TRUE(wrap("", 10, 45).empty());
  for (const std::string& line :
       wrap(std::string(40, 'w') + " \u03b1\u03b2\u03b3\u03b4\u03b5\u03b6\u03b7", 10, 45)) {
    EXPECT_LE(text_width(line, 10), 45);
    EXPECT_EQ(escape(line), line);
  }
}

TEST(Number, HasTwoDecimalsAtMost) {
  EXPECT_EQ(number(1), "1");
  EXPECT_EQ(number(-0.001), "0");
  EXPECT_EQ(number(100), "100");
  EXPECT_EQ(number(2.346), "2.35");
  EXPECT_EQ(number(-.5), "-0.5");
}

/// Of the colours of sRGB, by the Web Content Accessibility Guidelines 2.1.
double contrast(const std::string& a, const std::string& b) {
  const auto luminance = [](const std::string& colour) {
    double sum = 0;
    const double weights[] = {.2126, .7152, .0722};
    for (std::size_t i = 0; i < 3; ++i) {
      const double c = std::stoi(colour.substr(1 + 2 * i, 2), nullptr, 16) / 255.;
      sum += weights[i] * (c <= .04045 ? c / 12.92 : std::pow((c + .055) / 1.055, 2.4));
    }
    return sum;
  };
  const double x = luminance(a) + .05, y = luminance(b) + .05;
  return std::max(x, y) / std::min(x, y);
}

TEST(Theme, ColoursStandOutFromThePaper) {
  for (const Theme theme : {Theme::light, Theme::dark}) {
    const std::string css = style_sheet(theme);
    const auto colour = [&](const std::string& key) { return css.substr(css.find(key) + key.size(), 7); };
    const std::string paper = colour("svg .paper,svg .hollow{fill:");
    for (int i = 0; i <= 8; ++i) {
      EXPECT_GE(contrast(colour("svg .s" + std::to_string(i) + "{stroke:"), paper), 3) << i;
    }
    EXPECT_GE(contrast(colour("svg .text,svg .title{fill:"), paper), 7);
    EXPECT_EQ(css.find("@media"), std::string::npos);
    EXPECT_EQ(std::count(css.begin(), css.end(), '{'), std::count(css.begin(), css.end(), '}'));
  }
}

TEST(Theme, HasEveryClass) {
  for (const Theme theme : {Theme::light, Theme::dark}) {
    const std::string css = style_sheet(theme);
    for (const char* name :
         {"s8", "f8", "l8", "text", "title", "heading", "grid", "axis", "paper", "hollow", "halo", "shade"}) {
      EXPECT_NE(css.find(std::string("svg .") + name), std::string::npos) << name;
    }
  }
}

TEST(Theme, AutomaticIsLightThenDarkWhereAsked) {
  const std::string css = style_sheet(Theme::automatic), light = style_sheet(Theme::light);
  EXPECT_EQ(css.find(light), 0u);
  EXPECT_EQ(css.find("@media screen and (prefers-color-scheme:dark){"), light.size());
  EXPECT_EQ(std::count(css.begin(), css.end(), '{'), std::count(css.begin(), css.end(), '}'));
  EXPECT_EQ(css.find("var("), std::string::npos);
}

}  // namespace
}  // namespace fenchel::plot
