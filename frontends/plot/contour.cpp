#include "plot/contour.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

namespace fenchel::plot {
namespace {

constexpr int kHalvings = 14;
static_assert(kContourAccuracy > 1. / (1 << kHalvings));
constexpr int kNone = -1;

class Grid {
 public:
  Grid(const std::function<double(double, double)>& f, Range x, Range y, int cells)
      : f_(f), x_(x), y_(y), cells_(cells), nodes_(cells + 1) {
    for (int j = 0; j < nodes_; ++j) {
      for (int i = 0; i < nodes_; ++i) {
        values_.push_back(f(at(i, j).x, at(i, j).y));
      }
    }
  }

  // Each cell sends lines from one of its edges to another; an edge begins at most one line and ends at most
  // one, since the larger values are on the left.
  [[nodiscard]] std::vector<Path> lines(double level) const {
    std::vector<int> next(edges(), kNone), previous(edges(), kNone);
    for (int j = 0; j < cells_; ++j) {
      for (int i = 0; i < cells_; ++i) {
        cross(i, j, level, [&](int from, int to) { next[from] = to, previous[to] = from; });
      }
    }
    std::vector<Path> out;
    const auto follow = [&](int edge) {
      out.push_back({crossing(edge, level)});
      while (next[edge] != kNone) {
        const int to = next[edge];
        next[edge] = kNone;
        edge = to;
        out.back().push_back(crossing(edge, level));
      }
    };
    for (int edge = 0; edge < static_cast<int>(edges()); ++edge) {
      if (next[edge] != kNone && previous[edge] == kNone) {
        follow(edge);
      }
    }
    for (int edge = 0; edge < static_cast<int>(edges()); ++edge) {
      if (next[edge] != kNone) {
        follow(edge);
      }
    }
    return out;
  }

 private:
  [[nodiscard]] Point at(double i, double j) const {
    const double s = i / cells_, t = j / cells_;
    return {x_.low * (1 - s) + x_.high * s, y_.low * (1 - t) + y_.high * t};
  }
  [[nodiscard]] double value(int i, int j) const { return values_[static_cast<std::size_t>(j * nodes_ + i)]; }
  [[nodiscard]] std::size_t edges() const { return 2 * values_.size(); }
  // The edge from node (i, j) to the right or upwards.
  [[nodiscard]] int edge(int i, int j, bool up) const { return 2 * (j * nodes_ + i) + (up ? 1 : 0); }

  template <class Join>
  void cross(int i, int j, double level, Join join) const {
    const double corner[] = {value(i, j), value(i + 1, j), value(i + 1, j + 1), value(i, j + 1)};
    const int side[] = {edge(i, j, false), edge(i + 1, j, true), edge(i, j + 1, false), edge(i, j, true)};
    double sum = 0;
    int starts[2], ends[2], crossings = 0, entries = 0;
    // Counterclockwise: a line starts where the boundary leaves the larger values.
    for (int k = 0; k < 4; ++k) {
      const bool inside = corner[k] >= level, then = corner[(k + 1) % 4] >= level;
      if (inside && !then) {
        starts[crossings++] = k;
      } else if (!inside && then) {
        ends[entries++] = k;
      }
      sum += corner[k];
    }
    if (!std::isfinite(sum) || crossings == 0) {
      return;
    }
    if (crossings == 1) {
      join(side[starts[0]], side[ends[0]]);
      return;
    }
    // A saddle: with a middle inside, lines go round the corners outside; else round those inside.
    const bool inside = sum / 4 >= level;
    for (const int start : starts) {
      join(side[start], side[(start + (inside ? 1 : 3)) % 4]);
    }
  }

  [[nodiscard]] Point crossing(int edge, double level) const {
    const int node = edge / 2, i = node % nodes_, j = node / nodes_;
    const bool up = edge % 2 == 1;
    const bool inside = value(i, j) >= level;
    double low = 0, high = 1;
    const auto along = [&](double t) { return at(i + (up ? 0 : t), j + (up ? t : 0)); };
    for (int k = 0; k < kHalvings; ++k) {
      const double t = (low + high) / 2;
      const Point p = along(t);
      ((f_(p.x, p.y) >= level) == inside ? low : high) = t;
    }
    return along((low + high) / 2);
  }

  const std::function<double(double, double)>& f_;
  Range x_, y_;
  int cells_, nodes_;
  std::vector<double> values_;
};

}  // namespace

std::vector<Path> contour_lines(const std::function<double(double, double)>& f, Range x, Range y,
                                const std::vector<double>& levels, int cells) {
  const Grid grid(f, x, y, cells);
  std::vector<Path> out;
  for (const double level : levels) {
    for (Path& line : grid.lines(level)) {
      out.push_back(std::move(line));
    }
  }
  return out;
}

}  // namespace fenchel::plot
