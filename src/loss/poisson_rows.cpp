#include "fenchel/loss/poisson_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "backend/cpu/checks.hpp"
#include "core/compensated_sum.hpp"
#include "core/fenchel_young_term.hpp"
#include "core/for_each_row.hpp"
#include "fenchel/core/deformed_derivatives.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/distribution/integers/integer_tail.hpp"
#include "fenchel/distribution/integers/sparse_poisson.hpp"
#include "loss/integer_sums.hpp"
#include "loss/poisson_moves.hpp"

namespace fenchel {
namespace {

using detail::Curves;
using detail::scaled_deformation;
using detail::scaled_deformation_curvature;
using detail::Slopes;
using detail::square;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The statistics of one distribution, with derivatives.
class Statistics : detail::PoissonMoves {
 public:
  using PoissonMoves::PoissonMoves;

  [[nodiscard]] Slopes pmf(index_t t) const {
    const std::size_t i = position(t);
    if (i >= size()) {
      const double p = p_.table().pmf(t);
      if (p == 0 || p_.table().tails().empty()) return {p};
      Slopes s = log_pmf(t);
      s.second.add(1, square(s.log_mu, s.alpha));
      Slopes result{p, p * s.log_mu, p * s.alpha};
      result.second.add(p, s.second);
      return result;
    }
    return at(i);
  }

  [[nodiscard]] Slopes cdf(double x) const {
    if (x < 0) return {0};
    if (x >= 0x1p63) return {1};
    const auto t = static_cast<index_t>(std::floor(x));
    const index_t first = p_.table().first();
    const auto one = [](const auto&, const auto&) { return 1.0; };
    for (const auto& tail : p_.table().tails()) {  // in a tail the slopes are those of its rest
      const double from = tail.distance(t) + (tail.step > 0 ? 1 : 0);
      if (from < tail.first) continue;
      Slopes s{0};
      add_tail(s, tail, from, 1, 0, one);
      Slopes result{p_.table().cdf(t), -tail.step * s.log_mu, -tail.step * s.alpha};
      result.second.add(-tail.step, s.second);
      return result;
    }
    Slopes s = along(p_.table().cdf(t),
                     [&](std::size_t i) { return first + static_cast<index_t>(i) <= t ? 1.0 : 0.0; });
    for (const auto& tail : p_.table().tails()) {
      if (tail.step < 0) add_tail(s, tail, tail.first, 1, 0, one);
    }
    return s;
  }

  [[nodiscard]] double quantile(double u) const {
    if (!(u >= 0 && u <= 1)) return kNaN;
    const index_t t = p_.table().quantile(u);
    return t == std::numeric_limits<index_t>::max() ? kInfinity : static_cast<double>(t);
  }

  [[nodiscard]] Slopes mean() const {
    return along(
        fenchel::mean(p_), [this](std::size_t i) { return from_mode(i); }, 1, 1,
        [this](const auto& tail, const auto& point) { return side(tail, point); });
  }

  [[nodiscard]] Slopes variance() const {
    const double offset = p_.table().mean_offset();
    Slopes s = along(
        fenchel::variance(p_),
        [&](std::size_t i) {
          const double distance = from_mode(i) - offset;
          return distance * distance;
        },
        1, 2,
        [this, offset](const auto& tail, const auto& point) {
          const double distance = side(tail, point) - offset / point.distance;
          return distance * distance;
        });
    const Slopes m = mean();
    s.second.add(-2, square(m.log_mu, m.alpha));
    return s;
  }

  [[nodiscard]] Slopes entropy(double order) const {
    const auto window = p_.table().probabilities();
    const double power = std::min(order, 1.0);
    return along(
        fenchel::tsallis_entropy(p_, order),
        [&](std::size_t i) { return -deformed_log(order - 1, window[i]); }, power, 0,
        [&](const auto&, const auto& point) {  // -log_{2-order}(p) p^{1 - power}
          const double l = point.log_p();
          return order < 1 ? -std::expm1((1 - order) * l) / (1 - order) : -deformed_log_of_exp(order - 1, l);
        },
        &order);
  }

