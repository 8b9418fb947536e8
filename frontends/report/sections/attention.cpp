#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "fenchel/attention/attend.hpp"
#include "fenchel/attention/finite_attention.hpp"
#include "fenchel/attention/match_weights.hpp"
#include "fenchel/attention/multivariate_attend.hpp"
#include "fenchel/attention/ridge_regression.hpp"
#include "fenchel/distribution/euclidean/multivariate_geometry.hpp"
#include "fenchel/domain/finite.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/predict/finite.hpp"
#include "fenchel/predict/function.hpp"
#include "fenchel/score/function_score.hpp"
#include "plot/ellipse.hpp"
#include "report/colours.hpp"
#include "report/compare.hpp"
#include "report/sections/attention_checks.hpp"
#include "report/sections/sections.hpp"

namespace fenchel::report {
namespace {

const plot::Axis kTime{"t", {{0, 1}}};

/// The scoring function of the first figure: two places to look at.
double score(double t) { return 1.6 * std::sin(9.5 * t) + 1.3 * t; }
/// Its signal, of two numbers at each t.
Eigen::Vector2d signal(double t) { return {std::sin(5 * t), 0.5 + 0.6 * std::cos(9 * t + 1)}; }

/// Frames at the centres of cells of one length, which is their measure.
struct Frames {
  explicit Frames(index_t count)
      : t(positions(count)), cells(std::vector<double>(t.size(), 1 / static_cast<double>(count))) {
    scores.reserve(t.size());
    for (const double x : t) scores.push_back(score(x));
  }
  [[nodiscard]] SparseCategorical weights(double alpha) const {
    return predict(Tsallis(alpha), VectorScore(scores), cells);
  }

