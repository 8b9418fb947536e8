#pragma once

#include <functional>
#include <string_view>

#include <Eigen/Core>

#include "fenchel/core/function_ref.hpp"
#include "fenchel/estimate/regression/minimize.hpp"
#include "fenchel/estimate/statistics/collect.hpp"

/// Fits of families p = [e]_+ of Tsallis(2), e = f - tau, that are closed under shifts and dilations: the
/// mean cross-Omega loss is 1/2 + (1/2) int p^2 - E_q[e] (docs/math.md 2).
namespace fenchel::detail {

/// One member: a density that is symmetric about mu, of which the excess e is known with its derivatives in
/// the parameters.
struct ExcessModel {
  double mu, half_width;
  /// e(t), writes de(t), smooth on either side of mu. Called by several threads at once.
  std::function<double(double t, Eigen::VectorXd& derivative)> excess;
};

/// For the data in units of its deviation from its middle.
struct ExcessFit {
  double centre, deviation;  ///< of the data, by its quartiles
  Eigen::VectorXd x;
  Eigen::MatrixXd covariance;  ///< of x
  double loss;                 ///< in the units of the data
  double weight;
};

/// Minimises over x from a start by L-BFGS in units of int de de^T, the Hessian for data from the family; a
/// model that throws std::domain_error has an infinite loss. Each evaluation is a pass over the data. Throws
/// std::domain_error for data of no weight or no variance, ConvergenceError where the minimiser does not
/// converge.
[[nodiscard]] ExcessFit fit_excess(std::string_view where, const Data& data,
                                   FunctionRef<ExcessModel(const Eigen::VectorXd& x)> model,
                                   const Eigen::VectorXd& start);

}  // namespace fenchel::detail
