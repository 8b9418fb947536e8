#pragma once

/// `KernelDensity`: a density without a family, by beta-Gaussian kernels on the line, a half-line and R^N.

#include <cstdint>
#include <memory>
#include <span>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/core/rows.hpp"
#include "fenchel/domain/interval.hpp"

namespace fenchel {

/// What pdf_rows of a KernelDensity errs by, relative to the density of all of the weight at one point: the
/// sum of the kernels there were their largest. Relative to the density itself it is seldom more.
inline constexpr double kKernelSumError = 1e-13;
/// What cdf_rows errs by.
inline constexpr double kKernelCdfError = 1e-13;

/// The mixture (1 / W) sum_i w_i K((t - x_i) / h) / prod_j h_j over the rows x_i of data, K the beta-Gaussian
/// of covariance I [SCD22, Section 6; B. Silverman, Density Estimation, 1986]: Gaussian (alpha = 1),
/// triweight (4/3), biweight (3/2), Epanechnikov (2), uniform (infinity). The bandwidth h_j is the standard
/// deviation of the kernel in coordinate j, for every alpha. Its support has the radius h_j sqrt(N + 2 + 2 /
/// (alpha - 1)). A row of weight w counts as w rows.
///
/// On a half-line kernels are reflected at its end, f(t) = g(t) + g(2 a - t): the mass is one and nothing is
/// negative for every bandwidth, which boundary kernels do not have (docs/math.md 10.3).
///
/// Sums are exact to rounding: by a tree whose boxes add sums of powers where they lie within the support
/// (docs/math.md 10.2). In R^N, N > 1, that is so for the four kernels with a name that end; other alpha sum
/// the points within the support. Copies share the data.
class FENCHEL_EXPORT KernelDensity {
 public:
  /// Throws std::domain_error unless alpha >= 1, bandwidths are positive and finite, points are finite and in
  /// the domain, weights are not negative, of a positive sum, and the domain has an infinite end;
  /// std::invalid_argument for no points, shapes that do not fit, and an end of the domain unless N = 1.
  KernelDensity(Rows<const double> points, double alpha, std::span<const double> bandwidth,
                std::span<const double> weights = {},
                const Interval& domain = Interval(-kInfinity, kInfinity));

  /// The same data with each bandwidth times `factor`, in no time.
  [[nodiscard]] KernelDensity scaled(double factor) const;

  [[nodiscard]] index_t dimension() const noexcept;
  /// How many rows have weight, and their weight.
  [[nodiscard]] index_t size() const noexcept;
  [[nodiscard]] double weight() const noexcept;
  [[nodiscard]] double alpha() const noexcept;
  [[nodiscard]] double bandwidth(index_t j) const noexcept;
  /// Of the support of a kernel, over the bandwidth; infinite for alpha = 1.
  [[nodiscard]] double radius() const noexcept;
  [[nodiscard]] const Interval& domain() const noexcept;
  /// The least and the largest coordinate j of the data, and the least interval that holds the support.
  [[nodiscard]] Interval range(index_t j) const;
  [[nodiscard]] Interval hull(index_t j) const;

  /// The density and its logarithm at rows of N columns: 0 and -inf out of reach of every kernel and out of
  /// the domain, NaN for NaN. The logarithm is right where the density underflows. A row's result depends on
  /// that row alone.
  void pdf_rows(Rows<const double> t, std::span<double> out) const;
  void log_pdf_rows(Rows<const double> t, std::span<double> out) const;
  /// P(X <= t) for N = 1. Throws std::invalid_argument otherwise.
  void cdf_rows(std::span<const double> t, std::span<double> out) const;
  /// One draw a row: row k from stream first_stream + k of Philox(seed).
  void sample_rows(std::uint64_t seed, std::uint64_t first_stream, Rows<double> out) const;

  /// The mean over rows of log f_i(x_i), f_i the density by all other rows: what likelihood cross-validation
  /// maximises. -inf where a row is out of reach of the others. A row is left out with all of its weight.
  /// Throws std::domain_error unless there are two rows.
  [[nodiscard]] double likelihood_score() const;
  /// int f^2 - 2 mean f_i(x_i), an unbiased estimate of int (f - truth)^2 but for a constant: what
  /// least-squares cross-validation minimises.
  [[nodiscard]] double least_squares_score() const;

 private:
  struct State;
  explicit KernelDensity(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  [[nodiscard]] double squared_integral() const;
  std::shared_ptr<const State> state_;
};

}  // namespace fenchel
