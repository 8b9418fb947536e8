#pragma once

#include "backend/cuda/attention/arrays.hpp"
#include "backend/cuda/device/attention/line_pair.cuh"
#include "backend/cuda/device/reduce.cuh"

/// Kernels over pairs of densities and functions, for any evaluator of line_pair.cuh. A warp has some rows,
/// which its lanes prepare, each another one; then a row at a time the lanes have kPerLane functions each
/// that follow each other, so that functions of the same width, where widths alternate, are computed
/// together.
namespace fenchel::cuda::device {

inline constexpr int kLineThreads = 128, kLineWarps = kLineThreads / kWarp, kPerLane = 4;
inline constexpr int kChunk = kPerLane * kWarp;  ///< functions of a warp

/// The functions of a lane, from `first` on; those past the end are the last one, again.
template <class Evaluator>
__device__ inline void load_functions(const FunctionArrays& psi, index_t first,
                                      typename Evaluator::Function (&functions)[kPerLane]) {
#pragma unroll
  for (int k = 0; k < kPerLane; ++k) {
    const index_t j = min(first + k, psi.count - 1);
    functions[k] = Evaluator::function(psi.mu[j], psi.Sigma[j]);
  }
}

/// The functions of a lane in a row: `size` of them from `first` on, at most kPerLane. Rows of floats that
/// allow it are read and written 16 bytes at a time.
struct LaneSpan {
  index_t first;
  int size;
  bool aligned;

