#pragma once

/// `FunctionBasis`: callables of your own as a basis on the line.

#include <Eigen/Core>
#include <functional>
#include <span>
#include <vector>

#include "fenchel/attention/basis.hpp"
#include "fenchel/attention/line_function.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel {

/// Any callables, integrated by quadrature. They need not be differentiable.
class FENCHEL_EXPORT FunctionBasis {
 public:
  using Function = std::function<double(double)>;

  /// `cuts` are places where a function changes quickly, or has a kink or a jump: what is narrower than its
  /// distance to them may be missed. Throws std::invalid_argument when there is no function or an empty one,
  /// std::domain_error unless cuts are finite.
  explicit FunctionBasis(std::vector<Function> functions, std::vector<double> cuts = {});

  [[nodiscard]] index_t size() const noexcept { return static_cast<index_t>(functions_.size()); }
  [[nodiscard]] std::span<const Function> functions() const noexcept { return functions_; }
  [[nodiscard]] std::span<const double> cuts() const noexcept { return cuts_; }

 private:
  std::vector<Function> functions_;
  std::vector<double> cuts_;
};

[[nodiscard]] FENCHEL_EXPORT Eigen::VectorXd evaluate(const FunctionBasis& psi, double t);
[[nodiscard]] FENCHEL_EXPORT LineFunction line_function(const FunctionBasis& psi, index_t j);

static_assert(LineBasis<FunctionBasis>);

}  // namespace fenchel