  /// In log mu its slope is the mean less the count.
  [[nodiscard]] Slopes loss(index_t t) const {
    const double am1 = p_.prediction().am1;
    if (!p_.table().tails().empty()) {
      if (!(p_.alpha() > 0.5))
        throw_domain_error("sparse_poisson_rows", "alpha", "must be above 1/2 for a loss", p_.alpha());
      const auto sums = detail::integer_loss_sums(detail::LossKind::fenchel_young, p_.prediction(), t,
                                                  static_cast<double>(mode(p_)));
      return {sums.value, sums.first, sums.alpha, loss_curves()};
    }
    detail::CompensatedSum value, alpha;
    value.add(detail::cross_omega_term(am1, 1, 0, p_.prediction().excess(t)));
    index_t at = p_.table().first();
    for (const double p : p_.table().probabilities()) {
      value.add(detail::cross_omega_term(am1, 0, p, p_.prediction().excess(at++)));
      alpha.add(-detail::tsallis_term_alpha_derivative(am1, p));
    }
    const double distance = static_cast<double>(mode(p_) - t) + p_.table().mean_offset();
    return {std::max(0.0, value.total()), distance, alpha.total(), loss_curves()};
  }

  [[nodiscard]] Slopes operator()(PoissonStatistic statistic, double x, double order) const {
    const bool natural = x >= 0 && x < 0x1p63 && x == std::floor(x);
    const index_t t = natural ? static_cast<index_t>(x) : 0;
    switch (statistic) {
      case PoissonStatistic::log_pmf:
        return natural ? log_pmf(t) : Slopes{std::isnan(x) ? kNaN : -kInfinity};
      case PoissonStatistic::pmf:
        return natural ? pmf(t) : Slopes{std::isnan(x) ? kNaN : 0.0};
      case PoissonStatistic::cdf:
        return std::isnan(x) ? Slopes{kNaN} : cdf(x);
      case PoissonStatistic::quantile:
        return {quantile(x)};
      case PoissonStatistic::loss:
        if (std::isnan(x)) return detail::without_slopes(kNaN);
        if (!natural) throw_domain_error("sparse_poisson_rows", "at", "must be a natural number", x);
        return loss(t);
      case PoissonStatistic::mean:
        return mean();
      case PoissonStatistic::variance:
        return variance();
      case PoissonStatistic::mode:
        return {static_cast<double>(fenchel::mode(p_))};
      case PoissonStatistic::entropy:
        return entropy(order);
    }
    throw_invalid_argument("sparse_poisson_rows", "statistic", "must be one of them",
                           static_cast<index_t>(statistic));
  }

