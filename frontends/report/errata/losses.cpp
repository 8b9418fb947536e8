#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "fenchel/core/index.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/line/dirac.hpp"
#include "fenchel/domain/integers.hpp"
#include "fenchel/domain/line.hpp"
#include "fenchel/loss/integers.hpp"
#include "fenchel/loss/loss.hpp"
#include "fenchel/loss/metric.hpp"
#include "fenchel/loss/quadratic.hpp"
#include "fenchel/regularizer/tsallis.hpp"
#include "fenchel/score/poisson_score.hpp"
#include "fenchel/score/quadratic_score.hpp"
#include "report/brute_force.hpp"
#include "report/errata/errata.hpp"

namespace fenchel::report {
namespace {

Function quadratic(double mu, double sigma2) {
  return [mu, sigma2](double t) { return -(t - mu) * (t - mu) / (2 * sigma2); };
}

/// The second derivative in mu of the sparse Poisson's loss, from its derivatives in log mu.
double poisson_curvature(double mu, index_t y) {
  const Tsallis omega(2);
  const PoissonScore f(mu);
  const double first = fenchel_young(omega, f, Naturals(), y).gradient.log_mu;
  return (fenchel_young_hessian(omega, f, Naturals()) - first) / (mu * mu);
}

/// The loss itself, by its definition on 0 to 30.
double poisson_loss(double mu, std::size_t y) {
  std::vector<double> f;
  for (int t = 0; t <= 30; ++t) f.push_back(t * std::log(mu) - std::lgamma(t + 1));
  const FinitePrediction best = finite_prediction(2, f);
  double value = 0.5 - f[y];
  for (std::size_t t = 0; t < f.size(); ++t) value += best.p[t] * (f[t] - best.p[t] / 2);
  return value;
}

double share_not_convex(index_t y) {
  constexpr int kPoints = 3000;
  int count = 0;
  for (int i = 0; i < kPoints; ++i) count += poisson_curvature(0.2 + 29.8 * (i + 0.5) / kPoints, y) < 0;
  return 100.0 * count / kPoints;
}

Erratum poisson_convexity() {
  const double mu = std::exp(0.1);
  const double library = poisson_curvature(mu, 0);
  const double force = curvature([](double x) { return poisson_loss(x, 0); }, mu, 1e-3);
  return {
      2,
      "Where the loss of the sparse Poisson is convex",
      "Section 5, Sparse integer distributions",
      "&ldquo;Since the exponential is monotonically increasing, the loss is also convex in $\\mu$.&rdquo;",
      "convex in $\\log \\mu$, in $\\mu$ only quasi-convex",
      {{"$\\partial^2L/\\partial \\mu^2$ at $\\mu = e^{0.1}$, $y = 0$", "not negative", number(library),
        number(force), "second difference", library < 0 ? std::abs(library - force) : 1, 1e-5}},
      fmt::format("It is negative on {:.1f}% of $\\mu$ in [0.2, 30] for $y = 0$, {:.1f}% for $y = 3$, "
                  "{:.1f}% for $y = 8$.",
                  share_not_convex(0), share_not_convex(3), share_not_convex(8))};
}

/// R^2 of the paper on the line.
double radius2(double alpha) { return BetaGaussian(alpha, 0, 1).constants().radius2; }

Erratum observation() {
  const double alpha = 2, mu = 0.3, sigma2 = 1.96, y = 2;
  const double printed =
      (mu - y) * (mu - y) / (2 * sigma2) -
      radius2(alpha) / (2 * std::pow(sigma2, (alpha - 1) / (alpha + 1))) * (alpha - 1) / (3 * alpha - 1) +
      1 / (alpha * (alpha - 1));
  const Function f = quadratic(mu, sigma2);
  return {3,
          "The cross-$\\Omega$ loss of an observation",
          "Section 9.2, Experimental setup",
          "$(\\mu_f - y)^2/(2\\sigma_f^2) - R^2/(2\\sigma_f^{2(\\alpha -1)/(\\alpha +1)}) \\cdot "
          "\\bold{(\\alpha - 1)}/(3\\alpha - 1) + 1/(\\alpha (\\alpha - 1))$",
          "$(\\mu_f - y)^2/(2\\sigma_f^2) - R^2/(2\\sigma_f^{2(\\alpha -1)/(\\alpha +1)}) \\cdot "
          "\\bold{(\\alpha + 1)}/(3\\alpha - 1) + 1/(\\alpha (\\alpha - 1))$",
          {example("$L^{\\times}$, $\\alpha = 2$, $\\mu_f = 0.3$, $\\sigma_f = 1.4$, $y = 2$", printed,
                   cross_omega(Tsallis(alpha), QuadraticScore(mu, sigma2), Dirac{y}).value,
                   LinePrediction(alpha, f, mu, 20).conjugate() - f(y), "bisection of $\\tau$, quadrature",
                   1e-9)}};
}

Erratum univariate() {
  const double alpha = 1.5, mu = 0.3, sigma = 0.8, sigma2 = 1.96;
  const double printed =
      1 / (alpha * (alpha - 1)) + radius2(alpha) / (3 * alpha - 1) *
                                      ((alpha - 1) / 2 * std::pow(sigma, 2 / (1 + alpha)) / sigma2 -
                                       (alpha + 1) / 2 * std::pow(sigma2, (1 - alpha) / (1 + alpha)));
  const LinePrediction target(alpha, quadratic(mu, sigma * sigma), mu, 20);
  const Function f = quadratic(mu, sigma2);
  return {
      4,
      "The cross-$\\Omega$ loss of a univariate $\\beta$-Gaussian",
      "Appendix E.2, last line of the univariate case",
      "$\\ldots (\\alpha - 1)/2 \\cdot \\sigma^{\\bold{2}/(1+\\alpha)}/\\sigma_f^2 \\ldots$",
      "$\\ldots (\\alpha - 1)/2 \\cdot \\sigma^{\\bold{4}/(1+\\alpha)}/\\sigma_f^2 \\ldots$, as follows from "
      "the line before",
      {example("$L^{\\times}$, $\\alpha = 3/2$, $\\mu = \\mu_f = 0.3$, $\\sigma = 0.8$, $\\sigma_f = 1.4$",
               printed,
               cross_omega(Tsallis(alpha), QuadraticScore(mu, sigma2), BetaGaussian(alpha, mu, sigma * sigma))
                   .value,
               LinePrediction(alpha, f, mu, 20).conjugate() - target.expectation(f),
               "bisection of $\\tau$, quadrature", 1e-9)}};
}

Erratum wasserstein() {
  const double alpha = 1e6;
  const LinePrediction nearly_uniform(alpha, quadratic(0, 1), 0, 20);
  return {5,
          "The Wasserstein distance of uniform distributions",
          "Section 6.3, after the distance",
          "the coefficient goes to $1/(2 + N)$ as $\\alpha \\to \\infty$",
          "$R_{\\infty}^2/(2 + N)$, $R_{\\infty} = \\Gamma (N/2 + 1)^{1/N}/\\sqrt{\\pi}$, the radius of the "
          "ball of volume one",
          {example("The coefficient for $N = 1$, which is the variance for $\\sigma = 1$", 1.0 / 3,
                   BetaGaussian(kInfinity, 0, 1).constants().variance_factor,
                   nearly_uniform.expectation([](double t) { return t * t; }),
                   "quadrature at $\\alpha = 10^6$", 1e-5)}};
}

Erratum hessian() {
  const double alpha = 2;
  const BetaGaussian q(alpha, 0.3, 0.64);
  const QuadraticScore f(0.9, 1.3);
  const LinePrediction target(alpha, quadratic(0.3, 0.64), 0.3, 20);
  const double mean = target.expectation([](double t) { return t; }),
               square = target.expectation([](double t) { return t * t; });
  const auto loss = [&](double first) {
    const double second = -0.5 / 1.3;
    const LinePrediction p(
        alpha, [=](double t) { return first * t + second * t * t; }, -first / (2 * second), 20);
    return p.conjugate() + target.negentropy() - first * mean - second * square;
  };
  return {11,
          "The Hessian of a Fenchel-Young loss",
          "Section 4.2, Gradient and Hessian of Fenchel-Young losses",
          "$\\text{cov}_{\\bold{p}, 2-\\alpha}[\\phi, \\phi]$, $p$ the target",
          "$\\text{cov}_{\\bold{p_{\\theta}}, 2-\\alpha}[\\phi, \\phi]$, under the model",
          {example("$\\partial^2L/\\partial \\theta_1^2$, $\\alpha = 2$; model $\\mu = 0.9$, $\\sigma^2 = "
                   "1.3$; target $\\mu = 0.3$, $\\sigma^2 = 0.64$",
                   fenchel_young_hessian(Tsallis(alpha), score(q), Line())[0][0],
                   fenchel_young_hessian(Tsallis(alpha), f, Line())[0][0], curvature(loss, 0.9 / 1.3, 1e-2),
                   "second difference of the loss", 1e-5)}};
}

/// Half the width of a geodesic for alpha = 1 over its height, by Runge and Kutta's method from its top: mu''
/// = 2 mu' sigma' / sigma, sigma'' = (sigma'^2 - mu'^2 / 2) / sigma, the equations of the metric that the
/// paper prints, diag(sigma^-2, 2 sigma^-2).
double geodesic_shape() {
  struct State {
    double mu, sigma, d_mu, d_sigma;
  };
  const auto rate = [](const State& s) {
    return State{s.d_mu, s.d_sigma, 2 * s.d_mu * s.d_sigma / s.sigma,
                 (s.d_sigma * s.d_sigma - s.d_mu * s.d_mu / 2) / s.sigma};
  };
  const auto moved = [](const State& s, double h, const State& k) {
    return State{s.mu + h * k.mu, s.sigma + h * k.sigma, s.d_mu + h * k.d_mu, s.d_sigma + h * k.d_sigma};
  };
  State s{0, 1, 1, 0};
  for (const double h = 0.01; s.sigma > 1e-6;) {
    const State a = rate(s), b = rate(moved(s, h / 2, a)), c = rate(moved(s, h / 2, b)),
                d = rate(moved(s, h, c));
    s = moved(moved(moved(moved(s, h / 6, a), h / 3, b), h / 3, c), h / 6, d);
  }
  return s.mu;
}

Erratum geodesics() {
  return {18,
          "Geodesics of the Kullback-Leibler divergence",
          "Appendix E.2, Geometry, and Figure 13",
          "&ldquo;geodesics are half-circles&rdquo; in $[\\mu, \\sigma]$",
          "half-ellipses, $(\\mu - \\mu_0)^2/2 + \\sigma^2 = r^2$; circles in $[\\mu /\\sqrt{2}, \\sigma]$",
          {example("The height of the geodesic from &minus;0.5 to 0.5, $\\alpha = 1$", 0.5,
                   geodesic_of_diracs(FenchelYoungMetric(1), -0.5, 0.5).sigma_max(), 0.5 / geodesic_shape(),
                   "Runge and Kutta&rsquo;s method", 1e-7)},
          "Nor has every midpoint a &ldquo;larger standard deviation than each&rdquo; end: of equal means it "
          "has $\\sqrt{\\sigma_1\\sigma_2}$, see <a href=\"#geodesics\">the geodesics</a>."};
}

}  // namespace

std::vector<Erratum> errata_in_losses() {
  return {poisson_convexity(), observation(), univariate(), wasserstein(), hessian(), geodesics()};
}

}  // namespace fenchel::report
