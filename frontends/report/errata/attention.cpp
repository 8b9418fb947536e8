#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "fenchel/attention/attend_derivatives.hpp"
#include "fenchel/attention/gaussian_basis.hpp"
#include "fenchel/core/quadrature.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "report/brute_force.hpp"
#include "report/errata/errata.hpp"

namespace fenchel::report {
namespace {

constexpr double kMu = 0.3, kSigma2 = 0.64, kMean = 0.9, kWidth = 0.4, kOtherMean = -0.2, kOtherWidth = 0.3;

double normal(double t, double mean, double width) {
  const double x = (t - mean) / width;
  return std::exp(-x * x / 2) / (width * std::sqrt(2 * std::numbers::pi));
}

/// E_p[psi_1] of the truncated parabola with these canonical parameters.
double attended(double first, double second) {
  const LinePrediction p(
      2, [=](double t) { return first * t + second * t * t; }, -first / (2 * second), 20);
  return p.expectation([](double t) { return normal(t, kMean, kWidth); });
}

/// Its derivatives in theta_1 and theta_2.
double by_first() {
  return slope([](double x) { return attended(x, -0.5 / kSigma2); }, kMu / kSigma2, 1e-3);
}
double by_second() {
  return slope([](double x) { return attended(kMu / kSigma2, x); }, -0.5 / kSigma2, 1e-3);
}

/// cov_{p, order}(t, psi) by its definition.
double covariance(double order, double mean, double width) {
  const BetaGaussian p(2, kMu, kSigma2);
  const auto integral = [&](const Function& g) {
    return integrate([&](double t) { return g(t) * std::pow(pdf(p, t), order); }, support(p).lower(),
                     support(p).upper())
        .value;
  };
  const auto psi = [=](double t) { return normal(t, mean, width); };
  return integral([&](double t) { return t * psi(t); }) -
         integral([](double t) { return t; }) * integral(psi) / integral([](double) { return 1; });
}

/// cov(t^2, psi) as its last line is printed.
double printed_square() {
  const double a = BetaGaussian(2, kMu, kSigma2).half_width();
  const double u = (kMu - kMean - a) / kWidth, v = (kMu - kMean + a) / kWidth;
  return (kMean * kMean - kMu * kMu + kWidth * kWidth - a * a / 3) *
             (std::erf(v / std::numbers::sqrt2) - std::erf(u / std::numbers::sqrt2)) -
         kWidth * (kMu + kMean + a) * normal(v, 0, 1) + kWidth * (kMu + kMean - a) * normal(u, 0, 1);
}

}  // namespace

std::vector<Erratum> errata_in_attention() {
  const auto jacobian = attend_jacobian(BetaGaussian(2, kMu, kSigma2),
                                        GaussianBasis({kMean, kOtherMean}, {kWidth, kOtherWidth}));
  const std::string setting = ", $\\alpha = 2$, $\\mu = 0.3$, $\\sigma^2 = 0.64$, $\\psi_1 = N(0.9, 0.4^2)$";
  return {{6,
           "The order of the covariance in the backward pass",
           "Appendix G.2 and G.4, Backward pass; also G.3",
           "$J = \\text{cov}_{p,\\bold{2}}(\\phi, \\psi)$, in G.3 $\\text{cov}_{p,\\alpha}$",
           "$\\text{cov}_{p,\\bold{0}}$, in general $\\text{cov}_{p,2-\\alpha}$; the integrals printed below "
           "it are right",
           {example("$\\partial \\rho_1/\\partial \\theta_1$" + setting, covariance(2, kMean, kWidth),
                    jacobian(0, 0), by_first(), "central difference", 1e-5)}},
          {7,
           "$\\text{cov}(t^2, \\psi_j)$ of sparsemax on the line",
           "Appendix G.2, Backward pass, last line",
           "$(\\mu_j^2 - \\mu^2 + \\sigma_j^2 - a^2/3)$$(\\erf \\ldots - \\erf \\ldots) \\ldots$",
           "$\\bold{\\frac{1}{2}}(\\mu_j^2 - \\mu^2 + \\sigma_j^2 - a^2/3)$$(\\erf \\ldots - \\erf \\ldots) "
           "\\ldots$",
           {example("$\\partial \\rho_1/\\partial \\theta_2$" + setting, printed_square(), jacobian(0, 1),
                    by_second(), "central difference", 1e-5)}},
          {19,
           "Rows and columns of the Jacobian",
           "Section 8.2, Jacobian expression",
           "$\\partial \\rho / \\partial \\theta = \\text{cov}_{p,2-\\alpha}(\\phi, \\psi)$, which is $M "
           "\\times N$",
           "its transpose: a row for each $\\psi$, a column for each $\\theta$",
           {example("Row 1, column 2: $\\partial \\rho_1/\\partial \\theta_2$" + setting +
                        ", $\\psi_2 = N(-0.2, 0.3^2)$; printed: $\\text{cov}_{p,0}(t, \\psi_2)$",
                    covariance(0, kOtherMean, kOtherWidth), jacobian(0, 1), by_second(), "central difference",
                    1e-5)}}};
}

}  // namespace fenchel::report
