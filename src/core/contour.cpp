#include "fenchel/core/contour.hpp"

#include <cmath>
#include <cstddef>

namespace fenchel {
namespace {

constexpr int kHalvings = 14;
static_assert(kContourAccuracy > 1. / (1 << kHalvings));
constexpr int kNone = -1;

class PlaneGrid {
 public:
  PlaneGrid(const PlaneFunction& f, PlanePoint lower, PlanePoint upper, int cells)
      : f_(f), lower_(lower), upper_(upper), cells_(cells), nodes_(cells + 1) {
    std::vector<PlanePoint> points;
    for (int j = 0; j < nodes_; ++j)
      for (int i = 0; i < nodes_; ++i) points.push_back(at(i, j));
    values_ = f(points);
  }

  // Each cell sends lines from one of its edges to another; an edge begins at most one line and ends at most
  // one, since the larger values are on the left.
  [[nodiscard]] std::vector<PlaneLine> lines(double level) const {
    std::vector<int> next(edges(), kNone), previous(edges(), kNone);
    for (int j = 0; j < cells_; ++j)
      for (int i = 0; i < cells_; ++i)
        cross(i, j, level, [&](int from, int to) { next[from] = to, previous[to] = from; });
    std::vector<std::vector<int>> paths;
    const auto follow = [&](int edge) {
      paths.push_back({edge});
      while (next[edge] != kNone) {
        const int to = next[edge];
        next[edge] = kNone;
        edge = to;
        paths.back().push_back(edge);
      }
    };
    for (int edge = 0; edge < static_cast<int>(edges()); ++edge)
      if (next[edge] != kNone && previous[edge] == kNone) follow(edge);
    for (int edge = 0; edge < static_cast<int>(edges()); ++edge)
      if (next[edge] != kNone) follow(edge);
    return crossings(paths, level);
  }

 private:
  [[nodiscard]] PlanePoint at(double i, double j) const {
    const double s = i / cells_, t = j / cells_;
    return {lower_.x * (1 - s) + upper_.x * s, lower_.y * (1 - t) + upper_.y * t};
  }
  [[nodiscard]] double value(int i, int j) const { return values_[static_cast<std::size_t>(j) * nodes_ + i]; }
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
    if (!std::isfinite(sum) || crossings == 0) return;
    if (crossings == 1) {
      join(side[starts[0]], side[ends[0]]);
      return;
    }
    // A saddle: with a middle inside, lines go round the corners outside; else round those inside.
    const bool inside = sum / 4 >= level;
    for (const int start : starts) join(side[start], side[(start + (inside ? 1 : 3)) % 4]);
  }

  /// Where the paths cross their edges, all by halvings at once.
  [[nodiscard]] std::vector<PlaneLine> crossings(const std::vector<std::vector<int>>& paths,
                                                 double level) const {
    struct Crossing {
      int i, j;
      bool up, inside;
      double low = 0, high = 1;
    };
    std::vector<Crossing> all;
    for (const std::vector<int>& path : paths) {
      for (const int edge : path) {
        const int i = edge / 2 % nodes_, j = edge / 2 / nodes_;
        all.push_back({i, j, edge % 2 == 1, value(i, j) >= level});
      }
    }
    const auto middle = [&](const Crossing& c) {
      const double t = (c.low + c.high) / 2;
      return at(c.i + (c.up ? 0 : t), c.j + (c.up ? t : 0));
    };
    std::vector<PlanePoint> points(all.size());
    for (int k = 0; k < kHalvings && !all.empty(); ++k) {
      for (std::size_t c = 0; c < all.size(); ++c) points[c] = middle(all[c]);
      const std::vector<double> found = f_(points);
      for (std::size_t c = 0; c < all.size(); ++c)
        ((found[c] >= level) == all[c].inside ? all[c].low : all[c].high) = (all[c].low + all[c].high) / 2;
    }
    std::vector<PlaneLine> out;
    std::size_t c = 0;
    for (const std::vector<int>& path : paths) {
      out.emplace_back();
      for (std::size_t k = 0; k < path.size(); ++k) out.back().push_back(middle(all[c++]));
    }
    return out;
  }

  const PlaneFunction& f_;
  PlanePoint lower_, upper_;
  int cells_, nodes_;
  std::vector<double> values_;
};

}  // namespace

std::vector<PlaneLine> contour_lines(const PlaneFunction& f, PlanePoint lower, PlanePoint upper, double level,
                                     int cells) {
  return PlaneGrid(f, lower, upper, cells).lines(level);
}

}  // namespace fenchel
