#pragma once

#include <Eigen/Core>
#include <limits>

#include "cli/tables/record.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"
#include "fenchel/distribution/euclidean/multivariate_numeric_density.hpp"
#include "fenchel/domain/integers.hpp"
#include "fenchel/domain/interval.hpp"

namespace fenchel::cli {

[[nodiscard]] inline Record to_record(const Eigen::VectorXd& values) {
  Record list = Record::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}

/// By rows.
[[nodiscard]] inline Record to_record(const Eigen::MatrixXd& matrix) {
  Record rows = Record::array();
  for (index_t i = 0; i < matrix.rows(); ++i) rows.push_back(to_record(Eigen::VectorXd(matrix.row(i))));
  return rows;
}

// Supports: the pair of the ends, an ellipsoid, or the corners of a box that holds it.
[[nodiscard]] inline Record to_record(const Interval& support) {
  return {number(support.lower()), number(support.upper())};
}
/// The ends of what is not bounded are the ends of index_t.
[[nodiscard]] inline Record to_record(const IntegerRange& support) {
  using Limits = std::numeric_limits<index_t>;
  const auto end = [](index_t t) {
    return t == Limits::max() ? Record("inf") : t == Limits::min() ? Record("-inf") : Record(t);
  };
  return {end(support.first), end(support.last)};
}
[[nodiscard]] inline Record to_record(const Ellipsoid& support) {
  return {{"centre", to_record(support.centre)},
          {"shape", to_record(support.shape)},
          {"radius2", number(support.radius2)}};
}
[[nodiscard]] inline Record to_record(const LevelSupport& support) {
  return {{"lower", to_record(support.bounds.lower())}, {"upper", to_record(support.bounds.upper())}};
}

}  // namespace fenchel::cli
