#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/line/beta_laplace.hpp"
#include "fenchel/distribution/line/truncated_gaussian.hpp"
#include "fenchel/predict/function.hpp"
#include "fenchel/predict/quadratic.hpp"
#include "report/colours.hpp"
#include "report/sections/distribution_rows.hpp"
#include "report/sections/sections.hpp"

namespace fenchel::report {
namespace {

std::string number(double value) {
  if (std::isnan(value)) return "&ndash;";
  return (value < 0 ? "&minus;" : "") + fmt::format("{:.6f}", std::abs(value));
}

Table numbers(const std::vector<DistributionRow>& rows) {
  Table table{.caption =
                  "<b>The table of distributions, with numbers.</b> A is the normalizing function at "
                  "$\\alpha = 1$, $\\tau$ the threshold at $\\alpha = 2$. The variance in the plane is the "
                  "trace of the covariance matrix, the mean its first coordinate.",
              .header = {"name", "$S$", "$f(t)$", "$\\alpha$", "parameters", "support", "$A$ or $\\tau$",
                         "mean", "variance", "$\\Omega_{\\alpha}(p)$"},
              .rows = {}};
  for (const DistributionRow& row : rows) {
    table.rows.push_back(
        {row.name, row.domain, row.score, fmt::format("{}", row.alpha), row.parameters, row.support,
         fmt::format("{}&nbsp;=&nbsp;{}", row.alpha == 1 ? "$A$" : "$\\tau$", number(row.normalizer)),
         number(row.mean), number(row.variance), number(row.omega)});
  }
  return table;
}

Table linear() {
  return {.caption =
              "<b>Linear parametrizations</b> $f_{\\theta}(t) = \\theta^T\\phi (t)$, and where the library "
              "has them.",
          .header = {"distributions", "$S$", "$\\theta$", "$\\phi (t)$", "in the library"},
          .rows = {
              {"Categorical, sparsemax", "[K]", "$[f_1, \\ldots, f_K]$", "$e_t$", "<code>VectorScore</code>"},
              {"Poisson, sparse Poisson", "$\\N$", "$[\\log \\mu, 1]$", "$[t, \\log (1/t!)]$",
               "<code>PoissonScore</code>"},
              {"Gaussian, truncated parabola; sparse integer Gaussian", "$\\R$; $\\Z$",
               "$[\\mu /\\sigma^2, -1/(2\\sigma^2)]$", "$[t, t^2]$",
               "<code>QuadraticScore</code>, <code>canonical_parameters</code>"},
              {"Laplace, triangular", "$\\R$", "$[-1/b]$", "$[|t-\\mu |]$",
               "<code>AbsoluteScore</code>, <code>canonical_parameter</code>"},
              {"Multivariate Gaussian, truncated paraboloid", "$\\R^N$",
               "$[\\Sigma^{-1}\\mu, -\\frac{1}{2}\\text{vec}(\\Sigma^{-1})]$", "$[t, \\text{vec}(t t^T)]$",
               "<code>MultivariateQuadraticScore</code>"},
              {"any", "$\\R$", "any", "any functions", "<code>LinearScore</code>"}}};
}

Figure beta_laplace() {
  plot::Chart chart("The score \u2212|t|, from Laplace to nearly uniform", {"t", plot::Range{-4, 4}},
                    {"density", plot::Range{0, 1.25}});
  const std::vector<std::pair<const char*, double>> members{
      {"1, Laplace", 1}, {"3/2", 1.5}, {"2, triangular", 2}, {"5", 5}, {"50", 50}};
  for (const auto& [name, alpha] : members) {
    const BetaLaplace p(alpha, 0, 1);
    chart.curve(std::string("\u03b1 = ") + name, [&p](double t) { return pdf(p, t); },
                {.colour = colour_of(alpha)});
  }
  return {.name = "beta_laplace",
          .caption =
              "<b>$\\beta$-Laplace.</b> The score $-|t|$ between and beyond the two rows of the table: the "
              "closed form for every $\\alpha$ is the library's, not the paper's.",
          .charts = {chart}};
}

Figure truncated_gaussian() {
  plot::Chart chart("Sparsemax of a scaled Gaussian density", {"t", plot::Range{-3, 3}},
                    {"density", plot::Range{0, 1.25}});
  for (const double kappa : {1.05, 1.5, 2.0, 5.0, 9.0}) {
    const TruncatedGaussian p(kappa, 0, 1);
    chart.curve(fmt::format("\u03ba = {}", kappa), [&p](double t) { return pdf(p, t); });
  }
  return {.name = "truncated_gaussian",
          .caption =
              "<b>Truncated Gaussian.</b> $f(t) = \\kappa N(t; 0, 1)$ at $\\alpha = 2$: the density less a "
              "constant. $\\kappa$ must exceed 1, although the paper allows 1 (<a href=\"#e17\">E17</a>).",
          .charts = {chart}};
}

/// A score with several modes.
double waves(double t) { return 2 * std::cos(2 * t) + 0.3 * t - t * t / 8; }

Figure any_score() {
  const plot::Axis x{"t", plot::Range{-5, 8}};
  plot::Chart score("The score", x, {"f(t)", plot::Range{-10, 4}}),
      density("Four predictions", x, {"density", plot::Range{0, 1.1}});
  score.curve("", waves, {.colour = plot::kMuted});
  for (const double alpha : {1.0, 1.25, 1.5, 2.0}) {
    const auto p = predict(Tsallis(alpha), FunctionScore(waves), Line());
    const std::size_t pieces = support(p).size();
    density.curve(fmt::format("\u03b1 = {}, {} interval{}", alpha, pieces, pieces == 1 ? "" : "s"),
                  [&p](double t) { return pdf(p, t); }, {.colour = colour_of(alpha)});
  }
  return {.name = "any_score",
          .caption =
              "<b>Any score.</b> $f(t) = 2 \\cos 2t + 0.3t - t^2/8$ has no closed form: the library finds "
              "the normalizing function by quadrature. As $\\alpha$ grows modes vanish, and gaps of density "
              "exactly zero open between those that stay.",
          .charts = {score, density}};
}

void check_rows(const std::vector<DistributionRow>& rows, std::vector<Check>& checks) {
  const auto text = [](double value) {
    return (value < 0 ? "&minus;" : "") + fmt::format("{:.12f}", std::abs(value));
  };
  for (const DistributionRow& row : rows) {
    checks.push_back({row.name + (row.alpha == 1 ? ": $\\Omega_1$" : ": $\\Omega_2$"), "its formula",
                      text(row.printed_omega), text(row.omega), std::abs(row.printed_omega - row.omega),
                      1e-14});
    checks.push_back({row.name + (row.alpha == 1 ? ": $A$" : ": $\\tau$"), "its formula",
                      text(row.printed_normalizer), text(row.normalizer),
                      std::abs(row.printed_normalizer - row.normalizer), 1e-14});
    const Integrals& by = row.integrals;
    double worst = std::max(std::abs(by.mass - 1), std::abs(by.omega - row.omega));
    if (!std::isnan(row.mean)) {
      worst = std::max({worst, std::abs(by.mean - row.mean), std::abs(by.variance - row.variance)});
    }
    const bool sums = row.domain == "[K]" || row.domain == "$\\N$";
    checks.push_back(
        {row.name + (std::isnan(row.mean) ? ": mass and $\\Omega$" : ": mass, mean, variance and $\\Omega$"),
         "", sums ? "plain sums" : "quadrature", "agrees", worst, 1e-12});
  }
}

void check_truncated_gaussian(std::vector<Check>& checks) {
  const TruncatedGaussian p(2, 0, 1);
  const double a = p.half_width(), printed = 0.5 +
                                             2 * a / std::sqrt(2 * std::numbers::pi) * std::exp(-a * a / 2) -
                                             std::erf(a / std::sqrt(2.));
  checks.push_back({"Truncated Gaussian, $\\kappa = 2$: what the equation for $a$ leaves",
                    "an equation for $a$", "0", fmt::format("{:.2g}", printed), std::abs(printed), 1e-15});
  // docs/math.md's golden row 60.
  checks.push_back({"Truncated Gaussian, $\\kappa = 2$: variance", "", "0.40693947031 in multiprecision",
                    fmt::format("{:.11f}", variance(p)), std::abs(variance(p) - 0.40693947031039246), 1e-15});
}

void check_numeric(std::vector<Check>& checks) {
  const BetaGaussian closed(2, 0.3, 0.64);
  const auto numeric = predict(Tsallis(2), FunctionScore(score(closed)), Line());
  double worst = 0;
  for (int i = -20; i <= 20; ++i)
    worst = std::max(worst, std::abs(pdf(numeric, 0.1 * i) - pdf(closed, 0.1 * i)));
  checks.push_back({"truncated parabola by the solver for any score, at 41 points", "", "its closed form",
                    "agrees", worst, 1e-10});
}

void check_linear(std::vector<Check>& checks) {
  const std::array<double, 2> slope = normalizer_gradient(Tsallis(1), QuadraticScore(0.3, 0.64), Line());
  checks.push_back({"Gaussian: the gradient of $A$ in $\\theta$", "$E[t, t^2]$", "0.3, 0.73",
                    fmt::format("{:.12g}, {:.12g}", slope[0], slope[1]),
                    std::max(std::abs(slope[0] - 0.3), std::abs(slope[1] - 0.73)), 1e-14});
  const std::array<double, 2> theta = canonical_parameters(BetaGaussian(2, 0.3, 0.64));
  checks.push_back({"truncated parabola: $\\theta$", "$[\\mu /\\sigma^2, -1/(2\\sigma^2)]$",
                    "0.46875,&nbsp;&minus;0.78125", fmt::format("{:.12g},&nbsp;{:.12g}", theta[0], theta[1]),
                    std::max(std::abs(theta[0] - 0.46875), std::abs(theta[1] + 0.78125)), 1e-15});
  const BetaGaussian again = BetaGaussian::from_canonical(2, {0.46875, -0.78125});
  checks.push_back({"&hellip; and back to $\\mu$, $\\sigma^2$", "", "0.3, 0.64",
                    fmt::format("{:.12g}, {:.12g}", again.mu(), again.sigma2()),
                    std::max(std::abs(again.mu() - 0.3), std::abs(again.sigma2() - 0.64)), 1e-15});
}

}  // namespace

Section distributions() {
  const std::vector<DistributionRow> rows = distribution_rows();
  Section section{
      .id = "distributions",
      .title = "The table of distributions, with numbers",
      .place = "Section 2.3, Tables 1 and 2; Section 5",
      .says =
          {"For five scores, what Shannon's regularizer $(\\alpha = 1)$ and Gini's $(\\alpha = 2)$ predict, "
           "and the value of $\\Omega_{\\alpha}$ there in closed form. Most scores are linear in parameters "
           "$\\theta$: then $\\theta$ are the canonical parameters of an exponential or a sparse family."},
      .computed = {"Each row at one set of parameters: A or $\\tau$ and $\\Omega$ in the library's form "
                   "against the printed one, and mass, moments and $\\Omega$ of the library's density by "
                   "plain sums and quadrature, which know nothing of the closed forms.",
                   "One formula in the text beside the table is wrong: Poisson's probability has a factor "
                   "1/t! too many when it is written with $\\hat{p}(k)/k!$ (<a href=\"#e13\">E13</a>). The "
                   "table itself is right."},
      .parts = {numbers(rows), linear(), beta_laplace(), truncated_gaussian(), any_score()},
      .checks = {}};
  check_rows(rows, section.checks);
  check_truncated_gaussian(section.checks);
  check_numeric(section.checks);
  check_linear(section.checks);
  return section;
}

}  // namespace fenchel::report
