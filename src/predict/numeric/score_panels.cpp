#include "predict/numeric/score_panels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/quadrature/gauss_kronrod.hpp"
#include "distribution/line/panels.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/predict/function.hpp"

namespace fenchel::detail {
namespace {

constexpr int kLeastPanels = 64;

Interval hull(const std::vector<Interval>& pieces) { return {pieces.front().lower(), pieces.back().upper()}; }

/// What is not masked in the window; a mask of a few doubles is none.
std::vector<Interval> unmasked(const Profile& profile, const Interval& window) {
  std::vector<Interval> pieces;
  for (const Interval& piece : profile.level_set(kInfinity)) {
    const double lower = std::max(piece.lower(), window.lower());
    const double upper = std::min(piece.upper(), window.upper());
    if (!(lower < upper)) continue;
    if (!pieces.empty() && lower - pieces.back().upper() <= 1e-14 * window.width()) {
      pieces.back() = Interval(pieces.back().lower(), upper);
    } else {
      pieces.emplace_back(lower, upper);
    }
  }
  return pieces;
}

/// A jump beyond the outermost node of a rule is not seen by it: looks at the ends of a panel by themselves,
/// and cuts it where that makes a difference.
template <class Rule>
void reveal(const Rule& rule, const Panel& panel, double tolerance, int depth, std::vector<Panel>& found) {
  constexpr int kMostDepth = 60;
  constexpr double kEnd = 1. / 64;
  const double width = panel.upper - panel.lower;
  const double cuts[] = {panel.lower, panel.lower + kEnd * width, panel.lower + width / 2,
                         panel.upper - kEnd * width, panel.upper};
  Panel parts[4];
  double sum = 0;
  for (int i = 0; i < 4; ++i) {
    if (!(cuts[i] < cuts[i + 1])) return found.push_back(panel);
    parts[i] = rule(cuts[i], cuts[i + 1]);
    sum += parts[i].value;
  }
  const double noise = 64 * std::numeric_limits<double>::epsilon() * panel.scale;
  if (depth == kMostDepth || std::abs(sum - panel.value) <= std::max(tolerance, noise))
    return found.push_back(panel);
  for (const Panel& part : parts) reveal(rule, part, tolerance, depth + 1, found);
}

}  // namespace

ScorePanels::ScorePanels(std::shared_ptr<const Profile> profile, const Interval& window, double height)
    : profile_(std::move(profile)), window_(window) {
  const std::vector<Interval> pieces = unmasked(*profile_, window);
  const auto relative = [&](double t) { return std::max((*profile_)(t) / height, -1e300); };
  const std::vector<Centre> centres = make_centres(relative, pieces, profile_->maxima());
  // An error of the score in the support is one of the mass, which is 1.
  const double accuracy = std::clamp(1e-12 / (height * window.width()), 1e-14, 1e-13);
  const auto squeezed = [&](double t) { return 1 / (1 - relative(t)); };
  const PanelSum sum = integrate_panels(squeezed, pieces, centres, accuracy);
  std::vector<Panel> panels;
  const auto rule_of = [&](double lower, double upper) { return gauss_kronrod(squeezed, lower, upper); };
  for (const Panel& panel : sum.panels) reveal(rule_of, panel, 0.1 * accuracy * sum.scale, 0, panels);
  for (const Interval& piece : pieces) {
    Stretch stretch{{piece.lower()}, {0}, piece.lower() > window.lower(), piece.upper() < window.upper()};
    double last = 0;  // the integral over the last panel
    for (const Panel& panel : panels) {
      if (panel.lower < piece.lower() || panel.upper > piece.upper()) continue;
      const std::size_t count = stretch.edges.size();
      if (count > 1) {  // beside a jump there are many panels, of which one is enough
        const double both = gauss_kronrod(squeezed, stretch.edges[count - 2], panel.upper).value;
        if (std::abs(both - last - panel.value) <= 0.01 * accuracy * sum.scale) {
          stretch.edges.back() = panel.upper;
          last = both;
          continue;
        }
      }
      stretch.edges.push_back(panel.upper);
      last = panel.value;
    }
    for (std::size_t i = 0; i + 1 < stretch.edges.size(); ++i)
      stretch.sums.push_back(stretch.sums.back() + rule(stretch.edges[i], stretch.edges[i + 1]));
    stretches_.push_back(std::move(stretch));
  }
}

std::vector<double> ScorePanels::cell_edges(const Stretch& stretch, int per_panel, double least) const {
  std::vector<double> edges = {stretch.edges.front()};
  for (std::size_t i = 0; i + 1 < stretch.edges.size(); ++i) {
    const double lower = stretch.edges[i], upper = stretch.edges[i + 1];
    const int parts = per_panel * (1 + static_cast<int>(kLeastPanels * (upper - lower) / window_.width()));
    for (int k = 1; k <= parts; ++k) {
      const double edge = k == parts ? upper : std::lerp(lower, upper, double(k) / parts);
      if (edge - edges.back() > least) edges.push_back(edge);
    }
  }
  if (edges.size() > 1) edges.pop_back();
  edges.push_back(stretch.edges.back());
  return edges;
}

double ScorePanels::mean(double lower, double upper) const { return rule(lower, upper) / (upper - lower); }

double ScorePanels::rule(double lower, double upper) const {
  return gauss_kronrod([this](double t) { return (*profile_)(t); }, lower, upper).value;
}

double ScorePanels::sum_to(const Stretch& stretch, double t) const {
  const auto after = std::upper_bound(stretch.edges.begin() + 1, stretch.edges.end() - 1, t);
  const auto i = static_cast<std::size_t>(after - stretch.edges.begin()) - 1;
  return stretch.sums[i] + rule(stretch.edges[i], t);
}

double ScorePanels::integral(const Stretch& stretch, double lower, double upper) const {
  return sum_to(stretch, upper) - sum_to(stretch, lower);
}

ScoreWindows::ScoreWindows(std::function<double(double)> f, const Interval& domain, double temperature,
                           double accuracy)
    : domain_(domain) {
  const NumericPrediction sparsemax = predict_numeric(Tsallis(2, temperature), f, domain, accuracy);
  profile_ = std::make_shared<Profile>(std::move(f), domain, temperature);
  profile_->look_closer(hull(sparsemax.density.support()));
  height_ = 1 - sparsemax.offset + (profile_->top() - sparsemax.top) / temperature;
}

bool ScoreWindows::free_below() const noexcept { return std::isinf(domain_.lower()); }
bool ScoreWindows::free_above() const noexcept { return std::isinf(domain_.upper()); }

ScorePanels ScoreWindows::panels(int doublings) {
  constexpr int kLooks = 6;
  const Interval window = window_of(doublings);
  if (doublings < kLooks) {
    const double top = profile_->top();
    profile_->look_closer(window);
    height_ += (profile_->top() - top) / profile_->temperature();
  }
  return {profile_, window, std::ldexp(height_, doublings)};
}

Interval ScoreWindows::window_of(int doublings) const {
  const double growth = std::ldexp(1, doublings);
  const Interval core = hull(profile_->level_set(height_));
  const Interval deep = hull(profile_->level_set(2 * growth * height_));
  const double most = growth * core.width(), least = most / 1024;
  const double lower = std::max(core.lower() - most, std::min(deep.lower(), core.lower() - least));
  const double upper = std::min(core.upper() + most, std::max(deep.upper(), core.upper() + least));
  return {free_below() ? lower : domain_.lower(), free_above() ? upper : domain_.upper()};
}

bool ScoreWindows::holds(const Interval& window, double threshold) const {
  if (!(threshold < 0)) return true;
  const Interval above = hull(profile_->level_set(-threshold));
  return (!free_below() || above.lower() > window.lower()) &&
         (!free_above() || above.upper() < window.upper());
}

void check_mass(const NumericDensity& p, double accuracy) {
  const double off = std::abs(std::expm1(p.log_mass()));
  if (!(off <= 10 * accuracy))
    throw ConvergenceError(
        error_message("predict", "the error of the mass", "must reach " + shortest(10 * accuracy), off));
}

void throw_no_window(double width) {
  throw_domain_error("predict", "the window",
                     "must hold the support: no distribution exists where f does not fall enough", width);
}

}  // namespace fenchel::detail
