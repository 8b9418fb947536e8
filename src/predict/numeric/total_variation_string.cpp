#include "predict/numeric/total_variation_string.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/taut_string.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {
namespace {

constexpr std::size_t kMostCells = 300000;
constexpr int kSplit = 4, kMostRounds = 64;
constexpr double kLeastCell = 1e-12;    // of the window
constexpr double kLeastPlateau = 1e-9;  // of the window: what is shorter has no slope but for rounding

struct Cell {
  double lower, upper, mean;
  [[nodiscard]] double width() const { return upper - lower; }
};
struct Block {
  std::size_t begin, end;
  double value;
};

Cell make_cell(const ScorePanels& score, double lower, double upper) {
  return {lower, upper, score.mean(lower, upper)};
}

void split(const ScorePanels& score, const Cell& cell, int parts, std::vector<Cell>& into) {
  double lower = cell.lower;
  for (int i = 1; i <= parts; ++i) {
    const double upper = i == parts ? cell.upper : std::lerp(cell.lower, cell.upper, double(i) / parts);
    if (upper > lower) into.push_back(make_cell(score, lower, upper));
    lower = upper;
  }
}

std::vector<Block> solve_string(const std::vector<Cell>& cells, double gamma, bool masked_below,
                                bool masked_above) {
  const auto count = static_cast<index_t>(cells.size());
  std::vector<StringPiece> pieces(2 * cells.size());
  std::vector<Block> blocks;
  const auto cell = [&](index_t i) -> const Cell& { return cells[static_cast<std::size_t>(i)]; };
  const auto mean = [&](index_t i) {
    const double pull = (i == 0 && masked_below ? gamma : 0) + (i == count - 1 && masked_above ? gamma : 0);
    return cell(i).mean - pull / cell(i).width();
  };
  taut_string(
      count, mean, [&](index_t i) { return cell(i).width(); }, [&](index_t) { return gamma; },
      {pieces.data(), pieces.data() + count},
      [&](index_t begin, index_t end, double value) {
        const auto from = static_cast<std::size_t>(begin), to = static_cast<std::size_t>(end);
        if (!blocks.empty() && blocks.back().value == value) {
          blocks.back().end = to;
        } else {
          blocks.push_back({from, to, value});
        }
      });
  return blocks;
}

/// Whether the string leaves the tube there: everywhere but on single cells in a slope.
bool is_plateau(const std::vector<Block>& blocks, std::size_t j) {
  const Block& block = blocks[j];
  if (block.end - block.begin > 1 || j == 0 || j + 1 == blocks.size()) return true;
  return (blocks[j - 1].value < block.value) == (blocks[j + 1].value < block.value);
}

}  // namespace

ProxScore::ProxScore(const ScorePanels& score, double gamma, int cells_per_panel) : score_(score) {
  for (const Stretch& stretch : score.stretches()) add_stretch(stretch, gamma, cells_per_panel);
  solve_threshold();
}

void ProxScore::add_stretch(const Stretch& stretch, double gamma, int cells_per_panel) {
  std::vector<Cell> cells;
  const std::vector<double> edges = score_.cell_edges(stretch, cells_per_panel, 0);
  for (std::size_t i = 0; i + 1 < edges.size(); ++i)
    cells.push_back(make_cell(score_, edges[i], edges[i + 1]));
  const double grain = std::abs(score_.profile().top()) / score_.profile().temperature();
  const auto is_settled = [&](const Cell& cell, double value) {  // all but for rounding
    constexpr double kRounding = 8 * std::numeric_limits<double>::epsilon();
    if (cell.width() <= std::max(kRounding * std::abs(cell.lower), kLeastCell * score_.window().width()))
      return true;
    const double noise = kRounding * (grain + std::abs(value));
    return std::abs(cell.mean - value) <= noise && std::abs(score_(cell.lower) - value) <= noise &&
           std::abs(score_(cell.upper) - value) <= noise;
  };
  std::vector<Block> blocks;
  for (int round = 0;; ++round) {
    blocks = solve_string(cells, gamma, stretch.masked_below, stretch.masked_above);
    if (round == kMostRounds || cells.size() > kMostCells) break;
    std::vector<bool> at_end(cells.size(), false);
    bool any = false;
    for (std::size_t j = 0; j < blocks.size(); ++j) {
      if (!is_plateau(blocks, j)) continue;
      for (const std::size_t edge : {blocks[j].begin, blocks[j].end}) {
        if (edge == 0 || edge == cells.size()) continue;
        for (const std::size_t i : {edge - 1, edge}) {
          if (is_settled(cells[i], blocks[j].value)) continue;
          at_end[i] = any = true;
        }
      }
    }
    if (!any) break;
    std::vector<Cell> finer;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (at_end[i]) {
        split(score_, cells[i], kSplit, finer);
      } else {
        finer.push_back(cells[i]);
      }
    }
    cells = std::move(finer);
  }
  for (std::size_t j = 0; j < blocks.size(); ++j) {
    const Block& block = blocks[j];
    const double lower = cells[block.begin].lower, upper = cells[block.end - 1].upper;
    const bool flat = is_plateau(blocks, j) && upper - lower > kLeastPlateau * score_.window().width();
    const double mean = flat ? block.value : score_.mean(lower, upper);
    ProxPiece piece{lower, upper, flat, mean, mean, mean};
    if (!piece.flat) {
      piece.first = score_(lower);
      piece.last = score_(upper);
    }
    piece.after_mask = j == 0 && stretch.masked_below;
    piece.before_mask = j + 1 == blocks.size() && stretch.masked_above;
    pieces_.push_back(piece);
  }
}

