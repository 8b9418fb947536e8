#pragma once

#include <optional>
#include <span>

#include "ops/device.hpp"

/// Tensors whose last dimensions together are the columns of a row: points, matrices, numbers.
namespace fenchel::ops {

/// The first sizes, and then others.
[[nodiscard]] inline Shape extended(Shape first, std::initializer_list<std::int64_t> others) {
  first.insert(first.end(), others);
  return first;
}

/// The shape of x without its last dimension, which must not be empty.
[[nodiscard]] inline Shape batch_of(const char* name, const Tensor& x) {
  Shape shape = shape_of(x);
  if (shape.empty() || shape.back() == 0)
    refuse(name, "have a last dimension that is not empty", show(shape));
  shape.pop_back();
  return shape;
}

/// A tensor to read, of a shape, with as many columns as one says.
class FlatInput {
 public:
  FlatInput(const char* name, const Tensor& x, const Shape& shape, ScalarType type)
      : tensor_(torch::stable::contiguous(converted(name, checked(name, x, shape), type))) {}
  template <class Real>
  [[nodiscard]] Device::View<const Real> rows(index_t cols) const {
    return {static_cast<const Real*>(tensor_.const_data_ptr()), cols == 0 ? 0 : tensor_.numel() / cols, cols};
  }
  template <class T>
  [[nodiscard]] std::span<const T> values() const {
    return numbers_of<const T>(tensor_);
  }

 private:
  Tensor tensor_;
};

/// A tensor to write, of a shape, in the type that one computes in, and stored in another.
class FlatOutput {
 public:
  FlatOutput(const Tensor& any, const Shape& shape, ScalarType computed, ScalarType stored)
      : tensor_(torch::stable::new_empty(any, shape, computed)), stored_(stored) {}
  FlatOutput(const Tensor& like, ScalarType computed)
      : FlatOutput(like, shape_of(like), computed, like.scalar_type()) {}
  template <class Real>
  [[nodiscard]] Device::View<Real> rows(index_t cols) const {
    if (tensor_.numel() == 0) return {nullptr, 0, cols};
    return {static_cast<Real*>(tensor_.mutable_data_ptr()), tensor_.numel() / cols, cols};
  }
  template <class Real>
  [[nodiscard]] std::span<Real> values() const {
    return numbers_of<Real>(tensor_);
  }
  /// For what nothing contributes to.
  void set_to_zero() { torch::stable::zero_(tensor_); }
  [[nodiscard]] Tensor tensor() const {
    return tensor_.scalar_type() == stored_ ? tensor_ : torch::stable::to(tensor_, stored_);
  }

 private:
  Tensor tensor_;
  ScalarType stored_;
};

/// A tensor that may be absent.
[[nodiscard]] inline std::optional<FlatInput> given(const char* name, const std::optional<Tensor>& x,
                                                    const Shape& shape, ScalarType type) {
  return x ? std::make_optional<FlatInput>(name, *x, shape, type) : std::nullopt;
}
template <class T>
[[nodiscard]] std::span<const T> values_of(const std::optional<FlatInput>& x) {
  return x ? x->values<T>() : std::span<const T>();
}
template <class Real>
[[nodiscard]] Device::View<const Real> rows_of(const std::optional<FlatInput>& x, index_t cols) {
  return x ? x->rows<Real>(cols) : Device::View<const Real>();
}
[[nodiscard]] inline PerRow per_row(double shared, const std::optional<FlatInput>& x) {
  return x ? PerRow(x->values<double>()) : PerRow(shared);
}

}  // namespace fenchel::ops
