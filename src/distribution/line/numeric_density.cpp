#include "fenchel/distribution/line/numeric_density.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "distribution/line/numeric_density_table.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/deformed.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kBound = 4;  // of a density over that at its modes, unless that is infinite at an end

const std::vector<Interval>& checked_support(const std::vector<Interval>& support) {
  if (support.empty()) throw_invalid_argument("numeric_density", "support", "must not be empty", index_t{0});
  for (std::size_t i = 0; i < support.size(); ++i) {
    const bool apart = i == 0 || support[i - 1].upper() <= support[i].lower();
    if (!apart || !(support[i].lower() < support[i].upper())) {
      throw_invalid_argument("numeric_density", indexed("support", static_cast<index_t>(i)),
                             "must have a width and lie right of the piece before it",
                             "[" + shortest(support[i].lower()) + ", " + shortest(support[i].upper()) + "]");
    }
  }
  return support;
}

}  // namespace

double NumericDensity::Table::log_pdf(double t) const {
  if (std::isnan(t)) return t;
  const auto after = std::upper_bound(support.begin(), support.end(), t,
                                      [](double x, const Interval& piece) { return x < piece.lower(); });
  if (after == support.begin() || !std::prev(after)->contains(t) || std::isinf(t)) return -kInfinity;
  const double value = log_density(t);
  if (!(value < kInfinity))
    throw_domain_error("numeric_density", "log_density(" + shortest(t) + ")",
                       "must be a number below infinity", value);
  return value - log_mass;
}

double NumericDensity::Table::log_tail(double t, int direction) const {
  const Interval& last = direction < 0 ? support.front() : support.back();
  const Interval piece = direction < 0 ? Interval(last.lower(), t) : Interval(t, last.upper());
  const double here = log_pdf(t);
  if (here == -kInfinity) return here;
  if (std::isinf(std::nextafter(t, direction * kInfinity))) return -kInfinity;  // no double is beyond
  const auto relative = [this](double s) { return log_pdf(s); };
  const detail::Centre centre = detail::make_centre(relative, t, piece);
  const detail::PanelSum sum = detail::integrate_panels([&](double s) { return std::exp(log_pdf(s) - here); },
                                                        {&piece, 1}, {&centre, 1}, 1e-12, kBound);
  return here + std::log(sum.value);
}

detail::PanelSum NumericDensity::Table::integrate(FunctionRef<double(double)> f, double to,
                                                  std::span<const detail::Panel> from) const {
  const auto resolved = [&](double t) {
    const auto at = std::lower_bound(panels.begin(), panels.end(), t,
                                     [](const detail::Panel& part, double x) { return part.lower < x; });
    return at != panels.end() && at->lower == t;
  };
  return detail::certified(detail::integrate_from(f, support, from, to), f, support, resolved, to);
}

double NumericDensity::Table::grain() const {
  double most = 0;
  for (const detail::Centre& c : centres) most = std::max(most, std::abs(c.at) * std::exp(log_pdf(c.at)));
  return 64 * std::numeric_limits<double>::epsilon() * most;
}