  template <class Real>
  __device__ LaneSpan(index_t begin, index_t count, const Real* rows)
      : first(begin),
        size(static_cast<int>(max(index_t(0), min(index_t(kPerLane), count - begin)))),
        aligned(sizeof(Real) == 4 && count % kPerLane == 0 && reinterpret_cast<std::size_t>(rows) % 16 == 0) {
    static_assert(kPerLane == 4);
  }
};
template <class Real>
__device__ inline void store_lane(Real* at, const LaneSpan& span, const Real (&values)[kPerLane]) {
  if constexpr (sizeof(Real) == 4) {
    if (span.aligned) {
      if (span.size > 0) {
        __stcs(reinterpret_cast<float4*>(at), make_float4(values[0], values[1], values[2], values[3]));
      }
      return;
    }
  }
#pragma unroll
  for (int k = 0; k < kPerLane; ++k) {
    if (k < span.size) at[k] = values[k];
  }
}
/// 0 past the end.
template <class Real>
__device__ inline void load_lane(const Real* at, const LaneSpan& span, Real (&values)[kPerLane]) {
  if constexpr (sizeof(Real) == 4) {
    if (span.aligned) {
      const float4 four =
          span.size > 0 ? __ldcs(reinterpret_cast<const float4*>(at)) : make_float4(0, 0, 0, 0);
      values[0] = four.x;
      values[1] = four.y;
      values[2] = four.z;
      values[3] = four.w;
      return;
    }
  }
#pragma unroll
  for (int k = 0; k < kPerLane; ++k) values[k] = k < span.size ? at[k] : Real(0);
}

/// Prepares the rows of each warp, and calls body(i, row, functions, span, offset) in all lanes for each of
/// them and each chunk of functions, where `offset` is that of the lane's first number in a matrix like
/// `rows_of`, and end(k) when the warp's k-th row is done.
template <Wanted kWanted, class Evaluator, class Real, class Body, class End>
__device__ inline void for_each_line_row(const Evaluator& evaluator, const DensityArrays<Real>& p,
                                         const FunctionArrays& psi, const Real* rows_of, index_t begin,
                                         int count, const Body& body, const End& end) {
  __shared__ typename Evaluator::Row rows[kLineWarps][Evaluator::kMostRows];
  const int warp = static_cast<int>(threadIdx.x) / kWarp, lane = static_cast<int>(threadIdx.x) % kWarp;
  if (lane < count) {
    const index_t i = begin + lane;
    rows[warp][lane] = evaluator.template row<kWanted>(double(p.mu[i]), double(p.Sigma[i]), p.alpha[i]);
  }
  __syncwarp();
  typename Evaluator::Function functions[kPerLane];
  if (psi.count <= kChunk) {
    const LaneSpan span(lane * kPerLane, psi.count, rows_of);
    load_functions<Evaluator>(psi, span.first, functions);
    index_t offset = begin * psi.count + span.first;
    for (int k = 0; k < count; ++k, offset += psi.count) {
      body(begin + k, rows[warp][k], functions, span, offset);
      end(k);
    }
    return;
  }
  for (int k = 0; k < count; ++k) {
    for (index_t chunk = 0; chunk < psi.count; chunk += kChunk) {
      const LaneSpan span(chunk + lane * kPerLane, psi.count, rows_of);
      load_functions<Evaluator>(psi, span.first, functions);
      body(begin + k, rows[warp][k], functions, span, (begin + k) * psi.count + span.first);
    }
    end(k);
  }
}

/// The rows of this warp: the first, and how many.
__device__ inline index_t first_row_of_warp(int rows_per_warp) {
  return (index_t(blockIdx.x) * kLineWarps + threadIdx.x / kWarp) * rows_per_warp;
}
__device__ inline int rows_of_warp(index_t begin, int rows_per_warp, index_t rows) {
  return static_cast<int>(max(index_t(0), min(index_t(rows_per_warp), rows - begin)));
}

template <class Evaluator, class Real>
__global__ void __launch_bounds__(kLineThreads)
    line_values(const __grid_constant__ Evaluator evaluator, const DensityArrays<Real> p,
                const FunctionArrays psi, int rows_per_warp, Real* r) {
  const index_t begin = first_row_of_warp(rows_per_warp);
  for_each_line_row<Wanted::kValues>(
      evaluator, p, psi, r, begin, rows_of_warp(begin, rows_per_warp, p.rows),
      [&](index_t, const auto& row, const auto& functions, const LaneSpan& span, index_t offset) {
        Real values[kPerLane];
#pragma unroll
        for (int k = 0; k < kPerLane; ++k) {
          values[k] = static_cast<Real>(evaluator.template terms<Wanted::kValues>(row, functions[k]).value);
        }
        store_lane(r + offset, span, values);
      },
      [](int) {});
}

template <Wanted kWanted, class Evaluator, class Real>
__global__ void __launch_bounds__(kLineThreads)
    line_vjp(const __grid_constant__ Evaluator evaluator, const DensityArrays<Real> p,
             const FunctionArrays psi, int rows_per_warp, const Real* cotangent,
             const DensityTangentArrays<Real> gradient) {
  using Value = typename Evaluator::Value;
  static_assert(Evaluator::kMostRows <= kWarp / 2);
  const index_t begin = first_row_of_warp(rows_per_warp);
  const int count = rows_of_warp(begin, rows_per_warp, p.rows), lane = static_cast<int>(threadIdx.x) % kWarp;
  // lanes k and k + 16 keep the sums of the warp's k-th row
  const bool upper = lane >= kWarp / 2;
  const int own = lane % (kWarp / 2);
  Value slope = 0, stretch = 0, kept = 0;
  [[maybe_unused]] Value alpha = 0, kept_alpha = 0;
  for_each_line_row<kWanted>(
      evaluator, p, psi, cotangent, begin, count,
      [&](index_t, const auto& row, const auto& functions, const LaneSpan& span, index_t offset) {
        Real factors[kPerLane];
        load_lane(cotangent + offset, span, factors);
#pragma unroll
        for (int k = 0; k < kPerLane; ++k) {
          const auto terms = evaluator.template terms<kWanted>(row, functions[k]);
          slope += factors[k] * terms.slope;
          stretch += factors[k] * terms.stretch;
          if constexpr (alpha_too(kWanted)) alpha += factors[k] * terms.alpha;
        }
      },
      [&](int k) {
        // half of the lanes sum one of the two, half the other
        const Value other = __shfl_xor_sync(kAllLanes, upper ? slope : stretch, kWarp / 2);
        const Value sum = warp_reduce<kWarp / 2>((upper ? stretch : slope) + other, Plus());
        if (own == k) kept = sum;
        if constexpr (alpha_too(kWanted)) {
          alpha = warp_reduce(alpha, Plus());
          if (own == k) kept_alpha = alpha;
          alpha = 0;
        }
        slope = stretch = 0;
      });
  if (own >= count) return;
  (upper ? gradient.Sigma : gradient.mu)[begin + own] = static_cast<Real>(kept);
  if constexpr (alpha_too(kWanted)) {
    if (!upper && gradient.alpha != nullptr) gradient.alpha[begin + own] = static_cast<Real>(kept_alpha);
  }
}

template <Wanted kWanted, class Evaluator, class Real>
__global__ void __launch_bounds__(kLineThreads)
    line_jvp(const __grid_constant__ Evaluator evaluator, const DensityArrays<Real> p,
             const FunctionArrays psi, int rows_per_warp, const DensityTangentArrays<const Real> direction,
             const BasisTangentArrays<const double> basis, Real* tangent) {
  using Value = typename Evaluator::Value;
  // 0 times a slope that is infinite is 0
  const auto times = [](Value by, Value x) { return by != 0 ? by * x : Value(0); };
  const index_t begin = first_row_of_warp(rows_per_warp);
  for_each_line_row<kWanted>(
      evaluator, p, psi, tangent, begin, rows_of_warp(begin, rows_per_warp, p.rows),
      [&](index_t i, const auto& row, const auto& functions, const LaneSpan& span, index_t offset) {
        const Value mu = direction.mu[i], scale = direction.Sigma[i];
        [[maybe_unused]] const Value alpha =
            direction.alpha != nullptr ? Value(direction.alpha[i]) : Value(0);
        Real out[kPerLane];
#pragma unroll
        for (int k = 0; k < kPerLane; ++k) {
          const auto terms = evaluator.template terms<kWanted>(row, functions[k]);
          Value by = mu, sum = times(scale, terms.stretch);
          if constexpr (basis_too(kWanted)) {
            const index_t j = min(span.first + k, psi.count - 1);
            if (basis.mu != nullptr) by -= Value(basis.mu[j]);
            if (basis.Sigma != nullptr) sum += times(Value(basis.Sigma[j]), terms.bend);
          }
          sum += times(by, terms.slope);
          if constexpr (alpha_too(kWanted)) sum += times(alpha, terms.alpha);
          out[k] = static_cast<Real>(sum + 0 * terms.value);
        }
        store_lane(tangent + offset, span, out);
      },
      [](int) {});
}

}  // namespace fenchel::cuda::device
