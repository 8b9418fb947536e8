#include "fenchel/estimate/density/bandwidth.hpp"

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "estimate/density/kernel.hpp"
#include "estimate/density/least_factor.hpp"
#include "estimate/density/pair_sums.hpp"
#include "estimate/density/point_tree.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/checkpoint.hpp"
#include "fenchel/core/error.hpp"

namespace fenchel {
namespace {

using detail::PointTree;

constexpr std::string_view kWhere = "bandwidth";

/// A column, sorted, with its weights.
struct Column {
  std::vector<double> values, weights;
  double weight = 0;
};

Column sorted_column(const PointTree& tree, index_t j) {
  std::vector<std::size_t> order(static_cast<std::size_t>(tree.size()));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto value = [&](std::size_t i) { return tree.coordinate(static_cast<index_t>(i), j); };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return value(a) < value(b) || (value(a) == value(b) && a < b);
  });
  Column column;
  for (const std::size_t i : order) {
    column.values.push_back(value(i));
    column.weights.push_back(tree.point_weight(static_cast<index_t>(i)));
    column.weight += column.weights.back();
  }
  return column;
}

/// The standard deviation of a sample, with W - 1.
double deviation(const Column& column) {
  const double origin = column.values.front();
  double mean = 0, squares = 0;
  for (std::size_t i = 0; i < column.values.size(); ++i)
    mean += column.weights[i] * (column.values[i] - origin);
  mean /= column.weight;
  for (std::size_t i = 0; i < column.values.size(); ++i) {
    const double d = column.values[i] - origin - mean;
    squares += column.weights[i] * d * d;
  }
  return std::sqrt(squares / (column.weight - 1));
}

/// R's quantile of type 7, where each row stands for as many as it weighs.
double quantile(const Column& column, double level) {
  const double place = level * (column.weight - 1), whole = std::floor(place);
  const auto order_statistic = [&](double rank) {
    double up_to = 0;
    for (std::size_t i = 0; i < column.values.size(); ++i) {
      up_to += column.weights[i];
      if (up_to > rank) return column.values[i];
    }
    return column.values.back();
  };
  const double low = order_statistic(whole), high = order_statistic(whole + 1);
  return low + (place - whole) * (high - low);
}

/// The smaller one of the standard deviation and the interquartile range over `normal_range`, that of a
/// normal density; the deviation where half of the values are the same.
double robust_scale(const Column& column, double normal_range) {
  const double s = deviation(column);
  const double range = (quantile(column, 0.75) - quantile(column, 0.25)) / normal_range;
  return range > 0 ? std::min(s, range) : s;
}

double checked_scale(const Column& column, double scale) {
  if (!(column.weight > 1))
    throw_domain_error(kWhere, "the sum of the weights", "must be above 1", column.weight);
  if (!(column.values.front() < column.values.back()))
    throw_domain_error(kWhere, "the values of a column", "must not all be the same", column.values.front());
  return detail::checked_positive(kWhere, "the scale of a column", scale);
}

PointTree unit_tree(Rows<const double> points, std::span<const double> weights) {
  const std::vector<double> ones(static_cast<std::size_t>(points.cols), 1.0);
  return {kWhere, points, weights, ones};
}

/// (R(K) / R(normal))^{1/(N + 4)}.
double kernel_factor(index_t n, double alpha) {
  if (!(alpha >= 1)) throw_domain_error(kWhere, "alpha", "must be at least 1", alpha);
  return std::pow(detail::roughness(n, alpha) / detail::roughness(n, 1), 1 / static_cast<double>(n + 4));
}

}  // namespace

