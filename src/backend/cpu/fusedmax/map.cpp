#include "fenchel/backend/cpu/fusedmax.hpp"

#include <algorithm>

#include "backend/cpu/fusedmax/row.hpp"
#include "fenchel/core/parallel.hpp"

namespace fenchel::cpu {

template <class Real>
void fusedmax(Input<Real> scores, PerRow gamma, Rows<Real> p, const Chain& chain, double* threshold) {
  detail::check_chain_map("fusedmax", scores, gamma, p, chain);
  const index_t cols = scores.cols;
  const int workers = workers_for(scores.rows, 2 * cols);
  const detail::Scratch memory(workers, detail::fused_scratch_bytes(cols));
  parallel_rows(scores.rows, workers, [&](index_t begin, index_t end, int worker) noexcept {
    auto part = memory.of(worker);
    const auto scratch = detail::take_fused_scratch(part, cols);
    for (index_t i = begin; i < end; ++i) {
      const index_t length = detail::chain_length(chain, i, cols);
      const auto row = detail::fusedmax_row(scores.row(i), length, detail::EdgeGammas(gamma[i], chain, i),
                                            scratch, p.row(i));
      const Real padding = std::isnan(row.top) ? static_cast<Real>(row.top) : Real(0);
      std::fill(p.row(i) + length, p.row(i) + cols, padding);
      if (threshold != nullptr) threshold[i] = row.top + row.threshold;
    }
  });
}

template void fusedmax(Input<float>, PerRow, Rows<float>, const Chain&, double*);
template void fusedmax(Input<double>, PerRow, Rows<double>, const Chain&, double*);

}  // namespace fenchel::cpu
