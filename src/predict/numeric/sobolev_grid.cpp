#include "predict/numeric/sobolev_grid.hpp"

namespace fenchel::detail {
namespace {

class ObstacleGrid {
 public:
  ObstacleGrid(const ScorePanels& score, double gamma, int cells_per_panel) {
    constexpr double kLeastCell = 1e-7;  // of the window
    for (std::size_t s = 0; s < score.stretches().size(); ++s) {
      const Stretch& stretch = score.stretches()[s];
      const std::vector<double> edges =
          score.cell_edges(stretch, cells_per_panel, kLeastCell * score.window().width());
      for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
        const double width = edges[i + 1] - edges[i], previous = i > 0 ? edges[i] - edges[i - 1] : 0;
        const bool first = i == 0, last = i + 2 == edges.size();
        cells_.push_back(
            {edges[i], edges[i + 1], width, width * score.mean(edges[i], edges[i + 1]),
             first ? 0 : 2 * gamma / (width + previous),
             2 * gamma / width * ((first && stretch.masked_below) + (last && stretch.masked_above)), s, first,
             last});
      }
    }
    active_.assign(cells_.size(), true);
    p_.resize(cells_.size());
    by_tau_.resize(cells_.size());
  }

  GridObstacle solve() {
    constexpr int kMostSteps = 100;
    solve_linear(0);
    double tau = (sum(p_) - 1) / -sum(by_tau_);
    for (int step = 0; step < kMostSteps; ++step) {
      settle(tau);
      const double next = tau + (sum(p_) - 1) / -sum(by_tau_);
      if (!(next > tau)) break;
      tau = next;
    }
    GridObstacle found{tau, {}};
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (!active_[i] || !(p_[i] > 0)) continue;
      const Cell& cell = cells_[i];
      const bool continues = !found.runs.empty() && !cell.first && found.runs.back().upper == cell.lower;
      if (!continues) found.runs.push_back({cell.stretch, cell.lower, cell.upper, cell.first, cell.last});
      found.runs.back().upper = cell.upper;
      found.runs.back().at_end = cell.last;
    }
    return found;
  }

 private:
  struct Cell {
    double lower, upper, width, score;  // score: its integral
    double link;                        // gamma over the distance to the cell before
    double mask;                        // gamma over the distances to masks
    std::size_t stretch;
    bool first, last;
  };

  [[nodiscard]] double link_after(std::size_t i) const { return cells_[i].last ? 0 : cells_[i + 1].link; }
  [[nodiscard]] double sum(const std::vector<double>& x) const {
    double total = 0;
    for (std::size_t i = 0; i < x.size(); ++i) total += cells_[i].width * x[i];
    return total;
  }

  /// p on the active cells and its derivative by tau: elimination from left to right, and back.
  void solve_linear(double tau) {
    const std::size_t n = cells_.size();
    std::vector<double> ratio(n);
    for (std::size_t i = 0; i < n; ++i) {
      p_[i] = by_tau_[i] = 0;
      if (!active_[i]) continue;
      const Cell& cell = cells_[i];
      const bool tied = !cell.first && active_[i - 1];
      const double pivot = cell.width + cell.mask + link_after(i) + cell.link * (tied ? 1 - ratio[i - 1] : 1);
      ratio[i] = link_after(i) / pivot;
      p_[i] = (cell.score - tau * cell.width + (tied ? cell.link * p_[i - 1] : 0)) / pivot;
      by_tau_[i] = (-cell.width + (tied ? cell.link * by_tau_[i - 1] : 0)) / pivot;
    }
    for (std::size_t i = n - 1; i-- > 0;) {
      if (!active_[i] || cells_[i].last || !active_[i + 1]) continue;
      p_[i] += ratio[i] * p_[i + 1];
      by_tau_[i] += ratio[i] * by_tau_[i + 1];
    }
  }

  /// Primal-dual active sets: finite for the M-matrix at hand.
  void settle(double tau) {
    constexpr int kMostRounds = 1000;
    for (int round = 0; round < kMostRounds; ++round) {
      solve_linear(tau);
      bool changed = false;
      for (std::size_t i = 0; i < cells_.size(); ++i) {
        const Cell& cell = cells_[i];
        const double before = cell.first ? 0 : cell.link * p_[i - 1];
        const double after = cell.last ? 0 : link_after(i) * p_[i + 1];
        const bool wanted = active_[i] ? p_[i] > 0 : cell.score - tau * cell.width + before + after > 0;
        next_active_.push_back(wanted);
        changed = changed || wanted != active_[i];
      }
      active_.swap(next_active_);
      next_active_.clear();
      if (!changed) return;
    }
    solve_linear(tau);
  }

  std::vector<Cell> cells_;
  std::vector<bool> active_, next_active_;
  std::vector<double> p_, by_tau_;
};

}  // namespace

GridObstacle solve_obstacle(const ScorePanels& score, double gamma, int cells_per_panel) {
  return ObstacleGrid(score, gamma, cells_per_panel).solve();
}

}  // namespace fenchel::detail
