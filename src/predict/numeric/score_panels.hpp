#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "fenchel/distribution/line/numeric_density.hpp"
#include "fenchel/domain/interval.hpp"
#include "predict/numeric/profile.hpp"

namespace fenchel::detail {

/// Panels between which a score is not masked; each is short enough for a Gauss-Kronrod rule.
struct Stretch {
  std::vector<double> edges;
  std::vector<double> sums;  ///< of the score from the first edge to each
  bool masked_below, masked_above;
};

/// A score less its top, over T, on a finite window.
class ScorePanels {
 public:
  /// `height` below the top is what matters: panels resolve the score on that scale.
  ScorePanels(std::shared_ptr<const Profile> profile, const Interval& window, double height);

  [[nodiscard]] double operator()(double t) const { return (*profile_)(t); }
  [[nodiscard]] const Profile& profile() const noexcept { return *profile_; }
  [[nodiscard]] const Interval& window() const noexcept { return window_; }
  [[nodiscard]] const std::vector<Stretch>& stretches() const noexcept { return stretches_; }
  /// Ends of at least 64 * per_panel cells a window, wider than `least`.
  [[nodiscard]] std::vector<double> cell_edges(const Stretch& stretch, int per_panel, double least) const;
  [[nodiscard]] double mean(double lower, double upper) const;
  [[nodiscard]] double integral(const Stretch& stretch, double lower, double upper) const;

 private:
  [[nodiscard]] double rule(double lower, double upper) const;
  [[nodiscard]] double sum_to(const Stretch& stretch, double t) const;

  std::shared_ptr<const Profile> profile_;
  Interval window_;
  std::vector<Stretch> stretches_;
};

/// The windows on which a penalty on the derivative is solved: the domain itself where that is finite, else
/// one that grows. Starts from the support of the sparsemax prediction, whose threshold is never less.
class ScoreWindows {
 public:
  /// Throws what predict(Tsallis(2, temperature), f, domain) throws.
  ScoreWindows(std::function<double(double)> f, const Interval& domain, double temperature, double accuracy);

  [[nodiscard]] const Profile& profile() const noexcept { return *profile_; }
  [[nodiscard]] ScorePanels panels(int doublings);
  /// Whether f is below a threshold everywhere outside of the window, at infinite ends of the domain.
  [[nodiscard]] bool holds(const Interval& window, double threshold) const;
  [[nodiscard]] bool free_below() const noexcept;  ///< the domain's lower end is infinite
  [[nodiscard]] bool free_above() const noexcept;

 private:
  [[nodiscard]] Interval window_of(int doublings) const;

  std::shared_ptr<Profile> profile_;
  Interval domain_;
  double height_;
};

/// After so many doublings of the window there is no prediction.
inline constexpr int kMostDoublings = 40;
[[noreturn]] void throw_no_window(double width);

/// Throws ConvergenceError where quadrature of the finished density does not find mass one.
void check_mass(const NumericDensity& p, double accuracy);

}  // namespace fenchel::detail
