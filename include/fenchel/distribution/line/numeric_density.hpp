#pragma once

/// `NumericDensity`: a density that is known by its logarithm, on one or several intervals.

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
#include "fenchel/distribution/line/generic.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/domain/line.hpp"

namespace fenchel {

/// A density on a union of intervals, known by its logarithm up to a constant: what predict gives where
/// there is no closed form. A table of panel masses is made once; copies share it.
class FENCHEL_EXPORT NumericDensity {
 public:
  using value_type = double;

  /// exp(log_density) / mass on the support, its pieces in order and apart. A peak that is narrower than the
  /// distance to the `modes` may be missed. Throws std::invalid_argument for a support that is none,
  /// std::domain_error where log_density is NaN or +infinity or the mass not positive and finite,
  /// ConvergenceError when its relative error may exceed the accuracy.
  NumericDensity(std::function<double(double)> log_density, std::vector<Interval> support,
                 std::vector<double> modes, double accuracy = 1e-10);

  [[nodiscard]] const std::vector<Interval>& support() const noexcept;
  [[nodiscard]] const std::vector<double>& modes() const noexcept;
  /// The logarithm of the integral of exp(log_density).
  [[nodiscard]] double log_mass() const noexcept;
  /// An estimate of its relative error, at most the accuracy: what two rules on panels that are shifted
  /// against each other find of their own errors, or their difference where that is larger.
  [[nodiscard]] double error() const noexcept;

  /// The same with its derivative dp/dt on the support, which pdf_derivative then takes.
  [[nodiscard]] NumericDensity with_derivative(std::function<double(double)> derivative) const;
  /// Empty where nobody gave it.
  [[nodiscard]] const std::function<double(double)>& derivative() const noexcept { return derivative_; }

  struct Table;
  [[nodiscard]] const Table& table() const noexcept { return *table_; }

 private:
  std::shared_ptr<const Table> table_;
  std::function<double(double)> derivative_;
};

[[nodiscard]] inline Line domain(const NumericDensity&) noexcept { return {}; }
[[nodiscard]] inline std::vector<Interval> support(const NumericDensity& p) { return p.support(); }

[[nodiscard]] FENCHEL_EXPORT double log_pdf(const NumericDensity& p, double t);
[[nodiscard]] FENCHEL_EXPORT double pdf(const NumericDensity& p, double t);

/// P(X <= t), P(X > t) and their logarithms, each with its own relative accuracy.
[[nodiscard]] FENCHEL_EXPORT double cdf(const NumericDensity& p, double t);
[[nodiscard]] FENCHEL_EXPORT double survival(const NumericDensity& p, double t);
[[nodiscard]] FENCHEL_EXPORT double log_cdf(const NumericDensity& p, double t);
[[nodiscard]] FENCHEL_EXPORT double log_survival(const NumericDensity& p, double t);

/// The t with cdf u, or with survival u. Throw std::domain_error unless u is in [0, 1].
[[nodiscard]] FENCHEL_EXPORT double quantile(const NumericDensity& p, double u);
[[nodiscard]] FENCHEL_EXPORT double survival_quantile(const NumericDensity& p, double u);

/// The highest of the modes.
[[nodiscard]] FENCHEL_EXPORT double mode(const NumericDensity& p);
/// A mean or an odd moment that does not exist is NaN, an even one infinite.
[[nodiscard]] FENCHEL_EXPORT double mean(const NumericDensity& p);
[[nodiscard]] FENCHEL_EXPORT double variance(const NumericDensity& p);
[[nodiscard]] FENCHEL_EXPORT double skewness(const NumericDensity& p);
/// E(t - mean)^4 / variance^2, 3 for the Gaussian.
[[nodiscard]] FENCHEL_EXPORT double kurtosis(const NumericDensity& p);
/// E(t - mean)^n. Throws std::domain_error for n < 0.
[[nodiscard]] FENCHEL_EXPORT double central_moment(const NumericDensity& p, int n);

/// Shannon entropy, and Tsallis entropy -Omega_order of any order > 0; infinite where the integral is.
[[nodiscard]] FENCHEL_EXPORT double entropy(const NumericDensity& p);
[[nodiscard]] FENCHEL_EXPORT double tsallis_entropy(const NumericDensity& p, double order);

/// p^order / int p^order. Throws std::domain_error unless the order is finite and p^order integrable.
[[nodiscard]] FENCHEL_EXPORT NumericDensity escort(const NumericDensity& p, double order);

namespace detail {
[[nodiscard]] FENCHEL_EXPORT double expectation(const NumericDensity& p, FunctionRef<double(double)> f,
                                                double accuracy, std::span<const double> cuts);
}

/// E[f(t)] for any callable as for every distribution, from the panels on that resolve the density.
template <std::invocable<double> F>
[[nodiscard]] double expectation(const NumericDensity& p, F&& f, double accuracy = 1e-10,
                                 std::span<const double> cuts = {}) {
  return detail::expectation(p, f, accuracy, cuts);
}

/// One draw.
template <std::uniform_random_bit_generator Generator>
[[nodiscard]] double sample(const NumericDensity& p, Generator& rng) {
  return quantile(p, uniform01(rng));
}

/// As the generic one, on one thread: the log density is somebody else's and may throw.
[[nodiscard]] FENCHEL_EXPORT std::vector<double> sample(const NumericDensity& p, index_t count,
                                                        std::uint64_t seed);

static_assert(LineDistribution<NumericDensity>);

}  // namespace fenchel
