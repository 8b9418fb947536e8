#include "fenchel/attention/polynomial_basis.hpp"

#include "fenchel/core/check.hpp"

namespace fenchel {
namespace {

constexpr auto kWhere = "polynomial_basis";

index_t checked_degree(index_t degree) {
  if (degree < 0) throw_invalid_argument(kWhere, "degree", "must not be negative", degree);
  return degree;
}

}  // namespace

PolynomialBasis::PolynomialBasis(index_t degree, double centre, double width)
    : degree_(checked_degree(degree)),
      centre_(detail::checked_finite(kWhere, "centre", centre)),
      width_(detail::checked_positive(kWhere, "width", width)) {}

Eigen::VectorXd evaluate(const PolynomialBasis& psi, double t) {
  Eigen::VectorXd values(psi.size());
  values[0] = 1;
  const double x = (t - psi.centre()) / psi.width();
  for (index_t k = 1; k < values.size(); ++k) values[k] = values[k - 1] * x;
  return values;
}

}  // namespace fenchel
