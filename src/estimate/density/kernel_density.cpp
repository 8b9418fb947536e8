#include "fenchel/estimate/density/kernel_density.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "estimate/density/autoconvolution.hpp"
#include "estimate/density/kernel_sum.hpp"
#include "estimate/density/line_cdf.hpp"
#include "estimate/density/pair_sums.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/parallel.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/core/variates.hpp"

namespace fenchel {
namespace {

using detail::KernelSum;
using detail::PointTree;
using detail::RadialKernel;

constexpr std::string_view kWhere = "kernel_density";
/// Nanoseconds for a row, when parallel_rows decides about threads.
constexpr index_t kRowCost = 500;

/// What all bandwidths share.
struct Shared {
  explicit Shared(PointTree points) : tree(std::move(points)) {}

  PointTree tree;
  mutable std::once_flag made{};
  mutable std::optional<detail::Autoconvolution> table{};

  /// K * K, which is made when it is first asked for.
  [[nodiscard]] const detail::Autoconvolution& autoconvolution(double alpha) const {
    std::call_once(made, [&] { table.emplace(tree.dimension(), alpha); });
    return *table;
  }
};

std::shared_ptr<const Shared> share(Rows<const double> points, double alpha,
                                    std::span<const double> bandwidth, std::span<const double> weights) {
  if (!(alpha >= 1)) throw_domain_error(kWhere, "alpha", "must be at least 1", alpha);
  if (std::ssize(bandwidth) != points.cols)
    throw_invalid_argument(kWhere, "bandwidth", "must be one for each column", std::ssize(bandwidth));
  for (const double h : bandwidth) detail::checked_positive(kWhere, "bandwidth", h);
  PointTree tree(kWhere, points, weights, bandwidth);
  detail::keep_sums_for(tree, alpha);
  return std::make_shared<const Shared>(std::move(tree));
}

/// log(e^a + e^b).
double log_sum(double a, double b) {
  const double most = std::max(a, b), least = std::min(a, b);
  return least > -kInfinity ? most + std::log1p(std::exp(least - most)) : most;
}

}  // namespace

struct KernelDensity::State {
  std::shared_ptr<const Shared> data;
  double alpha, factor;
  Interval domain;
  RadialKernel kernel;
  double volume;  ///< of a unit of the tree

  State(std::shared_ptr<const Shared> points, double order, double times, const Interval& on)
      : data(std::move(points)),
        alpha(order),
        factor(times),
        domain(on),
        kernel(detail::radial_kernel(kWhere, data->tree.dimension(), order, times)),
        volume(1) {
    for (const double h : data->tree.scale()) volume *= h;
  }

  [[nodiscard]] const PointTree& tree() const noexcept { return data->tree; }
  [[nodiscard]] bool reflects() const noexcept {
    return domain.lower() > -kInfinity || domain.upper() < kInfinity;
  }
  /// The mirror image of t.
  [[nodiscard]] double image(double t) const noexcept {
    return 2 * (domain.lower() > -kInfinity ? domain.lower() : domain.upper()) - t;
  }
  [[nodiscard]] bool outside(const double* t) const noexcept {
    return reflects() && (*t < domain.lower() || *t > domain.upper());
  }
  /// What a sum of profiles of this weight is multiplied by.
  [[nodiscard]] double unit(double weight) const noexcept { return kernel.peak / volume / weight; }

