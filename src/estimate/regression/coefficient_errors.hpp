#pragma once

#include <functional>

#include <Eigen/Core>

#include "estimate/fit/spread.hpp"
#include "estimate/regression/standardization.hpp"

namespace fenchel::detail {

/// The covariance of the estimates of coefficients and, last, the intercept, for the features as they are in
/// the table: H^-1 C H^-1 / weight, H the Hessian of the mean loss and the penalty, C the covariance of the
/// gradients of its terms; one pass. `spread` gets standardised features and a one, and is called by several
/// threads at once. NaN where H is singular or anything is not finite.
[[nodiscard]] Eigen::MatrixXd coefficient_covariance(
    const Data& data, const Standardization& features, double penalty,
    const std::function<Spread(const Eigen::VectorXd& z)>& spread);

}  // namespace fenchel::detail
