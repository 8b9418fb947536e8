#pragma once

/// `RidgeRegression` and `RidgeCache`: value functions from observations, with gradients.

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <map>
#include <mutex>
#include <span>
#include <type_traits>
#include <utility>

#include "fenchel/attention/basis.hpp"
#include "fenchel/attention/positions.hpp"
#include "fenchel/attention/value_function.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/rows.hpp"

/// Value functions from observations by ridge regression [SCD22, Section 8; docs/math.md 7.1]. H, M x L, has
/// a column for each position, F = design_matrix(psi, positions), and
///   B = argmin |B F - H|^2 + ridge |B|^2 = H G,   G = F^T (F F^T + ridge)^-1 = (F^T F + ridge)^-1 F^T.
namespace fenchel {

/// What a loss of B says about H and ridge.
struct RidgeGradient {
  Eigen::MatrixXd observations;
  double ridge;
};

namespace detail {

/// G for one design matrix, by the Cholesky factor of the smaller of the two systems.
class FENCHEL_EXPORT RidgeSystem {
 public:
  RidgeSystem(const Eigen::MatrixXd& design, double ridge);

  [[nodiscard]] const Eigen::MatrixXd& matrix() const noexcept { return matrix_; }
  [[nodiscard]] Eigen::MatrixXd fit(const Eigen::MatrixXd& observations) const;
  [[nodiscard]] RidgeGradient vjp(const Eigen::MatrixXd& observations,
                                  const Eigen::MatrixXd& cotangent) const;

 private:
  Eigen::LLT<Eigen::MatrixXd> system_;  ///< L x L or N x N
  Eigen::MatrixXd matrix_;              ///< G, L x N
};

using RidgeSystems = FunctionRef<const RidgeSystem&(index_t length)>;
template <class Real>
FENCHEL_EXPORT void fit_rows(RidgeSystems systems, Rows<const Real> observations,
                             std::span<const index_t> lengths, Rows<Real> coefficients);
template <class Real>
FENCHEL_EXPORT void fit_rows_vjp(RidgeSystems systems, Rows<const Real> cotangent,
                                 std::span<const index_t> lengths, Rows<Real> gradient);
template <class Real>
[[nodiscard]] FENCHEL_EXPORT double fit_rows_ridge_vjp(RidgeSystems systems, Rows<const Real> observations,
                                                       std::span<const index_t> lengths,
                                                       Rows<const Real> cotangent);

}  // namespace detail

/// The regression on one set of positions: an immutable value.
template <class Psi>
class RidgeRegression {
 public:
  /// Throws std::invalid_argument when there is no position, std::domain_error unless psi is finite at all of
  /// them and ridge finite, not negative, and large enough for a system that is not singular in double.
  RidgeRegression(Psi psi, std::span<const double> positions, double ridge = 0.1) requires LineBasis<Psi>
      : basis_(std::move(psi)),
        positions_(Eigen::Map<const Eigen::RowVectorXd>(positions.data(), std::ssize(positions))),
        system_(design_matrix(basis_, positions), ridge) {}
  /// Position l is column l of a D x L matrix.
  RidgeRegression(Psi psi, Eigen::MatrixXd positions, double ridge = 0.1) requires EuclideanBasis<Psi>
      : basis_(std::move(psi)),
        positions_(std::move(positions)),
        system_(design_matrix(basis_, positions_), ridge) {}

  [[nodiscard]] const Psi& basis() const noexcept { return basis_; }
  [[nodiscard]] const Eigen::MatrixXd& positions() const noexcept { return positions_; }     ///< D x L
  [[nodiscard]] const Eigen::MatrixXd& matrix() const noexcept { return system_.matrix(); }  ///< G, L x N
  [[nodiscard]] const detail::RidgeSystem& system() const noexcept { return system_; }

  /// Throws std::invalid_argument unless `observations`, M x L, have a column for each position.
  [[nodiscard]] ValueFunction<Psi> fit(const Eigen::MatrixXd& observations) const {
    return {system_.fit(observations), basis_};
  }
  /// From the gradient of a loss in B, M x N: dH = dB G^T, and d ridge by dB / d ridge = -B (F F^T +
  /// ridge)^-1.
  [[nodiscard]] RidgeGradient vjp(const Eigen::MatrixXd& observations,
                                  const Eigen::MatrixXd& cotangent) const {
    return system_.vjp(observations, cotangent);
  }

 private:
  Psi basis_;
  Eigen::MatrixXd positions_;
  detail::RidgeSystem system_;
};

/// The regressions of one basis and one ridge, each made when it is first asked for and kept: for sequences
/// by their length on positions(length), for images by their shape on grid_positions(rows, cols). Threads may
/// share it; what it hands out never changes and lives as long as it does.
template <class Psi>
class RidgeCache {
 public:
  explicit RidgeCache(Psi psi, double ridge = 0.1) : basis_(std::move(psi)), ridge_(ridge) {}

