// Draws the documentation's pictures, one a family of distributions, and prints where each is.
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "fenchel/fenchel.hpp"
#include "plot.hpp"

namespace {

using namespace fenchel;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string beta_gaussian() {
  Plot plot("Beta-Gaussians with variance one", {-4, 4, 1, "t"}, {0, 0.6, 0.1, "density"});
  const std::vector<std::pair<const char*, double>> members{{"&#945; = 0.6, Student", 0.6},
                                                            {"&#945; = 1, Gaussian", 1},
                                                            {"&#945; = 4/3, triweight", 4. / 3},
                                                            {"&#945; = 3/2, biweight", 1.5},
                                                            {"&#945; = 2, parabola", 2},
                                                            {"&#945; = 3, semicircle", 3},
                                                            {"&#945; = &#8734;, uniform", kInfinity}};
  for (const auto& [name, alpha] : members) {
    const auto p = BetaGaussian::from_variance(alpha, 0, 1);
    plot.curve(name, [&](double t) { return pdf(p, t); });
  }
  return plot.str();
}

std::string beta_laplace() {
  Plot plot("Predictions for f = -|t|, from Laplace to nearly uniform", {-4, 4, 1, "t"},
            {0, 1.2, 0.2, "density"});
  const std::vector<std::pair<const char*, double>> members{{"&#945; = 1, Laplace", 1},
                                                            {"&#945; = 3/2", 1.5},
                                                            {"&#945; = 2, triangular", 2},
                                                            {"&#945; = 5", 5},
                                                            {"&#945; = 50", 50}};
  for (const auto& [name, alpha] : members) {
    const BetaLaplace p(alpha, 0, 1);
    plot.curve(name, [&](double t) { return pdf(p, t); });
  }
  return plot.str();
}

std::string truncated_gaussian() {
  Plot plot("Sparsemax of a scaled Gaussian density", {-3, 3, 1, "t"}, {0, 1.2, 0.2, "density"});
  for (const double kappa : {1.05, 1.5, 2.0, 5.0, 9.0}) {
    const TruncatedGaussian p(kappa, 0, 1);
    plot.curve("&#954; = " + svg::number(kappa), [&](double t) { return pdf(p, t); });
  }
  return plot.str();
}

std::string location_scale() {
  Plot plot("Location-scale families with scale one", {-1.5, 1.5, 0.5, "t"}, {0, 1.2, 0.2, "density"});
  const auto add = [&](const char* name, std::function<double(double)> g,
                       std::function<double(double)> slope) {
    const LocationScale p(LocationScaleScore(std::move(g), std::move(slope), 0, 1));
    plot.curve(name, [&](double t) { return pdf(p, t); });
  };
  add(
      "g = t&#179;/6, parabola", [](double t) { return t * t * t / 6; }, [](double t) { return t * t / 2; });
  add(
      "g = t&#178;/2, triangular", [](double t) { return t * t / 2; }, [](double t) { return t; });
  add(
      "g = cosh t", [](double t) { return std::cosh(t); }, [](double t) { return std::sinh(t); });
  add(
      "g = t&#8310;", [](double t) { return std::pow(t, 6); }, [](double t) { return 6 * std::pow(t, 5); });
  return plot.str();
}

/// The probabilities of `first` to `last` as stems, those of exactly 0 as rings.
template <class P>
void stems(Plot& plot, const std::string& name, const P& p, index_t first, index_t last, double shift) {
  std::vector<std::pair<double, double>> points;
  for (index_t t = first; t <= last; ++t) points.emplace_back(static_cast<double>(t), pmf(p, t));
  plot.stems(name, points, shift);
}

std::string sparse_poisson() {
  Plot plot("Poisson and sparse Poisson, &#956; = 6", {-1, 15, 1, "t"}, {0, 0.4, 0.1, "probability"});
  stems(plot, "&#945; = 1, Poisson", SparsePoisson(1, 6), 0, 14, -0.25);
  stems(plot, "&#945; = 3/2", SparsePoisson(1.5, 6), 0, 14, 0);
  stems(plot, "&#945; = 2, sparsemax", SparsePoisson(2, 6), 0, 14, 0.25);
  return plot.str();
}

std::string sparse_integer_gaussian() {
  Plot plot("Discrete and sparse integer Gaussian, &#956; = 3.4, &#963;&#178; = 4", {-4, 11, 1, "t"},
            {0, 0.4, 0.1, "probability"});
  stems(plot, "&#945; = 1", SparseIntegerGaussian(1, 3.4, 4), -3, 10, -0.25);
  stems(plot, "&#945; = 3/2", SparseIntegerGaussian(1.5, 3.4, 4), -3, 10, 0);
  stems(plot, "&#945; = 2, sparsemax", SparseIntegerGaussian(2, 3.4, 4), -3, 10, 0.25);
  return plot.str();
}

/// A score with several modes.
double waves(double t) { return 2 * std::cos(2 * t) + 0.3 * t - t * t / 8; }

std::string any_score() {
  Plot plot("One score with several modes, four predictions", {-5, 8, 1, "t"}, {0, 1, 0.2, "density"});
  for (const double alpha : {1.0, 1.25, 1.5, 2.0}) {
    const auto p = predict(Tsallis(alpha), FunctionScore(waves), Line());
    plot.curve("&#945; = " + svg::number(alpha) + ", " + std::to_string(support(p).size()) +
                   (support(p).size() == 1 ? " interval" : " intervals"),
               [&](double t) { return pdf(p, t); });
  }
  return plot.str();
}

/// The members of a family with scale one, from gamma = 0, where there is no penalty, on.
template <class P>
std::string by_gamma(const char* title) {
  Plot plot(title, {-3, 3, 1, "t"}, {0, 1, 0.2, "density"});
  for (const double gamma : {0.0, 0.05, 0.3, 1.0, 3.0}) {
    const P p(gamma, 0, 1);
    plot.curve("&#947; = " + svg::number(gamma), [&](double t) { return pdf(p, t); });
  }
  return plot.str();
}

std::string capped_triangular() { return by_gamma<CappedTriangular>("Capped triangular: f = -|t|"); }
std::string capped_parabola() { return by_gamma<CappedParabola>("Capped parabola: f = -t&#178;/2"); }
std::string smooth_triangular() { return by_gamma<SmoothTriangular>("Smooth triangular: f = -|t|"); }
std::string smooth_parabola() { return by_gamma<SmoothParabola>("Smooth parabola: f = -t&#178;/2"); }

std::string taut_string() {
  Plot plot("The tube around the sums of a score, and the taut string in it", {-4, 5, 1, "t"},
            {-7, 1, 1, "F(t) &#177; &#947;"});
  const TautString drawn = taut_string(TotalVariation(0.4), waves, Interval(-4, 5), 900);
  const auto points = [&](const std::vector<double>& y, auto&& keep) {
    std::vector<std::pair<double, double>> path;
    for (std::size_t i = 0; i < y.size(); ++i) path.emplace_back(drawn.t[i], keep(drawn.t[i]) ? y[i] : NAN);
    return path;
  };
  const auto everywhere = [](double) { return true; };
  const auto on_plateau = [&](double t) {
    return std::any_of(drawn.plateaus.begin(), drawn.plateaus.end(),
                       [t](const Interval& plateau) { return plateau.contains(t); });
  };
  plot.path("F + &#947;", points(drawn.upper, everywhere));
  plot.path("F - &#947;", points(drawn.lower, everywhere));
  plot.path("string along the tube", points(drawn.string, everywhere));
  plot.path("straight: plateaus", points(drawn.string, on_plateau));
  return plot.str();
}

std::string fusedmax() {
  Plot plot("One score, three regularizers", {-3, 5, 1, "t"}, {0, 1, 0.2, "density"});
  const FunctionScore f(waves);
  const auto sparse = predict(Tsallis(2), f, Line()), capped = predict(TotalVariation(0.1), f, Line()),
             smooth = predict(Sobolev(0.05), f, Line());
  plot.curve("Tsallis(2)", [&](double t) { return pdf(sparse, t); });
  plot.curve("TotalVariation(0.1)", [&](double t) { return pdf(capped, t); });
  plot.curve("Sobolev(0.05)", [&](double t) { return pdf(smooth, t); });
  return plot.str();
}

void outline(Plot& plot, const std::string& name, const Ellipsoid& ellipsoid) {
  const Eigen::Matrix2d factor = ellipsoid.shape.llt().matrixL();
  std::vector<std::pair<double, double>> points;
  for (int i = 0; i <= 180; ++i) {
    const double angle = 2 * std::numbers::pi * i / 180;
    const Eigen::Vector2d point =
        ellipsoid.centre +
        std::sqrt(ellipsoid.radius2) * (factor * Eigen::Vector2d(std::cos(angle), std::sin(angle)));
    points.emplace_back(point[0], point[1]);
  }
  plot.path(name, points);
}

std::string multivariate_beta_gaussian() {
  Plot plot("Draws, the contour that holds half of them, and the support", {-4, 4, 1, "t&#8321;"},
            {-3, 3, 1, "t&#8322;"});
  const Eigen::Vector2d mu(0, 0);
  const Eigen::Matrix2d covariance{{1.0, 0.5}, {0.5, 0.6}};
  const auto p = MultivariateBetaGaussian::from_covariance(2, mu, covariance);
  std::vector<std::pair<double, double>> draws;
  const Eigen::MatrixXd points = sample(p, 1500, 2022);
  for (index_t k = 0; k < points.cols(); ++k) draws.emplace_back(points(0, k), points(1, k));
  plot.dots(draws, "#9a9a9a");
  outline(plot, "&#945; = 2: half", mahalanobis_contour(p, 0.5));
  outline(plot, "&#945; = 2: support", support(p));
  const auto gaussian = MultivariateBetaGaussian::from_covariance(1, mu, covariance);
  outline(plot, "&#945; = 1: half", mahalanobis_contour(gaussian, 0.5));
  outline(plot, "&#945; = 1: 99%", mahalanobis_contour(gaussian, 0.99));
  return plot.str();
}

std::string geometry() {
  Plot plot("Geodesics from (-1, 0.2) to (1, 0.5)", {-1.5, 1.5, 0.5, "&#956;"}, {0, 2.5, 0.5, "&#963;"});
  const std::vector<std::pair<const char*, double>> members{
      {"&#945; = 0.6", 0.6}, {"&#945; = 1, half-ellipse", 1}, {"&#945; = 4/3", 4. / 3}, {"&#945; = 2", 2}};
  for (const auto& [name, alpha] : members) {
    const Geodesic path = geodesic(FenchelYoungMetric(alpha), {-1, 0.2}, {1, 0.5});
    std::vector<std::pair<double, double>> points;
    for (int i = 0; i <= 200; ++i) points.emplace_back(path.at(i / 200.).mu, path.at(i / 200.).sigma);
    plot.path(name, points);
  }
  return plot.str();
}

/// Weights over 24 frames become densities with their mean and variance, under which a value function is
/// read.
std::string attention_line() {
  Plot plot("Attention over a sequence: weights, densities, value function", {0, 1, 0.1, "t"},
            {0, 5, 1, "density, weight of a frame, value"});
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
  for (index_t j = 0; j < psi.size(); ++j) {
    plot.faint_curve([&](double x) { return evaluate(psi, x)[j] / 8; });
  }
  std::vector<std::pair<double, double>> stems, dots;
  for (index_t l = 0; l < kFrames; ++l) {
    stems.emplace_back(t[static_cast<std::size_t>(l)], kFrames * weights[l]);
    dots.emplace_back(t[static_cast<std::size_t>(l)], observed(0, l));
  }
  const auto v = RidgeRegression(psi, t, 0.1).fit(observed);
  plot.stems("weights, times 24", stems, 0);
  for (const auto& [name, alpha] :
       std::vector<std::pair<const char*, double>>{{"1", 1}, {"3/2", 1.5}, {"2", 2}}) {
    const auto p = match_weights(alpha, weights);
    const double context = (v.coefficients * attend(p, psi))[0];
    plot.curve(std::string("&#945; = ") + name + ", context " + svg::number(context, "%.3f"),
               [&](double x) { return pdf(p, x); });
  }
  plot.curve("value function", [&](double x) { return value(v, x)[0]; });
  for (const auto& [x, y] : dots) plot.dot(x, y, 2.5, Plot::colour(4));
  return plot.str();
}

/// Two densities with the moments of weights over an image, and what a grid of functions gets of one.
std::string attention_plane() {
  Plot plot("Attention over an image: the functions that a density reaches", {0, 1, 0.1, "t&#8321;"},
            {0, 1, 0.1, "t&#8322;"});
  const Eigen::MatrixXd t = grid_positions(14, 14);
  Eigen::VectorXd weights(t.cols());
  for (index_t l = 0; l < t.cols(); ++l) {
    const double x = t(0, l) - 0.58, y = t(1, l) - 0.45;
    weights[l] = std::exp(-60 * (x * x - 1.2 * x * y + y * y)) * (1.2 + std::sin(20 * x + 9 * y));
  }
  weights /= weights.sum();
  const auto psi = MultivariateGaussianBasis::unit_square(10, 10, 0.001 * Eigen::Matrix2d::Identity());
  const auto sparse = match_weights(2, weights, t), dense = match_weights(1, weights, t);
  plot.heat(48, pdf(sparse, sparse.mu()),
            [&](double x, double y) { return pdf(sparse, Eigen::Vector2d(x, y)); });
  outline(plot, "&#945; = 2: support", support(sparse));
  outline(plot, "&#945; = 2: half", mahalanobis_contour(sparse, 0.5));
  outline(plot, "&#945; = 1: 99%", mahalanobis_contour(dense, 0.99));
  outline(plot, "&#945; = 1: half", mahalanobis_contour(dense, 0.5));
  const Eigen::VectorXd r = attend(sparse, psi);
  for (index_t j = 0; j < psi.size(); ++j) {
    plot.dot(psi.mean(j)[0], psi.mean(j)[1], 1.5 + 5 * std::sqrt(r[j] / r.maxCoeff()), "#444444");
  }
  return plot.str();
}

struct Picture {
  const char* name;
  std::function<std::string()> draw;
};
const std::vector<Picture> kPictures{{"beta_gaussian", beta_gaussian},
                                     {"multivariate_beta_gaussian", multivariate_beta_gaussian},
                                     {"beta_laplace", beta_laplace},
                                     {"truncated_gaussian", truncated_gaussian},
                                     {"location_scale", location_scale},
                                     {"sparse_poisson", sparse_poisson},
                                     {"sparse_integer_gaussian", sparse_integer_gaussian},
                                     {"any_score", any_score},
                                     {"capped_triangular", capped_triangular},
                                     {"capped_parabola", capped_parabola},
                                     {"smooth_triangular", smooth_triangular},
                                     {"smooth_parabola", smooth_parabola},
                                     {"taut_string", taut_string},
                                     {"fusedmax", fusedmax},
                                     {"geometry", geometry},
                                     {"attention_line", attention_line},
                                     {"attention_plane", attention_plane}};

}  // namespace

int main(int count, char** arguments) {
  const std::string folder = count == 2 ? arguments[1] : "";
  const bool help = folder == "--help" || folder == "-h";
  if (help || folder.empty() || folder[0] == '-') {
    std::fputs(
        "usage: families FOLDER\n"
        "Draws a picture of each family of distributions into FOLDER, which must exist, as SVG.\n",
        help ? stdout : stderr);
    return help ? 0 : 2;
  }
  for (const Picture& picture : kPictures) {
    const std::string path = folder + "/" + picture.name + ".svg",
                      error = svg::write_file(path, picture.draw());
    if (!error.empty()) {
      std::fprintf(stderr, "families: cannot write %s: %s\n", path.c_str(), error.c_str());
      return 1;
    }
    std::printf("%s\n", path.c_str());
  }
}