std::vector<double> silverman_bandwidth(Rows<const double> points, double alpha,
                                        std::span<const double> weights) {
  const PointTree tree = unit_tree(points, weights);
  const index_t n = points.cols;
  const auto size = static_cast<double>(n);
  std::vector<double> out;
  for (index_t j = 0; j < n; ++j) {
    const Column column = sorted_column(tree, j);
    const double w = column.weight;
    const double scale = n == 1 ? 0.9 * robust_scale(column, 1.34) * std::pow(w, -0.2)
                                : deviation(column) * std::pow(4 / ((size + 2) * w), 1 / (size + 4));
    out.push_back(kernel_factor(n, alpha) * checked_scale(column, scale));
  }
  return out;
}

double sheather_jones_bandwidth(std::span<const double> points, double alpha,
                                std::span<const double> weights) {
  PointTree tree = unit_tree({points.data(), std::ssize(points), 1}, weights);
  tree.keep_sums(detail::NodeSums::powers, detail::kTaylorTerms);
  const Column column = sorted_column(tree, 0);
  const double w = column.weight, scale = checked_scale(column, robust_scale(column, 1.349));
  const double roughness = detail::roughness(1, alpha);
  const detail::NormalDerivativeSum fourth(tree, 4), sixth(tree, 6);
  // Estimates of the integrals of f f'''' and f f''''''.
  const auto functional = [&](const detail::NormalDerivativeSum& sum, double g, double power) {
    return detail::sum_over_points(tree, [&](const double* x, index_t) { return sum(*x, g); }) /
           (w * (w - 1) * std::pow(g, power));
  };
  const double a = 1.24 * scale * std::pow(w, -1.0 / 7), b = 1.23 * scale * std::pow(w, -1.0 / 9);
  const double s = functional(fourth, a, 5), t = -functional(sixth, b, 7);
  if (!(t > 0 && s > 0))
    throw_domain_error(kWhere, "the estimate of the curvature", "must be positive; there are too few rows",
                       t);
  const double ratio = 1.357 * std::pow(s / t, 1.0 / 7);
  const auto excess = [&](double h) {
    checkpoint();
    const double curvature = functional(fourth, ratio * std::pow(h, 5.0 / 7), 5);
    return curvature > 0 ? std::pow(roughness / (w * curvature), 0.2) - h : kInfinity;
  };
  double high = 1.144 * scale * std::pow(w, -0.2), low = 0.1 * high;
  double at_low = excess(low), at_high = excess(high);
  constexpr int kMost = 100;
  for (int i = 0; i < kMost && at_low <= 0; ++i) at_low = excess(low /= 1.2);
  for (int i = 0; i < kMost && at_high >= 0; ++i) at_high = excess(high *= 1.2);
  if (!(at_low > 0 && at_high < 0))
    throw_domain_error(kWhere, "the equation of Sheather and Jones", "must have a root up to", high);
  std::uintmax_t iterations = 100;
  const auto close = [](double x, double y) { return std::abs(y - x) <= 1e-10 * y; };
  const auto root = boost::math::tools::toms748_solve(excess, low, high, at_low, at_high, close, iterations);
  return (root.first + root.second) / 2;
}

SelectedDensity select_bandwidth(BandwidthRule rule, Rows<const double> points, double alpha,
                                 std::span<const double> weights, const Interval& domain) {
  if (rule == BandwidthRule::sheather_jones) {
    if (points.cols != 1)
      throw_invalid_argument(kWhere, "points", "must have one column for Sheather and Jones", points.cols);
    std::vector<double> column;
    for (index_t i = 0; i < points.rows; ++i) column.push_back(*points.row(i));
    const double h = sheather_jones_bandwidth(column, alpha, weights);
    return {KernelDensity(points, alpha, {&h, 1}, weights, domain), false};
  }
  const KernelDensity start(points, alpha, silverman_bandwidth(points, alpha, weights), weights, domain);
  if (rule == BandwidthRule::silverman) return {start, false};
  const detail::LeastFactor least = detail::least_factor([&](double factor) {
    const KernelDensity density = start.scaled(factor);
    return rule == BandwidthRule::likelihood ? -density.likelihood_score() : density.least_squares_score();
  });
  return {start.scaled(least.factor), least.at_end};
}

}  // namespace fenchel
