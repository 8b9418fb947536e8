#include "fenchel/backend/cpu/entmax_derivatives.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/cpu/checks.hpp"
#include "backend/cpu/entmax/alpha_direction.hpp"
#include "backend/cpu/entmax/jacobian_row.hpp"
#include "backend/entmax/terms.hpp"
#include "core/compensated_sum.hpp"
#include "fenchel/core/parallel.hpp"

namespace fenchel::cpu {
namespace {

void check_alpha_values(std::string_view where, std::string_view name, std::size_t size, index_t rows) {
  if (size != 0) detail::check_count(where, name, static_cast<index_t>(size), rows);
}

/// Calls row(i, scratch) for every row, with what make_scratch(part) takes from a worker's part of the
/// memory.
template <class MakeScratch, class Row>
void for_each_row(index_t rows, int workers, std::size_t bytes_each, const MakeScratch& make_scratch,
                  const Row& row) {
  const detail::Scratch memory(workers, bytes_each);
  parallel_rows(rows, workers, [&](index_t begin, index_t end, int worker) noexcept {
    auto part = memory.of(worker);
    const auto scratch = make_scratch(part);
    for (index_t i = begin; i < end; ++i) row(i, scratch);
  });
}

/// The columns of a row that have the largest and the second largest s; -1 where there is none. The second is
/// looked for past alpha = 2 alone.
struct Heaviest {
  index_t first = -1, second = -1;

  template <class Real>
  static Heaviest of(double am1, const Real* p, index_t n) noexcept {
    Heaviest found;
    for (index_t i = 0; i < n; ++i) {
      if (p[i] == 0) continue;
      if (found.first < 0 || (am1 > 1 ? p[i] < p[found.first] : p[i] > p[found.first])) {
        found.second = found.first;
        found.first = i;
      } else if (found.second < 0 || p[i] < p[found.second]) {
        found.second = i;
      }
    }
    return found;
  }
};

/// One row of entmax_vjp_vjp, in double: see SecondOrderRow.
class SecondOrder {
 public:
  static constexpr index_t kNumbers = 4;  ///< of scratch memory for each column

  SecondOrder(double* scratch, index_t cols, double alpha)
      : am1_(alpha - 1), l_(scratch), s_(scratch + cols), y_(scratch + 2 * cols), x_(scratch + 3 * cols) {}

  /// Returns the part in alpha, or 0 where that is not wanted.
  template <class Real>
  double gradient(const Real* p, const Real* g, const Real* w, double w_alpha, bool in_alpha, index_t n,
                  Real* out) noexcept {
    const auto [k, next] = Heaviest::of(am1_, p, n);
    if (k < 0) {
      std::fill_n(out, n, Real(0));
      return 0;
    }
    const double g_k = g[k], p_k = p[k];
    const auto row = detail::SecondOrderRow::of(am1_, w_alpha, p_k, p[next < 0 ? k : next]);
    const double l_k = std::log(p_k), w_k = row.shifted(w[k], l_k);
    detail::CompensatedSum totals, y_sums, x_sums, bend_sums;  // of s, s (g - g_k), s (w - w_k) and bends
    for (index_t i = 0; i < n; ++i) {
      s_[i] = 0;
      if (p[i] == 0 || i == k) continue;
      l_[i] = std::log(double{p[i]});
      s_[i] = row.s(p[i], l_[i]);
      y_[i] = g[i] - g_k;
      x_[i] = row.shifted(w[i], l_[i]) - w_k;
      totals.add(s_[i]);
      y_sums.add(s_[i] * y_[i]);
      x_sums.add(s_[i] * x_[i]);
    }
    const double total = totals.total(), ratios = 1 + row.ratio * total, y_k = -y_sums.total() / ratios,
                 x_k = -x_sums.total() / ratios;
    double own = in_alpha ? row.along(l_k, y_k, row.ratio * x_k) : 0.0;
    for (index_t i = 0; i < n; ++i) {
      if (s_[i] == 0) continue;
      const double centred = x_[i] + row.ratio * x_k, y = s_[i] * (y_[i] + row.ratio * y_k);
      if (in_alpha) own += row.along(l_[i], y, centred);
      y_[i] = row.bend(p[i], l_[i], y, s_[i] * centred);
      bend_sums.add(y_[i]);
    }
    const double bends = bend_sums.total();
    const double mean = (bends + row.bend(p_k, l_k, y_k, x_k)) / ratios;
    constexpr double kLargest = std::numeric_limits<Real>::max();
    double along = 0;
    const double d_k = in_alpha ? detail::alpha_direction(am1_ + 1, p_k) : 0.0;
    for (index_t i = 0; i < n; ++i) {
      const double value = s_[i] == 0 ? 0.0 : y_[i] - row.ratio * s_[i] * mean;
      if (in_alpha && value != 0) along -= value * (detail::alpha_direction(am1_ + 1, p[i]) - d_k);
      out[i] = static_cast<Real>(row.in_numbers(value, kLargest));
    }
    out[k] = static_cast<Real>(row.in_numbers(row.ratio * total * mean - bends, kLargest));
    return row.in_numbers_with(own, along);
  }

