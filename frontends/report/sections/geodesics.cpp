#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/loss/metric.hpp"
#include "fenchel/loss/quadratic.hpp"
#include "plot/chart.hpp"
#include "plot/geodesic.hpp"
#include "report/colours.hpp"
#include "report/compare.hpp"
#include "report/errata/printed_radius.hpp"
#include "report/sections/sections.hpp"

namespace fenchel::report {
namespace {

struct Member {
  const char* name;
  double alpha;
};

constexpr HalfPlanePoint kFrom{-1, 0.2}, kTo{1, 0.5};

/// The members on the way from one to the other.
plot::Chart members_between(const char* title, double alpha) {
  plot::Chart chart(title, {"t", plot::Range{-3, 3}}, {"density"});
  const Geodesic way = geodesic(FenchelYoungMetric(alpha), kFrom, kTo);
  for (const auto& [name, s] :
       {std::pair{"start", 0.}, {"1/4", 0.25}, {"middle", 0.5}, {"3/4", 0.75}, {"end", 1.}}) {
    const HalfPlanePoint at = way.at(s);
    const BetaGaussian p(alpha, at.mu, at.sigma * at.sigma);
    chart.curve(name, [&p](double t) { return pdf(p, t); });
  }
  return chart;
}

Figure figure() {
  plot::Chart observations("Between observations \u22120.5 and 0.5", {"\u03bc", plot::Range{-0.6, 0.6}},
                           {"\u03c3"}),
      members("From (\u22121, 0.2) to (1, 0.5)", {"\u03bc", plot::Range{-1.2, 1.2}},
              {"\u03c3", plot::Range{0, 2.2}});
  for (const auto& [name, alpha] :
       {Member{"\u03b1 = 1", 1}, Member{"4/3", 4. / 3}, Member{"3/2", 1.5}, Member{"2", 2}})
    observations.line(name, plot::trace(geodesic_of_diracs(FenchelYoungMetric(alpha), -0.5, 0.5)),
                      {.colour = colour_of(alpha)});
  observations.equal_units();
  constexpr int kSteps = 100;
  std::vector<plot::Point> circle;
  for (int i = 0; i <= kSteps; ++i) {
    const double angle = std::numbers::pi * i / kSteps;
    circle.push_back({-0.5 * std::cos(angle), 0.5 * std::sin(angle)});
  }
  observations.line("circle", circle, {.colour = plot::kMuted, .width = 1.5, .dashed = true});
  for (const auto& [name, alpha] :
       {Member{"\u03b1 = 0.6", 0.6}, Member{"1", 1}, Member{"4/3", 4. / 3}, Member{"2", 2}})
    members.line(name, plot::trace(geodesic(FenchelYoungMetric(alpha), kFrom, kTo)),
                 {.colour = colour_of(alpha)});
  members.markers("", {{kFrom.mu, kFrom.sigma}, {kTo.mu, kTo.sigma}}, plot::Marker::dot,
                  {.colour = plot::kInk, .width = 7});
  return {
      "geometry",
      "Shortest paths of the Fenchel-Young metric in the half-plane of $\\mu$ and $\\sigma$: between two "
      "observations, as in the paper, and between two members. Then, the densities along two of the latter.",
      {observations, members, members_between("On the way, \u03b1 = 1", 1),
       members_between("On the way, \u03b1 = 2", 2)}};
}

/// The loss of the member at a against a near one, over half the squared length between them.
double loss_over_length(double alpha, HalfPlanePoint a, double dmu, double dsigma) {
  const HalfPlanePoint b{a.mu + dmu, a.sigma + dsigma};
  const BetaGaussian q(alpha, b.mu, b.sigma * b.sigma);
  const auto metric = FenchelYoungMetric(alpha).tensor(a.sigma);
  const double length2 = metric[0] * dmu * dmu + metric[1] * dsigma * dsigma;
  return fenchel_young(Tsallis(alpha), QuadraticScore(a.mu, a.sigma * a.sigma), Line(), q).value /
         (length2 / 2);
}

/// The length of a path as the sum of many short chords.
double summed_length(const Geodesic& way) {
  constexpr int kChords = 2000;
  double sum = 0;
  HalfPlanePoint last = way.at(0);
  for (int i = 1; i <= kChords; ++i) {
    const HalfPlanePoint next = way.at(static_cast<double>(i) / kChords);
    const auto metric = way.metric().tensor((last.sigma + next.sigma) / 2);
    sum += std::sqrt(metric[0] * std::pow(next.mu - last.mu, 2) +
                     metric[1] * std::pow(next.sigma - last.sigma, 2));
    last = next;
  }
  return sum;
}

/// The paper's factor of the metric, with R of N = 1.
double printed_constant(double alpha) {
  return 4 * std::pow(printed_radius(1, alpha), 2) * (alpha - 1) / ((alpha + 1) * (3 * alpha - 1));
}

struct Errors {
  double loss = 0, length = 0, constant = 0, ellipse = 0, vertical = 0, middle = 0;
};

Errors errors() {
  Errors worst;
  const auto raise = [](double& to, double by) { to = std::max(to, std::abs(by)); };
  for (const double alpha : {0.6, 1.0, 4. / 3, 1.5, 2.0}) {
    const FenchelYoungMetric metric(alpha);
    const HalfPlanePoint at{0.3, 0.8};
    for (const auto& [dmu, dsigma] : {std::pair{1e-4, 0.}, {0., 1e-4}, {1e-4, -1e-4}})
      raise(worst.loss, loss_over_length(alpha, at, dmu, dsigma) - 1);
    const Geodesic way = geodesic(metric, kFrom, kTo);
    raise(worst.length, summed_length(way) / way.length() - 1);
    if (alpha > 1) raise(worst.constant, metric.constant() / printed_constant(alpha) - 1);
    const Geodesic up = geodesic(metric, {1, 0.2}, {1, 1.7});
    raise(worst.vertical, summed_length(up) / vertical_distance(metric, 0.2, 1.7) - 1);
    const HalfPlanePoint middle = geodesic(metric, {-1, 0.5}, {1, 0.5}).at(0.5);
    worst.middle = std::max(worst.middle, 0.5 / middle.sigma);
  }
  const Geodesic arc = geodesic_of_diracs(FenchelYoungMetric(1), -0.5, 0.5);
  for (const auto& [mu, sigma] : plot::trace(arc)) raise(worst.ellipse, mu * mu / 2 + sigma * sigma - 0.125);
  return worst;
}

/// sigma^2 of the midpoint of two Gaussians: in coordinates of the hyperboloid it is their sum, scaled.
double middle2(const HalfPlanePoint& a, const HalfPlanePoint& b) {
  return a.sigma * b.sigma * (1 + std::pow((a.mu - b.mu) / (a.sigma + b.sigma), 2) / 2);
}

std::vector<Check> checks() {
  const Errors e = errors();
  const double between = std::pow(geodesic(FenchelYoungMetric(1), kFrom, kTo).at(0.5).sigma, 2),
               above = geodesic(FenchelYoungMetric(1), {1, 0.2}, {1, 1.7}).at(0.5).sigma;
  const auto gaussian = FenchelYoungMetric(1).tensor(0.7);
  // The half-plane of Poincare in (mu / sqrt 2, sigma), with lengths times sqrt 2.
  const double apart = (kTo.mu - kFrom.mu) * (kTo.mu - kFrom.mu) / 2 + std::pow(kTo.sigma - kFrom.sigma, 2),
               hyperbolic = std::numbers::sqrt2 * std::acosh(1 + apart / (2 * kFrom.sigma * kTo.sigma));
  return {
      compare("Gaussian metric at $\\sigma = 0.7$: factor of $d\\mu^2$", "$1/\\sigma^2$", 1 / 0.49,
              gaussian[0], 1e-12),
      compare("&hellip; of $d\\sigma^2$", "$2/\\sigma^2$", 2 / 0.49, gaussian[1], 1e-12),
      law("Its factor for $\\alpha = 4/3$, 3/2, 2", "$4R^2(\\alpha - 1)/((\\alpha + 1)(3\\alpha - 1))$",
          "the formula", e.constant, 1e-12, "relative"),
      law("Loss of near members over half their squared distance, five $\\alpha$", "1 in the limit", "",
          e.loss, 1e-3),
      compare("$\\alpha = 1$: distance of $(-1, 0.2)$ and $(1, 0.5)$", "the hyperbolic distance", hyperbolic,
              distance(FenchelYoungMetric(1), kFrom, kTo), 1e-12),
      law("Length of five geodesics", "", "2000 chords each", e.length, 1e-5, "relative"),
      law("Vertical distance in closed form", "", "2000 chords", e.vertical, 1e-5, "relative"),
      {"Between two members of $\\sigma = 0.5$ the midpoint has a larger one: 0.5 over it, five $\\alpha$",
       "larger than each", "below 1", fmt::format("at most {:.3f}", e.middle), e.middle, 1},
      {"$\\alpha = 1$: $\\sigma^2$ of the midpoint of $(-1, 0.2)$ and $(1, 0.5)$", "larger than 0.25",
       fmt::format("{:.7f} by the formula above", middle2(kFrom, kTo)), fmt::format("{:.7f}", between),
       std::abs(between - middle2(kFrom, kTo)), 1e-12},
      {"&hellip; $\\sigma$ of that of (1, 0.2) and (1, 1.7)", "larger than 1.7", "$\\sqrt{0.34}$",
       fmt::format("{:.6f}", above), std::abs(above - std::sqrt(0.34)), 1e-12, "", true},
      {"$\\alpha = 1$: the path between observations; how far $\\mu^2/2 + \\sigma^2$ is from 1/8",
       "half-circle (<a href=\"#e18\">E18</a>)", "half-ellipse", "agrees", e.ellipse, 1e-12, "", true}};
}

}  // namespace

Section geodesics() {
  const double top = geodesic_of_diracs(FenchelYoungMetric(1), -0.5, 0.5).sigma_max(),
               top_two = geodesic_of_diracs(FenchelYoungMetric(2), -0.5, 0.5).sigma_max();
  const FenchelYoungMetric two(2);
  return {
      "geodesics",
      "Geometry of the Fenchel-Young loss",
      "Appendix E.2, Figure 13",
      {"Between near members of the family the loss is half a squared distance, and so gives the half-plane "
       "of $\\mu$ and $\\sigma$ a geometry. For $\\alpha = 1$ it is the hyperbolic one of the Gaussians, in "
       "which &ldquo;the midpoint between two 1-d Gaussians has larger standard deviation than each&rdquo;. "
       "For other $\\alpha$ only the power of $\\sigma$ and a factor change."},
      {fmt::format(
           "We computed the geodesics for every $\\alpha \\gt 1/3$. The larger $\\alpha$, the higher they "
           "rise: from one observation to another at distance 1, up to $\\sigma = {:.4f}$ for $\\alpha = 1$ "
           "and {:.4f} for $\\alpha = 2$. The curvature is $-1/2$ everywhere for $\\alpha = 1$, and for "
           "$\\alpha = 2$ it falls from &minus;{:.3f} at $\\sigma = 0.2$ to &minus;{:.3f} at $\\sigma = 2$.",
           top, top_two, -two.curvature(0.2), -two.curvature(2)),
       "The paper calls the curves of $\\alpha = 1$ half-circles. In $\\mu$ and $\\sigma$ they are "
       "half-ellipses, $\\mu^2/2 + \\sigma^2 = \\text{const}$ (<a href=\"#e18\">E18</a>); the dashed line is "
       "the circle. In $\\mu /\\sqrt{2}$ and $\\sigma$ they are circles.",
       "That the midpoint has a larger deviation than each end holds for ends of the same $\\sigma$, and as "
       "long as their means are far enough apart, but not always: for $\\alpha = 1$ its $\\sigma^2$ is "
       "$\\sigma_1\\sigma_2(1 + (\\mu_1 - \\mu_2)^2/(2(\\sigma_1 + \\sigma_2)^2))$, and for equal means that "
       "is $\\sigma_1\\sigma_2$, between the two."},
      {figure()},
      checks()};
}

}  // namespace fenchel::report
