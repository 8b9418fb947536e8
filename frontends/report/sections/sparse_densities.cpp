#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "fenchel/core/quadrature.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "report/colours.hpp"
#include "report/errata/printed_radius.hpp"
#include "report/sections/sections.hpp"

namespace fenchel::report {
namespace {

using std::numbers::pi;

double fejer(double t) { return t == 0 ? 1 / pi : std::pow(std::sin(t) / t, 2) / pi; }

// The mass between -count pi and count pi, lobe by lobe, and that of what lies beyond,
// (1 / pi) (1/T - 1/(2 T^3) + O(T^-5)) with T = count pi, by parts.
double fejer_mass(int count) {
  double mass = 0;
  for (int k = 0; k < count; ++k) mass += 2 * integrate(fejer, k * pi, (k + 1) * pi).value;
  const double end = count * pi;
  return mass + (1 / end - 1 / (2 * end * end * end)) / pi;
}

struct Member {
  double alpha;
  const char *text, *name;
};
constexpr Member kMembers[] = {{0.6, "0.6", "Student t"},
                               {1, "1", "Gaussian"},
                               {4. / 3, "4/3", "triweight"},
                               {1.5, "3/2", "biweight"},
                               {2, "2", "truncated parabola"}};

plot::Chart dense() {
  plot::Chart chart("Zeros, but not sparse", {"t", plot::Range{-13, 13}}, {"density", plot::Range{0, 0.35}});
  chart.area("sin\u00b2(t) / (\u03c0 t\u00b2)", fejer, {.colour = plot::kMuted});
  std::vector<plot::Point> zeros;
  for (int k = 1; k <= 4; ++k) {
    zeros.push_back({-k * pi, 0});
    zeros.push_back({k * pi, 0});
  }
  chart.markers("zeros: single points", zeros, plot::Marker::ring, {.colour = plot::kInk, .width = 7});
  return chart;
}

plot::Chart sparse() {
  plot::Chart chart("Sparse: nothing outside the support", {"t", plot::Range{-4, 4}},
                    {"density", plot::Range{0, 0.7}});
  const BetaGaussian widest(2, 0, 1);
  chart.shade("support, \u03b1 = 2", {support(widest).lower(), support(widest).upper()},
              {.colour = colour_of(2)});
  chart.curve("\u03b1 = 0, Cauchy", [](double t) { return 1 / (pi * (1 + t * t)); },
              {.colour = colour_of(0), .dashed = true});
  for (const Member& member : kMembers) {
    const BetaGaussian p(member.alpha, 0, 1);
    chart.curve(fmt::format("\u03b1 = {}, {}", member.text, member.name),
                [&p](double t) { return pdf(p, t); }, {.colour = colour_of(member.alpha)});
  }
  return chart;
}

}  // namespace

Section sparse_densities() {
  Section section{
      .id = "sparse-densities",
      .title = "Sparse and non-sparse densities",
      .place = "Section 1, Definition of a sparse density, Figure 1",
      .says = {"A density is <em>sparse</em> if the set where it is zero has positive measure. $\\sin^2(t) / "
               "(\\pi t^2)$ has countably many zeros and is not sparse; the $\\beta$-Gaussians with $\\alpha "
               "\\gt 1$ are."},
      .computed =
          {"Both figures, with the mass of every density, the length of its support and what it leaves "
           "beyond $\\pm 2$. All have $\\sigma^2 = 1$, which is the scale of the score and not the variance.",
           "The paper also draws $\\alpha = 0$, the Cauchy density (dashed, with $\\sigma^2 = 1/(2\\pi)$). "
           "It is no prediction: there $\\Omega$ is undefined and $E_p[f]$ is $-\\infty$ (<a "
           "href=\"#e16\">E16</a>). The library predicts quadratic scores from $\\alpha \\gt 1/3$ on; we "
           "draw 0.6 beside it."},
      .parts = {Figure{.name = "sparse_densities",
                       .caption = "<b>First:</b> zeros at the multiples of $\\pi$, a set of measure zero. "
                                  "<b>Second:</b> $\\beta$-Gaussians with $\\sigma^2 = 1$; from $\\alpha "
                                  "\\gt 1$ on they vanish outside an interval.",
                       .charts = {dense(), sparse()}}},
      .checks = {}};
  const double mass = fejer_mass(200);
  section.checks.push_back({"mass of $\\sin^2(t)/(\\pi t^2)$, by quadrature lobe by lobe", "a density", "1",
                            fmt::format("{:.12f}", mass), std::abs(mass - 1), 1e-11});
  Table table{.caption = "<b>$\\beta$-Gaussians with $\\sigma^2 = 1$.</b>",
              .header = {"$\\alpha$", "name", "support", "variance", "$P(|t| \\gt 2)$", "sparse"},
              .rows = {}};
  for (const Member& member : kMembers) {
    const BetaGaussian p(member.alpha, 0, 1);
    const bool bounded = member.alpha > 1;
    table.rows.push_back({member.text, member.name,
                          bounded ? fmt::format("&plusmn;{:.6f}", p.half_width()) : "the line",
                          fmt::format("{:.6f}", variance(p)), fmt::format("{:.3g}", 2 * survival(p, 2)),
                          bounded ? "yes" : "no"});
    const double total = 2 * integrate([&p](double t) { return pdf(p, t); }, 0, support(p).upper()).value;
    section.checks.push_back({fmt::format("mass at $\\alpha = {}$, by quadrature", member.text), "", "1",
                              fmt::format("{:.12f}", total), std::abs(total - 1), 1e-11});
    if (!bounded) continue;
    const double radius = printed_radius(1, member.alpha);
    section.checks.push_back({fmt::format("half width of the support at $\\alpha = {}$", member.text),
                              "its formula $R$", fmt::format("{:.12f}", radius),
                              fmt::format("{:.12f}", p.half_width()), std::abs(p.half_width() / radius - 1),
                              1e-13, "relative"});
  }
  section.parts.emplace_back(table);
  return section;
}

}  // namespace fenchel::report
