#include <torch/csrc/stable/library.h>

#include <tuple>

#include "ops/matrices.hpp"

/// Attention of queries to keys, and its gradients.
namespace fenchel::ops {
namespace {

using Three = std::tuple<Tensor, Tensor, Tensor>;
using Five = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>;

#ifdef USE_CUDA
/// What only a GPU has: lists of the support.
constexpr std::int64_t kSupportColumns = cuda::kAttentionSupportColumns;
template <class T>
[[nodiscard]] std::int64_t scratch_bytes(const DotProducts<T>& x) {
  return static_cast<std::int64_t>(cuda::attention_scratch_bytes(x));
}
#else
constexpr std::int64_t kSupportColumns = 0;
template <class T>
[[nodiscard]] std::int64_t scratch_bytes(const DotProducts<T>&) {
  return 0;
}
#endif

/// What attention reads.
class Arguments {
 public:
  Arguments(const Tensor& query, const Tensor& key, const Tensor& value, const Optional& mask,
            const Optional& bias, const Optional& alphas, const Optional& scales, const Optional& seed,
            const Optional& ranges, double alpha, double scale, bool causal, double dropout,
            std::int64_t sinks)
      : type(Device::type_of("query", query)),
        computed(computed_in("query", query)),
        queries(shape_of(with_heads("query", query))),
        keys(with_sizes(key, queries)),
        values(with_sizes(value, keys)),
        query_("query", query, queries, type),
        key_("key", key, keys, type),
        value_("value", value, values, type),
        mask_("mask", mask ? Optional(of_type("mask", *mask, ScalarType::Bool, "bool")) : mask, scores()),
        bias_("bias", bias ? Optional(converted("bias", *bias, type)) : bias, scores()),
        alphas_("alphas", alphas, queries[1]),
        scales_("scales", scales, queries[1]),
        alpha_(alpha),
        scale_(scale),
        causal_(causal),
        dropout_(dropout),
        sinks_(sinks) {
    if (ranges) {
      const Shape shape{queries[0], queries[2], 3};
      ranges_ = torch::stable::contiguous(
          checked("ranges", of_type("ranges", *ranges, ScalarType::Int, "int32"), shape));
    }
    if (seed) seed_ = checked("seed", of_type("seed", *seed, ScalarType::Long, "int64"), Shape{1});
  }
  /// Of the output.
  [[nodiscard]] Shape outputs() const { return {queries[0], queries[1], queries[2], values[3]}; }
  [[nodiscard]] Shape per_query() const { return {queries[0], queries[1], queries[2]}; }
  /// Whether every output is 0, or there is none.
  [[nodiscard]] bool is_nothing() const {
    return queries[0] * queries[1] * queries[2] * values[3] * keys[1] * keys[2] == 0;
  }
  template <class T>
  [[nodiscard]] DotProducts<T> view() const {
    return {query_.view<T>(),
            key_.view<T>(),
            value_.view<T>(),
            alphas_.view(alpha_),
            scales_.view(scale_),
            causal_,
            mask_.view<bool>(),
            bias_.view<T>(),
            dropout_,
            seed_ ? static_cast<const std::int64_t*>(seed_->const_data_ptr()) : nullptr,
            ranges_ ? static_cast<const KeyRange*>(ranges_->const_data_ptr()) : nullptr,
            sinks_};
  }

  ScalarType type, computed;
  Shape queries, keys, values;

 private:
  /// (B, G, m, k) of keys or values, and what of it must be another's.
  static Shape with_sizes(const Tensor& x, const Shape& other) {
    return {other[0], with_heads("key and value", x).size(1), x.size(2), x.size(3)};
  }
  [[nodiscard]] Shape scores() const { return {queries[0], queries[1], queries[2], keys[2]}; }

