#include "fenchel/predict/integers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "fenchel/distribution/integers/sparse_integer_gaussian.hpp"
#include "fenchel/distribution/integers/sparse_poisson.hpp"
#include "fenchel/loss/integers.hpp"
#include "fenchel/predict/finite.hpp"
#include "plot/chart.hpp"
#include "report/colours.hpp"
#include "report/compare.hpp"
#include "report/sections/sections.hpp"

namespace fenchel::report {
namespace {

constexpr index_t kTarget = 3;
constexpr double kMu = 3;

/// Of the Poisson score, and of the Gaussian's with sigma2 = 1, as in the paper.
double poisson_loss(double alpha, double mu, index_t target) {
  return fenchel_young(Tsallis(alpha), PoissonScore(mu), Naturals(), target).value;
}
double gaussian_loss(double alpha, double mu) {
  return fenchel_young(Tsallis(alpha), QuadraticScore(mu, 1), Integers(), kTarget).value;
}

/// The second derivative of the loss in mu, from those in log mu.
double poisson_curvature(double alpha, double mu, index_t target) {
  const double slope = fenchel_young(Tsallis(alpha), PoissonScore(mu), Naturals(), target).gradient.log_mu;
  return (fenchel_young_hessian(Tsallis(alpha), PoissonScore(mu), Naturals()) - slope) / (mu * mu);
}

/// The probabilities of `first` to `last`.
template <class P>
std::vector<plot::Point> stems(const P& p, index_t first, index_t last) {
  std::vector<plot::Point> points;
  for (index_t t = first; t <= last; ++t) points.push_back({static_cast<double>(t), pmf(p, t)});
  return points;
}

/// Of the three families that are drawn together; the last two have the same alpha.
const plot::Style kPoisson{.colour = colour_of(1)}, kSparsePoisson{.colour = colour_of(2)},
    kSparseGaussian{.colour = plot::kMuted};

/// The stairs of the distribution function.
template <class P>
std::vector<plot::Point> stairs(const P& p, index_t first, index_t last) {
  std::vector<plot::Point> points{{static_cast<double>(first), 0}};
  for (index_t t = first; t <= last; ++t) {
    const auto x = static_cast<double>(t);
    points.push_back({x, cdf(p, t)});
    points.push_back({x + 1, cdf(p, t)});
  }
  return points;
}

Figure at_three() {
  const SparsePoisson dense(1, kMu), sparse(2, kMu);
  const SparseIntegerGaussian gaussian(2, kMu, 1);
  plot::Chart mass("Probabilities, \u03bc = 3", {"t", plot::Range{-0.6, 9.6}},
                   {"probability", plot::Range{0, 0.8}});
  mass.stems("Poisson", stems(dense, 0, 9), -0.2, kPoisson);
  mass.stems("sparse Poisson", stems(sparse, 0, 9), 0, kSparsePoisson);
  mass.stems("sparse Gaussian", stems(gaussian, 0, 9), 0.2, kSparseGaussian);
  plot::Chart sums("Distribution functions, \u03bc = 3", {"t", plot::Range{-0.6, 9.6}},
                   {"P(X \u2264 t)", plot::Range{0, 1.05}});
  sums.line("Poisson", stairs(dense, 0, 9), kPoisson);
  sums.line("sparse Poisson", stairs(sparse, 0, 9), kSparsePoisson);
  sums.line("sparse Gaussian", stairs(gaussian, 0, 9), kSparseGaussian);
  return {"integers",
          "Three distributions at $\\mu = 3$, $\\alpha = 2$ for the sparse ones. A ring marks a probability "
          "of exactly 0; the sparse Gaussian is the integer one with $\\sigma^2 = 1$.",
          {mass, sums}};
}

template <class Make>
Figure by_alpha(const char* name, const char* title, const char* caption, plot::Range t, const Make& make) {
  plot::Chart chart(title, {"t", t}, {"probability", plot::Range{0, 0.4}});
  const auto first = static_cast<index_t>(std::ceil(t.low)), last = static_cast<index_t>(std::floor(t.high));
  chart.stems("\u03b1 = 1", stems(make(1.0), first, last), -0.25, {.colour = colour_of(1)});
  chart.stems("\u03b1 = 3/2", stems(make(1.5), first, last), 0, {.colour = colour_of(1.5)});
  chart.stems("\u03b1 = 2, sparsemax", stems(make(2.0), first, last), 0.25, {.colour = colour_of(2)});
  return {name, caption, {chart}, 1};
}

Figure means() {
  const auto poisson = [](double alpha) {
    return [alpha](double mu) { return mean(SparsePoisson(alpha, mu)); };
  };
  const auto gaussian = [](double mu) { return mean(SparseIntegerGaussian(2, mu, 1)); };
  plot::Chart chart("Mean", {"\u03bc", plot::Range{0.01, 8}}, {"E[t]", plot::Range{0, 8}});
  chart.curve("Poisson", poisson(1), kPoisson);
  chart.curve("sparse Poisson", poisson(2), kSparsePoisson);
  chart.curve("sparse Gaussian", gaussian, kSparseGaussian);
  plot::Chart offset("Mean less \u03bc", {"\u03bc", plot::Range{0.01, 8}}, {"E[t] \u2212 \u03bc"});
  offset.curve(
      "Poisson", [&](double mu) { return poisson(1)(mu) - mu; }, kPoisson);
  offset.curve(
      "sparse Poisson", [&](double mu) { return poisson(2)(mu) - mu; }, kSparsePoisson);
  offset.curve(
      "sparse Gaussian", [&](double mu) { return gaussian(mu) - mu; }, kSparseGaussian);
  return {"integer_means", "The mean against $\\mu$, and how far from $\\mu$ it is.", {chart, offset}};
}

/// The loss where it bends down as a function of mu.
std::vector<plot::Point> not_convex(index_t target) {
  std::vector<plot::Point> points;
  for (int i = 3; i <= 500; ++i) {
    const double mu = 0.02 * i;
    points.push_back({mu, poisson_curvature(2, mu, target) < 0 ? poisson_loss(2, mu, target) : NAN});
  }
  return points;
}

Figure losses() {
  constexpr plot::Range kMus{0.05, 10};
  const plot::Style pieces{.colour = plot::kInk, .width = 4};
  plot::Chart three("Loss of t = 3 against \u03bc", {"\u03bc", kMus}, {"loss", plot::Range{0, 6}}),
      by_log("Loss of t = 3 against log \u03bc", {"log \u03bc", plot::Range{-1.5, 2.3}},
             {"loss", plot::Range{0, 6}}),
      none("Loss of t = 0 against \u03bc", {"\u03bc", kMus}, {"loss"}),
      bend("Sparse Poisson: second derivative in \u03bc", {"\u03bc", kMus},
           {"d\u00b2 loss / d\u03bc\u00b2", plot::Range{-0.4, 0.8}});
  three.curve(
      "Poisson", [](double mu) { return poisson_loss(1, mu, 3); }, kPoisson);
  three.curve(
      "sparse Poisson", [](double mu) { return poisson_loss(2, mu, 3); }, kSparsePoisson);
  three.curve(
      "sparse Gaussian", [](double mu) { return gaussian_loss(2, mu); }, kSparseGaussian);
  three.line("not convex", not_convex(3), pieces);
  by_log.curve(
      "Poisson", [](double theta) { return poisson_loss(1, std::exp(theta), 3); }, kPoisson);
  by_log.curve(
      "sparse Poisson", [](double theta) { return poisson_loss(2, std::exp(theta), 3); }, kSparsePoisson);
  none.curve(
      "Poisson", [](double mu) { return poisson_loss(1, mu, 0); }, kPoisson);
  none.curve(
      "sparse Poisson", [](double mu) { return poisson_loss(2, mu, 0); }, kSparsePoisson);
  none.line("not convex", not_convex(0), pieces);
  bend.curve("t = 0", [](double mu) { return poisson_curvature(2, mu, 0); });
  bend.curve("t = 3", [](double mu) { return poisson_curvature(2, mu, 3); });
  return {
      "integer_losses",
      "The Fenchel-Young loss when $t = 3$, or $t = 0$, was observed. Dark pieces are those where the loss "
      "of the sparse Poisson bends down as a function of $\\mu$; against $\\log \\mu$ there are none.",
      {three, by_log, none, bend}};
}

/// The least second difference of a function over [lower, upper], in units of its own values.
double least_bend(const std::function<double(double)>& f, double lower, double upper) {
  constexpr double kStep = 0.05;
  double least = 0;
  for (double x = lower + kStep; x < upper; x += kStep)
    least = std::min(least, f(x - kStep) - 2 * f(x) + f(x + kStep));
  return std::abs(least);
}

/// How far a sparse distribution is from the finite sparsemax of its scores in a wide window.
template <class P, class Score>
double window_difference(const P& p, const Score& f, index_t first) {
  std::vector<double> scores;
  for (index_t t = first; t < first + 60; ++t) scores.push_back(f(t));
  const SparseCategorical q = predict(Tsallis(2), VectorScore(scores), Finite());
  double worst = 0;
  for (index_t i = 0; i < 60; ++i) worst = std::max(worst, std::abs(pmf(p, first + i) - pmf(q, i)));
  return worst;
}

template <class P>
double sum(const P& p) {
  double total = 0;
  for (index_t t = support(p).first; t <= support(p).last; ++t) total += pmf(p, t);
  return total;
}

struct Errors {
  double mass = 0, window = 0, mode = 0, slope = 0;
};

Errors errors() {
  Errors worst;
  for (int i = 1; i <= 80; ++i) {
    const double mu = 0.125 * i, h = 1e-4;
    const SparsePoisson p(2, mu);
    const SparseIntegerGaussian q(2, mu, 1);
    const QuadraticScore f(mu, 1);
    worst.mass = std::max({worst.mass, std::abs(sum(p) - 1), std::abs(sum(q) - 1)});
    worst.window = std::max({worst.window, window_difference(p, PoissonScore(mu), 0),
                             window_difference(
                                 q, [&f](index_t t) { return f(static_cast<double>(t)); }, -20)});
    worst.mode = std::max({worst.mode, std::abs(static_cast<double>(mode(p)) - mu),
                           std::abs(static_cast<double>(mode(q)) - mu)});
    const double slope =
        (poisson_loss(1.5, mu * std::exp(h), kTarget) - poisson_loss(1.5, mu * std::exp(-h), kTarget)) /
        (2 * h);
    worst.slope = std::max(worst.slope,
                           std::abs(slope - (mean(SparsePoisson(1.5, mu)) - static_cast<double>(kTarget))));
  }
  return worst;
}

std::vector<Check> checks() {
  const Errors e = errors();
  const SparsePoisson poisson(1, kMu);
  const double mu = std::exp(0.1), by_hand = (0.5 - (1 + std::log(mu)) / 2) / (mu * mu),
               measured = poisson_curvature(2, mu, 0);
  const auto in_log = [](double theta) { return poisson_loss(2, std::exp(theta), kTarget); };
  return {compare("Poisson, $\\mu = 3$: $P(2)$", "$\\mu^2 e^{-\\mu}/2!$", 4.5 * std::exp(-3.),
                  pmf(poisson, 2), 1e-12),
          compare("&hellip; mean", "$\\mu$", kMu, mean(poisson), 1e-12),
          law("Sum of the probabilities, 160 sparse distributions", "", "1", e.mass, 1e-12),
          law("&hellip; each of them", "sparsemax of the scores", "sparsemax of a window about the mode",
              e.window, 1e-12),
          {"&hellip; how far the mode is from $\\mu$, in either family", "", "",
           fmt::format("at most {}", e.mode), e.mode, 1},
          law("Slope of the loss in $\\log \\mu$, 3 observed, $\\alpha = 3/2$", "$E[t] - 3$",
              "central differences", e.slope, 1e-6),
          law("Sparse Poisson: how far the loss bends down in $\\log \\mu$", "convex", "second differences",
              least_bend(in_log, -3, 3), 1e-12),
          law("Sparse integer Gaussian: how far the loss bends down in $\\mu$", "", "second differences",
              least_bend([](double x) { return gaussian_loss(2, x); }, -2, 8), 1e-12),
          {"Sparse Poisson, $t = 0$ observed: second derivative of the loss in $\\mu$ at $\\mu = e^{0.1}$",
           "not negative (<a href=\"#e2\">E2</a>)", fmt::format("{:.5f} by hand", by_hand),
           fmt::format("{:.5f}", measured), std::abs(measured - by_hand), 1e-12, "", true}};
}

/// The share of mu in [0.2, 30] at which the loss bends down.
double share_not_convex(index_t target) {
  constexpr int kSteps = 1000;
  int count = 0;
  for (int i = 0; i < kSteps; ++i)
    count += poisson_curvature(2, 0.2 + 29.8 * (i + 0.5) / kSteps, target) < 0 ? 1 : 0;
  return static_cast<double>(count) / kSteps;
}

}  // namespace

Section integers() {
  const SparsePoisson three(2, kMu);
  return {
      "integers",
      "Sparse distributions on the integers",
      "Section 5, Figure 6",
      {"Sparsemax needs no closed form: any score that falls fast enough has a threshold $\\tau$. With the "
       "score of the Poisson distribution, $f(t) = t \\log \\mu - \\log t!$, it gives a sparse Poisson; with "
       "$f(t) = -(t - \\mu)^2/2$ on all integers, a sparse integer Gaussian. Both have finitely many values, "
       "near $\\mu$.",
       "The Fenchel-Young loss of the first is convex in $\\log \\mu$. The paper adds that it is convex in "
       "$\\mu$ as well, because the exponential function is increasing."},
      {fmt::format("At $\\mu = 3$ the sparse Poisson lives on {} to {}, with mean {:.4f}: $\\mu$ is the mean "
                   "at $\\alpha = 1$ alone. The sparse Poisson's mean is some 0.4 less than $\\mu$, that of "
                   "the sparse integer Gaussian waves about it.",
                   support(three).first, support(three).last, mean(three)),
       fmt::format(
           "The loss is <em>not</em> convex in $\\mu$ (<a href=\"#e2\">E2</a>): between 0.2 and 30 it bends "
           "down for {:.0f}% of all $\\mu$ when 0 was observed, and for {:.0f}% when 3 was. That of the "
           "integer Gaussian is, since its score is linear in $\\mu$ but for a term that the loss does not "
           "see. The Poisson probability has one factorial; dividing by t! once more, as printed for the "
           "counting measure, would leave a mass of {:.3f} at $\\mu = 3.7$ (<a href=\"#e13\">E13</a>).",
           100 * share_not_convex(0), 100 * share_not_convex(3),
           expectation(SparsePoisson(1, 3.7), [](double t) { return 1 / std::tgamma(t + 1); }))},
      {at_three(), means(), losses(),
       by_alpha("sparse_poisson", "Poisson and sparse Poisson, \u03bc = 6",
                "The larger $\\alpha$, the fewer counts are possible.", {-0.6, 14.6},
                [](double alpha) { return SparsePoisson(alpha, 6); }),
       by_alpha("sparse_integer_gaussian", "Sparse integer Gaussian, \u03bc = 3.4, \u03c3\u00b2 = 4",
                "Between two integers $\\mu$ makes the probabilities uneven.", {-3.6, 10.6},
                [](double alpha) { return SparseIntegerGaussian(alpha, 3.4, 4); })},
      checks()};
}

}  // namespace fenchel::report
