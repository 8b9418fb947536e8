#pragma once

#include <string_view>

#include "backend/cuda/device/entmax/kind.hpp"
#include "backend/cuda/device/storage.cuh"
#include "backend/cuda/entmax/targets.hpp"
#include "fenchel/core/rows.hpp"

/// What is done with the predictions of rows, and who does it. What is null is not computed.
namespace fenchel::cuda {

/// p of each row in `out`; or, where there are classes, each row's loss, and weight (p - q) in `out`.
template <class Real>
struct RowTask {
  device::AnyRows out;
  const index_t* classes = nullptr;
  index_t ignored = 0;
  Real* loss = nullptr;
  const Real* weights = nullptr;  ///< all 1 where it is null
};

/// The losses of classes or distributions, weight (p - q) in `residual`, and the losses' slopes in alpha.
template <class Real>
struct LossTask {
  device::AnyRows residual;
  RowTargets targets;
  device::AnyRows soft;
  Real* loss = nullptr;
  double* slope = nullptr;
  const Real* weights = nullptr;
};

/// What the host knows of alpha when it chooses a kernel.
inline device::Kind kind_of(const PerRow& alpha) {
  if (alpha.per_row()) return device::Kind::any;
  if (alpha[0] == 1) return device::Kind::softmax;
  if (alpha[0] == 1.5) return device::Kind::three_halves;
  return alpha[0] == 2 ? device::Kind::sparsemax : device::Kind::any;
}

/// Rows in registers, where columns are neighbours and few enough: false where they are not, and nothing is
/// done. Rows of alpha > 2 are left alone.
template <class T>
bool launch_held(std::string_view where, const DeviceRows<const T>& z, PerRow alpha,
                 const RowTask<Computed<T>>& task, Stream stream);
/// The same of losses of distributions in double and float, and of one alpha that is 1, 3/2 or 2.
template <class T>
bool launch_held_soft(std::string_view where, const DeviceRows<const T>& z, PerRow alpha,
                      const LossTask<Computed<T>>& task, Stream stream);

/// Rows in memory, of any length: p, or a task. Only those of alpha > 2 where `held` says that the others are
/// done.
template <class T>
void launch_reading(std::string_view where, const DeviceRows<const T>& z, PerRow alpha, DeviceRows<T> p,
                    bool held, Stream stream);
template <class T>
void launch_reading(std::string_view where, const DeviceRows<const T>& z, PerRow alpha,
                    const LossTask<Computed<T>>& task, bool held, Stream stream);

}  // namespace fenchel::cuda
