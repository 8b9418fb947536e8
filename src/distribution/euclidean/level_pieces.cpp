#include "distribution/euclidean/level_pieces.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {
namespace {

// Nodes of a scan along an axis, in the plane and in space. A slice of space that meets the region between
// two nodes of the second axis is not seen: the mass that is lost is like the fourth power of their distance.
constexpr int kPlaneNodes[] = {48, 64}, kSpaceNodes[] = {32, 80, 40};
// Lines and planes that are looked at together.
constexpr Eigen::Index kLinesAtOnce = 2048, kPlanesAtOnce = 64;

struct Sample {
  double at, excess;
};

/// Three points of a line, the middle one with the largest w = sign * excess, which is not yet positive.
struct Search {
  std::size_t line;
  double sign;
  double a, b, c, at_a, at_b, at_c;

  /// What a concave w can reach.
  [[nodiscard]] double bound() const {
    const double right = at_b + (at_b - at_a) * (c - b) / (b - a),
                 left = at_b + (at_b - at_c) * (b - a) / (c - b);
    return std::max(left, right);
  }
  /// A parabola's top, or a golden section.
  [[nodiscard]] double next(bool golden) const {
    constexpr double kGolden = 0.381966011250105151795, kNear = 1e-3;
    const double first = (at_b - at_a) * (b - c), second = (at_b - at_c) * (b - a);
    const double top = b - ((b - a) * second - (b - c) * first) / (2 * (second - first));
    const double margin = kNear * (c - a);
    if (!golden && top > a + margin && top < c - margin && std::abs(top - b) > kNear * margin) return top;
    return c - b > b - a ? b + kGolden * (c - b) : b - kGolden * (b - a);
  }
  void take(double x, double at_x) {
    if (at_x > at_b) {
      (x > b ? a : c) = b;
      (x > b ? at_a : at_c) = at_b;
      b = x;
      at_b = at_x;
    } else {
      (x > b ? c : a) = x;
      (x > b ? at_c : at_a) = at_x;
    }
  }
};

/// An edge between a point inside and one outside.
struct Edge {
  std::size_t line, piece;
  bool begins;
  double in, out, at_in, at_out;
};

Eigen::MatrixXd points_on(const Eigen::MatrixXd& prefixes,
                          const std::vector<std::pair<std::size_t, double>>& at) {
  Eigen::MatrixXd u(prefixes.rows() + 1, static_cast<Eigen::Index>(at.size()));
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto column = static_cast<Eigen::Index>(i);
    u.col(column).head(prefixes.rows()) = prefixes.col(static_cast<Eigen::Index>(at[i].first));
    u(prefixes.rows(), column) = at[i].second;
  }
  return u;
}

std::vector<Search> find_searches(const std::vector<std::vector<Sample>>& lines) {
  std::vector<Search> found;
  for (std::size_t line = 0; line < lines.size(); ++line) {
    const auto& s = lines[line];
    for (std::size_t i = 1; i + 1 < s.size(); ++i) {
      const double sign = s[i].excess >= 0 ? -1 : 1;
      const double a = sign * s[i - 1].excess, b = sign * s[i].excess, c = sign * s[i + 1].excess;
      if (!(b >= a && b >= c && b > -kInfinity) || (a == b && b == c)) continue;
      found.push_back({line, sign, s[i - 1].at, s[i].at, s[i + 1].at, a, b, c});
    }
  }
  return found;
}

}  // namespace

Eigen::MatrixXd extended(const Eigen::MatrixXd& prefixes, const std::vector<double>& values) {
  const auto count = static_cast<Eigen::Index>(values.size());
  Eigen::MatrixXd all(prefixes.rows() + 1, prefixes.cols() * count);
  for (Eigen::Index i = 0; i < prefixes.cols(); ++i) {
    all.block(0, i * count, prefixes.rows(), count) = prefixes.col(i).replicate(1, count);
    for (Eigen::Index j = 0; j < count; ++j)
      all(prefixes.rows(), i * count + j) = values[static_cast<std::size_t>(j)];
  }
  return all;
}

LevelPieces::LevelPieces(const LevelRegion& region)
    : region_(region),
      least_(Eigen::VectorXd::Constant(region.dimension(), kInfinity)),
      most_(-least_),
      spacing_(region.dimension()) {
  const Eigen::Index n = region.dimension();
  for (std::vector<bool>& end : touched_) end.assign(index(n), false);
  for (Eigen::Index axis = 0; axis < n; ++axis) {
    const int count = n == 2 ? kPlaneNodes[axis] : kSpaceNodes[axis];
    spacing_[axis] = 1.01 * range(axis) / count;
    std::vector<double> nodes;
    for (int i = 0; i <= count; ++i)
      nodes.push_back(std::lerp(region.lower[axis], region.upper[axis], static_cast<double>(i) / count));
    for (const Eigen::VectorXd& at : region.maxima)
      if (at[axis] > region.lower[axis] && at[axis] < region.upper[axis]) nodes.push_back(at[axis]);
    std::sort(nodes.begin(), nodes.end());
    const double least = 1e-9 * range(axis);
    nodes.erase(
        std::unique(nodes.begin(), nodes.end(), [least](double a, double b) { return b - a < least; }),
        nodes.end());
    nodes.back() = region.upper[axis];
    nodes_.push_back(std::move(nodes));
  }
}

