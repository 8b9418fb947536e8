#pragma once

#include <functional>
#include <vector>

#include "distribution/line/panels.hpp"
#include "fenchel/distribution/line/numeric_density.hpp"

namespace fenchel {

struct NumericDensity::Table {
  std::function<double(double)> log_density;
  std::vector<Interval> support;
  std::vector<double> modes;
  double accuracy;
  std::vector<detail::Centre> centres;
  std::vector<detail::Panel> panels;  ///< of the density with mass one
  std::vector<double> below, above;   ///< mass left of panel i, and right of panel i - 1
  double log_mass = 0;

  /// The checked log density less log_mass; -inf off the support.
  [[nodiscard]] double log_pdf(double t) const;
  /// log P(X < t) for direction -1, log P(X > t) for 1, by integration from t outwards over the last piece.
  [[nodiscard]] double log_tail(double t, int direction) const;
  [[nodiscard]] detail::PanelSum integrate(FunctionRef<double(double)> f, double to) const;
};

}  // namespace fenchel
