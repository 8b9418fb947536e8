#pragma once

/// `mean_cross_omega`: the mean loss of a score over data, with its gradient.

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/distribution/line/empirical.hpp"
#include "fenchel/distribution/quadratic_gradient.hpp"
#include "fenchel/domain/euclidean.hpp"
#include "fenchel/domain/integers.hpp"
#include "fenchel/estimate/statistics/collect.hpp"
#include "fenchel/loss/integers.hpp"
#include "fenchel/loss/loss.hpp"
#include "fenchel/regularizer/tsallis.hpp"
#include "fenchel/score/multivariate_quadratic_score.hpp"
#include "fenchel/score/poisson_score.hpp"
#include "fenchel/score/quadratic_score.hpp"

/// The cross-Omega loss of a score against all rows of data, in one pass over batches, threads and processes:
/// what a fit minimises [SCD22, Section 3.2], at any parameters. All throw as cross_omega does,
/// std::domain_error for data of no weight, DataError for an entry that cannot be used, and Cancelled.
namespace fenchel {

/// The mean over rows by their weights, its derivatives, and the weight of all rows.
template <class Gradient>
struct MeanLoss {
  double value;
  Gradient gradient;
  double weight;
};

namespace detail {
/// The mean loss of a sample; writes its derivatives.
using SampleLoss = FunctionRef<double(const Empirical& q, std::span<double> gradient)>;
/// Means over one column; the value is infinite where that of a batch is, its derivatives are NaN where
/// theirs are not finite.
[[nodiscard]] FENCHEL_EXPORT MeanLoss<std::vector<double>> mean_sample_loss(const Data& data,
                                                                            index_t parameters,
                                                                            SampleLoss loss);
}  // namespace detail

/// On the line or an interval, for every score and regularizer whose loss has numbers as derivatives.
/// +infinity where a row lies where the score is -infinity.
template <class Omega, class Score, class Domain>
[[nodiscard]] auto mean_cross_omega(const Omega& omega, const Score& f, const Domain& domain,
                                    const Data& data) {
  using Gradient = decltype(cross_omega(omega, f, domain, std::declval<const Empirical&>()).gradient);
  using Numbers = std::array<double, sizeof(Gradient) / sizeof(double)>;
  const auto found = detail::mean_sample_loss(data, std::tuple_size_v<Numbers>,
                                              [&](const Empirical& q, std::span<double> gradient) {
                                                const Loss<Gradient> loss = cross_omega(omega, f, domain, q);
                                                const auto numbers = std::bit_cast<Numbers>(loss.gradient);
                                                std::copy(numbers.begin(), numbers.end(), gradient.begin());
                                                return loss.value;
                                              });
  Numbers numbers{};
  std::copy(found.gradient.begin(), found.gradient.end(), numbers.begin());
  return MeanLoss<Gradient>{found.value, std::bit_cast<Gradient>(numbers), found.weight};
}

/// In R^N, from mean and covariance.
[[nodiscard]] FENCHEL_EXPORT MeanLoss<MultivariateQuadraticGradient> mean_cross_omega(
    const Tsallis& omega, const MultivariateQuadraticScore& f, const Euclidean& domain, const Data& data);

/// On the integers, from the weight of each.
[[nodiscard]] FENCHEL_EXPORT MeanLoss<PoissonGradient> mean_cross_omega(const Tsallis& omega,
                                                                        const PoissonScore& f,
                                                                        Naturals domain, const Data& data);
[[nodiscard]] FENCHEL_EXPORT MeanLoss<IntegerGaussianGradient> mean_cross_omega(const Tsallis& omega,
                                                                                const QuadraticScore& f,
                                                                                Integers domain,
                                                                                const Data& data);

}  // namespace fenchel
