#pragma once

/// `MultivariateNumericDensity`: a density in the plane or in space that is known by a score.

#include <Eigen/Core>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/distribution/concept.hpp"
#include "fenchel/domain/box.hpp"
#include "fenchel/domain/euclidean.hpp"

namespace fenchel {

/// A density on R^2, R^3 or a box of it: what predict gives where there is no closed form. Copies share what
/// was computed. Functions of it call the score and integrate over the support by lines within lines, to the
/// accuracy that predict was asked for; they throw ConvergenceError where they do not reach it.
class FENCHEL_EXPORT MultivariateNumericDensity {
 public:
  using value_type = Eigen::VectorXd;

  struct Table;
  explicit MultivariateNumericDensity(std::shared_ptr<const Table> table) : table_(std::move(table)) {}
  [[nodiscard]] const Table& table() const noexcept { return *table_; }

  [[nodiscard]] index_t dimension() const noexcept;
  /// Local maxima in the support, as far as they were found, the highest first.
  [[nodiscard]] const std::vector<Eigen::VectorXd>& modes() const noexcept;
  /// The relative error that integrals aim at.
  [[nodiscard]] double accuracy() const noexcept;

 private:
  std::shared_ptr<const Table> table_;
};

/// A set of points: all of it is between the corners, which are infinite where it is not bounded.
struct LevelSupport {
  Box bounds;
  std::function<bool(const Eigen::VectorXd&)> contains;
};

[[nodiscard]] FENCHEL_EXPORT Euclidean domain(const MultivariateNumericDensity& p);
[[nodiscard]] FENCHEL_EXPORT LevelSupport support(const MultivariateNumericDensity& p);

[[nodiscard]] FENCHEL_EXPORT double log_pdf(const MultivariateNumericDensity& p,
                                            const Eigen::Ref<const Eigen::VectorXd>& t);
[[nodiscard]] FENCHEL_EXPORT double pdf(const MultivariateNumericDensity& p,
                                        const Eigen::Ref<const Eigen::VectorXd>& t);
/// At points that are the columns of a matrix, in one call of the score.
[[nodiscard]] FENCHEL_EXPORT Eigen::VectorXd log_pdf_at(const MultivariateNumericDensity& p,
                                                        const Eigen::MatrixXd& points);

[[nodiscard]] FENCHEL_EXPORT Eigen::VectorXd mode(const MultivariateNumericDensity& p);
/// NaN where a tail is too heavy for a mean.
[[nodiscard]] FENCHEL_EXPORT Eigen::VectorXd mean(const MultivariateNumericDensity& p);
/// Infinite where a tail is too heavy.
[[nodiscard]] FENCHEL_EXPORT Eigen::MatrixXd covariance(const MultivariateNumericDensity& p);

/// Shannon entropy, and Tsallis entropy -Omega_order of any order > 0; infinite where the integral is.
[[nodiscard]] FENCHEL_EXPORT double entropy(const MultivariateNumericDensity& p);
[[nodiscard]] FENCHEL_EXPORT double tsallis_entropy(const MultivariateNumericDensity& p, double order);
/// d Omega_order(p) / d order; 0 for an infinite order, NaN where Omega is infinite.
[[nodiscard]] FENCHEL_EXPORT double negentropy_order_derivative(const MultivariateNumericDensity& p,
                                                                double order);

/// p^order / int p^order. Throws std::domain_error unless the order is finite and p^order integrable.
[[nodiscard]] FENCHEL_EXPORT MultivariateNumericDensity escort(const MultivariateNumericDensity& p,
                                                               double order);

namespace detail {
[[nodiscard]] FENCHEL_EXPORT double expectation(const MultivariateNumericDensity& p,
                                                FunctionRef<Eigen::VectorXd(const Eigen::MatrixXd&)> f,
                                                double accuracy);
[[nodiscard]] FENCHEL_EXPORT Eigen::MatrixXd sample(const MultivariateNumericDensity& p,
                                                    const Eigen::MatrixXd& uniforms);
}  // namespace detail

/// E[f(t)] for any callable of a point or of many, columns, to `accuracy` times E|f(t)|, by default that of
/// p. Throws std::domain_error where f is NaN and ConvergenceError when the accuracy is not reached.
template <class F>
requires std::invocable<F, const Eigen::VectorXd&>
[[nodiscard]] double expectation(const MultivariateNumericDensity& p, F&& f, double accuracy = 0) {
  if constexpr (std::convertible_to<std::invoke_result_t<F, const Eigen::VectorXd&>, double>) {
    const auto batch = [&f](const Eigen::MatrixXd& points) {
      Eigen::VectorXd values(points.cols());
      for (Eigen::Index i = 0; i < points.cols(); ++i) values[i] = f(Eigen::VectorXd(points.col(i)));
      return values;
    };
    return detail::expectation(p, batch, accuracy);
  } else {
    return detail::expectation(p, f, accuracy);
  }
}

/// The contour of the smallest set that has this mass, in the plane: lines with the set on their left, a
/// closed one with its first point again at the end; the edge of the support for mass 1. Points lie on it to
/// 1e-4 of a cell of a grid of cells * cells. Throws std::invalid_argument in space, std::domain_error unless
/// the mass is in (0, 1].
[[nodiscard]] FENCHEL_EXPORT std::vector<Eigen::MatrixXd> contours(const MultivariateNumericDensity& p,
                                                                   double mass, index_t cells = 256);

/// One draw, by the conditional distribution of each coordinate given those before.
template <std::uniform_random_bit_generator Generator>
[[nodiscard]] Eigen::VectorXd sample(const MultivariateNumericDensity& p, Generator& rng) {
  Eigen::MatrixXd uniforms(p.dimension(), 1);
  for (index_t i = 0; i < p.dimension(); ++i) uniforms(i, 0) = uniform01(rng);
  return detail::sample(p, uniforms);
}
/// `count` draws as columns, the k-th from stream k of the seed, on one thread.
[[nodiscard]] FENCHEL_EXPORT Eigen::MatrixXd sample(const MultivariateNumericDensity& p, index_t count,
                                                    std::uint64_t seed);

static_assert(Distribution<MultivariateNumericDensity>);

}  // namespace fenchel
