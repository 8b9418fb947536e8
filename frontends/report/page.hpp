#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "plot/chart.hpp"
#include "report/cards.hpp"

namespace fenchel::report {

/// Charts that are shown together. They also go into a file, NAME.svg.
struct Figure {
  std::string name;     ///< snake_case, unique in the report
  std::string caption;  ///< HTML
  std::vector<plot::Chart> charts;
  std::size_t columns = 2;   ///< of the file; the page arranges them by its width
  std::string heading = {};  ///< of the file, plain text
};

/// A drawing that is no chart: a whole <svg> element that uses the classes of plot::style_sheet.
struct Drawing {
  std::string name, caption, element;
  std::string file;  ///< the same as an SVG file of its own
};

/// A picture that was drawn elsewhere. It also goes into a file, NAME.png.
struct Picture {
  std::string name, caption;
  std::string title;     ///< plain text, for who does not see it
  std::string_view png;  ///< the bytes of the file, which outlive the report
};

/// Cells are HTML with formulas.
struct Table {
  std::string caption;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};

/// What the paper says beside what we computed.
struct Check {
  std::string claim;        ///< HTML: what is compared
  std::string paper;        ///< what it prints, a value or its words; empty where it says nothing
  std::string reference;    ///< what ours was held against where that is not a printed value
  std::string ours;         ///< what we computed
  double error;             ///< how far ours is from the reference, or from the printed value
  double tolerance;         ///< how far it may be: more is shown as a failure, and fails the tests
  std::string unit = {};    ///< "relative", or what the error is measured in
  bool paper_errs = false;  ///< ours is right, and what the paper says is not
};

/// A section of the report: what the paper says, what we computed, how close, and the figures. Text is HTML
/// with formulas as typeset() has them; each string of `says` and `computed` is a paragraph.
struct Section {
  std::string id;     ///< of the anchor
  std::string title;  ///< HTML
  std::string place;  ///< where in the paper: "Section 5.2, Figure 6"
  std::vector<std::string> says, computed;
  std::vector<std::variant<Figure, Drawing, Picture, Table, Cards>> parts;
  std::vector<Check> checks;
  bool recorded = false;  ///< by an experiment, at another time and place: `computed` says what it found
};

/// The whole page, with everything that it needs inside.
[[nodiscard]] std::string render(const std::vector<Section>& sections);

}  // namespace fenchel::report
