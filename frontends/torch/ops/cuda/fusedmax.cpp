#include "fenchel/backend/cuda/fusedmax.hpp"

#include <torch/csrc/stable/library.h>

#include "ops/cuda/device.hpp"
#include "ops/row_map.hpp"

/// fusedmax and its derivatives.
namespace fenchel::ops {
namespace {

/// The map, with memory of torch's allocator: what is enqueued after it on the same stream may have it again.
struct Map {
  const Tensor& scores;
  template <class T>
  void operator()(cuda::DeviceRows<const T> z, cuda::PerRow strength, cuda::DeviceRows<T> p,
                  cuda::Stream stream) const {
    const auto bytes = static_cast<std::int64_t>(cuda::fusedmax_scratch_bytes<T>(z.rows, z.cols));
    const Tensor scratch = empty_rows(scores, {bytes}, -1, ScalarType::Byte);
    cuda::fusedmax(z, strength, p, scratch.mutable_data_ptr(), stream);
  }
};

Tensor fusedmax(const Tensor& scores, const std::optional<Tensor>& gammas, double gamma, std::int64_t dim) {
  return row_map<Cuda>("gammas", scores, gammas, gamma, dim, Map{scores});
}

std::tuple<Tensor, Tensor> fusedmax_vjp(const Tensor& p, const std::optional<Tensor>& gammas,
                                        const Tensor& grad_p, double gamma, std::int64_t dim) {
  return row_map_vjp<Cuda>(
      "gammas", p, gammas, grad_p, gamma, dim,
      [](auto prediction, auto strength, auto cotangent, auto grad_scores, auto grad_gammas, auto stream) {
        cuda::fusedmax_vjp(prediction, strength, cotangent, grad_scores, grad_gammas.data(), stream);
      });
}

Tensor fusedmax_jvp(const Tensor& p, const std::optional<Tensor>& gammas, const Tensor& d_scores,
                    const std::optional<Tensor>& d_gammas, double gamma, std::int64_t dim) {
  return row_map_jvp<Cuda>(
      "gammas", p, gammas, d_scores, d_gammas, gamma, dim,
      [](auto prediction, auto strength, auto direction, auto d_p, auto d_strength, auto stream) {
        cuda::fusedmax_jvp(prediction, strength, direction, d_strength.data(), d_p, stream);
      });
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, CUDA, m) {
  m.impl("fusedmax", TORCH_BOX(&fusedmax));
  m.impl("fusedmax_vjp", TORCH_BOX(&fusedmax_vjp));
  m.impl("fusedmax_jvp", TORCH_BOX(&fusedmax_jvp));
}

}  // namespace fenchel::ops
