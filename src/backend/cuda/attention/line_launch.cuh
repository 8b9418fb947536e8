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
  GaussianFunctions psi;
  Stream stream;

  template <class Real>
  void values(const Densities<Real>& p, Real* r) const {
    const LineGrid at(p.rows, Evaluator::kMostRows);
    launch("cuda::attend", device::line_values<Evaluator, Real>, at.grid, kBlock, 0, stream, evaluator, p,
           psi, at.rows_per_warp, r);
  }

  /// The gradient in the densities; `cotangent` is one of line_rows.cuh.
  template <Wanted kWanted, class Real, class Cotangent>
  void vjp(std::string_view where, const Densities<Real>& p, const Cotangent& cotangent,
           const DensityTangents<Real>& gradient) const {
    const LineGrid at(p.rows, Evaluator::kMostRows);
    launch(where, device::line_vjp<kWanted, Evaluator, Real, Cotangent>, at.grid, kBlock, 0, stream,
           evaluator, p, psi, at.rows_per_warp, cotangent, gradient);
  }

  template <Wanted kWanted, class Real>
  void jvp(const Densities<Real>& p, const DensityTangents<const Real>& direction,
           const BasisTangents<const double>& basis_direction, Real* tangent) const {
    const LineGrid at(p.rows, Evaluator::kMostRows);
    launch("cuda::attend_jvp", device::line_jvp<kWanted, Evaluator, Real>, at.grid, kBlock, 0, stream,
           evaluator, p, psi, at.rows_per_warp, direction, basis_direction, tangent);
  }

  template <class Real>
  void context(const Densities<Real>& p, const ValueMatrices<const Real>& values, Real* context) const {
    const index_t blocks = (p.rows + device::kTileRows - 1) / device::kTileRows;
    launch("cuda::attend_context", device::line_context<Evaluator, Real>, dim3(static_cast<unsigned>(blocks)),
           kBlock, 0, stream, evaluator, p, psi, values, p.rows / values.count, context);
  }

  template <class Real>
  void basis_gradient(const Densities<Real>& p, const Real* cotangent,
                      const BasisTangents<double>& gradient) const {
    launch("cuda::attend_vjp", device::line_basis_gradient<Evaluator, Real>,
           dim3(static_cast<unsigned>(psi.count)), dim3(device::kSumThreads), 0, stream, evaluator, p, psi,
           cotangent, gradient);
  }

  template <class Real>
  void values_gradient(const Densities<Real>& p, const Real* cotangent,
                       const ValueMatrices<Real>& gradient) const {
    const index_t blocks = gradient.count * ((psi.count + device::kWarp - 1) / device::kWarp) *
                           ((gradient.dimension + device::kValueRows - 1) / device::kValueRows);
    launch("cuda::attend_context_vjp", device::line_values_gradient<Evaluator, Real>,
           dim3(static_cast<unsigned>(blocks)), dim3(device::kSumThreads), 0, stream, evaluator, p, psi,
           cotangent, p.rows / gradient.count, gradient);
  }
};

}  // namespace fenchel::cuda
