#include "fenchel/estimate/goodness/ranked_score.hpp"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <cstddef>
#include <memory>

#include "estimate/goodness/count_window.hpp"
#include "fenchel/core/checkpoint.hpp"
#include "fenchel/core/deformed_derivatives.hpp"
#include "fenchel/core/gamma_ratio.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/quadrature.hpp"

namespace fenchel {
namespace {

/// 2 int_{|x|}^inf t p(t) dt = 2 sigma2 p^alpha / alpha at the distance x from mu (docs/math.md 5.8).
double beta_gaussian_rest(const BetaGaussian& p, double x) {
  const double density = pdf(p, p.mu() + x);
  if (density == 0) return 0;
  const BetaGaussianConstants& c = p.constants();
  if (std::isinf(c.am1)) {
    const double half = std::sqrt(p.sigma2()) / 2;
    return density * (half - x) * (half + x);
  }
  const double q = x * (x / p.sigma2());
  const double height = std::isinf(c.peak_power) ? c.am1 * (c.radius2 - q) : 2 * c.peak_power - c.am1 * q;
  return density * p.sigma2() * std::max(0.0, height) / p.alpha();
}

/// Panels of a body with Gauss' rule of 10 nodes in each.
class CdfIntegrals {
 public:
  explicit CdfIntegrals(detail::LineTails p) : p_(std::move(p)), below_(kPanels + 1), above_(kPanels + 1) {
    below_[0] = std::isinf(p_.support.lower()) ? tail(p_.cdf, p_.support.lower(), p_.body.lower()) : 0;
    above_[kPanels] =
        std::isinf(p_.support.upper()) ? tail(p_.survival, p_.body.upper(), p_.support.upper()) : 0;
    for (std::size_t i = 0; i < kPanels; ++i) {
      checkpoint();
      below_[i + 1] = below_[i] + panel(p_.cdf, edge(i), edge(i + 1));
    }
    for (std::size_t i = kPanels; i > 0; --i)
      above_[i - 1] = above_[i] + panel(p_.survival, edge(i - 1), edge(i));
  }

  /// E|X - y|.
  [[nodiscard]] double deviation(double y) const {
    if (!(y > p_.body.lower()))
      return p_.mean - y + (std::isinf(p_.support.lower()) ? 2 * tail(p_.cdf, p_.support.lower(), y) : 0);
    if (!(y < p_.body.upper()))
      return y - p_.mean +
             (std::isinf(p_.support.upper()) ? 2 * tail(p_.survival, y, p_.support.upper()) : 0);
    const double place = (y - p_.body.lower()) / width();
    const std::size_t i = std::min(static_cast<std::size_t>(place), kPanels - 1);
    if (y < p_.mean) return p_.mean - y + 2 * (below_[i] + panel(p_.cdf, edge(i), y));
    return y - p_.mean + 2 * (above_[i + 1] + panel(p_.survival, y, edge(i + 1)));
  }

  /// int F (1 - F). Beyond the body F (1 - F) is its smaller factor but for 1e-6 of it.
  [[nodiscard]] double half_difference() const {
    double sum = below_[0] + above_[kPanels];
    const auto product = [this](double t) { return p_.cdf(t) * p_.survival(t); };
    for (std::size_t i = 0; i < kPanels; ++i) sum += panel(product, edge(i), edge(i + 1));
    return sum;
  }

 private:
  static constexpr std::size_t kPanels = 512;

  [[nodiscard]] double width() const {
    return (p_.body.upper() - p_.body.lower()) / static_cast<double>(kPanels);
  }
  [[nodiscard]] double edge(std::size_t i) const {
    return i == kPanels ? p_.body.upper() : p_.body.lower() + static_cast<double>(i) * width();
  }
  template <class F>
  [[nodiscard]] static double panel(const F& f, double from, double to) {
    return boost::math::quadrature::gauss<double, 10>::integrate(f, from, to);
  }
  /// One end is infinite: in units of the body from the other one.
  [[nodiscard]] double tail(const std::function<double(double)>& f, double from, double to) const {
    const double unit = p_.body.upper() - p_.body.lower(), centre = std::isinf(from) ? to : from;
    const auto standard = [&](double x) { return unit * f(centre + unit * x); };
    return integrate(standard, (from - centre) / unit, (to - centre) / unit, 1e-9).value;
  }

