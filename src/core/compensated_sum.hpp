#pragma once

namespace fenchel::detail {

/// Kahan's sum: a long plain sum would lose an ulp for every few entries.
class CompensatedSum {
 public:
  void add(double x) noexcept {
    const double term = x - lost_, next = total_ + term;
    lost_ = (next - total_) - term;
    total_ = next;
  }
  [[nodiscard]] double total() const noexcept { return total_; }

 private:
  double total_ = 0, lost_ = 0;
};

}  // namespace fenchel::detail
