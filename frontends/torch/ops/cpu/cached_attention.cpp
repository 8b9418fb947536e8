#include "fenchel/backend/cpu/cached_attention.hpp"

#include <torch/csrc/stable/library.h>

#include "ops/matrices.hpp"

/// Attention of the last tokens of sequences to keys and values in a cache.
namespace fenchel::ops {
namespace {

/// The pages of keys or of values: whole rows lie between their first rows, which an unusual stride makes a
/// copy.
class Pages {
 public:
  Pages(const char* name, const Tensor& x, const Shape& shape, ScalarType type)
      : pages_(name, over_rows(converted(name, x, type)), shape, type) {}
  template <class Real>
  [[nodiscard]] Matrices<const Real> view() const {
    Matrices<const Real> view = pages_.view<Real>();
    if (view.rows == 1) view.row_stride = view.cols;
    return view;
  }

 private:
  [[nodiscard]] static Tensor over_rows(const Tensor& x) {
    const std::int64_t step = x.size(2) > 1 ? x.stride(2) : x.size(3);
    return step > 0 && x.stride(0) % step == 0 ? x : torch::stable::contiguous(x);
  }

  MatricesInput pages_;
};

Tensor cached_attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& pages,
                        const Tensor& lengths, const Optional& bias, const Optional& alphas,
                        const Optional& scales, double alpha, double scale, std::int64_t window,
                        std::int64_t sinks) {
  const Device device(query, key, value, pages, lengths, bias, alphas, scales);
  const ScalarType type = computed_in("query", query);
  const Shape queries = shape_of(with_heads("query", query)), keys = shape_of(with_heads("key", key)),
              values{keys[0], keys[1], keys[2], with_heads("value", value).size(3)};
  if (pages.dim() != 2) refuse("pages", "have 2 dimensions", show(shape_of(pages)));
  const Tensor table = torch::stable::contiguous(
      checked("pages", of_type("pages", pages, ScalarType::Int, "int32"), Shape{queries[0], pages.size(1)}));
  const FlatInput tokens("lengths", of_type("lengths", lengths, ScalarType::Long, "int64"), {queries[0]},
                         ScalarType::Long);
  const std::int64_t room = pages.size(1) * keys[2];
  const std::int64_t columns = bias && with_heads("bias", *bias).size(3) > 1 ? bias->size(3) : room;
  const OverScores added("bias", bias ? Optional(converted("bias", *bias, type)) : bias,
                         {queries[0], queries[1], queries[2], columns});
  const MatricesInput q("query", query, queries, type);
  const Pages k("key", key, keys, type), v("value", value, values, type);
  const PerHead own_alphas("alphas", alphas, queries[1]), own_scales("scales", scales, queries[1]);
  Output out(query, {queries[0], queries[1], queries[2], values[3]}, true, type, query.scalar_type());
  if (out.tensor().numel() == 0 || room == 0 || keys[1] == 0) {
    out.set_to_zero();
    return out.tensor();
  }
  visit_real(type, [&]<class Real>(Real) {
    const cpu::CachedDotProducts<Real> x{
        q.view<Real>(),
        k.view<Real>(),
        v.view<Real>(),
        {static_cast<const std::int32_t*>(table.const_data_ptr()), queries[0], pages.size(1)},
        tokens.values<std::int64_t>(),
        own_alphas.view(alpha),
        own_scales.view(scale),
        added.view<Real>(),
        window,
        sinks};
    cpu::cached_attention(x, out.matrices<Real>());
  });
  return out.tensor();
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, CPU, m) { m.impl("cached_attention", TORCH_BOX(&cached_attention)); }

}  // namespace fenchel::ops