  MatricesInput query_, key_, value_;
  OverScores mask_, bias_;
  PerHead alphas_, scales_;
  double alpha_, scale_;
  bool causal_;
  double dropout_;
  std::int64_t sinks_;
  Optional seed_, ranges_;
};

Three dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value, const Optional& mask,
                            const Optional& bias, const Optional& alphas, const Optional& scales,
                            const Optional& seed, const Optional& ranges, double alpha, double scale,
                            bool causal, double dropout, std::int64_t sinks) {
  const Device device(query, key, value, mask, bias, alphas, scales, seed, ranges);
  const Arguments x(query, key, value, mask, bias, alphas, scales, seed, ranges, alpha, scale, causal,
                    dropout, sinks);
  Output out(query, x.outputs(), true, x.type, query.scalar_type()),
      normalizers(query, extended(x.per_query(), {2}), true, x.computed, x.computed);
  const Output support(query, extended(x.per_query(), {kSupportColumns}), kOnGpu, ScalarType::Int,
                       ScalarType::Int);
  if (x.is_nothing()) {
    out.set_to_zero();
    normalizers.set_to_zero();
  } else {
    visit_matrices(x.type, [&]<class T>(T) {
      const AttentionRecord<RealOf<T>> record{normalizers.rows<RealOf<T>>(2),
                                              support.rows<std::int32_t>(kSupportColumns)};
      device.call([](const auto&... a) { backend::attention(a...); }, x.view<T>(), out.matrices<T>(), record);
    });
  }
  return {out.tensor(), normalizers.tensor(), support.tensor()};
}

Five dot_product_attention_vjp(const Tensor& query, const Tensor& key, const Tensor& value,
                               const Optional& mask, const Optional& bias, const Optional& alphas,
                               const Optional& scales, const Optional& seed, const Optional& ranges,
                               const Tensor& normalizers, const Tensor& support, const Tensor& grad_out,
                               double alpha, double scale, bool causal, double dropout, std::int64_t sinks,
                               bool in_query, bool in_key, bool in_value, bool in_alphas, bool in_scales) {
  const Device device(query, key, value, mask, bias, alphas, scales, seed, ranges, normalizers, support,
                      grad_out);
  const Arguments x(query, key, value, mask, bias, alphas, scales, seed, ranges, alpha, scale, causal,
                    dropout, sinks);
  const Tensor recorded = torch::stable::contiguous(converted(
      "normalizers", checked("normalizers", normalizers, extended(x.per_query(), {2})), x.computed));
  const Tensor lists =
      torch::stable::contiguous(checked("support", of_type("support", support, ScalarType::Int, "int32"),
                                        kOnGpu ? extended(x.per_query(), {kSupportColumns}) : Shape{0}));
  const MatricesInput cotangent("grad_out", grad_out, x.outputs(), x.type);
  Output to_query(query, x.queries, in_query, x.type, query.scalar_type()),
      to_key(query, x.keys, in_key, x.type, key.scalar_type()),
      to_value(query, x.values, in_value, x.type, value.scalar_type()),
      to_alphas(query, x.per_query(), in_alphas && alphas, x.computed, x.computed),
      to_scales(query, x.per_query(), in_scales && scales, x.computed, x.computed);
  if (x.is_nothing()) {
    for (Output* part : {&to_query, &to_key, &to_value, &to_alphas, &to_scales}) part->set_to_zero();
  } else {
    visit_matrices(x.type, [&]<class T>(T) {
      using Real = RealOf<T>;
      const auto view = x.view<T>();
      const Tensor scratch = torch::stable::new_empty(query, {scratch_bytes(view)}, ScalarType::Byte);
      AttentionRecord<Real> record{rows_over<Real>(recorded, 2)};
      if (kOnGpu) {
        record.support = rows_over<std::int32_t>(lists, kSupportColumns);
        record.scratch = {static_cast<std::byte*>(scratch.mutable_data_ptr()),
                          static_cast<std::size_t>(scratch.numel())};
      }
      const DotProductGradients<T, Real> gradient{to_query.matrices<T>(), to_key.matrices<T>(),
                                                  to_value.matrices<T>(), to_alphas.rows<Real>(1),
                                                  to_scales.rows<Real>(1)};
      device.call([](const auto&... a) { backend::attention_vjp(a...); }, view, record, cotangent.view<T>(),
                  gradient);
    });
  }
  return {to_query.tensor(), to_key.tensor(), to_value.tensor(), to_alphas.tensor(), to_scales.tensor()};
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, FENCHEL_DISPATCH_KEY, m) {
  m.impl("dot_product_attention", TORCH_BOX(&dot_product_attention));
  m.impl("dot_product_attention_vjp", TORCH_BOX(&dot_product_attention_vjp));
}

}  // namespace fenchel::ops
