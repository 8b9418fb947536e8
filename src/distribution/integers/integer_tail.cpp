#include "fenchel/distribution/integers/integer_tail.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/quadrature/gauss_legendre.hpp"
#include "distribution/integers/gregory.hpp"

namespace fenchel::detail {
namespace {

/// Where g(k) is like k^-s, the k-th difference has the factor (s + k) / from.
constexpr double kSmoothness = 24, kEndOrder = 8;

double log_size(const IntegerTail& tail, double k, TailSize size) {
  const TailPoint p = tail.at(k);
  return size(p).at(p.log_distance);
}

bool is_smooth(const IntegerTail& tail, double from, TailSize size) {
  const double step = std::min(1.0 / 16, (tail.last - from) / (2 * from));
  const double change = log_size(tail, from * (1 + step), size) - log_size(tail, from, size);
  return from >= kSmoothness * (std::abs(change) / std::log1p(step) + kEndOrder);
}

class Nodes {
 public:
  Nodes(const IntegerTail& tail, TailSize size) : tail_(tail), size_(size) {}

  [[nodiscard]] TailNodes take() { return {std::move(nodes_), lost_}; }

  /// The terms from one distance on, up to an end, while they fall too fast for an integral. Returns the
  /// distance of the next, infinity where nothing that counts is left.
  double add_terms(double from, double end) {
    for (; from <= end; ++from) {
      if (is_smooth(tail_, from, size_)) return from;
      const TailPoint p = tail_.at(from);
      const double size = log_size(tail_, from, size_), fall = size - log_size(tail_, from + 1, size_);
      add(p, 1, {0, 0});
      if (size == -kInfinity || (fall > 0 && size - log_total() - std::log(-std::expm1(-fall)) < kLeast))
        return kInfinity;
    }
    return from;
  }

  void add_term(double k) { add(tail_.at(k), 1, {0, 0}); }

  /// The end of an integral whose first integer is at `from` and whose others follow in steps.
  void add_end(double from, double step) {
    for (int j = 0; j < kGregoryEnd; ++j) {
      const double weight = kGregoryWeights[static_cast<std::size_t>(j)];
      add(tail_.at(from + step * j), weight > 0 ? 1 : -1, {std::log(std::abs(weight)), 0});
    }
  }

  /// The integral over x of what `point` makes of x, from lower to upper: panels on which the logarithm of
  /// the integrand is nearly linear. To an infinite upper end until nothing is left.
  template <class Point>
  void add_integral(double lower, double upper, const Point& point) {
    constexpr double kFirstWidth = 0.25, kMostFall = 8, kMostBend = 0.25;
    constexpr index_t kSize = 16;
    constexpr std::size_t kMostNodes = 100'000;
    static const UnitRule<kSize> rule = gauss_legendre<kSize>();
    double width = std::min(kFirstWidth, upper - lower), size = log_integrand(point(lower));
    const bool open = upper == kInfinity;
    while (lower < upper) {
      const double middle = log_integrand(point(lower + width / 2)),
                   end = log_integrand(point(lower + width));
      if (width > 1e-6 &&
          !(std::abs(size - end) <= kMostFall && std::abs(size + end - 2 * middle) <= kMostBend)) {
        width /= 2;
        continue;
      }
      for (index_t i = 0; i < kSize; ++i) {
        const Mapped m = point(lower + width * rule.left[i]);
        add(m.p, 1, {std::log(width * rule.weight[i]) + m.slope.rest, m.slope.power});
      }
      lower = width < upper - lower ? lower + width : upper;
      const double fall = (size - end) / width;
      if (open && (end == -kInfinity || (fall > 0 && end - std::log(fall) - log_total() < kLeast))) return;
      if (open && (lower >= tail_.last_log_distance || nodes_.size() > kMostNodes)) {
        lost_ = fall > 0 ? std::exp(end - std::log(fall) - log_total()) : kInfinity;
        return;
      }
      size = end;
      width = std::min(2 * width, upper - lower);
      if (open) width = std::min(width, std::max(tail_.last_log_distance - lower, 1e-3));
    }
  }

  struct Mapped {
    TailPoint p;
    LogPower slope;  ///< of the distance in x
  };

 private:
  static constexpr double kLeast = -41.4;  // log 1e-18: a sum ends where no more is left of it

  [[nodiscard]] double log_integrand(const Mapped& m) const { return log_part(m.p, m.slope); }
  [[nodiscard]] double log_part(const TailPoint& p, const LogPower& weight) const {
    const LogPower size = size_(p);
    return LogPower{size.rest + weight.rest, size.power + weight.power}.at(p.log_distance);
  }
  /// Of the sum of sizes so far.
  [[nodiscard]] double log_total() const noexcept { return largest_ + std::log(total_); }

  void add(const TailPoint& p, double sign, const LogPower& weight) {
    nodes_.push_back({p, sign, weight});
    const double part = log_part(p, weight);
    if (part > largest_) {
      total_ *= std::exp(largest_ - part);
      largest_ = part;
    }
    total_ += part > -kInfinity ? sign * std::exp(part - largest_) : 0.0;
  }

  const IntegerTail& tail_;
  TailSize size_;
  std::vector<TailNode> nodes_;
  double largest_ = -std::numeric_limits<double>::max(), total_ = 0, lost_ = 0;
};

}  // namespace

bool is_smooth(const IntegerTail& tail, double from) {
  return is_smooth(tail, from, [](const TailPoint& point) { return point.p; });
}

TailNodes tail_nodes(const IntegerTail& tail, double from, double order, double n) {
  return tail_nodes(tail, from, [=](const TailPoint& point) { return point.p.raised(order, n); });
}

TailNodes tail_nodes(const IntegerTail& tail, double from, TailSize size) {
  constexpr double kFew = 1024, kDirect = 256;
  Nodes nodes(tail, size);
  from = nodes.add_terms(from, tail.last - kFew);
  if (from == kInfinity) return nodes.take();
  if (from > tail.last - kFew) {
    for (; from <= tail.last; ++from) nodes.add_term(from);
    return nodes.take();
  }
  nodes.add_end(from, 1);
  const bool open = tail.last == kInfinity;
  const double fold = from + (tail.last - from) / 2;
  nodes.add_integral(std::log(from), open ? kInfinity : std::log(fold), [&tail](double x) {
    const double k = std::exp(x);
    return Nodes::Mapped{{k, x, tail.log_p(k, x)}, {0, 1}};
  });
  if (open) return nodes.take();
  // From the other end back to the fold, in the logarithm of the distance from that end.
  const double last = tail.last;
  for (double k = last; k > last - kDirect; --k) nodes.add_term(k);
  nodes.add_end(last - kDirect, -1);
  nodes.add_integral(std::log(kDirect), std::log(last - std::exp(std::log(fold))), [&tail, last](double x) {
    return Nodes::Mapped{tail.at(last - std::exp(x)), {x, 0}};
  });
  return nodes.take();
}

}  // namespace fenchel::detail
