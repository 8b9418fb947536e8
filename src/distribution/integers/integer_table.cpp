#include "fenchel/distribution/integers/integer_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/compensated_sum.hpp"
#include "core/tsallis_term.hpp"
#include "distribution/integers/gregory.hpp"
#include "distribution/integers/tail_sums.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/distribution/escort.hpp"
#include "fenchel/distribution/integers/integer_prediction.hpp"

namespace fenchel {
namespace {

/// Tails below this are summed from the formula: in the window some of their terms are missing.
constexpr double kSmallTail = 1e-290;

/// The first position in [0, size) where a condition holds that once true stays true; size - 1 if nowhere.
template <class Condition>
std::size_t first_where(std::size_t size, Condition holds) {
  std::size_t low = 0, high = size - 1;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace

struct IntegerTable::Data {
  index_t first;
  std::vector<double> probabilities;
  IntegerRange support;
  LogPmf outside;  ///< empty where the window is the support
  std::vector<detail::IntegerTail> tails;
  bool smooth = false;
  index_t mode = 0;
  double mean_offset = 0;
  std::size_t median = 0;
  std::vector<double> tail{};  ///< P(X <= t) before the median, P(X > t) from it on

  Data(index_t first_integer, std::vector<double> window, IntegerRange range, LogPmf log_pmf,
       std::vector<detail::IntegerTail> smooth_tails = {}, bool is_smooth = false)
      : first(first_integer),
        probabilities(std::move(window)),
        support(range),
        outside(std::move(log_pmf)),
        tails(std::move(smooth_tails)),
        smooth(is_smooth) {
    const std::size_t size = probabilities.size();
    const auto peak = std::max_element(probabilities.begin(), probabilities.end()) - probabilities.begin();
    mode = first + peak;
    detail::CompensatedSum below, above, moment;
    below.add(tail_mass(-1));
    above.add(tail_mass(1));
    tail.resize(size);
    for (median = 0; median + 1 < size; ++median) {
      below.add(probabilities[median]);
      if (below.total() >= 0.5) break;
      tail[median] = below.total();
    }
    for (std::size_t i = size; i-- > median;) {
      tail[i] = above.total();
      above.add(probabilities[i]);
    }
    for (std::size_t i = 0; i < size; ++i)
      moment.add(probabilities[i] * static_cast<double>(static_cast<index_t>(i) - peak));
    mean_offset = moment.total();
    for (const auto& t : tails) mean_offset += detail::tail_moment(t, static_cast<double>(mode), 1);
  }

  [[nodiscard]] const detail::IntegerTail* tail_towards(int step) const noexcept {
    const auto found =
        std::find_if(tails.begin(), tails.end(), [step](const auto& t) { return t.step == step; });
    return found == tails.end() ? nullptr : &*found;
  }
  [[nodiscard]] double tail_mass(int step) const {
    const auto* found = tail_towards(step);
    return found ? std::exp(detail::log_tail_mass(*found, found->first)) : 0.0;
  }
  [[nodiscard]] index_t last() const noexcept {
    return first + static_cast<index_t>(probabilities.size()) - 1;
  }
  [[nodiscard]] bool holds(index_t t) const noexcept { return t >= first && t <= last(); }
  [[nodiscard]] double at(const std::vector<double>& values, index_t t) const noexcept {
    return holds(t) ? values[static_cast<std::size_t>(t - first)] : 0.0;
  }
  [[nodiscard]] bool before_median(index_t t) const noexcept {
    return t < first + static_cast<index_t>(median);
  }
  [[nodiscard]] double cdf_at(std::size_t i) const noexcept { return i < median ? tail[i] : 1 - tail[i]; }
  [[nodiscard]] double survival_at(std::size_t i) const noexcept {
    return i < median ? 1 - tail[i] : tail[i];
  }
};

IntegerTable::IntegerTable(index_t first, std::span<const double> probabilities) {
  detail::CompensatedSum sum;
  index_t i = 0;
  for (const double p : probabilities) {
    if (!(p >= 0 && p < kInfinity))
      throw_domain_error("integer_table", indexed("probabilities", i), "must be finite and not negative", p);
    sum.add(p);
    ++i;
  }
  if (!(sum.total() > 0 && sum.total() < kInfinity))
    throw_domain_error("integer_table", "the sum of the probabilities", "must be positive and finite",
                       sum.total());
  const auto positive = [](double p) { return p > 0; };
  const auto begin = std::find_if(probabilities.begin(), probabilities.end(), positive);
  const auto end = std::find_if(probabilities.rbegin(), probabilities.rend(), positive).base();
  std::vector<double> kept(begin, end);
  const double rounding = std::numeric_limits<double>::epsilon() * 2;
  if (std::abs(sum.total() - 1) > rounding)
    for (double& p : kept) p /= sum.total();
  const index_t start = first + (begin - probabilities.begin());
  const IntegerRange support{start, start + static_cast<index_t>(kept.size()) - 1};
  data_ = std::make_shared<const Data>(start, std::move(kept), support, LogPmf());
}

IntegerTable::IntegerTable(index_t first, std::vector<double> probabilities, IntegerRange support,
                           LogPmf log_pmf, bool smooth)
    : data_(std::make_shared<const Data>(first, std::move(probabilities), support, std::move(log_pmf),
                                         std::vector<detail::IntegerTail>(), smooth)) {}

IntegerTable::IntegerTable(index_t first, std::vector<double> probabilities, IntegerRange support,
                           LogPmf log_pmf, std::vector<detail::IntegerTail> tails)
    : data_(std::make_shared<const Data>(first, std::move(probabilities), support, std::move(log_pmf),
                                         std::move(tails))) {}

index_t IntegerTable::first() const noexcept { return data_->first; }
std::span<const double> IntegerTable::probabilities() const noexcept { return data_->probabilities; }
IntegerRange IntegerTable::support() const noexcept { return data_->support; }
std::span<const detail::IntegerTail> IntegerTable::tails() const noexcept { return data_->tails; }
bool IntegerTable::is_complete() const noexcept { return !data_->outside; }
bool IntegerTable::is_smooth() const noexcept { return data_->smooth; }
index_t IntegerTable::mode() const noexcept { return data_->mode; }
double IntegerTable::mean_offset() const noexcept { return data_->mean_offset; }

double IntegerTable::pmf(index_t t) const {
  return data_->holds(t) ? data_->at(data_->probabilities, t) : std::exp(log_pmf(t));
}

double IntegerTable::log_pmf(index_t t) const {
  if (data_->holds(t)) return std::log(data_->at(data_->probabilities, t));
  return data_->outside && data_->support.contains(t) ? data_->outside(t) : -kInfinity;
}

namespace {

constexpr double kNegligible = 1e-22;

/// The same of a smooth table, in units of e^lead, from every `stride`-th term: a sum is an integral with
/// Gregory's correction, in steps of any length. NaN where the terms do not become negligible.
double strided_outer_mass(const IntegerTable& p, index_t t, index_t end, double lead, index_t stride) {
  const index_t step = end > t ? 1 : -1;
  const auto from = static_cast<std::uint64_t>(t), to = static_cast<std::uint64_t>(end);
  const auto count =
      static_cast<index_t>((step > 0 ? to - from : from - to) / static_cast<std::uint64_t>(stride));
  const auto term = [&](index_t distance) { return std::exp(p.log_pmf(t + step * distance) - lead); };
  if (count < detail::kGregoryEnd) return std::numeric_limits<double>::quiet_NaN();
  detail::CompensatedSum sum, ends;
  double last = 1;
  for (index_t i = 0; i <= count && last > kNegligible * sum.total(); ++i) sum.add(last = term(i * stride));
  if (last > kNegligible * sum.total()) return std::numeric_limits<double>::quiet_NaN();
  for (index_t k = 0; k < detail::kGregoryEnd; ++k) {
    const double weight = detail::kGregoryWeights[static_cast<std::size_t>(k)];
    sum.add(-weight * term(k * stride));
    ends.add(weight * term(k));
  }
  return static_cast<double>(stride) * sum.total() + ends.total();
}

/// log P(X at t or further in the direction of step), by a sum that starts with the largest term.
double log_outer_mass(const IntegerTable& p, index_t t, index_t step) {
  for (const auto& tail : p.tails()) {
    if (tail.step == step && tail.distance(t) >= 1) return detail::log_tail_mass(tail, tail.distance(t));
  }
  const double lead = p.support().contains(t) ? p.log_pmf(t) : -kInfinity;
  if (lead == -kInfinity) return lead;
  const index_t end = step > 0 ? p.support().last : p.support().first;
  if (p.is_smooth() && t != end) {
    constexpr double kFall = 0.05;  // of the log in a stride: the error is below 1e-15
    const double stride = std::floor(kFall / (lead - p.log_pmf(t + step)));
    const double mass = stride > 1 && stride < 0x1p40
                            ? strided_outer_mass(p, t, end, lead, static_cast<index_t>(stride))
                            : std::numeric_limits<double>::quiet_NaN();
    if (mass > 0) return lead + std::log(mass);
  }
  detail::CompensatedSum sum;
  sum.add(1);
  for (double term = 1; t != end && term > kNegligible * sum.total();) {
    t += step;
    term = std::exp(p.log_pmf(t) - lead);
    sum.add(term);
  }
  return lead + std::log(sum.total());
}

/// What log_outer_mass up to an end would be if its terms went on as the first two say.
double geometric_outer_mass(const IntegerTable& p, index_t t, index_t end) {
  const double lead = p.log_pmf(t);
  const double fall = t == end ? kInfinity : lead - p.log_pmf(t + (end > t ? 1 : -1));
  return fall > 0 ? lead - std::log(-std::expm1(-fall)) : lead;
}

/// The last integer from `inside` towards `end` that holds, as detail::farthest, where a sum over many terms
/// says what holds: the search begins where the geometric sum from the integer `ahead` of it is log_u.
index_t farthest_mass(const IntegerTable& p, index_t inside, index_t end, index_t ahead, double log_u,
                      const std::function<bool(index_t)>& holds) {
  const index_t step = end > inside ? 1 : -1;
  const index_t guess = detail::farthest(
      inside, end, [&](index_t t) { return t != end && geometric_outer_mass(p, t + ahead, end) >= log_u; });
  if (holds(guess)) return detail::farthest(guess, end, holds);
  index_t outside = guess;
  for (index_t by = 1; step * (outside - inside) > by; by *= 2) {
    const index_t t = outside - step * by;
    if (holds(t)) return detail::farthest(t, outside, holds);
    outside = t;
  }
  return detail::farthest(inside, outside, holds);
}

/// log of a tail: of the stored one, if all that counts is stored.
double log_tail(const IntegerTable& p, double stored, index_t t, index_t step) {
  return stored > kSmallTail || p.is_complete() ? std::log(stored) : log_outer_mass(p, t, step);
}

/// log P(X > t) for t at the median or after it.
double log_upper(const IntegerTable& p, double stored, index_t t) {
  return t >= p.support().last ? -kInfinity : log_tail(p, stored, t + 1, 1);
}

/// The escort of a table that holds all of its support; of a large order the ends of the support leave the
/// window.
IntegerTable complete_escort(const IntegerTable& p, double beta) {
  const std::vector<double> values = escort(p.probabilities(), beta);
  if (values.front() > 0 && values.back() > 0) return {p.first(), values};
  const auto positive = [](double x) { return x > 0; };
  const auto begin = std::find_if(values.begin(), values.end(), positive);
  const auto end = std::find_if(values.rbegin(), values.rend(), positive).base();
  const auto peak = std::max_element(values.begin(), values.end());
  const double shift = std::log(*peak) - beta * p.log_pmf(p.first() + (peak - values.begin()));
  return {p.first() + (begin - values.begin()), std::vector<double>(begin, end), p.support(),
          [p, beta, shift](index_t t) { return beta * p.log_pmf(t) + shift; }};
}

}  // namespace

namespace {

/// The integer at a distance, the end of index_t where it is none.
index_t at_distance(const detail::IntegerTail& tail, double distance) {
  if (distance == kInfinity)
    return tail.step > 0 ? std::numeric_limits<index_t>::max() : std::numeric_limits<index_t>::min();
  return tail.centre + tail.step * static_cast<index_t>(distance);
}

}  // namespace

double IntegerTable::cdf(index_t t) const {
  if (!data_->before_median(t)) return 1 - survival(t);
  const double stored = data_->at(data_->tail, t);
  return stored > kSmallTail || is_complete() ? stored : std::exp(log_tail(*this, stored, t, -1));
}

double IntegerTable::survival(index_t t) const {
  if (data_->before_median(t)) return 1 - cdf(t);
  const double stored = data_->at(data_->tail, t);
  return stored > kSmallTail || is_complete() ? stored : std::exp(log_upper(*this, stored, t));
}

double IntegerTable::log_cdf(index_t t) const {
  if (!data_->before_median(t)) return std::log1p(-survival(t));
  return log_tail(*this, data_->at(data_->tail, t), t, -1);
}

double IntegerTable::log_survival(index_t t) const {
  if (data_->before_median(t)) return std::log1p(-cdf(t));
  return log_upper(*this, data_->at(data_->tail, t), t);
}

index_t IntegerTable::quantile(double u) const {
  detail::checked_probability("quantile", "u", u);
  if (u == 0) return data_->support.first;
  if (u == 1) return data_->support.last;
  if (const auto* left = data_->tail_towards(-1); left && u <= data_->tail_mass(-1))
    return at_distance(*left, detail::tail_quantile(*left, std::log(u), true) - 1);
  if (const auto* right = data_->tail_towards(1); right && 1 - u < data_->tail_mass(1))
    return at_distance(*right, detail::tail_quantile(*right, std::log1p(-u), false) - 1);
  if (u < kSmallTail && !is_complete() && data_->tails.empty()) {
    const double log_u = std::log(u);
    return farthest_mass(*this, quantile(kSmallTail), data_->support.first, 0, log_u,
                         [&](index_t t) { return log_cdf(t) >= log_u; });
  }
  const Data& d = *data_;
  return d.first +
         static_cast<index_t>(first_where(d.tail.size(), [&](std::size_t i) { return d.cdf_at(i) >= u; }));
}

index_t IntegerTable::survival_quantile(double u) const {
  detail::checked_probability("survival_quantile", "u", u);
  if (u == 0) return data_->support.last;
  if (u == 1) return data_->support.first;
  if (const auto* right = data_->tail_towards(1); right && u < data_->tail_mass(1))
    return at_distance(*right, detail::tail_quantile(*right, std::log(u), false) - 1);
  if (const auto* left = data_->tail_towards(-1); left && 1 - u <= data_->tail_mass(-1))
    return at_distance(*left, detail::tail_quantile(*left, std::log1p(-u), true) - 1);
  if (u < kSmallTail && !is_complete() && data_->tails.empty()) {
    const double log_u = std::log(u);
    const index_t inside = survival_quantile(kSmallTail);
    if (log_survival(inside) <= log_u) return inside;
    return 1 + farthest_mass(*this, inside, data_->support.last, 1, log_u,
                             [&](index_t t) { return log_survival(t) > log_u; });
  }
  const Data& d = *data_;
  return d.first + static_cast<index_t>(
                       first_where(d.tail.size(), [&](std::size_t i) { return d.survival_at(i) <= u; }));
}

double IntegerTable::central_moment(int n) const {
  if (n < 0) throw_domain_error("central_moment", "n", "must not be negative", n);
  if (n == 0) return 1;
  if (n == 1) return 0;
  if (!std::isfinite(data_->mean_offset))
    return n % 2 == 0 ? kInfinity : std::numeric_limits<double>::quiet_NaN();
  detail::CompensatedSum sum;
  auto distance = static_cast<double>(data_->first - data_->mode);
  for (const double p : data_->probabilities) {
    sum.add(p * std::pow(distance - data_->mean_offset, n));
    distance += 1;
  }
  double outside = 0;
  for (const auto& tail : data_->tails)
    outside += detail::tail_moment(tail, static_cast<double>(data_->mode) + data_->mean_offset, n);
  return sum.total() + outside;
}

double IntegerTable::tsallis_entropy(double order) const {
  if (!(order > 0)) throw_domain_error("tsallis_entropy", "order", "must be positive", order);
  constexpr double kSmallOrder = 0.1;  // below it the terms outside of the window count
  if (order < kSmallOrder && !is_complete() && data_->tails.empty()) {
    const double log_sum = order * log_pmf(mode()) - escort(order).log_pmf(mode());  // of p^order
    return std::expm1(log_sum) / (order * (1 - order));
  }
  detail::CompensatedSum sum;
  for (const double p : data_->probabilities) sum.add(detail::tsallis_term(order - 1, p));
  double outside = 0;
  for (const auto& tail : data_->tails) outside += detail::tail_negentropy(tail, order);
  return 0.0 - (sum.total() + outside);
}

double IntegerTable::expectation(FunctionRef<double(double)> f, double accuracy) const {
  detail::CompensatedSum sum;
  index_t t = data_->first;
  for (const double p : data_->probabilities) {
    const auto at = static_cast<double>(t++);
    const double value = p > 0 ? f(at) : 0.0;
    if (std::isnan(value))
      throw_domain_error("expectation", "f(" + shortest(at) + ")", "must be a number", value);
    sum.add(p * value);
  }
  double outside = 0;
  for (const auto& tail : data_->tails) outside += detail::tail_expectation(tail, f, accuracy);
  return sum.total() + outside;
}

IntegerTable IntegerTable::escort(double beta) const {
  detail::checked_finite("escort", "beta", beta);
  if (is_complete()) return complete_escort(*this, beta);
  if (!(beta > 0))
    throw_domain_error("escort", "beta", "must be positive where the support is infinite or huge", beta);
  if (!data_->tails.empty()) return detail::heavy_escort(*this, beta);
  const auto relative = [p = *this, beta](double x) {
    const index_t t = p.mode() + static_cast<index_t>(x);
    return beta * (p.log_pmf(t) - p.log_pmf(p.mode()));
  };
  const detail::IntegerScore score{mode(), support(),
                                   [relative, m = mode()](index_t t) {
                                     const auto x = static_cast<double>(t - m);
                                     return relative(x) - relative(x - 1);
                                   },
                                   relative};
  return detail::predict_integers(0, score, "escort", "beta", beta).table;
}

}  // namespace fenchel
