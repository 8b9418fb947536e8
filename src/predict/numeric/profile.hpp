#pragma once

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "fenchel/core/function_ref.hpp"
#include "fenchel/domain/interval.hpp"

namespace fenchel::detail {

/// What a scan learns of a score f on a range: points, the turning points among them, between which f is
/// taken to be monotone. On an infinite range the scan goes out geometrically from 0 and from each maximum
/// to 2^200, or to where f / T is 1e40 below its top; a finite one is first cut evenly, and more finely until
/// there are four points to a turning point.
class Profile {
 public:
  /// Throws std::domain_error where f is NaN or +infinity, where it is -infinity everywhere, and where it
  /// still rises at the end of an infinite range; ConvergenceError where it turns too often.
  Profile(std::function<double(double)> f, const Interval& range, double temperature);

  /// f / T less its top, and the point of the top.
  [[nodiscard]] double operator()(double t) const;
  [[nodiscard]] const Interval& range() const noexcept { return range_; }
  [[nodiscard]] double temperature() const noexcept { return temperature_; }
  [[nodiscard]] double top() const noexcept { return top_; }
  [[nodiscard]] double argmax() const noexcept { return argmax_; }

  /// Where the score is at least -height: pieces in order. Infinite height gives where f is finite.
  [[nodiscard]] std::vector<Interval> level_set(double height) const;
  /// Local maxima, in order.
  [[nodiscard]] const std::vector<double>& maxima() const noexcept { return maxima_; }

  /// Look at points between, or at those given, and find the turning points anew; say whether there are new
  /// ones.
  bool look_closer(const Interval& where);
  bool look_at(std::span<const double> where);

 private:
  double add(double t);
  void add_finely(const Interval& where);
  void add_geometrically(double centre);
  void list_turns();
  void find_turns();
  [[nodiscard]] bool has_changed(FunctionRef<void()> look);
  void find_mask_edges();
  void polish(double t, double sign);
  [[nodiscard]] double checked(double t) const;

  std::function<double(double)> f_;
  Interval range_;
  double temperature_, top_, argmax_ = 0;
  std::map<double, double> points_;
  std::vector<double> maxima_, minima_, searched_;
};

}  // namespace fenchel::detail
