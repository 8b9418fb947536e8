#include "fenchel/distribution/line/location_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "fenchel/core/quadrature.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/line/beta_laplace.hpp"
#include "fenchel/distribution/line/truncated_gaussian.hpp"
#include "plot/chart.hpp"
#include "report/compare.hpp"
#include "report/sections/sections.hpp"

namespace fenchel::report {
namespace {

struct Family {
  const char *name, *formula;
  std::function<double(double)> g, slope;
};

constexpr double kKappa = 2;

std::vector<Family> families_by_g() {
  return {
      {"t\u00b3/6, parabola", "$t^3/6$", [](double t) { return t * t * t / 6; },
       [](double t) { return t * t / 2; }},
      {"t\u00b2/2, triangular", "$t^2/2$", [](double t) { return t * t / 2; }, [](double t) { return t; }},
      {"cosh t", "cosh t", [](double t) { return std::cosh(t); }, [](double t) { return std::sinh(t); }},
      {"t\u2076", "$t^6$", [](double t) { return std::pow(t, 6); },
       [](double t) { return 6 * std::pow(t, 5); }},
      {"\u2212erf(t/\u221a2)", "$-\\erf (t/\\sqrt{2})$",
       [](double t) { return -kKappa / 2 * std::erf(t / std::numbers::sqrt2); },
       [](double t) { return -kKappa * std::exp(-t * t / 2) / std::sqrt(2 * std::numbers::pi); }}};
}

LocationScale member(const Family& family, double mu, double sigma) {
  return LocationScale(LocationScaleScore(family.g, family.slope, mu, sigma));
}

template <class P>
void add(plot::Chart& chart, const std::string& name, const P& p) {
  chart.curve(name, [&p](double t) { return pdf(p, t); });
}

plot::Chart density_chart(const char* title, double range) {
  return {title, {"t", plot::Range{-range, range}}, {"density"}};
}

Figure figure() {
  plot::Chart parabola = density_chart("Gaussian and truncated parabola", 4),
              triangular = density_chart("Laplace and triangular", 4),
              truncated = density_chart("Truncated Gaussians", 4),
              general = density_chart("Sparsemax families by g, scale one", 1.5);
  add(parabola, "\u03b1 = 1, Gaussian", BetaGaussian::gaussian(0, 1));
  add(parabola, "\u03b1 = 2, parabola", BetaGaussian::truncated_parabola(0, 1));
  add(triangular, "\u03b1 = 1, Laplace", BetaLaplace::laplace(0, 1));
  add(triangular, "\u03b1 = 2, triangular", BetaLaplace::triangular(0, 1));
  add(truncated, "\u03ba = 1, Gaussian", BetaGaussian::gaussian(0, 1));
  for (const double kappa : {1.5, 2.0, 5.0})
    add(truncated, fmt::format("\u03ba = {}", kappa), TruncatedGaussian(kappa, 0, 1));
  const std::vector<Family> all = families_by_g();
  for (std::size_t i = 0; i < 4; ++i) add(general, all[i].name, member(all[i], 0, 1));
  return {"location_scale",
          "Predictions for $f = -t^2/2$, $f = -|t|$, $f = \\kappa$ times the standard normal density, and $f "
          "= -g'(|t|)$ for four g.",
          {parabola, triangular, truncated, general}};
}

constexpr double kMu = 1.3, kSigma = 2;

/// The mass between two ends, by quadrature of the density, cut where g has a kink.
double mass(const LocationScale& p, double lower, double upper) {
  const auto f = [&p](double t) { return pdf(p, t); };
  const double middle = std::clamp(p.mu(), lower, upper);
  return integrate(f, lower, middle).value + integrate(f, middle, upper).value;
}

template <class P, class Q>
double largest_difference(const P& p, const Q& q) {
  double worst = 0;
  for (int i = -400; i <= 400; ++i)
    worst = std::max(worst, std::abs(pdf(p, kMu + 0.01 * i) - pdf(q, kMu + 0.01 * i)));
  return worst;
}

Table table() {
  Table out{fmt::format("Families with $\\mu = {}$ and $\\sigma = {}$; the last column is the mass on the "
                        "interval that the paper prints, which should be 1.",
                        kMu, kSigma),
            {"g", "a", "$\\tau$", "support", "mass there"},
            {}};
  for (const Family& family : families_by_g()) {
    const LocationScale p = member(family, kMu, kSigma);
    const Interval s = support(p);
    const double lower = (kMu - p.a()) / kSigma, upper = (kMu + p.a()) / kSigma;
    out.rows.push_back({family.formula, fmt::format("{:.4f}", p.a()), fmt::format("{:.4f}", p.threshold()),
                        fmt::format("{:.3f} to {:.3f}", s.lower(), s.upper()),
                        fmt::format("{:.4f}", cdf(p, upper) - cdf(p, lower))});
  }
  return out;
}

std::vector<Check> checks() {
  const auto parabola = BetaGaussian::truncated_parabola(kMu, kSigma * kSigma);
  const double tau = -0.5 * std::pow(3 / (2 * kSigma), 2. / 3);  // as printed
  const BetaLaplace triangular = BetaLaplace::triangular(kMu, kSigma);
  const TruncatedGaussian truncated(kKappa, kMu, kSigma * kSigma);
  const double z = truncated.half_width() / kSigma,
               left = 1 / kKappa + 2 * z / std::sqrt(2 * std::numbers::pi) * std::exp(-z * z / 2);
  double worst_mass = 0, worst_root = 0;
  const std::vector<Family> all = families_by_g();
  for (const Family& family : all) {
    const LocationScale p = member(family, kMu, kSigma);
    worst_mass = std::max(worst_mass, std::abs(mass(p, support(p).lower(), support(p).upper()) - 1));
    worst_root =
        std::max(worst_root, std::abs(p.a() * family.slope(p.a()) - family.g(p.a()) + family.g(0) - 0.5));
  }
  const double cube = kSigma * kSigma * kSigma, square = kSigma * kSigma;
  return {compare("Truncated parabola, $\\sigma = 2$: $\\tau$", "$-(3/(2\\sigma))^{2/3}/2$", tau,
                  parabola.constants().threshold, 1e-12),
          compare("&hellip; end of the support", "$\\mu + 3/(-4\\tau)$", kMu - 3 / (4 * tau),
                  support(parabola).upper(), 1e-12),
          compare("&hellip; $\\Omega_2$", "$-1/2 - 2\\tau /5$", -0.5 - 0.4 * tau,
                  -tsallis_entropy(parabola, 2), 1e-12),
          compare("Triangular, $b = 2$: end of the support", "$\\mu + \\sqrt{b}$", kMu + std::sqrt(kSigma),
                  support(triangular).upper(), 1e-12),
          compare("&hellip; density at $\\mu$", "$-\\tau = 1/\\sqrt{b}$", 1 / std::sqrt(kSigma),
                  pdf(triangular, kMu), 1e-12),
          compare("&hellip; $\\Omega_2$", "$-1/2 + 1/(3\\sqrt{b})$", -0.5 + 1 / (3 * std::sqrt(kSigma)),
                  -tsallis_entropy(triangular, 2), 1e-12),
          compare("Truncated Gaussian, $\\kappa = 2$: both sides of the equation for $a$",
                  "an equation for $a$", std::erf(z / std::numbers::sqrt2), left, 1e-12),
          law("$a g'(a) - g(a) + g(0)$ for five $g$", "1/2", "", worst_root, 1e-12),
          law("Mass on $\\mu \\pm a\\sigma$ for five $g$", "", "1", worst_mass, 1e-10),
          law("$g = t^3/6$ with scale $s$, at the closed form's $\\sigma^2 = s^3$", "the truncated parabola",
              "its closed form",
              largest_difference(member(all[0], kMu, kSigma), BetaGaussian::truncated_parabola(kMu, cube)),
              1e-12),
          law("$g = t^2/2$ with scale $s$, at the closed form's $b = s^2$", "the triangular density",
              "its closed form",
              largest_difference(member(all[1], kMu, kSigma), BetaLaplace::triangular(kMu, square)), 1e-12),
          law("$g = -\\erf (t/\\sqrt{2}) \\kappa /2$", "the truncated Gaussian", "its closed form",
              largest_difference(member(all[4], kMu, kSigma), truncated), 1e-10)};
}

}  // namespace

Section location_scale() {
  const std::vector<Family> all = families_by_g();
  const double wrong =
      largest_difference(member(all[0], kMu, kSigma), BetaGaussian::truncated_parabola(kMu, kSigma * kSigma));
  return {
      "location-scale",
      "Location-scale families",
      "Section 5, Figure 5",
      {"Sparsemax on the line subtracts a constant $\\tau$ from the score and cuts off what is negative. The "
       "score of the Gaussian becomes a truncated parabola, that of Laplace a triangle, and a Gaussian "
       "density as score becomes a truncated Gaussian.",
       "All are cases of $f(t) = -g'(|t - \\mu |/\\sigma)/\\sigma$ for a convex g: then $\\tau = "
       "-g'(a)/\\sigma$, where a $g'(a) - g(a) + g(0) = 1/2$."},
      {"We drew the paper's three panels and added a fourth for other g. Two things in print need mending "
       "(<a href=\"#e1\">E1</a>, <a href=\"#e20\">E20</a>).",
       fmt::format("The support is $\\mu \\pm a\\sigma$, not $[(-a + \\mu)/\\sigma, (a + \\mu)/\\sigma]$: "
                   "the table shows how much mass the printed interval holds. And the families are the "
                   "examples only after a change of scale: read with $\\sigma^2 = s^2$ in place of $s^3$, "
                   "the parabola's density is off by up to {:.3f}. Strong convexity of g is not needed; "
                   "$t^3/6$ does not have it. At $\\kappa = 1$ nothing is cut off: the paper's fourth "
                   "truncated Gaussian is the Gaussian itself (<a href=\"#e17\">E17</a>).",
                   wrong)},
      {figure(), table()},
      checks()};
}

}  // namespace fenchel::report
