#include <algorithm>
#include <cmath>

#include "backend/cpu/fusedmax/chain_checks.hpp"
#include "backend/cpu/fusedmax/plateau_row.hpp"
#include "fenchel/backend/cpu/fusedmax.hpp"
#include "fenchel/core/parallel.hpp"

namespace fenchel::cpu {
namespace {

/// out = J v + dp/dgamma d_gamma(i) for each row, and along(i, <v, dp/dgamma>).
template <class Real, class GammaChange, class Along>
void run(Rows<const Real> p, PerRow gamma, Rows<const Real> v, Rows<Real> out, const Chain& chain,
         const GammaChange& d_gamma, const Along& along) {
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
      along(i, detail::plateau_jacobian_row(p.row(i), n, edges, v.row(i), d_gamma(i), scratch, out.row(i)));
      std::fill(out.row(i) + n, out.row(i) + cols, padding);
    }
  });
}

}  // namespace

template <class Real>
void fusedmax_jvp(Input<Real> p, PerRow gamma, Input<Real> d_scores, Rows<Real> d_p, const Chain& chain,
                  std::span<const double> d_gamma) {
  detail::check_chain_product<Real>("fusedmax_jvp", p, gamma, {"d_scores", d_scores}, {"d_p", d_p}, chain,
                                    {"d_gamma", d_gamma.size()});
  run(
      p, gamma, d_scores, d_p, chain,
      [d_gamma](index_t i) noexcept { return d_gamma.empty() ? 0.0 : d_gamma[static_cast<std::size_t>(i)]; },
      [](index_t, double) noexcept {});
}

template <class Real>
void fusedmax_vjp(Input<Real> p, PerRow gamma, Input<Real> grad_p, Rows<Real> grad_scores, const Chain& chain,
                  std::span<double> grad_gamma) {
  detail::check_chain_product<Real>("fusedmax_vjp", p, gamma, {"grad_p", grad_p},
                                    {"grad_scores", grad_scores}, chain, {"grad_gamma", grad_gamma.size()});
  run(
      p, gamma, grad_p, grad_scores, chain, [](index_t) noexcept { return 0.0; },
      [grad_gamma](index_t i, double along) noexcept {
        if (!grad_gamma.empty()) grad_gamma[static_cast<std::size_t>(i)] = along;
      });
}

template void fusedmax_jvp(Input<float>, PerRow, Input<float>, Rows<float>, const Chain&,
                           std::span<const double>);
template void fusedmax_jvp(Input<double>, PerRow, Input<double>, Rows<double>, const Chain&,
                           std::span<const double>);
template void fusedmax_vjp(Input<float>, PerRow, Input<float>, Rows<float>, const Chain&, std::span<double>);
template void fusedmax_vjp(Input<double>, PerRow, Input<double>, Rows<double>, const Chain&,
                           std::span<double>);

}  // namespace fenchel::cpu
