#include "fenchel/predict/sobolev_function.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include <Eigen/LU>

#include "distribution/line/panels.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/infinity.hpp"
#include "predict/numeric/sobolev_grid.hpp"
#include "predict/numeric/sobolev_run.hpp"

namespace fenchel::detail {
namespace {

constexpr int kFirstCells = 8, kMostCells = 128;  // in a panel

struct Smooth {
  double tau;
  std::vector<SobolevRun> runs;

  [[nodiscard]] double density(double t) const {
    const SobolevRun* run = run_at(t);
    return run == nullptr ? 0 : std::max(0.0, run->density(t));
  }
  [[nodiscard]] double slope(double t) const {
    const SobolevRun* run = run_at(t);
    return run == nullptr ? 0 : run->slope(t);
  }

 private:
  [[nodiscard]] const SobolevRun* run_at(double t) const {
    const auto after = std::upper_bound(runs.begin(), runs.end(), t,
                                        [](double x, const SobolevRun& run) { return x < run.lower(); });
    return after == runs.begin() || t > std::prev(after)->upper() ? nullptr : &*std::prev(after);
  }
};

RunEnd end_of(bool at_stretch, bool masked) {
  return !at_stretch ? RunEnd::free : masked ? RunEnd::mask : RunEnd::domain;
}

/// Newton's iteration for tau and the free ends of runs: no force at free ends, and mass one.
class Polish {
 public:
  Polish(const ScorePanels& panels, const std::shared_ptr<const SmoothScore>& score, double beta,
         const GridObstacle& grid)
      : panels_(panels), score_(score), beta_(beta), grid_(grid), found_{grid.tau, {}} {
    for (const GridRun& run : grid.runs) {
      const Stretch& stretch = panels.stretches()[run.stretch];
      const RunEnd below = end_of(run.at_start, stretch.masked_below),
                   above = end_of(run.at_end, stretch.masked_above);
      found_.runs.emplace_back(score, beta, grid.tau, run.lower, run.upper, below, above);
      row_below_.push_back(below == RunEnd::free ? unknowns_++ : 0);
      row_above_.push_back(above == RunEnd::free ? unknowns_++ : 0);
    }
  }

