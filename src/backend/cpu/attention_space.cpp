#include "backend/cpu/attention_space.hpp"

#include <algorithm>
#include <cmath>

#include "core/small_matrix.hpp"

namespace fenchel::detail {
namespace {

constexpr index_t kG = kSpaceGroup;

/// Where things lie in a row's space_scratch(D) numbers.
struct Scratch {
  double* factor;             ///< L of Sigma = L L^T
  double *matrix, *axes;      ///< the whitened covariance of one function and its eigenvectors
  double* vector;             ///< D numbers
  double* turns;              ///< the eigenvectors of eight functions
  double *distance, *v, *e2;  ///< D x 8: d in the coordinates of each function, and what integrals need
  double *work, *sums;

  Scratch(double* from, index_t d) noexcept
      : factor(from),
        matrix(factor + d * d),
        axes(matrix + d * d),
        vector(axes + d * d),
        turns(vector + d),
        distance(turns + kG * d * d),
        v(distance + kG * d),
        e2(v + kG * d),
        work(e2 + kG * d),
        sums(work + 5 * kG * d) {}
};

/// factor^-1 a factor^-T in place for a symmetric a, or factor^-T a factor^-1.
template <class Solve>
void congruence(const double* factor, index_t d, double* a, Solve solve) noexcept {
  for (int side = 0; side < 2; ++side) {
    for (index_t i = 0; i < d; ++i) solve(factor, d, a + i * d);
    for (index_t i = 0; i < d; ++i) {
      for (index_t k = 0; k < i; ++k) std::swap(a[i * d + k], a[k * d + i]);
    }
  }
}

class Row {
 public:
  Row(const DensityRow& p, const cpu::GaussianFunctions& psi, double* scratch) noexcept
      : p_(p), psi_(psi), d_(p.constants.dimension), at_(scratch, d_), shared_(space_density(p.constants)) {}

  [[nodiscard]] bool factorise() noexcept { return cholesky(p_.scale, d_, at_.factor); }

  /// Brings function j into its coordinates, as number `lane` of the group.
  void load(index_t j, index_t lane) noexcept {
    const double* const covariance = psi_.covariance.row(j);
    if (last_ == nullptr || !std::equal(covariance, covariance + d_ * d_, last_)) {
      std::copy(covariance, covariance + d_ * d_, at_.matrix);
      congruence(at_.factor, d_, at_.matrix, solve_lower);
      symmetric_eigen(at_.matrix, d_, at_.axes);
      last_ = covariance;
    }
    std::copy(at_.axes, at_.axes + d_ * d_, at_.turns + lane * d_ * d_);
    for (index_t a = 0; a < d_; ++a) at_.vector[a] = psi_.mean.row(j)[a] - p_.mu[a];
    solve_lower(at_.factor, d_, at_.vector);
    for (index_t a = 0; a < d_; ++a) {
      double distance = 0;
      for (index_t b = 0; b < d_; ++b) distance += at_.axes[b * d_ + a] * at_.vector[b];
      at_.distance[a * kG + lane] = distance;
      at_.v[a * kG + lane] = shared_.beta * std::max(at_.matrix[a * d_ + a], 0.0);
      at_.e2[a * kG + lane] = shared_.beta / 2 * distance * distance;
    }
    vanishes_[lane] = p_.constants.am1 > 0 && vanishes(lane);
    for (index_t a = 0; vanishes_[lane] && a < d_; ++a) at_.e2[a * kG + lane] = 0;
  }

  [[nodiscard]] bool integrate(Wanted wanted, Accuracy accuracy) noexcept {
    if (std::all_of(vanishes_, vanishes_ + kG, [](bool x) { return x; })) return true;
    const SpaceGroup group{d_, at_.v, at_.e2, at_.sums, at_.work};
    if (p_.constants.am1 > 0) return integrate_contour(shared_, group, wanted, accuracy);
    if (p_.constants.am1 < 0) return integrate_mixture(shared_, group, wanted);
    integrate_gaussian(shared_, group, wanted);
    return true;
  }

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

 private:
  /// Whether a function is so many widths outside of the support that nothing of it is left: the integrand
  /// at any zeta > 0 is a bound, here where 1 + zeta max(v) is the distance in radii.
  [[nodiscard]] bool vanishes(index_t lane) const noexcept {
    constexpr double kLogNothing = -1000;
    double size2 = 0, widest = 0;
    for (index_t a = 0; a < d_; ++a) {
      size2 += at_.e2[a * kG + lane];
      widest = std::max(widest, at_.v[a * kG + lane]);
    }
    const double outside = std::sqrt(size2 / shared_.n) - 1;
    return outside > widest && shared_.log_factor - shared_.n * outside * outside / widest < kLogNothing;
  }

  [[nodiscard]] double distance(index_t a, index_t lane) const noexcept {
    return at_.distance[a * kG + lane];
  }

  const DensityRow& p_;
  const cpu::GaussianFunctions& psi_;
  index_t d_;
  Scratch at_;
  SpaceDensity shared_;
  bool vanishes_[kG] = {};
  const double* last_ = nullptr;  ///< the covariance that `matrix` and `axes` are of
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
