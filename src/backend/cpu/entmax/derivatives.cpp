#include "fenchel/backend/cpu/entmax_derivatives.hpp"

#include <cmath>

#include "backend/cpu/checks.hpp"
#include "backend/cpu/entmax/alpha_direction.hpp"
#include "backend/cpu/entmax/jacobian_row.hpp"
#include "backend/entmax/terms.hpp"
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

/// One row of entmax_vjp_vjp, in double, on the support: see SecondOrderTerm.
class SecondOrderRow {
 public:
  SecondOrderRow(double* scratch, index_t cols, double alpha)
      : am1_(alpha - 1), s_(scratch), y_(scratch + cols), x_(scratch + 2 * cols) {}

  template <class Real>
  double gradient(const Real* p, const Real* g, const Real* w, double w_alpha, index_t n,
                  Real* out) noexcept {
    for (index_t i = 0; i < n; ++i) {
      const auto term = detail::SecondOrderTerm::of(am1_, w_alpha, p[i]);
      s_[i] = term.s;
      y_[i] = g[i];
      x_[i] = term.shifted(w[i]);
    }
    apply_jacobian(y_, n);
    apply_jacobian(x_, n);
    double along = 0, total = 0, sum = 0;
    for (index_t i = 0; i < n; ++i) {
      if (s_[i] == 0) continue;
      const detail::SecondOrderTerm term{am1_, w_alpha, p[i], std::log(double{p[i]}), s_[i]};
      along -= term.along(y_[i], x_[i]);
      y_[i] = term.bend(y_[i], x_[i]);
      total += s_[i];
      sum += y_[i];
    }
    for (index_t i = 0; i < n; ++i) {
      const double value = s_[i] == 0 ? 0.0 : y_[i] - s_[i] * sum / total;
      along -= value * detail::alpha_direction(am1_ + 1, p[i]);
      out[i] = static_cast<Real>(value);
    }
    return along;
  }

 private:
  void apply_jacobian(double* v, index_t n) const noexcept {
    double total = 0, moment = 0;
    for (index_t i = 0; i < n; ++i) {
      total += s_[i];
      moment += s_[i] == 0 ? 0.0 : s_[i] * v[i];
    }
    for (index_t i = 0; i < n; ++i) v[i] = s_[i] == 0 ? 0.0 : s_[i] * (v[i] - moment / total);
  }

  double am1_;
  double *s_, *y_, *x_;
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
  const auto make_scratch = [&](detail::WorkerScratch& part) { return part.take<double>(3 * p.cols); };
  const std::size_t bytes = detail::scratch_bytes<double>(3 * p.cols);
  for_each_row(p.rows, workers_for(p.rows, 100 * p.cols), bytes, make_scratch,
               [&](index_t i, double* scratch) noexcept {
                 const auto row = static_cast<std::size_t>(i);
                 double along_alpha_i = 0;
                 if (std::isinf(alpha[i])) {
                   for (index_t j = 0; j < p.cols; ++j) product.row(i)[j] = p.row(i)[j] * 0;  // NaN stays
                 } else {
                   along_alpha_i = SecondOrderRow(scratch, p.cols, alpha[i])
                                       .gradient(p.row(i), cotangent.row(i), direction.row(i),
                                                 alpha_direction.empty() ? 0.0 : alpha_direction[row], p.cols,
                                                 product.row(i));
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
