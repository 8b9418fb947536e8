#pragma once

#include <string_view>

#include "backend/cuda/checks.hpp"
#include "fenchel/backend/cuda/attention.hpp"

/// The views of fenchel/backend/cuda/attention.hpp as its kernels take them: arrays whose rows are checked to
/// lie one after the other. What is not given is null.
namespace fenchel::cuda {

struct FunctionArrays {
  const double *mu, *Sigma;
  index_t count, dimension;
};

template <class Real>
struct DensityArrays {
  const Real *mu, *Sigma;
  index_t rows;
  PerRow alpha;
};

template <class Real>
struct DensityTangentArrays {
  Real *mu, *Sigma, *alpha;
};

template <class Real>
struct BasisTangentArrays {
  Real *mu, *Sigma;
};

/// The numbers of rows x cols of a view, which lie one after the other.
template <class T>
[[nodiscard]] T* array_of(std::string_view where, std::string_view name, const DeviceRows<T>& x, index_t rows,
                          index_t cols) {
  check_matrix(where, name, x, rows, cols);
  check_contiguous(where, name, x);
  return x.data;
}
/// The same, where it is given.
template <class T>
[[nodiscard]] T* array_or_null(std::string_view where, std::string_view name, const DeviceRows<T>& x,
                               index_t rows, index_t cols) {
  return x.data == nullptr && x.rows == 0 ? nullptr : array_of(where, name, x, rows, cols);
}

}  // namespace fenchel::cuda
