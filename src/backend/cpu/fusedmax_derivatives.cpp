#include <algorithm>
#include <cmath>

#include "backend/cpu/chain_checks.hpp"
#include "backend/cpu/plateau_row.hpp"
#include "fenchel/backend/fusedmax.hpp"
#include "fenchel/core/parallel.hpp"

namespace fenchel::cpu {
namespace {

/// Checks, then out = J v + dp/dgamma d_gamma(i) for each row, and along(i, <v, dp/dgamma>).
template <class Real, class GammaChange, class Along>
void run(std::string_view where, Rows<const Real> p, PerRow gamma, std::string_view v_name,
         Rows<const Real> v, std::string_view out_name, Rows<Real> out, const Chain& chain,
         const GammaChange& d_gamma, const Along& along) {
  detail::check_view(where, "p", p);
  detail::check_same_shape(where, v_name, v, "p", p);
  detail::check_same_shape(where, out_name, out, "p", p);
  detail::check_gamma(where, gamma, p.rows);
  detail::check_chain(where, chain, p.rows, p.cols);
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
      along(i, detail::plateau_jacobian_row(p.row(i), n, gamma[i], edges, v.row(i), d_gamma(i), scratch,
                                            out.row(i)));
      std::fill(out.row(i) + n, out.row(i) + cols, padding);
    }
  });
}

void check_gamma_values(std::string_view where, std::string_view name, std::size_t size, index_t rows) {
  if (size != 0) detail::check_count(where, name, static_cast<index_t>(size), rows);
}

}  // namespace

template <class Real>
void fusedmax_jvp(Input<Real> p, PerRow gamma, Input<Real> d_scores, Rows<Real> d_p, const Chain& chain,
                  std::span<const double> d_gamma) {
  constexpr auto kWhere = "fusedmax_jvp";
  check_gamma_values(kWhere, "d_gamma", d_gamma.size(), p.rows);
  run(
      kWhere, p, gamma, "d_scores", d_scores, "d_p", d_p, chain,
      [d_gamma](index_t i) noexcept { return d_gamma.empty() ? 0.0 : d_gamma[static_cast<std::size_t>(i)]; },
      [](index_t, double) noexcept {});
}

template <class Real>
void fusedmax_vjp(Input<Real> p, PerRow gamma, Input<Real> grad_p, Rows<Real> grad_scores, const Chain& chain,
                  std::span<double> grad_gamma) {
  constexpr auto kWhere = "fusedmax_vjp";
  check_gamma_values(kWhere, "grad_gamma", grad_gamma.size(), p.rows);
  run(
      kWhere, p, gamma, "grad_p", grad_p, "grad_scores", grad_scores, chain,
      [](index_t) noexcept { return 0.0; },
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