std::vector<Pieces> LevelPieces::along(Eigen::Index axis, const Eigen::MatrixXd& prefixes, bool locate) {
  const bool last = axis == region_.dimension() - 1;
  const Eigen::Index step = last ? kLinesAtOnce : kPlanesAtOnce;
  std::vector<Pieces> all;
  for (Eigen::Index begin = 0; begin < prefixes.cols(); begin += step) {
    const Eigen::MatrixXd some = prefixes.middleCols(begin, std::min(step, prefixes.cols() - begin));
    const std::vector<Pieces> found = last ? along_lines(some) : along_planes(axis, some, locate);
    note_ends(axis, found);
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

void LevelPieces::note_ends(Eigen::Index axis, const std::vector<Pieces>& found) {
  for (const Pieces& pieces : found) {
    if (pieces.empty()) continue;
    least_[axis] = std::min(least_[axis], pieces.front().lower());
    most_[axis] = std::max(most_[axis], pieces.back().upper());
    if (pieces.front().lower() == region_.lower[axis]) touched_[0][index(axis)] = true;
    if (pieces.back().upper() == region_.upper[axis]) touched_[1][index(axis)] = true;
  }
}

bool LevelPieces::is_cut() const {
  for (Eigen::Index i = 0; i < region_.dimension(); ++i)
    if ((touches_lower(i) && region_.lower[i] > region_.least[i]) ||
        (touches_upper(i) && region_.upper[i] < region_.most[i]))
      return true;
  return false;
}

std::vector<Pieces> LevelPieces::along_lines(const Eigen::MatrixXd& prefixes) {
  constexpr int kMostSearches = 40, kMostHalvings = 120;
  const Eigen::Index axis = region_.dimension() - 1;
  const std::vector<double>& nodes = nodes_[index(axis)];
  const Eigen::VectorXd scanned = region_.excess(extended(prefixes, nodes));
  std::vector<std::vector<Sample>> lines(index(prefixes.cols()));
  for (std::size_t line = 0; line < lines.size(); ++line)
    for (std::size_t i = 0; i < nodes.size(); ++i)
      lines[line].push_back({nodes[i], scanned[static_cast<Eigen::Index>(line * nodes.size() + i)]});

  std::vector<Search> searches = find_searches(lines);
  std::vector<std::pair<std::size_t, double>> asked;
  for (int round = 0; round < kMostSearches; ++round) {
    std::erase_if(searches,
                  [&](const Search& s) { return !(s.bound() >= 0) || s.c - s.a < 1e-9 * range(axis); });
    if (searches.empty()) break;
    asked.clear();
    for (const Search& s : searches) asked.emplace_back(s.line, s.next(round % 3 == 2));
    const Eigen::VectorXd excess = region_.excess(points_on(prefixes, asked));
    for (std::size_t i = 0; i < searches.size(); ++i) {
      Search& s = searches[i];
      const double value = excess[static_cast<Eigen::Index>(i)], w = s.sign * value;
      s.take(asked[i].second, w);
      if (!(s.sign > 0 ? w >= 0 : w > 0)) continue;
      auto& line = lines[s.line];
      const auto after = std::lower_bound(line.begin(), line.end(), asked[i].second,
                                          [](const Sample& sample, double t) { return sample.at < t; });
      line.insert(after, {asked[i].second, value});
      s.c = s.a;  // found
    }
  }

  std::vector<Pieces> found(lines.size());
  std::vector<Edge> edges;
  for (std::size_t line = 0; line < lines.size(); ++line) {
    const auto& s = lines[line];
    double start = s.front().at;
    for (std::size_t i = 0; i < s.size(); ++i) {
      const bool in = s[i].excess >= 0, before = i > 0 && s[i - 1].excess >= 0;
      if (i > 0 && in && !before) {
        edges.push_back({line, found[line].size(), true, s[i].at, s[i - 1].at, s[i].excess, s[i - 1].excess});
        start = s[i].at;
      } else if (!in && before) {
        edges.push_back(
            {line, found[line].size(), false, s[i - 1].at, s[i].at, s[i - 1].excess, s[i].excess});
        found[line].emplace_back(start, s[i - 1].at);
      }
    }
    if (s.back().excess >= 0) found[line].emplace_back(start, s.back().at);
  }

  // In a stretched frame the density is 0 at an edge but for e^-300.
  const double least =
      (region_.frame.stretched ? 1e-4 : 4 * std::numeric_limits<double>::epsilon()) * range(axis);
  std::vector<Edge*> open;
  open.reserve(edges.size());
  for (Edge& edge : edges) open.push_back(&edge);
  for (int round = 0; round < kMostHalvings && !open.empty(); ++round) {
    std::erase_if(open, [&](const Edge* e) { return std::abs(e->out - e->in) <= least || e->at_in == 0; });
    if (open.empty()) break;
    asked.clear();
    for (const Edge* e : open) {  // the Illinois method, with halvings between
      const double secant = e->in + (e->out - e->in) * (e->at_in / (e->at_in - e->at_out));
      const bool halve = round % 3 == 2 || std::isinf(e->at_out);
      const double middle = e->in + (e->out - e->in) / 2;
      const bool within = std::min(e->in, e->out) < secant && secant < std::max(e->in, e->out);
      asked.emplace_back(e->line, halve || !within ? middle : secant);
    }
    const Eigen::VectorXd excess = region_.excess(points_on(prefixes, asked));
    for (std::size_t i = 0; i < open.size(); ++i) {
      Edge& e = *open[i];
      const double value = excess[static_cast<Eigen::Index>(i)];
      if (value >= 0) {
        e.in = asked[i].second;
        e.at_in = value;
        if (!std::isinf(e.at_out)) e.at_out /= 2;
      } else {
        e.out = asked[i].second;
        e.at_out = value;
        e.at_in /= 2;
      }
    }
  }
  for (const Edge& e : edges) {
    Interval& piece = found[e.line][e.piece];
    piece = e.begins ? Interval(std::min(e.in, piece.upper()), piece.upper())
                     : Interval(piece.lower(), std::max(e.in, piece.lower()));
  }
  return found;
}

std::vector<Pieces> LevelPieces::along_planes(Eigen::Index axis, const Eigen::MatrixXd& prefixes,
                                              bool locate) {
  constexpr int kParts = 8;
  const bool next_to_last = axis == region_.dimension() - 2;
  // The rest near a change is as small as the power 3/2 of this, or more.
  const double least = (region_.frame.stretched ? 1e-4 : next_to_last ? 1e-10 : 1e-5) * range(axis);
  const std::vector<double>& nodes = nodes_[index(axis)];
  const std::vector<Pieces> scanned = along(axis + 1, extended(prefixes, nodes), false);

  struct Change {
    std::size_t prefix;
    double lower, upper;
    std::size_t before, after;
  };
  std::vector<Change> changes, located;
  for (std::size_t k = 0; k < index(prefixes.cols()); ++k) {
    for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
      const std::size_t before = scanned[k * nodes.size() + i].size(),
                        after = scanned[k * nodes.size() + i + 1].size();
      if (before != after) changes.push_back({k, nodes[i], nodes[i + 1], before, after});
    }
  }
  while (locate && !changes.empty()) {
    Eigen::MatrixXd asked(axis + 1, static_cast<Eigen::Index>(changes.size()) * kParts);
    for (std::size_t i = 0; i < changes.size(); ++i) {
      for (int j = 0; j < kParts; ++j) {
        const auto column = static_cast<Eigen::Index>(i) * kParts + j;
        asked.col(column).head(axis) = prefixes.col(static_cast<Eigen::Index>(changes[i].prefix));
        asked(axis, column) = std::lerp(changes[i].lower, changes[i].upper, (j + 1.0) / (kParts + 1));
      }
    }
    const std::vector<Pieces> found = along(axis + 1, asked, false);
    std::vector<Change> finer;
    for (std::size_t i = 0; i < changes.size(); ++i) {
      double lower = changes[i].lower;
      std::size_t before = changes[i].before;
      for (int j = 0; j <= kParts; ++j) {
        const auto at = i * kParts + static_cast<std::size_t>(j);
        const double upper = j < kParts ? asked(axis, static_cast<Eigen::Index>(at)) : changes[i].upper;
        const std::size_t after = j < kParts ? found[at].size() : changes[i].after;
        if (before != after)
          (upper - lower <= least ? located : finer)
              .push_back({changes[i].prefix, lower, upper, before, after});
        lower = upper;
        before = after;
      }
    }
    changes = std::move(finer);
  }
  if (!locate) located = std::move(changes);
  std::sort(located.begin(), located.end(), [](const Change& a, const Change& b) {
    return a.prefix != b.prefix ? a.prefix < b.prefix : a.lower < b.lower;
  });

  std::vector<Pieces> result(index(prefixes.cols()));
  auto change = located.begin();
  for (std::size_t k = 0; k < result.size(); ++k) {
    double start = nodes.front();
    std::size_t count = scanned[k * nodes.size()].size();
    for (; change != located.end() && change->prefix == k; ++change) {
      const double end = change->before == 0 ? change->upper : change->lower;
      if (count > 0 && end > start) result[k].emplace_back(start, end);
      start = end;
      count = change->after;
    }
    if (count > 0 && nodes.back() > start) result[k].emplace_back(start, nodes.back());
  }
  return result;
}

}  // namespace fenchel::detail
