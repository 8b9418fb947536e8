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

/// B r, the mean of V where r is that of psi. A number is found where products of both signs are beyond the
/// largest one.
template <class Psi>
[[nodiscard]] Eigen::VectorXd context(const ValueFunction<Psi>& v, const Eigen::VectorXd& r) {
  constexpr double kShare = 0x1p-64;
  Eigen::VectorXd mean = v.coefficients * r;
  if (!mean.allFinite()) mean = (kShare * v.coefficients) * r / kShare;
  return mean;
}

}  // namespace fenchel
