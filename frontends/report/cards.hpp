#pragma once

#include <string>
#include <vector>

namespace fenchel::report {

/// A claim in a box of its own: what is said of it line by line, then numbers side by side. Text is HTML.
struct Card {
  struct Line {
    std::string term, text;
  };
  std::string id;  ///< of the anchor
  std::string title, place;
  std::vector<Line> lines;
  std::vector<std::vector<Line>> numbers;  ///< a row for each example
};

struct Cards {
  std::vector<Card> cards;
};

[[nodiscard]] std::string render(const Cards& cards);

/// The rules that they need, for the page's style sheet.
[[nodiscard]] std::string cards_style();

}  // namespace fenchel::report