NumericDensity::NumericDensity(std::function<double(double)> log_density, std::vector<Interval> support,
                               std::vector<double> modes, double accuracy) {
  checked_support(support);
  detail::checked_positive("numeric_density", "accuracy", accuracy);
  std::sort(modes.begin(), modes.end());
  auto table = std::make_shared<Table>(
      Table{std::move(log_density), std::move(support), std::move(modes), accuracy, 0, {}, {}, {}, {}, 0});
  Table& made = *table;
  const auto logarithm = [&made](double t) { return made.log_pdf(t); };
  made.centres = detail::make_centres(logarithm, made.support, made.modes);
  if (made.modes.empty())
    for (const detail::Centre& c : made.centres) made.modes.push_back(c.at);

  double top = -kInfinity;  // keeps the sum from overflowing
  for (const detail::Centre& c : made.centres) top = std::max(top, made.log_pdf(c.at));
  made.log_mass = std::isinf(top) ? 0 : top;
  constexpr double kShareOfPanels = 0.01, kLeast = 1e-14;
  const auto density = [&](double t) { return std::exp(logarithm(t)); };
  const auto is_centre = [&](double t) {
    const auto at = std::lower_bound(made.centres.begin(), made.centres.end(), t,
                                     [](const detail::Centre& c, double x) { return c.at < x; });
    return at != made.centres.end() && at->at == t;
  };
  const double to = std::max(kShareOfPanels * accuracy, kLeast);
  detail::PanelSum sum =
      detail::certified(detail::integrate_panels(density, made.support, made.centres, to, kBound), density,
                        made.support, is_centre, to, kBound);
  if (!sum.finite || !(sum.value > 0))
    throw_domain_error("numeric_density", "the mass", "must be positive and finite",
                       sum.finite ? sum.value : kInfinity);
  made.log_mass += std::log(sum.value);
  made.error = sum.error / sum.value;
  if (!(made.error <= accuracy + made.grain()))
    throw ConvergenceError(error_message("numeric_density", "the estimated relative error of the mass",
                                         "must reach " + shortest(accuracy), made.error));
  made.panels = std::move(sum.panels);
  for (detail::Panel& part : made.panels) part.value /= sum.value;

  const std::size_t size = made.panels.size();
  made.below.resize(size + 1);
  made.above.resize(size + 1);
  if (std::isinf(made.support.front().lower()))
    made.below[0] = std::exp(made.log_tail(made.panels.front().lower, -1));
  if (std::isinf(made.support.back().upper()))
    made.above[size] = std::exp(made.log_tail(made.panels.back().upper, 1));
  for (std::size_t i = 0; i < size; ++i) made.below[i + 1] = made.below[i] + made.panels[i].value;
  for (std::size_t i = size; i-- > 0;) made.above[i] = made.above[i + 1] + made.panels[i].value;
  table_ = std::move(table);
}

const std::vector<Interval>& NumericDensity::support() const noexcept { return table_->support; }
const std::vector<double>& NumericDensity::modes() const noexcept { return table_->modes; }
double NumericDensity::log_mass() const noexcept { return table_->log_mass; }
double NumericDensity::error() const noexcept { return table_->error; }

NumericDensity NumericDensity::with_derivative(std::function<double(double)> derivative) const {
  NumericDensity p = *this;
  p.derivative_ = std::move(derivative);
  return p;
}

double log_pdf(const NumericDensity& p, double t) { return p.table().log_pdf(t); }
double pdf(const NumericDensity& p, double t) { return std::exp(log_pdf(p, t)); }

double mode(const NumericDensity& p) {
  return *std::max_element(p.modes().begin(), p.modes().end(),
                           [&p](double a, double b) { return log_pdf(p, a) < log_pdf(p, b); });
}

namespace {

/// What is asked for of moments and entropies; the accuracy of p is what they must reach.
constexpr double kMomentAccuracy = 1e-12;

/// The sum, or `otherwise` where the integral does not exist.
double checked_sum(const NumericDensity& p, const char* name, const detail::PanelSum& sum, double accuracy,
                   double otherwise) {
  if (!sum.finite) return otherwise;
  const double reachable = accuracy + p.table().grain();
  if (!(sum.error <= reachable * sum.scale))
    throw ConvergenceError(error_message(name, "the estimated relative error",
                                         "must reach " + shortest(reachable), sum.error / sum.scale));
  return sum.value;
}

}  // namespace

namespace detail {
namespace {

/// At least so many panels, which double from each cut on.
std::vector<Panel> finer(std::span<const Panel> panels, std::size_t least, std::span<const double> cuts) {
  constexpr int kDoublings = 40;
  const std::size_t parts = (least + panels.size() - 1) / panels.size();
  std::vector<Panel> made;
  std::vector<double> ends;
  for (const Panel& panel : panels) {
    ends = {panel.lower, panel.upper};
    for (std::size_t k = 1; k < parts; ++k)
      ends.push_back(
          std::lerp(panel.lower, panel.upper, static_cast<double>(k) / static_cast<double>(parts)));
    for (const double cut : cuts) {
      if (!(cut >= panel.lower && cut <= panel.upper)) continue;
      ends.push_back(cut);
      for (int k = 1; k <= kDoublings; ++k) {
        const double distance = std::ldexp(panel.upper - panel.lower, -k);
        if (cut - distance > panel.lower) ends.push_back(cut - distance);
        if (cut + distance < panel.upper) ends.push_back(cut + distance);
      }
    }
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    for (std::size_t i = 1; i < ends.size(); ++i) made.push_back({ends[i - 1], ends[i], 0, 0, 0});
  }
  return made;
}

}  // namespace

double expectation(const NumericDensity& p, FunctionRef<double(double)> f, double accuracy,
                   std::span<const double> cuts) {
  constexpr double kShareOfPanels = 0.1;
  checked_positive("expectation", "accuracy", accuracy);
  const auto integrand = [&](double t) {
    const double density = pdf(p, t);
    if (density == 0) return 0.0;
    const double value = f(t);
    if (std::isnan(value))
      throw_domain_error("expectation", "f(" + shortest(t) + ")", "must be a number", value);
    return density * value;
  };
  for (const index_t least : {2 * kFirstPanels, 2 * kFinestPanels}) {
    const PanelSum sum = p.table().integrate(integrand, kShareOfPanels * accuracy,
                                             finer(p.table().panels, static_cast<std::size_t>(least), cuts));
    if (!sum.finite)
      throw ConvergenceError(
          error_message("expectation", "the estimated relative error", "must reach the accuracy", kInfinity));
    const double value = checked_sum(p, "expectation", sum, accuracy, 0);
    if (sum.scale > 0) return value;
  }
  return 0;
}

}  // namespace detail

