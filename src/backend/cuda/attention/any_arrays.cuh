#pragma once

#include <type_traits>

#include "backend/attention/wanted.hpp"
#include "backend/cuda/attention/arrays.hpp"

/// The arrays of a call as kernels take them that may serve both types: those that compute in double in any
/// case are compiled once.
namespace fenchel::cuda {

/// What results of a type are computed to.
template <class Real>
inline constexpr detail::Accuracy kAccuracyOf = sizeof(Real) == sizeof(float) ? detail::Accuracy::kSingle
                                                                              : detail::Accuracy::kDouble;

/// Numbers of a type that the compiler knows.
template <class Real>
class KnownArray {
 public:
  FENCHEL_HD KnownArray(const Real* data) : data_(const_cast<Real*>(data)) {}

  [[nodiscard]] __device__ static constexpr detail::Accuracy accuracy() { return kAccuracyOf<Real>; }
  [[nodiscard]] __device__ bool given() const { return data_ != nullptr; }
  [[nodiscard]] __device__ double operator[](index_t k) const { return data_[k]; }
  __device__ void set(index_t k, double x) const { data_[k] = static_cast<Real>(x); }

 private:
  Real* data_;
};

/// Floats or doubles.
class AnyArray {
 public:
  template <class Real>
  FENCHEL_HD AnyArray(Real* data)
      : data_(const_cast<std::remove_const_t<Real>*>(data)), accuracy_(kAccuracyOf<Real>) {}

  [[nodiscard]] __device__ detail::Accuracy accuracy() const { return accuracy_; }
  [[nodiscard]] __device__ bool given() const { return data_ != nullptr; }
  [[nodiscard]] __device__ double operator[](index_t k) const {
    return single() ? static_cast<const float*>(data_)[k] : static_cast<const double*>(data_)[k];
  }
  __device__ void set(index_t k, double x) const {
    if (single()) {
      static_cast<float*>(data_)[k] = static_cast<float>(x);
    } else {
      static_cast<double*>(data_)[k] = x;
    }
  }

 private:
  [[nodiscard]] __device__ bool single() const { return accuracy_ == detail::Accuracy::kSingle; }

  void* data_;
  detail::Accuracy accuracy_;
};

template <class Array>
struct DensitiesIn {
  Array mu, Sigma;
  index_t rows;
  PerRow alpha;

  template <class Real>
  DensitiesIn(const DensityArrays<Real>& p) : mu(p.mu), Sigma(p.Sigma), rows(p.rows), alpha(p.alpha) {}
};

template <class Array>
struct TangentsIn {
  Array mu, Sigma, alpha;

  template <class Real>
  TangentsIn(const DensityTangentArrays<Real>& x) : mu(x.mu), Sigma(x.Sigma), alpha(x.alpha) {}
};

}  // namespace fenchel::cuda
