#include "fenchel/backend/cpu/fusedmax_grid.hpp"

#include <cmath>

#include "backend/cpu/fusedmax/grid_checks.hpp"
#include "backend/cpu/loss_rows.hpp"
#include "core/compensated_sum.hpp"
#include "fenchel/core/parallel.hpp"

namespace fenchel::cpu {
namespace {

/// About what the cuts cost, in nanoseconds.
constexpr index_t work_of(index_t cols) noexcept { return 300 * cols; }

/// sum |q_u - q_v| over neighbours, q given by a function of the pixel.
template <class At>
double total_variation(const detail::GridLayout& grid, const At& q) noexcept {
  detail::CompensatedSum sum;
  detail::for_edges(grid, [&](index_t u, index_t v) { sum.add(std::abs(q(u) - q(v))); });
  return sum.total();
}

/// |q - p|^2 / 2 + <q, p - (f - tau)> + gamma TV(q): the loss, with two parts that are not negative.
template <class Real, class Target>
detail::RowLoss loss_of(const Real* scores, const detail::GridLayout& grid, double gamma,
                        const detail::MappedRow& row, std::span<const Real> p, const Target& target,
                        index_t i) noexcept {
  if (std::isnan(row.top)) return {row.top, row.top};
  const auto q_at = [&](index_t j) { return target.at(i, j); };
  const auto p_at = [&](index_t j) { return double{p[static_cast<std::size_t>(j)]}; };
  const double variation = total_variation(grid, q_at);
  detail::CompensatedSum distance, linear;
  double worst = 0;
  for (index_t j = 0; j < static_cast<index_t>(p.size()); ++j) {
    const double q = q_at(j), difference = q - p_at(j);
    distance.add(difference * difference);
    if (!(q > 0)) continue;
    const double term = q * (p_at(j) - (scores[j] - row.top - row.threshold));
    worst = std::max(worst, term);
    if (std::isfinite(term)) linear.add(term);
  }
  const double squares = distance.total(), rest = linear.total() + gamma * variation;
  const double loss = std::isinf(worst) ? worst : squares / 2 + std::max(0.0, rest);
  return {squares == 0 ? 0.0 : loss, variation - total_variation(grid, p_at)};
}

template <class Real, class Target>
void run_loss(Rows<const Real> scores, index_t height, PerRow gamma, const Target& target,
              const LossOutputs<Real>& outputs) {
  constexpr auto kWhere = "fusedmax_grid_loss";
  const auto grid = detail::checked_grid(kWhere, "scores", scores, height, gamma);
  detail::run_loss_rows(
      kWhere, scores, target, outputs, work_of(scores.cols), grid.scratch_size(),
      [&](auto& part) { return grid.take_scratch(part); },
      [&](index_t i, const detail::GridScratch& scratch, std::span<Real> p) noexcept {
        const auto row = detail::fusedmax_grid_row(scores.row(i), grid, gamma[i], scratch, p.data());
        return loss_of(scores.row(i), grid, gamma[i], row, std::span<const Real>(p), target, i);
      });
}

}  // namespace

template <class Real>
void fusedmax_grid(Input<Real> scores, index_t height, PerRow gamma, Rows<Real> p, double* threshold) {
  constexpr auto kWhere = "fusedmax_grid";
  const auto grid = detail::checked_grid(kWhere, "scores", scores, height, gamma);
  detail::check_same_shape(kWhere, "p", p, "scores", scores);
  detail::check_overlap(kWhere, "p", p, "scores", scores);
  const int workers = workers_for(scores.rows, work_of(scores.cols));
  const detail::Scratch memory(workers, grid.scratch_size());
  parallel_rows(scores.rows, workers, [&](index_t begin, index_t end, int worker) noexcept {
    auto part = memory.of(worker);
    const auto scratch = grid.take_scratch(part);
    for (index_t i = begin; i < end; ++i) {
      const auto row = detail::fusedmax_grid_row(scores.row(i), grid, gamma[i], scratch, p.row(i));
      if (threshold != nullptr) threshold[i] = row.top + row.threshold;
    }
  });
}

template <class Real>
void fusedmax_grid_loss(Input<Real> scores, index_t height, PerRow gamma, const ClassTargets& targets,
                        const LossOutputs<Real>& outputs) {
  run_loss(scores, height, gamma, detail::ClassRows<Real>(targets), outputs);
}

template <class Real>
void fusedmax_grid_loss(Input<Real> scores, index_t height, PerRow gamma,
                        const std::type_identity_t<SoftTargets<Real>>& targets,
                        const LossOutputs<Real>& outputs) {
  run_loss(scores, height, gamma, detail::SoftRows<Real>(targets), outputs);
}

template void fusedmax_grid(Input<float>, index_t, PerRow, Rows<float>, double*);
template void fusedmax_grid(Input<double>, index_t, PerRow, Rows<double>, double*);
template void fusedmax_grid_loss(Input<float>, index_t, PerRow, const ClassTargets&,
                                 const LossOutputs<float>&);
template void fusedmax_grid_loss(Input<double>, index_t, PerRow, const ClassTargets&,
                                 const LossOutputs<double>&);
template void fusedmax_grid_loss(Input<float>, index_t, PerRow, const SoftTargets<float>&,
                                 const LossOutputs<float>&);
template void fusedmax_grid_loss(Input<double>, index_t, PerRow, const SoftTargets<double>&,
                                 const LossOutputs<double>&);

}  // namespace fenchel::cpu