 private:
  double am1_;
  double *l_, *s_, *y_, *x_;
};

}  // namespace

template <class Real>
void entmax_vjp(Input<Real> p, PerRow alpha, Input<Real> cotangent, Rows<Real> gradient,
                std::span<double> alpha_gradient) {
  constexpr auto kWhere = "entmax_vjp";
  detail::check_view(kWhere, "p", p);
  detail::check_same_shape(kWhere, "cotangent", cotangent, "p", p);
  detail::check_same_shape(kWhere, "gradient", gradient, "p", p);
  detail::check_alpha(kWhere, alpha, p.rows);
  check_alpha_values(kWhere, "alpha_gradient", alpha_gradient.size(), p.rows);
  const auto make_scratch = [&](detail::WorkerScratch& part) {
    return detail::take_jacobian_scratch<Real>(part, p.cols);
  };
  const std::size_t bytes = detail::jacobian_scratch_bytes<Real>(p.cols);
  for_each_row(p.rows, workers_for(p.rows, p.cols), bytes, make_scratch,
               [&](index_t i, const auto& scratch) noexcept {
                 Real* out = gradient.row(i);
                 detail::jacobian_row(p.row(i), p.cols, alpha[i], cotangent.row(i), scratch, out);
                 if (!alpha_gradient.empty()) {
                   alpha_gradient[static_cast<std::size_t>(i)] =
                       0.0 - detail::along_alpha(alpha[i], p.row(i), out, p.cols);
                 }
               });
}

template <class Real>
void entmax_jvp(Input<Real> p, PerRow alpha, Input<Real> direction, std::span<const double> alpha_direction,
                Rows<Real> tangent) {
  constexpr auto kWhere = "entmax_jvp";
  detail::check_view(kWhere, "p", p);
  detail::check_same_shape(kWhere, "direction", direction, "p", p);
  detail::check_same_shape(kWhere, "tangent", tangent, "p", p);
  detail::check_alpha(kWhere, alpha, p.rows);
  check_alpha_values(kWhere, "alpha_direction", alpha_direction.size(), p.rows);
  struct JvpScratch {
    detail::JacobianScratch<Real> jacobian;
    Real* shifted;
  };
  const auto make_scratch = [&](detail::WorkerScratch& part) {
    return JvpScratch{detail::take_jacobian_scratch<Real>(part, p.cols), part.take<Real>(p.cols)};
  };
  const std::size_t bytes =
      detail::jacobian_scratch_bytes<Real>(p.cols) + detail::scratch_bytes<Real>(p.cols);
  for_each_row(
      p.rows, workers_for(p.rows, p.cols), bytes, make_scratch, [&](index_t i, const auto& scratch) noexcept {
        const Real* along = direction.row(i);
        if (!alpha_direction.empty() && std::isfinite(alpha[i])) {
          detail::shift_along_alpha(alpha[i], p.row(i), along, alpha_direction[static_cast<std::size_t>(i)],
                                    p.cols, scratch.shifted);
          along = scratch.shifted;
        }
        detail::jacobian_row(p.row(i), p.cols, alpha[i], along, scratch.jacobian, tangent.row(i));
      });
}

template <class Real>
void entmax_vjp_vjp(Input<Real> p, PerRow alpha, Input<Real> cotangent, Input<Real> direction,
                    std::span<const double> alpha_direction, Rows<Real> product,
                    std::span<double> alpha_product) {
  constexpr auto kWhere = "entmax_vjp_vjp";
  detail::check_view(kWhere, "p", p);
  detail::check_same_shape(kWhere, "cotangent", cotangent, "p", p);
  detail::check_same_shape(kWhere, "direction", direction, "p", p);
  detail::check_same_shape(kWhere, "product", product, "p", p);
  detail::check_alpha(kWhere, alpha, p.rows);
  check_alpha_values(kWhere, "alpha_direction", alpha_direction.size(), p.rows);
  check_alpha_values(kWhere, "alpha_product", alpha_product.size(), p.rows);
  const auto make_scratch = [&](detail::WorkerScratch& part) {
    return part.take<double>(SecondOrder::kNumbers * p.cols);
  };
  const std::size_t bytes = detail::scratch_bytes<double>(SecondOrder::kNumbers * p.cols);
  for_each_row(p.rows, workers_for(p.rows, 100 * p.cols), bytes, make_scratch,
               [&](index_t i, double* scratch) noexcept {
                 const auto row = static_cast<std::size_t>(i);
                 double along_alpha_i = 0;
                 if (std::isinf(alpha[i])) {
                   for (index_t j = 0; j < p.cols; ++j) product.row(i)[j] = p.row(i)[j] * 0;  // NaN stays
                 } else {
                   along_alpha_i = SecondOrder(scratch, p.cols, alpha[i])
                                       .gradient(p.row(i), cotangent.row(i), direction.row(i),
                                                 alpha_direction.empty() ? 0.0 : alpha_direction[row],
                                                 !alpha_product.empty(), p.cols, product.row(i));
                 }
                 if (!alpha_product.empty()) alpha_product[row] = along_alpha_i;
               });
}

template void entmax_vjp(Input<float>, PerRow, Input<float>, Rows<float>, std::span<double>);
template void entmax_vjp(Input<double>, PerRow, Input<double>, Rows<double>, std::span<double>);
template void entmax_jvp(Input<float>, PerRow, Input<float>, std::span<const double>, Rows<float>);
template void entmax_jvp(Input<double>, PerRow, Input<double>, std::span<const double>, Rows<double>);
template void entmax_vjp_vjp(Input<float>, PerRow, Input<float>, Input<float>, std::span<const double>,
                             Rows<float>, std::span<double>);
template void entmax_vjp_vjp(Input<double>, PerRow, Input<double>, Input<double>, std::span<const double>,
                             Rows<double>, std::span<double>);

}  // namespace fenchel::cpu
