#include "cli/families/fit_family.hpp"

#include <Eigen/Core>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "cli/commands/to_record.hpp"
#include "fenchel/data/rows_source.hpp"
#include "fenchel/estimate/fit/beta_gaussian.hpp"
#include "fenchel/estimate/fit/beta_laplace.hpp"
#include "fenchel/estimate/fit/capped.hpp"
#include "fenchel/estimate/fit/multivariate_beta_gaussian.hpp"
#include "fenchel/estimate/fit/smooth.hpp"
#include "fenchel/estimate/fit/sparse_integer_gaussian.hpp"
#include "fenchel/estimate/fit/sparse_poisson.hpp"
#include "fenchel/estimate/fit/truncated_gaussian.hpp"

namespace fenchel::cli {
namespace {

/// Those of a shape that were given, to which the estimates are added.
Record given(const Shape& shape) {
  Record parameters = Record::object();
  if (shape.alpha) parameters["alpha"] = *shape.alpha;
  if (shape.gamma) parameters["gamma"] = *shape.gamma;
  if (shape.kappa) parameters["kappa"] = *shape.kappa;
  return parameters;
}

template <class P>
Record result(const Shape& shape, const Fit<P>& fit) {
  Record parameters = given(shape), errors = Record::object();
  const Eigen::VectorXd spread = fit.standard_errors();
  for (std::size_t k = 0; k < fit.names.size(); ++k) {
    parameters[fit.names[k]] = number(fit.parameters[static_cast<index_t>(k)]);
    errors[fit.names[k]] = number(spread[static_cast<index_t>(k)]);
  }
  const P& p = fit.distribution;
  return {{"parameters", parameters},         {"standard_errors", errors},
          {"weight", number(fit.weight)},     {"loss", number(fit.loss)},
          {"support", to_record(support(p))}, {"mean", number(mean(p))},
          {"variance", number(variance(p))}};
}

/// Of the entries that Fit has in one list: alpha where it was estimated, mu, the lower triangle of Sigma.
Record multivariate_result(const Shape& shape, const Fit<MultivariateBetaGaussian>& fit) {
  const MultivariateBetaGaussian& p = fit.distribution;
  const index_t n = p.dimension(), first = shape.alpha ? 0 : 1;
  const Eigen::VectorXd spread = fit.standard_errors();
  Eigen::MatrixXd scale_errors(n, n);
  for (index_t i = 0, k = first + n; i < n; ++i) {
    for (index_t j = 0; j <= i; ++j, ++k) scale_errors(i, j) = scale_errors(j, i) = spread[k];
  }
  Record parameters = Record::object(), errors = Record::object();
  parameters["alpha"] = number(p.alpha());
  if (!shape.alpha) errors["alpha"] = number(spread[0]);
  parameters["mu"] = to_record(p.mu());
  errors["mu"] = to_record(Eigen::VectorXd(spread.segment(first, n)));
  parameters["sigma2"] = to_record(p.scale());
  errors["sigma2"] = to_record(scale_errors);
  return {{"parameters", parameters},
          {"standard_errors", errors},
          {"weight", number(fit.weight)},
          {"loss", number(fit.loss)},
          {"support", to_record(support(p))},
          {"mean", to_record(mean(p))},
          {"covariance", to_record(covariance(p))}};
}

/// Data on which every member of a family can be tried: its shape alone can then be wrong.
constexpr std::array kValues{-1.0, 0.0, 1.0};
const RowsSource& trial() {
  static const RowsSource source({kValues.data(), 3, 1});
  return source;
}
constexpr std::array kCounts{0.0, 1.0, 2.0};

/// From 1 on every alpha is one of a family; which others are, the library says.
bool is_common(const Shape& shape) {
  return !shape.alpha || (*shape.alpha >= 1 && std::isfinite(*shape.alpha));
}

void check_beta_gaussian(const Shape& shape, index_t) {
  if (!is_common(shape)) static_cast<void>(fit_beta_gaussian(*shape.alpha, LineMoments::of(kValues)));
}
Record run_beta_gaussian(const Shape& shape, const Data& data) {
  const LineMoments moments = collect(data, LineMoments());
  return result(shape, shape.alpha ? fit_beta_gaussian(*shape.alpha, moments) : fit_beta_gaussian(moments));
}

void check_multivariate(const Shape& shape, index_t columns) {
  if (is_common(shape)) return;
  Eigen::MatrixXd points(columns, 2 * columns);
  points << Eigen::MatrixXd::Identity(columns, columns), -Eigen::MatrixXd::Identity(columns, columns);
  static_cast<void>(
      fit_multivariate_beta_gaussian(*shape.alpha, Moments::of({points.data(), 2 * columns, columns})));
}
Record run_multivariate(const Shape& shape, const Data& data) {
  return multivariate_result(shape, shape.alpha ? fit_multivariate_beta_gaussian(*shape.alpha, data)
                                                : fit_multivariate_beta_gaussian(data));
}

void check_beta_laplace(const Shape& shape, index_t) {
  if (!is_common(shape)) static_cast<void>(fit_beta_laplace(*shape.alpha, Data{trial()}));
}
Record run_beta_laplace(const Shape& shape, const Data& data) {
  return result(shape, fit_beta_laplace(*shape.alpha, data));
}

void check_kappa(const Shape& shape, index_t) {
  if (shape.kappa) static_cast<void>(TruncatedGaussian(*shape.kappa, 0, 1));
}
Record run_truncated_gaussian(const Shape& shape, const Data& data) {
  return result(shape,
                shape.kappa ? fit_truncated_gaussian(*shape.kappa, data) : fit_truncated_gaussian(data));
}

/// `fenchel density` has sigma for the b of triangular densities and the square root of the sigma2 of
/// parabolas.
template <class P>
Fit<P> in_sigma(Fit<P> fit) {
  if (fit.names[1] == "sigma2") return with_root(std::move(fit), 1, "sigma");
  fit.names[1] = "sigma";
  return fit;
}

void check_gamma(const Shape& shape, index_t) {
  static_cast<void>(fit_capped_parabola(*shape.gamma, LineMoments::of(kValues)));
}
Record run_capped_parabola(const Shape& shape, const Data& data) {
  return result(shape, in_sigma(fit_capped_parabola(*shape.gamma, collect(data, LineMoments()))));
}
Record run_capped_triangular(const Shape& shape, const Data& data) {
  return result(shape, in_sigma(fit_capped_triangular(*shape.gamma, data)));
}
Record run_smooth_parabola(const Shape& shape, const Data& data) {
  return result(shape, in_sigma(fit_smooth_parabola(*shape.gamma, collect(data, LineMoments()))));
}
Record run_smooth_triangular(const Shape& shape, const Data& data) {
  return result(shape, in_sigma(fit_smooth_triangular(*shape.gamma, data)));
}

void check_counts(const Shape& shape, index_t) {
  if (!is_common(shape)) static_cast<void>(fit_sparse_poisson(*shape.alpha, CountHistogram::of(kCounts)));
}
Record run_sparse_poisson(const Shape& shape, const Data& data) {
  return result(shape, fit_sparse_poisson(*shape.alpha, collect(data, CountHistogram())));
}
Record run_sparse_integer_gaussian(const Shape& shape, const Data& data) {
  return result(shape, fit_sparse_integer_gaussian(*shape.alpha, collect(data, CountHistogram())));
}

}  // namespace

std::span<const FitFamily> fit_families() {
  static const std::vector<FitFamily> families = {
      {"beta-gaussian", "alpha", true, false, {}, check_beta_gaussian, run_beta_gaussian},
      {"gaussian", "", false, false, 1, check_beta_gaussian, run_beta_gaussian},
      {"triweight", "", false, false, 4.0 / 3, check_beta_gaussian, run_beta_gaussian},
      {"biweight", "", false, false, 1.5, check_beta_gaussian, run_beta_gaussian},
      {"parabola", "", false, false, 2, check_beta_gaussian, run_beta_gaussian},
      {"multivariate-beta-gaussian", "alpha", true, true, {}, check_multivariate, run_multivariate},
      {"beta-laplace", "alpha", false, false, {}, check_beta_laplace, run_beta_laplace},
      {"laplace", "", false, false, 1, check_beta_laplace, run_beta_laplace},
      {"triangular", "", false, false, 2, check_beta_laplace, run_beta_laplace},
      {"truncated-gaussian", "kappa", true, false, {}, check_kappa, run_truncated_gaussian},
      {"capped-triangular", "gamma", false, false, {}, check_gamma, run_capped_triangular},
      {"capped-parabola", "gamma", false, false, {}, check_gamma, run_capped_parabola},
      {"smooth-triangular", "gamma", false, false, {}, check_gamma, run_smooth_triangular},
      {"smooth-parabola", "gamma", false, false, {}, check_gamma, run_smooth_parabola},
      {"sparse-poisson", "alpha", false, false, {}, check_counts, run_sparse_poisson},
      {"sparse-integer-gaussian", "alpha", false, false, {}, check_counts, run_sparse_integer_gaussian},
  };
  return families;
}

}  // namespace fenchel::cli
