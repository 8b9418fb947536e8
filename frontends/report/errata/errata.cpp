#include "report/errata/errata.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "fenchel/core/beta_gaussian.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/line/beta_laplace.hpp"
#include "report/sections/sections.hpp"

namespace fenchel::report {
namespace {

std::string name(const Erratum& erratum) { return fmt::format("E{}", erratum.index); }
std::string anchor(const Erratum& erratum) { return fmt::format("e{}", erratum.index); }

Card card(const Erratum& erratum) {
  Card result{anchor(erratum),
              name(erratum) + " &middot; " + erratum.title,
              erratum.place,
              {{"Printed", erratum.printed}, {"Correct", erratum.correct}},
              {}};
  if (!erratum.note.empty()) result.lines.push_back({"Also", erratum.note});
  for (const Example& example : erratum.examples) {
    result.numbers.push_back(
        {{"Example", example.what},
         {"as printed", example.by_paper},
         {"library", example.by_library},
         {"brute force", fmt::format("{} <small>{}</small>", example.by_force, example.method)}});
  }
  return result;
}

/// Misprints that no result depends on.
Table misprints() {
  const BetaGaussian parabola(2, 0, 1);
  const double a = parabola.half_width(), lambda = parabola.constants().threshold;
  const auto parabola_line = [&](double sign) {
    return -0.5 + sign * lambda * lambda * a + lambda * a * a * a / 3 + std::pow(a, 5) / 20;
  };
  const BetaLaplace triangle = BetaLaplace::triangular(0, 2);
  const double edge = triangle.half_width(), level = -edge / 2;
  const auto triangle_line = [&](double factor) {
    return -0.5 + level * level * edge + level * edge * edge / 2 + factor * edge * edge * edge / 12;
  };
  return {"Misprints in derivations; the results after them are right",
          {"Where", "Printed", "Correct"},
          {{"Appendix D.1, negentropy of the truncated parabola",
            fmt::format("$-\\lambda^2a$ (with $\\sigma = 1$ the line is {})", number(parabola_line(-1))),
            fmt::format("$+\\lambda^2a$ ({}; library {})", number(parabola_line(1)),
                        number(-tsallis_entropy(parabola, 2)))},
           {"Appendix D.3, negentropy of the triangular density",
            fmt::format("$\\lambda a^3/(3b^2)$ (with $b = 2$ the line is {})", number(triangle_line(level))),
            fmt::format("$a^3/(3b^2)$ ({}; library {})", number(triangle_line(1)),
                        number(-tsallis_entropy(triangle, 2)))},
           {"Appendix E.1, support of the standard $\\beta$-Gaussian", "$\\|z\\|^2/2 \\gt \\tau$",
            "$\\|z\\|^2/2 \\lt -\\tau$; bars around a matrix are its determinant"},
           {"Appendix F.1, first display", "$\\int (f - u)^2 + \\gamma \\text{TV}(u)$",
            "$\\frac{1}{2} \\int (f - u)^2 + \\gamma \\text{TV}(u)$"},
           {"Appendix F.1, decomposition", "$\\hat{u}$ is the maximizer", "the minimizer"},
           {"Appendix F.1, taut string", "$F$ is concave on $[-B, 0]$ and convex on $[0, B]$",
            "convex on $[-B, 0]$ and concave on $[0, B]$"},
           {"Appendix F.2, characteristic polynomial", "$(1 - r)(1 + r)$",
            "$(1 - \\sqrt{\\gamma} r)(1 + \\sqrt{\\gamma} r)$"},
           {"Appendix F.2, Euler-Lagrange equation", "$d/dt (z^2z')$", "$d/dt (\\gamma z^2z')$"},
           {"Appendix F.2, last display", "$C_1 = C_2 = C$ gives $C \\text{cosh}(\\beta t)$",
            "$2C \\text{cosh}(\\beta t)$, the 2 absorbed into $C$. The antiderivative in $F(t)$ must make "
            "the particular solution smooth at 0 where $f$ has a kink, as $|t|$ has"},
           {"Appendix G.4, $G$ and $H$, second line", "$N(r; r_0, \\sigma^2) ds$", "$N(s; 0, 1) ds$"},
           {"Appendix G.4, lemma on affine maps", "$(2\\pi)^{-R/2}$; for $R = D$, $|A|^{-1}$",
            "$(2\\pi)^{-D/2}$; $1/|\\det A|$"},
           {"Section 2.2, equivariance",
            "$\\Omega$ is separable, &ldquo;which is always the case in this paper&rdquo;",
            "not in Section 7, whose maps are equivariant to translations and reflections alone"},
           {"Section 2.3, first mention of fusedmax", "no $\\gamma$", "the penalty has a weight $\\gamma$"},
           {"Appendix H.1, table for audio", "$\\Sigma = [0.1, 0.5]$",
            "$\\sigma$: in the main text 0.1 and 0.5 are standard deviations"}}};
}

/// What looks wrong and is not.
Table right_after_all() {
  const double sigma = 1.4;
  const BetaGaussian parabola(2, 0, sigma * sigma);
  const BetaGaussianConstants disc = beta_gaussian_constants(2, 1, 0);
  const double area = std::numbers::pi * disc.radius2;
  return {"It looks odd, but is right",
          {"Where", "Printed", "Why"},
          {{"Section 5, support of the truncated parabola", "$\\mu \\pm 3/(-4\\tau)$",
            fmt::format("for $\\sigma = 1.4$ it is {}; the library&rsquo;s half width is {}",
                        number(3 / (-4 * parabola.constants().threshold)), number(parabola.half_width()))},
           {"Appendix G.4, $\\alpha = 2$ in the plane",
            "$(1/|E|) \\int_E t t^\\top = \\mu \\mu^\\top + \\Sigma /|E|$",
            fmt::format("because $|E| = -2/\\tau$: for $\\Sigma = I$ the disc has area {}, $-2/\\tau = {}$, "
                        "and a variance of {} = 1/{}",
                        number(area), number(-2 / disc.threshold), number(disc.radius2 / 4), number(area))},
           {"Appendix G.4", "$F$, $G$, $H$, $M$", "their last lines are right"}}};
}

}  // namespace

std::string number(double x) {
  if (std::isinf(x)) return x < 0 ? "$-\\infty$" : "$\\infty$";
  return (x < 0 ? "&minus;" : "") + fmt::format("{:.7g}", std::abs(x));
}

Example example(std::string what, double by_paper, double by_library, double by_force, std::string method,
                double tolerance) {
  const bool wrong = std::abs(by_paper - by_library) > 100 * tolerance;
  return {std::move(what),  number(by_paper),  number(by_library),
          number(by_force), std::move(method), wrong ? std::abs(by_library - by_force) : kInfinity,
          tolerance};
}

Section errata() {
  std::vector<Erratum> all;
  for (const auto& part : {errata_in_distributions(), errata_in_losses(), errata_in_normalizers(),
                           errata_in_fusedmax(), errata_in_attention()})
    all.insert(all.end(), part.begin(), part.end());
  std::sort(all.begin(), all.end(), [](const Erratum& a, const Erratum& b) { return a.index < b.index; });

  Section section;
  section.id = "errata";
  section.title = "Where the print is wrong";
  section.place = "all sections and appendices";
  section.says = {
      "A few formulas and claims are not printed as the paper&rsquo;s own theory has them. The theory "
      "stands; a program that copies these lines is wrong."};
  section.computed = {
      "Each box below holds one of them, and a number that tells the printed formula from the right one: the "
      "printed formula evaluated as it stands, the library&rsquo;s value, and brute force, which uses "
      "neither (bisection of $\\tau$ until the mass is one, quadrature, differences, a lattice).",
      "A check holds when the library agrees with brute force and, where the print gives a number, that "
      "number is off by more than a hundred times the tolerance."};
  Cards cards;
  for (const Erratum& erratum : all) {
    cards.cards.push_back(card(erratum));
    for (const Example& example : erratum.examples) {
      section.checks.push_back(
          {fmt::format("<a href=\"#{}\">{}</a> {}", anchor(erratum), name(erratum), erratum.title),
           example.by_paper, fmt::format("{} ({})", example.by_force, example.method), example.by_library,
           example.error, example.tolerance, "", true});
    }
  }
  section.parts = {std::move(cards), misprints(), right_after_all()};
  return section;
}

}  // namespace fenchel::report
