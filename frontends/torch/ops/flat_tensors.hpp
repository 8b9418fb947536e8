#pragma once

#include "fenchel/core/rows.hpp"
#include "ops/tensors.hpp"

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
  [[nodiscard]] Rows<const Real> rows(index_t cols) const {
    return {static_cast<const Real*>(tensor_.const_data_ptr()), cols == 0 ? 0 : tensor_.numel() / cols, cols};
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
  [[nodiscard]] Rows<Real> rows(index_t cols) const {
    if (tensor_.numel() == 0) return {nullptr, 0, cols};
    return {static_cast<Real*>(tensor_.mutable_data_ptr()), tensor_.numel() / cols, cols};
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

/// The numbers of one column.
template <class T>
[[nodiscard]] std::span<T> numbers(Rows<T> column) {
  return {column.data, static_cast<std::size_t>(column.rows)};
}

}  // namespace fenchel::ops
