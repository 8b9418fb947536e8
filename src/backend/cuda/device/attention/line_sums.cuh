#pragma once

#include "backend/cuda/device/attention/line_rows.cuh"

/// The kernel that sums over densities what is never stored, in one fixed order: gradients in the functions,
/// which all densities share.
namespace fenchel::cuda::device {

inline constexpr int kSumThreads = 256, kSumWarps = kSumThreads / kWarp;

/// The gradient of sum_ij cotangent_ij r_ij in the mean and variance of a function, by a block.
template <class Evaluator, class Real>
__global__ void __launch_bounds__(kSumThreads)
    line_basis_gradient(const __grid_constant__ Evaluator evaluator, const DensityArrays<Real> p,
                        const FunctionArrays psi, const Real* cotangent,
                        const BasisTangentArrays<double> gradient) {
  __shared__ double sums[2][2 * kSumWarps];
  const index_t j = blockIdx.x;
  const auto function = Evaluator::function(psi.mu[j], psi.Sigma[j]);
  double mean = 0, variance = 0;
  for (index_t i = threadIdx.x; i < p.rows; i += kSumThreads) {
    const double factor = cotangent[i * psi.count + j];
    if (factor == 0) continue;  // a slope may be infinite
    const auto row = evaluator.template row<Wanted::kAll>(double(p.mu[i]), double(p.Sigma[i]), p.alpha[i]);
    const auto terms = evaluator.template terms<Wanted::kAll>(row, function);
    mean -= factor * double(terms.slope);
    variance += factor * double(terms.bend);
  }
  mean = block_reduce<kSumThreads>(mean, Plus(), sums[0], 0);
  variance = block_reduce<kSumThreads>(variance, Plus(), sums[1], 0);
  if (threadIdx.x != 0) return;
  if (gradient.mu != nullptr) gradient.mu[j] = mean;
  if (gradient.Sigma != nullptr) gradient.Sigma[j] = variance;
}

}  // namespace fenchel::cuda::device
