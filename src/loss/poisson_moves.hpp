#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "core/compensated_sum.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/distribution/integers/integer_tail.hpp"
#include "fenchel/distribution/integers/sparse_poisson.hpp"

namespace fenchel::detail {

/// Second derivatives in log mu and alpha.
struct Curves {
  double log_mu = 0, mixed = 0, alpha = 0;

  /// Adds factor times another.
  void add(double factor, const Curves& x) {
    log_mu += factor * x.log_mu;
    mixed += factor * x.mixed;
    alpha += factor * x.alpha;
  }
};

/// The products of two slopes.
inline Curves square(double log_mu, double alpha) { return {log_mu * log_mu, log_mu * alpha, alpha * alpha}; }

/// A number with its derivatives in log mu and alpha.
struct Slopes {
  double value, log_mu = 0, alpha = 0;
  Curves second{};
};

/// A number where there are no derivatives.
inline Slopes without_slopes(double value) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  return {value, kNaN, kNaN, {kNaN, kNaN, kNaN}};
}

/// p^{1 - alpha} d/dalpha log_{2-alpha}(p) for alpha < 1, where p may underflow.
[[nodiscard]] double scaled_deformation(double am1, double log_p);
/// The same of the second derivative.
[[nodiscard]] double scaled_deformation_curvature(double am1, double log_p);

/// One distribution, and how the probabilities of its window move: on it they are an entmax of the scores.
/// With tails, dp = p^{2-alpha} ((x - c) d log mu + (d - D(log p)) d alpha), x = t - mode, D = d/dalpha
/// log_{2-alpha}, and the constants c and d keep the mass. Second derivatives, if asked for, are those of
/// log_{2-alpha}(p) = f - A, with the slopes of c and d as their constants [docs/math.md 2.7].
class PoissonMoves {
 public:
  PoissonMoves(double alpha, double mu, bool twice);

  [[nodiscard]] bool twice() const noexcept { return !curves_.empty(); }

  /// d phi(p) where the gradient of phi at the i-th probability of the window, up to a constant, is
  /// weight(i). Of an entropy, its order gives the second derivative of phi.
  template <class Weight>
  [[nodiscard]] Slopes along(double value, const Weight& weight, const double* entropy = nullptr) const {
    CompensatedSum log_mu, alpha;
    const auto window = p_.table().probabilities();
    Slopes s{value};
    for (std::size_t i = 0; i < by_log_mu_.size(); ++i) {
      const double w = weight(i);
      log_mu.add(w * by_log_mu_[i]);
      alpha.add(w * by_alpha_[i]);
      if (!twice() || window[i] == 0) continue;
      s.second.add(w, curves_[i]);
      if (entropy) s.second.add(-std::pow(window[i], *entropy - 2), square(by_log_mu_[i], by_alpha_[i]));
    }
    s.log_mu = log_mu.total();
    s.alpha = alpha.total();
    return s;
  }

  /// The same with what the tails add, where the gradient at the distance k is p^order k^n factor / p. The
  /// slopes are NaN where the value is not finite.
  template <class Weight, class Factor>
  [[nodiscard]] Slopes along(double value, const Weight& weight, double order, double n, const Factor& factor,
                             const double* entropy = nullptr) const {
    if (!std::isfinite(value)) return without_slopes(value);
    Slopes s = along(value, weight, entropy);
    for (const auto& tail : p_.table().tails()) add_tail(s, tail, tail.first, order, n, factor, entropy);
    return s;
  }

  [[nodiscard]] Slopes log_pmf(index_t t) const;

  /// Of the i-th probability of the window.
  [[nodiscard]] Slopes at(std::size_t i) const {
    return {p_.table().probabilities()[i], by_log_mu_[i], by_alpha_[i], twice() ? curves_[i] : Curves{}};
  }
  [[nodiscard]] std::size_t size() const noexcept { return by_log_mu_.size(); }

  [[nodiscard]] double from_mode(std::size_t i) const {
    return static_cast<double>(p_.table().first() + static_cast<index_t>(i) - fenchel::mode(p_));
  }
  /// Of t in the window, past its end where t is not there.
  [[nodiscard]] std::size_t position(index_t t) const {
    return static_cast<std::size_t>(t - p_.table().first());
  }

  /// (t - mode) / k.
  [[nodiscard]] double side(const IntegerTail& tail, const TailPoint& point) const {
    return tail.step + static_cast<double>(tail.centre - fenchel::mode(p_)) / point.distance;
  }

  template <class Factor>
  void add_tail(Slopes& s, const IntegerTail& tail, double from, double order, double n, const Factor& factor,
                const double* entropy = nullptr) const {
    const double am1 = p_.prediction().am1;
    for (const auto& node : tail_nodes(tail, from, order, n).nodes) {
      const double unit = factor(tail, node);
      s.log_mu += node.times(node.p.raised(order - am1, n + 1)) * unit *
                  (side(tail, node) - log_mu_centre_ / node.distance);
      s.alpha += unit * (node.times(node.p.raised(order - am1, n)) * alpha_centre_ -
                         node.times(node.p.raised(order, n)) * scaled_deformation(am1, node.log_p()));
      if (!twice()) continue;
      const Slopes own = log_slopes(tail, node);
      const double size = node.times(node.p.raised(order, n));
      s.second.add(size * unit, relative_curves(own.value, own.log_mu, own.alpha));
      if (entropy)
        s.second.add(-size * std::exp((*entropy - order) * own.value), square(own.log_mu, own.alpha));
    }
  }

  /// Of the log of the probability at a node of a tail.
  [[nodiscard]] Slopes log_slopes(const IntegerTail& tail, const TailPoint& node) const;

 protected:
  SparsePoisson p_;

 private:
  [[nodiscard]] Slopes log_pmf_once(index_t t) const;
  void move_window();
  void move_with_tails();
  /// p'' / p from log p and its slopes; before the constants are known, without them.
  [[nodiscard]] Curves relative_curves(double log_p, double log_mu, double alpha) const;

  /// The second derivatives of the window's probabilities, and the constants that keep the mass.
  void bend();

  std::vector<double> by_log_mu_, by_alpha_;     // of each probability of the window
  double log_mu_centre_ = 0, alpha_centre_ = 0;  // c and d
  std::vector<Curves> curves_;                   // of each probability of the window, if asked for
  Curves centre_;                                // the slopes of c, and minus that of d
};

}  // namespace fenchel::detail
