#pragma once

/// The concepts of a basis on the line and on R^D, and its design matrix.

#include <Eigen/Core>
#include <concepts>
#include <span>

#include "fenchel/core/index.hpp"

/// Bases of attention [SCD22, Section 8]: psi = (psi_1, ..., psi_N), the functions that a value function V(t)
/// = B psi(t) is made of. A basis is an immutable value; evaluate(psi, t) is the vector psi(t).
namespace fenchel {

/// Functions of a number.
template <class Psi>
concept LineBasis = std::copyable<Psi> && requires(const Psi& psi, double t) {
  { psi.size() } -> std::same_as<index_t>;
  { evaluate(psi, t) } -> std::convertible_to<Eigen::VectorXd>;
};

/// Functions of a point of R^D, D = psi.dimension().
template <class Psi>
concept EuclideanBasis = std::copyable<Psi> && requires(const Psi& psi, const Eigen::VectorXd& t) {
  { psi.size() } -> std::same_as<index_t>;
  { psi.dimension() } -> std::same_as<index_t>;
  { evaluate(psi, t) } -> std::convertible_to<Eigen::VectorXd>;
};

/// F, N x L: column l is psi at position l.
template <LineBasis Psi>
[[nodiscard]] Eigen::MatrixXd design_matrix(const Psi& psi, std::span<const double> positions) {
  Eigen::MatrixXd f(psi.size(), static_cast<index_t>(positions.size()));
  for (index_t l = 0; l < f.cols(); ++l) f.col(l) = evaluate(psi, positions[static_cast<std::size_t>(l)]);
  return f;
}
/// The same where position l is column l of a D x L matrix.
template <EuclideanBasis Psi>
[[nodiscard]] Eigen::MatrixXd design_matrix(const Psi& psi, const Eigen::MatrixXd& positions) {
  Eigen::MatrixXd f(psi.size(), positions.cols());
  for (index_t l = 0; l < f.cols(); ++l) f.col(l) = evaluate(psi, Eigen::VectorXd(positions.col(l)));
  return f;
}

}  // namespace fenchel
