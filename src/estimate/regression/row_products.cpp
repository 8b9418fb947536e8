#include "estimate/regression/row_products.hpp"

#include <algorithm>

#include "core/lanes/lanes.hpp"

namespace fenchel::detail {
namespace {

constexpr index_t kStep = kLanes<double>;

FENCHEL_INLINE double sum_of(Lanes<double> x) noexcept {
  return ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]));
}

}  // namespace

PaddedRows::PaddedRows(index_t rows, index_t cols)
    : cols_(cols),
      stride_((std::max<index_t>(cols, 1) + kStep - 1) / kStep * kStep),
      values_(static_cast<std::size_t>((rows + rows % 2) * stride_)) {}

FENCHEL_CLONES void multiply_rows(const PaddedRows& x, index_t count, const PaddedRows& w,
                                  PaddedRows& products) {
  for (index_t i = 0; i < count; i += 2) {
    const double *x0 = x.row(i), *x1 = x.row(i + 1);
    double *out0 = products.row(i), *out1 = products.row(i + 1);
    for (index_t k = 0; k < w.padded_rows(); k += 2) {
      const double *w0 = w.row(k), *w1 = w.row(k + 1);
      Lanes<double> s00{}, s01{}, s10{}, s11{};
      for (index_t j = 0; j < x.stride(); j += kStep) {
        const Lanes<double> a = load(x0 + j), b = load(x1 + j), c = load(w0 + j), d = load(w1 + j);
        s00 += a * c;
        s01 += a * d;
        s10 += b * c;
        s11 += b * d;
      }
      out0[k] = sum_of(s00);
      out0[k + 1] = sum_of(s01);
      out1[k] = sum_of(s10);
      out1[k + 1] = sum_of(s11);
    }
  }
}

FENCHEL_CLONES void add_multiples(const PaddedRows& factors, const PaddedRows& x, index_t count,
                                  PaddedRows& sums) {
  for (index_t k = 0; k < sums.padded_rows(); k += 2) {
    for (index_t j = 0; j < x.stride(); j += kStep) {
      Lanes<double> s0 = load(sums.row(k) + j), s1 = load(sums.row(k + 1) + j);
      for (index_t i = 0; i < count; ++i) {
        const Lanes<double> a = load(x.row(i) + j);
        s0 += factors.row(i)[k] * a;
        s1 += factors.row(i)[k + 1] * a;
      }
      store(sums.row(k) + j, s0);
      store(sums.row(k + 1) + j, s1);
    }
  }
}

}  // namespace fenchel::detail
