#include <fmt/format.h>

#include <algorithm>

#include "plot/chart.hpp"
#include "plot/layout.hpp"
#include "plot/svg.hpp"

namespace fenchel::plot {

std::string svg_file(const std::string& title, const std::vector<Chart>& charts, std::size_t columns,
                     Theme theme) {
  constexpr double kSpace = 12, kHeading = 18, kHeadingLine = 24;
  columns = std::clamp<std::size_t>(columns, 1, std::max<std::size_t>(charts.size(), 1));
  std::vector<double> left(columns + 1);  // of the columns, each as wide as its widest chart
  for (std::size_t k = 0; k < columns; ++k) {
    double column = 0;
    for (std::size_t i = k; i < charts.size(); i += columns) {
      column = std::max(column, charts[i].width());
    }
    left[k + 1] = left[k] + column + kSpace;
  }
  const double width = std::max(200., left[columns] - kSpace);
  std::string body;
  double y = 0, row = 0;
  for (const std::string& line : wrap(title, kBold * kHeading, width - 16)) {
    y += kHeadingLine;
    body += text_element({8, y}, "title heading", "start", line);
  }
  y += title.empty() ? 0 : kSpace;
  for (std::size_t i = 0; i < charts.size(); ++i) {
    if (i > 0 && i % columns == 0) {
      y += row + kSpace, row = 0;
    }
    body += fmt::format(R"svg(<g transform="translate({} {})">{}</g>)svg", number(left[i % columns]),
                        number(y), charts[i].element());
    body += '\n';
    row = std::max(row, charts[i].height());
  }
  const std::string w = number(width), h = number(std::max(1., y + row));
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img">)"
      "<title>{2}</title>\n<style>\n{3}</style>\n<rect class=\"paper\" width=\"{0}\" "
      "height=\"{1}\"/>\n{4}</svg>\n",
      w, h, escape(title.empty() && !charts.empty() ? charts.front().title() : title), style_sheet(theme),
      body);
}

}  // namespace fenchel::plot
