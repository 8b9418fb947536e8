/// Prints results of the library for parity_test.py, which computes them again in Python: on each line a name
/// and numbers in hexadecimal, so that not a bit is lost.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "fenchel/attention/attend.hpp"
#include "fenchel/attention/gaussian_basis.hpp"
#include "fenchel/backend/cpu/beta_gaussian.hpp"
#include "fenchel/backend/cpu/entmax.hpp"
#include "fenchel/backend/cpu/entmax_derivatives.hpp"
#include "fenchel/backend/cpu/entmax_loss.hpp"
#include "fenchel/backend/cpu/fusedmax.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"
#include "fenchel/distribution/integers/sparse_integer_gaussian.hpp"
#include "fenchel/distribution/integers/sparse_poisson.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/line/beta_laplace.hpp"
#include "fenchel/distribution/line/capped_parabola.hpp"
#include "fenchel/distribution/line/smooth_triangular.hpp"
#include "fenchel/distribution/line/truncated_gaussian.hpp"
#include "fenchel/distribution/wasserstein.hpp"
#include "fenchel/estimate/fit/beta_gaussian.hpp"
#include "fenchel/loss/quadratic.hpp"

namespace {

using namespace fenchel;

template <class Range>
void print(const char* name, double parameter, const Range& values) {
  std::printf("%s %a", name, parameter);
  for (const auto value : values) std::printf(" %a", static_cast<double>(value));
  std::printf("\n");
}

constexpr index_t kRows = 5, kCols = 33;
constexpr std::array<double, 9> kAlphas = {
    0.8, 1, 1 + std::numeric_limits<double>::epsilon(), 1 + 1e-8, 4.0 / 3, 1.5, 2, 5, 1e6};

template <class Real>
void print_maps(const std::vector<double>& scores, const char* map, const char* vjp, const char* loss,
                const char* fused) {
  const std::vector<Real> z(scores.begin(), scores.end());
  std::vector<Real> p(z.size()), gradient(z.size()), losses(kRows);
  const Rows<const Real> rows(z.data(), kRows, kCols);
  const std::vector<index_t> classes{0, 32, 7, 7, 15};
  for (const double alpha : kAlphas) {
    cpu::entmax<Real>(rows, alpha, {p.data(), kRows, kCols});
    print(map, alpha, p);
    cpu::entmax_vjp<Real>({p.data(), kRows, kCols}, alpha, rows, {gradient.data(), kRows, kCols});
    print(vjp, alpha, gradient);
    cpu::entmax_loss<Real>(rows, alpha, cpu::ClassTargets{classes}, {.loss = losses});
    print(loss, alpha, losses);
  }
  for (const double gamma : {0.0, 0.1, 1.0}) {
    cpu::fusedmax<Real>(rows, gamma, {p.data(), kRows, kCols});
    print(fused, gamma, p);
  }
}

/// At each point or level, and for beta-Gaussians, which have them, by the kernels for arrays.
template <class P>
std::array<std::vector<double>, 3> on_arrays(const P& p, std::span<const double> points,
                                             std::span<const double> levels) {
  std::array<std::vector<double>, 3> values;
  for (const double t : points) {
    values[0].push_back(pdf(p, t));
    values[1].push_back(log_pdf(p, t));
  }
  for (const double u : levels) values[2].push_back(quantile(p, u));
  return values;
}
std::array<std::vector<double>, 3> on_arrays(const BetaGaussian& p, std::span<const double> points,
                                             std::span<const double> levels) {
  const double mu = p.mu(), sigma = std::sqrt(p.sigma2()), whitening = 1 / sigma;
  const cpu::BetaGaussianParams params{p.constants(), {&mu, 1}, {&whitening, 1, 1}, {&sigma, 1, 1}};
  std::array<std::vector<double>, 3> values{std::vector<double>(points.size()),
                                            std::vector<double>(points.size()),
                                            std::vector<double>(levels.size())};
  const Rows<const double> rows(points.data(), std::ssize(points), 1);
  cpu::pdf_rows(params, rows, values[0]);
  cpu::log_pdf_rows(params, rows, values[1]);
  cpu::quantile_rows(params, levels, values[2]);
  return values;
}

template <class P>
void print_line(const char* name, double parameter, const P& p, std::span<const double> points) {
  constexpr std::array levels{0.0, 1e-10, 0.3, 0.5, 1.0};
  const auto [densities, logarithms, quantiles] = on_arrays(p, points, levels);
  std::vector<double> values;
  for (std::size_t i = 0; i < points.size(); ++i)
    values.insert(values.end(), {densities[i], logarithms[i], cdf(p, points[i]), survival(p, points[i])});
  values.insert(values.end(), quantiles.begin(), quantiles.end());
  values.insert(values.end(), {mean(p), variance(p), entropy(p), tsallis_entropy(p, 2), kurtosis(p)});
  for (const double draw : sample(p, 20, 7)) values.push_back(draw);
  print(name, parameter, values);
}

template <class P>
void print_integers(const char* name, double parameter, const P& p) {
  std::vector<double> values;
  for (index_t t = -3; t < 12; ++t) values.insert(values.end(), {pmf(p, t), cdf(p, t), survival(p, t)});
  values.insert(values.end(), {mean(p), variance(p), entropy(p)});
  for (const index_t draw : sample(p, 20, 7)) values.push_back(static_cast<double>(draw));
  print(name, parameter, values);
}

}  // namespace

