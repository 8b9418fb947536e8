#pragma once

/// `FunctionScore`: any callable as a score on the line or an interval.

#include <functional>
#include <utility>

namespace fenchel {

/// Any callable as a score on the line or an interval.
class FunctionScore {
 public:
  explicit FunctionScore(std::function<double(double)> f) : f_(std::move(f)) {}
  [[nodiscard]] double operator()(double t) const { return f_(t); }

 private:
  std::function<double(double)> f_;
};

}  // namespace fenchel
