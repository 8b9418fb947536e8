#include "fenchel/backend/cpu/fusedmax.hpp"

#include <optional>

#include "bindings/arrays/row_losses.hpp"
#include "bindings/arrays/rows.hpp"
#include "bindings/bindings.hpp"
#include "fenchel/backend/cpu/chain.hpp"
#include "fenchel/backend/cpu/fusedmax_grid.hpp"
#include "fenchel/backend/cpu/smooth_sparsemax.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/rows.hpp"

/// Maps whose columns are neighbours: a chain of them, or a grid.
namespace fenchel::python {
namespace {

using Lengths = std::optional<Numbers<const index_t>>;
using Weights = std::optional<RowsArray<const double>>;

struct Names {
  const char *map, *vjp, *jvp, *loss;
};

/// The functions of one regularizer on a chain; the kernels take the chain where kernels of all maps take p,
/// and what is written for each row after it.
template <class Real, class Map, class Vjp, class Jvp, class Loss>
void bind_chain(nb::module_& m, const Names& names, const Map& map, const Vjp& vjp, const Jvp& jvp,
                const Loss& loss) {
  const auto chain_of = [](const Lengths& lengths, const Weights& weights) {
    return cpu::Chain{span_of(lengths), rows_of(weights)};
  };
  const auto lengths = rows_argument("lengths").none(), weights = rows_argument("weights").none();
  bind_map<Real, Lengths, Weights>(
      m, names.map,
      [=](auto scores, PerRow gamma, auto p, const Lengths& l, const Weights& w) {
        map(scores, gamma, p, chain_of(l, w));
      },
      lengths, weights);
  bind_jacobian_product<Real, double, Lengths, Weights>(
      m, names.vjp,
      [=](auto p, PerRow gamma, auto v, auto result, auto grad_gamma, const Lengths& l, const Weights& w) {
        vjp(p, gamma, v, result, grad_gamma, chain_of(l, w));
      },
      lengths, weights);
  bind_jacobian_product<Real, const double, Lengths, Weights>(
      m, names.jvp,
      [=](auto p, PerRow gamma, auto v, auto result, auto d_gamma, const Lengths& l, const Weights& w) {
        jvp(p, gamma, v, d_gamma, result, chain_of(l, w));
      },
      lengths, weights);
  bind_loss<Real, Lengths, Weights>(
      m, names.loss,
      [=](auto scores, PerRow gamma, const auto& targets, const auto& outputs, const Lengths& l,
          const Weights& w) { loss(scores, gamma, targets, outputs, chain_of(l, w)); },
      lengths, weights);
}

template <class Real>
void bind_grid(nb::module_& m) {
  const auto height = nb::arg("height");
  bind_map<Real, index_t>(
      m, "fusedmax_grid",
      [](auto scores, PerRow gamma, auto p, index_t h) { cpu::fusedmax_grid<Real>(scores, h, gamma, p); },
      height);
  bind_jacobian_product<Real, double, index_t>(
      m, "fusedmax_grid_vjp",
      [](auto p, PerRow gamma, auto v, auto result, auto grad_gamma, index_t h) {
        cpu::fusedmax_grid_vjp<Real>(p, h, gamma, v, result, grad_gamma);
      },
      height);
  bind_jacobian_product<Real, const double, index_t>(
      m, "fusedmax_grid_jvp",
      [](auto p, PerRow gamma, auto v, auto result, auto d_gamma, index_t h) {
        cpu::fusedmax_grid_jvp<Real>(p, h, gamma, v, d_gamma, result);
      },
      height);
  bind_loss<Real, index_t>(
      m, "fusedmax_grid_loss",
      [](auto scores, PerRow gamma, const auto& targets, const auto& outputs, index_t h) {
        cpu::fusedmax_grid_loss<Real>(scores, h, gamma, targets, outputs);
      },
      height);
}

template <class Real>
void bind(nb::module_& m) {
  bind_chain<Real>(
      m, {"fusedmax", "fusedmax_vjp", "fusedmax_jvp", "fusedmax_loss"},
      [](const auto&... a) { cpu::fusedmax<Real>(a...); },
      [](const auto&... a) { cpu::fusedmax_vjp<Real>(a...); },
      [](const auto&... a) { cpu::fusedmax_jvp<Real>(a...); },
      [](const auto&... a) { cpu::fusedmax_loss<Real>(a...); });
  bind_chain<Real>(
      m, {"smooth_sparsemax", "smooth_sparsemax_vjp", "smooth_sparsemax_jvp", "smooth_sparsemax_loss"},
      [](const auto&... a) { cpu::smooth_sparsemax<Real>(a...); },
      [](const auto&... a) { cpu::smooth_sparsemax_vjp<Real>(a...); },
      [](const auto&... a) { cpu::smooth_sparsemax_jvp<Real>(a...); },
      [](const auto&... a) { cpu::smooth_sparsemax_loss<Real>(a...); });
  bind_grid<Real>(m);
}

}  // namespace

void bind_fusedmax(nb::module_& m) {
  bind<double>(m);
  bind<float>(m);
}

}  // namespace fenchel::python
