#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <vector>

#include "plot/svg.hpp"
#include "plot/theme.hpp"
#include "report/sections/sections.hpp"

namespace fenchel::report {
namespace {

constexpr double kWidth = 400, kLine = 16;

/// Boxes and arrows on a sheet; y grows downwards.
class Sheet {
 public:
  void text(double x, double y, const std::string& content, const char* classes = "text",
            const char* anchor = "middle") {
    body_ += plot::text_element({x, y}, classes, anchor, content) + "\n";
  }
  /// A rounded box in the light tone of a colour, with an outline; its lines from `top` on, the first one
  /// bold.
  void box(double x, double y, double width, double height, std::size_t colour,
           const std::vector<std::string>& lines, double top = 20) {
    body_ += fmt::format(
        "<rect class=\"s{0} l{0}\" x=\"{1}\" y=\"{2}\" width=\"{3}\" height=\"{4}\" rx=\"6\" "
        "stroke-width=\"1.2\"/>\n",
        colour, plot::number(x), plot::number(y), plot::number(width), plot::number(height));
    for (std::size_t i = 0; i < lines.size(); ++i) {
      text(x + width / 2, y + top + kLine * static_cast<double>(i), lines[i], i == 0 ? "title" : "text");
    }
  }
  void arrow(double x0, double y0, double x1, double y1) {
    body_ += fmt::format(
        "<path class=\"s8\" stroke-width=\"1.5\" d=\"M{0} {1}L{2} {3}\"/><path class=\"f8\" d=\"M{2} {4}l-5 "
        "-9h10z\"/>\n",
        plot::number(x0), plot::number(y0), plot::number(x1), plot::number(y1 - 8), plot::number(y1));
  }
  /// Words in a cell of a table, its middle line at the middle.
  void cell(double x, double y, double width, double height, std::size_t colour,
            const std::vector<std::string>& lines) {
    body_ += fmt::format("<rect class=\"l{0}\" x=\"{1}\" y=\"{2}\" width=\"{3}\" height=\"{4}\" rx=\"4\"/>\n",
                         colour, plot::number(x), plot::number(y), plot::number(width), plot::number(height));
    const double first = y + height / 2 + 4.5 - kLine / 2 * static_cast<double>(lines.size() - 1);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      text(x + width / 2, first + kLine * static_cast<double>(i), lines[i]);
    }
  }

  [[nodiscard]] std::string element(const char* title, double height) const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" role=\"img\" width=\"{0}\" height=\"{1}\" "
        "viewBox=\"0 0 {0} {1}\"><title>{2}</title><rect class=\"paper\" width=\"{0}\" "
        "height=\"{1}\"/>\n{3}</svg>",
        plot::number(kWidth), plot::number(height), title, body_);
  }

 private:
  std::string body_;
};

constexpr double kHeight = 760;

std::string definition() {
  Sheet sheet;
  sheet.text(4, 18, "One definition", "title", "start");
  sheet.box(2, 34, 128, 112, 4, {"Domain S", "finite set", "integers", "line R", "space R\u1d3a"});
  sheet.box(136, 34, 128, 112, 4,
            {"Score f", "a vector", "\u2212(t \u2212 \u03bc)\u00b2/2\u03c3\u00b2",
             "\u2212|t \u2212 \u03bc|/b", "any function"});
  sheet.box(270, 34, 128, 112, 4,
            {"Regularizer \u03a9", "Shannon", "Tsallis, any \u03b1", "total variation", "Sobolev"});
  for (const double x : {66., 200., 334.}) sheet.arrow(x, 146, 200 + (x - 200) / 2, 176);
  sheet.box(44, 176, 312, 52, 0, {"Prediction map", "p = argmax  E\u209a[f] \u2212 \u03a9(p)"});
  sheet.arrow(200, 228, 200, 256);
  sheet.box(
      44, 256, 312, 68, 0,
      {"Distribution p", "support, density, distribution function,", "quantiles, moments, entropies, draws"});
  for (const double x : {66., 200., 334.}) sheet.arrow(200 + (x - 200) / 2, 324, x, 354);
  sheet.box(2, 354, 128, 68, 2, {"Loss", "\u03a9*(f) + \u03a9(p)", "\u2212 E\u209a[f]"});
  sheet.box(136, 354, 128, 68, 2, {"Attention", "E\u209a[\u03c8] and its", "Jacobian"});
  sheet.box(270, 354, 128, 68, 2, {"Estimation", "least loss =", "equal moments"});

  sheet.text(4, 458, "How the families lie in one another", "title", "start");
  sheet.box(4, 472, 392, 176, 8, {"Deformed exponential: Tsallis, any \u03b1"});
  sheet.box(14, 502, 122, 136, 0, {"Exponential", "\u03b1 = 1", "softmax, Poisson", "Laplace"});
  sheet.box(264, 502, 122, 136, 1, {"Sparsemax", "\u03b1 = 2", "sparse Poisson", "triangular"});
  sheet.box(22, 578, 356, 102, 2, {"Elliptical"}, 91);
  sheet.text(75, 610, "Gaussian");
  sheet.text(200, 604, "\u03b2-Gaussians", "title");
  sheet.text(200, 622, "quadratic scores");
  sheet.text(325, 602, "truncated");
  sheet.text(325, 618, "paraboloid");
  sheet.box(4, 698, 392, 52, 3, {"Fusedmax", "sparsemax with total variation or Sobolev"});
  return sheet.element("Domain, score and regularizer give a distribution; the families inside one another",
                       kHeight);
}

struct Row {
  const char* label;
  std::vector<std::vector<std::string>> cells;  ///< an empty one where there is nothing
};

