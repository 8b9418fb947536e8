#include "fenchel/attention/attend.hpp"

#include <cmath>
#include <vector>

#include "attention/characteristic_function.hpp"
#include "attention/polynomial_sum.hpp"
#include "backend/cpu/attention/checks.hpp"
#include "backend/cpu/attention/row.hpp"

namespace fenchel {
namespace detail {

Eigen::VectorXd polynomial_expectations(const PolynomialBasis& psi, double mean,
                                        FunctionRef<double(int)> central_moment) {
  std::vector<double> moments;
  for (int k = 0; k <= psi.degree(); ++k) moments.push_back(k == 1 ? 0 : central_moment(k));
  if (psi.degree() >= 1 && std::isnan(mean)) moments[1] = mean;
  return polynomial_sum(psi, mean, moments);
}

}  // namespace detail

Eigen::VectorXd attend(const BetaGaussian& p, const FourierBasis& psi) {
  Eigen::VectorXd r = evaluate(psi, p.mu());
  for (index_t k = 1; k <= psi.count(); ++k)
    r.segment(2 * k - 1, 2) *= detail::characteristic_function(p, psi.frequency(k)).value;
  return r;
}

Eigen::VectorXd attend(const BetaGaussian& p, const GaussianBasis& psi) {
  const detail::LineFunctions functions(psi.functions());
  Eigen::VectorXd row(functions.whole_size());
  const double mu = p.mu(), sigma2 = p.sigma2();
  detail::check_precision("attend", "sigma2", sigma2);
  Eigen::VectorXd sorted(functions.sorted_size(detail::block_count(1, detail::Wanted::kValues)));
  detail::attend_line_row({p.constants(), &mu, &sigma2}, functions, detail::Wanted::kValues,
                          detail::Accuracy::kDouble, sorted.data(), {row.data(), row.size()});
  return row.head(psi.size());
}

}  // namespace fenchel
