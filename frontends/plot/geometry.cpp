#include "plot/geometry.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "plot/ticks.hpp"

namespace fenchel::plot {
namespace {

bool finite(Point p) { return std::abs(p.x) <= kLargest && std::abs(p.y) <= kLargest; }

// Liang and Barsky: cuts a to b; false where nothing of it is inside.
bool clip_segment(Point& a, Point& b, const Box& box) {
  const Point p = a, d{b.x - a.x, b.y - a.y};
  double from = 0, to = 1;
  const auto cut = [&](double slope, double room) {  // slope * t <= room
    if (slope == 0) {
      return room >= 0;
    }
    (slope > 0 ? to : from) = slope > 0 ? std::min(to, room / slope) : std::max(from, room / slope);
    return from <= to;
  };
  if (!cut(-d.x, p.x - box.left) || !cut(d.x, box.right - p.x) || !cut(-d.y, p.y - box.top) ||
      !cut(d.y, box.bottom - p.y)) {
    return false;
  }
  const auto at = [&](double t) {
    return Point{std::clamp(p.x + t * d.x, box.left, box.right),
                 std::clamp(p.y + t * d.y, box.top, box.bottom)};
  };
  if (from > 0) {
    a = at(from);
  }
  if (to < 1) {
    b = at(to);
  }
  return true;
}

double distance(Point p, Point a, Point b) {
  const double dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy;
  const double t = square > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / square, 0., 1.) : 0;
  return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

}  // namespace

std::vector<Path> clip_line(const Path& line, const Box& box) {
  std::vector<Path> parts;
  Path part;
  const auto finish = [&] {
    if (part.size() > 1) {
      parts.push_back(part);
    }
    part.clear();
  };
  for (std::size_t i = 1; i < line.size(); ++i) {
    Point a = line[i - 1], b = line[i];
    if (!finite(a) || !finite(b) || !clip_segment(a, b, box)) {
      finish();
      continue;
    }
    if (part.empty()) {
      part.push_back(a);
    }
    part.push_back(b);
    if (!box.contains(line[i])) {
      finish();
    }
  }
  finish();
  return parts;
}

Path clip_polygon(const Path& polygon, const Box& box) {
  Path points;
  for (const Point& p : polygon) {
    if (finite(p)) {
      points.push_back(p);
    }
  }
  const auto cut = [&](double Point::*axis, double limit, double sign) {
    const auto room = [&](Point p) { return sign * (limit - p.*axis); };
    Path kept;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Point a = points[i == 0 ? points.size() - 1 : i - 1], b = points[i];
      if ((room(a) < 0) != (room(b) < 0)) {
        const double t = room(a) / (room(a) - room(b));
        Point border{a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)};
        border.*axis = limit;
        kept.push_back(border);
      }
      if (room(b) >= 0) {
        kept.push_back(b);
      }
    }
    points = std::move(kept);
  };
  cut(&Point::x, box.left, -1);
  cut(&Point::x, box.right, 1);
  cut(&Point::y, box.top, -1);
  cut(&Point::y, box.bottom, 1);
  return points;
}

Path simplify(const Path& line) {
  if (line.size() < 3) {
    return line;
  }
  std::vector<bool> kept(line.size(), false);
  kept.front() = kept.back() = true;
  std::vector<std::pair<std::size_t, std::size_t>> open{{0, line.size() - 1}};
  while (!open.empty()) {
    const auto [first, last] = open.back();
    open.pop_back();
    std::size_t farthest = first;
    double most = kVisible;
    for (std::size_t i = first + 1; i < last; ++i) {
      const double d = distance(line[i], line[first], line[last]);
      if (d > most) {
        most = d, farthest = i;
      }
    }
    if (farthest != first) {
      kept[farthest] = true;
      open.emplace_back(first, farthest);
      open.emplace_back(farthest, last);
    }
  }
  Path out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (kept[i]) {
      out.push_back(line[i]);
    }
  }
  return out;
}

}  // namespace fenchel::plot
