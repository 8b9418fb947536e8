#include "fenchel/backend/cpu/entmax.hpp"

#include <algorithm>

#include "backend/cpu/checks.hpp"
#include "backend/cpu/entmax/row.hpp"
#include "backend/cpu/entmax/row_group.hpp"
#include "fenchel/core/parallel.hpp"

namespace fenchel::cpu {
namespace {

template <class Real>
void run(std::string_view where, Rows<const Real> scores, PerRow alpha, Rows<Real> p,
         const EntmaxByproducts& out) {
  detail::check_view(where, "scores", scores);
  detail::check_same_shape(where, "p", p, "scores", scores);
  detail::check_overlap(where, "p", p, "scores", scores);
  detail::check_alpha(where, alpha, scores.rows);
  const int workers = workers_for(scores.rows, scores.cols);
  const detail::Scratch memory(workers, detail::group_scratch_bytes<Real>(scores.cols));
  parallel_rows(scores.rows, workers, [&](index_t begin, index_t end, int worker) noexcept {
    auto part = memory.of(worker);
    const auto scratch = detail::take_group_scratch<Real>(part, scores.cols);
    detail::EntmaxRow maps[detail::kGroup<Real>];
    const bool wanted = out.normalizer != nullptr || out.threshold != nullptr;
    for (index_t i = begin; i < end;) {
      const index_t count = detail::group_at(alpha, scores.cols, i, end, detail::kGroup<Real>);
      detail::entmax_rows(
          {scores.row(i), count, scores.cols, scores.stride}, alpha[i], scratch,
          {p.row(i), count, p.cols, p.stride}, wanted ? maps : nullptr,
          {detail::rows_ahead(scores, i + count, end), detail::rows_ahead(p, i + count, end)});
      for (index_t k = 0; k < count; ++k, ++i) {
        const auto& row = maps[k];
        if (out.normalizer != nullptr) out.normalizer[i] = row.top + row.normalization.offset;
        if (out.threshold != nullptr) out.threshold[i] = row.top + row.normalization.threshold;
        if (out.support_size != nullptr) {
          out.support_size[i] = std::ranges::count_if(p[i], [](Real x) { return x > 0; });
        }
      }
    }
  });
}

}  // namespace

template <class Real>
void entmax(Input<Real> scores, PerRow alpha, Rows<Real> p, EntmaxByproducts byproducts) {
  run("entmax", scores, alpha, p, byproducts);
}

template <class Real>
void softmax(Input<Real> scores, Rows<Real> p, EntmaxByproducts byproducts) {
  run("softmax", scores, 1.0, p, byproducts);
}

template <class Real>
void sparsemax(Input<Real> scores, Rows<Real> p, EntmaxByproducts byproducts) {
  run("sparsemax", scores, 2.0, p, byproducts);
}

template void entmax(Input<float>, PerRow, Rows<float>, EntmaxByproducts);
template void entmax(Input<double>, PerRow, Rows<double>, EntmaxByproducts);
template void softmax(Input<float>, Rows<float>, EntmaxByproducts);
template void softmax(Input<double>, Rows<double>, EntmaxByproducts);
template void sparsemax(Input<float>, Rows<float>, EntmaxByproducts);
template void sparsemax(Input<double>, Rows<double>, EntmaxByproducts);

}  // namespace fenchel::cpu
