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

using Questions = const FitQuestions&;

Record fit_beta_gaussians(Parameters shape, const Data& data, Questions questions) {
  return fitted(shape, data, questions, [&shape](const Data& of) {
    const LineMoments moments = collect(of, LineMoments());
    return shape.alpha ? fit_beta_gaussian(*shape.alpha, moments) : fit_beta_gaussian(moments);
  });
}
Record fit_uniforms(Parameters shape, const Data& data, Questions questions) {
  return fitted(shape, data, questions,
                [](const Data& of) { return fit_uniform(collect(of, LineMoments())); });
}
Record fit_beta_laplaces(Parameters shape, const Data& data, Questions questions) {
  return fitted(shape, data, questions,
                [&shape](const Data& of) { return fit_beta_laplace(*shape.alpha, of); });
}
Record fit_multivariate(Parameters shape, const Data& data, Questions questions) {
  return fitted(shape, data, questions, [&shape](const Data& of) {
    return shape.alpha ? fit_multivariate_beta_gaussian(*shape.alpha, of)
                       : fit_multivariate_beta_gaussian(of);
  });
}
Record fit_truncated_gaussians(Parameters shape, const Data& data, Questions questions) {
  return fitted(shape, data, questions, [&shape](const Data& of) {
    return shape.kappa ? fit_truncated_gaussian(*shape.kappa, of) : fit_truncated_gaussian(of);
  });
}
Record fit_capped_triangulars(Parameters shape, const Data& data, Questions questions) {
  return fitted(shape, data, questions,
                [&shape](const Data& of) { return fit_capped_triangular(*shape.gamma, of); });
}
Record fit_capped_parabolas(Parameters shape, const Data& data, Questions questions) {
  return fitted(shape, data, questions, [&shape](const Data& of) {
    return fit_capped_parabola(*shape.gamma, collect(of, LineMoments()));
  });
}
Record fit_smooth_triangulars(Parameters shape, const Data& data, Questions questions) {
  return fitted(shape, data, questions,
                [&shape](const Data& of) { return fit_smooth_triangular(*shape.gamma, of); });
}
Record fit_smooth_parabolas(Parameters shape, const Data& data, Questions questions) {
  return fitted(shape, data, questions, [&shape](const Data& of) {
    return fit_smooth_parabola(*shape.gamma, collect(of, LineMoments()));
  });
}
Record fit_sparse_poissons(Parameters shape, const Data& data, Questions questions) {
  return fitted(shape, data, questions, [&shape](const Data& of) {
    const CountHistogram counts = collect(of, CountHistogram());
    return shape.alpha ? fit_sparse_poisson(*shape.alpha, counts) : fit_sparse_poisson(counts);
  });
}
Record fit_sparse_integer_gaussians(Parameters shape, const Data& data, Questions questions) {
  return fitted(shape, data, questions, [&shape](const Data& of) {
    const CountHistogram counts = collect(of, CountHistogram());
    return shape.alpha ? fit_sparse_integer_gaussian(*shape.alpha, counts)
                       : fit_sparse_integer_gaussian(counts);
  });
}

constexpr const char* kFormula = "FORMULA";  // stands for a score that must be given

}  // namespace

std::span<const Family> families() {
  constexpr bool kEstimates = true, kSeveral = true;
  const FamilyFit beta_gaussian{fit_beta_gaussians, above_third}, beta_laplace{fit_beta_laplaces, above_half};
  static const std::vector<Family> all{
      {{.family = "beta-gaussian", .alpha = 2, .mu = {0}, .sigma2 = 1},
       make_beta_gaussian,
       {fit_beta_gaussians, above_third, kEstimates}},
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
       {fit_uniforms}},
      {{.family = "multivariate-beta-gaussian", .alpha = 2, .mu = {0, 0}, .Sigma = {1, 1}},
       make_multivariate,
       {fit_multivariate, above_dimension, kEstimates, kSeveral}},
      {{.family = "beta-laplace", .alpha = 2, .mu = {0}, .b = 1}, make_beta_laplace, beta_laplace},
      {{.family = "laplace", .alpha = 1, .mu = {0}, .b = 1}, make_beta_laplace, beta_laplace, "beta-laplace"},
      {{.family = "triangular", .alpha = 2, .mu = {0}, .b = 1},
       make_beta_laplace,
       beta_laplace,
       "beta-laplace"},
      {{.family = "truncated-gaussian", .kappa = 2, .mu = {0}, .sigma2 = 1},
       [](Parameters o) -> AnyDistribution { return TruncatedGaussian(*o.kappa, o.mu[0], *o.sigma2); },
       {fit_truncated_gaussians, above_one, kEstimates}},
      {{.family = "location-scale", .mu = {0}, .sigma = 1, .score = kFormula}, make_location_scale},
      {{.family = "capped-triangular", .gamma = 1, .mu = {0}, .b = 1},
       make_triangular<CappedTriangular>,
       {fit_capped_triangulars, not_negative}},
      {{.family = "capped-parabola", .gamma = 1, .mu = {0}, .sigma2 = 1},
       make_parabola<CappedParabola>,
       {fit_capped_parabolas, not_negative}},
      {{.family = "smooth-triangular", .gamma = 1, .mu = {0}, .b = 1},
       make_triangular<SmoothTriangular>,
       {fit_smooth_triangulars, not_negative}},
      {{.family = "smooth-parabola", .gamma = 1, .mu = {0}, .sigma2 = 1},
       make_parabola<SmoothParabola>,
       {fit_smooth_parabolas, not_negative}},
      {{.family = "sparse-poisson", .alpha = 2, .mu = {1}},
       [](Parameters o) -> AnyDistribution { return SparsePoisson(*o.alpha, o.mu[0]); },
       {fit_sparse_poissons, above_half, kEstimates}},
      {{.family = "sparse-integer-gaussian", .alpha = 2, .mu = {0}, .sigma2 = 1},
       [](Parameters o) -> AnyDistribution { return SparseIntegerGaussian(*o.alpha, o.mu[0], *o.sigma2); },
       {fit_sparse_integer_gaussians, above_third, kEstimates}},
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
