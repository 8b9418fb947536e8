#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include "fenchel/core/deformed.hpp"
#include "fenchel/core/quadrature.hpp"
#include "fenchel/distribution/integers/sparse_poisson.hpp"
#include "fenchel/distribution/line/location_scale.hpp"
#include "fenchel/distribution/line/truncated_gaussian.hpp"
#include "fenchel/domain/line.hpp"
#include "fenchel/predict/quadratic.hpp"
#include "fenchel/regularizer/tsallis.hpp"
#include "fenchel/score/location_scale_score.hpp"
#include "fenchel/score/quadratic_score.hpp"
#include "report/brute_force.hpp"
#include "report/errata/errata.hpp"

namespace fenchel::report {
namespace {

LocationScale cubic(double mu, double sigma) {
  return LocationScale(
      {[](double x) { return x * x * x / 6; }, [](double x) { return x * x / 2; }, mu, sigma});
}

std::string interval(double lower, double upper) {
  return fmt::format("[{}, {}]", number(lower), number(upper));
}

/// What the library says when it refuses, without the name of the function; empty when it does not.
template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const std::domain_error& error) {
    const std::string message = error.what();
    return "refuses <small>" + message.substr(message.find(": ") + 2) + "</small>";
  }
  return {};
}

Erratum support_of_location_scale() {
  const double mu = 1.3, sigma = 2;
  const LocationScale p = cubic(mu, sigma);
  const LinePrediction force(2, p.score(), mu, 20);
  const double lower = (mu - p.a()) / sigma, upper = (mu + p.a()) / sigma;
  const double printed = integrate([&](double t) { return force.pdf(t); }, lower, upper).value;
  return {1,
          "The support of a location-scale family",
          "Section 5, Location-scale families",
          "$[(-a + \\mu)/\\sigma, (a + \\mu)/\\sigma]$",
          "$[\\mu - a\\sigma, \\mu + a\\sigma]$",
          {example(fmt::format("The mass between the ends of the support, $g(t) = t^3/6$, $\\mu = 1.3$, "
                               "$\\sigma = 2$. Printed ends: {}",
                               interval(lower, upper)),
                   printed, cdf(p, support(p).upper()) - cdf(p, support(p).lower()),
                   force.expectation([](double) { return 1; }), "quadrature", 1e-10),
           example("The upper end of the support", upper, support(p).upper(), force.upper(),
                   "bisection of $\\tau$", 1e-9)}};
}

Erratum poisson() {
  const double lambda = 3.7;
  const SparsePoisson p(1, lambda);
  double total = 0, printed = 0, library = 0, force = 0, error = 0;
  std::vector<double> weight;
  for (int k = 0; k < 60; ++k) {
    weight.push_back(std::exp(k * std::log(lambda) - std::lgamma(k + 1)));
    total += weight.back();
  }
  for (int k = 0; k < 60; ++k) {
    const double probability = weight[static_cast<std::size_t>(k)] / total;
    printed += pmf(p, k) / std::tgamma(k + 1);
    library += pmf(p, k);
    force += probability;
    error = std::max(error, std::abs(pmf(p, k) - probability));
  }
  Erratum result{13,
                 "The Poisson distribution by the counting measure",
                 "Section 2.3, second example",
                 "$\\text{Pr}\\{t = k\\} = \\hat{p}(k)/k!$",
                 "$\\text{Pr}\\{t = k\\} = \\hat{p}(k)$, which has its $k!$ already",
                 {example("The sum of all probabilities, $\\lambda = 3.7$", printed, library, force,
                          "softmax of the scores of 0 to 59", 1e-12)}};
  result.examples[0].error = std::max(result.examples[0].error, error);
  return result;
}

Erratum inverse() {
  const double u = -3;
  const double exponential = std::pow(std::max(0.0, 1 + u / 2), 2), force = 2 * (std::sqrt(exponential) - 1);
  return {14,
          "$\\log_{\\beta}$ of $\\exp_{\\beta}$",
          "Section 4.1, after the definition of both",
          "$\\log_{\\beta}(\\exp_{\\beta}(u)) = u$ for any $\\beta$ and $u$",
          "only where $1 + (1 - \\beta)u \\gt 0$. Below, for $\\beta \\lt 1$, it is $-1/(1 - \\beta)$; for "
          "$\\beta \\gt 1$, $\\exp_{\\beta}$ has a pole at $1/(\\beta - 1)$",
          {example("$\\log_{1/2}(\\exp_{1/2}(-3))$", u, deformed_log(0.5, deformed_exp(0.5, u)), force,
                   "the definitions with a square root", 1e-14)}};
}

