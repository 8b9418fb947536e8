#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "fenchel/core/infinity.hpp"
#include "fenchel/core/quadrature.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/line/shaped_density.hpp"
#include "fenchel/distribution/line/smooth_parabola.hpp"
#include "fenchel/distribution/line/smooth_triangular.hpp"
#include "fenchel/domain/finite.hpp"
#include "fenchel/predict/total_variation_finite.hpp"
#include "fenchel/regularizer/total_variation.hpp"
#include "fenchel/score/vector_score.hpp"
#include "report/brute_force.hpp"
#include "report/errata/errata.hpp"

namespace fenchel::report {
namespace {

/// The mass of the smooth parabola with sigma = gamma = 1 that ends at b, C and tau by the conditions there.
double parabola_mass(double b) {
  const double c = b / std::sinh(b), tau = c * std::cosh(b) - b * b / 2 - 1;
  return 2 * integrate([=](double t) { return c * std::cosh(t) - t * t / 2 - 1 - tau; }, 0, b).value;
}

Erratum parabola() {
  const auto printed = [](double b) { return 2 * b * (1 - b / std::tanh(b) + b * b) - 1; };
  return {
      8,
      "The equation of the standard smooth parabola",
      "Section 7.2, Smooth truncated parabola",
      "$2b(1 - b \\coth b + \\bold{b^2}) = 1$",
      "$2b(1 - b \\coth b + \\bold{b^2/3}) = 1$",
      {example("The root $b$, quoted as 1.98", root(printed, 0.1, 5), SmoothParabola(1, 0, 1).half_width(),
               root([](double b) { return parabola_mass(b) - 1; }, 0.1, 5),
               "the mass by quadrature, bisection", 1e-9)}};
}

/// I(b) as printed for sigma = gamma = 1, with what stands for e^{-B beta}.
double triangular_integral(double b, double tail) {
  const double e = std::exp(b) + 1;
  return b * b + 2 * b * tail - 4 * b * std::cosh(b) / e - 2 + 2 * std::exp(-b) + 4 * std::sinh(b) / e;
}

Erratum triangular() {
  const SmoothTriangular p(1, 0, 1);
  const double b = p.half_width(), c = 2 / (std::exp(b) + 1);
  const double tau = c * std::cosh(b) - b - std::exp(-b);
  const auto density = [=](double t) { return c * std::cosh(t) - t - std::exp(-t) - tau; };
  const double library = survival(p, -b) - survival(p, b);
  return {
      9,
      "The integral of the smooth triangular density",
      "Section 7.2, Smooth triangular",
      "$I(b)$ with a term $2b e^{-\\bold{B}\\beta}/(\\beta \\sigma)$; $C$ is not given",
      "$e^{-\\bold{b}\\beta}$; $C = 2/(\\beta \\sigma (e^{\\beta b} + 1))$. Then $I(b) = b^2/\\sigma - "
      "(2b/(\\beta \\sigma)) \\tanh (\\beta b/2)$",
      {example(fmt::format("The mass, $\\sigma = \\gamma = 1$, $b = {}$; printed: $B$ read as an end of the "
                           "line, as in Appendix F",
                           number(b)),
               triangular_integral(b, 0), library, 2 * integrate(density, 0, b).value,
               "quadrature with that $C$", 1e-10)},
      fmt::format("With $B = b$ the printed form is {}, the short one {}.",
                  number(triangular_integral(b, std::exp(-b))), number(b * b - 2 * b * std::tanh(b / 2)))};
}

Erratum negentropy() {
  const BetaGaussian p(2, 0, 1);
  const LinePrediction force(
      2, [](double t) { return -t * t / 2; }, 0, 20);
  const double square =
      integrate([&](double t) { return pdf(p, t) * pdf(p, t); }, support(p).lower(), support(p).upper())
          .value;
  return {10,
          "The constant of $\\Omega_2$",
          "Section 7, before 7.1",
          "$\\Omega_2(p) = \\bold{-1} + \\|p\\|^2/2$",
          "$\\bold{-1/2} + \\|p\\|^2/2$, as in Section 4.1. $\\Omega_{2,2}$ is printed without any constant; "
          "the library keeps the 1/2 everywhere",
          {example("$\\Omega_2$ of the truncated parabola, $\\sigma = 1$", -1 + square / 2,
                   -tsallis_entropy(p, 2), force.negentropy(), "quadrature", 1e-9)}};
}

/// The first coordinate of the minimizer of |p - f|^2 / 2 + gamma (sum |p_i - p_{i-1}|), by trying all points
/// of the simplex on a lattice; `first` is what the sum has for i = 1, times |p_1|.
double lattice_fusedmax(double first) {
  constexpr int kSteps = 1000;
  const double f[] = {0.6, 0.5, 0.2}, gamma = 0.1;
  double best = kInfinity, result = 0;
  for (int i = 0; i <= kSteps; ++i) {
    for (int j = 0; i + j <= kSteps; ++j) {
      const double p[] = {i / 1000.0, j / 1000.0, (kSteps - i - j) / 1000.0};
      double value = gamma * (first * p[0] + std::abs(p[1] - p[0]) + std::abs(p[2] - p[1]));
      for (int k = 0; k < 3; ++k) value += (p[k] - f[k]) * (p[k] - f[k]) / 2;
      if (value < best) {
        best = value;
        result = p[0];
      }
    }
  }
  return result;
}

Erratum discretized() {
  const auto p = predict(TotalVariation(0.1), VectorScore({0.6, 0.5, 0.2}), Finite());
  return {12,
          "Discretized total variation",
          "Section 7.1, Discretized ROF yields fusedmax",
          "$\\gamma \\sum_{\\bold{i=1}}^n |p_i - p_{i-1}|$",
          "from $i = 2$: there is no $p_0$. Also, a window that is too narrow changes the answer",
          {example("$p_1$ of fusedmax(0.6, 0.5, 0.2), $\\gamma = 0.1$; printed: $p_0 = 0$",
                   lattice_fusedmax(1), pmf(p, 0), lattice_fusedmax(0),
                   "all points of the simplex on a lattice of step 0.001", 1e-9)}};
}

}  // namespace

std::vector<Erratum> errata_in_fusedmax() { return {parabola(), triangular(), negentropy(), discretized()}; }

}  // namespace fenchel::report
