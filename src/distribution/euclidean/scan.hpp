#pragma once

#include <vector>

#include <Eigen/Core>

namespace fenchel::detail {

/// Nodes of the first scan along an axis of R^2 or R^3: even, or geometric from 0 and from an end.
[[nodiscard]] std::vector<double> scan_nodes(double lower, double upper, Eigen::Index dimension);

/// All points with coordinates from these lists; the last axis runs fastest.
[[nodiscard]] Eigen::MatrixXd grid(const std::vector<std::vector<double>>& axes);

/// All steps of -1, 0, 1 along each axis but no step at all.
[[nodiscard]] Eigen::MatrixXd steps_around(Eigen::Index dimension);

/// From values at these steps, less that at their middle, to the coefficients of x_i and x_i x_j, j <= i, by
/// least squares.
[[nodiscard]] Eigen::MatrixXd quadratic_fit(const Eigen::MatrixXd& steps);
/// Where that quadratic form is largest; 0 where it has no top.
[[nodiscard]] Eigen::VectorXd top_of_fit(const Eigen::VectorXd& coefficients, Eigen::Index n);

/// Unit vectors, even enough.
[[nodiscard]] Eigen::MatrixXd directions(Eigen::Index dimension);

}  // namespace fenchel::detail
