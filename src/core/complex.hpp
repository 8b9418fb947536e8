#pragma once

#include "core/lanes/lanes.hpp"
#include "fenchel/core/config.hpp"

namespace fenchel::detail {

/// A complex number whose products are four multiplications, in loops over lanes and on a GPU.
template <class Real>
struct BasicComplex {
  Real re, im;

  FENCHEL_INLINE friend BasicComplex operator+(BasicComplex a, BasicComplex b) noexcept {
    return {a.re + b.re, a.im + b.im};
  }
  FENCHEL_INLINE friend BasicComplex operator-(BasicComplex a, BasicComplex b) noexcept {
    return {a.re - b.re, a.im - b.im};
  }
  FENCHEL_INLINE friend BasicComplex operator*(BasicComplex a, BasicComplex b) noexcept {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  FENCHEL_INLINE friend BasicComplex operator*(Real a, BasicComplex b) noexcept {
    return {a * b.re, a * b.im};
  }
  FENCHEL_INLINE friend BasicComplex operator*(BasicComplex b, Real a) noexcept {
    return {a * b.re, a * b.im};
  }
  FENCHEL_INLINE friend BasicComplex operator+(Real a, BasicComplex b) noexcept { return {a + b.re, b.im}; }
  FENCHEL_INLINE friend BasicComplex operator-(Real a, BasicComplex b) noexcept { return {a - b.re, -b.im}; }
};
using Complex = BasicComplex<double>;

/// The real part of a product, of complex numbers or of real ones.
template <class Real>
FENCHEL_INLINE Real real_product(BasicComplex<Real> a, BasicComplex<Real> b) noexcept {
  return a.re * b.re - a.im * b.im;
}
FENCHEL_INLINE double real_product(double a, double b) noexcept { return a * b; }
template <class Real>
FENCHEL_INLINE Real real_part(BasicComplex<Real> a) noexcept {
  return a.re;
}
FENCHEL_INLINE double real_part(double a) noexcept { return a; }

}  // namespace fenchel::detail
