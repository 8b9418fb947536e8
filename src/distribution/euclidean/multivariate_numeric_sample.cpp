#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/quadrature/gauss_kronrod.hpp"
#include "distribution/euclidean/multivariate_numeric_table.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/distribution/line/generic.hpp"

/// Draws: the first coordinate of the frame by the inverse of its distribution function, each further one by
/// that of its conditional distribution. Within a panel the density is its Legendre polynomial of degree 8.
namespace fenchel {
namespace {

using detail::AxisPanel, detail::AxisSum;
using Eigen::Index, Eigen::MatrixXd;

constexpr int kDegree = 8, kNodes = 15;
constexpr Index kAtOnce[] = {1024, 32};  // in the plane and in space
constexpr double kDrawAccuracy = 1e-6;

using Legendre = std::array<double, kDegree + 2>;
Legendre legendre(double x) {
  Legendre p{1, x};
  for (std::size_t k = 1; k + 1 < p.size(); ++k) {
    const auto n = static_cast<double>(k);
    p[k + 1] = ((2 * n + 1) * x * p[k] - n * p[k - 1]) / (n + 1);
  }
  return p;
}

/// The x in [-1, 1] left of which the panel has this share of its mass.
double quantile(const AxisPanel& panel, double share) {
  std::array<double, kDegree + 1> c{};
  for (int i = 0; i < kNodes; ++i) {
    const auto k = static_cast<std::size_t>(i < 8 ? i : 14 - i);
    const Legendre p = legendre(i < 8 ? -detail::kKronrodNode[k] : detail::kKronrodNode[k]);
    for (std::size_t j = 0; j < c.size(); ++j)
      c[j] += (static_cast<double>(j) + 0.5) * detail::kKronrod[k] *
              panel.density[static_cast<std::size_t>(i)] * p[j];
  }
  const auto mass_below = [&](double x) {
    const Legendre p = legendre(x);
    double sum = c[0] * (x + 1);
    for (std::size_t j = 1; j < c.size(); ++j)
      sum += c[j] * (p[j + 1] - p[j - 1]) / (2 * static_cast<double>(j) + 1);
    return sum;
  };
  double lower = -1, upper = 1;
  for (int i = 0; i < 54; ++i) {
    const double middle = (lower + upper) / 2;
    (mass_below(middle) < share * 2 * c[0] ? lower : upper) = middle;
  }
  return (lower + upper) / 2;
}

double draw(const AxisSum& sum, double u) {
  double total = 0, below = 0;
  for (const AxisPanel& panel : sum.panels) total += std::max(panel.value[0], 0.0);
  const AxisPanel* chosen = nullptr;
  for (const AxisPanel& panel : sum.panels) {
    const double mass = std::max(panel.value[0], 0.0);
    if (mass == 0) continue;
    chosen = &panel;
    if (below + mass >= u * total) break;
    below += mass;
  }
  const double share = std::clamp((u * total - below) / chosen->value[0], 0.0, 1.0);
  return chosen->at(quantile(*chosen, share));
}

}  // namespace

MatrixXd detail::sample(const MultivariateNumericDensity& p, const MatrixXd& uniforms) {
  const auto& table = p.table();
  const Index n = p.dimension(), step = kAtOnce[n - 2];
  const auto density = [&](const MatrixXd& t, const Eigen::VectorXd& g) {
    MatrixXd values(1, t.cols());
    for (Index i = 0; i < t.cols(); ++i) values(0, i) = std::exp(table.log_density(g[i]));
    return values;
  };
  LevelCubature lines(table.region, density, table.exponent, std::max(table.accuracy, kDrawAccuracy));
  lines.measure_lines_apart();
  MatrixXd draws(n, uniforms.cols());
  for (Index begin = 0; begin < uniforms.cols(); begin += step) {
    const Index count = std::min(step, uniforms.cols() - begin);
    MatrixXd u(n, count);
    for (Index i = 0; i < count; ++i) u(0, i) = draw(table.first, uniforms(0, begin + i));
    for (Index axis = 1; axis < n; ++axis) {
      const std::vector<AxisSum> sums = lines.along(axis, u.topRows(axis));
      for (Index i = 0; i < count; ++i)
        u(axis, i) = draw(sums[static_cast<std::size_t>(i)], uniforms(axis, begin + i));
    }
    draws.middleCols(begin, count) = table.region.frame.points(u);
  }
  return draws;
}

MatrixXd sample(const MultivariateNumericDensity& p, index_t count, std::uint64_t seed) {
  (void)detail::checked_count(count);
  MatrixXd uniforms(p.dimension(), count);
  for (index_t k = 0; k < count; ++k) {
    Philox rng(seed, static_cast<std::uint64_t>(k));
    for (index_t i = 0; i < p.dimension(); ++i) uniforms(i, k) = uniform01(rng);
  }
  return detail::sample(p, uniforms);
}

}  // namespace fenchel