int main() {
  Philox rng(1, 0);
  std::vector<double> scores(kRows * kCols);
  for (double& z : scores) z = 6 * uniform01(rng) - 3;
  print("scores", 0, scores);
  print_maps<double>(scores, "entmax", "entmax_vjp", "entmax_loss", "fusedmax");
  print_maps<float>(scores, "entmax_float", "entmax_vjp_float", "entmax_loss_float", "fusedmax_float");

  const std::span<const double> points(scores.data(), kCols);
  for (const double alpha : kAlphas) {
    print_line("BetaGaussian", alpha, BetaGaussian(alpha, 0.25, 1.5), points);
    print_line("BetaLaplace", alpha, BetaLaplace(alpha, 0.25, 1.5), points);
  }
  print_line("TruncatedGaussian", 2, TruncatedGaussian(2, 0.25, 1.5), points);
  print_line("CappedParabola", 0.5, CappedParabola(0.5, 0.25, 1.5 * 1.5), points);
  print_line("SmoothTriangular", 0.5, SmoothTriangular(0.5, 0.25, 1.5), points);
  for (const double alpha : {1.0, 1.5, 2.0, 5.0}) {
    print_integers("SparsePoisson", alpha, SparsePoisson(alpha, 3.7));
    print_integers("SparseIntegerGaussian", alpha, SparseIntegerGaussian(alpha, 0.3, 4));
    const MultivariateBetaGaussian p(alpha, Eigen::Vector2d(0.5, -1), Eigen::Matrix2d{{2, 0.5}, {0.5, 1}});
    const MultivariateBetaGaussian q(alpha, Eigen::Vector2d(0, 0), Eigen::Matrix2d{{1, 0}, {0, 3}});
    std::vector<double> values{entropy(p), wasserstein2(p, q)};
    const Eigen::MatrixXd draws = sample(p, 10, 7), spread = covariance(p);  // a column is a draw
    values.insert(values.end(), draws.data(), draws.data() + draws.size());
    values.insert(values.end(), spread.data(), spread.data() + spread.size());
    print("MultivariateBetaGaussian", alpha, values);
    print("attend", alpha,
          attend(BetaGaussian(alpha, 0.3, 0.002), GaussianBasis::linearly_spaced(5, 0, 1, {0.15})));
  }
  const Fit<BetaGaussian> fitted = fit_beta_gaussian(2, LineMoments::of(scores));
  print("fit", 2,
        std::array{fitted.distribution.mu(), fitted.distribution.sigma2(), fitted.loss,
                   fitted.standard_errors()[0], fitted.standard_errors()[1]});
  const auto loss = fenchel_young(Tsallis(2), QuadraticScore(0, 1), Line(), BetaGaussian(2, 0.5, 2));
  print("fenchel_young", 2,
        std::array{loss.value, loss.gradient.mu, loss.gradient.sigma2, loss.gradient.alpha});
}
