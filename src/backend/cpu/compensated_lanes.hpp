#pragma once

#include "core/lanes/lanes.hpp"

namespace fenchel::detail {

/// A sum with what its roundings lose (Knuth).
template <class Real>
class CompensatedLanes {
 public:
  FENCHEL_INLINE void add(Lanes<Real> x) noexcept {
    const Lanes<Real> next = sum_ + x, part = next - sum_;
    lost_ += (sum_ - (next - part)) + (x - part);
    sum_ = next;
  }
  [[nodiscard]] FENCHEL_INLINE Lanes<Real> total() const noexcept { return sum_ + lost_; }
  [[nodiscard]] FENCHEL_INLINE Lanes<Real> lacks_of_one() const noexcept { return (1 - sum_) - lost_; }

 private:
  Lanes<Real> sum_{}, lost_{};
};

}  // namespace fenchel::detail
