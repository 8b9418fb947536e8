#pragma once

#include <string>
#include <vector>

#include "fenchel/data/batch_source.hpp"
#include "fenchel/estimate/statistics/collect.hpp"
#include "plot/chart.hpp"

namespace fenchel::cli {

/// The values of a column in ascending order, each once, with their weights. A picture of data is made of it.
struct Empirical {
  struct Value {
    double t, weight, below;  ///< below: the weight of all smaller values
  };
  std::vector<Value> values;
  double weight = 0;

  /// The share of the data below a value, half of its own weight counted.
  [[nodiscard]] double middle(const Value& v) const { return (v.below + v.weight / 2) / weight; }
  [[nodiscard]] double up_to(const Value& v) const { return (v.below + v.weight) / weight; }
  /// The least value up to which this share of the data lies.
  [[nodiscard]] double quantile(double share) const;
};

/// Reads the one column of a source; rows without weight are left out. Throws DataError where no row is left,
/// and for values that are not finite.
[[nodiscard]] Empirical read_empirical(const Data& data, const std::string& name);

/// Bars of the density of data in a range, as wide as Freedman and Diaconis say: 2 interquartile ranges over
/// the cube root of the weight [D. Freedman, P. Diaconis, On the histogram as a density estimator, 1981].
struct Histogram {
  std::vector<plot::Point> bars;
  double width;
};
[[nodiscard]] Histogram histogram(const Empirical& data, plot::Range range);

/// What a reader tells apart of a curve of values: all of the lowest and the highest, others evenly.
[[nodiscard]] std::vector<Empirical::Value> thinned(const Empirical& data);

}  // namespace fenchel::cli
