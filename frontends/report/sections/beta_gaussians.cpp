#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "fenchel/core/infinity.hpp"
#include "fenchel/core/quadrature.hpp"
#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"
#include "fenchel/distribution/euclidean/multivariate_geometry.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/wasserstein.hpp"
#include "plot/chart.hpp"
#include "plot/ellipse.hpp"
#include "report/colours.hpp"
#include "report/compare.hpp"
#include "report/errata/printed_radius.hpp"
#include "report/sections/sections.hpp"

namespace fenchel::report {
namespace {

/// The library asks for alpha > 0; the density is continuous there.
constexpr double kNearlyZero = 1e-12;

/// Sigma of the paper's figure.
Eigen::Matrix2d paper_scale() { return Eigen::Matrix2d{{0.6, 0.4}, {0.4, 0.48}}; }

struct Member {
  const char* name;
  double alpha;
};

Figure line_figure() {
  plot::Chart paper("Scale one, \u03b1 from 0 to 2", {"t", plot::Range{-4, 4}},
                    {"density", plot::Range{0, 0.7}}),
      equal("Variance one, \u03b1 from 0.6 to \u221e", {"t", plot::Range{-4, 4}},
            {"density", plot::Range{0, 0.6}});
  const Member by_scale[] = {{"\u03b1 = 0, Cauchy", kNearlyZero}, {"1/2", 0.5},           {"1, Gaussian", 1},
                             {"4/3, triweight", 4. / 3},          {"3/2, biweight", 1.5}, {"2, parabola", 2}};
  for (const auto& [name, alpha] : by_scale) {
    const BetaGaussian p(alpha, 0, alpha < 0.1 ? 1 / (2 * std::numbers::pi) : 1);
    paper.curve(name, [&p](double t) { return pdf(p, t); }, {.colour = colour_of(alpha)});
  }
  const Member by_variance[] = {{"\u03b1 = 0.6, Student", 0.6}, {"1, Gaussian", 1},
                                {"3/2, biweight", 1.5},         {"2, parabola", 2},
                                {"3, semicircle", 3},           {"\u221e, uniform", kInfinity}};
  for (const auto& [name, alpha] : by_variance) {
    const auto p = BetaGaussian::from_variance(alpha, 0, 1);
    equal.curve(name, [&p](double t) { return pdf(p, t); }, {.colour = colour_of(alpha)});
  }
  return {"beta_gaussian",
          "Beta-Gaussians on the line by $\\alpha$. First as in the paper, with $\\sigma^2 = 1$ and for "
          "$\\alpha = 0$ with $\\sigma^2 = 1/(2\\pi)$; then all with variance one.",
          {paper, equal}};
}

plot::Chart plane_chart(const Member& which) {
  const MultivariateBetaGaussian p(which.alpha, Eigen::VectorXd::Zero(2), paper_scale());
  constexpr plot::Range kRange{-2.6, 2.6};
  plot::Chart chart(which.name, {"t\u2081", kRange}, {"t\u2082", kRange});
  chart.equal_units();
  chart.size(440, 400);
  chart.heat([&p](double x, double y) { return pdf(p, Eigen::Vector2d(x, y)); },
             {.colour = colour_of(which.alpha)}, 40);
  chart.line("half", plot::outline(mahalanobis_contour(p, 0.5)), {.colour = plot::kInk, .width = 1.5});
  chart.line("90%", plot::outline(mahalanobis_contour(p, 0.9)),
             {.colour = plot::kInk, .width = 1.5, .dashed = true});
  if (which.alpha > 1) chart.line("support", plot::outline(support(p)), {.colour = colour_of(which.alpha)});
  return chart;
}

Figure plane_figure() {
  Figure figure{"beta_gaussian_plane",
                "Beta-Gaussians in the plane with the paper's $\\Sigma_{11} = 0.6$, $\\Sigma_{22} = 0.48$, "
                "$\\Sigma_{12} = 0.4$: the density, the ellipses that hold half and 90% of the mass, and the "
                "support. Where there is no tone at all the density is exactly 0.",
                {}};
  for (const Member& which : {Member{"\u03b1 = 0.8, Student", 0.8}, Member{"\u03b1 = 1, Gaussian", 1},
                              Member{"\u03b1 = 3/2", 1.5}, Member{"\u03b1 = 2, paraboloid", 2}})
    figure.charts.push_back(plane_chart(which));
  return figure;
}

template <class P, class F>
double largest_difference(const P& p, const F& f) {
  double worst = 0;
  for (int i = -300; i <= 300; ++i) worst = std::max(worst, std::abs(pdf(p, 0.01 * i) - f(0.01 * i)));
  return worst;
}

/// c [1 - t^2]_+^n, a kernel of density estimation.
auto kernel(double c, int n) {
  return [c, n](double t) { return c * std::pow(std::max(0., 1 - t * t), n); };
}

double quantile_distance(const BetaGaussian& p, const BetaGaussian& q) {
  const auto cost = [&](double u) {
    const double d = quantile(p, u) - quantile(q, u);
    return d * d;
  };
  return integrate(cost, 0, 1, 1e-10).value;
}

/// Between the density of t_1, by quadrature over t_2, and a marginal.
double marginal_difference(const MultivariateBetaGaussian& p, const MultivariateBetaGaussian& of_first) {
  const double radius = std::sqrt(support(p).radius2 * support(p).shape(0, 0));
  double worst = 0;
  for (int i = 0; i < 20; ++i) {
    const double t = radius * i / 20, end = std::sqrt(radius * radius - t * t);
    const auto over = [&p, t](double u) { return pdf(p, Eigen::Vector2d(t, u)); };
    const double mass = 2 * integrate(over, 0, end).value;
    worst = std::max(worst, std::abs(mass - pdf(of_first, Eigen::VectorXd::Constant(1, t))));
  }
  return worst;
}

struct Errors {
  double mass = 0, variance = 0, formula = 0, radius = 0, plane = 0;
};

Errors errors() {
  Errors worst;
  for (const double alpha : {0.6, 1.0, 4. / 3, 1.5, 2.0, 3.0}) {
    const BetaGaussian p(alpha, 0, 0.64);
    const double end = support(p).upper();
    const auto power = [&p, end](int n) {
      return 2 * integrate([&p, n](double t) { return std::pow(t, n) * pdf(p, t); }, 0, end, 1e-11).value;
    };
    worst.mass = std::max(worst.mass, std::abs(power(0) - 1));
    worst.variance = std::max(worst.variance, std::abs(power(2) / variance(p) - 1));
    const double factor = 1 / alpha - (alpha - 1) * tsallis_entropy(p, alpha);
    worst.formula = std::max(worst.formula, std::abs(variance(p) / (factor * 0.64) - 1));
    const MultivariateBetaGaussian q(alpha, Eigen::VectorXd::Zero(2), paper_scale());
    const double in_plane = 1 / alpha - (alpha - 1) * tsallis_entropy(q, alpha);
    worst.plane = std::max(worst.plane, (covariance(q) - in_plane * paper_scale()).cwiseAbs().maxCoeff());
    for (index_t n = 1; n <= 5 && alpha > 1; ++n) {
      const MultivariateBetaGaussian standard(alpha, Eigen::VectorXd::Zero(n),
                                              Eigen::MatrixXd::Identity(n, n));
      const double radius = std::sqrt(support(standard).radius2 * support(standard).shape(0, 0));
      worst.radius =
          std::max(worst.radius, std::abs(radius / printed_radius(static_cast<double>(n), alpha) - 1));
    }
  }
  return worst;
}

std::vector<Check> checks() {
  const Errors e = errors();
  const auto cauchy = [](double t) { return 1 / (std::numbers::pi * (1 + t * t)); };
  const auto student = [](double t) { return 0.375 * std::pow(1 + t * t / 4, -2.5); };
  const auto gaussian = [](double t) { return std::exp(-t * t / 2) / std::sqrt(2 * std::numbers::pi); };
  const double kernels =
      std::max({largest_difference(BetaGaussian::from_half_width(4. / 3, 0, 1), kernel(35. / 32, 3)),
                largest_difference(BetaGaussian::from_half_width(1.5, 0, 1), kernel(15. / 16, 2)),
                largest_difference(BetaGaussian::truncated_parabola(0, 2. / 3), kernel(3. / 4, 1))});
  const MultivariateBetaGaussian paraboloid(2, Eigen::VectorXd::Zero(2), Eigen::Matrix2d::Identity());
  const std::array<index_t, 1> first{0};
  const BetaGaussian p(2, 0.3, 0.64), q(2, 1, 3.61);
  return {
      law("$\\alpha = 4/3$, $3/2$ and, with $\\sigma^2 = 2/3$, 2", "triweight, biweight, Epanechnikov kernel",
          "their formulas", kernels, 1e-12),
      law("$\\alpha = 3/5$", "Student's t with 4 degrees of freedom", "its formula",
          largest_difference(BetaGaussian::student(4, 0, 1), student), 1e-12),
      law("$\\alpha \\to 0$, $\\sigma^2 = 1/(2\\pi)$", "the Cauchy density", "its formula",
          largest_difference(BetaGaussian(kNearlyZero, 0, 1 / (2 * std::numbers::pi)), cauchy), 1e-10),
      law("$\\alpha \\to 1$; at $1 + 10^{-9}$", "the Gaussian", "its formula",
          largest_difference(BetaGaussian(1 + 1e-9, 0, 1), gaussian), 1e-8),
      law("Mass, for six $\\alpha$ from 0.6 to 3", "", "1 by quadrature", e.mass, 1e-10),
      law("&hellip; variance", "a closed form", "quadrature", e.variance, 1e-10, "relative"),
      law("&hellip; variance from the entropy", "$(1/\\alpha + (\\alpha - 1) \\Omega_{\\alpha}) \\sigma^2$",
          "the formula", e.formula, 1e-12, "relative"),
      law("&hellip; the same in the plane", "$(1/\\alpha + (\\alpha - 1) \\Omega_{\\alpha}) \\Sigma$",
          "the formula", e.plane, 1e-12),
      law("Radius $R$ of the support, in 1 to 5 dimensions, for four $\\alpha \\gt 1$", "its formula",
          "the formula", e.radius, 1e-12, "relative"),
      {"Marginal of a truncated paraboloid in the plane", "no product of parabolas", "quadrature",
       fmt::format("$\\alpha = {:.5f}$", marginal(paraboloid, first).alpha()),
       marginal_difference(paraboloid, marginal(paraboloid, first)), 1e-10},
      law("Squared Wasserstein distance of two parabolas", "a closed form", "an integral over quantiles",
          std::abs(wasserstein2_squared(p, q) / quantile_distance(p, q) - 1), 1e-8, "relative")};
}

}  // namespace

Section beta_gaussians() {
  const double uniform = variance(BetaGaussian(kInfinity, 0, 1));
  return {"beta-gaussians",
          "Beta-Gaussians",
          "Section 6, Figure 7",
          {"The prediction for a quadratic score under the Tsallis entropy of index $\\alpha$ is a "
           "beta-Gaussian, $\\beta = 2 - \\alpha$. It is elliptical: a direction on the sphere times a "
           "radius. Its members are Student's t ($\\alpha \\lt 1$), the Gaussian (1), and for $\\alpha \\gt "
           "1$ densities with an ellipsoid as support, among them the kernels of density estimation.",
           "Mean, variance and entropy have closed forms, tied by $\\Var = (1/\\alpha + (\\alpha - 1) "
           "\\Omega_{\\alpha}) \\Sigma$. So have Fenchel-Young losses and Wasserstein distances."},
          {"We computed all members with one formula that goes smoothly through $\\alpha = 1$. $\\sigma^2$ "
           "is the scale of the score and the variance at $\\alpha = 1$ only, which is why the curves of the "
           "first chart are so unlike in width.",
           fmt::format(
               "The Cauchy density is the limit of the formula, but not a prediction: at $\\alpha = 0$ there "
               "is no $\\Omega_0$, and the expected score is $-\\infty$ (<a href=\"#e16\">E16</a>). A "
               "variance exists for $\\alpha \\gt 1/3$ on the line and $\\alpha \\gt 1/2$ in the plane. For "
               "$\\alpha \\to \\infty$ the coefficient of the Wasserstein distance on the line is {:.6f}, "
               "1/12, and not the printed $1/(N + 2) = 1/3$ (<a href=\"#e5\">E5</a>).",
               uniform)},
          {line_figure(), plane_figure()},
          checks()};
}

}  // namespace fenchel::report
