#pragma once

#include <algorithm>

#include "backend/cuda/device/attention/line_rows.cuh"
#include "backend/cuda/device/attention/line_sums.cuh"
#include "backend/cuda/launch.cuh"

/// Gives the kernels on the line to a stream, with any evaluator of densities and functions.
namespace fenchel::cuda {

/// Few rows are spread over many warps; of many, each warp has as many as it can prepare.
struct LineGrid {
  dim3 grid;
  int rows_per_warp;
  LineGrid(index_t rows, int most) {
    constexpr index_t kManyWarps = 8192;
    rows_per_warp = static_cast<int>(std::clamp<index_t>(rows / kManyWarps, 1, most));
    const index_t warps = (rows + rows_per_warp - 1) / rows_per_warp;
    grid = dim3(static_cast<unsigned>((warps + device::kLineWarps - 1) / device::kLineWarps));
  }
};

template <class Evaluator>
struct LineLauncher {
  using Wanted = detail::Wanted;
  static constexpr dim3 kBlock{device::kLineThreads};

  Evaluator evaluator;
  FunctionArrays psi;
  Stream stream;

  template <class Real>
  void values(const DensityArrays<Real>& p, Real* r) const {
    const LineGrid at(p.rows, Evaluator::kMostRows);
    launch("cuda::attend", device::line_values<Evaluator, Real>, at.grid, kBlock, 0, stream, evaluator, p,
           psi, at.rows_per_warp, r);
  }

  /// The gradient in the densities.
  template <Wanted kWanted, class Real>
  void vjp(const DensityArrays<Real>& p, const Real* cotangent,
           const DensityTangentArrays<Real>& gradient) const {
    const LineGrid at(p.rows, Evaluator::kMostRows);
    launch("cuda::attend_vjp", device::line_vjp<kWanted, Evaluator, Real>, at.grid, kBlock, 0, stream,
           evaluator, p, psi, at.rows_per_warp, cotangent, gradient);
  }

  template <Wanted kWanted, class Real>
  void jvp(const DensityArrays<Real>& p, const DensityTangentArrays<const Real>& direction,
           const BasisTangentArrays<const double>& basis_direction, Real* tangent) const {
    const LineGrid at(p.rows, Evaluator::kMostRows);
    launch("cuda::attend_jvp", device::line_jvp<kWanted, Evaluator, Real>, at.grid, kBlock, 0, stream,
           evaluator, p, psi, at.rows_per_warp, direction, basis_direction, tangent);
  }

  template <class Real>
  void basis_gradient(const DensityArrays<Real>& p, const Real* cotangent,
                      const BasisTangentArrays<double>& gradient) const {
    launch("cuda::attend_vjp", device::line_basis_gradient<Evaluator, Real>,
           dim3(static_cast<unsigned>(psi.count)), dim3(device::kSumThreads), 0, stream, evaluator, p, psi,
           cotangent, gradient);
  }
};

}  // namespace fenchel::cuda
