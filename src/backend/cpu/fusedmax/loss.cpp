#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/cpu/fusedmax/chain_checks.hpp"
#include "backend/cpu/fusedmax/row.hpp"
#include "backend/cpu/loss_rows.hpp"
#include "fenchel/backend/cpu/fusedmax.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::cpu {
namespace {

constexpr double kInf = kInfinity;

/// prox(z) - top of a whole row: taut strings between the masks, which pull their neighbours down.
template <class Real>
void prox_row(const Real* z, index_t n, double top, const detail::EdgeGammas& gammas,
              const detail::StringScratch& scratch, double* x) noexcept {
  const auto masked = [z](index_t i) { return z[i] == -std::numeric_limits<Real>::infinity(); };
  for (index_t begin = 0; begin < n;) {
    if (masked(begin)) {
      x[begin++] = -kInf;
      continue;
    }
    index_t end = begin;
    for (; end < n && !masked(end); ++end) x[end] = double{z[end]} - top;
    if (begin > 0) x[begin] -= gammas[begin - 1];
    if (end < n) x[end - 1] -= gammas[end - 1];
    detail::taut_string(
        end - begin, [=](index_t i) { return x[begin + i]; }, [](index_t) { return 1.0; },
        [&](index_t k) { return gammas[begin + k]; }, scratch,
        [=](index_t first, index_t last, double value) {
          std::fill(x + begin + first, x + begin + last, value);
        });
    begin = end;
  }
}

/// The row's loss as (1/2) |q - p|^2 + sum_k (gamma_k |dq_k| - u_k dq_k) + sum_i [tau - x_i]_+ q_i, where x =
/// prox(z) and u_k = sum_{i <= k} (x_i - z_i), |u_k| <= gamma_k, is the string less the middle of its tube:
/// gamma_k or -gamma_k where x rises or falls, summed anew from there on.
template <class Real, class Target>
double row_loss(const Real* z, const Real* p, const double* x, index_t n, const detail::MappedRow& row,
                const detail::EdgeGammas& gammas, const Target& target) noexcept {
  double loss = 0, u = 0, q = target(0);
  for (index_t i = 0; i < n; ++i) {
    if (x[i] == -kInf) {
      if (q > 0) return kInf;
    } else {
      u += x[i] - (double{z[i]} - row.top);
      const double slack = p[i] > 0 ? 0.0 : std::max(row.threshold - x[i], 0.0);
      loss += (q - double{p[i]}) * (q - double{p[i]}) / 2 + slack * q;
    }
    if (i + 1 == n) break;
    if (x[i + 1] != x[i]) u = x[i + 1] > x[i] ? gammas[i] : -gammas[i];
    const double next = target(i + 1), rise = next - q;
    loss += std::max(gammas[i] * std::abs(rise) - u * rise, 0.0);
    q = next;
  }
  return loss;
}

template <class Value>
double variation(index_t n, const detail::EdgeGammas& gammas, const Value& value) noexcept {
  double sum = 0;
  for (index_t k = 0; k + 1 < n; ++k) sum += gammas.weight(k) * std::abs(value(k + 1) - value(k));
  return sum;
}

template <class Real, class Target>
void run(Rows<const Real> scores, PerRow gamma, const Target& target, const LossOutputs<Real>& outputs,
         const Chain& chain) {
  constexpr auto kWhere = "fusedmax_loss";
  detail::check_view(kWhere, "scores", scores);
  detail::check_gamma(kWhere, gamma, scores.rows);
  detail::check_chain(kWhere, chain, scores.rows, scores.cols);
  const index_t cols = scores.cols;
  detail::run_loss_rows(
      kWhere, scores, target, outputs, 20 * cols, detail::fused_scratch_bytes(cols),
      [cols](auto& part) { return detail::take_fused_scratch(part, cols); },
      [&](index_t i, const auto& scratch, std::span<Real> p) noexcept -> detail::RowLoss {
        const index_t n = detail::chain_length(chain, i, cols);
        const Real* z = scores.row(i);
        const detail::EdgeGammas gammas(gamma[i], chain, i);
        const auto row = detail::fusedmax_row(z, n, gammas, scratch, p.data());
        std::fill(p.begin() + n, p.end(), std::isnan(row.top) ? static_cast<Real>(row.top) : Real(0));
        if (std::isnan(row.top)) return {row.top, row.top};
        prox_row(z, n, row.top, gammas, scratch.string, scratch.x);
        const auto q = [&](index_t j) { return target.at(i, j); };
        double value = row_loss(z, p.data(), scratch.x, n, row, gammas, q);
        for (index_t j = n; j < cols; ++j) value = q(j) > 0 ? kInf : value;
        if (outputs.slope.empty()) return {value, 0};
        return {value, variation(n, gammas, q) -
                           variation(n, gammas, [&](index_t j) { return double{p.data()[j]}; })};
      });
}

}  // namespace

template <class Real>
void fusedmax_loss(Input<Real> scores, PerRow gamma, const ClassTargets& targets,
                   const LossOutputs<Real>& outputs, const Chain& chain) {
  run(scores, gamma, detail::ClassRows<Real>(targets), outputs, chain);
}

template <class Real>
void fusedmax_loss(Input<Real> scores, PerRow gamma, const std::type_identity_t<SoftTargets<Real>>& targets,
                   const LossOutputs<Real>& outputs, const Chain& chain) {
  run(scores, gamma, detail::SoftRows<Real>(targets), outputs, chain);
}

template void fusedmax_loss(Input<float>, PerRow, const ClassTargets&, const LossOutputs<float>&,
                            const Chain&);
template void fusedmax_loss(Input<double>, PerRow, const ClassTargets&, const LossOutputs<double>&,
                            const Chain&);
template void fusedmax_loss(Input<float>, PerRow, const SoftTargets<float>&, const LossOutputs<float>&,
                            const Chain&);
template void fusedmax_loss(Input<double>, PerRow, const SoftTargets<double>&, const LossOutputs<double>&,
                            const Chain&);

}  // namespace fenchel::cpu
