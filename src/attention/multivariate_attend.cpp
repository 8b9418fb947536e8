#include "fenchel/attention/multivariate_attend.hpp"

#include <vector>

#include "attention/check_shape.hpp"
#include "backend/cpu/attention/row.hpp"
#include "fenchel/core/beta_gaussian_jet.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/distribution/canonical_gradient.hpp"

namespace fenchel {
namespace {

using detail::Wanted;

/// A row of the kernel: r_j, its derivatives in mu_a, in Sigma_ab for a >= b, and in alpha, N x blocks.
Eigen::MatrixXd row(std::string_view where, const MultivariateBetaGaussian& p,
                    const MultivariateGaussianBasis& psi, Wanted wanted) {
  const index_t d = p.dimension();
  detail::check_basis_dimension(where, d, psi.dimension());
  if (p.rank() < d) {
    throw_domain_error(where, "the rank of Sigma", "must be its dimension, " + shortest(d),
                       static_cast<double>(p.rank()));
  }
  const Eigen::VectorXd& mu = p.mu();
  const Eigen::MatrixXd& Sigma = p.Sigma();
  std::vector<double> scratch(static_cast<std::size_t>(detail::space_scratch(d)));
  Eigen::MatrixXd out(psi.size(), detail::block_count(d, wanted));
  const detail::DensityRow density{p.constants(), mu.data(), Sigma.data()};
  if (!detail::attend_space_row(density, psi.functions(), wanted, detail::Accuracy::kDouble, scratch.data(),
                                {out.data(), psi.size()})) {
    throw ConvergenceError(
        error_message(where, "the expectation under p", "must be resolved", "an integral that is not"));
  }
  return out;
}

/// The G of dr = Tr(G dSigma) from the blocks.
Eigen::MatrixXd scale_gradient(const Eigen::VectorXd& blocks, index_t d) {
  Eigen::MatrixXd g(d, d);
  detail::for_each_entry(d, [&](index_t a, index_t b, index_t block) { g(a, b) = g(b, a) = blocks[block]; });
  return g;
}

}  // namespace

void detail::check_basis_dimension(std::string_view where, index_t density, index_t basis) {
  if (density == basis) return;
  throw_invalid_argument(where, "the basis' dimension",
                         "must equal the density's dimension, " + shortest(density), basis);
}

Eigen::VectorXd attend(const MultivariateBetaGaussian& p, const MultivariateGaussianBasis& psi) {
  return row("attend", p, psi, Wanted::kValues);
}

MultivariateQuadraticGradient attend_vjp(const MultivariateBetaGaussian& p,
                                         const MultivariateGaussianBasis& psi,
                                         const Eigen::VectorXd& cotangent) {
  if (cotangent.size() != psi.size()) {
    throw_invalid_argument("attend_vjp", "cotangent.size()",
                           "must equal the basis' size, " + shortest(psi.size()),
                           static_cast<index_t>(cotangent.size()));
  }
  const index_t d = p.dimension();
  const Eigen::VectorXd sums = row("attend_vjp", p, psi, Wanted::kAlphaToo).transpose() * cotangent;
  return {sums.segment(1, d), scale_gradient(sums, d), sums[sums.size() - 1]};
}

Eigen::VectorXd attend_jvp(const MultivariateBetaGaussian& p, const MultivariateGaussianBasis& psi,
                           const MultivariateQuadraticGradient& direction) {
  const index_t d = p.dimension();
  detail::check_shape("attend_jvp", "direction.mu", direction.mu, d, 1);
  detail::check_shape("attend_jvp", "direction.Sigma", direction.Sigma, d, d);
  const Eigen::MatrixXd rows = row("attend_jvp", p, psi, Wanted::kAlphaToo);
  Eigen::VectorXd weights(rows.cols());
  weights[0] = 0;
  weights.segment(1, d) = direction.mu;
  detail::for_each_entry(d, [&](index_t a, index_t b, index_t block) {
    weights[block] = a == b ? direction.Sigma(a, a) : direction.Sigma(a, b) + direction.Sigma(b, a);
  });
  weights[weights.size() - 1] = direction.alpha;
  return rows * weights;
}

/// cov(t, psi) = Sigma d/dmu =: c1, cov((t - mu) (t - mu)^T, psi) = 2 Sigma d/dSigma Sigma, and cov(t t^T) is
/// that plus mu c1^T + c1 mu^T (docs/math.md 7.1).
Eigen::MatrixXd attend_jacobian(const MultivariateBetaGaussian& p, const MultivariateGaussianBasis& psi) {
  const index_t d = p.dimension();
  const Eigen::MatrixXd rows = row("attend_jacobian", p, psi, Wanted::kGradient);
  Eigen::MatrixXd jacobian(psi.size(), d + d * d);
  for (index_t j = 0; j < psi.size(); ++j) {
    const Eigen::VectorXd derivatives = rows.row(j).transpose();
    const auto [first, second] =
        canonical_gradient(p, {derivatives.segment(1, d), scale_gradient(derivatives, d), 0});
    jacobian.row(j).head(d) = first.transpose();
    jacobian.row(j).tail(d * d) = second.reshaped().transpose();
  }
  return jacobian;
}

detail::LogDensityGradient::LogDensityGradient(std::string_view where, const MultivariateBetaGaussian& p)
    : p_(p), precision_(p.score().whitening().transpose() * p.score().whitening()) {
  if (p.rank() < p.dimension())
    throw_domain_error(where, "the rank of Sigma", "must be its dimension, " + shortest(p.dimension()),
                       static_cast<double>(p.rank()));
  checked_finite(where, "alpha", p.alpha());
}

MultivariateQuadraticGradient detail::LogDensityGradient::operator()(const Eigen::VectorXd& t) const {
  const Eigen::VectorXd d = t - p_.mu(), pull = precision_ * d;
  const Jet log_p = beta_gaussian_jet(BetaGaussianFunction::log_density, p_.dimension(), d.dot(pull),
                                      p_.score().log_det(), p_.alpha());
  return {-2 * log_p.gradient[0] * pull,
          log_p.gradient[1] * precision_ - log_p.gradient[0] * pull * pull.transpose(), log_p.gradient[2]};
}

}  // namespace fenchel
