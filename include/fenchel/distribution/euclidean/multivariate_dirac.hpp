#pragma once

/// `MultivariateDirac`: an observation in R^N as the target of a loss.

#include <Eigen/Core>

#include "fenchel/distribution/line/dirac.hpp"
#include "fenchel/domain/euclidean.hpp"

namespace fenchel {

/// All mass at one point of R^N: an observation, as the target of a loss.
struct MultivariateDirac {
  Eigen::VectorXd at;
};

[[nodiscard]] inline Euclidean domain(const MultivariateDirac& q) { return Euclidean(q.at.size()); }
[[nodiscard]] inline const Eigen::VectorXd& mean(const MultivariateDirac& q) noexcept { return q.at; }
[[nodiscard]] inline Eigen::MatrixXd covariance(const MultivariateDirac& q) {
  return Eigen::MatrixXd::Zero(q.at.size(), q.at.size());
}
[[nodiscard]] inline double tsallis_entropy(const MultivariateDirac&, double order) noexcept {
  return tsallis_entropy(Dirac{0}, order);
}
[[nodiscard]] inline double negentropy_order_derivative(const MultivariateDirac&, double order) noexcept {
  return negentropy_order_derivative(Dirac{0}, order);
}

}  // namespace fenchel
