#include <algorithm>

#include "backend/cpu/weighted_entmax/rows.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/core/normalizer.hpp"

namespace fenchel {

template <class Real>
detail::EntmaxRow detail::weighted_entmax_row(const Real* z, const Real* w, index_t n, double alpha,
                                              const NodeScratch& scratch, Real* p) noexcept {
  double top = -kInfinity;
  bool valid = true;
  for (index_t j = 0; j < n; ++j) {
    if (!(w[j] > 0)) continue;
    valid = valid && double{z[j]} < kInfinity;
    top = std::max(top, double{z[j]});
  }
  if (!valid || top == -kInfinity) {
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    std::fill_n(p, n, std::numeric_limits<Real>::quiet_NaN());
    return {kNaN, {kNaN, kNaN}};
  }
  for (index_t j = 0; j < n; ++j) {
    scratch.w[j] = w[j];
    scratch.d[j] = scratch.density[j] = w[j] > 0 ? double{z[j]} - top : -kInfinity;
  }
  const auto size = static_cast<std::size_t>(n);
  const Normalization found = normalize(alpha - 1, {scratch.density, size}, {scratch.w, size});
  for (index_t j = 0; j < n; ++j) p[j] = static_cast<Real>(scratch.w[j] * scratch.density[j]);
  return {top, found};
}

template detail::EntmaxRow detail::weighted_entmax_row(const float*, const float*, index_t, double,
                                                       const NodeScratch&, float*) noexcept;
template detail::EntmaxRow detail::weighted_entmax_row(const double*, const double*, index_t, double,
                                                       const NodeScratch&, double*) noexcept;

namespace cpu {

template <class Real>
void weighted_entmax(Input<Real> scores, Input<Real> weights, PerRow alpha, Rows<Real> p,
                     EntmaxByproducts byproducts) {
  constexpr auto kWhere = "weighted_entmax";
  detail::check_view(kWhere, "scores", scores);
  detail::check_same_shape(kWhere, "p", p, "scores", scores);
  detail::check_overlap(kWhere, "p", p, "scores", scores);
  detail::check_alpha(kWhere, alpha, scores.rows);
  detail::check_node_weights(kWhere, weights, "scores", scores);
  const index_t cols = scores.cols;
  const int workers = workers_for(scores.rows, 100 * cols);
  const detail::Scratch memory(workers, detail::node_scratch_bytes(cols));
  parallel_rows(scores.rows, workers, [&](index_t begin, index_t end, int worker) noexcept {
    auto part = memory.of(worker);
    const auto scratch = detail::take_node_scratch(part, cols);
    for (index_t i = begin; i < end; ++i) {
      const auto row =
          detail::weighted_entmax_row(scores.row(i), weights.row(i), cols, alpha[i], scratch, p.row(i));
      if (byproducts.normalizer != nullptr) byproducts.normalizer[i] = row.top + row.normalization.offset;
      if (byproducts.threshold != nullptr) byproducts.threshold[i] = row.top + row.normalization.threshold;
      if (byproducts.support_size != nullptr) {
        byproducts.support_size[i] = std::ranges::count_if(p[i], [](Real x) { return x > 0; });
      }
    }
  });
}

template void weighted_entmax<float>(Input<float>, Input<float>, PerRow, Rows<float>, EntmaxByproducts);
template void weighted_entmax<double>(Input<double>, Input<double>, PerRow, Rows<double>, EntmaxByproducts);

}  // namespace cpu
}  // namespace fenchel
