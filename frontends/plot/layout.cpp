#include "plot/layout.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plot/svg.hpp"

namespace fenchel::plot {
namespace {

constexpr double kEntryGap = 14, kLeastFrame = 40;
constexpr double kNamesShare = .45;  // of the width: what the names on an axis may take

struct Extent {
  double low = INFINITY, high = -INFINITY;
  void add(double v) {
    if (std::abs(v) <= kLargest) {
      low = std::min(low, v), high = std::max(high, v);
    }
  }
};

// What the marks take; in y, of those points alone whose x is drawn.
struct Extents {
  Extent x, y;
};

Extents extents(const Figure& figure) {
  Extents out;
  const auto add = [&](Point p) {
    const bool shown = !figure.x.range || (p.x >= figure.x.range->low && p.x <= figure.x.range->high);
    if (!std::isnan(p.y)) {
      out.x.add(p.x);
    }
    if (shown) {
      out.y.add(p.y);
    }
  };
  for (const Mark& mark : figure.marks) {
    for (const Path& path : mark.paths) {
      for (const Point& p : path) {
        switch (mark.kind) {
          case Mark::Kind::shade:
          case Mark::Kind::vertical:
            out.x.add(p.x);
            break;
          case Mark::Kind::horizontal:
            out.y.add(p.y);
            break;
          case Mark::Kind::stems:
            add({p.x + mark.size, p.y});
            add({p.x + mark.size, 0});
            break;
          case Mark::Kind::bars:
            add({p.x - mark.size / 2, p.y});
            add({p.x + mark.size / 2, 0});
            break;
          default:
            add(p);
        }
      }
    }
  }
  return out;
}

Range range_of(const Axis& axis, const Extent& extent) {
  if (!axis.names.empty()) {
    return {.5, static_cast<double>(axis.names.size()) + .5};
  }
  if (axis.range) {
    return proper(*axis.range);
  }
  if (extent.low > extent.high) {
    return {0, 1};
  }
  return extended({extent.low, extent.high});
}

double widest(const std::vector<std::string>& lines) {
  double width = 0;
  for (const std::string& line : lines) {
    width = std::max(width, text_width(line, kFont));
  }
  return width;
}

double widest(const Ticks& ticks) { return widest(labels(ticks)); }

// As many as there is room for.
template <class Room>
Ticks fitting(Range range, double length, Room room_of_each) {
  Ticks ticks = inner_ticks(range);
  const auto needed = [&] { return static_cast<double>(ticks.values.size()) * room_of_each(ticks); };
  for (int most = kMostTicks - 1; most > 1 && needed() > length; --most) {
    ticks = inner_ticks(range, most);
  }
  return ticks;
}

Ticks ticks_across(Range range, double width) {
  return fitting(range, width, [](const Ticks& ticks) { return widest(ticks) + kPadding; });
}

Ticks ticks_up(const Axis& axis, Range range, double height) {
  return axis.names.empty() ? fitting(range, height, [](const Ticks&) { return kLine; })
                            : named_ticks(axis.names);
}

double lines_height(const std::vector<std::string>& lines) {
  return kLine * static_cast<double>(lines.size());
}

// The labels of the ticks of y; `most` of their lines is the largest number that one has.
struct Names {
  std::vector<std::vector<std::string>> lines;
  double width = 0;
  std::size_t most = 0;
};

Names names_of(const Ticks& ticks, double room) {
  Names out;
  for (const std::string& label : labels(ticks)) {
    out.lines.push_back(wrap(label, kFont, room));
    out.width = std::max(out.width, widest(out.lines.back()));
    out.most = std::max(out.most, out.lines.back().size());
  }
  return out;
}

// Appends rows of entries below `top`; returns where they end.
double place_legend(const Figure& figure, double top, std::vector<LegendEntry>& legend) {
  const double right = figure.width - kPadding;
  double x = kPadding, y = top, row = 0;
  for (std::size_t i = 0; i < figure.marks.size(); ++i) {
    const Mark& mark = figure.marks[i];
    const bool seen = std::any_of(legend.begin(), legend.end(), [&](const LegendEntry& entry) {
      const Mark& other = figure.marks[entry.mark];
      return other.name == mark.name && other.style.colour == mark.style.colour;
    });
    if (mark.name.empty() || mark.kind == Mark::Kind::text || seen) {
      continue;
    }
    std::vector<std::string> lines = wrap(mark.name, kFont, right - kPadding - kSwatch - kGap);
    double width = kSwatch + kGap;
    for (const std::string& line : lines) {
      width = std::max(width, kSwatch + kGap + text_width(line, kFont));
    }
    if (x > kPadding && x + width > right) {
      x = kPadding, y += row, row = 0;
    }
    row = std::max(row, lines_height(lines));
    legend.push_back({i, {x, y + kLine / 2}, std::move(lines)});
    x += width + kEntryGap;
  }
  return y + row;
}

}  // namespace

Layout lay_out(const Figure& figure) {
  Layout out{};
  const Extents marks = extents(figure);
  out.x = range_of(figure.x, marks.x);
  out.y = range_of(figure.y, marks.y);
  const double text_room = figure.width - 2 * kPadding;
  out.title = wrap(figure.title, kBold * kTitleFont, text_room);
  out.x_label = wrap(figure.x.label, kFont, text_room);
  out.y_label = wrap(figure.y.label, kFont, text_room);

  // The height that was asked for holds one line of each text; the legend and further lines come on top.
  const double around = kPadding + 2 * kLine + kPadding + kGap + 2 * kLine + kGap;
  double height = std::max(kLeastFrame, figure.height - around);
  out.y_ticks = ticks_up(figure.y, out.y, height);
  Names names = names_of(out.y_ticks, kNamesShare * figure.width);
  const double each = kLine * static_cast<double>(names.most) + kGap;
  height = std::max(height, each * static_cast<double>(figure.y.names.size()));
  double left = kPadding + names.width + kGap, right = 2 * kPadding;
  double width = std::max(kLeastFrame, figure.width - left - right);
  out.x_ticks = ticks_across(out.x, width);
  left = std::max(left, widest(out.x_ticks) / 2 + 2);
  right = std::max(right, widest(out.x_ticks) / 2 + 2);
  width = std::max(kLeastFrame, figure.width - left - right);
  double moved = 0;
  if (figure.equal_units) {
    const double ratio = (out.y.high - out.y.low) / (out.x.high - out.x.low);
    const double room = width;
    width = std::max(kLeastFrame, std::min(room, height / ratio));
    height = std::max(kLeastFrame, std::min(height, room * ratio));
    moved = (room - width) / 2;
    out.x_ticks = ticks_across(out.x, width);
    out.y_ticks = ticks_up(figure.y, out.y, height);
    names = names_of(out.y_ticks, kNamesShare * figure.width);
  }
  out.legend_bottom = place_legend(figure, kPadding + lines_height(out.title), out.legend);
  const double top = out.legend_bottom + kPadding / 2 + lines_height(out.y_label) + kPadding;
  out.label_left = left + moved - names.width - kGap;
  out.y_names = std::move(names.lines);
  for (const std::string& line : out.y_label) {
    out.label_left =
        std::max(kPadding, std::min(out.label_left, figure.width - kPadding - text_width(line, kFont)));
  }
  out.frame = {left + moved, top, left + moved + width, top + height};
  out.height = std::ceil(out.frame.bottom + kGap + kLine + lines_height(out.x_label) + kGap);
  return out;
}

}  // namespace fenchel::plot