  detail::LineTails p_;
  std::vector<double> below_, above_;  ///< int F up to an edge, int (1 - F) from it on
};

/// E|X - k| for the integers k of a window, by d E|X - k| = 2 F(k) - 1.
struct CountDeviations {
  index_t first;
  std::vector<double> of;
  double mean, half_difference;
};

CountDeviations count_deviations(const IntegerTable& p) {
  const detail::CountWindow window(p);
  CountDeviations table{window.first, {}, mean(p), 0};
  table.of.reserve(window.below.size());
  double deviation = table.mean - static_cast<double>(window.first);
  for (std::size_t i = 0; i < window.below.size(); ++i) {
    table.of.push_back(deviation);
    deviation += window.below[i] - window.above[i];
    table.half_difference += window.below[i] * window.above[i];
  }
  return table;
}

}  // namespace

RankedScore ranked_score(const BetaGaussian& p) {
  const auto deviation = [p](double y) {
    const double x = std::abs(y - p.mu());
    return x * (1 - 2 * survival(p, p.mu() + x)) + beta_gaussian_rest(p, x);
  };
  // E[(p / p(mu))^alpha] of E|X - mu|.
  const double share = std::isinf(p.alpha())
                           ? 2. / 3
                           : std::exp(p.alpha() * log_power_mass_slope(1, p.constants().am1, 1 + p.alpha()));
  return {deviation, share * beta_gaussian_rest(p, 0)};
}

RankedScore ranked_score(const BetaLaplace& p) {
  const double share = std::isinf(p.alpha()) ? 2. / 3 : (4 - 1 / p.alpha()) / (6 - 2 / p.alpha());
  return {[p](double y) { return mean_deviation(p, y); }, share * mean_deviation(p, p.mu())};
}

RankedScore ranked_score(const TruncatedGaussian& p) {
  const auto deviation = [p](double y) {
    const double x = std::abs(y - p.mu()), half = p.half_width();
    if (x >= half) return x;
    const double e = (half - x) / p.sigma() * ((half + x) / p.sigma()) / 2;
    // sigma level (e^e - 1 - e) is the integral of t p(t) beyond x.
    const double rest = p.sigma() * p.level() * e * e * (exp_moment<0>(e) - exp_moment<1>(e));
    return x * (1 - 2 * survival(p, p.mu() + x)) + 2 * rest;
  };
  const TruncatedGaussian about_zero = p.centred();
  const double cuts[] = {0, p.half_width()};
  return {deviation, 2 * detail::half_difference([&](double t) { return cdf(about_zero, t); },
                                                 [&](double t) { return survival(about_zero, t); }, cuts)};
}

namespace detail {

double half_difference(FunctionRef<double(double)> cdf, FunctionRef<double(double)> survival,
                       std::span<const double> cuts) {
  double sum = 0;
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    if (cuts[i] > cuts[i - 1])
      sum += integrate([&](double t) { return cdf(t) * survival(t); }, cuts[i - 1], cuts[i]).value;
  }
  return sum;
}

RankedScore tabulated_ranked_score(LineTails p) {
  const auto table = std::make_shared<const CdfIntegrals>(std::move(p));
  return {[table](double y) { return table->deviation(y); }, table->half_difference()};
}

RankedScore count_ranked_score(const IntegerTable& p) {
  const auto table = std::make_shared<const CountDeviations>(count_deviations(p));
  const auto deviation = [table](double y) {
    const double place = y - static_cast<double>(table->first);
    if (!(place >= 0 && place < static_cast<double>(table->of.size()))) return std::abs(y - table->mean);
    return table->of[static_cast<std::size_t>(place)];
  };
  return {deviation, table->half_difference};
}

}  // namespace detail
}  // namespace fenchel
