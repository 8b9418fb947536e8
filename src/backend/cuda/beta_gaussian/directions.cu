#include <cstdint>
#include <string_view>

#include "backend/cuda/device/elements.cuh"
#include "core/random/draw_direction.hpp"
#include "core/random/portable_variates.hpp"
#include "fenchel/backend/cuda/beta_gaussian_batch.hpp"
#include "fenchel/core/philox.hpp"

/// Compiled without contraction, so that directions round as those of the CPU do.
namespace fenchel::cuda {
namespace {

__global__ void __launch_bounds__(device::kElementThreads)
    direction_kernel(const double* seeds, index_t count, index_t dimension, double* out) {
  for (index_t k = device::first_item(); k < count; k += device::item_stride()) {
    Philox rng(static_cast<std::uint64_t>(seeds[k]));
    detail::fill_direction(out + k * dimension, dimension, [&] { return detail::portable_normal(rng()); });
  }
}

}  // namespace

void draw_directions(std::span<const double> seeds, DeviceRows<double> out, Stream stream) {
  constexpr std::string_view kWhere = "cuda::draw_directions";
  check_view(kWhere, "out", out);
  check_contiguous(kWhere, "out", out);
  check_count(kWhere, "seeds", seeds.size(), out.rows);
  if (out.rows == 0) return;
  launch(kWhere, direction_kernel, device::element_blocks(out.rows), device::kElementThreads, 0, stream,
         seeds.data(), out.rows, out.cols, out.data);
}

}  // namespace fenchel::cuda
