#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/line/beta_laplace.hpp"
#include "fenchel/distribution/line/capped_parabola.hpp"
#include "fenchel/distribution/line/capped_triangular.hpp"
#include "fenchel/distribution/line/smooth_parabola.hpp"
#include "fenchel/distribution/line/smooth_triangular.hpp"
#include "report/compare.hpp"
#include "report/sections/sections.hpp"

namespace fenchel::report {
namespace {

constexpr double kGammas[] = {0, 0.05, 0.3, 1, 3};

/// The members of a family with scale one, from gamma = 0, where there is no penalty, on.
template <class P>
Figure by_gamma(const char* name, const char* title, const char* caption) {
  plot::Chart chart(title, {"t", {{-3, 3}}}, {"density", {{0, 1}}});
  for (const double gamma : kGammas) {
    const P p(gamma, 0, 1);
    chart.curve(fmt::format("\u03b3 = {}", gamma), [&](double t) { return pdf(p, t); });
  }
  return {name, caption, {chart}, 1};
}

template <class P>
std::vector<std::string> row(const char* name, const P& p, double plateau) {
  return {name,
          plateau > 0 ? fmt::format("{:.4f}", plateau) : "\u2013",
          fmt::format("{:.4f}", p.half_width()),
          fmt::format("\u2212{:.4f}", -p.threshold()),
          fmt::format("{:.4f}", pdf(p, 0)),
          fmt::format("{:.4f}", variance(p)),
          fmt::format("{:.4f}", entropy(p))};
}

/// The largest |p - q| on the line.
template <class P, class Q>
double largest_difference(const P& p, const Q& q) {
  double largest = 0;
  for (int i = 0; i <= 1000; ++i) {
    const double t = -3 + 6 * i / 1000.;
    largest = std::max(largest, std::abs(pdf(p, t) - pdf(q, t)));
  }
  return largest;
}

template <class P>
double mass_error(const P& p) {
  return expectation(p, [](double) { return 1.; }) - 1;
}

/// The largest |p - gamma p'' - f + tau| inside the support, off the kink of f at 0; p'' by differences of
/// the slope.
template <class P>
double equation_error(const P& p, double (*f)(double)) {
  constexpr double kStep = 1e-5;
  double largest = 0;
  for (int i = 1; i < 100; ++i) {
    const double t = p.half_width() * i / 100;
    const auto slope = [&](double x) { return p.shape().derivative(x); };
    const double curvature = (slope(t + kStep) - slope(t - kStep)) / (2 * kStep);
    largest = std::max(largest, std::abs(pdf(p, t) - p.gamma() * curvature - f(t) + p.threshold()));
  }
  return largest;
}

/// The printed mass I(b) of the smooth triangular density at sigma = 1, beta = gamma^{-1/2}, b for its B
/// (E9).
double printed_smooth_triangular_mass(double b, double beta) {
  const double x = b * beta, below = std::exp(x) + 1;
  return b * b + 2 * b * std::exp(-x) / beta - 4 * b * std::cosh(x) / (beta * below) - 2 / (beta * beta) +
         2 * std::exp(-x) / (beta * beta) + 4 * std::sinh(x) / (beta * beta * below);
}

std::vector<Check> checks() {
  constexpr double kGamma = 0.3, kSigma = 2, kExact = 1e-12;
  const CappedTriangular triangular(kGamma, 0, kSigma);
  const CappedParabola parabola(kGamma, 0, kSigma * kSigma);
  const SmoothTriangular smooth_triangular(1, 0, 1);
  const SmoothParabola standard(1, 0, 1);
  const double b = standard.half_width();
  const double third = 3 * kSigma * kSigma * (1 + 2 * kGamma) / 2;
  return {
      compare("Capped triangular, $\\sigma = 2$, $\\gamma = 0.3$: height", "$-a/\\sigma - \\tau$",
              std::sqrt((1 + 2 * kGamma) / kSigma) - std::sqrt(2 * kGamma / kSigma), pdf(triangular, 0),
              kExact),
      compare("\u2026 end of the support, $b$", "its formula", std::sqrt(kSigma * (1 + 2 * kGamma)),
              quantile(triangular, 1), kExact),
      compare("Capped parabola, $\\sigma = 2$, $\\gamma = 0.3$: height", "$-a^2/(2\\sigma^2) - \\tau$",
              (std::pow(1.5 * (1 + 2 * kGamma) / kSigma, 2. / 3) -
               std::pow(3 * kSigma * kSigma * kGamma, 2. / 3) / (kSigma * kSigma)) /
                  2,
              pdf(parabola, 0), kExact),
      compare("\u2026 end of the support, $b$", "its formula", std::cbrt(third), quantile(parabola, 1),
              kExact),
      {"Standard smooth parabola, $\\sigma = \\gamma = 1$: $b$", "1.98", "", fmt::format("{:.6f}", b),
       std::abs(b - 1.98), 0.005},
      compare("$2b(1 - b \\coth b + b^2/3)$ at that $b$",
              "$b^2$ for $b^2/3$, whose root is 0.90 (<a href=\"#e8\">E8</a>)", 1,
              2 * b * (1 - b / std::tanh(b) + b * b / 3), kExact),
      compare("Standard smooth triangular: mass $I(b)$ at our $b$", "$I(b) = 1$", 1,
              printed_smooth_triangular_mass(smooth_triangular.half_width(), 1), kExact),
      law("Smooth parabola: largest $|p - \\gamma p'' - f + \\tau |$ inside the support", "0", "",
          equation_error(standard, [](double t) { return -t * t / 2; }), 1e-8),
      law("\u2026 smooth triangular", "0", "", equation_error(smooth_triangular, [](double t) { return -t; }),
          1e-8),
      law("Both: slope a millionth before $b$", "0 at $b$", "",
          std::max(std::abs(standard.shape().derivative(b - 1e-6)),
                   std::abs(smooth_triangular.shape().derivative(smooth_triangular.half_width() - 1e-6))),
          1e-5),
      law("The four standard densities: mass", "", "1 by quadrature",
          std::max({std::abs(mass_error(CappedTriangular(1, 0, 1))),
                    std::abs(mass_error(CappedParabola(1, 0, 1))), std::abs(mass_error(smooth_triangular)),
                    std::abs(mass_error(standard))}),
          1e-9),
      law("$\\gamma = 0$: triangular density and truncated parabola", "sparsemax", "their closed forms",
          std::max({largest_difference(CappedTriangular(0, 0, 1), BetaLaplace::triangular(0, 1)),
                    largest_difference(SmoothTriangular(0, 0, 1), BetaLaplace::triangular(0, 1)),
                    largest_difference(CappedParabola(0, 0, 1), BetaGaussian(2, 0, 1)),
                    largest_difference(SmoothParabola(0, 0, 1), BetaGaussian(2, 0, 1))}),
          kExact),
  };
}

}  // namespace

Section capped_and_smooth() {
  Section section{"capped-and-smooth", "Capped and smooth densities", "Section 7, Figure 8", {}, {}, {}, {}};
  section.says = {
      "Sparsemax looks at the values of a density alone. To make neighbours alike, a penalty on the "
      "derivative is added: $\\gamma \\int |p'|$, the total variation, which is fusedmax for functions, or "
      "$(\\gamma /2) \\int p'^2$, the Sobolev penalty.",
      "For an even score that falls from 0, total variation caps it: $p = [\\min (f, f(a)) - \\tau]_+$ has a "
      "plateau on $[-a, a]$ and ends at $\\pm b$. The Sobolev penalty gives a density with $p = p' = 0$ at "
      "its ends, which solves $p - \\gamma p'' = f - \\tau$ between them."};
  section.computed = {
      "All four families in closed form, for five values of $\\gamma$ and a score of scale one. The larger "
      "$\\gamma$, the wider and lower the density; support stays bounded throughout. The capped ones keep "
      "their corners, the smooth ones have none."};
  section.parts = {
      by_gamma<CappedTriangular>("capped_triangular", "Capped triangular: f = \u2212|t|",
                                 "Total variation, absolute score: a triangle with its top cut off."),
      by_gamma<CappedParabola>("capped_parabola", "Capped parabola: f = \u2212t\u00b2/2",
                               "Total variation, quadratic score: a parabola with its top cut off."),
      by_gamma<SmoothTriangular>(
          "smooth_triangular", "Smooth triangular: f = \u2212|t|",
          "Sobolev penalty, absolute score: the corner at 0 and those at the ends are round."),
      by_gamma<SmoothParabola>("smooth_parabola", "Smooth parabola: f = \u2212t\u00b2/2",
                               "Sobolev penalty, quadratic score: it meets 0 without a corner."),
      Table{"The standard members: $\\sigma = 1$, $\\gamma = 1$.",
            {"density", "$a$", "$b$", "$\\tau$", "$p(0)$", "variance", "entropy"},
            {row("capped triangular", CappedTriangular(1, 0, 1), CappedTriangular(1, 0, 1).plateau()),
             row("capped parabola", CappedParabola(1, 0, 1), CappedParabola(1, 0, 1).plateau()),
             row("smooth triangular", SmoothTriangular(1, 0, 1), 0),
             row("smooth parabola", SmoothParabola(1, 0, 1), 0)}}};
  section.checks = checks();
  return section;
}

}  // namespace fenchel::report
