#include "fenchel/estimate/density/kernel_regression.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "estimate/density/kernel_sum.hpp"
#include "estimate/density/least_factor.hpp"
#include "estimate/density/pair_sums.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/parallel.hpp"
#include "fenchel/estimate/density/bandwidth.hpp"

namespace fenchel {
namespace {

using detail::KernelSum;
using detail::PointTree;
using detail::RadialKernel;

constexpr std::string_view kWhere = "kernel_regression";
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// The points twice, weighed by w and by w (y - origin), which is positive: y is the ratio of two sums. Both
/// trees are cut alike.
struct Shared {
  PointTree tree, lifted;
  std::vector<double> heights;  ///< y - origin, in the order of the tree
  double origin;
};

std::shared_ptr<const Shared> share(Rows<const double> points, std::span<const double> targets, double alpha,
                                    std::span<const double> bandwidth, std::span<const double> weights) {
  if (!(alpha >= 1)) throw_domain_error(kWhere, "alpha", "must be at least 1", alpha);
  if (std::ssize(bandwidth) != points.cols)
    throw_invalid_argument(kWhere, "bandwidth", "must be one for each column", std::ssize(bandwidth));
  for (const double h : bandwidth) detail::checked_positive(kWhere, "bandwidth", h);
  if (std::ssize(targets) != points.rows)
    throw_invalid_argument(kWhere, "targets", "must be one for each row", std::ssize(targets));
  for (std::size_t i = 0; i < targets.size(); ++i)
    detail::checked_finite(kWhere, indexed("targets", static_cast<index_t>(i)), targets[i]);
  PointTree tree(kWhere, points, weights, bandwidth);
  const auto [low, high] = std::ranges::minmax(targets);
  const double range = detail::checked_finite(kWhere, "the range of the targets", high - low);
  // One range below the least, so that no row loses its weight.
  const double origin = low - (range > 0 ? range : 1);
  std::vector<double> lifts(targets.size(), 0.0);
  for (index_t i = 0; i < tree.size(); ++i) {
    const auto row = static_cast<std::size_t>(tree.row(i));
    lifts[row] = tree.point_weight(i) * (targets[row] - origin);
  }
  PointTree lifted(kWhere, points, lifts, bandwidth);
  detail::keep_sums_for(tree, alpha);
  detail::keep_sums_for(lifted, alpha);
  std::vector<double> heights;
  for (index_t i = 0; i < tree.size(); ++i)
    heights.push_back(targets[static_cast<std::size_t>(tree.row(i))] - origin);
  return std::make_shared<const Shared>(
      Shared{std::move(tree), std::move(lifted), std::move(heights), origin});
}

}  // namespace

struct KernelRegression::State {
  std::shared_ptr<const Shared> data;
  double alpha, factor;
  LocalFit fit;
  RadialKernel kernel;

  State(std::shared_ptr<const Shared> points, double order, double times, LocalFit local)
      : data(std::move(points)),
        alpha(order),
        factor(times),
        fit(local),
        kernel(detail::radial_kernel(kWhere, data->tree.dimension(), order, times)) {}

  /// Both kinds of fits at a point, without the row at `excluded`.
  class Fits {
   public:
    explicit Fits(const State& state)
        : state_(state), sums_(state.data->tree, state.kernel), lifted_(state.data->lifted, state.kernel) {}

    [[nodiscard]] double operator()(const double* t, index_t excluded) const {
      return state_.data->origin + (state_.fit == LocalFit::mean ? mean(t, excluded) : line(t, excluded));
    }

