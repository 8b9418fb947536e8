#pragma once

#include <functional>
#include <span>
#include <vector>

#include "distribution/line/panels.hpp"
#include "fenchel/distribution/line/numeric_density.hpp"

namespace fenchel {

struct NumericDensity::Table {
  std::function<double(double)> log_density;
  std::vector<Interval> support;
  std::vector<double> modes;
  double accuracy, error;  ///< asked for, and estimated, of the mass
  std::vector<detail::Centre> centres;
  std::vector<detail::Panel> panels;  ///< of the density with mass one
  std::vector<double> below, above;   ///< mass left of panel i, and right of panel i - 1
  double log_mass = 0;

  /// The checked log density less log_mass; -inf off the support.
  [[nodiscard]] double log_pdf(double t) const;
  /// log P(X < t) for direction -1, log P(X > t) for 1, by integration from t outwards over the last piece.
  [[nodiscard]] double log_tail(double t, int direction) const;
  /// No integral is smoother than the doubles about the modes: what that makes of its relative error.
  [[nodiscard]] double grain() const;
  /// From its panels on, or others, and compared with a second rule; the caller looks at the error.
  [[nodiscard]] detail::PanelSum integrate(FunctionRef<double(double)> f, double to) const {
    return integrate(f, to, panels);
  }
  [[nodiscard]] detail::PanelSum integrate(FunctionRef<double(double)> f, double to,
                                           std::span<const detail::Panel> from) const;
};

}  // namespace fenchel
