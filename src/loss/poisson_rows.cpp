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
#include "fenchel/distribution/integers/integer_tail.hpp"
#include "fenchel/distribution/integers/sparse_poisson.hpp"
#include "loss/integer_sums.hpp"

namespace fenchel {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A number with its derivatives in log mu and alpha.
struct Slopes {
  double value, log_mu = 0, alpha = 0, log_mu_twice = kNaN;
};

/// p^{1 - alpha} d/dalpha log_{2-alpha}(p) for alpha < 1, where p may underflow.
double scaled_deformation(double am1, double log_p) {
  constexpr double kLarge = 500;  // past it e^-y does not count
  const double y = am1 * log_p;
  return y > kLarge ? log_p * (1 - 1 / y) / am1 : std::exp(-y) * deformed_log_alpha_derivative<1>(am1, log_p);
}

/// One distribution, and how the probabilities of its window move: on it they are an entmax of the scores.
/// With tails, dp = p^{2-alpha} ((x - c) d log mu + (d - D(log p)) d alpha), x = t - mode, D = d/dalpha
/// log_{2-alpha}, and the constants c and d keep the mass.
class Distribution {
 public:
  Distribution(double alpha, double mu) : p_(alpha, mu) {
    if (!p_.table().tails().empty()) {
      move_with_tails();
      return;
    }
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

  /// The same with what the tails add, where the gradient at the distance k is p^order k^n factor / p. The
  /// slopes are NaN where the value is not finite.
  template <class Weight, class Factor>
  [[nodiscard]] Slopes along(double value, const Weight& weight, double order, double n,
                             const Factor& factor) const {
    if (!std::isfinite(value)) return {value, kNaN, kNaN};
    Slopes s = along(value, weight);
    for (const auto& tail : p_.table().tails()) add_tail(s, tail, tail.first, order, n, factor);
    return s;
  }

  [[nodiscard]] Slopes log_pmf(index_t t) const {
    const IntegerTable& table = p_.table();
    const double log_p = table.log_pmf(t), am1 = p_.prediction().am1;
    if (log_p == -kInfinity) return {log_p};
    const std::size_t i = position(t);
    if (!table.tails().empty()) {
      const double power = std::exp(-am1 * log_p), x = static_cast<double>(t - mode(p_));
      return {log_p, power * (x - log_mu_centre_), power * alpha_centre_ - scaled_deformation(am1, log_p)};
    }
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
    if (i >= by_log_mu_.size()) {
      const double p = p_.table().pmf(t);
      if (p == 0 || p_.table().tails().empty()) return {p};
      const Slopes s = log_pmf(t);
      return {p, p * s.log_mu, p * s.alpha};
    }
    return {p_.table().probabilities()[i], by_log_mu_[i], by_alpha_[i]};
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
      return {p_.table().cdf(t), -tail.step * s.log_mu, -tail.step * s.alpha};
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
    return along(
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
        });
  }

  /// In log mu its slope is the mean less the count, and its second derivative the slope of the mean.
  [[nodiscard]] Slopes loss(index_t t) const {
    const double am1 = p_.prediction().am1;
    if (!p_.table().tails().empty()) {
      if (!(p_.alpha() > 0.5))
        throw_domain_error("sparse_poisson_rows", "alpha", "must be above 1/2 for a loss", p_.alpha());
      const auto sums = detail::integer_loss_sums(detail::LossKind::fenchel_young, p_.prediction(), t,
                                                  static_cast<double>(mode(p_)));
      return {sums.value, sums.first, sums.alpha, mean().log_mu};
    }
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

  void move_with_tails() {
    const IntegerTable& table = p_.table();
    const double am1 = p_.prediction().am1, beta = 1 - am1;
    const auto window = table.probabilities();
    detail::CompensatedSum power, first, deformed;
    for (std::size_t i = 0; i < window.size(); ++i) {
      const double l = std::log(window[i]), q = std::exp(beta * l);
      by_log_mu_.push_back(q);
      by_alpha_.push_back(-window[i] * scaled_deformation(am1, l));
      power.add(q);
      first.add(q * from_mode(i));
      deformed.add(-by_alpha_[i]);
    }
    for (const auto& tail : table.tails()) {
      for (const auto& node : detail::tail_nodes(tail, tail.first, 1, 0).nodes) {
        power.add(node.times(node.p.raised(beta, 0)));
        first.add(node.times(node.p.raised(beta, 1)) * side(tail, node));
        deformed.add(node.times(node.p) * scaled_deformation(am1, node.log_p()));
      }
    }
    log_mu_centre_ = first.total() / power.total();
    alpha_centre_ = deformed.total() / power.total();
    for (std::size_t i = 0; i < window.size(); ++i) {
      by_alpha_[i] += alpha_centre_ * by_log_mu_[i];
      by_log_mu_[i] *= from_mode(i) - log_mu_centre_;
    }
  }

  /// (t - mode) / k.
  [[nodiscard]] double side(const detail::IntegerTail& tail, const detail::TailPoint& point) const {
    return tail.step + static_cast<double>(tail.centre - fenchel::mode(p_)) / point.distance;
  }

  template <class Factor>
  void add_tail(Slopes& s, const detail::IntegerTail& tail, double from, double order, double n,
                const Factor& factor) const {
    const double am1 = p_.prediction().am1;
    for (const auto& node : detail::tail_nodes(tail, from, order, n).nodes) {
      const double unit = factor(tail, node);
      s.log_mu += node.times(node.p.raised(order - am1, n + 1)) * unit *
                  (side(tail, node) - log_mu_centre_ / node.distance);
      s.alpha += unit * (node.times(node.p.raised(order - am1, n)) * alpha_centre_ -
                         node.times(node.p.raised(order, n)) * scaled_deformation(am1, node.log_p()));
    }
  }

  SparsePoisson p_;
  std::vector<double> by_log_mu_, by_alpha_;     // of each probability of the window
  double log_mu_centre_ = 0, alpha_centre_ = 0;  // c and d
};

void fill_row(PoissonStatistic statistic, double mu, double alpha, index_t i, Rows<const double> at,
              const PoissonRows& out, double order) {
  if (std::isnan(mu) || std::isnan(alpha)) {
    for (const auto& rows : {out.value, out.d_mu, out.d_alpha, out.d2_mu}) std::ranges::fill(rows[i], kNaN);
    return;
  }
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
