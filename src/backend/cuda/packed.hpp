#pragma once

#include <cstdint>

#include "fenchel/backend/cuda/views.hpp"

namespace fenchel::cuda {

/// Whether the columns of each row are neighbours, and the first of them is at a multiple of 16 bytes.
template <class T>
bool is_packed(const DeviceRows<T>& x) {
  const auto whole = [](index_t elements) { return elements * index_t{sizeof(T)} % 16 == 0; };
  return x.step == 1 && reinterpret_cast<std::uintptr_t>(x.data) % 16 == 0 &&
         (x.rows <= 1 || whole(x.stride)) && (x.inner >= x.rows || whole(x.outer_stride));
}

}  // namespace fenchel::cuda
