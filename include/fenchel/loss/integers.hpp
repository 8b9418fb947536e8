#pragma once

/// The losses of Poisson and quadratic scores on the integers, with gradients and Hessian.

#include <array>
#include <concepts>
#include <ranges>
#include <span>
#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/distribution/integers/integer_table.hpp"
#include "fenchel/domain/integers.hpp"
#include "fenchel/loss/loss.hpp"
#include "fenchel/predict/integers.hpp"

/// Fenchel-Young and cross-Omega losses on the integers [SCD22, Section 5; docs/math.md 2, 3]. They throw
/// std::domain_error where predict does, and are +infinity where E_q[f] is -infinity. Temperature T: T loss(f
/// / T; q).
namespace fenchel {

/// What is to be predicted: an integer, a sample (each value with the same weight, equal ones added up), or a
/// distribution that is a table.
class FENCHEL_EXPORT IntegerTarget {
 public:
  struct Atom {
    index_t at;
    double probability;
  };

  template <std::integral Integer>
  IntegerTarget(Integer atom) : atoms_{{static_cast<index_t>(atom), 1.0}} {}
  /// Throws std::invalid_argument for no values.
  template <std::ranges::contiguous_range Range>
  requires std::same_as<std::ranges::range_value_t<Range>, index_t> IntegerTarget(const Range& sample)
      : IntegerTarget(Sample{{std::ranges::data(sample), std::ranges::size(sample)}}) {}
  /// With a weight for each value. Throws std::invalid_argument unless there are as many, std::domain_error
  /// for a weight that is negative or not finite, and where all are 0.
  IntegerTarget(std::span<const index_t> sample, std::span<const double> weights);
  template <TabulatedIntegers Q>
  IntegerTarget(const Q& q) : IntegerTarget(Table{q.table()}) {}

  /// Ascending, each of positive probability.
  [[nodiscard]] std::span<const Atom> atoms() const noexcept { return atoms_; }
  /// What a distribution has besides.
  [[nodiscard]] std::span<const detail::IntegerTail> tails() const noexcept { return tails_; }

 private:
  struct Sample {
    std::span<const index_t> values;
  };
  struct Table {
    const IntegerTable& values;
  };
  explicit IntegerTarget(Sample sample);
  explicit IntegerTarget(Table table);

  std::vector<Atom> atoms_;
  std::vector<detail::IntegerTail> tails_;
};

/// Derivatives of a loss. d / d log mu is the predicted mean less the target's; d / d alpha follows from the
/// envelope theorem.
struct PoissonGradient {
  double log_mu, alpha;
};
struct IntegerGaussianGradient {
  double mu, sigma2, alpha;
};

/// Omega*(f) + Omega(q) - E_q[f]: never negative, 0 exactly where q is the prediction; the Kullback-Leibler
/// divergence from q at alpha = 1. Convex in the canonical parameters; so in log mu, not in the Poisson mu
/// (docs/math.md E2). For Naturals std::domain_error where q charges a negative integer.
[[nodiscard]] FENCHEL_EXPORT Loss<PoissonGradient> fenchel_young(const Tsallis& omega, const PoissonScore& f,
                                                                 Naturals, const IntegerTarget& q);
[[nodiscard]] FENCHEL_EXPORT Loss<IntegerGaussianGradient> fenchel_young(const Tsallis& omega,
                                                                         const QuadraticScore& f, Integers,
                                                                         const IntegerTarget& q);

/// Omega*(f) - E_q[f]: for a sample the mean over its values of their Fenchel-Young losses.
[[nodiscard]] FENCHEL_EXPORT Loss<PoissonGradient> cross_omega(const Tsallis& omega, const PoissonScore& f,
                                                               Naturals, const IntegerTarget& q);
[[nodiscard]] FENCHEL_EXPORT Loss<IntegerGaussianGradient> cross_omega(const Tsallis& omega,
                                                                       const QuadraticScore& f, Integers,
                                                                       const IntegerTarget& q);

/// The Hessian of both losses with respect to log mu, or to (mu / sigma2, -1 / (2 sigma2)): the generalized
/// covariance of order 2 - alpha of t, or of (t, t^2), under the prediction (E11). Throw std::domain_error
/// for infinite alpha, where the losses are piecewise linear.
[[nodiscard]] FENCHEL_EXPORT double fenchel_young_hessian(const Tsallis& omega, const PoissonScore& f,
                                                          Naturals);
[[nodiscard]] FENCHEL_EXPORT std::array<std::array<double, 2>, 2> fenchel_young_hessian(
    const Tsallis& omega, const QuadraticScore& f, Integers);

}  // namespace fenchel