 private:
  /// Of the loss: in log mu those of the mean, in alpha the slope of minus the sum of d phi(p) / d alpha, phi
  /// as in core/tsallis_term.hpp.
  [[nodiscard]] Curves loss_curves() const {
    if (!twice()) return {};
    const Slopes m = mean();
    const double am1 = p_.prediction().am1, alpha = p_.alpha();
    detail::CompensatedSum total;
    const auto window = p_.table().probabilities();
    for (std::size_t i = 0; i < window.size(); ++i) {
      if (window[i] == 0) continue;
      total.add(-detail::tsallis_term_alpha_curvature(am1, window[i]));
      total.add(-deformed_log_alpha_derivative<1>(am1, std::log(window[i])) * at(i).alpha);
    }
    for (const auto& tail : p_.table().tails()) {
      for (const auto& node : detail::tail_nodes(tail, tail.first, alpha, 0).nodes) {  // in units of p^alpha
        const Slopes s = log_slopes(tail, node);
        const double level = -std::expm1(-am1 * s.value) / am1, first = scaled_deformation(am1, s.value);
        const double phi =
            (scaled_deformation_curvature(am1, s.value) - 2 * (first - level / alpha) / alpha) / alpha;
        total.add(-node.times(node.p.raised(alpha, 0)) * (phi + first * s.alpha));
      }
    }
    return {m.log_mu, m.alpha, total.total()};
  }
};

void fill_row(const Statistics& p, PoissonStatistic statistic, double mu, index_t i, Rows<const double> at,
              const PoissonRows& out, double order) {
  const bool twice = out.d2_mu.data != nullptr;
  for (index_t j = 0; j < at.cols; ++j) {
    const Slopes s = p(statistic, at.row(i)[j], order);
    out.value.row(i)[j] = s.value;
    out.d_mu.row(i)[j] = s.log_mu / mu;
    out.d_alpha.row(i)[j] = s.alpha;
    if (!twice) continue;
    out.d2_mu.row(i)[j] = (s.second.log_mu - s.log_mu) / mu / mu;
    out.d_mu_alpha.row(i)[j] = s.second.mixed / mu;
    out.d2_alpha.row(i)[j] = s.second.alpha;
  }
}

void fill_with_nan(index_t i, const PoissonRows& out) {
  for (const auto& rows : {out.value, out.d_mu, out.d_alpha}) std::ranges::fill(rows[i], kNaN);
  if (out.d2_mu.data) {
    for (const auto& rows : {out.d2_mu, out.d_mu_alpha, out.d2_alpha}) std::ranges::fill(rows[i], kNaN);
  }
}

/// Where runs of rows with the same parameters begin, which share a table, and the number of rows.
std::vector<index_t> runs_of(PerRow alpha, PerRow mu, index_t rows) {
  constexpr index_t kLongest = 1024;  // so that threads share many rows of one distribution
  std::vector<index_t> begins;
  for (index_t i = 0; i < rows; ++i) {
    if (i == 0 || i - begins.back() == kLongest || alpha[i] != alpha[i - 1] || mu[i] != mu[i - 1])
      begins.push_back(i);
  }
  begins.push_back(rows);
  return begins;
}

}  // namespace

void sparse_poisson_rows(PoissonStatistic statistic, PerRow alpha, PerRow mu, Rows<const double> at,
                         const PoissonRows& out, double order) {
  constexpr auto kWhere = "sparse_poisson_rows";
  detail::check_view(kWhere, "at", at);
  if (mu.per_row()) detail::check_count(kWhere, "mu", mu.size(), at.rows);
  if (alpha.per_row()) detail::check_count(kWhere, "alpha", alpha.size(), at.rows);
  detail::check_same_shape(kWhere, "value", out.value, "at", at);
  detail::check_same_shape(kWhere, "d_mu", out.d_mu, "at", at);
  detail::check_same_shape(kWhere, "d_alpha", out.d_alpha, "at", at);
  if (out.d2_mu.data) {
    detail::check_same_shape(kWhere, "d2_mu", out.d2_mu, "at", at);
    detail::check_same_shape(kWhere, "d_mu_alpha", out.d_mu_alpha, "at", at);
    detail::check_same_shape(kWhere, "d2_alpha", out.d2_alpha, "at", at);
  }
  constexpr index_t kTableCost = 5000, kNumberCost = 100;  // nanoseconds
  const std::vector<index_t> runs = runs_of(alpha, mu, at.rows);
  const auto count = static_cast<index_t>(runs.size()) - 1;
  const index_t numbers = count > 0 ? at.rows * at.cols / count : 0;
  detail::for_each_row(count, kTableCost + kNumberCost * numbers, [&](index_t run) {
    const index_t begin = runs[static_cast<std::size_t>(run)], end = runs[static_cast<std::size_t>(run) + 1];
    if (std::isnan(mu[begin]) || std::isnan(alpha[begin])) return fill_with_nan(begin, out);
    const Statistics p(alpha[begin], mu[begin], out.d2_mu.data != nullptr);
    for (index_t i = begin; i < end; ++i) fill_row(p, statistic, mu[i], i, at, out, order);
  });
}

}  // namespace fenchel
