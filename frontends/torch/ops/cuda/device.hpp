#pragma once

#include <torch/csrc/stable/accelerator.h>

#include <array>

#include "fenchel/backend/cuda/attention.hpp"
#include "fenchel/backend/cuda/beta_gaussian_batch.hpp"
#include "fenchel/backend/cuda/cached_attention.hpp"
#include "fenchel/backend/cuda/dot_product_attention.hpp"
#include "fenchel/backend/cuda/entmax.hpp"
#include "fenchel/backend/cuda/entmax_derivatives.hpp"
#include "fenchel/backend/cuda/entmax_loss.hpp"
#include "fenchel/backend/cuda/fusedmax.hpp"
#include "fenchel/backend/cuda/match_weights.hpp"
#include "fenchel/backend/cuda/views.hpp"
#include "fenchel/backend/cuda/weighted_entmax.hpp"
#include "ops/tensors.hpp"

namespace fenchel::ops {

namespace backend = cuda;

/// A tensor to read as rows along any dimension: in place where two strides say where its rows begin, else a
/// copy.
class DeviceInput {
 public:
  DeviceInput(const char* name, const Tensor& x, std::int64_t dim, ScalarType type)
      : tensor_(converted(name, x, type)), cols_(x.size(checked_dim(name, x, dim))) {
    if (!find_strides(dim)) {
      tensor_ = contiguous_rows(tensor_, dim);
      find_strides(-1);
    }
  }
  /// The rows of a tensor that must have the shape of another.
  DeviceInput(const char* name, const Tensor& x, const Tensor& like, std::int64_t dim, ScalarType type)
      : DeviceInput(name, checked(name, x, like.sizes()), dim, type) {}
  template <class T>
  [[nodiscard]] cuda::DeviceRows<const T> rows() const {
    cuda::DeviceRows<const T> view(static_cast<const T*>(tensor_.const_data_ptr()),
                                   cols_ == 0 ? 0 : tensor_.numel() / cols_, cols_, strides_[0]);
    view.step = step_;
    view.inner = inner_;
    view.outer_stride = strides_[1];
    return view;
  }

 private:
  /// Whether the dimensions but `dim`, in their order, are at most two runs of equal distances.
  bool find_strides(std::int64_t dim) {
    const auto sizes = tensor_.sizes(), strides = tensor_.strides();
    const std::int64_t last = tensor_.dim() - 1, along = tensor_.dim() + dim;
    std::array<index_t, 2> counts{1, 1};
    std::size_t runs = 0;
    step_ = strides[along];
    for (std::int64_t i = last; i >= 0; --i) {
      if (i == along || sizes[i] == 1) continue;
      if (runs > 0 && strides[i] == strides_[runs - 1] * counts[runs - 1]) {
        counts[runs - 1] *= sizes[i];
      } else if (runs == 2) {
        return false;
      } else {
        strides_[runs] = strides[i];
        counts[runs++] = sizes[i];
      }
    }
    inner_ = counts[0];
    return true;
  }

  Tensor tensor_;
  index_t cols_, step_ = 1, inner_ = 1;
  std::array<index_t, 2> strides_{};
};

/// The rows of scores as chains, all of them full and without weights.
class FullChains {
 public:
  FullChains(const std::optional<Tensor>& lengths, const std::optional<Tensor>& weights, const Tensor&,
             std::int64_t) {
    if (!lengths && !weights) return;
    throw std::invalid_argument(std::string("fenchel: ") + (lengths ? "lengths" : "weights") +
                                " of fusedmax must be absent on a GPU: move the tensors to the CPU, with "
                                "x.cpu(), or mask by scores of -inf");
  }
  /// The map, with memory of torch's allocator: what is enqueued after it on the same stream may have it
  /// again.
  template <class T>
  void fusedmax(const Tensor& like, cuda::DeviceRows<const T> scores, PerRow gamma, cuda::DeviceRows<T> p,
                cuda::Stream stream) const {
    const auto bytes = static_cast<std::int64_t>(cuda::fusedmax_scratch_bytes<T>(scores.rows, scores.cols));
    const Tensor scratch = empty_rows(like, {bytes}, -1, ScalarType::Byte);
    cuda::fusedmax(scores, gamma, p, scratch.mutable_data_ptr(), stream);
  }
  template <class... Arguments>
  void fusedmax_vjp(const Arguments&... arguments) const {
    cuda::fusedmax_vjp(arguments...);
  }
  template <class... Arguments>
  void fusedmax_jvp(const Arguments&... arguments) const {
    cuda::fusedmax_jvp(arguments...);
  }
};

/// An operation on tensors in the memory of one GPU, on the stream that torch works on there.
class Cuda {
 public:
  using Input = DeviceInput;
  using Chain = FullChains;
  template <class T>
  using View = cuda::DeviceRows<T>;

  /// All tensors, some of which may be absent. The dispatcher lets those of the CPU through beside one of a
  /// GPU.
  template <class... Tensors>
  explicit Cuda(const Tensor& first, const Tensors&... others)
      : guard_(device_of_all(first, others...)), stream_(current_stream(first.get_device_index())) {}
  template <class... Tensors>
  [[nodiscard]] static Cuda of_rows(const Tensor& rows, const Tensors&... others) {
    return Cuda(rows, others...);
  }

  /// The type that the rows of a tensor are given to the library in: its own.
  [[nodiscard]] static ScalarType type_of(const char* name, const Tensor& x) {
    static_cast<void>(computed_in(name, x));
    return x.scalar_type();
  }
  template <class Body>
  static void visit(ScalarType type, const Body& body) {
    switch (type) {
      case ScalarType::Half:
        return body(cuda::Half());
      case ScalarType::BFloat16:
        return body(cuda::BFloat16());
      default:
        return visit_real(type, body);
    }
  }
  /// f, of the library.
  template <class F, class... Arguments>
  void call(const F& f, const Arguments&... arguments) const {
    f(arguments..., stream_);
  }

 private:
  static cuda::Stream current_stream(std::int32_t device_index) {
    void* stream = nullptr;
    check_torch(aoti_torch_get_current_cuda_stream(device_index, &stream));
    return static_cast<cuda::Stream>(stream);
  }
  template <class... Tensors>
  static std::int32_t device_of_all(const Tensor& first, const Tensors&... others) {
    (check_device(first, others), ...);
    return first.get_device_index();
  }
  static void check_device(const Tensor& first, const std::optional<Tensor>& other) {
    if (other) check_device(first, *other);
  }
  static void check_device(const Tensor& first, const Tensor& other) {
    if (first.is_cuda() == other.is_cuda() && first.get_device_index() == other.get_device_index()) return;
    throw std::invalid_argument("fenchel: tensors must be on one device, got " + device_name(first) +
                                " and " + device_name(other));
  }
  static std::string device_name(const Tensor& x) {
    return x.is_cuda() ? "cuda:" + std::to_string(x.get_device_index()) : x.is_cpu() ? "cpu" : "another";
  }

  torch::stable::accelerator::DeviceGuard guard_;
  cuda::Stream stream_;
};

}  // namespace fenchel::ops

#define FENCHEL_DISPATCH_KEY CUDA
