#pragma once

/// `minimize` and `minimize_convex`, with a status and a callback.

#include <functional>
#include <string_view>

#include <Eigen/Core>

#include "fenchel/core/config.hpp"
#include "fenchel/core/function_ref.hpp"

namespace fenchel {

enum class MinimizeStatus {
  converged,        ///< the residual is within the tolerance
  stalled,          ///< no step lowers the value any more, though the residual is above the tolerance
  iteration_limit,  ///< max_iterations were made
  cancelled,        ///< the callback said no
  not_finite,       ///< the value or the gradient at the start is not finite
};
/// "converged", "stalled", ...
[[nodiscard]] FENCHEL_EXPORT std::string_view to_string(MinimizeStatus status) noexcept;

/// One step of a minimisation, for the callback; false from it ends the work.
struct MinimizeStep {
  int iteration;
  double value, residual;
};

struct MinimizeOptions {
  double tolerance = 1e-9;  ///< for the residual, the largest absolute entry of the gradient
  int max_iterations = 1000;
  std::function<bool(const MinimizeStep&)> callback = {};
};

struct Minimum {
  Eigen::VectorXd x;  ///< the best point that was seen
  double value;
  Eigen::VectorXd gradient;
  double residual;
  int iterations, evaluations;
  MinimizeStatus status;
};

/// A local minimum by L-BFGS with a strong Wolfe line search, for smooth functions: f(x, gradient) returns
/// the value, +infinity or NaN where there is none, and writes the gradient. What f throws is passed on;
/// nothing else is thrown but std::domain_error for options that mean nothing.
[[nodiscard]] FENCHEL_EXPORT Minimum
minimize(FunctionRef<double(const Eigen::VectorXd& x, Eigen::VectorXd& gradient)> f,
         const Eigen::VectorXd& start, const MinimizeOptions& options = {});

/// The value, gradient and Hessian of a function at a point.
struct SecondOrder {
  double value;
  Eigen::VectorXd gradient;
  Eigen::MatrixXd hessian;
};

/// The minimum of a convex function by Newton's method: a ridge keeps the step a descent where the Hessian is
/// singular, and backtracking keeps it where the value is finite and falls, or the residual halves. As
/// minimize otherwise.
[[nodiscard]] FENCHEL_EXPORT Minimum minimize_convex(FunctionRef<SecondOrder(const Eigen::VectorXd& x)> f,
                                                     const Eigen::VectorXd& start,
                                                     const MinimizeOptions& options = {});

}  // namespace fenchel
