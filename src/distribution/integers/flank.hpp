#pragma once

#include <vector>

#include "core/compensated_sum.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/distribution/integers/integer_prediction.hpp"

namespace fenchel::detail {

/// One side of the mode: f - f(mode) of the integers taken so far, outwards, and of the one after them.
class Flank {
 public:
  Flank(const IntegerScore& score, index_t step)
      : score_(score), step_(step), end_(step > 0 ? score.range.last : score.range.first), at_(score.mode) {
    look();
  }

  [[nodiscard]] double next() const noexcept { return next_; }
  [[nodiscard]] const std::vector<double>& taken() const noexcept { return taken_; }
  void take() {
    taken_.push_back(next_);
    look();
  }

 private:
  void look() {
    if (at_ == end_) {
      next_ = -kInfinity;
      return;
    }
    at_ += step_;
    sum_.add(step_ > 0 ? score_.increment(at_) : -score_.increment(at_ + 1));
    next_ = sum_.total();
  }

  const IntegerScore& score_;
  index_t step_, end_, at_;
  CompensatedSum sum_;
  double next_ = -kInfinity;
  std::vector<double> taken_;
};

/// f - f(mode) over the window, from left to right.
inline std::vector<double> window_of(const Flank& left, const Flank& right) {
  std::vector<double> values(left.taken().rbegin(), left.taken().rend());
  values.push_back(0);
  values.insert(values.end(), right.taken().begin(), right.taken().end());
  return values;
}

}  // namespace fenchel::detail
