#include <algorithm>
#include <cmath>

#include "backend/cpu/fusedmax/chain_checks.hpp"
#include "backend/cpu/fusedmax/plateau_row.hpp"
#include "fenchel/backend/cpu/fusedmax.hpp"
#include "fenchel/core/parallel.hpp"

namespace fenchel::cpu {
namespace {

/// out = J v + dp/dgamma gamma_direction(i) for each row, and along(i, <v, dp/dgamma>).
template <class Real, class GammaChange, class Along>
void run(Rows<const Real> p, PerRow gamma, Rows<const Real> v, Rows<Real> out, const Chain& chain,
         const GammaChange& gamma_direction, const Along& along) {
  const index_t cols = p.cols;
  const int workers = workers_for(p.rows, cols);
  const detail::Scratch memory(workers, detail::plateau_scratch_bytes(cols));
  parallel_rows(p.rows, workers, [&](index_t begin, index_t end, int worker) noexcept {
    auto part = memory.of(worker);
    const auto scratch = detail::take_plateau_scratch(part, cols);
    for (index_t i = begin; i < end; ++i) {
      const index_t n = detail::chain_length(chain, i, cols);
      const detail::EdgeGammas edges(gamma[i], chain, i);
      const Real padding = std::isnan(p.row(i)[0]) ? p.row(i)[0] : Real(0);
      along(i, detail::plateau_jacobian_row(p.row(i), n, edges, v.row(i), gamma_direction(i), scratch,
                                            out.row(i)));
      std::fill(out.row(i) + n, out.row(i) + cols, padding);
    }
  });
}

}  // namespace

template <class Real>
void fusedmax_vjp(Input<Real> p, PerRow gamma, Input<Real> cotangent, Rows<Real> gradient,
                  std::span<double> gamma_gradient, const Chain& chain) {
  detail::check_chain_product<Real>("fusedmax_vjp", p, gamma, {"cotangent", cotangent},
                                    {"gradient", gradient}, chain, {"gamma_gradient", gamma_gradient.size()});
  run(
      p, gamma, cotangent, gradient, chain, [](index_t) noexcept { return 0.0; },
      [gamma_gradient](index_t i, double along) noexcept {
        if (!gamma_gradient.empty()) gamma_gradient[static_cast<std::size_t>(i)] = along;
      });
}

template <class Real>
void fusedmax_jvp(Input<Real> p, PerRow gamma, Input<Real> direction, std::span<const double> gamma_direction,
                  Rows<Real> tangent, const Chain& chain) {
  detail::check_chain_product<Real>("fusedmax_jvp", p, gamma, {"direction", direction}, {"tangent", tangent},
                                    chain, {"gamma_direction", gamma_direction.size()});
  run(
      p, gamma, direction, tangent, chain,
      [gamma_direction](index_t i) noexcept {
        return gamma_direction.empty() ? 0.0 : gamma_direction[static_cast<std::size_t>(i)];
      },
      [](index_t, double) noexcept {});
}

template void fusedmax_vjp(Input<float>, PerRow, Input<float>, Rows<float>, std::span<double>, const Chain&);
template void fusedmax_jvp(Input<float>, PerRow, Input<float>, std::span<const double>, Rows<float>,
                           const Chain&);
template void fusedmax_vjp(Input<double>, PerRow, Input<double>, Rows<double>, std::span<double>,
                           const Chain&);
template void fusedmax_jvp(Input<double>, PerRow, Input<double>, std::span<const double>, Rows<double>,
                           const Chain&);

}  // namespace fenchel::cpu
