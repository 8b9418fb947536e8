#pragma once

/// `ranked_score`: the continuous ranked probability score of a distribution, and that of counts.

#include <cmath>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/distribution/concept.hpp"
#include "fenchel/distribution/integers/integer_table.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/line/beta_laplace.hpp"
#include "fenchel/distribution/line/generic.hpp"
#include "fenchel/distribution/line/shaped_density.hpp"
#include "fenchel/distribution/line/truncated_gaussian.hpp"
#include "fenchel/domain/interval.hpp"

namespace fenchel {

/// int (F(x) - [x >= y])^2 dx = E|X - y| - E|X - X'| / 2 as a function of y: finite for every y, in the unit
/// of y, and comparable across families, alphas and supports [T. Gneiting, A. Raftery, JASA 102 (2007)]. On
/// the integers it is the sum.
class RankedScore {
 public:
  /// E|X - y| of any y, and E|X - X'| / 2.
  RankedScore(std::function<double(double)> deviation, double half_difference)
      : deviation_(std::move(deviation)), half_difference_(half_difference) {}

  [[nodiscard]] double operator()(double y) const { return deviation_(y) - half_difference_; }
  /// E|X - X'| / 2, half of Gini's mean difference: the mean score under the distribution itself.
  [[nodiscard]] double half_difference() const noexcept { return half_difference_; }

 private:
  std::function<double(double)> deviation_;
  double half_difference_;
};

/// In closed form for every alpha (docs/math.md 5.8).
[[nodiscard]] FENCHEL_EXPORT RankedScore ranked_score(const BetaGaussian& p);
/// In closed form (docs/math.md 5.8).
[[nodiscard]] FENCHEL_EXPORT RankedScore ranked_score(const BetaLaplace& p);
/// E|X - y| in closed form, the difference by quadrature (docs/math.md 5.8).
[[nodiscard]] FENCHEL_EXPORT RankedScore ranked_score(const TruncatedGaussian& p);

namespace detail {
/// int F (1 - F) over an interval, cut at these points, which are ascending.
[[nodiscard]] FENCHEL_EXPORT double half_difference(FunctionRef<double(double)> cdf,
                                                    FunctionRef<double(double)> survival,
                                                    std::span<const double> cuts);
/// A distribution function with what its integrals need to know: `body` has almost all of the mass, and all
/// of it where the support is bounded.
struct LineTails {
  std::function<double(double)> cdf, survival;
  Interval support, body;
  double mean;
};
[[nodiscard]] FENCHEL_EXPORT RankedScore tabulated_ranked_score(LineTails p);
[[nodiscard]] FENCHEL_EXPORT RankedScore count_ranked_score(const IntegerTable& p);
}  // namespace detail

/// Capped and smooth densities: E|X - y| in closed form, the difference by quadrature.
template <LineDistribution P>
requires ShapedDensity<P>
[[nodiscard]] RankedScore ranked_score(const P& p) {
  const auto beyond = [&p](double y) { return p.shape().beyond(y); };
  const auto before = [&p](double y) { return p.shape().beyond(-y); };
  std::vector<double> cuts{0, p.half_width()};
  if constexpr (requires { p.plateau(); }) cuts.insert(cuts.begin() + 1, p.plateau());
  return {[p](double y) { return mean_deviation(p, y); }, 2 * detail::half_difference(before, beyond, cuts)};
}

/// Any other density on the line, by quadrature: to about 1e-8 of its standard deviation.
template <LineDistribution P>
[[nodiscard]] RankedScore ranked_score(const P& p) {
  constexpr double kOutside = 1e-6;
  const std::vector<Interval> parts = detail::pieces(support(p));
  const Interval all{parts.front().lower(), parts.back().upper()};
  const Interval body{std::isinf(all.lower()) ? quantile(p, kOutside) : all.lower(),
                      std::isinf(all.upper()) ? survival_quantile(p, kOutside) : all.upper()};
  return detail::tabulated_ranked_score(
      {[p](double y) { return cdf(p, y); }, [p](double y) { return survival(p, y); }, all, body, mean(p)});
}

/// Counts, of integers y. Summed over at most 2^16 integers on either side of the median: for alpha < 1 the
/// score of a y beyond these has an error of the tail beyond y.
template <TabulatedIntegers P>
[[nodiscard]] RankedScore ranked_score(const P& p) {
  return detail::count_ranked_score(p.table());
}

}  // namespace fenchel
