#pragma once

#include <optional>

#include "fenchel/backend/dot_product_views.hpp"
#include "ops/device.hpp"
#include "ops/flat_tensors.hpp"

/// Tensors (B, H, n, d) as a matrix for each head of each member of a batch.
namespace fenchel::ops {

using Optional = std::optional<Tensor>;

#ifdef USE_CUDA
constexpr bool kOnGpu = true;
#else
constexpr bool kOnGpu = false;
#endif

/// Calls body with a number of the type of the tensors: a GPU reads queries, keys and values of 16 bits
/// alone.
template <class Body>
void visit_matrices(ScalarType type, const Body& body) {
#ifdef USE_CUDA
  if (type == ScalarType::Half) return body(cuda::Half());
  if (type == ScalarType::BFloat16) return body(cuda::BFloat16());
  refuse("query", "be of float16 or bfloat16 on a GPU", "another type");
#else
  Device::visit(type, body);
#endif
}

[[nodiscard]] inline const Tensor& with_heads(const char* name, const Tensor& x) {
  if (x.dim() != 4) refuse(name, "have 4 dimensions", show(shape_of(x)));
  return x;
}

/// A tensor as matrices of a shape, to which it broadcasts.
template <class T>
[[nodiscard]] Matrices<T> matrices_of(const Tensor& x, const Shape& shape) {
  const auto stride = [&](std::int64_t dim) { return x.size(dim) == 1 ? 0 : x.stride(dim); };
  const index_t step = x.size(3) == 1 && shape[3] == 1 ? 1 : stride(3);
  T* data = nullptr;
  if constexpr (std::is_const_v<T>) {
    data = static_cast<T*>(x.const_data_ptr());
  } else {
    data = static_cast<T*>(x.mutable_data_ptr());
  }
  return {data, shape[0], shape[1], shape[2], shape[3], stride(0), stride(1), stride(2), step};
}

/// Matrices to read, whose rows are contiguous; on a GPU they begin at multiples of 16 bytes.
class MatricesInput {
 public:
  MatricesInput(const char* name, const Tensor& x, const Shape& shape, ScalarType type)
      : tensor_(converted(name, checked(name, x, shape), type)) {
    if (is_readable()) return;
    Tensor copy = torch::stable::new_empty(tensor_, shape_of(tensor_));
    tensor_ = torch::stable::copy_(copy, tensor_);
  }
  template <class T>
  [[nodiscard]] Matrices<const T> view() const {
    return matrices_of<const T>(tensor_, shape_of(tensor_));
  }

 private:
  [[nodiscard]] bool is_readable() const {
    if (tensor_.size(3) > 1 && tensor_.stride(3) != 1) return false;
    if (!kOnGpu) return true;
    constexpr std::int64_t kPiece = 8;
    for (std::int64_t dim = 0; dim < 3; ++dim) {
      if (tensor_.size(dim) > 1 && tensor_.stride(dim) % kPiece != 0) return false;
    }
    return reinterpret_cast<std::uintptr_t>(tensor_.const_data_ptr()) % (2 * kPiece) == 0;
  }

  Tensor tensor_;
};

/// A tensor that broadcasts to the scores, or none.
class OverScores {
 public:
  OverScores(const char* name, Optional x, Shape scores) : tensor_(std::move(x)), shape_(std::move(scores)) {
    if (!tensor_) return;
    const Shape own = shape_of(with_heads(name, *tensor_));
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (own[i] != 1 && own[i] != shape_[i]) refuse(name, "broadcast to " + show(shape_), show(own));
    }
  }
  template <class T>
  [[nodiscard]] Matrices<const T> view() const {
    return tensor_ ? matrices_of<const T>(*tensor_, shape_) : Matrices<const T>();
  }

 private:
  Optional tensor_;
  Shape shape_;
};

/// A number for each head of the queries.
class PerHead {
 public:
  PerHead(const char* name, const Optional& x, std::int64_t heads) {
    if (x)
      given_.emplace(name, of_type(name, *x, ScalarType::Double, "float64"), Shape{heads},
                     ScalarType::Double);
  }
  [[nodiscard]] PerRow view(double shared) const { return per_row(shared, given_); }

 private:
  std::optional<FlatInput> given_;
};

/// The rows of a contiguous tensor.
template <class Real>
[[nodiscard]] Rows<Real> rows_over(const Tensor& x, index_t cols) {
  return {static_cast<Real*>(x.mutable_data_ptr()), x.numel() / cols, cols};
}

/// A tensor to write, of a shape where it is wanted, else of shape (0) and null.
class Output {
 public:
  Output(const Tensor& any, const Shape& shape, bool wanted, ScalarType type, ScalarType stored)
      : wanted_(wanted),
        tensor_(torch::stable::new_empty(any, wanted ? shape : Shape{0}, type)),
        stored_(stored) {}
  template <class T>
  [[nodiscard]] Matrices<T> matrices() const {
    return wanted_ ? matrices_of<T>(tensor_, shape_of(tensor_)) : Matrices<T>();
  }
  template <class Real>
  [[nodiscard]] Rows<Real> rows(index_t cols) const {
    return wanted_ ? rows_over<Real>(tensor_, cols) : Rows<Real>();
  }
  void set_to_zero() { torch::stable::zero_(tensor_); }
  [[nodiscard]] Tensor tensor() const {
    return tensor_.scalar_type() == stored_ ? tensor_ : torch::stable::to(tensor_, stored_);
  }

 private:
  bool wanted_;
  Tensor tensor_;
  ScalarType stored_;
};

}  // namespace fenchel::ops
