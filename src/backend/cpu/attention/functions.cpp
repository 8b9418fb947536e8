#include <algorithm>
#include <cmath>

#include "backend/cpu/attention/row.hpp"

namespace fenchel::detail {

LineFunctions::LineFunctions(const cpu::GaussianFunctions& psi)
    : size_(psi.mu.rows),
      whole_((size_ + kBlock - 1) / kBlock * kBlock),
      memory_(static_cast<std::size_t>(3 * whole_)) {
  for (index_t j = 0; j < whole_; ++j) {
    const index_t from = std::min(j, size_ - 1);
    const double width = std::sqrt(psi.Sigma.row(from)[0]);
    double* const lane = memory_.data() + j;
    lane[0] = psi.mu.row(from)[0];
    lane[whole_] = width;
    lane[2 * whole_] = 1 / width;
  }
}

}  // namespace fenchel::detail
