#include "fenchel/loss/poisson_rows.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <vector>

#include "backend/cpu/checks.hpp"
#include "core/compensated_sum.hpp"
#include "core/fenchel_young_term.hpp"
#include "fenchel/backend/cpu/entmax_derivatives.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/core/parallel.hpp"
#include "fenchel/distribution/integers/sparse_poisson.hpp"

namespace fenchel {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A number with its derivatives in log mu and alpha.
struct Slopes {
  double value, log_mu = 0, alpha = 0, log_mu_twice = kNaN;
};

/// One distribution, and how the probabilities of its window move: on it they are an entmax of the scores.
class Distribution {
 public:
  Distribution(double alpha, double mu) : p_(alpha, mu) {
    const auto window = p_.table().probabilities();
    std::vector<double> distance(window.size());
    for (std::size_t i = 0; i < window.size(); ++i) distance[i] = from_mode(i);
    const auto row = [](auto& x) { return Rows(x.data(), 1, static_cast<index_t>(x.size())); };
    const double one = 1;
    by_log_mu_.resize(window.size());
    by_alpha_.resize(window.size());
    cpu::entmax_jvp<double>(row(window), alpha, row(distance), {}, row(by_log_mu_));
    std::ranges::fill(distance, 0.0);
    cpu::entmax_jvp<double>(row(window), alpha, row(distance), std::span(&one, 1), row(by_alpha_));
  }

  /// d phi(p) where the gradient of phi at the i-th probability of the window, up to a constant, is
  /// weight(i).
  template <class Weight>
  [[nodiscard]] Slopes along(double value, const Weight& weight) const {
    detail::CompensatedSum log_mu, alpha;
    for (std::size_t i = 0; i < by_log_mu_.size(); ++i) {
      const double w = weight(i);
      log_mu.add(w * by_log_mu_[i]);
      alpha.add(w * by_alpha_[i]);
    }
    return {value, log_mu.total(), alpha.total()};
  }

  [[nodiscard]] Slopes log_pmf(index_t t) const {
    const IntegerTable& table = p_.table();
    const double log_p = table.log_pmf(t), am1 = p_.prediction().am1;
    if (log_p == -kInfinity) return {log_p};
    const std::size_t i = position(t);
    if (i < by_log_mu_.size()) {
      const double p = table.probabilities()[i];
      return {log_p, by_log_mu_[i] / p, by_alpha_[i] / p};
    }
    // d log p = p^-am1 (t - c) d log mu + p^-am1 (d - D(log p)) d alpha, D = d/dalpha log_{2-alpha}; the
    // constants c and d are the same for all t, and known from the mode.
    const double top = table.log_pmf(mode(p_));
    const std::size_t peak = position(mode(p_));
    const double scale = std::exp(am1 * (top - log_p)), p = table.probabilities()[peak];
    const auto distance = static_cast<double>(t - mode(p_));
    const double power = std::exp(-am1 * log_p);
    const auto deformation = [am1](double l) { return deformed_log_alpha_derivative<1>(am1, l); };
    return {log_p, power * distance + scale * by_log_mu_[peak] / p,
            power * (deformation(top) - deformation(log_p)) + scale * by_alpha_[peak] / p};
  }

  [[nodiscard]] Slopes pmf(index_t t) const {
    const std::size_t i = position(t);
    if (i >= by_log_mu_.size()) return {p_.table().pmf(t)};
    return {p_.table().probabilities()[i], by_log_mu_[i], by_alpha_[i]};
  }

  [[nodiscard]] Slopes cdf(double x) const {
    if (x < 0) return {0};
    if (x >= 0x1p63) return {1};
    const auto t = static_cast<index_t>(std::floor(x));
    const index_t first = p_.table().first();
    return along(p_.table().cdf(t),
                 [&](std::size_t i) { return first + static_cast<index_t>(i) <= t ? 1.0 : 0.0; });
  }

