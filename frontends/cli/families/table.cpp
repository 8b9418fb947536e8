#include <fmt/format.h>

#include <Eigen/Core>
#include <concepts>
#include <span>
#include <string>
#include <vector>

#include "cli/families/expression.hpp"
#include "cli/families/family.hpp"
#include "cli/families/fit_record.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/domain/box.hpp"
#include "fenchel/domain/integers.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/estimate/fit/beta_gaussian.hpp"
#include "fenchel/estimate/fit/beta_laplace.hpp"
#include "fenchel/estimate/fit/capped.hpp"
#include "fenchel/estimate/fit/multivariate_beta_gaussian.hpp"
#include "fenchel/estimate/fit/smooth.hpp"
#include "fenchel/estimate/fit/sparse_integer_gaussian.hpp"
#include "fenchel/estimate/fit/sparse_poisson.hpp"
#include "fenchel/estimate/fit/truncated_gaussian.hpp"
#include "fenchel/estimate/goodness/fit_groups.hpp"
#include "fenchel/predict/function.hpp"
#include "fenchel/predict/integer_function.hpp"
#include "fenchel/predict/multivariate_function.hpp"
#include "fenchel/predict/sobolev_function.hpp"
#include "fenchel/predict/total_variation_function.hpp"
#include "fenchel/regularizer/tsallis.hpp"
#include "fenchel/score/function_score.hpp"
#include "fenchel/score/location_scale_score.hpp"
#include "fenchel/score/multivariate_function_score.hpp"

