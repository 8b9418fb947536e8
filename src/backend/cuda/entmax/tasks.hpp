#pragma once

#include "backend/cuda/device/storage.cuh"
#include "backend/cuda/entmax/targets.hpp"
#include "fenchel/core/rows.hpp"

/// What is done with the predictions of rows, and who does it. Numbers of a null array are not computed.
namespace fenchel::cuda {

/// Rows of scores with an alpha for each, all of them on a GPU.
struct ScoreRows {
  device::AnyRows rows;
  PerRow alpha;
};

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

/// For rows in registers: does the task and returns true where the columns are neighbours and fit. T is the
/// storage type, alpha at most 2; rows of another alpha are left alone.
template <class T>
bool launch_held(std::string_view where, const DeviceRows<const T>& z, PerRow alpha,
                 const RowTask<Computed<T>>& task, Stream stream);
/// The same for losses of distributions, alpha = 1, 3/2 or 2.
template <class T>
bool launch_held_soft(std::string_view where, const DeviceRows<const T>& z, PerRow alpha,
                      const LossTask<Computed<T>>& task, Stream stream);

/// For rows that are read at each visit, with Real to compute in.
template <class Real>
void launch_reading(std::string_view where, const ReadingRows& z, PerRow alpha, const RowTask<Real>& task,
                    Stream stream);

}  // namespace fenchel::cuda
