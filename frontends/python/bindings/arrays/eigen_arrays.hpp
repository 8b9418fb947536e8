#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <utility>
#include <vector>

#include "bindings/arrays/arrays.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel::python {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

[[nodiscard]] inline Eigen::VectorXd vector_of(const Input<>& x) {
  return Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<index_t>(x.size()));
}
[[nodiscard]] inline Eigen::MatrixXd matrix_of(const InputRows& x) {
  return Eigen::Map<const RowMajor>(x.data(), static_cast<index_t>(x.shape(0)),
                                    static_cast<index_t>(x.shape(1)));
}

[[nodiscard]] inline Output<> vector_to_array(const Eigen::VectorXd& v) { return copy_to_array(v); }

[[nodiscard]] inline Output<> matrix_to_array(const Eigen::MatrixXd& m) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(m.size()));
  for (const auto& row : m.rowwise()) values.insert(values.end(), row.begin(), row.end());
  return to_array(std::move(values),
                  {static_cast<std::size_t>(m.rows()), static_cast<std::size_t>(m.cols())});
}

}  // namespace fenchel::python
