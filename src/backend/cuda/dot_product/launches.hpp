#pragma once

#include <cstddef>
#include <string_view>

#include "fenchel/backend/cuda/dot_product_attention.hpp"

namespace fenchel::cuda {

/// The kernels for up to kCols columns, which have a source for each: checked arguments, and scratch memory
/// that is large enough.
template <class T, int kCols>
void launch_attention(std::string_view where, const DotProducts<T>& x, const Matrices<T>& out,
                      const AttentionRecord<float>& record, Stream stream);
template <class T, int kCols>
void launch_attention_vjp(std::string_view where, const DotProducts<T>& x,
                          const AttentionRecord<float>& record, const Matrices<const T>& cotangent,
                          const DotProductGradients<T, float>& gradient, Stream stream);

}  // namespace fenchel::cuda
