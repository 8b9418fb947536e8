#include "fenchel/attention/function_basis.hpp"

#include <utility>

#include "fenchel/core/check.hpp"

namespace fenchel {

FunctionBasis::FunctionBasis(std::vector<Function> functions, std::vector<double> cuts)
    : functions_(std::move(functions)), cuts_(std::move(cuts)) {
  constexpr auto kWhere = "function_basis";
  if (functions_.empty()) throw_invalid_argument(kWhere, "functions", "must not be empty", index_t{0});
  for (index_t j = 0; j < size(); ++j)
    if (!functions_[static_cast<std::size_t>(j)])
      throw_invalid_argument(kWhere, indexed("functions", j), "must be callable", "an empty function");
  for (std::size_t i = 0; i < cuts_.size(); ++i)
    detail::checked_finite(kWhere, indexed("cuts", static_cast<index_t>(i)), cuts_[i]);
}

Eigen::VectorXd evaluate(const FunctionBasis& psi, double t) {
  Eigen::VectorXd values(psi.size());
  for (index_t j = 0; j < values.size(); ++j) values[j] = psi.functions()[static_cast<std::size_t>(j)](t);
  return values;
}

LineFunction line_function(const FunctionBasis& psi, index_t j) {
  return {psi.functions()[static_cast<std::size_t>(j)], {psi.cuts().begin(), psi.cuts().end()}};
}

}  // namespace fenchel
