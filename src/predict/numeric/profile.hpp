#pragma once

#include <functional>
#include <map>
#include <vector>

#include "fenchel/domain/interval.hpp"

namespace fenchel::detail {

/// What a scan learns of a score f on a range: points, the turning points among them, between which f is
/// taken to be monotone. On an infinite range the scan goes out geometrically from 0 and from each maximum
/// to 2^200, or to where f / T is 1e40 below its top; a finite one is first cut evenly.
class Profile {
 public:
  /// Throws std::domain_error where f is NaN or +infinity, where it is -infinity everywhere, and where it
  /// still rises at the end of an infinite range.
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

  /// Looks at points between and finds the turning points anew; says whether there are new ones.
  bool look_closer(const Interval& where);

 private:
  double add(double t);
  void add_evenly(const Interval& where, int count);
  void add_geometrically(double centre);
  void find_turns();
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
