#include "plot/svg.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace fenchel::plot {
namespace {

// The length of the UTF-8 character at the front of `text`; 0 where it is none that XML 1.0 allows.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) {
    return byte(0) >= 0x20 && byte(0) != 0x7f ? 1 : 0;
  }
  const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < length) {
    return 0;
  }
  unsigned code = byte(0) & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) {
      return 0;
    }
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr unsigned kLeast[] = {0, 0, 0xa0, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  const bool allowed =
      code >= kLeast[length] && code <= 0x10ffff && !surrogate && code != 0xfffe && code != 0xffff;
  return allowed ? length : 0;
}

std::size_t step(std::string_view text) {
  const std::size_t length = character(text);
  return length == 0 ? 1 : length;
}

// In units of the font size, after DejaVu Sans, which is wider than what most readers have.
double character_width(char first) {
  if (static_cast<unsigned char>(first) >= 0x80) {
    return .8;
  }
  if (std::string_view("mwMW@%").find(first) != std::string_view::npos) {
    return 1;
  }
  if (std::string_view(" ijltfrI.,:;'|!()[]/-").find(first) != std::string_view::npos) {
    return .42;
  }
  return first >= 'A' && first <= 'Z' ? .75 : .64;
}

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = character(text);
    switch (text.front()) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\t':
      case '\r':
      case '\n':
        out += ' ';
        break;
      default:
        out += length == 0 ? "\xef\xbf\xbd" : text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') {
    text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

std::string path_data(const Path& points, bool closed) {
  std::string data;
  for (const Point& p : points) {
    data += (data.empty() ? "M" : " ") + number(p.x) + " " + number(p.y);
  }
  return closed ? data + "z" : data;
}

double text_width(std::string_view text, double font_size) {
  double width = 0;
  while (!text.empty()) {
    width += character_width(text.front());
    text.remove_prefix(step(text));
  }
  return width * font_size;
}

std::vector<std::string> wrap(std::string_view text, double font_size, double width) {
  std::vector<std::string> lines;
  std::string line;
  const auto finish = [&] {
    if (!line.empty()) {
      lines.push_back(line);
    }
    line.clear();
  };
  while (!text.empty()) {
    const std::size_t end = text.find_first_of(" \n\t");
    std::string_view word = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (word.empty()) {
      continue;
    }
    if (!line.empty() &&
        text_width(line, font_size) + text_width(word, font_size) + .42 * font_size > width) {
      finish();
    }
    if (!line.empty()) {
      line += ' ';
    }
    for (; !word.empty(); word.remove_prefix(step(word))) {
      const std::string_view next = word.substr(0, step(word));
      if (!line.empty() && text_width(line, font_size) + text_width(next, font_size) > width) {
        finish();
      }
      line += next;
    }
  }
  finish();
  return lines;
}

std::string text_element(Point at, std::string_view classes, std::string_view anchor,
                         std::string_view content) {
  return fmt::format(R"(<text class="{}" x="{}" y="{}"{}>{}</text>)", classes, number(at.x), number(at.y),
                     anchor == "start" ? "" : fmt::format(R"( text-anchor="{}")", anchor), escape(content));
}

}  // namespace fenchel::plot