namespace fenchel::cli {
namespace {

using Parameters = const FamilyOptions&;

AnyDistribution make_beta_gaussian(Parameters o) { return BetaGaussian(*o.alpha, o.mu[0], *o.sigma2); }
AnyDistribution make_beta_laplace(Parameters o) { return BetaLaplace(*o.alpha, o.mu[0], *o.b); }
template <class P>
AnyDistribution make_triangular(Parameters o) {
  return P(*o.gamma, o.mu[0], *o.b);
}
template <class P>
AnyDistribution make_parabola(Parameters o) {
  return P(*o.gamma, o.mu[0], *o.sigma2);
}

AnyDistribution make_location_scale(Parameters o) {
  const Expression g("--score", o.score);
  return LocationScale(LocationScaleScore(
      g, [g](double u) { return g.derivative(u); }, o.mu[0], *o.sigma));
}

AnyDistribution make_multivariate_score(Parameters o, const Expression& f) {
  const index_t dimension = f.dimension();
  const auto at_points = [f](const Eigen::MatrixXd& points) {
    const auto rows = static_cast<std::size_t>(points.rows());
    Eigen::VectorXd values(points.cols());
    for (index_t i = 0; i < points.cols(); ++i) values[i] = f(std::span(points.col(i).data(), rows));
    return values;
  };
  const Eigen::Map<const Eigen::MatrixXd> ends(o.interval.data(), 2, dimension);
  return predict(Tsallis(*o.alpha), MultivariateFunctionScore::batched(at_points),
                 Box(ends.row(0), ends.row(1)));
}

template <class Regularizer>
AnyDistribution make_score(Parameters o) {
  if constexpr (std::same_as<Regularizer, Tsallis>) {
    const Expression f("--score", o.score, kMostDimensions);
    if (f.dimension() > 1) return make_multivariate_score(o, f);
  }
  return predict(Regularizer(o.alpha ? *o.alpha : *o.gamma), FunctionScore(Expression("--score", o.score)),
                 Interval(o.interval[0], o.interval[1]));
}

template <class Domain>
AnyDistribution make_integer_score(Parameters o) {
  return predict(Tsallis(*o.alpha), FunctionScore(Expression("--score", o.score)), Domain());
}

AnyDistribution make_multivariate(Parameters o) {
  const auto dimension = static_cast<index_t>(o.mu.size());
  const Eigen::Map<const Eigen::VectorXd> mu(o.mu.data(), dimension);
  if (o.Sigma.size() == o.mu.size()) {
    return MultivariateBetaGaussian::diagonal(*o.alpha, mu,
                                              Eigen::Map<const Eigen::VectorXd>(o.Sigma.data(), dimension));
  }
  return MultivariateBetaGaussian(
      *o.alpha, mu, Eigen::Map<const Eigen::MatrixXd>(o.Sigma.data(), dimension, dimension).transpose());
}

Bound above_third(index_t) { return {1.0 / 3, false, "above 1/3"}; }
Bound above_half(index_t) { return {0.5, false, "above 1/2"}; }
Bound above_one(index_t) { return {1, false, "above 1"}; }
Bound not_negative(index_t) { return {0, true, "not negative"}; }
/// docs/math.md 5.6: below there is no covariance.
Bound above_dimension(index_t columns) {
  const auto n = static_cast<double>(columns);
  return {n / (n + 2), false, fmt::format("above {}/{}", columns, columns + 2)};
}

// How each family is fitted, to the statistics that suffice or to data.
auto beta_gaussian_fit(Parameters shape) {
  return [alpha = shape.alpha](const LineMoments& moments) {
    return alpha ? fit_beta_gaussian(*alpha, moments) : fit_beta_gaussian(moments);
  };
}
auto uniform_fit(Parameters) {
  return [](const LineMoments& moments) { return fit_uniform(moments); };
}
auto beta_laplace_fit(Parameters shape) {
  return [alpha = *shape.alpha](const Data& data) { return fit_beta_laplace(alpha, data); };
}
auto multivariate_fit(Parameters shape) {
  return [alpha = shape.alpha](const Data& data) {
    return alpha ? fit_multivariate_beta_gaussian(*alpha, data) : fit_multivariate_beta_gaussian(data);
  };
}
auto truncated_gaussian_fit(Parameters shape) {
  return [kappa = shape.kappa](const Data& data) {
    return kappa ? fit_truncated_gaussian(*kappa, data) : fit_truncated_gaussian(data);
  };
}
auto capped_triangular_fit(Parameters shape) {
  return [gamma = *shape.gamma](const Data& data) { return fit_capped_triangular(gamma, data); };
}
auto capped_parabola_fit(Parameters shape) {
  return [gamma = *shape.gamma](const LineMoments& moments) { return fit_capped_parabola(gamma, moments); };
}
auto smooth_triangular_fit(Parameters shape) {
  return [gamma = *shape.gamma](const Data& data) { return fit_smooth_triangular(gamma, data); };
}
auto smooth_parabola_fit(Parameters shape) {
  return [gamma = *shape.gamma](const LineMoments& moments) { return fit_smooth_parabola(gamma, moments); };
}
auto sparse_poisson_fit(Parameters shape) {
  return [alpha = shape.alpha](const CountHistogram& counts) {
    return alpha ? fit_sparse_poisson(*alpha, counts) : fit_sparse_poisson(counts);
  };
}
auto sparse_integer_gaussian_fit(Parameters shape) {
  return [alpha = shape.alpha](const CountHistogram& counts) {
    return alpha ? fit_sparse_integer_gaussian(*alpha, counts) : fit_sparse_integer_gaussian(counts);
  };
}

/// What the table says of a family that is fitted so.
template <auto fit>
FamilyFit fit_by(Bound (*bound)(index_t), bool estimates = false) {
  FamilyFit made{[](Parameters shape, const Data& data, const FitQuestions& questions) {
                   return fitted(shape, data, questions, fit(shape));
                 },
                 [](const std::string& name, Parameters shape) { return candidate(name, fit(shape)); },
                 nullptr, bound, estimates};
  if constexpr (requires(Parameters shape, const Data& data) { fit_groups(fit(shape), data); })
    made.by = [](Parameters shape, const Data& data) {
      return fitted_groups(shape, fit_groups(fit(shape), data));
    };
  return made;
}

constexpr const char* kFormula = "FORMULA";  // stands for a score that must be given

}  // namespace

std::span<const Family> families() {
  constexpr bool kEstimates = true;
  const FamilyFit beta_gaussian = fit_by<beta_gaussian_fit>(above_third),
                  beta_laplace = fit_by<beta_laplace_fit>(above_half);
  const FamilyFit multivariate{[](Parameters shape, const Data& data, const FitQuestions& questions) {
                                 return fitted(shape, data, questions, multivariate_fit(shape));
                               },
                               nullptr,
                               nullptr,
                               above_dimension,
                               kEstimates,
                               true};
  static const std::vector<Family> all{
      {{.family = "beta-gaussian", .alpha = 2, .mu = {0}, .sigma2 = 1},
       make_beta_gaussian,
       fit_by<beta_gaussian_fit>(above_third, kEstimates)},
      {{.family = "gaussian", .alpha = 1, .mu = {0}, .sigma2 = 1},
       make_beta_gaussian,
       beta_gaussian,
       "beta-gaussian"},
      {{.family = "student", .alpha = 0.5, .mu = {0}, .sigma2 = 1}, make_beta_gaussian, {}, "beta-gaussian"},
      {{.family = "triweight", .alpha = 4.0 / 3, .mu = {0}, .sigma2 = 1},
       make_beta_gaussian,
       beta_gaussian,
       "beta-gaussian"},
      {{.family = "biweight", .alpha = 1.5, .mu = {0}, .sigma2 = 1},
       make_beta_gaussian,
       beta_gaussian,
       "beta-gaussian"},
      {{.family = "parabola", .alpha = 2, .mu = {0}, .sigma2 = 1},
       make_beta_gaussian,
       beta_gaussian,
       "beta-gaussian"},
      {{.family = "uniform", .lower = 0, .upper = 1},
       [](Parameters o) -> AnyDistribution { return BetaGaussian::uniform(*o.lower, *o.upper); },
       fit_by<uniform_fit>(nullptr)},
      {{.family = "multivariate-beta-gaussian", .alpha = 2, .mu = {0, 0}, .Sigma = {1, 1}},
       make_multivariate,
       multivariate},
      {{.family = "beta-laplace", .alpha = 2, .mu = {0}, .b = 1}, make_beta_laplace, beta_laplace},
      {{.family = "laplace", .alpha = 1, .mu = {0}, .b = 1}, make_beta_laplace, beta_laplace, "beta-laplace"},
      {{.family = "triangular", .alpha = 2, .mu = {0}, .b = 1},
       make_beta_laplace,
       beta_laplace,
       "beta-laplace"},
      {{.family = "truncated-gaussian", .kappa = 2, .mu = {0}, .sigma2 = 1},
       [](Parameters o) -> AnyDistribution { return TruncatedGaussian(*o.kappa, o.mu[0], *o.sigma2); },
       fit_by<truncated_gaussian_fit>(above_one, kEstimates)},
      {{.family = "location-scale", .mu = {0}, .sigma = 1, .score = kFormula}, make_location_scale},
      {{.family = "capped-triangular", .gamma = 1, .mu = {0}, .b = 1},
       make_triangular<CappedTriangular>,
       fit_by<capped_triangular_fit>(not_negative)},
      {{.family = "capped-parabola", .gamma = 1, .mu = {0}, .sigma2 = 1},
       make_parabola<CappedParabola>,
       fit_by<capped_parabola_fit>(not_negative)},
      {{.family = "smooth-triangular", .gamma = 1, .mu = {0}, .b = 1},
       make_triangular<SmoothTriangular>,
       fit_by<smooth_triangular_fit>(not_negative)},
      {{.family = "smooth-parabola", .gamma = 1, .mu = {0}, .sigma2 = 1},
       make_parabola<SmoothParabola>,
       fit_by<smooth_parabola_fit>(not_negative)},
      {{.family = "sparse-poisson", .alpha = 2, .mu = {1}},
       [](Parameters o) -> AnyDistribution { return SparsePoisson(*o.alpha, o.mu[0]); },
       fit_by<sparse_poisson_fit>(above_half, kEstimates)},
      {{.family = "sparse-integer-gaussian", .alpha = 2, .mu = {0}, .sigma2 = 1},
       [](Parameters o) -> AnyDistribution { return SparseIntegerGaussian(*o.alpha, o.mu[0], *o.sigma2); },
       fit_by<sparse_integer_gaussian_fit>(above_third, kEstimates)},
      {{.family = "score",
        .regularizer = "tsallis",
        .alpha = 2,
        .score = kFormula,
        .interval = {-kInfinity, kInfinity}},
       make_score<Tsallis>},
      {{.family = "score",
        .regularizer = "total-variation",
        .gamma = 1,
        .score = kFormula,
        .interval = {-kInfinity, kInfinity}},
       make_score<TotalVariation>},
      {{.family = "score",
        .regularizer = "sobolev",
        .gamma = 1,
        .score = kFormula,
        .interval = {-kInfinity, kInfinity}},
       make_score<Sobolev>},
      {{.family = "score", .regularizer = "tsallis", .domain = "integers", .alpha = 2, .score = kFormula},
       make_integer_score<Integers>},
      {{.family = "score", .regularizer = "tsallis", .domain = "naturals", .alpha = 2, .score = kFormula},
       make_integer_score<Naturals>},
  };
  return all;
}

}  // namespace fenchel::cli
