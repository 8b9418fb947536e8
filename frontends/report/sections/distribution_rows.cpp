#include "report/sections/distribution_rows.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "fenchel/core/infinity.hpp"
#include "fenchel/core/quadrature.hpp"
#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"
#include "fenchel/distribution/integers/sparse_poisson.hpp"
#include "fenchel/predict/absolute.hpp"
#include "fenchel/predict/finite.hpp"
#include "fenchel/predict/quadratic.hpp"

namespace fenchel::report {
namespace {

using std::numbers::e;
using std::numbers::pi;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr const char *kQuadratic = "$-(t-\\mu)^2/(2\\sigma^2)$", *kAbsolute = "$-|t-\\mu |/b$",
                     *kPoisson = "$t \\log \\mu - \\log t!$",
                     *kMahalanobis = "$-\\frac{1}{2}\\|t-\\mu \\|^2_{\\Sigma^{-1}}$";

/// The integrand of Omega_alpha, for alpha 1 and 2.
double omega_term(double alpha, double p) { return p == 0 ? 0 : alpha == 1 ? p * std::log(p) : p * p / 2; }
double omega(double alpha, double integral) { return alpha == 1 ? integral : integral - 0.5; }

std::string interval(double centre, double half_width) {
  if (std::isinf(half_width)) return "$\\R$";
  return fmt::format("[{:.4f},&nbsp;{:.4f}]", centre - half_width, centre + half_width);
}

Integrals over_atoms(double alpha, const std::vector<double>& p, double first) {
  Integrals all{};
  double integral = 0, second = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double t = first + static_cast<double>(i);
    all.mass += p[i], all.mean += p[i] * t, second += p[i] * t * t, integral += omega_term(alpha, p[i]);
  }
  all.variance = second - all.mean * all.mean, all.omega = omega(alpha, integral);
  return all;
}

Integrals over_line(double alpha, const std::function<double(double)>& pdf, double centre,
                    double half_width) {
  const auto both = [&](const std::function<double(double)>& f) {
    return integrate([&](double x) { return f(centre + x) + f(centre - x); }, 0, half_width).value;
  };
  Integrals all{};
  all.mass = both(pdf);
  all.mean = both([&](double t) { return t * pdf(t); });
  all.variance = both([&](double t) { return (t - all.mean) * (t - all.mean) * pdf(t); });
  all.omega = omega(alpha, both([&](double t) { return omega_term(alpha, pdf(t)); }));
  return all;
}

/// In polar coordinates t = mu + r L (cos, sin), L L^T = Sigma; the density is even about mu.
Integrals over_plane(const MultivariateBetaGaussian& p, double radius) {
  constexpr int kAngles = 16;
  const Eigen::Matrix2d factor = p.Sigma().llt().matrixL();
  const auto polar = [&](const std::function<double(const Eigen::VectorXd&, double)>& f) {
    return integrate(
               [&](double r) {
                 double sum = 0;
                 for (int k = 0; k < kAngles; ++k) {
                   const double angle = 2 * pi * k / kAngles;
                   const Eigen::VectorXd t =
                       p.mu() + r * factor * Eigen::Vector2d(std::cos(angle), std::sin(angle));
                   sum += f(t, pdf(p, t));
                 }
                 return sum * r * 2 * pi / kAngles * factor(0, 0) * factor(1, 1);
               },
               0, radius)
        .value;
  };
  Integrals all{};
  all.mass = polar([](const Eigen::VectorXd&, double density) { return density; });
  all.mean = polar([](const Eigen::VectorXd& t, double density) { return t[0] * density; });
  all.variance =
      polar([&](const Eigen::VectorXd& t, double density) { return (t - p.mu()).squaredNorm() * density; });
  all.omega =
      omega(p.alpha(),
            polar([&](const Eigen::VectorXd&, double density) { return omega_term(p.alpha(), density); }));
  return all;
}

DistributionRow categorical(double alpha) {
  const std::vector<double> f{1, 0.8, 0.1, -2};
  const Tsallis tsallis(alpha);
  const auto density = predict_density(tsallis, VectorScore(f), Finite());
  const std::vector<double>& p = density.density;
  double exponentials = 0, scores = -1, atoms = 0, logs = 0, squares = -1;
  for (std::size_t i = 0; i < f.size(); ++i) {
    exponentials += std::exp(f[i]);
    if (p[i] == 0) continue;
    scores += f[i], atoms += 1, logs += p[i] * std::log(p[i]), squares += p[i] * p[i];
  }
  Integrals sums = over_atoms(alpha, p, 1);
  sums.mean = sums.variance = kNone;
  const double a = normalizer(tsallis, VectorScore(f), Finite());
  return {.name = alpha == 1 ? "Categorical (softmax)" : "Sparsemax",
          .domain = "[K]",
          .score = "$f_t$",
          .alpha = alpha,
          .parameters = "$f = (1, 0.8, 0.1, -2)$",
          .support = fmt::format("{} of {}", atoms, f.size()),
          .printed_normalizer = alpha == 1 ? std::log(exponentials) : scores / atoms,
          .normalizer = alpha == 1 ? a : density.top + density.threshold_offset,
          .mean = kNone,
          .variance = kNone,
          .printed_omega = alpha == 1 ? logs : squares / 2,
          .omega = -tsallis_entropy(predict(tsallis, VectorScore(f), Finite()), alpha),
          .integrals = sums};
}

DistributionRow poisson(double alpha) {
  constexpr double kMu = 3;
  const SparsePoisson p(alpha, kMu);
  const PoissonScore f(kMu);
  const IntegerRange range = alpha == 1 ? IntegerRange{0, 80} : support(p);
  std::vector<double> probabilities;
  double factorials = 0, squares = 0, scores = 0;
  for (index_t t = range.first; t <= range.last; ++t) {
    const double log_factorial = std::lgamma(static_cast<double>(t) + 1);
    factorials += std::exp(static_cast<double>(t) * std::log(kMu) - log_factorial) * log_factorial;
    scores += f(t);
    probabilities.push_back(pmf(p, t));
  }
  const double tau = (scores - 1) / static_cast<double>(range.size());
  for (index_t t = range.first; t <= range.last; ++t) squares += std::pow(std::max(f(t) - tau, 0.), 2);
  return {.name = alpha == 1 ? "Poisson" : "Sparse Poisson",
          .domain = "$\\N$",
          .score = kPoisson,
          .alpha = alpha,
          .parameters = "$\\mu = 3$",
          .support = alpha == 1 ? "$\\N$" : fmt::format("{{{}, &hellip;, {}}}", range.first, range.last),
          .printed_normalizer = alpha == 1 ? kMu : tau,
          .normalizer = alpha == 1 ? normalizer(p) : threshold(p),
          .mean = mean(p),
          .variance = variance(p),
          .printed_omega =
              alpha == 1 ? -kMu * (1 - std::log(kMu)) - std::exp(-kMu) * factorials : (squares - 1) / 2,
          .omega = -tsallis_entropy(p, alpha),
          .integrals = over_atoms(alpha, probabilities, static_cast<double>(range.first))};
}

DistributionRow gaussian(double alpha) {
  constexpr double kMu = 0.3, kSigma2 = 0.64;
  const QuadraticScore f(kMu, kSigma2);
  const BetaGaussian p = predict(Tsallis(alpha), f, Line());
  const double power = std::pow(3 / (2 * std::sqrt(kSigma2)), 2. / 3);
  return {.name = alpha == 1 ? "Gaussian" : "Truncated parabola",
          .domain = "$\\R$",
          .score = kQuadratic,
          .alpha = alpha,
          .parameters = "$\\mu = 0.3$, $\\sigma^2 = 0.64$",
          .support = interval(kMu, p.half_width()),
          .printed_normalizer = alpha == 1 ? std::log(2 * pi * kSigma2) / 2 : -power / 2,
          .normalizer = alpha == 1 ? p.constants().normalizer : p.constants().threshold,
          .mean = mean(p),
          .variance = variance(p),
          .printed_omega = alpha == 1 ? -std::log(2 * pi * e * kSigma2) / 2 : -0.5 + power / 5,
          .omega = -tsallis_entropy(p, alpha),
          .integrals = over_line(
              alpha, [&p](double t) { return pdf(p, t); }, kMu, p.half_width())};
}

DistributionRow laplace(double alpha) {
  constexpr double kMu = 0.3, kB = 1.7;
  const BetaLaplace p = predict(Tsallis(alpha), AbsoluteScore(kMu, kB), Line());
  return {.name = alpha == 1 ? "Laplace" : "Triangular",
          .domain = "$\\R$",
          .score = kAbsolute,
          .alpha = alpha,
          .parameters = "$\\mu = 0.3$, $b = 1.7$",
          .support = interval(kMu, p.half_width()),
          .printed_normalizer = alpha == 1 ? std::log(2 * kB) : -1 / std::sqrt(kB),
          .normalizer = alpha == 1 ? -p.log_peak() : -pdf(p, kMu),
          .mean = mean(p),
          .variance = variance(p),
          .printed_omega = alpha == 1 ? -std::log(2 * kB * e) : -0.5 + 1 / (3 * std::sqrt(kB)),
          .omega = -tsallis_entropy(p, alpha),
          .integrals = over_line(
              alpha, [&p](double t) { return pdf(p, t); }, kMu, p.half_width())};
}

DistributionRow plane(double alpha) {
  const Eigen::Vector2d mu(0.1, -0.2);
  const Eigen::Matrix2d scale{{0.6, 0.4}, {0.4, 0.48}};
  const MultivariateBetaGaussian p(alpha, mu, scale);
  const double root = 2 * pi * std::sqrt(scale(0, 0) * scale(1, 1) - scale(0, 1) * scale(1, 0)),
               power = std::sqrt(2 / root);
  const double radius = alpha == 1 ? kInfinity : std::sqrt(p.constants().radius2);
  return {.name = alpha == 1 ? "Multivariate Gaussian" : "Truncated paraboloid",
          .domain = "$\\R^N$",
          .score = kMahalanobis,
          .alpha = alpha,
          .parameters = "$\\mu = (0.1, -0.2)$, $\\Sigma = (0.6, 0.4; 0.4, 0.48)$",
          .support = alpha == 1 ? "$\\R^2$" : fmt::format("$\\|t-\\mu \\| \\lt {:.4f}$", radius),
          .printed_normalizer = alpha == 1 ? std::log(root) : -power,
          .normalizer = alpha == 1 ? p.constants().normalizer : p.constants().threshold,
          .mean = mean(p)[0],
          .variance = covariance(p).trace(),
          .printed_omega = alpha == 1 ? -std::log(root * e) : -0.5 + power / 3,
          .omega = -tsallis_entropy(p, alpha),
          .integrals = over_plane(p, radius)};
}

}  // namespace

std::vector<DistributionRow> distribution_rows() {
  return {categorical(1), categorical(2), poisson(1), poisson(2), gaussian(1),
          gaussian(2),    laplace(1),     laplace(2), plane(1),   plane(2)};
}

}  // namespace fenchel::report