  /// None if it does not converge.
  [[nodiscard]] std::optional<Smooth> solve() {
    constexpr int kMostSteps = 100;
    constexpr double kStill = 1e-15, kConverged = 1e-10, kLongest = 0.25;
    double last = kInfinity, damping = 1;
    for (int step = 0; step < kMostSteps; ++step) {
      const Eigen::VectorXd change = newton_step();
      const double size = relative_size(change);
      if (!std::isfinite(size)) return std::nullopt;
      damping = size < last ? std::min(1.0, 2 * damping) : damping / 2;  // jumps of f are kinks of the forces
      if (!move(damping * std::min(1.0, kLongest / size) * change)) return std::nullopt;
      if (size <= kStill || (size <= kConverged && size >= last)) return std::move(found_);
      last = size;
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] const Stretch& stretch_of(std::size_t run) const {
    return panels_.stretches()[grid_.runs[run].stretch];
  }

  [[nodiscard]] Eigen::VectorXd newton_step() const {
    Eigen::MatrixXd jacobian = Eigen::MatrixXd::Zero(unknowns_, unknowns_);
    Eigen::VectorXd residual = Eigen::VectorXd::Zero(unknowns_);
    residual[0] = -1;
    for (std::size_t k = 0; k < found_.runs.size(); ++k) add_run(k, jacobian, residual);
    return jacobian.partialPivLu().solve(-residual);
  }

  /// The mass of a run, the forces at its free ends, and their derivatives.
  void add_run(std::size_t k, Eigen::MatrixXd& jacobian, Eigen::VectorXd& residual) const {
    const SobolevRun& run = found_.runs[k];
    const SobolevRun::Forces f = run.forces();
    const double width = run.upper() - run.lower();
    residual[0] +=
        panels_.integral(stretch_of(k), run.lower(), run.upper()) - found_.tau * width - f.below - f.above;
    jacobian(0, 0) -= width + f.below_by_tau + f.above_by_tau;
    const Eigen::Index below = row_below_[k], above = row_above_[k];
    if (below > 0) {
      residual[below] = f.below;
      jacobian(below, 0) = f.below_by_tau;
      jacobian(below, below) = f.below_by_lower;
      if (above > 0) jacobian(below, above) = f.below_by_upper;
      jacobian(0, below) = -(score_->f(run.lower()) - found_.tau) - f.below_by_lower - f.above_by_lower;
    }
    if (above > 0) {
      residual[above] = f.above;
      jacobian(above, 0) = f.above_by_tau;
      jacobian(above, above) = f.above_by_upper;
      if (below > 0) jacobian(above, below) = f.above_by_lower;
      jacobian(0, above) = score_->f(run.upper()) - found_.tau - f.below_by_upper - f.above_by_upper;
    }
  }

  /// The largest change, of ends relative to their run and of tau to its size or that of a density.
  [[nodiscard]] double relative_size(const Eigen::VectorXd& change) const {
    double size = 0;
    for (std::size_t k = 0; k < found_.runs.size(); ++k) {
      const double width = found_.runs[k].upper() - found_.runs[k].lower();
      for (const Eigen::Index row : {row_below_[k], row_above_[k]}) {
        if (row == 0) continue;
        size = std::max(size, std::abs(change[row]) / width);
      }
    }
    return std::max(size, std::abs(change[0]) / (std::abs(found_.tau) + 1 / panels_.window().width()));
  }

  /// False where ends would leave their stretch, or runs overlap.
  [[nodiscard]] bool move(const Eigen::VectorXd& change) {
    found_.tau += change[0];
    for (std::size_t k = 0; k < found_.runs.size(); ++k) {
      const SobolevRun& run = found_.runs[k];
      const Stretch& stretch = stretch_of(k);
      const double lower = row_below_[k] > 0 ? run.lower() + change[row_below_[k]] : run.lower();
      const double upper = row_above_[k] > 0 ? run.upper() + change[row_above_[k]] : run.upper();
      if (!(lower < upper) || lower < stretch.edges.front() || upper > stretch.edges.back()) return false;
      if (k > 0 && lower < found_.runs[k - 1].upper()) return false;
      found_.runs[k] = SobolevRun(score_, beta_, found_.tau, lower, upper, run.below(), run.above());
    }
    return true;
  }

  const ScorePanels& panels_;
  std::shared_ptr<const SmoothScore> score_;
  double beta_;
  const GridObstacle& grid_;
  Smooth found_;
  Eigen::Index unknowns_ = 1;                        // tau first
  std::vector<Eigen::Index> row_below_, row_above_;  // of a run's ends, 0 where they stand still
};

/// The largest difference of two predictions on a window, over the peak.
double disagreement(const Smooth& p, const Smooth& q, const Interval& window) {
  constexpr int kPoints = 200;
  constexpr double kOffset = 0.381966;  // away from likely jumps
  if (p.runs.size() != q.runs.size()) return 1;
  double most = 0, peak = 0;
  for (int i = 0; i < kPoints; ++i) {
    const double t = std::lerp(window.lower(), window.upper(), (i + kOffset) / kPoints);
    const double at_p = p.density(t);
    most = std::max(most, std::abs(at_p - q.density(t)));
    peak = std::max(peak, at_p);
  }
  for (const SobolevRun& run : p.runs) {
    const double t = run.lower() + (run.upper() - run.lower()) / 2, at_p = p.density(t);
    most = std::max(most, std::abs(at_p - q.density(t)));
    peak = std::max(peak, at_p);
  }
  return most / peak;
}

double integrate_runs(FunctionRef<double(const SobolevRun&, double)> f, const Smooth& p, double beta) {
  double total = 0;
  for (const SobolevRun& run : p.runs) {
    const Interval whole(run.lower(), run.upper());
    const double first = std::min(1 / beta, whole.width() / 4);
    const Centre centres[] = {{whole.lower(), 0, first}, {whole.upper(), first, 0}};
    total += integrate_panels([&](double t) { return f(run, t); }, {&whole, 1}, centres,
                              slope_accuracy(beta * whole.width()))
                 .value;
  }
  return total;
}

/// Where quadrature must start to see layers of width 1 / beta: at ends, and about kinks of the score, which
/// are maxima or lie where the panels are shortest.
std::vector<double> layers(const ScorePanels& panels, const Smooth& p, double beta) {
  constexpr double kShort = 1e-8, kLayer = 8;
  std::vector<double> cuts, kinks = panels.profile().maxima();
  for (const Stretch& stretch : panels.stretches())
    for (std::size_t i = 1; i < stretch.edges.size(); ++i)
      if (stretch.edges[i] - stretch.edges[i - 1] < kShort * panels.window().width())
        kinks.push_back(stretch.edges[i]);
  std::sort(kinks.begin(), kinks.end());
  double last = -kInfinity;
  for (const SobolevRun& run : p.runs) {
    const std::vector<double> ends = run_cuts(beta, run.lower(), run.upper());
    cuts.insert(cuts.end(), ends.begin(), ends.end());
    if (ends.empty()) continue;
    for (const double t : kinks) {
      if (t - last < kShort * panels.window().width() || t <= run.lower() || t >= run.upper()) continue;
      for (const double away : {-kLayer, -1.0, 0.0, 1.0, kLayer}) cuts.push_back(t + away / beta);
      last = t;
    }
  }
  return cuts;
}

/// The local maxima of the density: highest of its values at ends of cells and at maxima of the score, then
/// where the slope changes its sign beside it.
std::vector<double> modes_of(const ScorePanels& panels, const Smooth& p) {
  constexpr double kNoise = 1e-12, kClose = 1e-10;
  std::vector<double> points = panels.profile().maxima(), modes;
  for (const Stretch& stretch : panels.stretches()) {
    const std::vector<double> edges = panels.cell_edges(stretch, 1, 0);
    points.insert(points.end(), edges.begin(), edges.end());
  }
  std::sort(points.begin(), points.end());
  for (const SobolevRun& run : p.runs) {
    std::vector<double> t = {run.lower()};
    for (const double point : points)
      if (point > t.back() && point < run.upper()) t.push_back(point);
    t.push_back(run.upper());
    std::vector<double> heights(t.size());
    std::transform(t.begin(), t.end(), heights.begin(), [&p](double at) { return p.density(at); });
    const double noise = kNoise * *std::max_element(heights.begin(), heights.end());
    const auto add = [&](std::size_t i) {
      double lower = t[i == 0 ? 0 : i - 1], upper = t[std::min(i + 1, t.size() - 1)];
      while (upper - lower > kClose * (run.upper() - run.lower())) {
        const double middle = std::midpoint(lower, upper);
        (run.slope(middle) > 0 ? lower : upper) = middle;
      }
      modes.push_back(std::midpoint(lower, upper));
    };
    std::size_t highest = 0, lowest = 0;
    bool rises = true;
    for (std::size_t i = 1; i < t.size(); ++i) {
      if (heights[i] > heights[highest]) highest = i;
      if (heights[i] < heights[lowest]) lowest = i;
      if (rises && heights[i] < heights[highest] - noise) {
        add(highest);
        rises = false;
        lowest = i;
      } else if (!rises && heights[i] > heights[lowest] + noise) {
        rises = true;
        highest = i;
      }
    }
    if (rises) add(highest);
  }
  return modes;
}

SobolevPrediction without_penalty(const Sobolev& omega, const std::function<double(double)>& f,
                                  const Interval& domain, double accuracy) {
  const double temperature = omega.temperature();
  NumericPrediction p = predict_numeric(Tsallis(2, temperature), f, domain, accuracy);
  const double roughness = fenchel::expectation(
      p.density,
      [&](double t) {
        const auto& pieces = p.density.support();
        const auto piece =
            std::find_if(pieces.begin(), pieces.end(), [&](const Interval& s) { return s.contains(t); });
        const double step = 1e-6 * piece->width();
        const double near = std::max(piece->lower(), t - step), far = std::min(piece->upper(), t + step);
        const double slope = (f(far) - f(near)) / (far - near) / temperature;
        return slope * slope / pdf(p.density, t);
      },
      1e-8);
  return {std::move(p.density), p.top, p.offset - 1, roughness};
}

}  // namespace

SobolevPrediction predict_numeric(const Sobolev& omega, const std::function<double(double)>& f,
                                  const Interval& domain, double accuracy) {
  checked_positive("predict", "accuracy", accuracy);
  const double beta = 1 / std::sqrt(omega.gamma());
  if (std::isinf(beta)) return without_penalty(omega, f, domain, accuracy);
  ScoreWindows windows(f, domain, omega.temperature(), std::max(accuracy, 1e-10));
  int doublings = 0, cells = kFirstCells;
  std::optional<ScorePanels> panels(windows.panels(doublings));
  GridObstacle grid = solve_obstacle(*panels, omega.gamma(), cells);
  const auto window_holds = [&] {
    const bool below = grid.runs.front().at_start && !panels->stretches().front().masked_below;
    const bool above = grid.runs.back().at_end && !panels->stretches().back().masked_above;
    return windows.holds(panels->window(), grid.tau) && !(windows.free_below() && below) &&
           !(windows.free_above() && above);
  };
  while (!window_holds()) {
    if (++doublings > kMostDoublings) throw_no_window(panels->window().width());
    panels.emplace(windows.panels(doublings));
    grid = solve_obstacle(*panels, omega.gamma(), cells);
  }
  if (beta * panels->window().width() > kUnfelt) return without_penalty(omega, f, domain, accuracy);
  auto score = std::make_shared<SmoothScore>();
  score->f = [at = *panels](double t) { return at(t); };
  for (const Stretch& stretch : panels->stretches())
    score->edges.insert(score->edges.end(), stretch.edges.begin(), stretch.edges.end());
  std::shared_ptr<const Smooth> p;
  for (double off = 1;;) {
    std::optional<Smooth> finer = Polish(*panels, score, beta, grid).solve();
    if (finer && p) off = disagreement(*p, *finer, panels->window());
    p = finer ? std::make_shared<const Smooth>(*std::move(finer)) : nullptr;
    if (p && off <= accuracy) break;
    if ((cells *= 2) > kMostCells)
      throw ConvergenceError(error_message("predict", "the difference of two grids over the peak",
                                           "must reach " + shortest(accuracy), off));
    grid = solve_obstacle(*panels, omega.gamma(), cells);
  }
  std::vector<Interval> support;
  for (const SobolevRun& run : p->runs) support.emplace_back(run.lower(), run.upper());
  const double roughness = integrate_runs(
      [](const SobolevRun& run, double t) {
        const double slope = run.slope(t);
        return slope * slope;
      },
      *p, beta);
  std::vector<double> modes = modes_of(*panels, *p);
  for (const double t : layers(*panels, *p, beta)) modes.push_back(t);
  for (const double t : windows.profile().maxima())
    if (p->density(t) > 0) modes.push_back(t);
  NumericDensity density([p](double t) { return std::log(p->density(t)); }, std::move(support),
                         std::move(modes), std::max(1e-10, accuracy / 100));
  check_mass(density, accuracy);
  return {density.with_derivative([p](double t) { return p->slope(t); }), windows.profile().top(), p->tau,
          roughness};
}

double conjugate(const Sobolev& omega, const SobolevPrediction& p, const std::function<double(double)>& f) {
  const double mean = fenchel::expectation(p.density, [&](double t) { return f(t) - p.top; });
  return p.top + (omega.temperature() * (1 + p.threshold) + mean) / 2;
}

}  // namespace fenchel::detail
