#include "report/cards.hpp"

#include <fmt/format.h>

#include "report/typeset.hpp"

namespace fenchel::report {
namespace {

std::string list(const char* kind, const std::vector<Card::Line>& lines) {
  std::string html = fmt::format("<dl class=\"{}\">\n", kind);
  for (const Card::Line& line : lines)
    html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", typeset(line.term), typeset(line.text));
  return html + "</dl>\n";
}

}  // namespace

std::string render(const Cards& cards) {
  std::string html = "<div class=\"cards\">\n";
  for (const Card& card : cards.cards) {
    html += fmt::format("<article class=\"card\" id=\"{0}\">\n<h3>{1}</h3>\n<p class=\"where\">{2}</p>\n",
                        card.id, typeset(card.title), typeset(card.place));
    html += list("lines", card.lines);
    for (const auto& row : card.numbers) html += list("numbers", row);
    html += "</article>\n";
  }
  return html + "</div>\n";
}

std::string cards_style() {
  return R"css(
.cards { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); margin: 1.75rem 0; }
.card { border: 1px solid var(--rule); border-radius: 8px; padding: .9rem 1.1rem; break-inside: avoid; min-width: 0; }
.card h3 { margin: 0; font-size: 1.0625rem; letter-spacing: 0; }
.card .where { margin: .1rem 0 .6rem; color: var(--muted); font-size: .9375rem; }
.card dl { margin: 0; font-size: .9375rem; line-height: 1.5; }
.card dt { color: var(--muted); font-size: .875rem; }
.card dd { margin: 0; overflow-wrap: anywhere; }
.card sub, .card sup { line-height: 0; }
.card .lines > div { display: grid; grid-template-columns: 4.75rem 1fr; align-items: baseline; padding: .15rem 0; }
.card .numbers {
  display: grid; grid-template-columns: repeat(3, 1fr); gap: .35rem 1rem;
  margin-top: .6rem; padding-top: .5rem; border-top: 1px solid var(--rule);
}
.card .numbers > div:first-child { grid-column: 1 / -1; }
.card .numbers > div:first-child dt { display: none; }
.card .numbers > div:not(:first-child) dd { font-weight: 600; font-variant-numeric: tabular-nums; }
.card .numbers > div:nth-child(2) dd { color: var(--says); }
.card .numbers > div:nth-child(3) dd { color: var(--ours); }
.card small { display: block; color: var(--muted); font-weight: 400; font-size: .8125rem; line-height: 1.4; }
@media (max-width: 40rem) {
  .card { padding: .8rem .9rem; }
  .card .lines > div { grid-template-columns: 1fr; }
  .card .numbers { grid-template-columns: 1fr; gap: .2rem; }
  .card .numbers > div:not(:first-child) { display: grid; grid-template-columns: 6rem 1fr; align-items: baseline; }
}
)css";
}

}  // namespace fenchel::report