std::string members() {
  const std::vector<Row> rows{
      {"Finite set: any scores",
       {{"softmax"}, {"entmax"}, {"sparsemax"}, {"fusedmax"}, {"smooth", "sparsemax"}}},
      {"Naturals: t log \u03bc \u2212 log t!", {{"Poisson"}, {"sparse", "Poisson"}, {"sparse", "Poisson"}}},
      {"Integers: \u2212(t \u2212 \u03bc)\u00b2/2\u03c3\u00b2",
       {{"discrete", "Gaussian"}, {"sparse", "integer", "Gaussian"}, {"sparse", "integer", "Gaussian"}}},
      {"Line: \u2212(t \u2212 \u03bc)\u00b2/2\u03c3\u00b2",
       {{"Gaussian"},
        {"\u03b2-Gaussian", "Student t"},
        {"truncated", "parabola"},
        {"capped", "parabola"},
        {"smooth", "parabola"}}},
      {"Line: \u2212|t \u2212 \u03bc|/b",
       {{"Laplace"}, {"\u03b2-Laplace"}, {"triangular"}, {"capped", "triangular"}, {"smooth", "triangular"}}},
      {"Line: \u03ba N(t; \u03bc, \u03c3\u00b2)", {{}, {}, {"truncated", "Gaussian"}}},
      {"Line: \u2212g\u2032(|t \u2212 \u03bc|/\u03c3)/\u03c3", {{}, {}, {"location-", "scale"}}},
      {"Line: any function",
       {{"Boltzmann-", "Gibbs"},
        {"deformed", "exponential"},
        {"infinite", "sparsemax"},
        {"fusedmax"},
        {"smooth", "sparsemax"}}},
      {"R\u1d3a: \u2212(t \u2212 \u03bc)\u1d40\u03a3\u207b\u00b9(t \u2212 \u03bc)/2",
       {{"Gaussian"}, {"\u03b2-Gaussian", "Student t"}, {"truncated", "paraboloid"}}}};
  constexpr double kColumn = 79;
  constexpr std::size_t kColours[] = {0, 2, 1, 3, 4};
  const auto left = [](std::size_t column) { return 3 + kColumn * static_cast<double>(column); };
  Sheet sheet;
  sheet.text(4, 18, "What the choices give", "title", "start");
  const std::vector<std::vector<std::string>> heads{{"Shannon", "\u03b1 = 1"},
                                                    {"Tsallis", "any \u03b1"},
                                                    {"Gini", "\u03b1 = 2"},
                                                    {"Gini, total", "variation"},
                                                    {"Gini,", "Sobolev"}};
  for (std::size_t k = 0; k < heads.size(); ++k) {
    sheet.text(left(k) + 38, 44, heads[k][0]);
    sheet.text(left(k) + 38, 44 + kLine, heads[k][1]);
  }
  double y = 84;
  for (const Row& row : rows) {
    std::size_t lines = 1;
    for (const auto& words : row.cells) lines = std::max(lines, words.size());
    const double height = 10 + kLine * static_cast<double>(lines);
    sheet.text(4, y, row.label, "text f8", "start");
    for (std::size_t k = 0; k < row.cells.size(); ++k) {
      if (!row.cells[k].empty()) sheet.cell(left(k), y + 6, kColumn - 3, height, kColours[k], row.cells[k]);
    }
    y += height + 30;
  }
  return sheet.element("The distribution for each domain, score and regularizer", kHeight);
}

std::string file(const std::string& first, const std::string& second) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "role=\"img\"><title>Regularized prediction maps and their "
      "families</title>\n<style>\n{2}</style>\n<rect class=\"paper\" width=\"{0}\" height=\"{1}\"/>\n{3}\n<g "
      "transform=\"translate({4} 0)\">{5}</g>\n</svg>\n",
      plot::number(2 * kWidth + 40), plot::number(kHeight), plot::style_sheet(plot::Theme::automatic), first,
      plot::number(kWidth + 40), second);
}

}  // namespace

Section families() {
  const std::string first = definition(), second = members();
  return {.id = "families",
          .title = "The families, and how they hang together",
          .place = "Section 1, Figure 2; Section 2",
          .says = {"A domain <var>S</var>, a score <var>f</var> and a regularizer $\\Omega$ choose a "
                   "distribution: the <em>regularized prediction map</em> $\\hat{p}_{\\Omega}[f] = "
                   "\\text{argmax}_p E_p[f(t)] - \\Omega (p)$. With Shannon's negentropy these are "
                   "exponential families; with Tsallis negentropies deformed exponential families, which are "
                   "sparse for $\\alpha \\gt 1$; quadratic scores make them elliptical, the "
                   "$\\beta$-Gaussians; total variation and Sobolev penalties make fusedmax."},
          .computed = {"Every cell of the second drawing is a family of the library: "
                       "<code>predict(regularizer, score, domain)</code> is the whole definition, and where "
                       "no closed form is known a numeric solver answers."},
          .parts = {Drawing{
              .name = "families",
              .caption = "<b>The diagram of families.</b> First: from three choices to a distribution, and "
                         "what is done with it; below, which family contains which. Second: what each choice "
                         "gives, by domain and score (grey) and by regularizer (columns). Not in the paper: "
                         "the discrete Gaussian, $\\alpha$ other than 1 and 2 on the integers, the "
                         "$\\beta$-Laplace family, smooth sparsemax on a finite set.",
              .element = first + "\n" + second,
              .file = file(first, second)}},
          .checks = {}};
}

}  // namespace fenchel::report
