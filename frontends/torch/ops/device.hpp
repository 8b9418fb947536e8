#pragma once

#include "ops/tensors.hpp"

/// The Device whose tensors the operations of a library take, and the namespace `backend` of the functions
/// that they call. Every source that includes this is compiled once for each device.
#ifdef USE_CUDA
#include "ops/cuda/device.hpp"
#else
#include "ops/cpu/device.hpp"
#endif

namespace fenchel::ops {

#ifdef USE_CUDA
using Device = Cuda;
#else
using Device = Cpu;
#endif

/// A tensor to write as rows, of the shape of another and of its type unless one is given: its rows lie one
/// after the other.
class OutputRows {
 public:
  OutputRows(const Tensor& like, std::int64_t dim, ScalarType type, ScalarType stored)
      : rows_(empty_rows(like, shape_of(like), dim, type)),
        cols_(rows_.size(dim)),
        stored_(stored),
        type_(type) {}
  OutputRows(const Tensor& like, std::int64_t dim, ScalarType type)
      : OutputRows(like, dim, type, like.scalar_type()) {}
  template <class T>
  [[nodiscard]] Device::View<T> rows() const {
    return {static_cast<T*>(rows_.mutable_data_ptr()), cols_ == 0 ? 0 : rows_.numel() / cols_, cols_};
  }
  [[nodiscard]] Tensor tensor() const { return type_ == stored_ ? rows_ : torch::stable::to(rows_, stored_); }

 private:
  Tensor rows_;
  index_t cols_;
  ScalarType stored_, type_;
};

}  // namespace fenchel::ops
