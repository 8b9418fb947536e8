#include "attention/polynomial_sum.hpp"

#include <cmath>
#include <vector>

namespace fenchel::detail {

Eigen::VectorXd polynomial_sum(const PolynomialBasis& psi, double mean, std::span<const double> moments) {
  const double shift = (mean - psi.centre()) / psi.width();
  std::vector<double> row(moments.begin(), moments.end());
  double scale = 1;
  for (double& moment : row) {
    moment *= scale;
    scale /= psi.width();
  }
  Eigen::VectorXd result(psi.size());
  for (index_t k = 0; k < result.size(); ++k) {
    const double last = row[static_cast<std::size_t>(k)];
    double sum = 0, factor = 1;  // C(k, i) shift^{k-i}, from i = k down
    for (index_t i = k; i >= 0; --i) {
      const double moment = row[static_cast<std::size_t>(i)];
      if (moment != 0 && factor != 0) sum += factor * moment;
      factor *= shift * static_cast<double>(i) / static_cast<double>(k - i + 1);
    }
    result[k] = std::isfinite(last) ? sum : last;
  }
  return result;
}

}  // namespace fenchel::detail
