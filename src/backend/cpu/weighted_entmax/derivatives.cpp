#include "backend/weighted_entmax/derivatives.hpp"

#include "backend/cpu/weighted_entmax/rows.hpp"
#include "core/columns.hpp"

namespace fenchel::cpu {
namespace {

template <class Real>
void check_rows(std::string_view where, Rows<const Real> p, Rows<const Real> weights, PerRow alpha) {
  detail::check_view(where, "p", p);
  detail::check_alpha(where, alpha, p.rows);
  detail::check_node_weights(where, weights, "p", p);
}

/// Calls row(i, columns) for every row.
template <class Row>
void for_each_row(index_t rows, index_t cols, const Row& row) {
  parallel_rows(rows, workers_for(rows, 100 * cols), [&](index_t begin, index_t end, int) noexcept {
    detail::AllColumns columns(cols);
    for (index_t i = begin; i < end; ++i) row(i, columns);
  });
}

}  // namespace

template <class Real>
void weighted_entmax_vjp(Input<Real> p, Input<Real> weights, PerRow alpha, Input<Real> cotangent,
                         const NodeGradient<Real>& gradient) {
  constexpr auto kWhere = "weighted_entmax_vjp";
  check_rows(kWhere, p, weights, alpha);
  detail::check_same_shape(kWhere, "cotangent", cotangent, "p", p);
  detail::check_gradient(kWhere, "gradient", gradient, "p", p);
  for_each_row(p.rows, p.cols, [&](index_t i, detail::AllColumns& columns) noexcept {
    const detail::RowNodes<Real> nodes{weights.row(i), p.row(i)};
    const double in_alpha = detail::weighted_vjp(
        alpha[i] - 1, !gradient.alpha.empty(), columns, nodes,
        [g = cotangent.row(i)](index_t j) { return double{g[j]}; }, detail::RowGradient<Real>(gradient, i));
    if (!gradient.alpha.empty()) gradient.alpha[static_cast<std::size_t>(i)] = in_alpha;
  });
}

template <class Real>
void weighted_entmax_jvp(Input<Real> p, Input<Real> weights, PerRow alpha,
                         const std::type_identity_t<NodeDirection<Real>>& direction, Rows<Real> tangent) {
  constexpr auto kWhere = "weighted_entmax_jvp";
  check_rows(kWhere, p, weights, alpha);
  detail::check_direction(kWhere, direction, "p", p);
  detail::check_same_shape(kWhere, "tangent", tangent, "p", p);
  for_each_row(p.rows, p.cols, [&](index_t i, detail::AllColumns& columns) noexcept {
    const detail::RowNodes<Real> nodes{weights.row(i), p.row(i)};
    const detail::RowDirection<Real> along(direction, i, alpha[i]);
    Real* out = tangent.row(i);
    detail::weighted_jvp(alpha[i] - 1, columns, nodes, along,
                         [out](index_t j, double x) { out[j] = detail::RowGradient<Real>::saturated(x); });
  });
}

template <class Real>
void weighted_entmax_vjp_vjp(Input<Real> p, Input<Real> weights, PerRow alpha, Input<Real> cotangent,
                             const std::type_identity_t<NodeDirection<Real>>& direction,
                             const NodeGradient<Real>& product) {
  constexpr auto kWhere = "weighted_entmax_vjp_vjp";
  check_rows(kWhere, p, weights, alpha);
  detail::check_same_shape(kWhere, "cotangent", cotangent, "p", p);
  detail::check_direction(kWhere, direction, "p", p);
  detail::check_gradient(kWhere, "product", product, "p", p);
  for_each_row(p.rows, p.cols, [&](index_t i, detail::AllColumns& columns) noexcept {
    const detail::RowNodes<Real> nodes{weights.row(i), p.row(i)};
    const detail::RowDirection<Real> along(direction, i, alpha[i]);
    const double in_alpha = detail::weighted_vjp_vjp(
        alpha[i] - 1, !product.alpha.empty(), columns, nodes,
        [g = cotangent.row(i)](index_t j) { return double{g[j]}; }, along,
        detail::RowGradient<Real>(product, i));
    if (!product.alpha.empty()) product.alpha[static_cast<std::size_t>(i)] = in_alpha;
  });
}

#define FENCHEL_INSTANTIATE(Real)                                                                       \
  template void weighted_entmax_vjp<Real>(Input<Real>, Input<Real>, PerRow, Input<Real>,                \
                                          const NodeGradient<Real>&);                                   \
  template void weighted_entmax_jvp<Real>(Input<Real>, Input<Real>, PerRow, const NodeDirection<Real>&, \
                                          Rows<Real>);                                                  \
  template void weighted_entmax_vjp_vjp<Real>(Input<Real>, Input<Real>, PerRow, Input<Real>,            \
                                              const NodeDirection<Real>&, const NodeGradient<Real>&);
FENCHEL_INSTANTIATE(float)
FENCHEL_INSTANTIATE(double)
#undef FENCHEL_INSTANTIATE

}  // namespace fenchel::cpu
