#include "estimate/density/leaf_sums.hpp"

#include "core/lanes/lane_math.hpp"
#include "core/lanes/lanes.hpp"
#include "estimate/density/point_tree.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {
namespace {

FENCHEL_INLINE void squares(double inverse, const LeafView& leaf, double* x) noexcept {
  {
    const double t = leaf.query[0], unit = leaf.inverse_scale[0];
    for (index_t i = 0; i < kLeafPoints; ++i) {
      const double d = (leaf.coordinates[i] - t) * unit;
      x[i] = d * d;
    }
  }
  for (index_t j = 1; j < leaf.dimension; ++j) {
    const double t = leaf.query[j], unit = leaf.inverse_scale[j];
    const double* const column = leaf.coordinates + j * leaf.stride;
    for (index_t i = 0; i < kLeafPoints; ++i) {
      const double d = (column[i] - t) * unit;
      x[i] += d * d;
    }
  }
  for (index_t i = 0; i < kLeafPoints; ++i) x[i] *= inverse;
}

template <class Term>
FENCHEL_INLINE double weighted_total(const double* x, const double* w, const Term& term) noexcept {
  double parts[8] = {};
  for (index_t i = 0; i < kLeafPoints; i += 8) {
    for (index_t k = 0; k < 8; ++k) parts[k] += w[i + k] * term(x[i + k]);
  }
  return ((parts[0] + parts[4]) + (parts[2] + parts[6])) + ((parts[1] + parts[5]) + (parts[3] + parts[7]));
}

/// max(0, 1 - x).
FENCHEL_INLINE double left(double x) noexcept {
  const double v = 1 - x;
  return v > 0 ? v : 0.0;
}

}  // namespace

FENCHEL_CLONES double leaf_sum(const RadialKernel& kernel, const LeafView& leaf, index_t excluded) noexcept {
  double x[kLeafPoints];
  squares(kernel.inverse, leaf, x);
  if (excluded >= 0) x[excluded] = kInfinity;
  const double* const w = leaf.weights;
  const double exponent = kernel.exponent;
  switch (kernel.profile) {
    case KernelProfile::uniform:
      return weighted_total(x, w, [](double q) FENCHEL_INLINE_LAMBDA { return q < 1 ? 1.0 : 0.0; });
    case KernelProfile::parabola:
      return weighted_total(x, w, [](double q) FENCHEL_INLINE_LAMBDA { return left(q); });
    case KernelProfile::biweight:
      return weighted_total(x, w, [](double q) FENCHEL_INLINE_LAMBDA { return left(q) * left(q); });
    case KernelProfile::triweight:
      return weighted_total(x, w, [](double q) FENCHEL_INLINE_LAMBDA { return left(q) * left(q) * left(q); });
    case KernelProfile::power:
      return weighted_total(x, w, [=](double q) FENCHEL_INLINE_LAMBDA {
        return exp_element(exponent * log1p_element(-(q < 1 ? q : 1.0)));
      });
    case KernelProfile::gaussian:
      return weighted_total(x, w, [](double q) FENCHEL_INLINE_LAMBDA { return exp_element(-q); });
  }
  return 0;
}

FENCHEL_CLONES void leaf_squares(double inverse, const LeafView& leaf, double* out) noexcept {
  squares(inverse, leaf, out);
}

}  // namespace fenchel::detail
