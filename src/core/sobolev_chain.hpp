#pragma once

#include <algorithm>

#include "core/scratch.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// A chain of nodes with masses w > 0 and couplings g >= 0 between neighbours, with the map
///   p = argmax sum w_i p_i f_i - p' A p / 2  over p >= 0, sum w_i p_i = 1,   A = diag(w) + L_g,
/// L_g the path's weighted Laplacian. A is an M-matrix whose pivots need no subtraction, so that they keep
/// all digits however stiff the chain is. Views of a worker's memory, used for row after row.
class SobolevChain {
 public:
  static constexpr std::size_t bytes(index_t most) noexcept {
    return 7 * scratch_bytes<double>(most + 1) + scratch_bytes<unsigned char>(most);
  }
  SobolevChain(WorkerScratch& memory, index_t most) noexcept
      : mass_(memory.take<double>(most + 1)),
        left_(memory.take<double>(most + 1)),
        pivot_(memory.take<double>(most + 1)),
        share_(memory.take<double>(most + 1)),
        response_(memory.take<double>(most + 1)),
        values_(memory.take<double>(most + 1)),
        p_(memory.take<double>(most + 1)),
        active_(memory.take<unsigned char>(most)) {}

  /// Starts a chain of n nodes of mass(i), with coupling(k) between k and k + 1.
  template <class Mass, class Coupling>
  void reset(index_t n, const Mass& mass, const Coupling& coupling) noexcept {
    constexpr double kStiffest = 1e300;  // so that sums stay finite
    n_ = n;
    for (index_t i = 0; i < n; ++i) mass_[i] = mass(i);
    left_[0] = left_[n] = 0;
    for (index_t k = 0; k + 1 < n; ++k) left_[k + 1] = std::min<double>(coupling(k), kStiffest);
  }
  [[nodiscard]] index_t size() const noexcept { return n_; }

  /// Scores before predict, directions before differentiate.
  [[nodiscard]] double* values() const noexcept { return values_; }
  /// What predict and differentiate find.
  [[nodiscard]] const double* result() const noexcept { return p_; }

  /// Finds p for scores of which the largest is 0 (-inf masks), and returns tau of A p = w (f - tau) + nu.
  double predict() noexcept;
  /// nu_i >= 0 after predict, 0 on the support; +inf on masked nodes.
  [[nodiscard]] double slack(double tau, index_t i) const noexcept;

  /// dp for the directions df, where the support is that of p: dp = G df - dtau G w, G the inverse of A on
  /// the support, sum w dp = 0.
  template <class Real>
  void differentiate(const Real* p) noexcept {
    for (index_t i = 0; i < n_; ++i) active_[i] = p[i] > 0;
    factor();
    balance(0);
  }

 private:
  [[nodiscard]] double inflow(index_t i) const noexcept {
    return (i > 0 ? left_[i] * p_[i - 1] : 0.0) + (i + 1 < n_ ? left_[i + 1] * p_[i + 1] : 0.0);
  }
  [[nodiscard]] double push(double tau, index_t i) const noexcept { return mass_[i] * (values_[i] - tau); }

  double eliminate(index_t i, double held, double ahead) noexcept;
  void factor() noexcept;
  template <class Push>
  void solve(const Push& rhs, double* x) const noexcept;
  double balance(double total) noexcept;
  void begin() noexcept;
  bool drop() noexcept;
  bool add(double tau) noexcept;
  void sweep(double tau, bool forward) noexcept;

  index_t n_ = 0, best_ = 0;
  double *mass_, *left_, *pivot_, *share_, *response_, *values_, *p_;
  unsigned char* active_;
};

}  // namespace fenchel::detail
