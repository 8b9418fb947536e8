#pragma once

#include <algorithm>
#include <cmath>

#include "backend/cpu/attention/space_shared.hpp"
#include "core/small_matrix.hpp"

namespace fenchel::detail {

/// Where things lie in a row's space_scratch(D) numbers.
struct SpaceScratch {
  double* factor;             ///< L of Sigma = L L^T
  double *matrix, *axes;      ///< the whitened covariance of one function and its eigenvectors
  double* vector;             ///< D numbers
  double* turns;              ///< the eigenvectors of eight functions
  double *distance, *v, *e2;  ///< D x 8: d in the coordinates of each function, and what integrals need
  double *work, *sums;
  double *run_distance, *run_e2;  ///< D x SharedFunctions::kMost: of functions of one covariance
  double *run_sums, *run_work;

  SpaceScratch(double* from, index_t d) noexcept
      : factor(from),
        matrix(factor + d * d),
        axes(matrix + d * d),
        vector(axes + d * d),
        turns(vector + d),
        distance(turns + kSpaceGroup * d * d),
        v(distance + kSpaceGroup * d),
        e2(v + kSpaceGroup * d),
        work(e2 + kSpaceGroup * d),
        sums(work + 5 * kSpaceGroup * d),
        run_distance(sums + kSpaceGroup * space_sums(d, Wanted::kAlphaToo)),
        run_e2(run_distance + d * SharedFunctions::kMost),
        run_sums(run_e2 + d * SharedFunctions::kMost),
        run_work(run_sums + SharedFunctions::kMost * space_sums(d, Wanted::kGradient)) {}
  [[nodiscard]] static index_t size(index_t d) noexcept {
    return 3 * d * d + d + kSpaceGroup * (d * d + 8 * d + space_sums(d, Wanted::kAlphaToo)) +
           SharedFunctions::kMost * (2 * d + space_sums(d, Wanted::kGradient)) + shared_work(d);
  }
};

/// The functions of a row in the coordinates of their integrals, eight at a time.
class SpaceRow {
 public:
  SpaceRow(const DensityRow& p, const cpu::GaussianFunctions& psi, double* scratch) noexcept
      : p_(p), psi_(psi), d_(p.constants.dimension), at_(scratch, d_), shared_(space_density(p.constants)) {}

  [[nodiscard]] bool factorise() const noexcept { return cholesky(p_.scale, d_, at_.factor); }

  /// Finds the axes of function j.
  void find_axes(index_t j) noexcept {
    const double* const covariance = psi_.Sigma.row(j);
    if (last_ == nullptr || !std::equal(covariance, covariance + d_ * d_, last_)) {
      std::copy(covariance, covariance + d_ * d_, at_.matrix);
      congruence(at_.factor, d_, at_.matrix, solve_lower<index_t>);
      symmetric_eigen(at_.matrix, d_, at_.axes);
      last_ = covariance;
    }
  }

  /// Brings function j into its coordinates, as number `lane` of the group.
  void load(index_t j, index_t lane) noexcept {
    find_axes(j);
    std::copy(at_.axes, at_.axes + d_ * d_, at_.turns + lane * d_ * d_);
    for (index_t a = 0; a < d_; ++a) at_.vector[a] = psi_.mu.row(j)[a] - p_.mu[a];
    solve_lower(at_.factor, d_, at_.vector);
    for (index_t a = 0; a < d_; ++a) {
      double distance = 0;
      for (index_t b = 0; b < d_; ++b) distance += at_.axes[b * d_ + a] * at_.vector[b];
      at_.distance[a * kSpaceGroup + lane] = distance;
      at_.v[a * kSpaceGroup + lane] = shared_.beta * std::max(at_.matrix[a * d_ + a], 0.0);
      at_.e2[a * kSpaceGroup + lane] = shared_.beta / 2 * distance * distance;
    }
    vanishes_[lane] = p_.constants.am1 > 0 && vanishes(lane);
    for (index_t a = 0; vanishes_[lane] && a < d_; ++a) at_.e2[a * kSpaceGroup + lane] = 0;
  }

  /// Nodes are kept where `nodes` is not null.
  [[nodiscard]] bool integrate(Wanted wanted, Accuracy accuracy, SpaceNodes* nodes = nullptr) noexcept {
    if (std::all_of(vanishes_, vanishes_ + kSpaceGroup, [](bool x) { return x; })) return true;
    const SpaceGroup group{d_, at_.v, at_.e2, at_.sums, at_.work, nodes};
    if (p_.constants.am1 > 0) return integrate_contour(shared_, group, wanted, accuracy);
    if (p_.constants.am1 < 0) return integrate_mixture(shared_, group, wanted);
    integrate_gaussian(shared_, group, wanted);
    return true;
  }

 protected:
  [[nodiscard]] bool vanishes(index_t lane) const noexcept {
    double size2 = 0, widest = 0;
    for (index_t a = 0; a < d_; ++a) {
      size2 += at_.e2[a * kSpaceGroup + lane];
      widest = std::max(widest, at_.v[a * kSpaceGroup + lane]);
    }
    return space_vanishes(shared_, size2, widest);
  }

  [[nodiscard]] double distance(index_t a, index_t lane) const noexcept {
    return at_.distance[a * kSpaceGroup + lane];
  }

  const DensityRow& p_;
  const cpu::GaussianFunctions& psi_;
  index_t d_;
  SpaceScratch at_;
  SpaceDensity shared_;
  bool vanishes_[kSpaceGroup] = {};
  const double* last_ = nullptr;  ///< the covariance that `matrix` and `axes` are of
};

}  // namespace fenchel::detail