double ProxScore::crossing(const ProxPiece& piece) const {
  double above = piece.first > threshold_ ? piece.lower : piece.upper;
  double below = piece.first > threshold_ ? piece.upper : piece.lower;
  for (double middle; middle = above + (below - above) / 2, middle != above && middle != below;)
    (score_(middle) > threshold_ ? above : below) = middle;
  return above;
}

/// Newton's iteration on the mass, convex in the threshold, from where it is at least one.
void ProxScore::solve_threshold() {
  constexpr int kMostSteps = 200;
  double total = 0, width = 0;
  for (const ProxPiece& piece : pieces_) {
    total += piece.mean * (piece.upper - piece.lower);
    width += piece.upper - piece.lower;
  }
  threshold_ = (total - 1) / width;
  for (int step = 0; step < kMostSteps; ++step) {
    double mass = 0, measure = 0;
    for (const ProxPiece& piece : pieces_) {
      double lower = piece.lower, upper = piece.upper, mean = piece.mean;
      const bool first = piece.first > threshold_, last = piece.last > threshold_;
      if (!first && !last) continue;
      if (first != last) {
        (first ? upper : lower) = crossing(piece);
        if (!(lower < upper)) continue;
        mean = make_cell(score_, lower, upper).mean;
      }
      mass += (mean - threshold_) * (upper - lower);
      measure += upper - lower;
    }
    const double next = threshold_ + (mass - 1) / measure;
    if (!(next > threshold_) || !(measure > 0)) break;
    threshold_ = next;
  }
}

double ProxScore::operator()(double t) const {
  const auto after = std::upper_bound(pieces_.begin(), pieces_.end(), t,
                                      [](double x, const ProxPiece& piece) { return x < piece.lower; });
  if (after == pieces_.begin() || t > std::prev(after)->upper) return -kInfinity;
  const ProxPiece& piece = *std::prev(after);
  return piece.flat ? piece.mean : score_(t);
}

/// By means, which are monotone between plateaus; what is shorter than a plateau may overshoot by rounding.
double ProxScore::total_variation() const {
  double sum = 0, last = -1;
  const auto visit = [&](double x) {
    const double p = std::max(0.0, x - threshold_);
    if (last >= 0) sum += std::abs(p - last);
    last = p;
  };
  for (const ProxPiece& piece : pieces_) {
    if (piece.after_mask) {
      visit(-kInfinity);
      visit(piece.first);
    }
    if (piece.upper - piece.lower > kLeastPlateau * score_.window().width()) visit(piece.mean);
    if (piece.before_mask) {
      visit(piece.last);
      visit(-kInfinity);
    }
  }
  return sum;
}

std::vector<Interval> ProxScore::support() const {
  std::vector<Interval> found;
  for (const ProxPiece& piece : pieces_) {
    double lower = piece.lower, upper = piece.upper;
    const bool first = piece.first > threshold_, last = piece.last > threshold_;
    if (!first && !last) continue;
    if (first != last) (first ? upper : lower) = crossing(piece);
    if (!(lower < upper)) continue;
    if (!found.empty() && found.back().upper() == lower && !piece.after_mask) {
      found.back() = Interval(found.back().lower(), upper);
    } else {
      found.emplace_back(lower, upper);
    }
  }
  return found;
}

}  // namespace fenchel::detail