   private:
    [[nodiscard]] double mean(const double* t, index_t excluded) const {
      const double below = sums_.log(t, excluded);
      return below > -kInfinity ? std::exp(lifted_.log(t, excluded) - below) : kNan;
    }
    /// By the means and the covariances of the rows in reach, in units of the bandwidth.
    [[nodiscard]] double line(const double* t, index_t excluded) const {
      const PointTree& tree = state_.data->tree;
      const index_t n = tree.dimension();
      Eigen::MatrixXd moments = Eigen::MatrixXd::Zero(n + 2, n + 2);
      Eigen::VectorXd entry(n + 2);  // 1, the distances, y
      sums_.for_each_near(t, excluded, [&](index_t place, double share) {
        entry[0] = 1;
        for (index_t j = 0; j < n; ++j)
          entry[1 + j] = (tree.coordinate(place, j) - t[j]) / tree.scale()[static_cast<std::size_t>(j)];
        entry[n + 1] = state_.data->heights[static_cast<std::size_t>(place)];
        moments.noalias() += (share * entry) * entry.transpose();
      });
      const double weight = moments(0, 0);
      if (!(weight > 0)) return kNan;
      const Eigen::VectorXd mean = moments.row(0).segment(1, n + 1) / weight;
      const Eigen::MatrixXd covariance =
          moments.bottomRightCorner(n + 1, n + 1) / weight - mean * mean.transpose();
      const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> axes(covariance.topLeftCorner(n, n));
      // Axes along which the rows do not vary but by rounding have no slope.
      constexpr double kFlat = 1e-12;
      const double least = kFlat * (axes.eigenvalues()[n - 1] + mean.head(n).squaredNorm());
      double value = mean[n];
      for (index_t j = 0; j < n; ++j) {
        if (!(axes.eigenvalues()[j] > least)) continue;
        const auto axis = axes.eigenvectors().col(j);
        value -= axis.dot(covariance.col(n).head(n)) / axes.eigenvalues()[j] * axis.dot(mean.head(n));
      }
      return value;
    }

    const State& state_;
    KernelSum sums_, lifted_;
  };
};

KernelRegression::KernelRegression(Rows<const double> points, std::span<const double> targets, double alpha,
                                   std::span<const double> bandwidth, std::span<const double> weights,
                                   LocalFit fit)
    : state_(
          std::make_shared<const State>(share(points, targets, alpha, bandwidth, weights), alpha, 1, fit)) {}

KernelRegression KernelRegression::scaled(double factor) const {
  const double checked = detail::checked_positive(kWhere, "factor", state_->factor * factor);
  return KernelRegression(std::make_shared<const State>(state_->data, state_->alpha, checked, state_->fit));
}

index_t KernelRegression::dimension() const noexcept { return state_->data->tree.dimension(); }
double KernelRegression::alpha() const noexcept { return state_->alpha; }
LocalFit KernelRegression::fit() const noexcept { return state_->fit; }
double KernelRegression::bandwidth(index_t j) const noexcept {
  return state_->factor * state_->data->tree.scale()[static_cast<std::size_t>(j)];
}

void KernelRegression::predict_rows(Rows<const double> t, std::span<double> out) const {
  const State::Fits fits(*state_);
  const index_t n = dimension();
  if (t.cols != n) throw_invalid_argument("predict_rows", "t.cols", "must be the dimension", t.cols);
  if (std::ssize(out) != t.rows)
    throw_invalid_argument("predict_rows", "out", "must be one for each row", std::ssize(out));
  constexpr index_t kRowCost = 2000;
  parallel_rows(t.rows, workers_for(t.rows, kRowCost), [&](index_t begin, index_t end, int) noexcept {
    for (index_t i = begin; i < end; ++i) {
      const bool finite = std::ranges::all_of(t[i], [](double x) { return std::isfinite(x); });
      out[static_cast<std::size_t>(i)] = finite ? fits(t.row(i), -1) : kNan;
    }
  });
}

double KernelRegression::least_squares_score() const {
  const PointTree& tree = state_->data->tree;
  if (tree.size() < 2)
    throw_domain_error(kWhere, "the number of rows", "must be at least 2", static_cast<double>(tree.size()));
  const State::Fits fits(*state_);
  const double weight = tree.weight(), total = state_->data->lifted.weight();
  return detail::sum_over_points(
             tree,
             [&](const double* x, index_t place) {
               const double height = state_->data->heights[static_cast<std::size_t>(place)];
               const double w = tree.point_weight(place), near = fits(x, place) - state_->data->origin;
               const double guess = std::isnan(near) ? (total - w * height) / (weight - w) : near;
               return (height - guess) * (height - guess);
             }) /
         weight;
}

SelectedRegression select_regression(Rows<const double> points, std::span<const double> targets, double alpha,
                                     std::span<const double> weights, LocalFit fit) {
  const KernelRegression start(points, targets, alpha, silverman_bandwidth(points, alpha, weights), weights,
                               fit);
  const detail::LeastFactor least =
      detail::least_factor([&](double factor) { return start.scaled(factor).least_squares_score(); });
  return {start.scaled(least.factor), least.at_end};
}

}  // namespace fenchel
