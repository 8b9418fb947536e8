#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include "core/compensated_sum.hpp"
#include "estimate/fit/checks.hpp"
#include "fenchel/estimate/statistics/count_histogram.hpp"
#include "fenchel/loss/integers.hpp"

namespace fenchel::detail {

/// The mean cross-Omega loss of counts under the score of a prediction p.
template <class P>
double mean_cross_omega(const P& p, const CountHistogram& counts) {
  CompensatedSum below_mode;
  const auto values = counts.values();
  const auto weights = counts.weights();
  for (std::size_t k = 0; k < values.size(); ++k)
    below_mode.add(weights[k] * p.prediction().below_mode(values[k]));
  return cross_omega(Tsallis(p.alpha()), score(p), domain(p), mode(p)).value -
         below_mode.total() / counts.weight();
}

/// Throws std::domain_error unless alpha is finite and above `least`, which is called `name`, and there is
/// data.
inline void check_integer_fit(std::string_view where, double alpha, double least, std::string_view name,
                              const CountHistogram& counts) {
  if (!(alpha > least && alpha <= std::numeric_limits<double>::max()))
    throw_domain_error(where, "alpha", "must be finite and greater than " + std::string(name), alpha);
  check_total_weight(where, counts.weight());
}

}  // namespace fenchel::detail
