#pragma once

#include <Eigen/Core>

namespace fenchel::detail {

/// The derivative of (mu, mu mu^T + v S) in theta = (S^-1 mu, -S^-1 / 2), where v goes with the determinant
/// of S like |S|^{-am1 / (2 + N am1)}: of the moments of beta-Gaussians, N + N^2 square.
[[nodiscard]] Eigen::MatrixXd quadratic_hessian(const Eigen::VectorXd& mu, const Eigen::MatrixXd& s, double v,
                                                double am1);

}  // namespace fenchel::detail
