#include "backend/cpu/attention/hessian.hpp"

#include <algorithm>
#include <cmath>

namespace fenchel::detail {
namespace {

constexpr index_t kG = kSpaceGroup;

}  // namespace

PairMemory::PairMemory(index_t d)
    : nodes_(std::make_unique_for_overwrite<SpaceNodes::Node[]>(
          static_cast<std::size_t>(kG * SpaceNodes::kMost))),
      row_(static_cast<std::size_t>(space_scratch(d))),
      matrices_(static_cast<std::size_t>(2 * d * d + d)),
      jets_(static_cast<std::size_t>(12 * d)) {}

PairRow::PairRow(const DensityRow& p, const cpu::GaussianFunctions& psi, PairMemory& memory) noexcept
    : SpaceRow(p, psi, memory.row_.data()), memory_(memory), nodes_{memory.nodes_.get(), {}} {}

bool PairRow::integrate(index_t first, index_t lanes) noexcept {
  if (!factorise()) return false;
  last_ = nullptr;
  for (index_t lane = 0; lane < kG; ++lane) load(first + std::min(lane, lanes - 1), lane);
  return SpaceRow::integrate(Wanted::kValues, Accuracy::kDouble, &nodes_);
}

/// U^T L^-1 x, where Sigma is 1 and V diagonal.
void PairRow::turn_in(index_t lane, double* x) noexcept {
  const double* const turn = at_.turns + lane * d_ * d_;
  solve_lower(at_.factor, d_, x);
  std::copy_n(x, d_, at_.vector);
  for (index_t a = 0; a < d_; ++a) {
    x[a] = 0;
    for (index_t i = 0; i < d_; ++i) x[a] += turn[i * d_ + a] * at_.vector[i];
  }
}

/// L^-T U x.
void PairRow::turn_out(index_t lane, double* x) noexcept {
  const double* const turn = at_.turns + lane * d_ * d_;
  std::copy_n(x, d_, at_.vector);
  for (index_t i = 0; i < d_; ++i) {
    x[i] = 0;
    for (index_t a = 0; a < d_; ++a) x[i] += turn[i * d_ + a] * at_.vector[a];
  }
  solve_upper(at_.factor, d_, x);
}

/// U^T L^-1 x L^-T U or L^-T U x U^T L^-1, for a symmetric x.
void PairRow::turn_matrix(Turn turn, index_t lane, double* x) noexcept {
  for (int side = 0; side < 2; ++side) {
    for (index_t i = 0; i < d_; ++i) (this->*turn)(lane, x + i * d_);
    for (index_t i = 0; i < d_; ++i) {
      for (index_t k = 0; k < i; ++k) std::swap(x[i * d_ + k], x[k * d_ + i]);
    }
  }
}

/// With A = C^-1 and u = A d: dN = N (-u . dd + Tr((u u^T - A) dC) / 2).
void PairRow::gradient(index_t lane, double* distance, double* covariance) noexcept {
  std::fill_n(distance, d_, 0.0);
  std::fill_n(covariance, d_ * d_, 0.0);
  if (vanishes_[lane]) return;
  Complex* const u = memory_.jets_.data();
  for (index_t i = 0; i < nodes_.size[lane]; ++i) {
    const auto [zeta, f] = nodes_.at(lane, i);
    for (index_t a = 0; a < d_; ++a) {
      const Complex precision = shared_.beta * (zeta * inverse(1 + at_.v[a * kG + lane] * zeta));
      u[a] = SpaceRow::distance(a, lane) * precision;
      const Complex fu = f * u[a];
      distance[a] -= fu.re;
      for (index_t b = 0; b <= a; ++b) covariance[a * d_ + b] += (fu * u[b]).re / 2;
      covariance[a * d_ + a] -= (f * precision).re / 2;
    }
  }
  for (index_t a = 0; a < d_; ++a) {
    for (index_t b = 0; b < a; ++b) covariance[b * d_ + a] = covariance[a * d_ + b];
  }
  turn_out(lane, distance);
  turn_matrix(&PairRow::turn_out, lane, covariance);
}

template <int kOrder>
void PairRow::add_nodes(index_t lane, bool alpha_too, const PairTangents& direction, PairTangents& product,
                        double* moments) noexcept {
  const AlphaLaw law(shared_, p_.constants.am1, d_);
  const PairView pair{d_, at_.distance + lane, at_.v + lane, at_.e2 + lane, kG};
  auto* const jets = reinterpret_cast<Jet<kOrder>*>(memory_.jets_.data());
  for (index_t i = 0; i < nodes_.size[lane]; ++i) {
    const auto [zeta, weight] = nodes_.at(lane, i);
    add_hessian_node<kOrder>(law, shared_.beta, pair, alpha_too, zeta, weight, direction, product, moments,
                             jets);
  }
}

void PairRow::hessian(index_t lane, bool alpha_too, PairTangents& direction, PairTangents& product) noexcept {
  const index_t d = d_;
  std::fill_n(product.distance, d, 0.0);
  std::fill_n(product.scale, d * d, 0.0);
  std::fill_n(product.covariance, d * d, 0.0);
  product.alpha = 0;
  if (vanishes_[lane]) return;
  turn_in(lane, direction.distance);
  turn_matrix(&PairRow::turn_in, lane, direction.scale);
  turn_matrix(&PairRow::turn_in, lane, direction.covariance);
  const HessianChain chain(shared_, p_.constants, alpha_too, direction);
  double* const moments = memory_.matrices_.data();
  std::fill_n(moments, d * d, 0.0);
  if (alpha_too && std::abs(shared_.n) >= kNearOrders) {
    add_nodes<2>(lane, alpha_too, direction, product, moments);
  } else {
    add_nodes<0>(lane, alpha_too, direction, product, moments);
  }
  chain.finish(direction, moments, product);
  turn_out(lane, product.distance);
  turn_matrix(&PairRow::turn_out, lane, product.scale);
  turn_matrix(&PairRow::turn_out, lane, product.covariance);
}

}  // namespace fenchel::detail