  std::vector<double> t, scores;
  Finite cells;
};

Eigen::MatrixXd observe(const std::vector<double>& t) {
  Eigen::MatrixXd observed(2, std::ssize(t));
  for (std::size_t l = 0; l < t.size(); ++l) observed.col(static_cast<index_t>(l)) = signal(t[l]);
  return observed;
}

const Tsallis kSoftmax(1), kSparsemax(2);

struct Example {
  Frames frames{12};
  Eigen::MatrixXd observed = observe(frames.t);
  ValueFunction<GaussianBasis> value =
      RidgeRegression(GaussianBasis::linearly_spaced(10, 0, 1, {0.1}), frames.t, 1e-3).fit(observed);
  NumericDensity soft = predict(kSoftmax, FunctionScore(score), Interval(0, 1)),
                 sparse = predict(kSparsemax, FunctionScore(score), Interval(0, 1));
  Eigen::VectorXd soft_context = context(value, attend(soft, value.basis)),
                  sparse_context = context(value, attend(sparse, value.basis));
};

std::vector<plot::Point> points(const std::vector<double>& t, auto&& y) {
  std::vector<plot::Point> result;
  for (std::size_t l = 0; l < t.size(); ++l) result.push_back({t[l], y(static_cast<index_t>(l))});
  return result;
}

Figure discrete_and_continuous(const Example& example) {
  const Frames& frames = example.frames;
  const SparseCategorical soft = frames.weights(1), sparse = frames.weights(2);
  const plot::Axis scores{"score", {{-2, 3}}}, values{"value", {{-1.5, 1.5}}};

  plot::Chart score_vector("Score vector", kTime, scores);
  score_vector.stems("",
                     points(frames.t, [&](index_t l) { return frames.scores[static_cast<std::size_t>(l)]; }),
                     0, {.colour = 4});
  plot::Chart score_function("Score function", kTime, scores);
  score_function.curve("", score, {.colour = 4});

  plot::Chart vector("Probability vector", kTime, {"probability", {{0, 0.3}}});
  vector.stems("softmax", points(frames.t, [&](index_t l) { return pmf(soft, l); }), -0.008);
  vector.stems("sparsemax", points(frames.t, [&](index_t l) { return pmf(sparse, l); }), 0.008);
  plot::Chart density("Probability density", kTime, {"density", {{0, 3.6}}});
  density.area("softmax", [&](double t) { return pdf(example.soft, t); });
  density.area("sparsemax", [&](double t) { return pdf(example.sparse, t); });

  plot::Chart vectors("Value vectors", kTime, values), function("Value function", kTime, values);
  const Eigen::VectorXd discrete = attend(sparse, example.observed);
  for (index_t row = 0; row < 2; ++row) {
    const auto colour = static_cast<std::size_t>(2 + row);
    const std::string name = row == 0 ? "V\u2081" : "V\u2082";
    vectors.markers(name, points(frames.t, [&](index_t l) { return example.observed(row, l); }),
                    plot::Marker::dot, {.colour = colour, .width = 7});
    vectors.horizontal("", discrete[row], {.colour = colour, .width = 1.5, .dashed = true});
    function.curve(name, [&](double t) { return value(example.value, t)[row]; }, {.colour = colour});
    function.horizontal("", example.sparse_context[row], {.colour = colour, .width = 1.5, .dashed = true});
  }
  std::vector<plot::Chart> charts{score_vector, vector, vectors, score_function, density, function};
  for (plot::Chart& chart : charts) chart.size(340, 280);
  return {"attention_discrete_continuous",
          "Discrete attention makes probabilities of a score for each of 12 frames and takes the mean of 12 "
          "value vectors. Continuous attention makes a density of a scoring function and takes the mean of a "
          "value function. The dashed lines are the contexts of sparsemax; rings are exact zeros.",
          charts, 3};
}

/// Contexts of more and more frames, and of the densities.
Table contexts(const Example& example) {
  Table table{"The context $c = (c_1, c_2)$ of more and more frames of one value function.",
              {"frames", "softmax", "sparsemax", "difference"},
              {}};
  const auto pair = [](const Eigen::VectorXd& c) { return fmt::format("({:.5f}, {:.5f})", c[0], c[1]); };
  for (const index_t count : {12, 48, 192, 768}) {
    const Frames frames(count);
    const Eigen::MatrixXd values = example.value.coefficients * design_matrix(example.value.basis, frames.t);
    const Eigen::VectorXd soft = attend(frames.weights(1), values),
                          sparse = attend(frames.weights(2), values);
    const double difference = std::max((soft - example.soft_context).cwiseAbs().maxCoeff(),
                                       (sparse - example.sparse_context).cwiseAbs().maxCoeff());
    table.rows.push_back(
        {fmt::format("{}", count), pair(soft), pair(sparse), fmt::format("{:.1e}", difference)});
  }
  table.rows.push_back({"continuous", pair(example.soft_context), pair(example.sparse_context), ""});
  return table;
}

/// Weights over 24 frames become densities with their mean and variance, under which a value function is
/// read.
Figure attention_line() {
  constexpr index_t kFrames = 24;
  const std::vector<double> t = positions(kFrames);
  const auto psi = GaussianBasis::linearly_spaced(12, 0, 1, {0.07});
  Eigen::VectorXd weights(kFrames);
  Eigen::MatrixXd observed(1, kFrames);
  for (index_t l = 0; l < kFrames; ++l) {
    const double x = t[static_cast<std::size_t>(l)];
    weights[l] = std::exp(-40 * (x - 0.62) * (x - 0.62)) * (1 + 0.35 * std::sin(40 * x));
    observed(0, l) = 2.5 + std::sin(9 * x) + 0.3 * std::cos(31 * x);
  }
  weights /= weights.sum();
  const auto v = RidgeRegression(psi, t, 0.1).fit(observed);

  plot::Chart densities("Weights and densities", kTime, {"density", {{0, 5}}});
  densities.stems("24 weights", points(t, [&](index_t l) { return kFrames * weights[l]; }), 0,
                  {.colour = plot::kMuted});
  std::string context = fmt::format("{:.3f} of the weights", (observed * weights)[0]);
  for (const auto& [name, alpha] :
       std::vector<std::pair<const char*, double>>{{"1", 1}, {"3/2", 1.5}, {"2", 2}}) {
    const auto p = match_weights(alpha, weights);
    densities.curve(fmt::format("\u03b1 = {}", name), [&](double x) { return pdf(p, x); },
                    {.colour = colour_of(alpha)});
    context += fmt::format(", {:.3f} at $\\alpha = {}$", fenchel::context(v, attend(p, psi))[0], name);
  }
  plot::Chart values("Value function and its basis", kTime, {"value", {{0, 4}}});
  for (index_t j = 0; j < psi.size(); ++j) {
    values.curve(j == 0 ? "basis / 8" : "", [&](double x) { return evaluate(psi, x)[j] / 8; },
                 {.colour = plot::kMuted, .width = 1});
  }
  values.curve("value", [&](double x) { return value(v, x)[0]; }, {.colour = 3});
  values.markers("frames", points(t, [&](index_t l) { return observed(0, l); }), plot::Marker::dot,
                 {.colour = 3, .width = 5});
  return {"attention_line",
          "Attention over a sequence. Weights over 24 frames (times 24) become densities with their mean and "
          "variance, the frames become a value function by ridge regression. The contexts are " +
              context + ".",
          {densities, values}};
}

/// Densities with the moments of weights over an image, and what a grid of functions gets of each.
Figure attention_plane() {
  const Eigen::MatrixXd t = grid_positions(14, 14);
  Eigen::VectorXd weights(t.cols());
  for (index_t l = 0; l < t.cols(); ++l) {
    const double x = t(0, l) - 0.58, y = t(1, l) - 0.45;
    weights[l] = std::exp(-60 * (x * x - 1.2 * x * y + y * y)) * (1.2 + std::sin(20 * x + 9 * y));
  }
  weights /= weights.sum();
  const auto psi = MultivariateGaussianBasis::unit_square(10, 10, 0.001 * Eigen::Matrix2d::Identity());
  Figure figure{
      "attention_plane",
      "Attention over an image: densities with the mean and covariance of weights over 14 by 14 cells, and a "
      "grid of 10 by 10 Gaussian functions, drawn the larger the more of the density they get. At $\\alpha = "
      "2$ nothing outside of the ellipse counts; at $\\alpha = 1$ the ellipse of 99% is not the end.",
      {}};
  for (const double alpha : {1., 2.}) {
    const auto p = match_weights(alpha, weights, t);
    plot::Chart chart(alpha == 1 ? "\u03b1 = 1, Gaussian" : "\u03b1 = 2, truncated paraboloid",
                      {"t\u2081", {{0, 1}}}, {"t\u2082", {{0, 1}}});
    chart.equal_units();
    chart.size(440, 440);
    chart.heat([&](double x, double y) { return pdf(p, Eigen::Vector2d(x, y)); },
               {.colour = colour_of(alpha)});
    const Eigen::VectorXd r = attend(p, psi);
    for (index_t j = 0; j < psi.size(); ++j) {
      chart.markers("", {{psi.mu(j)[0], psi.mu(j)[1]}}, plot::Marker::dot,
                    {.colour = plot::kInk, .width = 1.5 + 7 * std::sqrt(r[j] / r.maxCoeff())});
    }
    chart.line(alpha == 1 ? "99%" : "support", plot::outline(mahalanobis_contour(p, alpha == 1 ? 0.99 : 1)),
               {.colour = colour_of(alpha)});
    chart.line("half", plot::outline(mahalanobis_contour(p, 0.5)),
               {.colour = colour_of(alpha), .width = 1.5, .dashed = true});
    figure.charts.push_back(chart);
  }
  return figure;
}

}  // namespace

Section attention() {
  const Example example;
  Section section{
      "attention", "From discrete to continuous attention", "Section 8, Appendix G, Figure 9", {}, {}, {},
      {}};
  section.says = {
      "Attention scores the pieces of an input, makes probabilities of the scores and takes the mean of the "
      "values of the pieces. In continuous time or space the scores are a function $f$, the prediction is a "
      "density $p$, and the context is $c = E_p[V]$. With a value function $V = B\\psi$ of a few basis "
      "functions it is $B r$, $r = E_p[\\psi]$; $B$ comes from observations by ridge regression.",
      "For quadratic scores and Gaussian basis functions $r$ and its derivatives are tractable. The Jacobian "
      "is a generalized covariance of order $2 - \\alpha$ between the features of the score and $\\psi$."};
  section.computed = {
      "One scoring function and one signal, once in 12 frames and once as functions, for softmax and "
      "sparsemax; then densities with the moments of given weights over a sequence and over an image. Each "
      "frame has its cell's length as its measure, so that discrete contexts tend to the continuous ones."};
  section.parts = {discrete_and_continuous(example), contexts(example), attention_line(), attention_plane()};
  section.checks = attention_checks();
  const Frames many(768);
  const Eigen::MatrixXd values = example.value.coefficients * design_matrix(example.value.basis, many.t);
  section.checks.push_back(law("Contexts of 768 frames, softmax and sparsemax", "",
                               "contexts of the densities",
                               std::max((attend(many.weights(1), values) - example.soft_context).norm(),
                                        (attend(many.weights(2), values) - example.sparse_context).norm()),
                               1e-4));
  return section;
}

}  // namespace fenchel::report
