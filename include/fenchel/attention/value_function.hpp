#pragma once

/// `ValueFunction`: V(t) = B psi(t), of which attention takes the mean.

#include <Eigen/Core>

#include "fenchel/attention/basis.hpp"

namespace fenchel {

/// V(t) = B psi(t), M numbers at each t: what attention takes the mean of [SCD22, Section 8]. Its context
/// under p is B E_p[psi].
template <class Psi>
struct ValueFunction {
  Eigen::MatrixXd coefficients;  ///< B, M x N
  Psi basis;
};

template <LineBasis Psi>
[[nodiscard]] Eigen::VectorXd value(const ValueFunction<Psi>& v, double t) {
  return v.coefficients * evaluate(v.basis, t);
}
template <EuclideanBasis Psi>
[[nodiscard]] Eigen::VectorXd value(const ValueFunction<Psi>& v, const Eigen::VectorXd& t) {
  return v.coefficients * evaluate(v.basis, t);
}

}  // namespace fenchel