namespace {

/// E(t - centre)^n, or `otherwise` where a tail is too heavy.
double moment_about(const NumericDensity& p, double centre, int n, double otherwise) {
  constexpr double kFar = 0x1p100;  // where a power may overflow and the density underflow
  const auto integrand = [&](double t) {
    const double l = log_pdf(p, t), distance = t - centre;
    if (l == -kInfinity) return 0.0;
    if (std::abs(distance) < kFar) return std::exp(l) * std::pow(distance, n);
    return std::copysign(std::exp(l + n * std::log(std::abs(distance))), n % 2 == 0 ? 1 : distance);
  };
  return checked_sum(p, "central_moment", p.table().integrate(integrand, kMomentAccuracy), p.table().accuracy,
                     otherwise);
}

}  // namespace

double mean(const NumericDensity& p) {
  const double centre = mode(p);
  return centre + moment_about(p, centre, 1, kNaN);
}

double central_moment(const NumericDensity& p, int n) {
  if (n < 0) throw_domain_error("central_moment", "n", "must not be negative", n);
  if (n < 2) return n == 0 ? 1 : mean(p) * 0;
  const double about = mean(p);
  if (std::isnan(about)) return n % 2 == 0 ? kInfinity : kNaN;
  return moment_about(p, about, n, n % 2 == 0 ? kInfinity : kNaN);
}

double variance(const NumericDensity& p) { return central_moment(p, 2); }
double skewness(const NumericDensity& p) { return central_moment(p, 3) / std::pow(variance(p), 1.5); }
double kurtosis(const NumericDensity& p) {
  const double second = variance(p);
  return std::isinf(second) ? kInfinity : central_moment(p, 4) / (second * second);
}

double entropy(const NumericDensity& p) { return tsallis_entropy(p, 1); }

double tsallis_entropy(const NumericDensity& p, double order) {
  if (!(order > 0)) throw_domain_error("tsallis_entropy", "order", "must be positive", order);
  if (std::isinf(order)) return log_pdf(p, mode(p)) > p.table().accuracy ? -kInfinity : 0;
  const double om1 = order - 1;
  const detail::PanelSum sum = p.table().integrate(
      [&](double t) {  // p log_{2-order}(p); p^order is kept where p underflows
        const double l = log_pdf(p, t);
        if (l == -kInfinity) return 0.0;
        return std::abs(om1 * l) < 1 ? std::exp(l) * deformed_log_of_exp(om1, l)
                                     : (std::exp(order * l) - std::exp(l)) / om1;
      },
      kMomentAccuracy);
  return -checked_sum(p, "tsallis_entropy", sum, p.table().accuracy, order <= 1 ? -kInfinity : kInfinity) /
         order;
}

NumericDensity escort(const NumericDensity& p, double order) {
  detail::checked_finite("escort", "order", order);
  return {[p, order](double t) { return order == 0 ? 0 : order * log_pdf(p, t); }, p.support(), p.modes(),
          p.table().accuracy};
}

std::vector<double> sample(const NumericDensity& p, index_t count, std::uint64_t seed) {
  return detail::sample_on_one_thread(p, count, seed);
}

}  // namespace fenchel
