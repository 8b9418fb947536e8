#pragma once

/// Functions of float that a GPU has an instruction for: within some 2^-22 of the result, and of the argument
/// where that is an exponent; numbers below 2^-126 count as 0.
namespace fenchel::cuda::device {

__device__ inline float exp2_approximately(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ inline float log2_approximately(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ inline float log_approximately(float x) { return 0.693147181f * log2_approximately(x); }
__device__ inline double log_approximately(double x) { return log(x); }
__device__ inline float sqrt_approximately(float x) {
  float y;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ inline float inverse_approximately(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

}  // namespace fenchel::cuda::device
