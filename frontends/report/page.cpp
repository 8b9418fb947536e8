#include "report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "fenchel/core/version.hpp"
#include "plot/svg.hpp"
#include "report/page_style.hpp"
#include "report/typeset.hpp"

namespace fenchel::report {
namespace {

bool holds(const Check& check) { return check.error <= check.tolerance; }

const char* row_class(const Check& check) {
  if (!holds(check)) return " class=\"failed\"";
  return check.paper_errs ? " class=\"errs\"" : "";
}

const char* mark(const Check& check) {
  if (!holds(check)) return "\u2717 no";
  return check.paper_errs ? "the paper errs" : "\u2713";
}

// Text without tags, for attributes.
std::string plain(const std::string& html) {
  std::string text;
  bool inside = false;
  for (const char c : html) {
    if (c == '<') inside = true;
    if (!inside) text += c == '"' ? '\'' : c;
    if (c == '>') inside = false;
  }
  return text;
}

std::string paragraphs(const char* name, const char* heading, const std::vector<std::string>& texts) {
  if (texts.empty()) return {};
  return fmt::format("<div class=\"{}\">\n<h3>{}</h3>\n<p>{}</p>\n</div>\n", name, heading,
                     typeset(fmt::format("{}", fmt::join(texts, "</p>\n<p>"))));
}

// At most `columns` charts in a row, fewer where they would be narrower than `least` pixels.
std::string figure(const std::string& name, const std::string& caption, const std::string& drawings,
                   std::size_t columns, double least) {
  return fmt::format(
      "<figure id=\"figure-{0}\">\n<div class=\"charts\" style=\"--columns:{1};--least:{2}px\">\n{3}</div>\n"
      "<figcaption>{4}</figcaption>\n</figure>\n",
      name, columns, plot::number(least), drawings, typeset(caption));
}

std::string part(const Figure& value) {
  constexpr double kShrink = 0.72;  // of the file's size, at which text is still read
  std::string drawings;
  double width = 0;
  for (const plot::Chart& chart : value.charts) {
    drawings += chart.element() + "\n";
    width = std::max(width, chart.width());
  }
  return figure(value.name, value.caption, drawings, value.charts.size() % 3 == 0 ? 3 : value.columns,
                kShrink * width);
}

std::string part(const Drawing& value) {
  return figure(value.name, value.caption, value.element + "\n", 2, 343);
}

// As RFC 4648 writes bytes.
std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned group = 0;
    for (std::size_t k = i; k < i + 3; ++k)
      group = group << 8U | (k < bytes.size() ? static_cast<unsigned char>(bytes[k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      out += i + k > bytes.size() ? '=' : kDigits[group >> (18 - 6 * k) & 63U];
  }
  return out;
}

std::string row(const char* opening, const char* closing, const std::vector<std::string>& texts) {
  std::string out = "<tr>";
  for (const std::string& text : texts) out += opening + typeset(text) + closing;
  return out + "</tr>\n";
}

// How many characters are seen, an entity being one.
std::size_t letters(const std::string& text) {
  std::size_t count = 0;
  bool entity = false;
  for (const char c : text) {
    const bool continues = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
    if (!entity && !continues) ++count;
    if (c == '&') entity = true;
    if (c == ';') entity = false;
  }
  return count;
}

// Short ones keep to one line on a phone; a positive number stands under a negative one as if it had a sign.
std::string cell(const std::string& content, bool signs) {
  constexpr std::size_t kShort = 24;
  const std::string html = typeset(content), text = plain(html);
  const bool unsigned_number = signs && !text.empty() && text[0] >= '0' && text[0] <= '9';
  return fmt::format("<td class=\"{}{}\">{}</td>", letters(text) <= kShort ? "short" : "long",
                     unsigned_number ? " unsigned" : "", html);
}

bool negative(const std::string& content) {
  return content.starts_with("\u2212") || content.starts_with("&minus;") || content.starts_with("-");
}

// It scrolls inside its own box; who has no pointer scrolls it by the keyboard.
std::string scrolling(const std::string& label, const std::string& content) {
  return fmt::format("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n{}</div>\n",
                     plain(typeset(label)), content);
}

std::string part(const Picture& value) {
  const std::string image = fmt::format("<img alt=\"{}\" src=\"data:image/png;base64,{}\">\n",
                                        plot::escape(value.title), base64(value.png));
  return fmt::format("<figure id=\"figure-{}\">\n{}<figcaption>{}</figcaption>\n</figure>\n", value.name,
                     scrolling(value.title, image), typeset(value.caption));
}

std::string head(const std::vector<std::string>& header) {
  return "<thead>\n" + row("<th scope=\"col\">", "</th>", header) + "</thead>\n<tbody>\n";
}

std::string part(const Table& value) {
  std::string out =
      "<table>\n<caption><span>" + typeset(value.caption) + "</span></caption>\n" + head(value.header);
  for (const auto& texts : value.rows) {
    out += "<tr>";
    for (std::size_t k = 0; k < texts.size(); ++k) {
      out += cell(texts[k], std::ranges::any_of(value.rows, [k](const auto& of) { return negative(of[k]); }));
    }
    out += "</tr>\n";
  }
  return scrolling(value.caption, out + "</tbody>\n</table>\n");
}

std::string part(const Cards& value) { return render(value); }

std::string checks(const std::vector<Check>& values) {
  if (values.empty()) return {};
  std::string out = "<table class=\"checks\">\n" + head({"what is compared", "the paper prints",
                                                         "compared with", "ours", "difference", "close"});
  const bool signs = std::ranges::any_of(values, [](const Check& of) { return negative(of.ours); });
  for (const Check& check : values) {
    out += fmt::format(
        "<tr{}><td>{}</td>{}{}{}<td class=\"difference\">{}<small> {} {}{}</small></td>"
        "<td class=\"mark\">{}</td></tr>\n",
        row_class(check), typeset(check.claim), cell(check.paper, signs), cell(check.reference, signs),
        cell(check.ours, signs), typeset(fmt::format("{:.2g}", check.error)),
        holds(check) ? "\u2264" : "&gt;", typeset(fmt::format("{:.3g}", check.tolerance)),
        check.unit.empty() ? "" : " " + typeset(check.unit), mark(check));
  }
  return "<div class=\"close\">\n<h3>How close</h3>\n" +
         scrolling("How close", out + "</tbody>\n</table>\n") + "</div>\n";
}

// Neighbouring figures of one chart each share a row.
std::string section(const Section& value, std::size_t number) {
  std::string out = fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}. {2}</h2>\n"
      "<p class=\"place\">{3}</p>\n",
      value.id, number, typeset(value.title), typeset(value.place));
  out += paragraphs("says", "What the paper says", value.says) +
         paragraphs("computed", value.recorded ? "What we recorded" : "What we computed", value.computed);
  bool in_row = false;
  for (const auto& element : value.parts) {
    const auto* drawn = std::get_if<Figure>(&element);
    const bool alone = drawn != nullptr && drawn->charts.size() == 1;
    if (alone != in_row) out += alone ? "<div class=\"figures\">\n" : "</div>\n";
    in_row = alone;
    out += std::visit([](const auto& content) { return part(content); }, element);
  }
  if (in_row) out += "</div>\n";
  return out + checks(value.checks) + "</section>\n";
}

struct Counts {
  std::size_t compared = 0, close = 0, errata = 0;
};

// Each erratum is a card.
Counts count(const std::vector<Section>& sections) {
  Counts counts;
  for (const Section& value : sections) {
    counts.compared += value.checks.size();
    counts.close += static_cast<std::size_t>(std::ranges::count_if(value.checks, holds));
    for (const auto& element : value.parts) {
      if (const auto* list = std::get_if<Cards>(&element)) counts.errata += list->cards.size();
    }
  }
  return counts;
}

std::string header(const std::vector<Section>& sections) {
  const Counts counts = count(sections);
  return fmt::format(
      "<header id=\"top\">\n<h1>Sparse continuous distributions and Fenchel\u2011Young losses, "
      "computed</h1>\n"
      "<p class=\"reference\">The tables and figures of: Andr\u00e9 F. T. Martins, Marcos Treviso, "
      "Ant\u00f3nio "
      "Farinhas, Pedro M. Q. Aguiar, M\u00e1rio A. T. Figueiredo, Mathieu Blondel, Vlad Niculae. "
      "<cite>Sparse "
      "Continuous Distributions and Fenchel-Young Losses</cite>. Journal of Machine Learning Research 23, "
      "2022.</p>\n<p class=\"version\">Computed by fenchel {}.{}.{}, except for what is marked as "
      "recorded</p>\n<ul class=\"summary\">\n"
      "<li><b>{}</b> numbers and laws compared</li>\n<li><b>{}</b> within their tolerance</li>\n"
      "<li><b>{}</b> <a href=\"#errata\">printed formulas corrected</a></li>\n</ul>\n</header>\n",
      kVersion.major, kVersion.minor, kVersion.patch, counts.compared, counts.close, counts.errata);
}

}  // namespace

std::string render(const std::vector<Section>& sections) {
  std::string contents, body;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    contents += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", sections[i].id, typeset(sections[i].title));
    body += section(sections[i], i + 1);
  }
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n"
         "<title>Sparse continuous distributions and Fenchel-Young losses, computed</title>\n<style>" +
         page_style() + cards_style() + "</style>\n</head>\n<body>\n" + header(sections) +
         "<nav id=\"contents\" aria-label=\"Contents\">\n<ol>\n" + contents + "</ol>\n</nav>\n<main>\n" +
         body +
         "</main>\n<footer>\n<p>Each figure is also a file of its own in <code>figures/</code>.</p>\n"
         "</footer>\n<a class=\"up\" href=\"#top\">\u2191 To the top</a>\n</body>\n</html>\n";
}

}  // namespace fenchel::report
