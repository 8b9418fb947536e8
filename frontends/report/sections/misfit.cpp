#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "fenchel/core/quadrature.hpp"
#include "fenchel/core/rows.hpp"
#include "fenchel/data/rows_source.hpp"
#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"
#include "fenchel/distribution/euclidean/multivariate_geometry.hpp"
#include "fenchel/estimate/fit/multivariate_beta_gaussian.hpp"
#include "plot/chart.hpp"
#include "plot/ellipse.hpp"
#include "report/colours.hpp"
#include "report/compare.hpp"
#include "report/sections/sections.hpp"

namespace fenchel::report {
namespace {

constexpr index_t kDraws = 300, kManyDraws = 4000;
constexpr std::uint64_t kSeed = 2022;
constexpr double kRange = 2.5;

struct Shape {
  const char* name;
  Eigen::Matrix2d covariance;
};
struct Member {
  const char* name;
  double alpha;
};
constexpr Member kMembers[] = {{"\u03b1 = 1, Gaussian", 1}, {"\u03b1 = 3/2", 1.5}, {"\u03b1 = 2", 2}};

std::vector<Shape> shapes() {
  return {{"isotropic", Eigen::Matrix2d{{0.5, 0}, {0, 0.5}}},
          {"anisotropic", Eigen::Matrix2d{{0.6, 0.4}, {0.4, 0.48}}}};
}

MultivariateBetaGaussian member(double alpha, const Eigen::Matrix2d& covariance) {
  return MultivariateBetaGaussian::from_covariance(alpha, Eigen::VectorXd::Zero(2), covariance);
}

Rows<const double> rows(const Eigen::MatrixXd& draws) { return {draws.data(), draws.cols(), draws.rows()}; }

Fit<MultivariateBetaGaussian> fit(double alpha, const Eigen::MatrixXd& draws) {
  return fit_multivariate_beta_gaussian(alpha, Moments::of(rows(draws)));
}

std::vector<plot::Point> points(const Eigen::MatrixXd& draws, index_t count) {
  std::vector<plot::Point> out;
  for (index_t k = 0; k < std::min(count, draws.cols()); ++k) out.push_back({draws(0, k), draws(1, k)});
  return out;
}

plot::Chart plane(const std::string& title, double width) {
  plot::Chart chart(title, {"t\u2081", plot::Range{-kRange, kRange}},
                    {"t\u2082", plot::Range{-kRange, kRange}});
  chart.equal_units();
  chart.size(width, width - 40);
  return chart;
}

plot::Chart refitted(const Member& which, const Shape& shape) {
  const auto p = member(which.alpha, shape.covariance);
  const Eigen::MatrixXd draws = sample(p, kDraws, kSeed);
  const auto q = fit(which.alpha, draws).distribution;
  const std::vector<double> levels{0.02, 0.08, 0.15};
  plot::Chart chart = plane(fmt::format("{}, {}", which.name, shape.name), 340);
  if (which.alpha > 1)
    chart.polygon("support", plot::outline(support(p)), {.colour = plot::kMuted, .width = 1});
  chart.markers("draws", points(draws, kDraws), plot::Marker::dot, {.colour = plot::kMuted, .width = 2.5});
  const auto density = [](const MultivariateBetaGaussian& of) {
    return [&of](double x, double y) { return pdf(of, Eigen::Vector2d(x, y)); };
  };
  chart.contours("density", density(p), levels, {.colour = colour_of(which.alpha), .width = 1.5});
  chart.contours("fit", density(q), levels, {.colour = plot::kInk, .width = 1.5, .dashed = true});
  return chart;
}

/// Draws of one alpha under the fit with the right and the one with the wrong alpha.
plot::Chart misfitted(const Member& truth, const Eigen::MatrixXd& draws) {
  const auto sparse = fit(2, draws).distribution, gaussian = fit(1, draws).distribution;
  plot::Chart chart = plane(fmt::format("Draws of {}", truth.name), 440);
  chart.markers("", points(draws, kDraws), plot::Marker::dot, {.colour = plot::kMuted, .width = 2.5});
  chart.line("\u03b1 = 2: half", plot::outline(mahalanobis_contour(sparse, 0.5)),
             {.colour = colour_of(2), .dashed = true});
  chart.line("\u03b1 = 2: support", plot::outline(support(sparse)), {.colour = colour_of(2)});
  chart.line("\u03b1 = 1: half", plot::outline(mahalanobis_contour(gaussian, 0.5)),
             {.colour = colour_of(1), .dashed = true});
  chart.line("\u03b1 = 1: 99%", plot::outline(mahalanobis_contour(gaussian, 0.99)), {.colour = colour_of(1)});
  return chart;
}

double share_outside(const Eigen::MatrixXd& draws) {
  const Ellipsoid ellipse = support(fit(2, draws).distribution);
  index_t outside = 0;
  for (index_t k = 0; k < draws.cols(); ++k) outside += contains(ellipse, draws.col(k)) ? 0 : 1;
  return static_cast<double>(outside) / static_cast<double>(draws.cols());
}

/// The mass that the Gaussian of the same covariance has outside the support of p.
double gaussian_share_outside(const MultivariateBetaGaussian& p) {
  const MultivariateBetaGaussian gaussian(1, p.mu(), covariance(p));
  return 1 - radial_cdf(gaussian, support(p).radius2 / p.constants().variance_factor);
}

/// int p, along the radius.
double mass(const MultivariateBetaGaussian& p) {
  const Eigen::Matrix2d factor = Eigen::Matrix2d(p.Sigma()).llt().matrixL();
  const double radius = std::sqrt(mahalanobis_contour(p, p.alpha() > 1 ? 1 : 1 - 1e-15).radius2);
  const auto ring = [&](double r) { return 2 * std::numbers::pi * r * pdf(p, r * factor.col(0)); };
  return factor(0, 0) * factor(1, 1) * integrate(ring, 0, radius).value;
}

/// Kolmogorov's distance between the radii of draws and their distribution, times the root of their number.
double radial_distance(const MultivariateBetaGaussian& p, const Eigen::MatrixXd& draws) {
  std::vector<double> u;
  for (index_t k = 0; k < draws.cols(); ++k) u.push_back(radial_cdf(p, -2 * score(p)(draws.col(k))));
  std::sort(u.begin(), u.end());
  const auto n = static_cast<double>(u.size());
  double worst = 0;
  for (std::size_t k = 0; k < u.size(); ++k) {
    const auto i = static_cast<double>(k);
    worst = std::max({worst, u[k] - i / n, (i + 1) / n - u[k]});
  }
  return std::sqrt(n) * worst;
}

struct Errors {
  double mass = 0, moments = 0, parameters = 0, radii = 0, alpha = 0;
};

Errors errors() {
  Errors worst;
  for (const Shape& shape : shapes()) {
    for (const auto& [name, alpha] : kMembers) {
      const auto p = member(alpha, shape.covariance);
      const Eigen::MatrixXd draws = sample(p, kManyDraws, kSeed);
      const auto q = fit(alpha, draws);
      const Moments moments = Moments::of(rows(draws));
      worst.mass = std::max(worst.mass, std::abs(mass(p) - 1));
      worst.moments = std::max({worst.moments, (mean(q.distribution) - moments.mean()).cwiseAbs().maxCoeff(),
                                (covariance(q.distribution) - moments.covariance()).cwiseAbs().maxCoeff()});
      Eigen::VectorXd truth(5);
      truth << 0, 0, p.Sigma()(0, 0), p.Sigma()(1, 0), p.Sigma()(1, 1);
      const auto scores = [](const Eigen::VectorXd& d, const auto& f) {
        return d.cwiseAbs().cwiseQuotient(f.standard_errors()).maxCoeff();
      };
      worst.parameters = std::max(worst.parameters, scores(q.parameters - truth, q));
      worst.radii = std::max(worst.radii, radial_distance(p, draws));
      const RowsSource source(rows(draws));
      const auto free = fit_multivariate_beta_gaussian(Data{source});
      worst.alpha = std::max(worst.alpha, std::abs(free.parameters[0] - alpha) / free.standard_errors()[0]);
    }
  }
  return worst;
}

std::vector<Check> checks() {
  const Errors e = errors();
  const auto p = member(2, shapes()[1].covariance);
  // The paper's tau of the truncated paraboloid, N = 2.
  const Eigen::Matrix2d factor = Eigen::Matrix2d(p.Sigma()).llt().matrixL();
  const double tau = -1 / std::sqrt(std::numbers::pi * factor(0, 0) * factor(1, 1));
  return {law("Mass of the six densities", "", "1 by quadrature", e.mass, 1e-12),
          law("A fit's mean and covariance", "those of its draws", "the draws' moments", e.moments, 1e-12),
          law("$\\mu$ and $\\Sigma$ found again from 4000 draws, largest of 30 differences", "", "the truth",
              e.parameters, 4, "standard errors"),
          law("$r^2/R^2$ of the draws", "$\\Beta (1, \\alpha /(\\alpha - 1))$; $\\chi^2$ for $\\alpha = 1$",
              "its distribution function", e.radii, 1.95, "Kolmogorov's $\\sqrt{n} D$"),
          law("$\\alpha$ estimated as well, from the draws' kurtosis", "", "the truth", e.alpha, 4,
              "standard errors"),
          compare("$\\tau$ of the truncated paraboloid, anisotropic", "its formula", tau,
                  p.constants().threshold, 1e-12)};
}

}  // namespace

Section misfit() {
  Figure fits{"multivariate_beta_gaussian",
              "Beta-Gaussians in the plane with 300 draws: contours of the density at 0.02, 0.08 and 0.15 "
              "(solid) and of the distribution fitted to the draws, at the same levels (dashed). Outside the "
              "filled ellipse the density is 0.",
              {},
              3};
  for (const Shape& shape : shapes())
    for (const Member& which : kMembers) fits.charts.push_back(refitted(which, shape));

  const Eigen::Matrix2d spread = shapes()[1].covariance;
  const Eigen::MatrixXd sparse = sample(member(2, spread), kManyDraws, kSeed),
                        dense = sample(member(1, spread), kManyDraws, kSeed);
  Figure wrong{"misfit",
               "The same draws fitted with $\\alpha = 2$ and with $\\alpha = 1$: the contour that holds half "
               "of the mass (dashed), and the support or the contour that holds 99% (solid).",
               {misfitted(kMembers[2], sparse), misfitted(kMembers[0], dense)}};

  return {
      "misfit",
      "Beta-Gaussians in the plane, fitted to their draws",
      "Sections 3.2 and 6.1, Figure 4",
      {"A Fenchel-Young loss of a linear family has its minimum where the statistics have the mean that they "
       "have in the data: for quadratic scores, where mean and covariance agree. So moment matching is right "
       "for every $\\alpha$, as maximum likelihood is for the Gaussian, and it also works where the "
       "likelihood is 0.",
       "An elliptical distribution is sampled by a direction on the circle and a radius; for $\\alpha \\gt "
       "1$ the squared radius is a Beta variable. The figure shows such draws, isotropic and anisotropic, "
       "and the densities fitted to them."},
      {fmt::format("We drew from six members, fitted each with its own $\\alpha$, and compared. Then we "
                   "fitted with the wrong $\\alpha$. Both fits have the same mean and covariance, and yet "
                   "they say different things: of 4000 Gaussian draws {:.1f}% lie where the fit with "
                   "$\\alpha = 2$ has density 0; of 4000 draws with $\\alpha = 2$, {:.2f}% do. A Gaussian "
                   "with the covariance of the latter has {:.1f}% of its mass outside their support.",
                   100 * share_outside(dense), 100 * share_outside(sparse),
                   100 * gaussian_share_outside(member(2, spread)))},
      {std::move(fits), std::move(wrong)},
      checks()};
}

}  // namespace fenchel::report
