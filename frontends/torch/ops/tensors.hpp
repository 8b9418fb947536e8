#pragma once

#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "fenchel/core/rows.hpp"

/// What the operations on all devices share: how tensors are checked, made and read as numbers. A dimension
/// `dim` runs along rows, counted from the end (-1 is the last).
namespace fenchel::ops {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;
using Shape = std::vector<std::int64_t>;

[[noreturn]] inline void refuse(const char* name, const std::string& must, const std::string& got) {
  throw std::invalid_argument(std::string("fenchel: ") + name + " must " + must + ", got " + got);
}

/// float or double: what tensors of a type are computed in.
[[nodiscard]] inline ScalarType computed_in(const char* name, const Tensor& x) {
  switch (x.scalar_type()) {
    case ScalarType::Double:
      return ScalarType::Double;
    case ScalarType::Float:
    case ScalarType::Half:
    case ScalarType::BFloat16:
      return ScalarType::Float;
    default:
      refuse(name, "be float64, float32, bfloat16 or float16", torch::headeronly::toString(x.scalar_type()));
  }
}

/// Calls body(Real()) with the type that a tensor is computed in.
template <class Body>
void visit_real(ScalarType type, const Body& body) {
  if (type == ScalarType::Double) {
    body(double());
  } else {
    body(float());
  }
}

/// What rows of a storage type T are computed in.
template <class T>
using RealOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

[[nodiscard]] inline Shape shape_of(const Tensor& x) {
  const auto sizes = x.sizes();
  return {sizes.begin(), sizes.end()};
}

/// (2, 3)
[[nodiscard]] inline std::string show(const Shape& shape) {
  std::string text = "(";
  for (const std::int64_t size : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + ")";
}

/// x, where it has this shape. The library sees rows and columns, and can only tell whether those fit.
template <class Sizes>
[[nodiscard]] const Tensor& checked(const char* name, const Tensor& x, const Sizes& shape) {
  if (!std::ranges::equal(x.sizes(), shape)) {
    refuse(name, "have shape " + show({shape.begin(), shape.end()}), show(shape_of(x)));
  }
  return x;
}

/// dim, where x has it.
[[nodiscard]] inline std::int64_t checked_dim(const char* name, const Tensor& x, std::int64_t dim) {
  if (dim < -x.dim() || dim > -1) {
    refuse(name, "have the dimension dim, counted from the end",
           std::to_string(dim) + " for " + show(shape_of(x)));
  }
  return dim;
}

/// x, where it is of this type.
[[nodiscard]] inline const Tensor& of_type(const char* name, const Tensor& x, ScalarType type,
                                           const char* word) {
  if (x.scalar_type() != type) {
    refuse(name, std::string("be ") + word, torch::headeronly::toString(x.scalar_type()));
  }
  return x;
}

/// x in the type that is computed in, where it is of real numbers.
[[nodiscard]] inline Tensor converted(const char* name, const Tensor& x, ScalarType type) {
  if (x.scalar_type() == type) return x;
  static_cast<void>(computed_in(name, x));
  return torch::stable::to(x, type);
}

/// Torch has a macro for this, of another name in 2.10 than in 2.13.
inline void check_torch(AOTITorchError error) {
  if (error != AOTI_TORCH_SUCCESS) throw std::runtime_error("fenchel: torch failed to make a tensor");
}

/// A new tensor on the device of another. Straight from the allocator: a call by name through the dispatcher
/// costs more than the map of a short row.
[[nodiscard]] inline Tensor empty_strided(const Tensor& device_of, const Shape& shape, const Shape& strides,
                                          ScalarType type) {
  std::int32_t device = 0;
  check_torch(aoti_torch_get_device_type(device_of.get(), &device));
  AtenTensorHandle made = nullptr;
  check_torch(
      aoti_torch_empty_strided(static_cast<std::int64_t>(shape.size()), shape.data(), strides.data(),
                               torch::stable::detail::to<std::int32_t>(torch::stable::detail::from(type)),
                               device, device_of.get_device_index(), &made));
  return Tensor(made);
}

/// The same whose rows along `dim` lie one after the other.
[[nodiscard]] inline Tensor empty_rows(const Tensor& device_of, const Shape& shape, std::int64_t dim,
                                       ScalarType type) {
  const auto along = shape.size() + static_cast<std::size_t>(dim);
  Shape strides(shape.size(), 1);
  std::int64_t distance = std::max<std::int64_t>(shape[along], 1);
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (i == along) continue;
    strides[i] = distance;
    distance *= std::max<std::int64_t>(shape[i], 1);
  }
  return empty_strided(device_of, shape, strides, type);
}

/// The numbers of a contiguous tensor; to read where T is const.
template <class T>
[[nodiscard]] std::span<T> numbers_of(const Tensor& x) {
  const auto count = static_cast<std::size_t>(x.numel());
  if constexpr (std::is_const_v<T>) {
    return {static_cast<T*>(x.const_data_ptr()), count};
  } else {
    return {static_cast<T*>(x.mutable_data_ptr()), count};
  }
}

/// With `dim` last and the others in their order, rows one after the other: x itself where it is so, else a
/// copy.
[[nodiscard]] inline Tensor contiguous_rows(Tensor x, std::int64_t dim) {
  for (; dim < -1; ++dim) x = torch::stable::transpose(x, dim, dim + 1);
  return x.is_contiguous() ? x : torch::stable::contiguous(x);
}

/// With `dim` of size 1: the shape of what there is one of for each row of x.
[[nodiscard]] inline Shape shape_per_row(const Tensor& x, std::int64_t dim) {
  Shape shape = shape_of(x);
  shape[shape.size() + static_cast<std::size_t>(dim)] = 1;
  return shape;
}

/// A number a row of another tensor, float64; none where there is no tensor.
class InputPerRow {
 public:
  InputPerRow(const char* name, const std::optional<Tensor>& x, const Tensor& rows, std::int64_t dim) {
    if (!x) return;
    const Tensor& numbers = of_type(name, *x, ScalarType::Double, "float64");
    tensor_ = contiguous_rows(checked(name, numbers, shape_per_row(rows, dim)), dim);
  }
  [[nodiscard]] std::span<const double> values() const {
    return tensor_ ? numbers_of<const double>(*tensor_) : std::span<const double>();
  }

