#include <algorithm>
#include <cmath>

#include "backend/cpu/attention_space_row.hpp"

namespace fenchel::detail {
namespace {

constexpr index_t kG = kSpaceGroup;

class Row : public SpaceRow {
 public:
  using SpaceRow::SpaceRow;

  /// d/dmu = beta L^-T V (d <zeta / (1 + zeta v)>), d/dSigma = L^-T (V T V^T - c tr(T)) L^-1 / 2 with T_ab =
  /// beta d_a d_b <zeta / ((1 + zeta v_a) (1 + zeta v_b))> - [a = b] <1 / (1 + zeta v_a)>: the pathwise form,
  /// in which nothing cancels for wide functions. radius2 ~ det(Sigma)^-c, c = am1 / (2 + D am1).
  void store(index_t j, index_t lane, Wanted wanted, RowBlocks out) noexcept {
    if (vanishes_[lane]) {
      for (index_t block = 0; block < block_count(d_, wanted); ++block) out[block][j] = 0;
      return;
    }
    out[0][j] = at_.sums[lane];
    if (wanted == Wanted::kValues) return;
    const double* const turn = at_.turns + lane * d_ * d_;
    const double *const first = at_.sums + kG + lane, *const second = first + d_ * kG;
    const double* cross = second + d_ * kG;
    std::fill(at_.vector, at_.vector + d_, 0.0);
    for (index_t a = 0; a < d_; ++a) {
      const double slope = shared_.beta * distance(a, lane) * second[a * kG];
      for (index_t i = 0; i < d_; ++i) at_.vector[i] += turn[i * d_ + a] * slope;
    }
    solve_upper(at_.factor, d_, at_.vector);
    for (index_t a = 0; a < d_; ++a) out[1 + a][j] = at_.vector[a];

    double* const g = at_.matrix;
    last_ = nullptr;
    std::fill(g, g + d_ * d_, 0.0);
    double trace = 0;
    for (index_t a = 0; a < d_; ++a) {
      for (index_t b = 0; b <= a; ++b, cross += kG) {
        double t = shared_.beta * distance(a, lane) * distance(b, lane) * *cross;
        if (a == b) {
          t -= first[a * kG];
          trace += t;
        }
        for (index_t i = 0; i < d_; ++i) {
          for (index_t k = 0; k < d_; ++k) {
            const double pair = turn[i * d_ + a] * turn[k * d_ + b];
            g[i * d_ + k] += t * (a == b ? pair : pair + turn[i * d_ + b] * turn[k * d_ + a]);
          }
        }
      }
    }
    const double am1 = p_.constants.am1, size = static_cast<double>(d_);
    const double volume = std::isinf(am1) ? 1 / size : am1 / (2 + size * am1);
    for (index_t i = 0; i < d_; ++i) g[i * d_ + i] -= volume * trace;
    congruence(at_.factor, d_, g, solve_upper);
    index_t block = 1 + d_;
    for (index_t a = 0; a < d_; ++a) {
      for (index_t b = 0; b <= a; ++b) out[block++][j] = 0.5 * g[a * d_ + b];
    }
    if (wanted == Wanted::kAlphaToo) out[block][j] = *cross;
  }
};

}  // namespace

index_t space_scratch(index_t d) noexcept {
  return 3 * d * d + d + kG * (d * d + 8 * d + space_sums(d, Wanted::kAlphaToo));
}

bool attend_space_row(const DensityRow& p, const cpu::GaussianFunctions& psi, Wanted wanted,
                      Accuracy accuracy, double* scratch, RowBlocks out) noexcept {
  Row row(p, psi, scratch);
  if (!row.factorise()) return false;
  const index_t count = psi.mean.rows;
  for (index_t first = 0; first < count; first += kG) {
    const index_t lanes = std::min(kG, count - first);
    for (index_t lane = 0; lane < kG; ++lane) row.load(first + std::min(lane, lanes - 1), lane);
    if (!row.integrate(wanted, accuracy)) return false;
    for (index_t lane = 0; lane < lanes; ++lane) row.store(first + lane, lane, wanted, out);
  }
  return true;
}

}  // namespace fenchel::detail