/// E_p[f] over |t| < reach for the Cauchy density and the score that it belongs to.
double truncated_mean_score(double reach) {
  const auto term = [](double t) { return -t * t / (1 + t * t); };  // f = -pi t^2, p = 1 / (pi (1 + t^2))
  return 2 * (integrate(term, 0, 1).value + integrate(term, 1, reach).value);
}

Erratum heavy_tails() {
  const double near = truncated_mean_score(100), far = truncated_mean_score(10000);
  const std::string message =
      refusal([] { static_cast<void>(predict(Tsallis(0.3), QuadraticScore(0, 1), Line())); });
  return {16,
          "Cauchy&rsquo;s distribution as a prediction",
          "Figures 1 (right) and 7 (left)",
          "$\\alpha = 0$ among the $\\beta$-Gaussians, which are defined as predictions",
          "A formal density: $\\Omega_0$ is not defined, and $E_p[f] = -\\infty$. A quadratic score on the "
          "line has a prediction for $\\alpha \\gt 1/3$ only",
          {{"$E_p[f]$ for $|t| \\lt 100$ and for $|t| \\lt 10000$, $\\sigma^2 = 1/(2\\pi)$; below $\\alpha = "
            "1/3$ the library refuses",
            "finite", message, fmt::format("{} and {}", number(near), number(far)), "quadrature",
            message.empty() ? 1 : std::abs((far - near) / 9900 + 2), 1e-3}}};
}

Erratum truncated_gaussian() {
  const auto phi = [](double t) { return std::exp(-t * t / 2) / std::sqrt(2 * std::numbers::pi); };
  const double mass = integrate([&](double t) { return phi(t) - phi(3); }, -3, 3).value;
  const std::string message = refusal([] { TruncatedGaussian(1, 0, 1); });
  const double z = TruncatedGaussian(1 / mass, 0, 1).z();
  return {17,
          "The scale of a truncated Gaussian",
          "Section 5, Truncated Gaussian, and Figure 5 (right)",
          "$\\kappa \\ge 1$",
          "$\\kappa \\gt 1$. At 1, $a = \\infty$ and $\\tau = 0$: a Gaussian, which is not sparse; below 1 "
          "there is no solution",
          {{"The mass of $[\\kappa N(t; 0, 1) - \\tau]_+$ at $\\kappa = 1$, cut off at $a = 3$",
            "1, for some $a$", message, number(mass), "quadrature; below 1 for every $a$",
            message.empty() ? 1 : std::abs(z - 3), 1e-12}},
          fmt::format("$a/\\sigma$ is {} at $\\kappa = 1/{}$, {} at $1 + 10^{{-3}}$, {} at $1 + 10^{{-6}}$, "
                      "{} at $1 + 10^{{-12}}$.",
                      number(z), number(mass), number(TruncatedGaussian(1 + 1e-3, 0, 1).z()),
                      number(TruncatedGaussian(1 + 1e-6, 0, 1).z()),
                      number(TruncatedGaussian(1 + 1e-12, 0, 1).z()))};
}

Erratum members() {
  const double s = 1.4;
  const LocationScale parabola = cubic(0, s);
  const LocationScale triangle({[](double x) { return x * x / 2; }, [](double x) { return x; }, 0, s});
  return {20,
          "Members of the location-scale family",
          "Section 5, Location-scale families, last sentence",
          "&ldquo;This example subsumes the truncated parabola $(g(t) = t^3/6)$, the triangular distribution "
          "$(g(t) = t^2/2)$&rdquo;; that $a$ exists is shown for strongly convex $g$",
          "after rescaling: $t^3/6$ gives $\\sigma^3$ for $\\sigma^2$, $t^2/2$ gives $b = \\sigma^2$. Strong "
          "convexity is not needed: $t^3/6$ does not have it, and $a$ exists",
          {example("Half the length of the support, $g = t^3/6$, $\\sigma = 1.4$; printed: the truncated "
                   "parabola&rsquo;s $(3\\sigma^2/2)^{1/3}$",
                   std::cbrt(1.5 * s * s), parabola.half_width(),
                   LinePrediction(2, parabola.score(), 0, 20).upper(), "bisection of $\\tau$", 1e-9),
           example("The same, $g = t^2/2$; printed: the triangular $\\sqrt{b}$ with $b = \\sigma$",
                   std::sqrt(s), triangle.half_width(), LinePrediction(2, triangle.score(), 0, 20).upper(),
                   "bisection of $\\tau$", 1e-9)}};
}

}  // namespace

std::vector<Erratum> errata_in_distributions() {
  return {support_of_location_scale(), poisson(), inverse(), heavy_tails(), truncated_gaussian(), members()};
}

}  // namespace fenchel::report