  [[nodiscard]] double sum(const KernelSum& sums, const double* t, index_t excluded) const noexcept {
    if (outside(t)) return 0;
    double total = sums(t, excluded);
    if (reflects()) {
      const double mirrored = image(*t);
      total += sums(&mirrored, excluded);
    }
    return total;
  }
  [[nodiscard]] double log(const KernelSum& sums, const double* t, index_t excluded) const noexcept {
    if (outside(t)) return -kInfinity;
    const double direct = sums.log(t, excluded);
    if (!reflects() || std::isnan(direct)) return direct;
    const double mirrored = image(*t);
    return log_sum(direct, sums.log(&mirrored, excluded));
  }
};

KernelDensity::KernelDensity(Rows<const double> points, double alpha, std::span<const double> bandwidth,
                             std::span<const double> weights, const Interval& domain) {
  if (domain.lower() > -kInfinity && domain.upper() < kInfinity)
    throw_domain_error(kWhere, "domain", "must have an infinite end, its length", domain.width());
  const bool half = domain.lower() > -kInfinity || domain.upper() < kInfinity;
  if (half && points.cols != 1)
    throw_invalid_argument(kWhere, "points", "must have one column on a half-line", points.cols);
  state_ = std::make_shared<const State>(share(points, alpha, bandwidth, weights), alpha, 1, domain);
  if (!half) return;
  const PointTree& tree = state_->tree();
  for (index_t i : {index_t{0}, tree.size() - 1})
    if (!domain.contains(tree.coordinate(i, 0)))
      throw_domain_error(kWhere, indexed("points", tree.row(i)), "must be in the domain",
                         tree.coordinate(i, 0));
}

KernelDensity KernelDensity::scaled(double factor) const {
  const double checked = detail::checked_positive(kWhere, "factor", state_->factor * factor);
  return KernelDensity(std::make_shared<const State>(state_->data, state_->alpha, checked, state_->domain));
}

index_t KernelDensity::dimension() const noexcept { return state_->tree().dimension(); }
index_t KernelDensity::size() const noexcept { return state_->tree().size(); }
double KernelDensity::weight() const noexcept { return state_->tree().weight(); }
double KernelDensity::alpha() const noexcept { return state_->alpha; }
const Interval& KernelDensity::domain() const noexcept { return state_->domain; }

double KernelDensity::bandwidth(index_t j) const noexcept {
  return state_->factor * state_->tree().scale()[static_cast<std::size_t>(j)];
}

double KernelDensity::radius() const noexcept {
  const bool gaussian = state_->kernel.profile == detail::KernelProfile::gaussian;
  return gaussian ? kInfinity : 1 / std::sqrt(state_->kernel.inverse) / state_->factor;
}

Interval KernelDensity::range(index_t j) const {
  const PointTree& tree = state_->tree();
  double low = kInfinity, high = -kInfinity;
  for (index_t i = 0; i < tree.size(); ++i) {
    low = std::min(low, tree.coordinate(i, j));
    high = std::max(high, tree.coordinate(i, j));
  }
  return {low, high};
}

Interval KernelDensity::hull(index_t j) const {
  const Interval data = range(j);
  const double reach = radius() * bandwidth(j);
  return {std::max(data.lower() - reach, state_->domain.lower()),
          std::min(data.upper() + reach, state_->domain.upper())};
}

namespace {

/// value(row) of each row of t.
template <class Value>
void map_rows(std::string_view where, index_t dimension, Rows<const double> t, std::span<double> out,
              const Value& value) {
  if (t.cols != dimension) throw_invalid_argument(where, "t.cols", "must be the dimension", t.cols);
  if (std::ssize(out) != t.rows)
    throw_invalid_argument(where, "out", "must be one for each row", std::ssize(out));
  parallel_rows(t.rows, workers_for(t.rows, kRowCost), [&](index_t begin, index_t end, int) noexcept {
    for (index_t i = begin; i < end; ++i) out[static_cast<std::size_t>(i)] = value(t.row(i));
  });
}

}  // namespace

void KernelDensity::pdf_rows(Rows<const double> t, std::span<double> out) const {
  const KernelSum sums(state_->tree(), state_->kernel);
  const double unit = state_->unit(weight());
  map_rows("pdf_rows", dimension(), t, out, [&](const double* x) { return unit * state_->sum(sums, x, -1); });
}

void KernelDensity::log_pdf_rows(Rows<const double> t, std::span<double> out) const {
  const KernelSum sums(state_->tree(), state_->kernel);
  const double unit = std::log(state_->unit(weight()));
  map_rows("log_pdf_rows", dimension(), t, out,
           [&](const double* x) { return unit + state_->log(sums, x, -1); });
}

void KernelDensity::cdf_rows(std::span<const double> t, std::span<double> out) const {
  if (dimension() != 1) throw_invalid_argument("cdf_rows", "dimension", "must be 1", dimension());
  const detail::LineCdf sums(state_->tree(), state_->kernel, state_->alpha);
  const Interval& domain = state_->domain;
  const double total = weight();
  map_rows("cdf_rows", 1, {t.data(), std::ssize(t), 1}, out, [&](const double* x) {
    if (std::isnan(*x)) return *x;
    if (*x <= domain.lower()) return 0.0;
    if (*x >= domain.upper()) return 1.0;
    if (!state_->reflects()) return sums(*x) / total;
    const double mirrored = sums(state_->image(*x));
    // int_a^t g(s) + g(2 a - s) ds, and from -infinity the rest beyond the mirror.
    return std::clamp(
        (domain.lower() > -kInfinity ? sums(*x) - mirrored : total + sums(*x) - mirrored) / total, 0.0, 1.0);
  });
}

void KernelDensity::sample_rows(std::uint64_t seed, std::uint64_t first_stream, Rows<double> out) const {
  const PointTree& tree = state_->tree();
  const index_t n = dimension();
  if (out.cols != n) throw_invalid_argument("sample_rows", "out.cols", "must be the dimension", out.cols);
  std::vector<double> up_to(static_cast<std::size_t>(tree.size()));
  double total = 0;
  for (index_t i = 0; i < tree.size(); ++i)
    up_to[static_cast<std::size_t>(i)] = total += tree.point_weight(i);
  const RadialKernel& kernel = state_->kernel;
  const bool gaussian = kernel.profile == detail::KernelProfile::gaussian;
  const double size = static_cast<double>(n);
  parallel_rows(out.rows, workers_for(out.rows, kRowCost), [&](index_t begin, index_t end, int) noexcept {
    for (index_t k = begin; k < end; ++k) {
      Philox rng(seed, first_stream + static_cast<std::uint64_t>(k));
      const auto place =
          std::upper_bound(up_to.begin(), up_to.end() - 1, uniform01(rng) * total) - up_to.begin();
      double* const draw = out.row(k);
      double norm = 0;
      for (index_t j = 0; j < n; ++j) {
        draw[j] = standard_normal(rng);
        norm += draw[j] * draw[j];
      }
      // |t|^2 / radius^2 of a kernel that ends has the law Beta(n / 2, 1 + exponent) (docs/math.md 4).
      const double length =
          gaussian ? state_->factor
                   : std::sqrt(standard_beta(size / 2, 1 + kernel.exponent, rng) / kernel.inverse / norm);
      for (index_t j = 0; j < n; ++j)
        draw[j] = tree.coordinate(place, j) + draw[j] * length * tree.scale()[static_cast<std::size_t>(j)];
      if (state_->outside(draw)) *draw = state_->image(*draw);
    }
  });
}

double KernelDensity::likelihood_score() const {
  if (size() < 2)
    throw_domain_error(kWhere, "the number of rows", "must be at least 2", static_cast<double>(size()));
  const PointTree& tree = state_->tree();
  const KernelSum sums(tree, state_->kernel);
  return detail::sum_over_points(tree,
                                 [&](const double* x, index_t place) {
                                   const double others = weight() - tree.point_weight(place);
                                   return std::log(state_->unit(others)) + state_->log(sums, x, place);
                                 }) /
         weight();
}

/// The sums of K * K over all pairs: on a half-line int_a (g(t) + g(2 a - t))^2 = int g^2 + int g(t) g(2 a -
/// t), which adds those of the mirror images.
double KernelDensity::squared_integral() const {
  const PointTree& tree = state_->tree();
  const double squares = weight() * weight() * state_->volume;
  const auto with_images = [&](const auto& sum) {
    return detail::sum_over_points(tree, [&](const double* x, index_t) {
      double total = sum(x);
      if (state_->reflects()) {
        const double mirrored = state_->image(*x);
        total += sum(&mirrored);
      }
      return total;
    });
  };
  if (state_->kernel.profile == detail::KernelProfile::gaussian) {
    const RadialKernel wide =
        detail::radial_kernel(kWhere, dimension(), 1, state_->factor * std::numbers::sqrt2);
    const KernelSum sums(tree, wide);
    return wide.peak / squares * with_images([&](const double* x) { return sums(x); });
  }
  const detail::AutoconvolutionSum sums(tree, state_->data->autoconvolution(state_->alpha),
                                        state_->kernel.degree());
  const double unit = std::sqrt(state_->kernel.inverse);
  return std::pow(unit, static_cast<double>(dimension())) / squares *
         with_images([&](const double* x) { return sums(x, unit); });
}

double KernelDensity::least_squares_score() const {
  if (size() < 2)
    throw_domain_error(kWhere, "the number of rows", "must be at least 2", static_cast<double>(size()));
  const PointTree& tree = state_->tree();
  const KernelSum sums(tree, state_->kernel);
  const double left_out = detail::sum_over_points(tree, [&](const double* x, index_t place) {
    return state_->unit(weight() - tree.point_weight(place)) * state_->sum(sums, x, place);
  });
  return squared_integral() - 2 * left_out / weight();
}

}  // namespace fenchel
