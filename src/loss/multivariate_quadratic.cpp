#include "fenchel/loss/multivariate_quadratic.hpp"

#include <Eigen/SVD>
#include <cmath>

#include "core/beta_gaussian/conjugate.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"
#include "predict/quadratic_hessian.hpp"
#include "score/factorizations.hpp"
#include "score/semidefinite_factor.hpp"

namespace fenchel {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;

constexpr double kInf = kInfinity;

MultivariateBetaGaussian regular_prediction(const Tsallis& omega, const MultivariateQuadraticScore& f,
                                            const Euclidean& domain) {
  detail::check_regular("fenchel_young", "f.rank()", f.rank(), f.dimension());
  return predict(omega, f, domain);
}

void check_target_dimension(const MultivariateQuadraticScore& f, index_t dimension) {
  if (dimension != f.dimension())
    throw_invalid_argument("fenchel_young", "the dimension of q",
                           "must be f.dimension() = " + shortest(f.dimension()), dimension);
}

/// T loss(f / T) from the loss of f / T, whose Sigma is T times that of f.
Loss<MultivariateQuadraticGradient> at_temperature(double temperature,
                                                   Loss<MultivariateQuadraticGradient> loss) {
  loss.value *= temperature;
  loss.gradient.mu *= temperature;
  loss.gradient.Sigma *= temperature * temperature;
  loss.gradient.alpha *= temperature;
  return loss;
}

MatrixXd precision(const MultivariateBetaGaussian& p) {
  return p.score().whitening().transpose() * p.score().whitening();
}

/// Logarithms of the eigenvalues of Sigma_p^-1 Sigma_q; `gap` is the whitened difference of the two matrices.
VectorXd log_ratios(const MultivariateBetaGaussian& p, const MultivariateBetaGaussian& q,
                    const MatrixXd& gap) {
  const VectorXd gaps = Eigen::SelfAdjointEigenSolver<MatrixXd>(gap, Eigen::EigenvaluesOnly).eigenvalues();
  if (gaps.cwiseAbs().maxCoeff() <= 0.5) return gaps.unaryExpr([](double x) { return std::log1p(x); });
  const MatrixXd ratio = p.score().whitening() * q.score().factor();
  return 2 * Eigen::JacobiSVD<MatrixXd>(ratio).singularValues().array().log().matrix();
}

}  // namespace

MatrixXd cholesky_gradient(const MatrixXd& gradient, const MatrixXd& factor) {
  return (2 * gradient * factor).triangularView<Eigen::Lower>();
}

MatrixXd fenchel_young_hessian(const Tsallis& omega, const MultivariateQuadraticScore& f,
                               const Euclidean& domain) {
  const MultivariateBetaGaussian p = regular_prediction(omega, f, domain);
  const BetaGaussianConstants& c = p.constants();
  return detail::quadratic_hessian(p.mu(), p.Sigma(), c.variance_factor, c.am1) / omega.temperature();
}

Loss<MultivariateQuadraticGradient> fenchel_young(const Tsallis& omega, const MultivariateQuadraticScore& f,
                                                  const Euclidean& domain,
                                                  const MultivariateBetaGaussian& q) {
  const MultivariateBetaGaussian p = regular_prediction(omega, f, domain);
  check_target_dimension(f, q.dimension());
  detail::check_regular("fenchel_young", "q.rank()", q.rank(), q.dimension());
  // An infinite alpha predicts ellipsoids of volume one alone.
  if (q.alpha() != p.alpha() || (std::isinf(q.alpha()) && q.constants().log_peak != 0))
    return detail::quadratic_loss(omega, f, domain, mean(q), covariance(q),
                                  detail::target_negentropy(q, omega.alpha()));
  const double n = static_cast<double>(p.dimension()), am1 = p.constants().am1,
               v = q.constants().variance_factor;
  const MatrixXd& white = p.score().whitening();
  const MatrixXd gap = white * (q.Sigma() - p.Sigma()) * white.transpose();
  const VectorXd s = log_ratios(p, q, gap), d = q.mu() - p.mu(), pull = white.transpose() * (white * d);
  const double sum = s.sum(), mean_s = sum / n;
  // A Bregman divergence to their mean, and that of the mean: no term is negative.
  double divergence = n * detail::scale_divergence(p.dimension(), am1, mean_s);
  for (const double x : s) divergence += std::exp(mean_s) * detail::expm1_less_linear(x - mean_s);
  const double c = std::isinf(am1) ? 1 / n : am1 / (2 + n * am1);  // v_p = v_q e^{c sum}
  const MatrixXd scale_gap = v * (std::expm1(c * sum) * precision(p) - white.transpose() * gap * white);
  return at_temperature(omega.temperature(), {(d.dot(pull) + v * divergence) / 2,
                                              {-pull, (scale_gap - pull * pull.transpose()) / 2,
                                               detail::conjugate_alpha_derivative(p.constants()) -
                                                   detail::conjugate_alpha_derivative(q.constants())}});
}

Loss<MultivariateQuadraticGradient> detail::quadratic_loss(const Tsallis& omega,
                                                           const MultivariateQuadraticScore& f,
                                                           const Euclidean& domain, const VectorXd& mean,
                                                           const MatrixXd& covariance,
                                                           TargetNegentropy target) {
  const MultivariateBetaGaussian p = regular_prediction(omega, f, domain);
  check_target_dimension(f, mean.size());
  const MatrixXd inverse = precision(p);
  const VectorXd d = mean - p.mu(), pull = inverse * d;
  // A covariance that does not exist is infinite, with entries of either sign.
  const double square = covariance.allFinite() ? inverse.cwiseProduct(covariance).sum() + d.dot(pull) : kInf;
  return at_temperature(
      omega.temperature(),
      {std::isinf(square) ? kInf : detail::beta_gaussian_conjugate(p.constants()) + target.value + square / 2,
       {-pull,
        (p.constants().variance_factor * inverse - inverse * covariance * inverse - pull * pull.transpose()) /
            2,
        detail::conjugate_alpha_derivative(p.constants()) + target.alpha_derivative}});
}

}  // namespace fenchel