  [[nodiscard]] double quantile(double u) const {
    if (!(u >= 0 && u <= 1)) return kNaN;
    const index_t t = p_.table().quantile(u);
    return t == std::numeric_limits<index_t>::max() ? kInfinity : static_cast<double>(t);
  }

  [[nodiscard]] Slopes mean() const {
    return along(fenchel::mean(p_), [this](std::size_t i) { return from_mode(i); });
  }

  [[nodiscard]] Slopes variance() const {
    const double offset = p_.table().mean_offset();
    return along(fenchel::variance(p_), [&](std::size_t i) {
      const double distance = from_mode(i) - offset;
      return distance * distance;
    });
  }

  [[nodiscard]] Slopes entropy(double order) const {
    const auto window = p_.table().probabilities();
    return along(fenchel::tsallis_entropy(p_, order),
                 [&](std::size_t i) { return -deformed_log(order - 1, window[i]); });
  }

  /// In log mu its slope is the mean less the count, and its second derivative the slope of the mean.
  [[nodiscard]] Slopes loss(index_t t) const {
    const double am1 = p_.prediction().am1;
    detail::CompensatedSum value, alpha;
    value.add(detail::cross_omega_term(am1, 1, 0, p_.prediction().excess(t)));
    index_t at = p_.table().first();
    for (const double p : p_.table().probabilities()) {
      value.add(detail::cross_omega_term(am1, 0, p, p_.prediction().excess(at++)));
      alpha.add(-detail::tsallis_term_alpha_derivative(am1, p));
    }
    const double distance = static_cast<double>(mode(p_) - t) + p_.table().mean_offset();
    return {std::max(0.0, value.total()), distance, alpha.total(), mean().log_mu};
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
        if (std::isnan(x)) return {kNaN, kNaN, kNaN};
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
  [[nodiscard]] double from_mode(std::size_t i) const {
    return static_cast<double>(p_.table().first() + static_cast<index_t>(i) - fenchel::mode(p_));
  }
  /// Of t in the window, past its end where t is not there.
  [[nodiscard]] std::size_t position(index_t t) const {
    return static_cast<std::size_t>(t - p_.table().first());
  }

  SparsePoisson p_;
  std::vector<double> by_log_mu_, by_alpha_;  // of each probability of the window
};

void fill_row(PoissonStatistic statistic, double mu, double alpha, index_t i, Rows<const double> at,
              const PoissonRows& out, double order) {
  if (std::isnan(mu) || std::isnan(alpha)) {
    for (const auto& rows : {out.value, out.d_mu, out.d_alpha, out.d2_mu}) std::ranges::fill(rows[i], kNaN);
    return;
  }
  if (alpha < 1) throw_domain_error("sparse_poisson_rows", "alpha", "must be at least 1", alpha);
  const Distribution p(alpha, mu);
  for (index_t j = 0; j < at.cols; ++j) {
    const Slopes s = p(statistic, at.row(i)[j], order);
    out.value.row(i)[j] = s.value;
    out.d_mu.row(i)[j] = s.log_mu / mu;
    out.d_alpha.row(i)[j] = s.alpha;
    out.d2_mu.row(i)[j] = (s.log_mu_twice - s.log_mu) / mu / mu;
  }
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
  detail::check_same_shape(kWhere, "d2_mu", out.d2_mu, "at", at);
  constexpr index_t kTableCost = 5000, kNumberCost = 100;  // nanoseconds
  const int workers = workers_for(at.rows, kTableCost + kNumberCost * at.cols);
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(workers));
  parallel_rows(at.rows, workers, [&](index_t begin, index_t end, int worker) noexcept {
    try {
      for (index_t i = begin; i < end; ++i) fill_row(statistic, mu[i], alpha[i], i, at, out, order);
    } catch (...) {
      errors[static_cast<std::size_t>(worker)] = std::current_exception();
    }
  });
  for (const auto& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace fenchel