 private:
  std::optional<Tensor> tensor_;
};

/// The same to write where there is such a parameter, else empty, of shape (0). Rows of no columns get 0.
class OutputPerRow {
 public:
  OutputPerRow(const std::optional<Tensor>& parameter, const Tensor& rows, std::int64_t dim)
      : empty_(!parameter),
        values_(parameter ? empty_rows(rows, shape_per_row(rows, dim), dim, ScalarType::Double)
                          : empty_rows(rows, {0}, -1, ScalarType::Double)) {
    if (rows.numel() == 0) torch::stable::zero_(values_);
  }
  [[nodiscard]] std::span<double> values() const {
    return empty_ ? std::span<double>() : numbers_of<double>(values_);
  }
  [[nodiscard]] Tensor tensor() const { return values_; }

 private:
  bool empty_;
  Tensor values_;
};

/// A parameter that all rows share, or one a row where the tensor is given.
class Parameter {
 public:
  Parameter(const char* name, double shared, const std::optional<Tensor>& per_row, const Tensor& rows,
            std::int64_t dim)
      : shared_(shared), is_per_row_(per_row), values_(name, per_row, rows, dim) {}
  [[nodiscard]] PerRow per_row() const { return is_per_row_ ? PerRow(values_.values()) : PerRow(shared_); }

 private:
  double shared_;
  bool is_per_row_;
  InputPerRow values_;
};

}  // namespace fenchel::ops
