#include "fenchel/backend/cpu/smooth_sparsemax.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "backend/cpu/checks.hpp"
#include "backend/cpu/fusedmax/chain_checks.hpp"
#include "backend/cpu/loss_rows.hpp"
#include "core/sobolev_chain.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/core/parallel.hpp"

namespace fenchel::cpu {
namespace {

using detail::EdgeGammas;
using detail::SobolevChain;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Nanoseconds a column, for workers_for.
constexpr index_t kMapCost = 500, kDerivativeCost = 40;

void start(SobolevChain& row, index_t length, const EdgeGammas& edges) noexcept {
  row.reset(
      length, [](index_t) { return 1.0; }, [&](index_t k) { return edges[k]; });
}

/// Fills p, of which `row` knows the digits that Real drops.
template <class Real>
detail::MappedRow map_row(const Real* z, SobolevChain& row, std::span<Real> p) noexcept {
  const index_t n = row.size();
  double top = -kInfinity;
  bool valid = true;
  for (index_t j = 0; j < n; ++j) {
    valid = valid && z[j] < kInfinity;
    top = std::max<double>(top, z[j]);
  }
  if (!valid || top == -kInfinity) {
    std::ranges::fill(p, std::numeric_limits<Real>::quiet_NaN());
    return {kNaN, kNaN};
  }
  for (index_t j = 0; j < n; ++j) row.values()[j] = z[j] - top;
  const double tau = row.predict();
  const auto padding = std::transform(row.result(), row.result() + n, p.begin(),
                                      [](double x) { return static_cast<Real>(x); });
  std::fill(padding, p.end(), Real(0));
  return {top, tau};
}

/// sum_k w_k (u(k + 1) - u(k)) (v(k + 1) - v(k)), which is u' L v.
template <class U, class V>
double along_edges(index_t n, const EdgeGammas& edges, const U& u, const V& v) noexcept {
  double sum = 0;
  for (index_t k = 0; k + 1 < n; ++k) sum += edges.weight(k) * (u(k + 1) - u(k)) * (v(k + 1) - v(k));
  return sum;
}

/// Calls row(i, chain, edges) for every row whose p is a prediction, and bad(i) for the others; then writes
/// what the chain found, or NaN.
template <class Real, class Row, class Bad>
void run_derivative(Rows<const Real> p, PerRow gamma, const Chain& chain, Rows<Real> out, const Row& row,
                    const Bad& bad) {
  const int workers = workers_for(p.rows, kDerivativeCost * p.cols);
  const detail::Scratch memory(workers, SobolevChain::bytes(p.cols));
  parallel_rows(p.rows, workers, [&](index_t begin, index_t end, int worker) noexcept {
    auto part = memory.of(worker);
    SobolevChain scratch(part, p.cols);
    for (index_t i = begin; i < end; ++i) {
      const index_t n = detail::chain_length(chain, i, p.cols);
      if (std::any_of(p.row(i), p.row(i) + n, [](Real x) { return std::isnan(x); })) {
        bad(i);
        std::ranges::fill(out[i], std::numeric_limits<Real>::quiet_NaN());
        continue;
      }
      const EdgeGammas edges(gamma[i], chain, i);
      start(scratch, n, edges);
      row(i, scratch, edges);
      for (index_t j = 0; j < p.cols; ++j) {
        out.row(i)[j] = j < n ? static_cast<Real>(scratch.result()[j]) : Real(0);
      }
    }
  });
}

/// Adds -step L v to the values.
template <class V>
void add_flow(SobolevChain& row, const EdgeGammas& edges, double step, const V& v) noexcept {
  for (index_t k = 0; k + 1 < row.size(); ++k) {
    const double flow = step * edges.weight(k) * (v(k + 1) - v(k));
    row.values()[k] += flow;
    row.values()[k + 1] -= flow;
  }
}

/// A row of a batch in double.
template <class Real>
auto reader(const Real* row) noexcept {
  return [row](index_t j) { return double{row[j]}; };
}

void check_gamma_product(const char* where, std::span<const double> gamma_product, index_t rows) {
  if (gamma_product.empty()) return;
  detail::check_count(where, "gamma_product", static_cast<index_t>(gamma_product.size()), rows);
}

/// The tangent, and gamma_product[i] = -<L p, tangent> of row i if asked for.
template <class Real>
void run_jvp(const char* where, Input<Real> p, PerRow gamma, Input<Real> direction,
             std::span<const double> gamma_direction, detail::Named<Rows<Real>> tangent,
             std::span<double> gamma_product, const Chain& chain) {
  detail::check_chain_product<Real>(where, p, gamma, {"direction", direction}, tangent, chain,
                                    {"gamma_direction", gamma_direction.size()});
  run_derivative(
      p, gamma, chain, tangent.value,
      [&](index_t i, SobolevChain& row, const EdgeGammas& edges) noexcept {
        const Real *at = p.row(i), *along = direction.row(i);
        std::copy(along, along + row.size(), row.values());
        if (!gamma_direction.empty()) {
          add_flow(row, edges, gamma_direction[static_cast<std::size_t>(i)], reader(at));
        }
        row.differentiate(at);
        if (gamma_product.empty()) return;
        gamma_product[static_cast<std::size_t>(i)] =
            0.0 - along_edges(row.size(), edges, reader(row.result()), reader(at));
      },
      [&](index_t i) {
        if (!gamma_product.empty()) gamma_product[static_cast<std::size_t>(i)] = kNaN;
      });
}

/// The loss of a row that has been mapped to p, and its derivative in gamma.
template <class Real, class Target>
detail::RowLoss row_loss(index_t i, const Target& target, std::span<const Real> p, const SobolevChain& row,
                         double tau, const EdgeGammas& edges) noexcept {
  const index_t n = row.size();
  const auto predicted = [&](index_t j) { return double{p[static_cast<std::size_t>(j)]}; };
  const auto wanted = [&](index_t j) { return target.at(i, j); };
  const auto excess = [&](index_t j) { return wanted(j) - predicted(j); };
  double loss = edges.gamma() * along_edges(n, edges, excess, excess) / 2;
  for (index_t j = 0; j < n; ++j) {
    loss += excess(j) * excess(j) / 2;
    if (wanted(j) > 0) loss += row.slack(tau, j) * wanted(j);
  }
  for (index_t j = n; j < static_cast<index_t>(p.size()); ++j) {
    if (wanted(j) > 0) loss = kInfinity;
  }
  return {loss, (along_edges(n, edges, wanted, wanted) - along_edges(n, edges, predicted, predicted)) / 2};
}

template <class Real, class Target>
void run_loss(Rows<const Real> scores, PerRow gamma, const Target& target, const LossOutputs<Real>& outputs,
              const Chain& chain) {
  constexpr auto kWhere = "smooth_sparsemax_loss";
  detail::check_view(kWhere, "scores", scores);
  detail::check_gamma(kWhere, gamma, scores.rows);
  detail::check_chain(kWhere, chain, scores.rows, scores.cols);
  const index_t cols = scores.cols;
  detail::run_loss_rows(
      kWhere, scores, target, outputs, kMapCost * cols, SobolevChain::bytes(cols),
      [cols](auto& part) { return SobolevChain(part, cols); },
      [&](index_t i, SobolevChain row, std::span<Real> p) noexcept {
        const EdgeGammas edges(gamma[i], chain, i);
        start(row, detail::chain_length(chain, i, cols), edges);
        const detail::MappedRow found = map_row(scores.row(i), row, p);
        if (std::isnan(found.top)) return detail::RowLoss{kNaN, kNaN};
        return row_loss<Real>(i, target, p, row, found.threshold, edges);
      });
}

}  // namespace

template <class Real>
void smooth_sparsemax(Input<Real> scores, PerRow gamma, Rows<Real> p, const Chain& chain, double* threshold) {
  detail::check_chain_map("smooth_sparsemax", scores, gamma, p, chain);
  const int workers = workers_for(scores.rows, kMapCost * scores.cols);
  const detail::Scratch memory(workers, SobolevChain::bytes(scores.cols));
  parallel_rows(scores.rows, workers, [&](index_t begin, index_t end, int worker) noexcept {
    auto part = memory.of(worker);
    SobolevChain row(part, scores.cols);
    for (index_t i = begin; i < end; ++i) {
      start(row, detail::chain_length(chain, i, scores.cols), EdgeGammas(gamma[i], chain, i));
      const detail::MappedRow found = map_row(scores.row(i), row, p[i]);
      if (threshold != nullptr) threshold[i] = found.top + found.threshold;
    }
  });
}

template <class Real>
void smooth_sparsemax_jvp(Input<Real> p, PerRow gamma, Input<Real> direction,
                          std::span<const double> gamma_direction, Rows<Real> tangent, const Chain& chain) {
  run_jvp<Real>("smooth_sparsemax_jvp", p, gamma, direction, gamma_direction, {"tangent", tangent}, {},
                chain);
}

template <class Real>
void smooth_sparsemax_loss_curvature(Input<Real> p, PerRow gamma, Input<Real> direction,
                                     std::span<const double> gamma_direction, Rows<Real> product,
                                     std::span<double> gamma_product, const Chain& chain) {
  constexpr auto kWhere = "smooth_sparsemax_loss_curvature";
  check_gamma_product(kWhere, gamma_product, p.rows);
  run_jvp<Real>(kWhere, p, gamma, direction, gamma_direction, {"product", product}, gamma_product, chain);
}

template <class Real>
void smooth_sparsemax_vjp(Input<Real> p, PerRow gamma, Input<Real> cotangent, Rows<Real> gradient,
                          std::span<double> gamma_gradient, const Chain& chain) {
  detail::check_chain_product<Real>("smooth_sparsemax_vjp", p, gamma, {"cotangent", cotangent},
                                    {"gradient", gradient}, chain, {"gamma_gradient", gamma_gradient.size()});
  run_derivative(
      p, gamma, chain, gradient,
      [&](index_t i, SobolevChain& row, const EdgeGammas& edges) noexcept {
        const Real *at = p.row(i), *given = cotangent.row(i);
        std::copy(given, given + row.size(), row.values());
        row.differentiate(at);
        if (gamma_gradient.empty()) return;
        gamma_gradient[static_cast<std::size_t>(i)] =
            0.0 - along_edges(row.size(), edges, reader(row.result()), reader(at));
      },
      [&](index_t i) {
        if (!gamma_gradient.empty()) gamma_gradient[static_cast<std::size_t>(i)] = kNaN;
      });
}

template <class Real>
void smooth_sparsemax_vjp_vjp(Input<Real> p, PerRow gamma, Input<Real> cotangent, Input<Real> weight,
                              std::span<const double> gamma_weight, Rows<Real> product,
                              std::span<double> gamma_product, const Chain& chain) {
  constexpr auto kWhere = "smooth_sparsemax_vjp_vjp";
  detail::check_chain_product<Real>(kWhere, p, gamma, {"weight", weight}, {"product", product}, chain,
                                    {"gamma_weight", gamma_weight.size()});
  check_gamma_product(kWhere, gamma_product, p.rows);
  const auto size = static_cast<std::size_t>(p.rows * p.cols);
  std::vector<Real> u(size), t(size);
  const Rows<Real> gradient(u.data(), p.rows, p.cols), tangent(t.data(), p.rows, p.cols);
  smooth_sparsemax_vjp<Real>(p, gamma, cotangent, gradient, {}, chain);
  smooth_sparsemax_jvp<Real>(p, gamma, weight, gamma_weight, tangent, chain);
  run_derivative(
      p, gamma, chain, product,
      [&](index_t i, SobolevChain& row, const EdgeGammas& edges) noexcept {
        const auto at = static_cast<std::size_t>(i);
        const auto moved = reader(gradient.row(i));
        std::fill(row.values(), row.values() + row.size(), 0.0);
        if (!gamma_weight.empty()) add_flow(row, edges, gamma_weight[at], moved);
        row.differentiate(p.row(i));
        if (gamma_product.empty()) return;
        gamma_product[at] = 0.0 - along_edges(row.size(), edges, moved, reader(tangent.row(i))) -
                            along_edges(row.size(), edges, reader(row.result()), reader(p.row(i)));
      },
      [&](index_t i) {
        if (!gamma_product.empty()) gamma_product[static_cast<std::size_t>(i)] = kNaN;
      });
}

template <class Real>
void smooth_sparsemax_loss(Input<Real> scores, PerRow gamma, const ClassTargets& targets,
                           const LossOutputs<Real>& outputs, const Chain& chain) {
  run_loss(scores, gamma, detail::ClassRows<Real>(targets), outputs, chain);
}

template <class Real>
void smooth_sparsemax_loss(Input<Real> scores, PerRow gamma,
                           const std::type_identity_t<SoftTargets<Real>>& targets,
                           const LossOutputs<Real>& outputs, const Chain& chain) {
  run_loss(scores, gamma, detail::SoftRows<Real>(targets), outputs, chain);
}

template void smooth_sparsemax(Input<float>, PerRow, Rows<float>, const Chain&, double*);
template void smooth_sparsemax_jvp(Input<float>, PerRow, Input<float>, std::span<const double>, Rows<float>,
                                   const Chain&);
template void smooth_sparsemax_vjp(Input<float>, PerRow, Input<float>, Rows<float>, std::span<double>,
                                   const Chain&);
template void smooth_sparsemax_vjp_vjp(Input<float>, PerRow, Input<float>, Input<float>,
                                       std::span<const double>, Rows<float>, std::span<double>, const Chain&);
template void smooth_sparsemax_loss_curvature(Input<float>, PerRow, Input<float>, std::span<const double>,
                                              Rows<float>, std::span<double>, const Chain&);
template void smooth_sparsemax_loss(Input<float>, PerRow, const ClassTargets&, const LossOutputs<float>&,
                                    const Chain&);
template void smooth_sparsemax_loss(Input<float>, PerRow, const SoftTargets<float>&,
                                    const LossOutputs<float>&, const Chain&);
template void smooth_sparsemax(Input<double>, PerRow, Rows<double>, const Chain&, double*);
template void smooth_sparsemax_jvp(Input<double>, PerRow, Input<double>, std::span<const double>,
                                   Rows<double>, const Chain&);
template void smooth_sparsemax_vjp(Input<double>, PerRow, Input<double>, Rows<double>, std::span<double>,
                                   const Chain&);
template void smooth_sparsemax_vjp_vjp(Input<double>, PerRow, Input<double>, Input<double>,
                                       std::span<const double>, Rows<double>, std::span<double>,
                                       const Chain&);
template void smooth_sparsemax_loss_curvature(Input<double>, PerRow, Input<double>, std::span<const double>,
                                              Rows<double>, std::span<double>, const Chain&);
template void smooth_sparsemax_loss(Input<double>, PerRow, const ClassTargets&, const LossOutputs<double>&,
                                    const Chain&);
template void smooth_sparsemax_loss(Input<double>, PerRow, const SoftTargets<double>&,
                                    const LossOutputs<double>&, const Chain&);

}  // namespace fenchel::cpu
