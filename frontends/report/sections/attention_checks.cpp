#include "report/sections/attention_checks.hpp"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "fenchel/attention/attend.hpp"
#include "fenchel/attention/attend_derivatives.hpp"
#include "fenchel/attention/finite_attention.hpp"
#include "fenchel/attention/multivariate_attend.hpp"
#include "fenchel/distribution/beta_covariance.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/domain/finite.hpp"
#include "fenchel/predict/finite.hpp"
#include "report/compare.hpp"

namespace fenchel::report {
namespace {

constexpr double kMu = 0.4, kSigma2 = 0.01, kStep = 1e-5;

double largest(const Eigen::MatrixXd& difference, const Eigen::MatrixXd& size) {
  return difference.cwiseAbs().maxCoeff() / size.cwiseAbs().maxCoeff();
}

/// r at theta = (mu / sigma2, -1 / (2 sigma2)).
Eigen::VectorXd attend_at(double alpha, const Eigen::Vector2d& theta, const GaussianBasis& psi) {
  const double sigma2 = -1 / (2 * theta[1]);
  return attend(BetaGaussian(alpha, sigma2 * theta[0], sigma2), psi);
}

void add_jacobians(std::vector<Check>& checks, const GaussianBasis& psi) {
  for (const auto& [name, alpha] :
       std::vector<std::pair<const char*, double>>{{"1", 1}, {"4/3", 4. / 3}, {"3/2", 1.5}, {"2", 2}}) {
    const BetaGaussian p(alpha, kMu, kSigma2);
    const Eigen::MatrixXd jacobian = attend_jacobian(p, psi);
    Eigen::MatrixXd differences(psi.size(), 2);
    const Eigen::Vector2d theta(kMu / kSigma2, -1 / (2 * kSigma2));
    for (int k = 0; k < 2; ++k) {
      const Eigen::Vector2d step = kStep * theta[k] * Eigen::Vector2d::Unit(k);
      differences.col(k) =
          (attend_at(alpha, theta + step, psi) - attend_at(alpha, theta - step, psi)) / (2 * step[k]);
    }
    const std::vector<std::function<double(double)>> phi{[](double t) { return t; },
                                                         [](double t) { return t * t; }};
    std::vector<std::function<double(double)>> functions;
    for (index_t j = 0; j < psi.size(); ++j)
      functions.emplace_back([&psi, j](double t) { return evaluate(psi, t)[j]; });
    const Eigen::MatrixXd covariance = beta_covariance(p, 2 - alpha, phi, functions).transpose();
    checks.push_back(law(fmt::format("$\\alpha = {}$: Jacobian of $r$", name), "", "central differences",
                         largest(differences - jacobian, jacobian), 1e-7, "relative"));
    checks.push_back(law(fmt::format("$\\alpha = {}$: Jacobian of $r$", name),
                         fmt::format("a covariance of order $2 - \\alpha = {:.3g}$", 2 - alpha),
                         "that by quadrature", largest(covariance - jacobian, jacobian), 1e-9, "relative"));
  }
}

/// Differences of the finite map, atom by atom.
Eigen::MatrixXd finite_jacobian(double alpha, const std::vector<double>& scores) {
  const auto size = std::ssize(scores);
  const auto predicted = [&](std::vector<double> f, std::size_t k, double step) {
    f[k] += step;
    return attend(predict(Tsallis(alpha), VectorScore(f), Finite()), Eigen::MatrixXd::Identity(size, size));
  };
  Eigen::MatrixXd jacobian(size, size);
  for (std::size_t k = 0; k < scores.size(); ++k) {
    jacobian.col(static_cast<index_t>(k)) =
        (predicted(scores, k, kStep) - predicted(scores, k, -kStep)) / (2 * kStep);
  }
  return jacobian;
}

void add_finite(std::vector<Check>& checks) {
  const std::vector<double> scores{0.9, 0.2, 0.5, -0.6, 0.7};
  const auto size = std::ssize(scores);
  const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(size, size);
  const Eigen::VectorXd p = attend(predict(Tsallis(1), VectorScore(scores), Finite()), identity);
  const Eigen::VectorXd s =
      (attend(predict(Tsallis(2), VectorScore(scores), Finite()), identity).array() > 0).cast<double>();
  const Eigen::MatrixXd softmax = Eigen::MatrixXd(p.asDiagonal()) - p * p.transpose(),
                        sparsemax = Eigen::MatrixXd(s.asDiagonal()) - s * s.transpose() / s.sum();
  checks.push_back(law("Five atoms: Jacobian of softmax", "$\\text{Diag}(p) - p p^T$", "central differences",
                       (softmax - finite_jacobian(1, scores)).cwiseAbs().maxCoeff(), 1e-9));
  checks.push_back(law("\u2026 of sparsemax", "$\\text{Diag}(s) - s s^T/1^Ts$", "central differences",
                       (sparsemax - finite_jacobian(2, scores)).cwiseAbs().maxCoeff(), 1e-9));

  const Eigen::MatrixXd queries{{1, -0.5}, {0.3, 2}}, keys{{0.4, 0.1}, {-1, 0.7}, {0.2, 1.5}},
      values{{1, 2, 0}, {0, -1, 1}, {3, 0.5, -2}};
  Eigen::MatrixXd weights = (queries * keys.transpose() / std::sqrt(2.)).array().exp();
  weights.array().colwise() /= weights.rowwise().sum().array().eval();
  const KeyValueAttention attention = key_value_attention(Tsallis(1, std::sqrt(2.)), queries, keys, values);
  checks.push_back(law("Keys and queries: contexts", "$\\text{softmax}(Q K^T/\\sqrt{d})V$", "the formula",
                       (weights * values - attention.contexts).cwiseAbs().maxCoeff(), 1e-14));
}

}  // namespace

std::vector<Check> attention_checks() {
  std::vector<Check> checks;
  const auto psi = GaussianBasis::linearly_spaced(6, 0, 1, {0.1, 0.5});
  // r_j = N(mu; mu_j, sigma2 + sigma_j^2): a basis of wider functions, at mu.
  std::vector<double> wider;
  for (const double width : psi.sigma()) wider.push_back(std::sqrt(kSigma2 + width * width));
  const Eigen::VectorXd closed = evaluate(GaussianBasis({psi.mu().begin(), psi.mu().end()}, wider), kMu);
  checks.push_back(law("$\\alpha = 1$: $r_j$, Algorithm 1", "$N(\\mu ; \\mu_j, \\sigma^2 + \\sigma_j^2)$",
                       "the formula", largest(attend(BetaGaussian(1, kMu, kSigma2), psi) - closed, closed),
                       1e-13, "relative"));
  const Eigen::Matrix2d sigma{{0.02, 0.01}, {0.01, 0.03}}, own = 0.01 * Eigen::Matrix2d::Identity();
  const Eigen::Vector2d mu(0.4, 0.6);
  const auto square = MultivariateGaussianBasis::unit_square(3, 3, own);
  const Eigen::VectorXd closed_plane =
      evaluate(MultivariateGaussianBasis::unit_square(3, 3, sigma + own), mu);
  checks.push_back(
      law("The same in the plane", "$N(\\mu ; \\mu_j, \\Sigma + \\Sigma_j)$", "the formula",
          largest(attend(MultivariateBetaGaussian(1, mu, sigma), square) - closed_plane, closed_plane), 1e-11,
          "relative"));
  add_jacobians(checks, psi);
  add_finite(checks);
  return checks;
}

}  // namespace fenchel::report
