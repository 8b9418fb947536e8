#include <torch/csrc/stable/library.h>

#include "ops/matrices.hpp"

/// Attention of the last tokens of sequences to keys and values in a cache.
namespace fenchel::ops {
namespace {

#ifdef USE_CUDA
template <class T>
[[nodiscard]] std::int64_t scratch_bytes(const CachedDotProducts<T>& x) {
  return static_cast<std::int64_t>(cuda::cached_attention_scratch_bytes(x));
}
using Pages = MatricesInput;
#else
template <class T>
[[nodiscard]] std::int64_t scratch_bytes(const CachedDotProducts<T>&) {
  return 0;
}
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
#endif

Tensor cached_attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& pages,
                        const Tensor& lengths, const Optional& bias, const Optional& bounds,
                        const Optional& alphas, const Optional& scales, double alpha, double scale,
                        std::int64_t window, std::int64_t sinks) {
  const Device device(query, key, value, bias, bounds, alphas, scales);
  if (!pages.is_cpu() || !lengths.is_cpu()) refuse("pages and lengths", "be on the CPU", "another device");
  const ScalarType type = Device::type_of("query", query);
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
  std::optional<MatricesInput> ends;
  if (bounds) ends.emplace("bounds", *bounds, Shape{keys[0], keys[1], 2, keys[3]}, type);
  const PerHead own_alphas("alphas", alphas, queries[1]), own_scales("scales", scales, queries[1]);
  Output out(query, {queries[0], queries[1], queries[2], values[3]}, true, type, query.scalar_type());
  if (out.tensor().numel() == 0 || room == 0 || keys[1] == 0) {
    out.set_to_zero();
    return out.tensor();
  }
  visit_matrices(type, [&]<class T>(T) {
    CachedDotProducts<T> x{
        q.view<T>(),
        k.view<T>(),
        v.view<T>(),
        {static_cast<const std::int32_t*>(table.const_data_ptr()), queries[0], pages.size(1)},
        tokens.values<std::int64_t>(),
        own_alphas.view(alpha),
        own_scales.view(scale),
        added.view<T>(),
        window,
        sinks,
        ends ? ends->view<T>() : Matrices<const T>()};
    const Tensor scratch = torch::stable::new_empty(query, {scratch_bytes(x)}, ScalarType::Byte);
    x.scratch = {static_cast<std::byte*>(scratch.mutable_data_ptr()),
                 static_cast<std::size_t>(scratch.numel())};
    device.call([](const auto&... a) { backend::cached_attention(a...); }, x, out.matrices<T>());
  });
  return out.tensor();
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, FENCHEL_DISPATCH_KEY, m) {
  m.impl("cached_attention", TORCH_BOX(&cached_attention));
}

}  // namespace fenchel::ops
