#include "fenchel/estimate/regression/minimize.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include <LBFGS.h>
#include <Eigen/Cholesky>

#include "fenchel/core/check.hpp"
#include "fenchel/core/checkpoint.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel {
namespace {

// How much a value may rise by rounding: without it a search that is at the minimum cannot end there.
constexpr double kValueSlack = 8 * std::numeric_limits<double>::epsilon();

double largest(const Eigen::VectorXd& gradient) {
  return gradient.size() == 0 ? 0 : gradient.cwiseAbs().maxCoeff();
}

struct Point {
  Eigen::VectorXd x;
  double value;
  Eigen::VectorXd gradient;

  [[nodiscard]] double residual() const { return largest(gradient); }
  [[nodiscard]] bool is_finite() const { return std::isfinite(value) && gradient.allFinite(); }
  [[nodiscard]] double slack() const { return kValueSlack * std::abs(value); }
};

void check(const MinimizeOptions& options) {
  detail::checked_nonnegative("minimize", "tolerance", options.tolerance);
  if (options.max_iterations < 0)
    throw_domain_error("minimize", "max_iterations", "must not be negative", options.max_iterations);
}

/// Why to stop at a point, if to stop.
std::optional<MinimizeStatus> verdict(const MinimizeOptions& options, int iteration, const Point& at) {
  checkpoint();
  if (!at.is_finite()) return MinimizeStatus::not_finite;
  if (options.callback && !options.callback({iteration, at.value, at.residual()}))
    return MinimizeStatus::cancelled;
  if (at.residual() <= options.tolerance) return MinimizeStatus::converged;
  if (iteration >= options.max_iterations) return MinimizeStatus::iteration_limit;
  return std::nullopt;
}

Minimum report(Point at, int iterations, int evaluations, MinimizeStatus status) {
  const double residual = at.residual();
  return {std::move(at.x), at.value, std::move(at.gradient), residual, iterations, evaluations, status};
}

// Where the Hessian is singular next to a kink of the gradient, only a large ridge makes steps short enough.
constexpr std::array kRidges{0.0, 1e-12, 1e-8, 1e-4, 1.0, 1e4};

/// Newton's direction with a ridge, relative to the Hessian's diagonal, if it is a descent.
std::optional<Eigen::VectorXd> newton_direction(const SecondOrder& local, double ridge) {
  const index_t size = local.gradient.size();
  const double largest_entry = local.hessian.diagonal().cwiseAbs().maxCoeff();
  const double shift = ridge * (largest_entry > 0 ? largest_entry : 1);
  const Eigen::LDLT<Eigen::MatrixXd> factor(local.hessian + shift * Eigen::MatrixXd::Identity(size, size));
  Eigen::VectorXd direction = factor.solve(-local.gradient);
  if (!(direction.dot(local.gradient) < 0) || !factor.isPositive() || !direction.allFinite())
    return std::nullopt;
  return direction;
}

/// Whether the value falls as the slope promises. Where values no longer tell, as they are integrals or
/// rounded: of a convex function a smaller gradient is progress, too.
bool is_progress(const Point& at, const SecondOrder& next, double promise) {
  return std::isfinite(next.value) && next.gradient.allFinite() &&
         ((next.value - at.value <= 1e-4 * promise && -promise > at.slack()) ||
          largest(next.gradient) <= at.residual() / 2);
}

/// Takes the longest step along a direction that is progress; false where there is none.
bool advance(FunctionRef<SecondOrder(const Eigen::VectorXd&)> f, const Eigen::VectorXd& direction, Point& at,
             SecondOrder& local, int& evaluations) {
  const double slope = direction.dot(at.gradient);
  for (double step = 1; step > 1e-7; step /= 4) {
    const Eigen::VectorXd x = at.x + step * direction;
    if (x == at.x) return false;
    ++evaluations;
    SecondOrder next = f(x);
    if (!is_progress(at, next, step * slope)) continue;
    at = {x, next.value, next.gradient};
    local = std::move(next);
    return true;
  }
  return false;
}

/// What f threw, on its way through a line search that throws errors of its own.
struct Thrown {
  std::exception_ptr error;
};

}  // namespace