  [[nodiscard]] const RidgeRegression<Psi>& at(index_t length) const requires LineBasis<Psi> {
    return kept({1, length}, [&] { return fenchel::positions(length); });
  }
  [[nodiscard]] const RidgeRegression<Psi>& at(index_t rows,
                                               index_t cols) const requires EuclideanBasis<Psi> {
    return kept({rows, cols}, [&] { return grid_positions(rows, cols); });
  }

 private:
  template <class Positions>
  const RidgeRegression<Psi>& kept(std::pair<index_t, index_t> shape, const Positions& make) const {
    const std::scoped_lock lock(mutex_);
    const auto found = regressions_.find(shape);
    if (found != regressions_.end()) return found->second;
    return regressions_.emplace(shape, RidgeRegression<Psi>(basis_, make(), ridge_)).first->second;
  }

  Psi basis_;
  double ridge_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<index_t, index_t>, RidgeRegression<Psi>> regressions_;
};

/// B for a padded batch of sequences, in float or double: `observations` are their H one after the other, M
/// rows each, of which sequence i fills lengths[i] columns and no other is read; `coefficients` are their B
/// in the same way, the cpu::ValueMatrices of lengths.size() sequences. Arithmetic is in double. Throws
/// std::invalid_argument for shapes that do not fit and for a length outside of [1, observations.cols].
template <LineBasis Psi, class Real>
void fit_rows(const RidgeCache<Psi>& cache, std::type_identity_t<Rows<const Real>> observations,
              std::span<const index_t> lengths, Rows<Real> coefficients) {
  const auto systems = [&](index_t length) -> const detail::RidgeSystem& {
    return cache.at(length).system();
  };
  detail::fit_rows<Real>(systems, observations, lengths, coefficients);
}
/// From the gradient in the coefficients that in the observations, 0 at the padding.
template <LineBasis Psi, class Real>
void fit_rows_vjp(const RidgeCache<Psi>& cache, std::type_identity_t<Rows<const Real>> cotangent,
                  std::span<const index_t> lengths, Rows<Real> gradient) {
  const auto systems = [&](index_t length) -> const detail::RidgeSystem& {
    return cache.at(length).system();
  };
  detail::fit_rows_vjp<Real>(systems, cotangent, lengths, gradient);
}

/// That in the ridge, which all sequences share.
template <LineBasis Psi, class Real>
[[nodiscard]] double fit_rows_ridge_vjp(const RidgeCache<Psi>& cache, Rows<const Real> observations,
                                        std::span<const index_t> lengths,
                                        std::type_identity_t<Rows<const Real>> cotangent) {
  const auto systems = [&](index_t length) -> const detail::RidgeSystem& {
    return cache.at(length).system();
  };
  return detail::fit_rows_ridge_vjp<Real>(systems, observations, lengths, cotangent);
}

/// The same on one set of positions, such as images of one shape.
template <class Psi, class Real>
void fit_rows(const RidgeRegression<Psi>& ridge, std::type_identity_t<Rows<const Real>> observations,
              Rows<Real> coefficients) {
  const index_t length = ridge.matrix().rows();
  const auto systems = [&](index_t) -> const detail::RidgeSystem& { return ridge.system(); };
  detail::fit_rows<Real>(systems, observations, std::span(&length, 1), coefficients);
}
template <class Psi, class Real>
void fit_rows_vjp(const RidgeRegression<Psi>& ridge, std::type_identity_t<Rows<const Real>> cotangent,
                  Rows<Real> gradient) {
  const index_t length = ridge.matrix().rows();
  const auto systems = [&](index_t) -> const detail::RidgeSystem& { return ridge.system(); };
  detail::fit_rows_vjp<Real>(systems, cotangent, std::span(&length, 1), gradient);
}

namespace detail {
extern template void fit_rows(RidgeSystems, Rows<const float>, std::span<const index_t>, Rows<float>);
extern template void fit_rows(RidgeSystems, Rows<const double>, std::span<const index_t>, Rows<double>);
extern template void fit_rows_vjp(RidgeSystems, Rows<const float>, std::span<const index_t>, Rows<float>);
extern template void fit_rows_vjp(RidgeSystems, Rows<const double>, std::span<const index_t>, Rows<double>);
extern template double fit_rows_ridge_vjp(RidgeSystems, Rows<const float>, std::span<const index_t>,
                                          Rows<const float>);
extern template double fit_rows_ridge_vjp(RidgeSystems, Rows<const double>, std::span<const index_t>,
                                          Rows<const double>);
}  // namespace detail

}  // namespace fenchel