std::string_view to_string(MinimizeStatus status) noexcept {
  switch (status) {
    case MinimizeStatus::converged:
      return "converged";
    case MinimizeStatus::stalled:
      return "stalled";
    case MinimizeStatus::iteration_limit:
      return "iteration limit";
    case MinimizeStatus::cancelled:
      return "cancelled";
    case MinimizeStatus::not_finite:
      return "not finite";
  }
  return "";
}

Minimum minimize(FunctionRef<double(const Eigen::VectorXd&, Eigen::VectorXd&)> f,
                 const Eigen::VectorXd& start, const MinimizeOptions& options) {
  check(options);
  constexpr int kMemory = 10;
  LBFGSpp::LBFGSParam<double> search;
  search.linesearch = LBFGSpp::LBFGS_LINESEARCH_BACKTRACKING_STRONG_WOLFE;
  search.max_linesearch = 40;  // halvings that a double can still tell apart: LBFGSpp asserts that it can
  LBFGSpp::BFGSMat<double> curvature;
  curvature.reset(static_cast<int>(start.size()), kMemory);

  int evaluations = 0;
  auto evaluate = [&](const Eigen::VectorXd& x, Eigen::VectorXd& gradient) {
    ++evaluations;
    gradient.resize(x.size());
    try {
      const double value = f(x, gradient);
      return gradient.allFinite() && !std::isnan(value) ? value : kInfinity;
    } catch (...) {
      throw Thrown{std::current_exception()};
    }
  };
  try {
    Point at{start, 0, {}};
    at.value = evaluate(at.x, at.gradient);
    for (int iteration = 0, corrections = 0;; ++iteration) {
      if (const auto status = verdict(options, iteration, at))
        return report(std::move(at), iteration, evaluations, *status);
      Eigen::VectorXd direction = -at.gradient;
      if (corrections > 0)
        curvature.apply_Hv(at.gradient, -1.0, direction);
      else
        direction.stableNormalize();  // so that slopes neither overflow nor vanish
      double step = 1;
      Point next = at;
      next.value += at.slack();
      try {
        LBFGSpp::LineSearchBracketing<double>::LineSearch(evaluate, next.value, next.x, next.gradient, step,
                                                          direction, at.x, search);
        if (!next.is_finite()) throw std::runtime_error("the value has no lower bound");
      } catch (const std::exception&) {
        if (corrections == 0) return report(std::move(at), iteration, evaluations, MinimizeStatus::stalled);
        corrections = 0;  // once more, along the gradient
        curvature.reset(static_cast<int>(start.size()), kMemory);
        continue;
      }
      const Eigen::VectorXd change = next.x - at.x, turn = next.gradient - at.gradient;
      if (change.dot(turn) > 0) {
        curvature.add_correction(change, turn);
        ++corrections;
      }
      at = std::move(next);
    }
  } catch (const Thrown& thrown) {
    std::rethrow_exception(thrown.error);
  }
}

Minimum minimize_convex(FunctionRef<SecondOrder(const Eigen::VectorXd&)> f, const Eigen::VectorXd& start,
                        const MinimizeOptions& options) {
  check(options);
  int evaluations = 1;
  SecondOrder local = f(start);
  Point at{start, local.value, local.gradient};
  for (int iteration = 0;; ++iteration) {
    if (const auto status = verdict(options, iteration, at))
      return report(std::move(at), iteration, evaluations, *status);
    const bool found = std::any_of(kRidges.begin(), kRidges.end(), [&](double ridge) {
      const auto direction = newton_direction(local, ridge);
      return direction && advance(f, *direction, at, local, evaluations);
    });
    if (!found) return report(std::move(at), iteration, evaluations, MinimizeStatus::stalled);
  }
}

}  // namespace fenchel
